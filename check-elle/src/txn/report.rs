//! The report: the verdict on a history of transactions, and a few witnesses of each type of anomaly.

use super::analysis::Analysis;
use super::columns::Counts;
use super::expected::Expected;
use super::standing::{Lacks, Standing, Undecided};
use super::{TxnGraph, explain, figures};
use crate::anomaly::{self, AnomalySet, AnomalyType};
use crate::cycle_spec::Suffix;
use crate::cycles::{self, Found};
#[cfg(feature = "exact")]
use crate::exact;
use crate::exact::{Answers, Exact, Prepared};
use crate::graph::Graph;
use crate::ids::{KeyId, TxnId};
use crate::lattice;
use crate::model::{Model, ModelSet};
use history_core::cast::Cast as _;
use history_core::figure::Figure;
use history_core::hash::HashSet;
use history_core::parallel;
use history_core::{
    Anomaly, Artifact, Budget, Datum, NAMELESS, NextStep, Report, SESSIONLESS, UNTIMED, Verdict, Witness,
};
use std::borrow::Cow;
use std::fmt::Write;

/// The note on a history without reads that could be wrong.
pub(crate) const NO_READ: &str =
    "No ok transaction read a key that any transaction writes, so no read could have been wrong.";

/// The start of the note on garbage reads.
pub(crate) const UNWRITTEN: &str = "A value was read that was never written.";

/// The note on a violation that the rest of the history may revoke.
pub(crate) const SO_FAR: &str = "The history up to here is violated. A transaction that fails later, or a read that \
                                 contradicts an earlier one, can take this back.";

/// The maximum number of transactions named for a component whose cycle is not shown.
const COMPONENT_TXNS_MAX: usize = 64;

/// The results of reads that hold whichever op wrote the values. All others require that each value has one writer.
pub(crate) const WHOEVER_WROTE: AnomalySet =
    AnomalySet::from_bits(anomaly::bits_of(&["internal", "incompatible-order"]));

/// Changes the report to one on a prefix: the levels that the prefix does not rule out are unknown.
pub(crate) fn leave_others_open(report: &mut Report) {
    let is_ruled_out = |model: &&str| report.not.iter().chain(&report.also_not).any(|other| other == model);
    let open = lattice::names(ModelSet::ALL).into_iter().filter(|model| !is_ruled_out(model));
    report.not_checked = open.map(Into::into).collect();
}

/// Changes the report because invocations have no process: no level is known to hold.
pub(crate) fn leave_nameless_open(report: &mut Report) {
    leave_others_open(report);
    if report.verdict != Verdict::Invalid {
        let (note, what) = NAMELESS;
        report.verdict = Verdict::Unknown;
        report.notes.retain(|note| note != UNTIMED && note != SESSIONLESS);
        report.notes.insert(0, note.to_owned());
        report.add_next(NextStep::new(what));
    }
}

