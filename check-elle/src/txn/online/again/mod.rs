//! Checks a history while it is being written, at levels that have no judge: the history so far is checked again.
//!
//! The batch checker checks the history so far whenever it has grown by an eighth, and at first after each op.
//! Operations in flight may have happened. A violation is therefore found somewhat later than at the op that proves it,
//! and the report names the two ops between which that op is.
//!
//! The same run replaces judges that reach an op that they do not understand, as long as it has the whole history.
//!
//! *A violation is permanent* where aborted reads are forbidden, as [the parent](super) explains: an order of commits
//! that explains the whole history explains a prefix too, without the transactions that were not invoked by then. The
//! exception is a read of a value that no operation has written by then: it counts at the end, unless real time counts
//! and every op so far was invoked with its writes. Where aborted reads are not forbidden, the violation is one of the
//! history so far, and the report says so.

#[cfg(test)]
mod tests;

use crate::anomaly::{AnomalySet, AnomalyType};
use crate::cycle_spec::{CYCLE_EXISTS, CycleExistsSpec, Suffix};
use crate::lattice;
use crate::txn::expected::Expected;
use crate::txn::fold::{TxnRun, Workload};
use crate::txn::report::{GARBAGE_ALLOWED, SO_FAR, leave_others_open};
use history_core::{Budget, HistoryError, Op, Report, Run, Verdict};
use std::ops::ControlFlow;

/// Beyond this number of ops, the history is checked again when it has grown by one part in [`GROWTH`].
const EACH_MAX: u64 = 128;
const GROWTH: u64 = 8;

/// The maximum number of states of a search within one check. If it does not suffice, the next check or the end
/// decides.
const STATES_MAX: u64 = 1_000_000;

/// A run that checks the history so far again and again.
pub(crate) struct Again<R> {
    checker: &'static str,
    prohibited: AnomalySet,
    /// Whether real time counts and each op so far was invoked with its writes. Then the writer of a value that was
    /// read by now was invoked by now.
    sees_writers: bool,
    whole: R,
    ops: u64,
    /// The number of ops at which the history is checked next.
    next: u64,
    /// The last op up to which no violation was found.
    sound: Option<u64>,
    violated: Option<Report>,
}

/// A run of the batch checker.
pub(crate) trait Whole: Run + Clone + 'static {
    /// A run that treats the history as a prefix: later ops may write values that were read so far.
    fn beginning(self) -> Self;
}

impl<W: Workload + Clone + 'static> Whole for TxnRun<W> {
    fn beginning(self) -> TxnRun<W> {
        TxnRun::beginning(self)
    }
}

/// The batch checker that runs in addition to judges and may replace them.
pub(crate) trait Beside: Run {
    /// Checks the history so far, which ends with this op, in place of the judges.
    fn step_in(&mut self, index: u64) -> Result<(), HistoryError>;

    /// The last op up to which it found no violation.
    fn sound(&self) -> Option<u64>;
}

impl<R: Whole> Beside for Again<R> {
    fn step_in(&mut self, index: u64) -> Result<(), HistoryError> {
        self.judge(index)
    }

    fn sound(&self) -> Option<u64> {
        self.sound
    }
}

impl<R: Whole> Again<R> {
    /// A run that checks only the whole history, unless it steps in.
    pub(crate) fn beside(checker: &'static str, expected: &Expected, whole: R) -> Again<R> {
        Again { next: u64::MAX, ..Again::new(checker, expected, whole) }
    }

    /// `whole` is a run of the checker that has not received any op yet.
    pub(crate) fn new(checker: &'static str, expected: &Expected, whole: R) -> Again<R> {
        let mut prohibited = lattice::prohibited(expected.models.iter().copied().collect(), expected.anomalies);
        if expected.garbage_reads_allowed {
            prohibited = prohibited.difference(AnomalyType::GARBAGE_READ.into());
        }
        let is_timed =
            |spec: &CycleExistsSpec| spec.suffix() == Suffix::Realtime && expected.models.contains(&spec.model);
        let sees_writers = CYCLE_EXISTS.iter().any(is_timed);
        Again { checker, prohibited, sees_writers, whole, ops: 0, next: 1, sound: None, violated: None }
    }

    /// Returns true if no later op can revoke a violation.
    fn stays(&self) -> bool {
        self.prohibited.contains(AnomalyType::G1A)
    }

    fn judge(&mut self, index: u64) -> Result<(), HistoryError> {
        let whole = self.whole.clone();
        let may_be_written = self.prohibited.contains(AnomalyType::GARBAGE_READ) && !self.sees_writers;
        let so_far = Box::new(if may_be_written { whole.beginning() } else { whole });
        let mut report = so_far.finish(&Budget::default().with_states_max(STATES_MAX))?;
        if report.verdict != Verdict::Invalid {
            self.sound = Some(index);
            self.next = self.ops + if self.ops < EACH_MAX { 1 } else { self.ops / GROWTH };
            return Ok(());
        }
        leave_others_open(&mut report);
        if may_be_written {
            // A later op may write the value.
            report.notes.retain(|note| !note.starts_with(GARBAGE_ALLOWED));
        }
        let since = self.sound.map(|sound| format!(", and the ops up to index {sound} do not")).unwrap_or_default();
        report.notes.push(format!(
            "Checked while the history was written: the ops up to index {index} show the violation{since}."
        ));
        report.notes.extend((!self.stays()).then(|| SO_FAR.to_owned()));
        self.violated = Some(report);
        Ok(())
    }
}

impl<R: Whole> Run for Again<R> {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        let flow = self.whole.observe(op)?;
        self.sees_writers &= op.is_announced();
        self.ops += 1;
        if self.violated.is_none() && self.ops >= self.next {
            self.judge(op.index)?;
        }
        Ok(flow)
    }

    fn is_violated(&self) -> bool {
        self.violated.is_some()
    }

    fn decides_early(&self) -> bool {
        self.stays()
    }

    fn growth(&self) -> Option<String> {
        Some(format!(
            "with these levels and anomalies, {} keeps the whole history in memory, twice, and judges it again whenever it \
             has grown by an eighth",
            self.checker
        ))
    }

    fn doubt(&self) -> Option<String> {
        self.whole.doubt()
    }

    fn violation(&self) -> Option<Report> {
        self.violated.clone()
    }

    fn finish_before_unread(self: Box<Self>, _: &Budget) -> Result<Option<Report>, HistoryError> {
        Ok(if self.stays() { self.violated } else { None })
    }

    fn finish_early(self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        match self.violated {
            Some(report) => Ok(report),
            None => Box::new(self.whole).finish(budget),
        }
    }

    /// A permanent violation of a prefix is one of the whole history, even if the final check does not find it within
    /// the budget. Otherwise a later op may have revoked it, so the final check decides.
    fn finish(self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        let stays = self.stays();
        let whole = Box::new(self.whole).finish(budget)?;
        Ok(self.violated.filter(|_| stays && whole.verdict != Verdict::Invalid).unwrap_or(whole))
    }
}
