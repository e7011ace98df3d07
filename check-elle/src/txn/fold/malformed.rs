//! Ops that no such workload writes, and what is left of a history without them.

use super::{TxnRun, Workload};
use crate::lattice;
use crate::model::ModelSet;
use crate::txn::columns::{Counts, Undecoded};
use crate::txn::report;
use history_core::{NextStep, Op, OpKind, Pair, Position, Report, Verdict};

/// An op that no such workload writes.
///
/// What it did is unknown. Other ops are judged nevertheless, without the keys that it names: if they are invalid, then
/// so is the history, whatever this op did, because a dependency that others show is there whatever else is. That rests
/// on knowing which keys it names. If a micro-op of it cannot be decoded, it may have written any value, so only what
/// is certain of reads whoever wrote the values counts. If they are not invalid, the verdict is unknown.
///
/// Some that cannot be decoded write nothing else nevertheless: a micro-op that begins like a read, and a completion
/// that is no list of micro-ops, of an op whose invocation says what it writes.
///
/// One that failed did not happen, so it is none of these: see [`FailedOps`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) index: u64,
    pub(crate) line: Option<u64>,
    pub(crate) reason: String,
}

impl Malformed {
    /// The report on such a history.
    pub(crate) fn report(&self, checker: &'static str) -> Report {
        let mut report = Report::new(checker, Verdict::Unknown);
        report.notes.push(format!("No verdict, because of {}: {}.", self.place(), self.reason));
        report.add_next(NextStep::correct_op(&self.place()));
        report.not_checked = lattice::names(ModelSet::ALL).into_iter().map(Into::into).collect();
        report
    }

    /// What keeps a history from being found valid, as a sentence.
    pub(super) fn doubt(&self, checker: &'static str) -> String {
        let Malformed { index, reason, .. } = self;
        format!("{checker} does not understand the op at index {index}, so the verdict will not be true: {reason}")
    }

    /// The report on such a history, by that on its other ops.
    pub(super) fn beside(&self, others: Report, checker: &'static str) -> Report {
        if others.verdict != Verdict::Invalid {
            return self.report(checker);
        }
        let mut report = others;
        report::leave_others_open(&mut report);
        report.is_partial = true;
        report.notes.insert(
            0,
            format!(
                "Part of this history was ignored, because of {}: {}. Such ops, and the keys they use, are ignored. \
                 What is reported holds whatever these ops did.",
                self.place(),
                self.reason
            ),
        );
        report
    }

    fn place(&self) -> String {
        let line = self.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        format!("the op at index {}{line}", self.index)
    }
}

/// More ops than this that cannot be understood are too many: nothing more is read then.
pub(super) const MALFORMED_MAX: u64 = 1000;

/// Ops that failed and cannot be decoded.
///
/// They did not happen, so whatever the micro-ops say that are not understood, nobody read or overwrote it: a read of a
/// value that no other op writes shows a write of a failed op, if it is not garbage, and what forbids the one forbids
/// the other. An order of the other ops that explains them explains the history, and what they violate is violated. The
/// micro-ops that are understood count as those of any failed op.
#[derive(Clone, Debug, Default)]
pub(super) struct FailedOps {
    /// The first in the history.
    first: Option<Malformed>,
    /// Of invocations and completions.
    count: u64,
}

/// Ops that were ignored.
const PASSED_OVER: &str = "passed-over-count";

impl FailedOps {
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn push(&mut self, malformed: Malformed, events: u64) {
        self.count += events;
        keep_first(&mut self.first, malformed);
    }

    /// Notes in the report on the other ops what was ignored. If it `is_all` there is, that is why nothing is known.
    pub(super) fn conclude(&self, report: &mut Report, checker: &'static str, is_all: bool, counts: Counts) {
        let Some(first) = &self.first else { return };
        if is_all && report.verdict != Verdict::Invalid {
            *report = first.report(checker);
            return;
        }
        let operations = counts.ok + counts.fail + counts.info;
        if self.count.saturating_mul(100) >= operations {
            let ops = if self.count == 1 { "1 op that it does" } else { "{} ops that it does" };
            let ops = ops.replace("{}", &self.count.to_string());
            let (place, reason) = (first.place(), &first.reason);
            report.notes.push(format!(
                "{checker} ignored {ops} not understand, because the operation failed and so had no effect. The first \
                 one is {place}: {reason}."
            ));
        }
    }

    /// Counts what was ignored, if anything was.
    pub(super) fn count(&self, report: &mut Report) {
        if !self.is_empty() {
            report.counts.push((PASSED_OVER.into(), self.count));
        }
    }
}

