//! Witnesses of the anomalies that are not cycles of transactions: for each case the transactions, the facts and one or
//! more sentences.

use super::analysis::Registers;
use super::ground::Ground;
use super::mop::What;
use super::order::CyclicVersions;
use super::sources::Source;
use crate::anomaly::AnomalyType;
use crate::ids::{TxnId, VersionId};
use crate::txn::analysis::Analysis;
use crate::txn::explain::{SHOWN_TXNS_MAX, explain, explain_at_length};
use crate::txn::report::first;
use history_core::cast::Cast as _;
use history_core::explain::{Explanation, with_more};
use history_core::hash::HashMap;
use history_core::{Datum, Witness, WitnessOp};
use std::collections::VecDeque;

/// The maximum number of versions in a cycle that a report names.
const SHOWN_VERSIONS_MAX: usize = 256;

/// The maximum number of versions from which a cycle to show is searched.
const CYCLE_TRIES_MAX: usize = 64;

impl Registers {
    /// The number of anomalies of a type, and witnesses of the first `max`.
    pub(super) fn witnesses(&self, anomaly: AnomalyType, max: usize) -> (u64, Vec<Witness>) {
        let d = &self.direct;
        match anomaly {
            AnomalyType::G1A => first(max, &d.g1a, |case| self.bad_read("failed", *case)),
            AnomalyType::G1B => first(max, &d.g1b, |case| self.bad_read("overwrote it", *case)),
            AnomalyType::FUTURE_READ => first(max, &d.future_reads, |(txn, mop)| self.future_read(*txn, *mop)),
            AnomalyType::GARBAGE_READ => first(max, &d.garbage, |(txn, mop)| self.garbage(*txn, *mop)),
            AnomalyType::INTERNAL => {
                first(max, &d.internal, |(txn, mop, expected)| self.internal(*txn, *mop, *expected))
            }
            AnomalyType::LOST_UPDATE => first(max, &d.lost_updates, |(version, txns)| self.lost_update(*version, txns)),
            AnomalyType::CYCLIC_VERSIONS => first(max, &self.order.cyclic, |case| self.cyclic_versions(case)),
            _ => (0, Vec::new()),
        }
    }

    /// The version that a micro-op reads.
    fn version_read(&self, txn: TxnId, mop: u32) -> (Datum, VersionId) {
        let mop = self.txns.recorded(txn)[mop.to_usize()];
        match mop.what() {
            What::Read(version) | What::Write(version) => (self.mop(mop), version),
            What::Unseen => (self.mop(mop), self.versions.key[mop.key.at()].initial),
        }
    }

    fn bad_read(&self, what: &str, (reader, mop): (TxnId, u32)) -> Witness {
        let (mop, id) = self.version_read(reader, mop);
        let version = self.versions.version[id.at()];
        let (key, value) = (self.key(version.key), self.value(id));
        let facts = vec![("key", key.clone()), ("element", value.clone()), ("mop", mop)];
        explain(self, &[reader, version.writer], facts, |ops| {
            let (t1, t2) = (&ops[0].name, &ops[1].name);
            format!("{t1} read {value} in key {key}, which {t2} wrote, and {t2} {what}.")
        })
    }

    /// A witness for a read of a value before the transaction wrote it, as micro-op number `written`.
    fn future_read(&self, txn: TxnId, written: u32) -> Witness {
        let mops = self.txns.mops(txn);
        let What::Write(id) = mops[written.to_usize()].what() else { return Witness::default() };
        let read = mops.iter().find(|mop| mop.what() == What::Read(id)).map_or(Datum::Nil, |mop| self.mop(*mop));
        let (key, value) = (self.key(self.versions.version[id.at()].key), self.value(id));
        let facts = vec![("key", key.clone()), ("mop", read), ("element", value.clone())];
        explain(self, &[txn], facts, |ops| {
            format!("{} read {value} in key {key} before it wrote {value} itself.", ops[0].name)
        })
    }

    fn garbage(&self, reader: TxnId, mop: u32) -> Witness {
        let (mop, id) = self.version_read(reader, mop);
        let (key, value) = (self.key(self.versions.version[id.at()].key), self.value(id));
        let facts = vec![("key", key.clone()), ("element", value.clone()), ("mop", mop)];
        explain(self, &[reader], facts, |ops| {
            format!("{} read {value} in key {key}, which was never written.", ops[0].name)
        })
    }

    fn internal(&self, txn: TxnId, mop: u32, expected: VersionId) -> Witness {
        let (mop, id) = self.version_read(txn, mop);
        let (key, value, expected) =
            (self.key(self.versions.version[id.at()].key), self.value(id), self.value(expected));
        let facts = vec![("key", key.clone()), ("mop", mop), ("expected", expected.clone())];
        explain(self, &[txn], facts, |ops| {
            let t = &ops[0].name;
            format!("{t} read {value} in key {key}, but its own earlier reads and writes imply {expected}.")
        })
    }

