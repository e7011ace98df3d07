//! Dependencies and anomalies, from the results of reads.
//!
//! Adya, "Weak Consistency" (MIT, 1999), section 3.1: a predicate read depends on the transaction that wrote the
//! version it selected, and a transaction that later changes whether an object matches depends on the read.

use super::keys::{Key, Keys, Mutation};
use super::mop::{Mop, Selects};
use super::reads::{Finding, Look, Reader, Seen, Version};
use crate::graph::Relation;
use crate::ids::{KeyId, TxnId};
use crate::txn::{Txns, updates};
use history_core::cast::Cast as _;
use history_core::{Budget, Spent};

/// A dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub(crate) from: TxnId,
    pub(crate) to: TxnId,
    /// ww, wr or rw.
    pub(crate) relation: Relation,
    /// Whether it is an edge of a predicate: wrp or rwp.
    pub(crate) of_predicate: bool,
    pub(crate) key: KeyId,
    /// The values of the key before and after; nil if it was absent. For wr both are the same.
    pub(crate) before: i64,
    pub(crate) after: i64,
    /// The read; `None` for ww.
    pub(crate) look: Option<Look>,
}

/// The results, each list in the order of the history.
#[derive(Debug, Default)]
pub(crate) struct Inferred {
    /// In ascending order; at most one per relation between two transactions.
    pub(crate) edges: Vec<Edge>,
    pub(crate) internal: Vec<(Look, i64)>,
    /// Each with the position of the mutation among those of the key.
    pub(crate) aborted: Vec<(Look, u32)>,
    pub(crate) intermediate: Vec<(Look, u32)>,
    pub(crate) future: Vec<Look>,
    pub(crate) garbage: Vec<Look>,
    pub(crate) mismatches: Vec<Look>,
    pub(crate) misses: Vec<Look>,
    /// Reads that returned nothing for a key that always had a value.
    pub(crate) early: Vec<Look>,
    /// A version, and the transactions that read it and then wrote its key.
    pub(crate) lost_updates: Vec<((KeyId, Version), Vec<TxnId>)>,
    /// A read that observed one of several versions; it is not determined which one.
    pub(crate) ambiguous: Option<Look>,
    /// The reason why not all reads were examined, if so.
    pub(crate) spent: Option<Spent>,
}

/// Examines all reads within the budget: a step is a read of one key.
pub(super) fn infer(keys: &Keys, selects: &Selects, txns: &Txns<Mop>, budget: &Budget) -> Inferred {
    let mut inferred = Inferred::default();
    let mut update = Vec::new();
    let mut reader = Reader::new(keys, selects, txns);
    let mut steps = 0_u64;
    for txn in txns.ids().filter(|txn| txns.is_ok(*txn)) {
        let start = inferred.edges.len();
        let mut behind_own = None;
        reader.read(txn, &mut |look, finding| {
            steps += 1;
            inferred.add(keys, look, finding);
            if let Finding::Internal { is_own: true, .. } = finding {
                behind_own = Some(look);
            }
            if let (Finding::Of(version), Seen::Item(_) | Seen::Shown(_)) = (finding, look.seen)
                && behind_own != Some(look)
                && keys.of(look.key).external().any(|mutation| mutation.txn == txn)
            {
                update.push(((look.key, version), txn));
            }
        });
        // All new edges lead to or from this transaction.
        merge(&mut inferred.edges, start);
        let bytes = size_of::<Edge>().to_u64() * inferred.edges.len().to_u64();
        if let Err(spent) = budget.check(steps, bytes) {
            inferred.spent = Some(spent);
            break;
        }
    }
    let start = inferred.edges.len();
    for key in keys.ids() {
        inferred.replaced(keys.of(key), key);
    }
    merge(&mut inferred.edges, start);
    inferred.edges.sort_unstable();
    update.sort_unstable();
    update.dedup();
    inferred.lost_updates = updates::lost(update);
    // Keep only the first of each transaction: later ones may be its consequence.
    inferred.internal.dedup_by_key(|(look, _)| look.txn);
    inferred
}