/// Keeps the one that is first in the history. What is wrong with an invocation counts only when it is known how the
/// operation ended.
fn keep_first(first: &mut Option<Malformed>, other: Malformed) {
    if first.as_ref().is_none_or(|first| other.index < first.index) {
        *first = Some(other);
    }
}

fn line_of(op: &Op<'_>) -> Option<u64> {
    op.position.and_then(Position::line_and_column).map(|(line, _)| line)
}

impl<W: Workload> TxnRun<W> {
    /// Takes an op of which not all could be decoded.
    #[cold]
    pub(super) fn take_undecoded(&mut self, op: &Op<'_>, mops: &mut Vec<W::Mop>, undecoded: Undecoded) {
        match (op.kind, op.pair) {
            // How it ends decides whether it matters.
            (OpKind::Invoke, Pair::Invokes { slot }) => {
                self.open(op, mops);
                let open = self.slot(slot);
                open.waits = false;
                open.undecoded = Some(Box::new(Undecoded { line: line_of(op), ..undecoded }));
            }
            (OpKind::Fail, _) => {
                let failed = Malformed { index: op.index, line: line_of(op), reason: undecoded.reason };
                self.failed.push(failed, 1);
                if let Pair::Completes { slot, .. } = op.pair
                    && self.slot(slot).has_value
                {
                    // What it says itself is of no consequence.
                    mops.clone_from(&self.slot(slot).mops);
                }
                self.complete(op, mops);
            }
            (_, pair) => {
                let invoked = match pair {
                    Pair::Completes { slot, .. } => Some(self.slot(slot)).filter(|open| open.undecoded.is_none()),
                    Pair::Alone | Pair::Invokes { .. } => None,
                };
                let is_known = undecoded.is_whole && invoked.is_some_and(|open| open.has_value);
                self.writes_unknown |= undecoded.may_write && !is_known;
                self.leave_out(op, mops, undecoded.reason);
            }
        }
    }

    /// Leaves an op out, with its invocation, and the keys that either names.
    #[cold]
    pub(super) fn leave_out(&mut self, op: &Op<'_>, mops: &[W::Mop], reason: String) {
        if let Pair::Completes { slot, .. } = op.pair {
            let open = self.slot(slot);
            open.waits = false;
            let (invoked, undecoded) = (std::mem::take(&mut open.mops), open.undecoded.take());
            let index = open.index;
            self.leave_keys_out(&invoked);
            if let Some(undecoded) = undecoded {
                self.doubt_writes(index, *undecoded);
            }
        }
        self.leave_keys_out(mops);
        self.note_malformed(op, reason);
    }

    /// Takes the completion of an operation whose invocation could not be decoded: whether it is to be judged.
    #[cold]
    pub(super) fn end_undecoded(&mut self, op: &Op<'_>, slot: u32, mops: &[W::Mop]) -> bool {
        let open = self.slot(slot);
        let (index, undecoded) = (open.index, open.undecoded.take());
        let Some(undecoded) = undecoded else { return true };
        if op.kind == OpKind::Fail {
            let Undecoded { reason, line, .. } = *undecoded;
            // Where the completion is not understood either, that was counted.
            self.failed.push(Malformed { index, line, reason }, 1);
            return true;
        }
        let invoked = std::mem::take(&mut open.mops);
        self.leave_keys_out(&invoked);
        self.leave_keys_out(mops);
        self.doubt_writes(index, *undecoded);
        false
    }

    /// Leaves out what was never answered and could not be decoded.
    pub(super) fn doubt_unanswered(&mut self) {
        for slot in 0..self.open.len() {
            let open = &mut self.open[slot];
            let Some(undecoded) = open.undecoded.take() else { continue };
            let (index, invoked) = (open.index, std::mem::take(&mut open.mops));
            self.leave_keys_out(&invoked);
            self.doubt_writes(index, *undecoded);
        }
    }

    /// An invocation that could not be decoded, of what may have happened.
    fn doubt_writes(&mut self, index: u64, undecoded: Undecoded) {
        let Undecoded { reason, may_write, line, .. } = undecoded;
        self.writes_unknown |= may_write;
        self.malformed_count += 1;
        keep_first(&mut self.malformed, Malformed { index, line, reason });
    }

    /// Leaves the keys of these out: what was read of them is known already, and what was written may be something
    /// else.
    fn leave_keys_out(&mut self, mops: &[W::Mop]) {
        for mop in mops {
            self.workload.leave_out(*mop);
        }
    }

    #[cold]
    pub(super) fn note_malformed(&mut self, op: &Op<'_>, reason: String) {
        self.malformed_count += 1;
        keep_first(&mut self.malformed, Malformed { index: op.index, line: line_of(op), reason });
    }
}
