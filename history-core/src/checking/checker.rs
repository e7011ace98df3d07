//! The spine: a checker is a fold over ops.

use super::options::{OptionError, OptionSpec, Options};
use super::share::{KnotsRun, Share, ShareRun, Totals};
use crate::error::{ErrorKind, HistoryError};
use crate::state::Damaged;
use crate::{About, Batch, Budget, History, Op, Reader, Report};
use std::ops::ControlFlow;

/// A checker, as the registry and the command line know it.
pub trait Checker: Send + Sync {
    /// Its name: `"list-append"`.
    fn name(&self) -> &str;

    /// What it decides, in one line.
    fn summary(&self) -> &str;

    /// The options it takes.
    fn options(&self) -> &[OptionSpec];

    /// What programs that show, shrink or watch need to know about it. Of a checker that says nothing, nothing is
    /// assumed.
    fn about(&self) -> About {
        About::default()
    }

    /// Begins a history.
    ///
    /// # Errors
    ///
    /// If an option's value makes no sense.
    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError>;

    /// Begins a history that is still being written. The verdict is the one of a run of [`Checker::start`], or unknown;
    /// but the run may decide earlier ([`Run::decides_early`]), keep less, and say less of what it found.
    ///
    /// # Errors
    ///
    /// As [`Checker::start`].
    fn start_online(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        self.start(options)
    }

    /// Begins a share of a history, for `histcheck-scale`. The default has none: its histories are judged as a whole.
    ///
    /// # Errors
    ///
    /// As [`Checker::start`].
    #[doc(hidden)]
    fn start_share(&self, options: &Options, share: Share) -> Result<Option<Box<dyn ShareRun>>, OptionError> {
        let _ = (options, share);
        Ok(None)
    }

    /// The report on a history from those on its shares, given that all their dependencies together have no cycle.
    /// None if they do not say enough, so that the history has to be judged as a whole.
    #[doc(hidden)]
    fn join_shares(&self, reports: Vec<Report>, totals: &Totals) -> Option<Report> {
        let _ = (reports, totals);
        None
    }

    /// Begins to look for orders of what lies on cycles between shares, so many sets of transactions. The default does
    /// not.
    ///
    /// # Errors
    ///
    /// As [`Checker::start`].
    #[doc(hidden)]
    fn start_knots(&self, options: &Options, count: usize) -> Result<Option<Box<dyn KnotsRun>>, OptionError> {
        let _ = (options, count);
        Ok(None)
    }

    /// Checks a history that is in memory, without limits and with the options that the checker has.
    ///
    /// # Errors
    ///
    /// If the history is not one that the checker can judge, or the checker's options make no sense.
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

/// A checker that is lent is one, too.
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

/// One history on its way through a checker.
pub trait Run: Send {
    /// Takes the next op. `Break` once the verdict can no longer change.
    ///
    /// # Errors
    ///
    /// If the history cannot be judged. That is not a verdict.
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError>;

    /// Takes the next ops, as [`Run::observe`] takes one after another. Those who read histories call this; a run that
    /// does something else with a whole batch than with its ops (hand it on to another library) has its own.
    ///
    /// # Errors
    ///
    /// What [`Run::observe`] returned, with the op's position and the text there.
    fn observe_batch(&mut self, batch: &Batch) -> Result<ControlFlow<()>, HistoryError> {
        batch.each(&mut |op| self.observe(op))
    }

    /// Whether the history is certainly invalid by now, whatever comes next. A checker that cannot decide before the
    /// end returns `false`. Only a checker that says so may mean the history up to here, where what comes next can take
    /// the violation back: then so does its report, and [`Run::finish_before_unread`] does not count it. O(1).
    fn is_violated(&self) -> bool {
        false
    }

    /// Whether it is a run of [`Checker::start_online`] that finds each violation at the op that proves it, where a run
    /// of [`Checker::start`] does not.
    fn decides_early(&self) -> bool {
        false
    }

    /// What of this run may need more and more memory while a history goes on, and what happens at a limit, as a
    /// sentence; `None` if memory has a bound, or nothing is known of it.
    fn growth(&self) -> Option<String> {
        None
    }

    /// Why the verdict can only be a violation or unknown by now, whatever comes next, as a sentence; `None` as long as
    /// it may be `true`, or if that is known at the end only. O(1) while there is none.
    fn doubt(&self) -> Option<String> {
        None
    }

    /// The part of the history that matters to the violation found, if reading it again tells more than the run's
    /// report does.
    fn evidence(&self) -> Option<Evidence> {
        None
    }

    /// The report on what [`Run::is_violated`] knows of; `None` as long as that says `false`. It holds only what stays
    /// true whatever comes next, and its verdict is [`Invalid`](crate::Verdict::Invalid). It may take as long as a
    /// report at the end.
    fn violation(&self) -> Option<Report> {
        None
    }

    /// Looks for further violations after the first one, from now on. Whether it does: the default knows of one only.
    /// Called before the first op.
    fn keep_going(&mut self) -> bool {
        false
    }

