//! The data about a history after it was read.

use super::edges::{Edge, Inferred, infer};
use super::keys::Keys;
use super::mop::{How, Mop, Selects};
use super::reads::Seen;
use crate::anomaly::{self, AnomalySet, AnomalyType};
use crate::cycle_spec::Suffix;
use crate::graph::Relation;
use crate::ids::{KeyId, TxnId};
use crate::lattice;
use crate::model::Model;
use crate::txn::analysis::{Analysis, Named, Reason};
use crate::txn::builder::Builder;
use crate::txn::report::WHOEVER_WROTE;
use crate::txn::{TxnGraph, Txns};
use history_core::cast::Cast as _;
use history_core::{Budget, Datum, Interner, Witness};

#[derive(Debug)]
pub(crate) struct Universe {
    interner: Interner,
    pub(super) keys: Keys,
    pub(super) selects: Selects,
    pub(super) txns: Txns<Mop>,
    pub(super) inferred: Inferred,
    writes_known: bool,
}

impl Universe {
    pub(super) fn new(
        interner: Interner,
        keys: Keys,
        selects: Selects,
        txns: Txns<Mop>,
        writes_known: bool,
        budget: &Budget,
    ) -> Universe {
        let inferred = infer(&keys, &selects, &txns, budget);
        Universe { interner, keys, selects, txns, inferred, writes_known }
    }

    pub(super) fn value(&self, code: i64) -> Datum {
        self.interner.datum(code)
    }

    /// The edge of a step with this relation; one between items, if there is one.
    fn edge(&self, relation: Relation, from: TxnId, to: TxnId) -> Option<&Edge> {
        self.inferred.between(from, to).iter().find(|edge| edge.relation == relation)
    }

    /// A clause about the result of an edge's read, and the transaction that preceded or followed.
    fn because(&self, edge: &Edge, a: &str, b: &str) -> String {
        let key = self.key(edge.key);
        let did = |code: i64| match code {
            Interner::NIL => format!("deleted key {key}"),
            code => format!("set key {key} to {}", self.value(code)),
        };
        let before =
            if edge.before == Interner::NIL { "absent".to_owned() } else { self.value(edge.before).to_string() };
        let Some(look) = edge.look else {
            return format!("{a} created key {key} as {before}, and {b} {}", did(edge.after));
        };
        let select = self.mop(self.txns.mops(look.txn)[look.mop.to_usize()]);
        let hidden =
            |selected: &str| format!("the predicate read {select} did not show key {key}, so it selected {selected}");
        match (edge.relation, look.seen) {
            (Relation::Wr, Seen::Item(_)) => format!("{a} {}, which {b} read", did(edge.after)),
            (Relation::Wr, Seen::Shown(_)) => format!("{a} {}, which {b}'s predicate read showed", did(edge.after)),
            (Relation::Wr, Seen::Hidden(_)) => {
                format!("{a} {}, and {b} saw that: {}", did(edge.after), hidden("the only version that does not match"))
            }
            (_, Seen::Item(_)) => format!("{a} read key {key} as {before}, and {b} {} after that", did(edge.after)),
            (_, Seen::Shown(_)) => {
                format!("{a}'s predicate read showed key {key} as {before}, and {b} {} after that", did(edge.after))
            }
            (_, Seen::Hidden(_)) => {
                format!("{b} {}, and {a} did not see that: {}", did(edge.after), hidden("the version before that"))
            }
        }
    }

    /// A key whose mutations are in no known order, and their number.
    fn unordered_key(&self) -> Option<(KeyId, usize)> {
        let is_unordered = |key: &KeyId| !self.keys.of(*key).is_ordered() && !self.keys.of(*key).left_out;
        let key = self.keys.ids().find(is_unordered)?;
        Some((key, self.keys.of(key).external().count()))
    }
}

impl Analysis for Universe {
    type Mop = Mop;

