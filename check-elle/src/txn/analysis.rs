//! What a workload must know of a history for a report on it.

use super::{TxnGraph, Txns};
use crate::anomaly::{AnomalySet, AnomalyType};
use crate::cycle_spec::Suffix;
#[cfg(feature = "exact")]
use crate::exact::Happened;
use crate::graph::Relation;
use crate::ids::{KeyId, TxnId};
use crate::model::Model;
use history_core::figure::Figure;
use history_core::{Datum, Witness};

/// Why one transaction comes before another: the key on which they meet, the version before and the version after.
pub(crate) struct Reason {
    pub(crate) key: Datum,
    pub(crate) value: Datum,
    /// Absent where it is the same version.
    pub(crate) next_value: Option<Datum>,
    /// As a clause.
    pub(crate) because: String,
}

/// A transaction, and its name in an explanation.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) name: &'a str,
    pub(crate) txn: TxnId,
}

/// Whether some `ok` transaction has a read with a result, of a key that any transaction writes: what a micro-op writes
/// and what it reads are given.
pub(crate) fn reads_what_is_written<M: Copy>(
    txns: &Txns<M>,
    keys: usize,
    writes: impl Fn(M) -> Option<KeyId>,
    reads: impl Fn(M) -> Option<KeyId>,
) -> bool {
    let mut is_written = vec![false; keys];
    for key in txns.all_mops().iter().filter_map(|mop| writes(*mop)) {
        is_written[key.at()] = true;
    }
    let is_evidence = |mop: &M| reads(*mop).is_some_and(|key| is_written[key.at()]);
    txns.ids().any(|txn| txns.is_ok(txn) && txns.mops(txn).iter().any(is_evidence))
}

/// All that is known of a history once it was read.
pub(crate) trait Analysis: Sync {
    type Mop: Copy;

    fn txns(&self) -> &Txns<Self::Mop>;

    /// How many keys there are.
    fn keys(&self) -> usize;

    /// A key as it was recorded.
    fn key(&self, key: KeyId) -> Datum;

    /// What a key holds before anything is written to it.
    #[cfg(feature = "exact")]
    fn first(&self, key: KeyId) -> Datum;

    /// Whether an order of all transactions is known along which all edges of the graph lead, so that it has no cycle,
    /// and some read showed another's write. `false` also if it would have to be searched for.
    fn is_ordered(&self) -> bool {
        false
    }

    /// The transactions that happened; `None` if some read shows what nobody left behind.
    #[cfg(feature = "exact")]
    fn happened(&self) -> Option<Happened>;

    /// These, and all that may have happened and write something: of a share, because other shares may show that they
    /// did. `None` also if the graph has all dependencies there are.
    #[cfg(feature = "exact")]
    fn may_have_happened(&self) -> Option<Happened> {
        None
    }

    /// Whether reads show the order of versions as far as it matters. Else there may be several orders that explain a
    /// history.
    const READS_SHOW_ORDER: bool = true;

    /// Of a share: whether the whole may show the order of all versions, where this does not.
    fn order_depends_on_others(&self) -> bool {
        false
    }

    /// Whether no key contradicts what is assumed of all.
    fn assumptions_hold(&self) -> bool {
        true
    }

    /// A micro-op as it was recorded.
    fn mop(&self, mop: Self::Mop) -> Datum;

    /// The graph, with process or realtime edges or neither.
    fn graph(&self, order: Suffix) -> TxnGraph;

    /// Where two transactions meet whose relation is ww, wr or rw.
    fn reason(&self, relation: Relation, from: Named<'_>, to: Named<'_>) -> Option<Reason>;

    /// What a step between two transactions is called.
    fn relation_name(&self, relation: Relation, _from: TxnId, _to: TxnId) -> &'static str {
        relation.name()
    }

    /// Types that other workloads cannot show, and so do not search for, but this one does.
    const SEARCHED: AnomalySet = AnomalySet::EMPTY;

    /// The types found without searching for cycles.
    fn direct(&self) -> AnomalySet;

    /// How many there are of such a type, and witnesses of the first `max`.
    fn direct_witnesses(&self, anomaly: AnomalyType, max: usize) -> (u64, Vec<Witness>);

    /// Whether each write of the history is known; else what some op wrote is unknown.
    fn writes_known(&self) -> bool;

    /// Whether some `ok` transaction read a key that any transaction writes, whether that succeeded or not: such a read
    /// could have shown something wrong.
    fn has_evidence(&self) -> bool;

    /// The key that a micro-op writes, if it is a write.
    fn writes_key(mop: Self::Mop) -> Option<KeyId>;

    /// What should be known of the verdict in addition to the anomalies; `is_decided`: each level was decided exactly.
    fn notes(&self, is_decided: bool) -> Vec<String>;

    /// Whether [`Analysis::unordered`] is about cycles of this history, and not about all histories of this kind. If
    /// so, a level that rests on the order is not known to hold.
    const DOUBT_IS_OF_THIS_HISTORY: bool;

    /// Whether a transaction that contradicts itself read what has no edge: of registers the graph has only what it
    /// read of a key first.
    fn hides_reads(&self) -> bool {
        false
    }

    /// Why some read may have seen what no level that is about reads allows, as a clause.
    fn unexplained(&self) -> Option<String> {
        None
    }

    /// Whether some predicate read missed what a transaction did: levels that are about items allow that.
    fn misses_by_predicates(&self) -> bool {
        false
    }

    /// Whether it takes the order of all versions to know that a decided model holds, if nothing that rules it out was
    /// found.
    fn rests_on_order(model: Model) -> bool;

    /// Why the order of all versions is not known, as far as it matters, as a clause; `None` if it is. `components` are
    /// those of the graph that hold cycles.
    fn unordered(&self, components: &[Vec<u32>]) -> Option<String>;

    /// What may explain that something was read which was never written; may be empty.
    fn garbage_hint(&self) -> String;

    /// Other figures of the anomalies shown: `max` of each type at most.
    fn figures(&self, _shown: AnomalySet, _max: usize) -> Vec<Figure> {
        Vec::new()
    }
}
