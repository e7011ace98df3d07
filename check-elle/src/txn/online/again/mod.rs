//! A history that is still being written, at levels that are not judged op by op: what there is of it is judged again.
//!
//! The history so far is judged as a whole one, in which operations in flight may have happened, whenever it has grown
//! by an eighth: at each op at first. So a violation is known somewhat later than at the op that proves it, and the
//! report says between which two ops that is.
//!
//! The same takes the place of judges that meet what they do not understand: as long as it has the whole history.
//!
//! *What is violated stays so* where aborted reads are forbidden, as [the parent](super) has it; an order of commits
//! that explains the whole explains a beginning, too, without the transactions that were not invoked by then. A read of
//! what nobody wrote by then is the exception: it counts at the end, unless real time counts and every op so far was
//! invoked with what it writes. Where aborted reads are not forbidden, the violation is one of the history so far, and
//! the report says that, too.

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

/// Beyond so many ops, the history is judged again when it has grown by one in [`GROWTH`].
const EACH_MAX: u64 = 128;
const GROWTH: u64 = 8;

/// States of a search within one judgement. Where that is too little, the next one or the end decides.
const STATES_MAX: u64 = 1_000_000;

/// A history that is judged while it is being written.
pub(crate) struct Again<R> {
    checker: &'static str,
    prohibited: AnomalySet,
    /// Whether real time counts, and each op so far was invoked with what it writes: what was read by now is written by
    /// an op that was invoked by now.
    sees_writers: bool,
    whole: R,
    ops: u64,
    /// At how many ops it is judged next.
    next: u64,
    /// The last op up to which nothing is violated, as far as is known.
    sound: Option<u64>,
    violated: Option<Report>,
}

/// A run of the batch checker.
pub(crate) trait Whole: Run + Clone + 'static {
    /// The same, of a history whose later ops may write what was read so far.
    fn beginning(self) -> Self;
}

impl<W: Workload + Clone + 'static> Whole for TxnRun<W> {
    fn beginning(self) -> TxnRun<W> {
        TxnRun::beginning(self)
    }
}

/// The batch checker beside judges, which may take their place.
pub(crate) trait Beside: Run {
    /// Takes their place after an op that it has taken.
    fn step_in(&mut self, index: u64) -> Result<(), HistoryError>;

    /// The last op up to which it found nothing violated.
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
    /// The same, but it judges the whole only, unless it steps in.
    pub(crate) fn beside(checker: &'static str, expected: &Expected, whole: R) -> Again<R> {
        Again { next: u64::MAX, ..Again::new(checker, expected, whole) }
    }

    /// `whole` is a run of the checker that has seen no ops yet.
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

    /// Whether no op that comes can take a violation back.
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
            // A later op may have written it.
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

    /// What a beginning violates, the whole violates, even if that is not found again within the budget; or it was
    /// taken back.
    fn finish(self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        let stays = self.stays();
        let whole = Box::new(self.whole).finish(budget)?;
        Ok(self.violated.filter(|_| stays && whole.verdict != Verdict::Invalid).unwrap_or(whole))
    }
}
