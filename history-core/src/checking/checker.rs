//! The central interface: a checker is a fold over ops.

use super::options::{OptionError, OptionSpec, Options};
use super::share::{KnotsRun, Share, ShareRun, Totals};
use crate::error::{ErrorKind, HistoryError};
use crate::state::Damaged;
use crate::{About, Batch, Budget, History, Op, Reader, Report};
use std::ops::ControlFlow;

/// A checker, as used by the registry and the command line.
pub trait Checker: Send + Sync {
    /// Its name: `"list-append"`.
    fn name(&self) -> &str;

    /// What it decides, in one line.
    fn summary(&self) -> &str;

    /// The options it takes.
    fn options(&self) -> &[OptionSpec];

    /// A description for programs that show, minimize or watch the results. The default makes no assumptions about the
    /// checker.
    fn about(&self) -> About {
        About::default()
    }

    /// Starts a run for one history.
    ///
    /// # Errors
    ///
    /// If the value of an option is not valid.
    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError>;

    /// Starts a run for a history that is still being written. The verdict is that of a run of [`Checker::start`], or
    /// unknown; but the run may decide earlier ([`Run::decides_early`]), keep less in memory, and report fewer details.
    ///
    /// # Errors
    ///
    /// As [`Checker::start`].
    fn start_online(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        self.start(options)
    }

    /// Starts a run for a share of a history, for `histcheck-scale`. The default returns none: the history is then
    /// checked as a whole.
    ///
    /// # Errors
    ///
    /// As [`Checker::start`].
    #[doc(hidden)]
    fn start_share(&self, options: &Options, share: Share) -> Result<Option<Box<dyn ShareRun>>, OptionError> {
        let _ = (options, share);
        Ok(None)
    }

    /// Combines the reports on the shares of a history into one report, given that all their dependencies together have
    /// no cycle. Returns `None` if the reports are not sufficient, so that the history has to be checked as a whole.
    #[doc(hidden)]
    fn join_shares(&self, reports: Vec<Report>, totals: &Totals) -> Option<Report> {
        let _ = (reports, totals);
        None
    }

    /// Starts a search for orders of the transactions that lie on cycles between shares; `count` is the number of such
    /// sets of transactions. The default returns none.
    ///
    /// # Errors
    ///
    /// As [`Checker::start`].
    #[doc(hidden)]
    fn start_knots(&self, options: &Options, count: usize) -> Result<Option<Box<dyn KnotsRun>>, OptionError> {
        let _ = (options, count);
        Ok(None)
    }

    /// Checks a history in memory, without limits and with the checker's own options.
    ///
    /// # Errors
    ///
    /// If the checker cannot check the history, or the checker's options are not valid.
    fn check(&self, history: &History) -> Result<Report, HistoryError> {
        self.check_within(history, &Budget::default())
    }

    /// The same with a budget.
    ///
    /// # Errors
    ///
    /// As [`Checker::check`].
    fn check_within(&self, history: &History, budget: &Budget) -> Result<Report, HistoryError> {
        let run = self.start(&Options::new());
        let run = run.map_err(|error| HistoryError::new(ErrorKind::Unexpected, error.to_string()))?;
        check_history(run, history, budget)
    }
}

/// A reference to a checker is a checker too.
impl<C: Checker + ?Sized> Checker for &C {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn summary(&self) -> &str {
        (**self).summary()
    }

    fn options(&self) -> &[OptionSpec] {
        (**self).options()
    }

    fn about(&self) -> About {
        (**self).about()
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        (**self).start(options)
    }

    fn start_online(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        (**self).start_online(options)
    }

    fn start_share(&self, options: &Options, share: Share) -> Result<Option<Box<dyn ShareRun>>, OptionError> {
        (**self).start_share(options, share)
    }

    fn join_shares(&self, reports: Vec<Report>, totals: &Totals) -> Option<Report> {
        (**self).join_shares(reports, totals)
    }

    fn start_knots(&self, options: &Options, count: usize) -> Result<Option<Box<dyn KnotsRun>>, OptionError> {
        (**self).start_knots(options, count)
    }
}

/// The processing of one history by a checker.
pub trait Run: Send {
    /// Processes the next op. Returns `Break` once the verdict can no longer change.
    ///
    /// # Errors
    ///
    /// If the history cannot be checked. An error is not a verdict.
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError>;

