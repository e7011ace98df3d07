//! Collections decided by check-register's engines for whole histories where a search event by event takes too long:
//! queues, stacks, deques, priority queues and sets.
//!
//! A ledger lists the operations of a collection, independently of the method that decides it. At first that is the
//! search. If the search needs too many configurations, it is given up, and from then on the ledger is decided as a
//! history of its own: each time it has grown by an eighth, and at the end. So a violation is found somewhat later than
//! it happens, but the operation that is named is the same; in between, the outcome is that none was found so far.
//!
//! If a monitor is sure to decide (no value is inserted twice, and it is no deque), the search is given up soon
//! ([`SEARCHED_MAX`]). Otherwise check-register may have to search, too. It has all later events, and so often finds an
//! order that a search event by event does not, but it starts again each time. So the search is given up late
//! ([`HELD_MAX`]).
//!
//! The **known** part of a history up to an event consists of the results of the operations that returned. Operations
//! in flight may or may not have happened, and may have removed any value. A history that is refused remains refused,
//! so the first event up to which it is refused is found by bisection.
//!
//! Operations on which no later event can depend are *settled*, and discarded: see [`settled`] for values that are
//! moved, and [`sets`].

mod entry;
mod extract;
mod moved;
mod sets;
mod settled;

use crate::Reason;
use crate::engine::ops::{OpIx, Seq};
use check_register::{Answer, Collection, Conflict, Handling, Outcome, Refusal};
use history_core::Budget;
use history_core::cast::Cast as _;
use moved::Moved;
use sets::Sets;

/// The number of configurations at which a search is given up for a monitor.
pub(crate) const SEARCHED_MAX: usize = 32;

/// The maximum number of configurations while a monitor can take over.
pub(crate) const LEDGER_CONFIGURATIONS_MAX: usize = 1 << 12;

/// The maximum number of configurations if the ledger may have to be searched, too.
pub(crate) const HELD_MAX: usize = 1 << 16;

/// The maximum number of unsettled operations in a ledger while the search decides.
pub(crate) const KEPT_MAX: usize = 1 << 17;

/// The maximum number of configurations of a search of the ledger before the end.
pub(crate) const FALLBACK_MAX: usize = 10_000;

/// The minimum number of returns between settlements while a search decides.
const TIDY_MIN: usize = 64;

/// The result of a decision.
pub(crate) enum Verdict {
    Ok,
    Unknown(Reason),
    Violation(Contradiction),
}

/// The reason why the events up to some event are not linearizable.
pub(crate) struct Contradiction {
    pub(crate) refused: OpIx,
    /// Operations that contradict each other; empty if a search decided.
    pub(crate) conflict: Vec<OpIx>,
    /// The number of operations that were settled before.
    pub(crate) settled: u64,
}

/// The known data of an operation when it is called.
#[derive(Clone, Copy, Default)]
pub(crate) struct Called<'a> {
    pub(crate) handling: Option<Handling<'a>>,
    /// The priority of the inserted value.
    pub(crate) priority: i64,
    /// Whether it acts at the front, if the collection has two ends.
    pub(crate) is_front: bool,
}

/// The operations that are not settled.
pub(crate) enum Ledger {
    Moved(Moved),
    Sets(Sets),
}

impl Ledger {
    /// Creates the ledger of a collection with these contents.
    pub(crate) fn new(collection: Collection, contents: &[i64], priority: impl Fn(i64) -> i64) -> Ledger {
        match collection {
            Collection::Set => Ledger::Sets(Sets::new(contents)),
            _ => Ledger::Moved(Moved::new(collection, contents, priority)),
        }
    }

    /// The size of the ledger in operations.
    pub(crate) fn len(&self) -> usize {
        match self {
            Ledger::Moved(moved) => moved.len(),
            Ledger::Sets(sets) => sets.len(),
        }
    }

    /// The operations that the ledger may refer to.
    pub(crate) fn ops(&self) -> impl Iterator<Item = OpIx> {
        let (moved, sets) = match self {
            Ledger::Moved(moved) => (Some(moved), None),
            Ledger::Sets(sets) => (None, Some(sets)),
        };
        moved.into_iter().flat_map(Moved::ops).chain(sets.into_iter().flat_map(Sets::ops))
    }

