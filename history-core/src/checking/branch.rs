//! One of several runs on the same ops, which may end while the others continue.

use crate::error::HistoryError;
use crate::{Batch, Budget, Op, Report, Run};
use std::ops::ControlFlow;

/// Where a history ended for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With its last op.
    Whole,
    /// Before its last op, because a violation was found.
    Early,
    /// Before an op that cannot be read.
    Unread,
}

impl End {
    /// Returns this end, or `End::Unread` if `is_unread`.
    pub(crate) fn or_unread(self, is_unread: bool) -> End {
        if is_unread { End::Unread } else { self }
    }

    /// Returns the report of a run. Text that cannot be read has no effect on it.
    pub(crate) fn finish(self, run: Box<dyn Run + '_>, budget: &Budget) -> Result<Report, HistoryError> {
        if self == End::Early { run.finish_early(budget) } else { run.finish(budget) }
    }
}

/// A run and its result, which may be used only later.
pub(crate) struct Branch<'c> {
    run: Box<dyn Run + 'c>,
    ended: Option<Result<(), HistoryError>>,
}

impl<'c> Branch<'c> {
    pub(crate) fn new(run: Box<dyn Run + 'c>) -> Branch<'c> {
        Branch { run, ended: None }
    }

    /// Passes on ops, unless the run has ended.
    pub(crate) fn feed_batch(&mut self, batch: &Batch) {
        if self.ended.is_none() {
            self.ended = match self.run.observe_batch(batch) {
                Ok(ControlFlow::Continue(())) => None,
                Ok(ControlFlow::Break(())) => Some(Ok(())),
                Err(error) => Some(Err(error)),
            };
        }
    }

    /// Passes on ops, and returns the result if the run has ended.
    pub(crate) fn observe_batch(&mut self, batch: &Batch) -> Result<ControlFlow<()>, HistoryError> {
        self.feed_batch(batch);
        self.outcome()
    }

    /// Passes on an op, and returns the result if the run has ended.
    #[inline]
    pub(crate) fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        self.feed(op);
        self.outcome()
    }

    #[inline]
    fn outcome(&self) -> Result<ControlFlow<()>, HistoryError> {
        match &self.ended {
            None => Ok(ControlFlow::Continue(())),
            Some(Ok(())) => Ok(ControlFlow::Break(())),
            Some(Err(error)) => Err(error.clone()),
        }
    }

    /// Passes on an op, unless the run has ended.
    #[inline]
    pub(crate) fn feed(&mut self, op: &Op<'_>) {
        if self.ended.is_none() {
            self.ended = match self.run.observe(op) {
                Ok(ControlFlow::Continue(())) => None,
                Ok(ControlFlow::Break(())) => Some(Ok(())),
                // The error is reported only later, when another op is current, so it gets the position of this op now.
                Err(error) => Some(Err(match op.position {
                    Some(position) => error.at(position),
                    None => error,
                })),
            };
        }
    }

    /// Returns true if the run needs no more ops.
    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Why the run cannot check the history, if that is how it ended.
    pub(crate) fn error(&self) -> Option<&HistoryError> {
        self.ended.as_ref()?.as_ref().err()
    }

    /// Returns true if the history is certainly invalid by now.
    #[inline]
    pub(crate) fn is_violated(&self) -> bool {
        self.error().is_none() && self.run.is_violated()
    }

    /// Limits the work of an op.
    pub(crate) fn limit(&mut self, budget: &Budget) {
        self.run.limit(budget);
    }

    /// What may need an unbounded amount of memory.
    pub(crate) fn growth(&self) -> Option<String> {
        self.run.growth()
    }

    /// Why the run's verdict will not be `true`, if that is already known and no violation was found.
    pub(crate) fn doubt(&self) -> Option<String> {
        if self.error().is_none() { self.run.doubt() } else { None }
    }

    /// The report on the violation that is already certain, if there is one.
    pub(crate) fn violation(&self) -> Option<Report> {
        if self.is_violated() { self.run.violation() } else { None }
    }

    /// The result of the run before an op that cannot be read.
    pub(crate) fn finish_before_unread(self, budget: &Budget) -> Result<Option<Report>, HistoryError> {
        match self.ended {
            Some(Err(_)) => Ok(None),
            _ => self.run.finish_before_unread(budget),
        }
    }

    /// The result of the run at the end of the history, or earlier.
    pub(crate) fn finish(self, budget: &Budget, end: End) -> Result<Report, HistoryError> {
        match self.ended {
            Some(Err(error)) => Err(error),
            _ => end.finish(self.run, budget),
        }
    }
}
