//! The dependencies that a share of a history reports, and the report on a history from the reports on its shares.
//!
//! A dependency on a transaction that was invoked after the other one had completed is omitted: it follows from real
//! time. So only dependencies between concurrent transactions remain, which are few, and those that point back in time.
//!
//! If these and real time have no cycle, the history's graph has none, with or without process and realtime edges: each
//! of its edges belongs to some key, or follows from real time. No level forbids more than such cycles and anomalies of
//! a single key, so a history is valid if all its shares are valid.
//!
//! Reads of registers do not show the order of versions. A valid share has such orders, and reports the dependencies of
//! one that also agrees with real time. If all shares have one, and there is no cycle, their orders together explain
//! the history in real time: at the strongest level, so at all levels. A transaction that may have happened and wrote
//! something has a place in these orders even if no read shows that it happened: another share may show it.

use super::{Ended, TxnRun, Workload};
use crate::cycle_spec::Suffix;
use crate::exact::Exact;
use crate::graph::Graph;
use crate::ids::TxnId;
use crate::txn::Txns;
use crate::txn::analysis::Analysis;
use crate::txn::report::{KEYS, MOPS, counts};
use history_core::cast::Cast as _;
use history_core::share::{Dependency, ShareEnd, ShareRun, Span, Totals};
use history_core::{Budget, HistoryError, Op, Report, Run, UnreadResults, Verdict};

impl<W: Workload> ShareRun for TxnRun<W> {
    fn observe(&mut self, op: &Op<'_>) -> Result<(), HistoryError> {
        Run::observe(self, op).map(|_| ())
    }

    fn finish(self: Box<Self>, budget: &Budget) -> Result<ShareEnd, HistoryError> {
        let mut run = *self;
        let unread = run.counts.unread;
        if run.share.is_part() {
            // An op may be in several shares, or in none, so the reader of the whole history counts them.
            run.counts.unread = UnreadResults::default();
        }
        let ended = match run.end(budget) {
            Ok(ended) => ended,
            Err(malformed) => {
                return Ok(ShareEnd {
                    report: malformed.report(W::NAME),
                    is_well_formed: false,
                    keys: 0,
                    dependencies: None,
                    is_one_of_several: false,
                    may_say_less: false,
                });
            }
        };
        let Ended { known, expected, malformed, failed, .. } = &ended;
        let (report, keys) = (ended.report(W::NAME, budget), known.keys().to_u64());
        let is_well_formed = malformed.is_none() && failed.is_empty() && known.assumptions_hold();
        // A share without keys does not affect the result.
        let is_plain = is_well_formed && (report.verdict == Verdict::Valid || keys == 0);
        let is_one_of_several = !W::Known::READS_SHOW_ORDER;
        let dependencies = match is_plain {
            true if is_one_of_several && keys > 0 => of_some_order(known, expected.exact, budget),
            true => dependencies(known),
            false => None,
        };
        let may_say_less = !unread.is_empty() || !report.not_checked.is_empty() && known.order_depends_on_others();
        Ok(ShareEnd { report, is_well_formed, keys, dependencies, is_one_of_several, may_say_less })
    }
}

#[cfg(feature = "exact")]
impl<W: Workload> TxnRun<W> {
    /// The workload, which can decode further values.
    pub(crate) fn workload(&mut self) -> &mut W {
        &mut self.workload
    }

    /// The data about the history; `None` if it has a malformed op.
    pub(crate) fn known(self, budget: &Budget) -> Option<W::Known> {
        self.end(budget).ok().filter(|ended| ended.malformed.is_none()).map(|ended| ended.known)
    }
}

/// The maximum number of reported dependencies per transaction, on average.
const DEPENDENCIES_PER_TXN_MAX: usize = 64;

/// The dependencies between concurrent transactions, and those that point back in time. `None` if the time of a
/// transaction is unknown, or if there are too many dependencies.
fn dependencies<A: Analysis>(known: &A) -> Option<Vec<Dependency>> {
    let txns = known.txns();
    let spans = txns.ids().map(|txn| span(txns, txn)).collect::<Option<Vec<Span>>>()?;
    let graph = known.graph(Suffix::None).graph;
    let mut found = Found::new(&graph, &spans);
    for txn in txns.ids().filter(|txn| txns.is_possible(*txn)) {
        found.follow(txn.at().to_u32())?;
    }
    Some(in_order(found.dependencies))
}

/// The dependencies of a version order that explains all transactions that may have happened. `None` if no such order
/// agrees with real time, or if none was found.
#[cfg(feature = "exact")]
fn of_some_order<A: Analysis>(known: &A, exact: Exact, budget: &Budget) -> Option<Vec<Dependency>> {
    let txns = known.txns();
    let mut found = Vec::new();
    crate::exact::dependencies(known, exact, budget, |from, to| {
        let (from, to) = (span(txns, from)?, span(txns, to)?);
        if from.completed >= to.invoked {
            found.push(Dependency { from, to });
        }
        (found.len() <= DEPENDENCIES_PER_TXN_MAX * txns.len()).then_some(())
    })?;
    Some(in_order(found))
}