    const DOUBT_IS_OF_THIS_HISTORY: bool = true;
    /// Values may be written several times, so the op may have written any value, or deleted any key.
    const RESTS_ON_ALL_WRITES: AnomalySet = AnomalySet::ALL.difference(WHOEVER_WROTE).difference(lattice::UNKNOWN);
    const SEARCHED: AnomalySet = AnomalySet::from_bits(anomaly::bits_of(&["predicate-read-miss"]));

    fn txns(&self) -> &Txns<Mop> {
        &self.txns
    }

    fn keys(&self) -> usize {
        self.keys.keys.len()
    }

    fn key(&self, key: KeyId) -> Datum {
        self.interner.datum(self.keys.of(key).code)
    }

    #[cfg(feature = "exact")]
    fn first(&self, _: KeyId) -> Datum {
        Datum::Nil
    }

    #[cfg(feature = "exact")]
    fn happened(&self) -> Option<crate::exact::Happened> {
        self.transactions()
    }

    fn mop(&self, mop: Mop) -> Datum {
        let keyed = |f: &str, key: KeyId, value: Datum| Datum::Vector(vec![Datum::keyword(f), self.key(key), value]);
        match mop {
            Mop::Mutate { key, how: How::Delete, .. } => keyed("delete", key, Datum::Nil),
            Mop::Mutate { key, code, how: How::Insert } => keyed("insert", key, self.value(code)),
            Mop::Mutate { key, code, how: How::Write } => keyed("w", key, self.value(code)),
            Mop::Mutate { key, code, how: How::Init } => keyed("init", key, self.value(code)),
            Mop::Read { key, .. } if self.keys.of(key).left_out => Datum::Symbol("...".into()),
            Mop::Read { key, code } => keyed("r", key, self.value(code)),
            Mop::Unseen { key } => keyed("r", key, Datum::Nil),
            Mop::Select(row) => {
                let entry = |(key, code): &(KeyId, i64)| (self.key(*key), self.value(*code));
                let shown = self.selects.shown(row);
                let shown = shown.map_or(Datum::Nil, |shown| Datum::Map(shown.iter().map(entry).collect()));
                Datum::Vector(vec![Datum::keyword("rp"), self.selects.predicate(row).datum(&self.interner), shown])
            }
        }
    }

    fn graph(&self, order: Suffix) -> TxnGraph {
        let mut builder = Builder::new(&self.txns, order);
        let mut predicates = Vec::new();
        let mut edges = &self.inferred.edges[..];
        for txn in self.txns.ids() {
            let (own, rest) = edges.split_at(edges.partition_point(|edge| edge.from == txn));
            edges = rest;
            // Edges between items come before edges of predicates.
            for alike in own.chunk_by(|a, b| (a.to, a.relation) == (b.to, b.relation)) {
                builder.relate(alike[0].to, alike[0].relation);
                if alike[0].relation == Relation::Rw && alike[0].of_predicate {
                    predicates.push((txn.at().to_u32(), alike[0].to.at().to_u32()));
                }
            }
            builder.end_txn(txn, self.txns.is_ok(txn));
        }
        TxnGraph { predicates, ..builder.finish() }
    }

    fn reason(&self, relation: Relation, from: Named<'_>, to: Named<'_>) -> Option<Reason> {
        let edge = self.edge(relation, from.txn, to.txn)?;
        let next_value = (relation != Relation::Wr).then(|| self.value(edge.after));
        let because = self.because(edge, from.name, to.name);
        Some(Reason { key: self.key(edge.key), value: self.value(edge.before), next_value, because })
    }