pub(crate) fn report<A: Analysis>(
    checker: &'static str,
    analysis: &A,
    expected: &Expected,
    counts: Counts,
    budget: &Budget,
) -> Report {
    let models = expected.models.iter().copied().collect();
    let is_garbage = analysis.direct().contains(AnomalyType::GARBAGE_READ);
    let is_allowed = expected.garbage_reads_allowed;
    let allowed = if is_allowed { AnomalyType::GARBAGE_READ.into() } else { AnomalySet::EMPTY };
    let in_doubt = if counts.unsaid.is_some() { A::RESTS_ON_ALL_WRITES } else { AnomalySet::EMPTY };
    let prohibited = lattice::prohibited(models, expected.anomalies).difference(allowed);
    let reportable = lattice::reportable(models, expected.anomalies).difference(allowed);
    let undecided = Undecided::of(models, expected.anomalies.difference(A::SEARCHED));
    let order = edges_needed::<A>(expected, allowed);
    let leads_on = !A::READS_SHOW_ORDER
        && expected.exact != Exact::No
        && analysis.direct().difference(in_doubt).is_disjoint(prohibited);
    let Searched { graph, cycles, prepared, has_read } = searched(analysis, order, leads_on, budget);
    let found = types_of(analysis, allowed, &cycles, graph.is_empty);
    let doubted = found.intersection(in_doubt);
    let unsaid = counts.unsaid.filter(|_| !doubted.is_empty());
    let all = found.difference(doubted);
    let shown = all.intersection(reportable);
    let shown = shown.difference(lattice::redundant_cycle_exists(shown));
    let may_hold = has_read && unsaid.is_none();
    let mut standing = Standing::new(analysis, all, order, &cycles.components, may_hold);
    let is_broken = !all.is_disjoint(prohibited);
    let is_settled =
        is_broken || !analysis.writes_known() || unsaid.is_some() && A::RESTS_ON_ALL_WRITES.contains(AnomalyType::G0);
    let asked = if is_settled { ModelSet::EMPTY } else { standing.to_decide(models) };
    let mut answers = answers(analysis, prepared, asked, expected, budget);
    standing.learn(&answers);
    let shown = if answers.contradicts_itself { shown.union(AnomalyType::INTERNAL.into()) } else { shown };
    let is_invalid = is_broken || !answers.violated.is_disjoint(models);
    let undecided = standing.remaining(undecided);
    let left_open = standing.left_open(models, &answers);
    let is_open = !shown.is_empty() || !undecided.is_empty() || !left_open.is_empty() || !may_hold;
    let otherwise = if is_open { Verdict::Unknown } else { Verdict::Valid };
    let verdict = if is_invalid { Verdict::Invalid } else { otherwise };
    let mut report = Report::new(checker, verdict);
    report.is_partial = is_broken && needs_search(analysis, expected, &cycles);
    levels(&mut report, (all, shown), answers.violated, &standing, expected);
    let witnesses = Witnesses { analysis, cycles: &cycles, max: expected.witnesses_max };
    report.anomalies = witnesses.all(shown, std::mem::take(&mut answers.anomalies));
    report.notes = notes(checker, analysis, counts, &cycles, shown, answers.is_complete);
    report.notes.extend(counts.unread.note());
    report.notes.extend((is_garbage && is_allowed).then(|| garbage_allowed(analysis)));
    report.notes.extend(unsaid.map(|index| doubts(analysis, doubted, index)));
    report.notes.extend((shown.is_empty() && !has_read).then(|| NO_READ.to_owned()));
    report.notes.extend(left_open);
    report.notes.extend((verdict == Verdict::Valid).then(|| rests_on(&standing, &answers)).into_iter().flatten());
    if verdict == Verdict::Unknown && shown.is_empty() {
        let first = Witnesses { analysis, cycles: &cycles, max: 1 };
        report
            .notes
            .extend(standing.notes(checker, undecided, expected.exact, &answers, |anomaly| first.indices(anomaly)));
    }
    let is_empty = shown.contains(AnomalyType::EMPTY_TRANSACTION_GRAPH) || !has_read;
    let (keys, spent, answers) = (analysis.keys(), cycles.spent, &answers);
    let lacks = Lacks { checker, counts, keys, is_empty, unsaid, spent, expected, undecided, answers, budget };
    report.next = standing.next(verdict, &lacks);
    report.counts = count(analysis, counts);
    report.artifacts = artifacts(&report.anomalies);
    if budget.figures {
        report.figures = witnesses.figures(&report.anomalies, shown, &graph.graph);
    }
    report
}

/// Returns true if cycles leave open whether some of the models hold. Then the anomalies found do not show what a
/// search for an order would have found.
fn needs_search<A: Analysis>(analysis: &A, expected: &Expected, cycles: &Found) -> bool {
    let is_unordered = analysis.unordered(&cycles.components).is_some();
    let is_open = |model: &Model| !model.is_decided() || is_unordered && A::rests_on_order(*model);
    expected.exact != Exact::No && expected.models.iter().any(is_open)
}

/// The edges that the graph needs in addition to ww, wr and rw.
pub(crate) fn edges_needed<A: Analysis>(expected: &Expected, allowed: AnomalySet) -> Suffix {
    let models = expected.models.iter().copied().collect();
    let reportable = lattice::reportable(models, expected.anomalies).difference(allowed);
    let undecided = Undecided::of(models, expected.anomalies.difference(A::SEARCHED));
    undecided.order(lattice::order_needed(reportable))
}