    /// Returns true if the ledger may need a search because a monitor cannot decide it.
    pub(crate) fn may_be_searched(&self) -> bool {
        matches!(self, Ledger::Moved(moved) if moved.may_be_searched())
    }

    /// Processes the call of an operation. Returns whether the ledger can continue.
    pub(crate) fn call(&mut self, op: OpIx, seq: Seq, called: Called<'_>) -> bool {
        let handling = called.handling;
        match self {
            Ledger::Moved(moved) => moved.call(op, seq, called),
            Ledger::Sets(sets) => sets.call(op, seq, handling),
        }
    }

    /// Processes the return of an operation with this effect. Returns whether the ledger can continue.
    pub(crate) fn complete(&mut self, op: OpIx, seq: Seq, handling: Option<Handling<'_>>) -> bool {
        match self {
            Ledger::Moved(moved) => moved.complete(op, seq, handling),
            Ledger::Sets(sets) => sets.complete(op, seq, handling),
        }
    }

    /// Processes the failure of an operation.
    pub(crate) fn fail(&mut self, op: OpIx) -> bool {
        match self {
            Ledger::Moved(moved) => moved.fail(op),
            Ledger::Sets(sets) => sets.fail(op),
        }
    }

    /// Processes the crash of an operation, which may have had this effect. Returns whether the ledger can continue.
    pub(crate) fn crash(&mut self, op: OpIx, handling: Option<Handling<'_>>) -> bool {
        match self {
            Ledger::Moved(moved) => moved.crash(op, handling),
            Ledger::Sets(sets) => sets.crash(op, handling),
        }
    }

    /// Counts a return. Returns true if it is time to decide again, or to settle.
    pub(crate) fn is_due(&mut self) -> bool {
        match self {
            Ledger::Moved(moved) => moved.is_due(),
            Ledger::Sets(sets) => sets.is_due(),
        }
    }

    /// Discards settled operations. All events so far must be linearizable.
    pub(crate) fn tidy(&mut self) {
        match self {
            Ledger::Moved(moved) => moved.tidy(),
            Ledger::Sets(sets) => sets.tidy(),
        }
    }

    /// Decides the events so far, and discards settled operations. If no monitor can decide, a search may use this many
    /// configurations, within the budget.
    pub(crate) fn decide(&mut self, configurations_max: usize, budget: &Budget) -> Verdict {
        match self {
            Ledger::Moved(moved) => moved.decide(configurations_max, budget),
            Ledger::Sets(sets) => sets.decide(configurations_max, budget),
        }
    }
}

/// The refusal of an answer, if it has one.
fn refusal(answer: Answer) -> Option<Refusal> {
    answer.parts.into_iter().find_map(|part| match part.outcome {
        Outcome::Refused(refusal) => Some(refusal),
        Outcome::Linearizable(_) | Outcome::Unknown(_) => None,
    })
}

/// The reason why an answer is unknown.
fn unknown(answer: &Answer) -> Reason {
    let spent = answer.parts.iter().find_map(|part| match part.outcome {
        Outcome::Unknown(check_register::Reason::Spent(spent)) => Some(spent),
        _ => None,
    });
    spent.map_or(Reason::Full, Reason::Spent)
}

/// The first of these returns up to which there is no linearization, with the refusal. There is none up to the last
/// return. `is_refused` decides the events up to a return; `refused` returns their refusal, with all operations that
/// were decided with it.
fn contradiction(
    mut returns: Vec<Seq>,
    settled: usize,
    is_refused: impl Fn(Seq) -> bool,
    refused: impl Fn(Seq) -> Option<(Vec<OpIx>, Refusal)>,
) -> Option<Contradiction> {
    returns.sort_unstable();
    let (mut good, mut bad) = (0, returns.len().saturating_sub(1));
    while good < bad {
        let middle = usize::midpoint(good, bad);
        if is_refused(returns[middle]) {
            bad = middle;
        } else {
            good = middle + 1;
        }
    }
    let (ops, refusal) = refused(*returns.get(bad)?)?;
    let conflict = refusal.conflict.as_ref().map(Conflict::operations).unwrap_or_default();
    let conflict = conflict.into_iter().map(|at| ops[at]).filter(|op| *op != OpIx::NONE).collect();
    Some(Contradiction { refused: ops[refusal.op], conflict, settled: settled.to_u64() })
}
