//! What a workload must determine about a history for a report on it.

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

/// Why one transaction precedes another: the key by which they are related, the version before and the version after.
pub(crate) struct Reason {
    pub(crate) key: Datum,
    pub(crate) value: Datum,
    /// Absent if it is the same version.
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

/// Whether some `ok` transaction has a read with a result, of a key that any transaction writes: given what a micro-op
/// writes and reads.
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

    /// A key in its recorded form.
    fn key(&self, key: KeyId) -> Datum;

    /// The initial value of a key.
    #[cfg(feature = "exact")]
    fn first(&self, key: KeyId) -> Datum;

    /// Whether an order of all transactions is known along which all edges of the graph lead, so that it has no cycle,
    /// and some read returned another's write. `false` also if it would have to be searched for.
    fn is_ordered(&self) -> bool {
        false
    }

    /// The transactions that happened; `None` if some read shows a value that no transaction left.
    #[cfg(feature = "exact")]
    fn happened(&self) -> Option<Happened>;

    /// These, and all that may have happened and write something: for a share, because other shares may show that they
    /// did. `None` also if the graph has all existing dependencies.
    #[cfg(feature = "exact")]
    fn may_have_happened(&self) -> Option<Happened> {
        None
    }

    /// Whether reads show the order of versions as far as it matters. Otherwise several orders may explain a history.
    const READS_SHOW_ORDER: bool = true;

    /// For a share: whether the whole may show the order of all versions, if this does not.
    fn order_depends_on_others(&self) -> bool {
        false
    }

    /// Whether no key contradicts the assumptions about all keys.
    fn assumptions_hold(&self) -> bool {
        true
    }

    /// A micro-op in its recorded form.
    fn mop(&self, mop: Self::Mop) -> Datum;

    /// The graph, with process or realtime edges or neither.
    fn graph(&self, order: Suffix) -> TxnGraph;

    /// The key and versions by which two transactions with relation ww, wr or rw are related.
    fn reason(&self, relation: Relation, from: Named<'_>, to: Named<'_>) -> Option<Reason>;

    /// The name of a step between two transactions.
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

    /// Notes on the verdict in addition to the anomalies; `is_decided`: each level was decided exactly.
    fn notes(&self, is_decided: bool) -> Vec<String>;

    /// Whether [`Analysis::unordered`] concerns cycles of this history, and not all histories of this kind. If so, a
    /// level that is based on the order is not known to hold.
    const DOUBT_IS_OF_THIS_HISTORY: bool;

    /// Whether a transaction that contradicts itself read a value without an edge: for registers, the graph has only
    /// the first read of a key.
    fn hides_reads(&self) -> bool {
        false
    }

    /// Why some read may have returned a value that no level about reads permits, as a clause.
    fn unexplained(&self) -> Option<String> {
        None
    }

    /// Whether some predicate read missed a write of a transaction: levels about items permit that.
    fn misses_by_predicates(&self) -> bool {
        false
    }

    /// Whether the order of all versions is needed to conclude that a decided model holds, if nothing that rules it out
    /// was found.
    fn rests_on_order(model: Model) -> bool;

    /// Why the order of all versions is unknown, as far as it matters, as a clause; `None` if it is known. `components`
    /// are those of the graph with cycles.
    fn unordered(&self, components: &[Vec<u32>]) -> Option<String>;

    /// A possible explanation for a read of a value that was never written; may be empty.
    fn garbage_hint(&self) -> String;

    /// Other figures of the anomalies shown: `max` of each type at most.
    fn figures(&self, _shown: AnomalySet, _max: usize) -> Vec<Figure> {
        Vec::new()
    }
}
