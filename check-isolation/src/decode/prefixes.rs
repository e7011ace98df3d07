//! Checks a history that is still being written: can its ops so far be explained?
//!
//! No rule detects at an op that no order explains the history any more. So the history so far is checked as a complete
//! one, in which operations in flight may have happened, whenever it has grown by an eighth, and at first after each
//! op. If it then violates a level, bisection finds the first op up to which it does. The report is later than that op,
//! but names it.
//!
//! *A violation is permanent* if no value is written to a key twice. Take an order that explains the whole history.
//! Without the transactions that were not invoked by then, and those in flight whose writes were not read, it explains
//! the prefix: each remaining transaction reads the same version as before, because the writer remains too. There is
//! one exception: a later op may write a value that was read. With real time this is a violation, since the reader
//! completed before, if every op so far has an invocation with its writes. Otherwise a prefix is checked without the
//! reads of unwritten values.

use super::{IsolationRun, Settings};
use crate::level::{Base, Level};
use crate::report::{self, THIN_AIR};
use history_core::{Budget, HistoryError, Op, Report, Run, Verdict};
use std::ops::ControlFlow;

/// Beyond this number of ops, the history is checked again when it has grown by one part in [`GROWTH`].
const EACH_MAX: usize = 128;
const GROWTH: usize = 8;

/// The maximum number of states of a search within one check. If it does not suffice, the next check or the end
/// decides.
const STATES_MAX: u64 = 1_000_000;

/// A run that checks the history so far again and again.
pub(crate) struct Prefixes {
    /// The whole history.
    whole: IsolationRun,
    /// The ops checked last, in which no violation was found.
    sound: IsolationRun,
    /// The number of ops in `sound`.
    judged: usize,
    /// The expected levels.
    levels: Vec<Level>,
    /// Whether a read of a value that no invocation has written yet violates a level: all levels have real time, and
    /// each op so far has an invocation with its writes.
    sees_writers: bool,
    violated: Option<Report>,
}

impl Prefixes {
    pub(crate) fn new(settings: Settings) -> Prefixes {
        let levels = report::expected(&settings.levels);
        let sees_writers =
            levels.iter().all(|level| level.decided_by().is_some_and(|(_, base)| base == Base::RealTime));
        let mut whole = IsolationRun::new(settings);
        let sound = whole.snapshot();
        whole.keep();
        Prefixes { whole, sound, judged: 0, levels, sees_writers, violated: None }
    }

    /// The report on the checked ops and the `count` next ones, if these violate a level.
    fn violation_of(&mut self, count: usize) -> Result<Option<Report>, HistoryError> {
        let mut part = self.sound.snapshot();
        self.levels.clone_into(part.levels_mut());
        part.data.is_beginning = !self.sees_writers;
        let report = self.whole.again(part, count, &Budget::default().with_states_max(STATES_MAX))?;
        Ok(Some(report).filter(|report| report.verdict == Verdict::Invalid))
    }

    fn judge(&mut self) -> Result<(), HistoryError> {
        let Some(kept) = self.whole.kept() else {
            self.whole.stop_keeping();
            return Ok(());
        };
        let count = kept.len();
        let least = if self.judged < EACH_MAX { 1 } else { self.judged / GROWTH };
        if count < least {
            return Ok(());
        }
        let Some(mut report) = self.violation_of(count)? else {
            self.judged += count;
            self.sound = self.whole.snapshot();
            self.whole.keep();
            return Ok(());
        };
        // Up to `good` ops there is no violation; up to `bad` there is one.
        let (mut good, mut bad) = (0, count);
        while good + 1 < bad {
            let middle = usize::midpoint(good, bad);
            match self.violation_of(middle)? {
                Some(earlier) => (bad, report) = (middle, earlier),
                None => good = middle,
            }
        }
        let index = self.whole.kept().map_or(0, |kept| kept.index(bad - 1));
        self.qualify(&mut report);
        report.notes.push(format!(
            "Checked while the history was written: the op at index {index} is the first that proves the violation."
        ));
        self.violated = Some(report);
        self.whole.stop_keeping();
        Ok(())
    }
}

impl Prefixes {
    /// Restricts the report on a prefix to what is certain for a history that continues: the other levels are unknown,
    /// and a later op may write a value that was read, which only levels with real time forbid.
    fn qualify(&self, report: &mut Report) {
        if report.anomalies.iter().any(|anomaly| anomaly.name == THIN_AIR.0) {
            report.not = report::names(self.levels.iter().copied());
            report.also_not.clear();
        }
        report.notes.retain(|note| !note.starts_with(report::STRONGEST));
        report.not_checked = report::names(Level::all());
        report.not_checked.retain(|level| !report.not.contains(level) && !report.also_not.contains(level));
    }
}

impl Run for Prefixes {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        self.sees_writers &= op.is_announced();
        let flow = self.whole.observe(op)?;
        if self.violated.is_none() {
            self.judge()?;
        }
        Ok(flow)
    }

    fn is_violated(&self) -> bool {
        self.violated.is_some()
    }

    fn violation(&self) -> Option<Report> {
        self.violated.clone()
    }

    fn decides_early(&self) -> bool {
        true
    }

    fn growth(&self) -> Option<String> {
        Some(
            "isolation keeps the whole history in memory, twice, and judges it again whenever it has grown by an eighth. --max-memory \
             ends that with what is known by then."
                .to_owned(),
        )
    }

    fn finish_early(mut self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        let mut whole = self.whole.conclude(budget)?;
        if whole.verdict == Verdict::Invalid {
            self.qualify(&mut whole);
            return Ok(whole);
        }
        Ok(self.violated.unwrap_or(whole))
    }

    fn finish(mut self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        let whole = self.whole.conclude(budget)?;
        Ok(self.violated.filter(|_| whole.verdict != Verdict::Invalid).unwrap_or(whole))
    }
}