    /// How many ops have proved a violation so far. It grows beyond one only if the run [keeps going](Run::keep_going).
    fn violations(&self) -> u64 {
        u64::from(self.is_violated())
    }

    /// The report on what the last op proved that proved a violation, as [`Run::violation`] is on the first.
    fn last_violation(&self) -> Option<Report> {
        self.violation()
    }

    /// How many configurations of its search the checker keeps at the moment, if it has such a search: their growth
    /// shows how hard the history is.
    fn configurations(&self) -> Option<u64> {
        None
    }

    /// Does a slice of the search that [`Run::finish`] would do, for whoever has several runs on parts of one history:
    /// once one of them is invalid the others need not search on. Called after the last op, with slices 0, 1, 2 and so
    /// on; each may take many times the steps of the one before. A slice is measured in steps and never by a clock.
    ///
    /// A checker that does not search in slices has nothing to do here.
    fn search(&mut self, budget: &Budget, slice: u32) -> Searched {
        let _ = (budget, slice);
        Searched::Done
    }

    /// The state of the run, at most so many bytes, with which a run in another process continues. The default has
    /// none: then that run needs the ops again, from the first on.
    ///
    /// A run continues like this: it starts as this one did, takes the first ops again (`first_ops` of them, or all),
    /// and then [`Run::restore`], if there is a state. From there on it does what this one would do.
    fn save(&self, bytes_max: usize) -> Saved {
        let _ = bytes_max;
        Saved::default()
    }

    /// Takes over the state that a run of the same checker, with the same options, has [saved](Run::save).
    ///
    /// # Errors
    ///
    /// If it is no such state. Nothing can be said of this run then.
    fn restore(&mut self, state: &[u8]) -> Result<(), Damaged> {
        let _ = state;
        Err(Damaged)
    }

    /// Ends the search where its slices have come to: [`Run::finish`] does not continue with it.
    fn stop_search(&mut self) {}

    /// Ends the history before an op that cannot be read, so that what comes next is not known: the report if the ops
    /// so far are invalid whatever comes next, and `None` if they are not or if that was not found out. The default
    /// knows what [`Run::violation`] knows; a checker that searches at the end searches here too.
    ///
    /// # Errors
    ///
    /// If the history as a whole cannot be judged.
    fn finish_before_unread(self: Box<Self>, budget: &Budget) -> Result<Option<Report>, HistoryError> {
        let _ = budget;
        Ok(if self.is_violated() { self.violation() } else { None })
    }

    /// Ends the history before its own end, because this run, or another one on the same history, has proved a
    /// violation. The report holds nothing that only the end of a history shows, such as what was never read. The
    /// default is [`Run::finish`], for checkers to which the end says nothing.
    ///
    /// # Errors
    ///
    /// Those of [`Run::finish`].
    fn finish_early(self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        self.finish(budget)
    }

    /// Ends the history. A search that spends the budget gives [`Unknown`](crate::Verdict::Unknown).
    ///
    /// # Errors
    ///
    /// If the history as a whole cannot be judged.
    fn finish(self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError>;
}

/// What a run continues from: see [`Run::save`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Saved {
    /// Nothing but the ops.
    #[default]
    Ops,
    /// A state.
    State {
        /// Its bytes.
        state: Vec<u8>,
        /// How many ops, from the first on, a run needs before it takes them.
        first_ops: u64,
    },
    /// The state has more bytes than allowed.
    TooLarge,
}

/// A part of a history that shows a violation: see [`Run::evidence`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evidence {
    /// Where its first op begins in the text, in bytes. Operations that were in flight before may complete in it.
    pub begins: u64,
    /// The index of that op.
    pub first: u64,
    /// The index of its last op, which proves the violation.
    pub last: u64,
    /// Options to set, with their values, for a checker that gets only this part.
    pub options: Vec<(&'static str, &'static str)>,
    /// Notes that belong in a report on this part.
    pub notes: Vec<String>,
    /// How notes begin that do not, as they are about these options.
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

/// How far the slices of a search have come: see [`Run::search`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Searched {
    /// More slices may find more.
    More,
    /// More slices find nothing more.
    Done,
    /// The history is invalid.
    Invalid,
}

/// Runs a checker over everything that a reader holds.
///
/// # Errors
///
/// If the text is not a history, or not one that the checker can judge.
pub fn check(mut run: Box<dyn Run + '_>, reader: &mut Reader<'_>, budget: &Budget) -> Result<Report, HistoryError> {
    reader.for_each_batch(|batch| run.observe_batch(batch))?;
    run.finish(budget)
}

/// Runs a checker over a history that is in memory.
///
/// # Errors
///
/// If the history is not one that the checker can judge.
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

/// The same answer as [`check`], with reading on a thread of its own.
///
/// # Errors
///
/// If the text is not a history, or not one that the checker can judge.
pub fn check_ahead(
    mut run: Box<dyn Run + '_>,
    reader: &mut Reader<'_>,
    budget: &Budget,
) -> Result<Report, HistoryError> {
    reader.for_each_batch_ahead(|batch| run.observe_batch(batch))?;
    run.finish(budget)
}
