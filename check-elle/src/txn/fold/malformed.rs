//! Ops that no such workload writes, and how the rest of the history is checked without them.

use super::{TxnRun, Workload};
use crate::lattice;
use crate::model::ModelSet;
use crate::txn::columns::{Counts, Undecoded};
use crate::txn::report;
use history_core::{NextStep, Op, OpKind, Pair, Position, Report, Verdict};

/// An op that no such workload writes.
///
/// The effects of the op are unknown. Other ops are checked nevertheless, without the keys that it names. If they are
/// invalid, then so is the history, whatever this op did, because no other op can remove a dependency that they show.
/// This requires that the keys that it names are known. If one of its micro-ops cannot be decoded, it may have written
/// any value, so only results of reads count that are certain whoever wrote the values. If the other ops are not
/// invalid, the verdict is unknown.
///
/// Some ops that cannot be decoded are known to write nothing else: a micro-op that begins like a read, and a
/// completion that is not a list of micro-ops, of an op whose invocation contains its writes.
///
/// A failed op did not happen, so it is not malformed in this sense: see [`FailedOps`].
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

    /// Why the verdict on the history cannot be `true`, as a sentence.
    pub(super) fn doubt(&self, checker: &'static str) -> String {
        let Malformed { index, reason, .. } = self;
        format!("{checker} does not understand the op at index {index}, so the verdict will not be true: {reason}")
    }

    /// The report on such a history, given the report on its other ops.
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

/// The maximum number of ops that cannot be understood. Beyond it, nothing more is read.
pub(super) const MALFORMED_MAX: u64 = 1000;

/// Ops that failed and cannot be decoded.
///
/// They did not happen, so nobody read or overwrote the writes of micro-ops that cannot be decoded. A read of a value
/// that no other op writes shows a write of a failed op, if it is not garbage, and levels that forbid the one forbid
/// the other. An order of the other ops that explains them explains the history, and a level that they violate is
/// violated. The micro-ops that can be decoded count as those of any failed op.
#[derive(Clone, Debug, Default)]
pub(super) struct FailedOps {
    /// The first in the history.
    first: Option<Malformed>,
    /// The number of invocations and completions.
    count: u64,
}

/// The count of ops that were ignored.
const PASSED_OVER: &str = "passed-over-count";

impl FailedOps {
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn push(&mut self, malformed: Malformed, events: u64) {
        self.count += events;
        keep_first(&mut self.first, malformed);
    }

    /// Adds a note on the ignored ops to the report on the others. `is_all`: there are no others, so nothing is known.
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

    /// Adds the number of ignored ops to the report, if there are any.
    pub(super) fn count(&self, report: &mut Report) {
        if !self.is_empty() {
            report.counts.push((PASSED_OVER.into(), self.count));
        }
    }
}

/// Keeps the malformed op that is first in the history. They do not arrive in order, because a fault in an invocation
/// counts only when it is known how the operation ended.
fn keep_first(first: &mut Option<Malformed>, other: Malformed) {
    if first.as_ref().is_none_or(|first| other.index < first.index) {
        *first = Some(other);
    }
}

fn line_of(op: &Op<'_>) -> Option<u64> {
    op.position.and_then(Position::line_and_column).map(|(line, _)| line)
}

impl<W: Workload> TxnRun<W> {
    /// Processes an op that could not be decoded completely.
    #[cold]
    pub(super) fn take_undecoded(&mut self, op: &Op<'_>, mops: &mut Vec<W::Mop>, undecoded: Undecoded) {
        match (op.kind, op.pair) {
            // The completion decides whether the fault matters.
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
                    // The completion's own content does not matter.
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

    /// Omits an op with its invocation, and the keys that either names.
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

    /// Processes the completion of an operation whose invocation could not be decoded. Returns true if it is to be
    /// checked.
    #[cold]
    pub(super) fn end_undecoded(&mut self, op: &Op<'_>, slot: u32, mops: &[W::Mop]) -> bool {
        let open = self.slot(slot);
        let (index, undecoded) = (open.index, open.undecoded.take());
        let Some(undecoded) = undecoded else { return true };
        if op.kind == OpKind::Fail {
            let Undecoded { reason, line, .. } = *undecoded;
            // If the completion could not be decoded either, it was counted already.
            self.failed.push(Malformed { index, line, reason }, 1);
            return true;
        }
        let invoked = std::mem::take(&mut open.mops);
        self.leave_keys_out(&invoked);
        self.leave_keys_out(mops);
        self.doubt_writes(index, *undecoded);
        false
    }

    /// Omits operations without a completion whose invocations could not be decoded.
    pub(super) fn doubt_unanswered(&mut self) {
        for slot in 0..self.open.len() {
            let open = &mut self.open[slot];
            let Some(undecoded) = open.undecoded.take() else { continue };
            let (index, invoked) = (open.index, std::mem::take(&mut open.mops));
            self.leave_keys_out(&invoked);
            self.doubt_writes(index, *undecoded);
        }
    }

    /// Records an invocation that could not be decoded, of an operation that may have happened.
    fn doubt_writes(&mut self, index: u64, undecoded: Undecoded) {
        let Undecoded { reason, may_write, line, .. } = undecoded;
        self.writes_unknown |= may_write;
        self.malformed_count += 1;
        keep_first(&mut self.malformed, Malformed { index, line, reason });
    }

    /// Omits the keys of these micro-ops, because the values that the op wrote to them may differ.
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
