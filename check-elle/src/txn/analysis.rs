//! What a workload must determine about a history for a report on it.

use super::{TxnGraph, Txns};
use crate::anomaly::{self, AnomalySet, AnomalyType};
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

/// A transaction and its name in an explanation.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) name: &'a str,
    pub(crate) txn: TxnId,
}

/// Returns true if some `ok` transaction has a read with a result, of a key that any transaction writes. `writes` and
/// `reads` return the key that a micro-op writes or reads.
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

/// The data about a history after it was read.
pub(crate) trait Analysis: Sync {
    type Mop: Copy;

    fn txns(&self) -> &Txns<Self::Mop>;

    /// The number of keys.
    fn keys(&self) -> usize;

    /// A key in its recorded form.
    fn key(&self, key: KeyId) -> Datum;

    /// The initial value of a key.
    #[cfg(feature = "exact")]
    fn first(&self, key: KeyId) -> Datum;

    /// Returns true if the analysis has an order of all transactions that agrees with all edges of the graph, so that
    /// it has no cycle, and some read returned another transaction's write. Returns `false` also if a search would be
    /// necessary.
    fn is_ordered(&self) -> bool {
        false
    }

    /// The transactions that happened; `None` if some read returned a value that is not the last write of a
    /// transaction.
    #[cfg(feature = "exact")]
    fn happened(&self) -> Option<Happened>;

    /// The same, and all transactions that may have happened and write something. This is for a share, because other
    /// shares may show that they happened. `None` also if the graph contains all dependencies that exist.
    #[cfg(feature = "exact")]
    fn may_have_happened(&self) -> Option<Happened> {
        None
    }

    /// Whether reads show the order of versions as far as it matters. Otherwise several orders may explain a history.
    const READS_SHOW_ORDER: bool = true;

    /// For a share: returns true if the whole history may show the order of all versions although this share does not.
    fn order_depends_on_others(&self) -> bool {
        false
    }

    /// Returns true if no key contradicts the assumptions about all keys.
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

    /// The types that are not certain if an op may have happened and its writes are unknown. If each value is written
    /// once, the op wrote none that another op wrote.
    const RESTS_ON_ALL_WRITES: AnomalySet = AnomalySet::from_bits(anomaly::bits_of(&["garbage-read"]));

    /// Types that only this workload searches for, because other workloads cannot show them.
    const SEARCHED: AnomalySet = AnomalySet::EMPTY;

    /// The types found without searching for cycles.
    fn direct(&self) -> AnomalySet;

    /// The number of anomalies of such a type, and witnesses of the first `max`.
    fn direct_witnesses(&self, anomaly: AnomalyType, max: usize) -> (u64, Vec<Witness>);

    /// Returns true if the writes of every op are known.
    fn writes_known(&self) -> bool;

    /// Returns true if some `ok` transaction read a key that any transaction writes, whether or not that one succeeded:
    /// such a read could have been wrong.
    fn has_evidence(&self) -> bool;

    /// The key that a micro-op writes, if it is a write.
    fn writes_key(mop: Self::Mop) -> Option<KeyId>;

    /// Notes on the verdict in addition to the anomalies. `is_decided` is true if each level was decided exactly.
    fn notes(&self, is_decided: bool) -> Vec<String>;

    /// Whether [`Analysis::unordered`] concerns cycles of this history, and not all histories of this kind. If so, a
    /// level that is based on the order is not known to hold.
    const DOUBT_IS_OF_THIS_HISTORY: bool;

    /// Returns true if a transaction that contradicts itself read a value without an edge: for registers, the graph has
    /// only the first read of a key.
    fn hides_reads(&self) -> bool {
        false
    }

    /// Why some read may have returned a value that no level with rules about reads permits, as a clause.
    fn unexplained(&self) -> Option<String> {
        None
    }

    /// Returns true if some predicate read missed a write of a transaction: levels about items permit that.
    fn misses_by_predicates(&self) -> bool {
        false
    }

    /// Returns true if the order of all versions is needed to conclude that a decided model holds, if nothing that
    /// rules it out was found.
    fn rests_on_order(model: Model) -> bool;

    /// Why the order of all versions is unknown, as far as it matters, as a clause; `None` if it is known. `components`
    /// are those of the graph with cycles.
    fn unordered(&self, components: &[Vec<u32>]) -> Option<String>;

    /// A possible explanation for a read of a value that was never written; may be empty.
    fn garbage_hint(&self) -> String;

    /// Other figures of these anomalies, at most `max` of each type.
    fn figures(&self, _shown: AnomalySet, _max: usize) -> Vec<Figure> {
        Vec::new()
    }
}
