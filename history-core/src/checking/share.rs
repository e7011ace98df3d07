//! A history of transactions on several workers, each of which has some of its keys. For `histcheck-scale`; it changes
//! without notice.
//!
//! A **share** is the history as one worker receives it: every transaction on one of its keys, without the micro-ops on
//! other keys. What follows from one key alone, its version order and the anomalies that need no cycles, follows from a
//! Consequences of one key alone, its version order and the anomalies that need no cycles, follow from a share as they
//! do from the whole. A share does not show cycles that pass from the keys of one worker to those of another. For
//! these, a share returns its [`Dependency`]s. If all of them and real time together have no cycle, there is none in
//! the whole, of any type.
//!
//! Reads do not always determine the order of a key's versions. A share then finds one order that explains it, and
//! returns the dependencies of that order. If these have no cycle, the orders of all shares explain the whole. If they
//! have one, other orders may still explain it.

use super::keyed::parts::place_of;
use crate::error::HistoryError;
use crate::{Budget, Op, Participants, Report, Value};
use std::sync::Arc;

/// The keys that belong to a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Share {
    /// All keys.
    All,
    /// One part of several, by the [places](place_of) of keys.
    Part {
        /// The number of this part.
        own: u64,
        /// How many parts there are; at least 1.
        of: u64,
    },
    /// The keys with these places, which are sorted.
    Only(Arc<[u64]>),
}

impl Share {
    /// Whether some keys are in other shares.
    #[inline]
    pub fn is_part(&self) -> bool {
        match self {
            Share::All => false,
            Share::Part { of, .. } => *of > 1,
            Share::Only(_) => true,
        }
    }

    /// Whether a key is in this share.
    #[inline]
    pub fn has(&self, key: Value<'_>) -> bool {
        !self.is_part() || self.has_place(place_of(key))
    }

    /// Whether a key with this place is in this share.
    pub fn has_place(&self, place: u64) -> bool {
        match self {
            Share::All => true,
            Share::Part { own, of } => place % of == *own,
            Share::Only(places) => places.binary_search(&place).is_ok(),
        }
    }
}

/// When an operation ran, as the indices of its ops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Its invocation. No two operations have the same.
    pub invoked: u64,
    /// Its completion; `u64::MAX` if it may have happened at any time after its invocation.
    pub completed: u64,
}

/// Two operations, the first of which precedes the second in any order that explains the history. The first runs after
/// the second, or both run at the same time: dependencies that follow from real time are not reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dependency {
    /// The one that comes first.
    pub from: Span,
    /// The other one.
    pub to: Span,
}

impl Dependency {
    /// The index of the op from which on both are known: the later invocation.
    pub fn known(&self) -> u64 {
        self.from.invoked.max(self.to.invoked)
    }
}

/// The processing of one share by a checker.
pub trait ShareRun: Send {
    /// Processes the next op with a key of this share.
    ///
    /// # Errors
    ///
    /// As in [`Run::observe`](crate::Run::observe).
    fn observe(&mut self, op: &Op<'_>) -> Result<(), HistoryError>;

    /// Ends the share.
    ///
    /// # Errors
    ///
    /// As in [`Run::finish`](crate::Run::finish).
    fn finish(self: Box<Self>, budget: &Budget) -> Result<ShareEnd, HistoryError>;
}

/// The result for a share.
#[derive(Clone, Debug)]
pub struct ShareEnd {
    /// The report on the share.
    pub report: Report,
    /// Whether each op is an op of this workload, and no key contradicts the assumptions about all keys. If not, the
    /// results of other shares may be caused by that op, or be based on a wrong assumption.
    pub is_well_formed: bool,
    /// How many keys it has.
    pub keys: u64,
    /// The dependencies; none if they are not sufficient, so that the history has to be checked as a whole: the share
    /// is not valid, or the time of some operation is unknown.
    pub dependencies: Option<Vec<Dependency>>,
    /// Whether these are the dependencies of one of several orders of versions that explain the share. A cycle of them
    /// then proves nothing.
    pub is_one_of_several: bool,
    /// Whether the report may list levels as not checked that a check of the whole history decides.
    pub may_say_less: bool,
}

/// Transactions that lie on cycles of the orders found by shares, set by set. All transactions of a set lead to each
/// other; so each transaction outside the set precedes all of it or follows all of it. A set has another order if an
/// order explains its own reads, each of which returns a version of the set or the version before it, and has as last
/// versions those that other transactions read.
pub trait KnotsRun: Send {
    /// Processes the next op of the history, with the set of its transaction, if it is in one.
    ///
    /// # Errors
    ///
    /// As in [`Run::observe`](crate::Run::observe).
    fn observe(&mut self, set: Option<usize>, op: &Op<'_>) -> Result<(), HistoryError>;

    /// For each set, whether another order was found.
    fn finish(self: Box<Self>, budget: &Budget) -> Vec<bool>;
}

/// Data about a whole history that its shares do not have.
#[derive(Clone, Debug)]
pub struct Totals {
    /// Operations that completed `ok`.
    pub ok: u64,
    /// Operations that failed.
    pub fail: u64,
    /// Operations that ended in `info`, or never.
    pub info: u64,
    /// The processes of the history.
    pub participants: Participants,
}

/// The [places](place_of) of the keys of a transaction's micro-ops; none if its value is not a list of micro-ops.
///
/// ```
/// use history_core::{History, share};
///
/// let text = "{:process 0, :type :ok, :value [[:append :x 1] [:r :y []]]} {:process 1, :type :ok}";
/// let history = History::parse(text)?;
/// let mut places = Vec::new();
/// assert!(share::places(history.op(0).value, &mut places));
/// assert_eq!(places.len(), 2);
/// assert!(!share::places(history.op(1).value, &mut places));
/// # Ok::<(), history_core::HistoryError>(())
/// ```
pub fn places(value: Value<'_>, places: &mut Vec<u64>) -> bool {
    places.clear();
    let (Value::Vector(mops) | Value::List(mops)) = value else { return false };
    for mop in mops {
        let Some(key) = mop.as_seq().and_then(|parts| parts.iter().nth(1)) else { return false };
        places.push(place_of(key));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_in_one_share() {
        for key in 0..100 {
            let key = Value::Int(key);
            assert!(Share::All.has(key));
            assert_eq!((0..7).filter(|own| Share::Part { own: *own, of: 7 }.has(key)).count(), 1);
        }
        let own = (0..1000).filter(|key| Share::Part { own: 3, of: 7 }.has(Value::Int(*key))).count();
        assert!((100..190).contains(&own), "{own}");
        let places = [3, 5].map(|key| place_of(Value::Int(key)));
        let only = Share::Only([places[0].min(places[1]), places[0].max(places[1])].into());
        assert_eq!((0..10).filter(|key| only.has(Value::Int(*key))).collect::<Vec<_>>(), [3, 5]);
    }
}