/// The graph that was searched for cycles, and the result.
#[derive(Default)]
struct Searched {
    /// Without nodes if the history is known to have no cycle.
    graph: TxnGraph,
    cycles: Found,
    prepared: Prepared,
    /// See [`Analysis::has_evidence`].
    has_read: bool,
}

/// Searches for cycles. `leads_on` is true if levels are decided exactly when no cycle is found.
fn searched<A: Analysis>(analysis: &A, order: Suffix, leads_on: bool, budget: &Budget) -> Searched {
    if analysis.is_ordered() {
        return Searched { has_read: true, ..Searched::default() };
    }
    let search = || {
        let graph = analysis.graph(order);
        budget.begin("searching for cycles");
        let lacks_invocations = analysis.txns().lacks_invocations();
        let cycles = cycles::predicate::find(&graph.graph, &graph.predicates, order, lacks_invocations, budget);
        budget.begin("explaining anomalies");
        (graph, cycles)
    };
    let worth = leads_on && analysis.txns().len() >= parallel::WORTH_OPS;
    let prepare = || if worth { prepared(analysis) } else { Prepared::Nothing };
    let ((graph, cycles), prepared) = parallel::both(worth, search, prepare);
    Searched { graph, cycles, prepared, has_read: analysis.has_evidence() }
}

/// A file for each type of anomaly that has witnesses.
fn artifacts(anomalies: &[Anomaly]) -> Vec<Artifact> {
    anomalies.iter().filter(|anomaly| !anomaly.witnesses.is_empty()).map(history_core::explain::artifact).collect()
}

/// Prepares the exact decision of levels.
#[cfg(feature = "exact")]
fn prepared<A: Analysis>(analysis: &A) -> Prepared {
    Prepared::Transactions(analysis.happened().map(Box::new))
}

#[cfg(not(feature = "exact"))]
fn prepared<A: Analysis>(_: &A) -> Prepared {
    Prepared::Nothing
}

/// The exact decision of the requested levels.
#[cfg(feature = "exact")]
fn answers<A: Analysis>(
    analysis: &A,
    prepared: Prepared,
    asked: ModelSet,
    expected: &Expected,
    budget: &Budget,
) -> Answers {
    exact::decide(analysis, prepared, asked, expected, budget)
}

#[cfg(not(feature = "exact"))]
fn answers<A: Analysis>(_: &A, _: Prepared, _: ModelSet, _: &Expected, _: &Budget) -> Answers {
    Answers::default()
}

/// What a valid verdict is based on if it is not a proof: unknown times, and levels that hold only as far as cycles
/// were searched for.
fn rests_on(standing: &Standing, answers: &Answers) -> impl Iterator<Item = String> {
    let open = answers.open.iter().map(|(model, why)| {
        format!(
            "No cycle of known dependencies rules out {model}, but no commit order that proves it was found: {why}."
        )
    });
    standing.unknown_order().map(str::to_owned).chain(open)
}

/// Adds the levels that are ruled out, and those that are open, to the report.
fn levels(
    report: &mut Report,
    (all, shown): (AnomalySet, AnomalySet),
    violated: ModelSet,
    standing: &Standing,
    expected: &Expected,
) {
    let asked = expected.models.iter().copied().collect();
    let mut ruled_out = violated;
    if !shown.is_empty() || !violated.is_empty() {
        ruled_out = ruled_out.union(lattice::rules_out(all)).intersection(expected.certain);
        let boundary = lattice::boundary_of(ruled_out);
        report.not = boundary.not.into_iter().map(Into::into).collect();
        report.also_not = boundary.also_not.into_iter().map(Into::into).collect();
    }
    report.not_checked = lattice::names(standing.open(ruled_out, asked)).into_iter().map(Into::into).collect();
}

