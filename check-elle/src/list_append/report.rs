//! The report: the verdict on a history, and a few witnesses of each type of anomaly.

use super::ListAppend;
use super::analysis::Analysis;
use super::direct::Direct;
use super::explain::SHOWN_TXNS_MAX;
use super::run::{Counts, Malformed};
use super::txns::{Mop, What};
use super::within::Internal;
use crate::anomaly::{AnomalySet, AnomalyType};
use crate::cycles::{self, Found};
use crate::ids::{ElemId, TxnId};
use crate::lattice;
use history_core::{Anomaly, Artifact, Budget, Datum, Report, Verdict, Witness};
use std::fmt::Write;

/// Transactions named for a component of which no cycle is shown.
const COMPONENT_TXNS_MAX: usize = 64;

const NAME: &str = "list-append";

/// The report on ops that no list-append workload writes: without unique elements and known micro-ops there is no version
/// order to reason from.
pub(crate) fn malformed(malformed: &Malformed) -> Report {
    let mut report = Report::new(NAME, Verdict::Unknown);
    let line = malformed.line.map(|line| format!(" (line {line})")).unwrap_or_default();
    report.notes.push(format!(
        "Nothing can be said of this history, because at index {}{line} {}.",
        malformed.index, malformed.reason
    ));
    report
}

pub(crate) fn report(options: &ListAppend, analysis: &Analysis, counts: Counts, budget: &Budget) -> Report {
    let models = options.consistency_models.iter().copied().collect();
    let prohibited = lattice::prohibited(models, options.anomalies);
    let reportable = lattice::reportable(models, options.anomalies);
    let order = lattice::order_needed(reportable);
    let graph = analysis.graph(order);
    let cycles = cycles::find(&graph.graph, order, budget);

    let mut all = types_of(&analysis.direct, &cycles);
    if graph.is_empty {
        all.insert(AnomalyType::EMPTY_TRANSACTION_GRAPH);
    }
    if cycles.spent.is_some() {
        all.insert(AnomalyType::CYCLE_SEARCH_TIMEOUT);
    }
    let shown = all.intersection(reportable);
    let shown = shown.difference(lattice::redundant_cycle_exists(shown));
    let verdict = if !all.is_disjoint(prohibited) {
        Verdict::Invalid
    } else if !shown.is_empty() {
        Verdict::Unknown
    } else {
        Verdict::Valid
    };

    let mut report = Report::new(NAME, verdict);
    if !shown.is_empty() {
        let boundary = lattice::boundary(all);
        report.not = boundary.not.into_iter().map(Into::into).collect();
        report.also_not = boundary.also_not.into_iter().map(Into::into).collect();
    }
    let witnesses = Witnesses { analysis, cycles: &cycles, max: options.witnesses_max };
    report.anomalies = shown.iter().map(|anomaly| witnesses.of(anomaly)).collect();
    report.anomalies.sort_by(|a, b| a.name.cmp(&b.name));
    report.notes = notes(analysis, shown);
    if let Some(spent) = cycles.spent {
        report.notes.push(format!("Not all components were searched for all types of cycles: {}.", spent.because()));
    }
    report.counts = count(analysis, counts);
    report.artifacts = report.anomalies.iter().filter_map(artifact).collect();
    report
}

fn types_of(direct: &Direct, cycles: &Found) -> AnomalySet {
    let mut all = AnomalySet::EMPTY;
    for (anomaly, found) in [
        (AnomalyType::G1A, !direct.g1a.is_empty()),
        (AnomalyType::G1B, !direct.g1b.is_empty()),
        (AnomalyType::INTERNAL, !direct.internal.is_empty()),
        (AnomalyType::FUTURE_READ, !direct.future_reads.is_empty()),
        (AnomalyType::DIRTY_UPDATE, !direct.dirty_updates.is_empty()),
        (AnomalyType::LOST_UPDATE, !direct.lost_updates.is_empty()),
        (AnomalyType::DUPLICATE_ELEMENTS, !direct.duplicates.is_empty()),
        (AnomalyType::INCOMPATIBLE_ORDER, !direct.incompatible.is_empty()),
    ] {
        if found {
            all.insert(anomaly);
        }
    }
    for (anomaly, _) in &cycles.cycles {
        all.insert(*anomaly);
    }
    for (anomaly, _) in &cycles.exists {
        all.insert(*anomaly);
    }
    all
}

fn notes(analysis: &Analysis, shown: AnomalySet) -> Vec<String> {
    let mut notes = Vec::new();
    if shown.contains(AnomalyType::EMPTY_TRANSACTION_GRAPH) {
        notes.push(
            "No transaction is related to any other, so there is nothing to judge: the history holds no reads of what \
             others wrote, or too few ops."
                .to_owned(),
        );
    }
    let keys: Vec<String> =
        analysis.direct.incompatible.iter().take(8).map(|(key, _)| analysis.key(*key).to_string()).collect();
    if !keys.is_empty() {
        let total = analysis.direct.incompatible.len();
        let more = if total > keys.len() { format!(" and {} more", total - keys.len()) } else { String::new() };
        notes.push(format!(
            "Reads of key {}{more} do not agree on one version order. The longest read was taken for it (of several, the \
             first); cycles through these keys rest on that choice.",
            keys.join(", ")
        ));
    }
    notes
}