#[cfg(not(feature = "exact"))]
fn of_some_order<A: Analysis>(_: &A, _: Exact, _: &Budget) -> Option<Vec<Dependency>> {
    None
}

fn in_order(mut dependencies: Vec<Dependency>) -> Vec<Dependency> {
    dependencies.sort_unstable_by_key(|dependency| (dependency.known(), *dependency));
    dependencies.dedup();
    dependencies
}

/// The time of a transaction. One that may have happened may have done so at any time after its invocation.
fn span<M: Copy>(txns: &Txns<M>, txn: TxnId) -> Option<Span> {
    let completed = if txns.is_ok(txn) { txns.index(txn) } else { u64::MAX };
    // A failed transaction has no dependencies.
    let invoked = txns.invoked(txn).or((!txns.is_possible(txn)).then_some(0))?;
    Some(Span { invoked, completed })
}

/// The dependencies found so far.
struct Found<'a> {
    graph: &'a Graph,
    spans: &'a [Span],
    /// For each gate, the smallest invocation of all transactions that it leads to.
    least: Vec<u64>,
    /// Nodes that the current transaction leads to and that are not processed yet.
    waiting: Vec<u32>,
    dependencies: Vec<Dependency>,
}

impl<'a> Found<'a> {
    fn new(graph: &'a Graph, spans: &'a [Span]) -> Found<'a> {
        let mut found = Found { graph, spans, least: Vec::new(), waiting: Vec::new(), dependencies: Vec::new() };
        found.least = vec![u64::MAX; (graph.nodes() - graph.txns).to_usize()];
        // The gates of a crowd lead to transactions and to gates of greater numbers.
        for gate in (graph.txns..graph.nodes()).rev() {
            if let Some(least) = graph.out(gate).map(|(to, _)| found.first_of(to)).min() {
                found.least[(gate - graph.txns).to_usize()] = least;
            }
        }
        found
    }

    /// The invocation of a transaction, or the smallest one that a gate leads to.
    fn first_of(&self, node: u32) -> u64 {
        if self.graph.is_gate(node) {
            self.least[(node - self.graph.txns).to_usize()]
        } else {
            self.spans[node.to_usize()].invoked
        }
    }

    /// Adds the dependencies of a transaction. Returns `None` if there are too many by now.
    fn follow(&mut self, txn: u32) -> Option<()> {
        let from = self.spans[txn.to_usize()];
        self.waiting.extend(self.graph.out(txn).map(|(to, _)| to));
        while let Some(node) = self.waiting.pop() {
            if from.completed < self.first_of(node) {
                continue;
            }
            if self.graph.is_gate(node) {
                self.waiting.extend(self.graph.out(node).map(|(to, _)| to));
            } else {
                self.dependencies.push(Dependency { from, to: self.spans[node.to_usize()] });
            }
        }
        (self.dependencies.len() <= DEPENDENCIES_PER_TXN_MAX * self.spans.len()).then_some(())
    }
}

/// The report on a history, given those on its shares. `None` if not all of them are valid and agree. A model that is
/// open in one of them is open in the history.
pub(crate) fn join(reports: Vec<Report>, totals: &Totals) -> Option<Report> {
    let of = |report: &Report, name: &str| report.counts.iter().find(|(other, _)| other == name).map(|(_, n)| *n);
    let has_keys = |report: &Report| of(report, KEYS).is_some_and(|keys| keys > 0);
    let mut reports: Vec<Report> = reports.into_iter().filter(has_keys).collect();
    let mut not_checked: Vec<_> = reports.iter_mut().flat_map(|report| report.not_checked.drain(..)).collect();
    not_checked.sort_unstable();
    not_checked.dedup();
    let (keys, mops) = (sum(&reports, KEYS), sum(&reports, MOPS));
    let mut plain = reports.into_iter().map(|mut report| {
        report.counts.clear();
        report
    });
    let mut joined = plain.next().filter(|report| report.verdict == Verdict::Valid && report.notes.is_empty())?;
    if plain.any(|other| other != joined) {
        return None;
    }
    joined.not_checked = not_checked;
    joined.notes.extend(totals.participants.note());
    joined.counts = counts([totals.ok, totals.fail, totals.info, totals.participants.others(), keys, mops]);
    Some(joined)
}

fn sum(reports: &[Report], name: &str) -> u64 {
    let counts = reports.iter().flat_map(|report| &report.counts);
    counts.filter(|(other, _)| other == name).map(|(_, count)| count).sum()
}