/// Keeps one edge per relation between two transactions, from a position on.
fn merge(edges: &mut Vec<Edge>, start: usize) {
    let mut new = edges.split_off(start);
    new.sort_unstable();
    new.dedup_by_key(|edge| (edge.from, edge.to, edge.relation, edge.of_predicate));
    edges.append(&mut new);
}

impl Inferred {
    fn add(&mut self, keys: &Keys, look: Look, finding: Finding) {
        let key = keys.of(look.key);
        match finding {
            Finding::Of(version) => {
                if version == Version::Before {
                    self.early.push(look);
                }
                self.depend(key, look, version);
            }
            Finding::OneOfSeveral => _ = self.ambiguous.get_or_insert(look),
            Finding::Internal { expected, .. } => self.internal.push((look, expected)),
            Finding::Aborted(at) => self.aborted.push((look, at)),
            Finding::Intermediate(at) => self.intermediate.push((look, at)),
            Finding::Future => self.future.push(look),
            Finding::Garbage => self.garbage.push(look),
            Finding::Mismatch => self.mismatches.push(look),
            Finding::Miss => {
                self.misses.push(look);
                // It may have observed a mutation that no read should observe.
                if !key.mutations.iter().any(|mutation| look.seen.fits(mutation.code)) {
                    self.depend(key, look, Version::Before);
                }
            }
        }
    }

    /// Adds the edges that follow from a read of a version.
    fn depend(&mut self, key: &Key, look: Look, version: Version) {
        match version {
            // The transaction that created the universe precedes all that mutated it.
            Version::Before => self.followed_by(look, history_core::Interner::NIL, key.base.iter()),
            Version::Base => {
                if let Some(base) = &key.base {
                    self.follows(look, base);
                }
                self.followed_by(look, key.base_code(), key.external());
            }
            Version::Mutation(at) => self.follows(look, &key.mutations[at.to_usize()]),
        }
    }

    /// The read follows a mutation that it observed.
    fn follows(&mut self, look: Look, mutation: &Mutation) {
        let (from, to) = (mutation.txn, look.txn);
        let of_predicate = !matches!(look.seen, Seen::Item(_));
        let (before, after) = (mutation.code, mutation.code);
        self.push(Edge {
            from,
            to,
            relation: Relation::Wr,
            of_predicate,
            key: look.key,
            before,
            after,
            look: Some(look),
        });
    }

    /// Mutations follow a read of the version before them.
    fn followed_by<'a>(&mut self, look: Look, before: i64, mutations: impl Iterator<Item = &'a Mutation>) {
        let of_predicate = matches!(look.seen, Seen::Hidden(_));
        for mutation in mutations {
            let (from, to, after) = (look.txn, mutation.txn, mutation.code);
            let relation = Relation::Rw;
            self.push(Edge { from, to, relation, of_predicate, key: look.key, before, after, look: Some(look) });
        }
    }

    /// All transactions that mutated a key follow the one that created it with the universe.
    fn replaced(&mut self, key: &Key, id: KeyId) {
        let Some(base) = key.base.filter(|_| !key.left_out) else { return };
        for mutation in key.external() {
            self.push(Edge {
                from: base.txn,
                to: mutation.txn,
                relation: Relation::Ww,
                of_predicate: false,
                key: id,
                before: base.code,
                after: mutation.code,
                look: None,
            });
        }
    }

    fn push(&mut self, edge: Edge) {
        if edge.from != edge.to {
            self.edges.push(edge);
        }
    }

    /// The edges between two transactions.
    pub(crate) fn between(&self, from: TxnId, to: TxnId) -> &[Edge] {
        let start = self.edges.partition_point(|edge| (edge.from, edge.to) < (from, to));
        let count = self.edges[start..].partition_point(|edge| (edge.from, edge.to) == (from, to));
        &self.edges[start..start + count]
    }
}