/// All types found, except those that are allowed.
fn types_of<A: Analysis>(analysis: &A, allowed: AnomalySet, cycles: &Found, is_graph_empty: bool) -> AnomalySet {
    // Without micro-ops there is nothing to check, even if there are process and realtime edges.
    let is_empty = is_graph_empty || analysis.keys() == 0;
    let mut all = analysis.direct().difference(allowed);
    for (anomaly, _) in &cycles.cycles {
        all.insert(*anomaly);
    }
    for (anomaly, _) in &cycles.exists {
        all.insert(*anomaly);
    }
    if is_empty {
        all.insert(AnomalyType::EMPTY_TRANSACTION_GRAPH);
    }
    if cycles.spent.is_some() {
        all.insert(AnomalyType::CYCLE_SEARCH_TIMEOUT);
    }
    if analysis.writes_known() { all } else { all.intersection(lattice::UNKNOWN.union(WHOEVER_WROTE)) }
}

fn notes<A: Analysis>(
    checker: &str,
    analysis: &A,
    counts: Counts,
    cycles: &Found,
    shown: AnomalySet,
    is_decided: bool,
) -> Vec<String> {
    let mut notes = Vec::new();
    if shown.contains(AnomalyType::GARBAGE_READ) {
        let mut note = UNWRITTEN.to_owned();
        for sentence in
            [&analysis.garbage_hint()[..], "If the store was not empty at the start, add --allow garbage-read."]
        {
            if !sentence.is_empty() {
                let _ = write!(note, " {sentence}");
            }
        }
        notes.push(note);
    }
    if shown.contains(AnomalyType::EMPTY_TRANSACTION_GRAPH) {
        notes.push(if counts.ok + counts.fail + counts.info == 0 {
            format!(
                "The history contains no op of a client, so there was nothing to check. {checker} expects \
                transactions."
            )
        } else if analysis.keys() == 0 {
            format!(
                "No op contains a micro-op, so there was nothing to check. {checker} expects lists of micro-ops \
                as values."
            )
        } else if shown != AnomalyType::EMPTY_TRANSACTION_GRAPH.into() {
            "No two transactions are known to depend on each other, so there are no cycles.".to_owned()
        } else {
            "No transaction is related to another, so there was nothing to check: the history contains no reads of \
             other transactions' writes, or too few ops."
                .to_owned()
        });
    }
    notes.extend(analysis.notes(is_decided));
    notes.extend(analysis.txns().participants.note());
    if let Some(spent) = cycles.spent {
        notes.push(format!("Not all components were searched for all types of cycles: {}.", spent.because()));
    }
    notes
}

/// The start of the note on allowed garbage reads.
pub(super) const GARBAGE_ALLOWED: &str = "garbage-read is allowed, and was found";

/// The garbage reads that were found and are allowed.
fn garbage_allowed<A: Analysis>(analysis: &A) -> String {
    let times = garbage_reads(analysis);
    // A list shows the position of a value among the writes.
    if A::READS_SHOW_ORDER {
        return format!("{GARBAGE_ALLOWED} {times}.");
    }
    format!(
        "{GARBAGE_ALLOWED} {times}. When these values were there is unknown, so what they violate was not looked for. If \
         keys had them at first, use --initial."
    )
}

fn garbage_reads<A: Analysis>(analysis: &A) -> String {
    let (count, _) = analysis.direct_witnesses(AnomalyType::GARBAGE_READ, 0);
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// The anomalies that were found but do not count, because the op at this index may have written the values.
fn doubts<A: Analysis>(analysis: &A, doubted: AnomalySet, index: u64) -> String {
    let found = if doubted.contains(AnomalyType::GARBAGE_READ) {
        let times = garbage_reads(analysis);
        format!("A value was read that no op says it wrote ({times}). Whether that is a garbage-read is unknown")
    } else {
        let names: Vec<&str> = doubted.iter().map(AnomalyType::name).collect();
        format!("Whether the history has anomalies ({}) is unknown", names.join(", "))
    };
    format!(
        "{found}: the op at index {index} may have happened, and neither it nor its other end says what it wrote. Give \
         invocations their micro-ops."
    )
}

fn count<A: Analysis>(analysis: &A, Counts { ok, fail, info, .. }: Counts) -> Vec<(Cow<'static, str>, u64)> {
    let (others, mops) = (analysis.txns().participants.others(), analysis.txns().all_mops().len());
    counts([ok, fail, info, others, analysis.keys().to_u64(), mops.to_u64()])
}

/// The counts of a report: operations by outcome, ops of processes other than clients, keys and micro-ops.
const COUNTS: [&str; 6] = ["ok-count", "fail-count", "info-count", "nonclient-op-count", KEYS, MOPS];

/// The number of keys.
pub(crate) const KEYS: &str = "key-count";
/// The number of micro-ops.
pub(crate) const MOPS: &str = "mop-count";

/// These numbers, by their names.
pub(crate) fn counts(numbers: [u64; COUNTS.len()]) -> Vec<(Cow<'static, str>, u64)> {
    COUNTS.into_iter().map(Cow::Borrowed).zip(numbers).collect()
}

struct Witnesses<'a, A> {
    analysis: &'a A,
    cycles: &'a Found,
    max: usize,
}

