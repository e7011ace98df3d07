//! The judge: checks the history while it grows, and ends the run at a violation.
//!
//! A checker that reports a violation at the op that proves it gets each op as soon as it is recorded. Any other one
//! checks the file from its beginning whenever its size has doubled, and at least every ten seconds while it grows;
//! operations that are in flight at the end of such a prefix count as `info`. A violation of a prefix ends the run, and
//! the verdict is then that of the whole file.

use crate::run::counts::Counts;
use crate::run::inbox::Inbox;
use crate::run::stop::Stop;
use history_core::{Budget, Format, HistoryError, Reader, Report, Run, Verdict};
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Starts a run of the checker.
pub type Start<'c> = dyn Fn() -> Result<Box<dyn Run + 'c>, HistoryError> + Sync + 'c;

/// Called with a violation as soon as it is found.
pub type Found<'c> = dyn Fn(&Violated, Option<&Report>) + Sync + 'c;

/// How a history is checked.
pub struct Check<'c> {
    /// Starts the checker, with its options.
    pub start: &'c Start<'c>,
    /// Starts another run that reports a violation at the op that proves it, if there is such a run. The verdict is
    /// that of `start` on the whole history.
    pub start_online: Option<&'c Start<'c>>,
    /// Whether the run of `start` reports a violation before the end of the history.
    pub watches: bool,
    /// The limits of its search at the end.
    pub budget: Budget,
    /// Whether the run continues after a violation, to find others.
    pub keeps_going: bool,
    /// Called with the first violation as soon as it is found, with a report on it if there is one, to display it.
    pub found: Option<&'c Found<'c>>,
}

impl fmt::Debug for Check<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check")
            .field("is_online", &self.start_online.is_some())
            .field("watches", &self.watches)
            .field("budget", &self.budget)
            .field("keeps_going", &self.keeps_going)
            .finish_non_exhaustive()
    }
}

impl Check<'_> {
    /// Returns true if the checker receives ops as they are recorded.
    pub(crate) fn is_fed(&self) -> bool {
        self.watches || self.start_online.is_some()
    }
}

/// A violation that was found while the history grew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Violated {
    /// How many ops were recorded when it was found.
    pub ops: u64,
    /// The index of the op that proves it, if the checker determines it immediately.
    pub index: Option<u64>,
}

/// Checks ops as they are recorded, until there are no more. At that time, `is_whole` contains whether the history is
/// complete. Returns the report, and the op at which the violation was certain.
pub(crate) fn follow(
    check: &Check<'_>,
    start: &Start<'_>,
    inbox: Inbox,
    counts: &Counts,
    stop: &Stop,
    is_whole: &AtomicBool,
) -> Result<(Report, Option<Violated>), HistoryError> {
    // The recorder does not wait for a judge that has ended: the reader drops the inbox.
    let end = EndOnDrop(stop);
    let mut run = start()?;
    let mut violated = None;
    // Whether the checker needs no more ops. They are still recorded.
    let mut is_settled = false;
    Reader::new(inbox).with_format(Format::Json).growing().for_each(|op| {
        if is_settled {
            return Ok(ControlFlow::Continue(()));
        }
        let flow = run.observe(op)?;
        if violated.is_none() && run.is_violated() {
            let certain = Violated { ops: counts.ops.load(Ordering::Relaxed), index: Some(op.index) };
            violated = Some(certain);
            if let Some(found) = check.found {
                found(&certain, run.violation().as_ref());
            }
            if !check.keeps_going {
                return Ok(ControlFlow::Break(()));
            }
        }
        if violated.is_none() {
            counts.checked.store(op.index + 1, Ordering::Relaxed);
        }
        is_settled = check.keeps_going && flow.is_break();
        Ok(if is_settled { ControlFlow::Continue(()) } else { flow })
    })?;
    drop(end);
    // Clients that stop at a violation do not perform the final reads.
    let ends_early = violated.is_some() && !check.keeps_going || !is_whole.load(Ordering::Acquire);
    let report = if ends_early { run.finish_early(&check.budget) } else { run.finish(&check.budget) };
    Ok((report?, violated))
}

/// Ends the run if the judge has ended: further ops would not be checked.
struct EndOnDrop<'s>(&'s Stop);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// The time between two reads of the file's size.
const LOOK: Duration = Duration::from_millis(100);
/// The maximum time between two checks of a growing file.
const EVERY: Duration = Duration::from_secs(10);
/// The length of the first prefix in bytes.
const FIRST: u64 = 64 << 10;

/// Checks prefixes of the file until the run ends. Returns where a violation was found.
pub(crate) fn check_prefixes(
    check: &Check<'_>,
    path: &Path,
    counts: &Counts,
    stop: &Stop,
) -> Result<Option<Violated>, HistoryError> {
    let end = EndOnDrop(stop);
    let (mut checked, mut at) = (0, Instant::now());
    while !stop.wait(LOOK) {
        let bytes = counts.bytes.load(Ordering::Acquire);
        let is_due = bytes >= (checked * 2).max(FIRST) || at.elapsed() >= EVERY && bytes > checked;
        if !is_due {
            continue;
        }
        (checked, at) = (bytes, Instant::now());
        let ops = counts.ops.load(Ordering::Relaxed);
        let report = check_file(check, path, bytes, false)?;
        if report.verdict == Verdict::Invalid {
            let violated = Violated { ops, index: None };
            check.found.into_iter().for_each(|found| found(&violated, Some(&report)));
            if check.keeps_going {
                stop.wait(Duration::MAX);
            }
            return Ok(Some(violated));
        }
        counts.checked.store(ops, Ordering::Relaxed);
    }
    drop(end);
    Ok(None)
}

/// Checks the first bytes of the file. If not everything was recorded, the report omits results that depend on the end.
pub(crate) fn check_file(check: &Check<'_>, path: &Path, bytes: u64, is_whole: bool) -> Result<Report, HistoryError> {
    let file = File::open(path).map_err(|error| {
        HistoryError::new(history_core::ErrorKind::Io, format!("reading {} failed: {error}", path.display()))
    })?;
    let mut reader = Reader::new(file.take(bytes)).with_format(Format::Json);
    let mut run = (check.start)()?;
    reader.for_each_batch(|batch| run.observe_batch(batch))?;
    if is_whole { run.finish(&check.budget) } else { run.finish_early(&check.budget) }
}