    /// Processes the next ops in order, as [`Run::observe`] would one by one. Code that reads histories calls this
    /// method. Override it if a run processes a batch as a whole, for example to pass it to another library.
    ///
    /// # Errors
    ///
    /// What [`Run::observe`] returned, with the op's position and the text there.
    fn observe_batch(&mut self, batch: &Batch) -> Result<ControlFlow<()>, HistoryError> {
        batch.each(&mut |op| self.observe(op))
    }

    /// Whether the history is certainly invalid already, whatever follows. A checker that cannot decide before the end
    /// returns `false`. Only a checker whose documentation says so may refer to the history up to this op, if later ops
    /// can revoke the violation. Its report then states this too, and [`Run::finish_before_unread`] does not count the
    /// violation. O(1).
    fn is_violated(&self) -> bool {
        false
    }

    /// Whether this is a run of [`Checker::start_online`] that reports each violation at the op that proves it, where a
    /// run of [`Checker::start`] does not.
    fn decides_early(&self) -> bool {
        false
    }

    /// The data of this run that may grow without bound with a history, and what happens at a limit, as a sentence;
    /// `None` if memory is bounded, or if that is not known.
    fn growth(&self) -> Option<String> {
        None
    }

    /// Why the verdict can only be a violation or unknown, whatever follows, as a sentence; `None` while it may still
    /// be `true`, or if that is known only at the end. O(1) while it is `None`.
    fn doubt(&self) -> Option<String> {
        None
    }

    /// The part of the history that is relevant to the violation found, if checking that part again gives more detail
    /// than the report of the run.
    fn evidence(&self) -> Option<Evidence> {
        None
    }

    /// The report on the violation of [`Run::is_violated`]; `None` while that returns `false`. It contains only what
    /// remains true whatever follows, and its verdict is [`Invalid`](crate::Verdict::Invalid). It may take as long as a
    /// report at the end.
    fn violation(&self) -> Option<Report> {
        None
    }

    /// Limits the work within [`Run::observe`]: once the budget is exhausted, a search there stops, and the verdict is
    /// unknown unless a violation was found. The default ignores it, for runs that take no long steps. Call it before
    /// the first op.
    fn limit(&mut self, _budget: &Budget) {}

    /// Makes the run search for further violations after the first one. Returns whether it does; the default reports
    /// only one violation. Call it before the first op.
    fn keep_going(&mut self) -> bool {
        false
    }

    /// The number of ops that have proved a violation so far. It exceeds one only if the run [keeps
    /// going](Run::keep_going).
    fn violations(&self) -> u64 {
        u64::from(self.is_violated())
    }

    /// The report on the violation proved by the most recent such op, as [`Run::violation`] is on the first.
    fn last_violation(&self) -> Option<Report> {
        self.violation()
    }

    /// The number of configurations that the search of the checker currently keeps, if it has such a search. Their
    /// growth shows how hard the history is.
    fn configurations(&self) -> Option<u64> {
        None
    }

    /// Performs a slice of the search that [`Run::finish`] would perform, for a caller with several runs on parts of
    /// one history: once one of them is invalid, the others need not continue. Call it after the last op, with slices
    /// 0, 1, 2 and so on; each may take many times the steps of the one before. A slice is measured in steps, never by
    /// a clock.
    ///
    /// A checker that does not search in slices need not implement this method.
    fn search(&mut self, budget: &Budget, slice: u32) -> Searched {
        let _ = (budget, slice);
        Searched::Done
    }

    /// The state of the run, in at most `bytes_max` bytes, from which a run in another process can continue. The
    /// default saves none: the other run then needs all ops again.
    ///
    /// To continue, start a run in the same way, pass it the first ops again (`first_ops` of them, or all), and call
    /// [`Run::restore`] if there is a state. It then behaves like this run.
    fn save(&self, bytes_max: usize) -> Saved {
        let _ = bytes_max;
        Saved::default()
    }

    /// Restores the state that a run of the same checker, with the same options, has [saved](Run::save).
    ///
    /// # Errors
    ///
    /// If the bytes are not such a state. The run must not be used after that.
    fn restore(&mut self, state: &[u8]) -> Result<(), Damaged> {
        let _ = state;
        Err(Damaged)
    }