    fn lost_update(&self, version: VersionId, txns: &[TxnId]) -> Witness {
        let (key, value) = (self.key(self.versions.version[version.at()].key), self.value(version));
        let count = txns.len();
        let txns = &txns[..count.min(SHOWN_TXNS_MAX)];
        let mut facts = vec![("key", key.clone()), ("value", value.clone())];
        if count > txns.len() {
            facts.push(("txn-count", Datum::from(count.to_u64())));
        }
        explain(self, txns, facts, |ops| {
            let names = with_more(ops.iter().map(|op| op.name.clone()).collect(), count);
            format!("{} all read {value} in key {key}, and then wrote it.", names.join(", "))
        })
    }

    fn cyclic_versions(&self, case: &CyclicVersions) -> Witness {
        let key = self.key(case.key);
        let shown = case.scc.iter().take(SHOWN_VERSIONS_MAX).map(|version| self.value(*version));
        let sources: Vec<Datum> = case.sources.iter().map(|source| Datum::keyword(source.name())).collect();
        let mut facts =
            vec![("key", key.clone()), ("scc", Datum::Vector(shown.collect())), ("sources", Datum::Vector(sources))];
        if case.scc.len() > SHOWN_VERSIONS_MAX {
            facts.push(("scc-size", Datum::from(case.scc.len().to_u64())));
        }
        let cycle = short_cycle(case);
        let grounds: Vec<Option<Ground>> =
            (0..cycle.len()).map(|at| self.ground(cycle[at], cycle[(at + 1) % cycle.len()], &case.sources)).collect();
        let mut txns: Vec<TxnId> = Vec::new();
        for txn in grounds.iter().flatten().flat_map(|ground| ground.txns()) {
            if !txns.contains(&txn) && txns.len() < SHOWN_TXNS_MAX {
                txns.push(txn);
            }
        }
        explain_at_length(self, &txns, facts, |ops, explanation| {
            self.conclude_cyclic((&cycle, &grounds), &txns, ops, case, explanation);
        })
    }

    fn conclude_cyclic(
        &self,
        (cycle, grounds): (&[VersionId], &[Option<Ground>]),
        txns: &[TxnId],
        ops: &[WitnessOp],
        case: &CyclicVersions,
        explanation: &mut Explanation,
    ) {
        let name = |txn: TxnId| match txns.iter().position(|other| *other == txn) {
            Some(at) => ops[at].name.clone(),
            None => format!("the op at index {}", self.txns.index(txn)),
        };
        let key = self.key(case.key);
        for (at, ground) in grounds.iter().enumerate() {
            let pair = (cycle[at], cycle[(at + 1) % cycle.len()]);
            let (v, w) = (self.value(pair.0), self.value(pair.1));
            let because = ground.map(|ground| format!(", because {}", self.explain_ground(ground, pair, name)));
            let last = at + 1 == grounds.len();
            let (lead, end) = if last { ("However, ", ": a contradiction!") } else { ("", ".") };
            let because = because.unwrap_or_default();
            explanation.then(format_args!("{lead}{v} < {w} in key {key}{because}{end}"));
        }
        let assumed: Vec<&str> =
            case.sources.iter().filter(|source| **source != Source::InitialState).map(|source| source.name()).collect();
        explanation.line(format_args!("This assumes {}.", assumed.join(", ")));
    }
}

/// A shortest cycle through the first of these versions that is on one.
fn short_cycle(case: &CyclicVersions) -> Vec<VersionId> {
    let mut next: HashMap<VersionId, Vec<VersionId>> = HashMap::default();
    for (from, to) in &case.edges {
        next.entry(*from).or_default().push(*to);
    }
    let cycles = case.scc.iter().take(CYCLE_TRIES_MAX).map(|start| cycle_through(*start, &next));
    cycles.into_iter().find(|cycle| !cycle.is_empty()).unwrap_or_default()
}

fn cycle_through(start: VersionId, next: &HashMap<VersionId, Vec<VersionId>>) -> Vec<VersionId> {
    let mut came_from: HashMap<VersionId, VersionId> = HashMap::default();
    let mut waiting = VecDeque::from([start]);
    while let Some(at) = waiting.pop_front() {
        for to in next.get(&at).into_iter().flatten() {
            if *to == start {
                let mut cycle = vec![at];
                while cycle[cycle.len() - 1] != start {
                    cycle.push(came_from[&cycle[cycle.len() - 1]]);
                }
                cycle.reverse();
                return cycle;
            }
            if !came_from.contains_key(to) {
                came_from.insert(*to, at);
                waiting.push_back(*to);
            }
        }
    }
    Vec::new()
}