impl<A: Analysis> Witnesses<'_, A> {
    /// The figures of these anomalies.
    fn figures(&self, anomalies: &[Anomaly], shown: AnomalySet, graph: &Graph) -> Vec<Figure> {
        let mut figures: Vec<Figure> = figures::of_cycles(anomalies).collect();
        figures.extend(figures::of_components(self.analysis, graph, self.cycles, self.max));
        figures.extend(self.analysis.figures(shown, self.max));
        figures
    }

    /// The anomalies of these types, and those found by exact decisions, sorted by name.
    fn all(&self, shown: AnomalySet, decided: Vec<Anomaly>) -> Vec<Anomaly> {
        let mut all: Vec<Anomaly> = shown.iter().map(|anomaly| self.of(anomaly)).chain(decided).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    fn of(&self, anomaly: AnomalyType) -> Anomaly {
        let (count, witnesses) = match anomaly {
            AnomalyType::EMPTY_TRANSACTION_GRAPH | AnomalyType::CYCLE_SEARCH_TIMEOUT => (1, Vec::new()),
            direct if self.analysis.direct().contains(direct) => self.analysis.direct_witnesses(direct, self.max),
            cycle => self.cycles(cycle),
        };
        Anomaly { name: anomaly.name().into(), count, witnesses }
    }

    /// The indices of the ops of the first anomaly of a type.
    fn indices(&self, anomaly: AnomalyType) -> Vec<u64> {
        self.of(anomaly).witnesses.iter().take(1).flat_map(|witness| &witness.ops).map(|op| op.index).collect()
    }

    fn cycles(&self, anomaly: AnomalyType) -> (u64, Vec<Witness>) {
        if let Some((_, txns)) = self.cycles.exists.iter().find(|(found, _)| *found == anomaly) {
            return (1, vec![self.component(txns)]);
        }
        let all: Vec<_> = self.cycles.cycles.iter().filter(|(found, _)| *found == anomaly).collect();
        first(self.max, &all, |(_, cycle)| explain::explain_cycle(self.analysis, cycle))
    }

    /// A witness for the smallest component with a cycle that rules out a model.
    fn component(&self, txns: &[u32]) -> Witness {
        let indices = txns.iter().take(COMPONENT_TXNS_MAX);
        let indices = indices.map(|txn| Datum::from(self.analysis.txns().index(TxnId::new(txn.to_usize()))));
        let scc = Datum::Vector(indices.collect());
        let explanation = format!("A cycle exists among {} transactions, with indices {scc}.\n", txns.len());
        let facts = vec![("scc-size".into(), Datum::from(txns.len().to_u64())), ("scc".into(), scc)];
        Witness::new(Vec::new(), explanation).with_facts(facts)
    }
}

/// The first value of all keys, if it is the same for all, given keys with their values in order of observation.
pub(crate) fn shown_first(cases: impl Iterator<Item = (KeyId, i64)>) -> Option<i64> {
    let mut keys: HashSet<KeyId> = HashSet::default();
    let mut firsts = cases.filter(|(key, _)| keys.insert(*key)).map(|(_, value)| value);
    let first = firsts.next()?;
    firsts.all(|other| other == first).then_some(first)
}

/// The number of items, and witnesses of the first `max`.
pub(crate) fn first<T>(max: usize, all: &[T], explain: impl Fn(&T) -> Witness) -> (u64, Vec<Witness>) {
    (all.len().to_u64(), all.iter().take(max).map(explain).collect())
}