    /// Ends the search after the slices performed so far: [`Run::finish`] does not continue it.
    fn stop_search(&mut self) {}

    /// Ends the history before an op that cannot be read, so that the following ops are unknown. Returns the report if
    /// the ops so far are invalid whatever follows; `None` if they are not, or if that was not determined. The default
    /// uses [`Run::violation`]; a checker that searches at the end also searches here.
    ///
    /// # Errors
    ///
    /// If the history as a whole cannot be checked.
    fn finish_before_unread(self: Box<Self>, budget: &Budget) -> Result<Option<Report>, HistoryError> {
        let _ = budget;
        Ok(if self.is_violated() { self.violation() } else { None })
    }

    /// Ends the history before its own end, because this run, or another run on the same history, has proved a
    /// violation. The report omits everything that only the end of a history shows, such as values that were never
    /// read. The default is [`Run::finish`], for checkers that draw no conclusion from the end.
    ///
    /// # Errors
    ///
    /// Those of [`Run::finish`].
    fn finish_early(self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        self.finish(budget)
    }

    /// Ends the history. A search that exceeds the budget returns [`Unknown`](crate::Verdict::Unknown).
    ///
    /// # Errors
    ///
    /// If the history as a whole cannot be checked.
    fn finish(self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError>;
}

/// What another run continues from: see [`Run::save`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Saved {
    /// Only the ops.
    #[default]
    Ops,
    /// A state.
    State {
        /// Its bytes.
        state: Vec<u8>,
        /// The number of ops, from the first on, that a run needs before it restores the state.
        first_ops: u64,
    },
    /// The state has more bytes than allowed.
    TooLarge,
}

/// A part of a history that shows a violation: see [`Run::evidence`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evidence {
    /// The position of its first op in the text, in bytes. Operations that were in flight before may complete in this
    /// part.
    pub begins: u64,
    /// The index of that op.
    pub first: u64,
    /// The index of its last op, which proves the violation.
    pub last: u64,
    /// Options to set, with their values, for a checker that gets only this part.
    pub options: Vec<(&'static str, &'static str)>,
    /// Notes that belong in a report on this part.
    pub notes: Vec<String>,
    /// Prefixes of the notes that do not belong in the report, because they concern these options.
    pub omitted_notes: Vec<&'static str>,
}

impl Evidence {
    /// The part from the op of index `first`, which begins at this byte, to that of index `last`.
    pub fn new(begins: u64, first: u64, last: u64) -> Evidence {
        Evidence { begins, first, last, options: Vec::new(), notes: Vec::new(), omitted_notes: Vec::new() }
    }

    /// The same, with another option.
    #[must_use]
    pub fn with_option(mut self, name: &'static str, value: &'static str) -> Evidence {
        self.options.push((name, value));
        self
    }
}

/// The progress of a search in slices: see [`Run::search`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Searched {
    /// Further slices may find more.
    More,
    /// Further slices find nothing more.
    Done,
    /// The history is invalid.
    Invalid,
}

/// Runs a checker over all ops of a reader.
///
/// # Errors
///
/// If the text is not a history, or if the checker cannot check it.
pub fn check(mut run: Box<dyn Run + '_>, reader: &mut Reader<'_>, budget: &Budget) -> Result<Report, HistoryError> {
    reader.for_each_batch(|batch| run.observe_batch(batch))?;
    run.finish(budget)
}

/// Runs a checker over a history in memory.
///
/// # Errors
///
/// If the checker cannot check the history.
pub fn check_history<R: Run + ?Sized>(
    mut run: Box<R>,
    history: &History,
    budget: &Budget,
) -> Result<Report, HistoryError> {
    for op in history.ops() {
        if run.observe(&op)?.is_break() {
            break;
        }
    }
    run.finish(budget)
}

/// Returns the same result as [`check`], but reads on a separate thread.
///
/// # Errors
///
/// If the text is not a history, or if the checker cannot check it.
pub fn check_ahead(
    mut run: Box<dyn Run + '_>,
    reader: &mut Reader<'_>,
    budget: &Budget,
) -> Result<Report, HistoryError> {
    reader.for_each_batch_ahead(|batch| run.observe_batch(batch))?;
    run.finish(budget)
}