    fn relation_name(&self, relation: Relation, from: TxnId, to: TxnId) -> &'static str {
        match self.edge(relation, from, to) {
            Some(Edge { relation: Relation::Wr, of_predicate: true, .. }) => "wrp",
            Some(Edge { relation: Relation::Rw, of_predicate: true, .. }) => "rwp",
            _ => relation.name(),
        }
    }

    fn direct(&self) -> AnomalySet {
        let Inferred {
            internal, aborted, intermediate, future, garbage, mismatches, misses, early, lost_updates, ..
        } = &self.inferred;
        let found = [
            (AnomalyType::INTERNAL, internal.is_empty()),
            (AnomalyType::G1A, aborted.is_empty()),
            (AnomalyType::G1B, intermediate.is_empty()),
            (AnomalyType::FUTURE_READ, future.is_empty()),
            (AnomalyType::GARBAGE_READ, garbage.is_empty()),
            (AnomalyType::PREDICATE_MISMATCH, mismatches.is_empty()),
            (AnomalyType::PREDICATE_READ_MISS, misses.is_empty()),
            (AnomalyType::INIT_READ_MISS, early.is_empty()),
            (AnomalyType::LOST_UPDATE, lost_updates.is_empty()),
        ];
        found.into_iter().filter_map(|(anomaly, is_empty)| (!is_empty).then_some(anomaly)).collect()
    }

    fn direct_witnesses(&self, anomaly: AnomalyType, max: usize) -> (u64, Vec<Witness>) {
        self.witnesses(anomaly, max)
    }

    /// The absence of anomalies proves nothing unless the order of all versions is known.
    fn rests_on_order(_: Model) -> bool {
        true
    }

    fn unordered(&self, _: &[Vec<u32>]) -> Option<String> {
        let Inferred { aborted, intermediate, spent, .. } = &self.inferred;
        if let Some(spent) = spent {
            return Some(format!("not all reads were compared with all versions, because {}", spent.because()));
        }
        if !aborted.is_empty() || !intermediate.is_empty() {
            return Some("a transaction read a failed or intermediate write".to_owned());
        }
        let (key, count) = self.unordered_key()?;
        Some(format!("{count} transactions mutated key {}, in an unknown order", self.key(key)))
    }

    fn garbage_hint(&self) -> String {
        "If the store was not empty at the start, let the first op, :init, name what it held.".to_owned()
    }

    /// The note on reads that did not return a key that `init` created and no transaction deletes.
    fn unexplained(&self) -> Option<String> {
        let Inferred { misses, early, .. } = &self.inferred;
        let look = misses.iter().chain(early).min()?;
        Some(format!(
            "the op at index {} did not see key {}, and no transaction deleted it that it may have seen",
            self.txns.index(look.txn),
            self.key(look.key)
        ))
    }

    fn misses_by_predicates(&self) -> bool {
        let is_missed = |edge: &Edge| edge.relation == Relation::Rw && edge.of_predicate;
        !self.inferred.misses.is_empty() || self.inferred.edges.iter().any(is_missed)
    }

    fn writes_known(&self) -> bool {
        self.writes_known
    }

    fn has_evidence(&self) -> bool {
        let any = self.keys.keys.iter().any(super::keys::Key::is_written);
        let is_evidence = |mop: &Mop| match mop {
            Mop::Read { key, .. } => self.keys.of(*key).is_written(),
            Mop::Select(row) => any && self.selects.shown(*row).is_some(),
            Mop::Mutate { .. } | Mop::Unseen { .. } => false,
        };
        self.txns.ids().any(|txn| self.txns.is_ok(txn) && self.txns.mops(txn).iter().any(is_evidence))
    }

    fn writes_key(mop: Mop) -> Option<KeyId> {
        match mop {
            Mop::Mutate { key, .. } => Some(key),
            Mop::Read { .. } | Mop::Unseen { .. } | Mop::Select(_) => None,
        }
    }

    fn notes(&self, is_decided: bool) -> Vec<String> {
        let Some((key, count)) = self.unordered_key().filter(|_| !is_decided) else { return Vec::new() };
        vec![format!(
            "{count} transactions mutated key {}: the workload mutates each key once at the most, after an op :init that names \
             the keys to write or delete. Few anomalies can be found on such keys.",
            self.key(key)
        )]
    }
}