fn count(analysis: &Analysis, counts: Counts) -> Vec<(std::borrow::Cow<'static, str>, u64)> {
    vec![
        ("ok-count".into(), counts.ok),
        ("fail-count".into(), counts.fail),
        ("info-count".into(), counts.info),
        ("nonclient-op-count".into(), counts.other),
        ("key-count".into(), analysis.states.key.len() as u64),
        ("mop-count".into(), analysis.txns.all_mops().len() as u64),
    ]
}

/// All explanations of a type in one file, as Elle names it.
fn artifact(anomaly: &Anomaly) -> Option<Artifact> {
    if anomaly.witnesses.is_empty() {
        return None;
    }
    let texts: Vec<&str> = anomaly.witnesses.iter().map(|witness| witness.explanation.as_str()).collect();
    let mut text = texts.join("\n\n");
    let left = anomaly.count - texts.len() as u64;
    if left > 0 {
        let _ = write!(text, "\n\n({left} more of this type are not shown.)\n");
    }
    Some(Artifact { path: format!("{}.txt", anomaly.name), content: text.into_bytes() })
}

struct Witnesses<'a> {
    analysis: &'a Analysis,
    cycles: &'a Found,
    max: usize,
}

impl Witnesses<'_> {
    fn of(&self, anomaly: AnomalyType) -> Anomaly {
        let a = self.analysis;
        let d = &a.direct;
        let (count, witnesses) = match anomaly {
            AnomalyType::G1A => self.first(&d.g1a, |(txn, mop, elem)| self.bad_read("failed", *txn, *mop, *elem)),
            AnomalyType::G1B => {
                self.first(&d.g1b, |(txn, mop, elem)| self.bad_read("had not finished with the key", *txn, *mop, *elem))
            }
            AnomalyType::INTERNAL => self.first(&d.internal, |case| self.internal(case)),
            AnomalyType::FUTURE_READ => self.first(&d.future_reads, |(txn, mop, elem)| {
                let mop = a.txns.mops(*txn)[*mop as usize];
                let facts = vec![("key", a.key(mop.key)), ("mop", a.mop(mop)), ("element", a.elem(*elem))];
                a.explain(&[*txn], facts, |ops| {
                    let (t, elem, key) = (&ops[0].name, a.elem(*elem), a.key(mop.key));
                    format!("  - {t} read {elem} in key {key}, and only later appended it.\n")
                })
            }),
            AnomalyType::DIRTY_UPDATE => self.first(&d.dirty_updates, |(key, range)| {
                let elems = &a.orders.of(*key)[range.start as usize..range.end as usize];
                let writers = [elems[0], elems[elems.len() - 1]].map(|elem| a.states.elem[elem.at()].writer);
                let facts = vec![("key", a.key(*key)), ("values", a.elems(elems))];
                a.explain(&writers, facts, |ops| {
                    let (first, last) = (a.elem(elems[0]), a.elem(elems[elems.len() - 1]));
                    let (t1, t2, key) = (&ops[0].name, &ops[1].name, a.key(*key));
                    format!(
                        "  - {t1} failed, but its append of {first} to key {key} stands in what {t2}, which is ok, appended \
                         {last} to.\n"
                    )
                })
            }),
            AnomalyType::LOST_UPDATE => self.first(&d.lost_updates, |(state, txns)| {
                let key = a.key(a.states.state[state.at()].key);
                let count = txns.len();
                let txns = &txns[..count.min(SHOWN_TXNS_MAX)];
                let mut facts = vec![("key", key.clone()), ("value", a.list(*state))];
                if count > txns.len() {
                    facts.push(("txn-count", Datum::from(count as u64)));
                }
                a.explain(txns, facts, |ops| {
                    let mut names: Vec<String> = ops.iter().map(|op| op.name.clone()).collect();
                    if count > ops.len() {
                        names.push(format!("{} more", count - ops.len()));
                    }
                    format!("  - {} all read {} in key {key}, and then appended to it.\n", names.join(", "), a.list(*state))
                })
            }),
            AnomalyType::DUPLICATE_ELEMENTS => self.first(&d.duplicates, |(txn, mop)| self.duplicates(*txn, *mop)),
            AnomalyType::INCOMPATIBLE_ORDER => self.first(&d.incompatible, |(key, reads)| {
                let lists = reads.map(|(txn, mop)| a.read_list(txn, mop));
                let facts = vec![("key", a.key(*key)), ("values", Datum::Vector(lists.to_vec()))];
                a.explain(&reads.map(|(txn, _)| txn), facts, |ops| {
                    let (t1, t2, key) = (&ops[0].name, &ops[1].name, a.key(*key));
                    let [x, y] = &lists;
                    format!("  - {t1} read {x} in key {key}, and {t2} read {y}: neither is the beginning of the other.\n")
                })
            }),
            AnomalyType::EMPTY_TRANSACTION_GRAPH | AnomalyType::CYCLE_SEARCH_TIMEOUT => (1, Vec::new()),
            cycle => self.cycles(cycle),
        };
        Anomaly { name: anomaly.name().into(), count, witnesses }
    }

    fn first<T>(&self, all: &[T], explain: impl Fn(&T) -> Witness) -> (u64, Vec<Witness>) {
        (all.len() as u64, all.iter().take(self.max).map(explain).collect())
    }

    fn cycles(&self, anomaly: AnomalyType) -> (u64, Vec<Witness>) {
        if let Some((_, txns)) = self.cycles.exists.iter().find(|(found, _)| *found == anomaly) {
            return (1, vec![self.component(txns)]);
        }
        let all: Vec<_> = self.cycles.cycles.iter().filter(|(found, _)| *found == anomaly).collect();
        self.first(&all, |(_, cycle)| self.analysis.explain_cycle(cycle))
    }

    /// The smallest component in which a model's cycle is.
    fn component(&self, txns: &[u32]) -> Witness {
        let indices = txns.iter().take(COMPONENT_TXNS_MAX);
        let indices = indices.map(|txn| Datum::from(self.analysis.txns.index(TxnId::new(*txn as usize))));
        let scc = Datum::Vector(indices.collect());
        let explanation = format!("A cycle exists among {} transactions, with indices {scc}.\n", txns.len());
        let facts = vec![("scc-size".into(), Datum::from(txns.len() as u64)), ("scc".into(), scc)];
        Witness { facts, explanation, ..Witness::default() }
    }

    fn bad_read(&self, what: &str, reader: TxnId, mop: u32, elem: ElemId) -> Witness {
        let a = self.analysis;
        let mop = a.txns.mops(reader)[mop as usize];
        let writer = a.states.elem[elem.at()].writer;
        let facts = vec![("key", a.key(mop.key)), ("element", a.elem(elem)), ("mop", a.mop(mop))];
        a.explain(&[reader, writer], facts, |ops| {
            let (t1, t2, elem, key) = (&ops[0].name, &ops[1].name, a.elem(elem), a.key(mop.key));
            format!("  - {t1} read {elem} in key {key}, which {t2} appended; and {t2} {what}.\n")
        })
    }

    fn internal(&self, case: &Internal) -> Witness {
        let a = self.analysis;
        let mop = a.txns.mops(case.txn)[case.mop as usize];
        let mut expected = match case.base {
            Some(base) => a.states.elems(base).into_iter().map(|elem| a.elem(elem)).collect(),
            None => vec![Datum::Symbol("...".into())],
        };
        expected.extend(case.tail.iter().map(|elem| a.elem(*elem)));
        let expected = Datum::Vector(expected);
        let facts = vec![("key", a.key(mop.key)), ("mop", a.mop(mop)), ("expected", expected.clone())];
        a.explain(&[case.txn], facts, |ops| {
            let (t, key, list) = (&ops[0].name, a.key(mop.key), a.read_list(case.txn, case.mop));
            format!("  - {t} read {list} in key {key}, where its own reads and appends before promise {expected}.\n")
        })
    }

    fn duplicates(&self, txn: TxnId, mop: u32) -> Witness {
        let a = self.analysis;
        let at = mop;
        let mop = a.txns.mops(txn)[at as usize];
        let What::Read(state) = mop.what() else { return Witness::default() };
        let mut elems = a.states.elems(state);
        elems.sort_unstable();
        let twice = elems.chunk_by(|x, y| x == y).filter(|same| same.len() > 1);
        let twice: Vec<(Datum, Datum)> = twice.map(|same| (a.elem(same[0]), Datum::from(same.len() as u64))).collect();
        let names: Vec<String> = twice.iter().map(|(elem, count)| format!("{elem} {count} times")).collect();
        let facts = vec![("key", a.key(mop.key)), ("mop", a.mop(mop)), ("duplicates", Datum::Map(twice))];
        a.explain(&[txn], facts, |ops| {
            let (t, key) = (&ops[0].name, a.key(mop.key));
            format!("  - {t} read {} in key {key}: it holds {}.\n", a.read_list(txn, at), names.join(", "))
        })
    }
}

impl Analysis {
    fn read_list(&self, txn: TxnId, mop: u32) -> Datum {
        let mop: Mop = self.txns.mops(txn)[mop as usize];
        match mop.what() {
            What::Read(state) => self.list(state),
            What::Append(_) | What::Unseen => Datum::Nil,
        }
    }
}
