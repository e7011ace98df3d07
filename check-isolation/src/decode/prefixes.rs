//! A history that is still being written: whether its ops so far can be explained.
//!
//! No rule detects at an op that no order explains the history any more. So the history so far is checked as a complete
//! one, in which operations in flight may have happened, whenever it has grown by an eighth: at each op at first. If it
//! is violated then, the first op up to which it is violated is found by bisection. The report is later than that op,
//! but names it.
//!
//! *What is violated stays so*, if no value is written to a key twice. Take an order that explains the whole history.
//! Without the transactions that nobody had invoked by then, and those in flight whose writes were not read, it
//! explains the beginning: of what is left, each reads the same version as before, for its writer is left too. With one
//! exception: what was read may be written later. With real time that is a violation, since the reader completed
//! before, if every op so far says when it was invoked, and then what it writes. Else a beginning is judged without the
//! reads of what nobody wrote.

use super::{IsolationRun, Settings};
use crate::level::{Base, Level};
use crate::report::{self, THIN_AIR};
use history_core::{Budget, HistoryError, Op, Report, Run, Verdict};
use std::ops::ControlFlow;

/// Beyond this number of ops, the history is checked again when it has grown by one in [`GROWTH`].
const EACH_MAX: usize = 128;
const GROWTH: usize = 8;

/// The number of states of a search within one check. If that is not sufficient, the next one or the end decides.
const STATES_MAX: u64 = 1_000_000;

/// A history that is checked while it is being written.
pub(crate) struct Prefixes {
    /// All of it.
    whole: IsolationRun,
    /// What was judged last, and violates nothing as far as is known.
    sound: IsolationRun,
    /// How many ops that has.
    judged: usize,
    /// The levels that are expected, by themselves.
    levels: Vec<Level>,
    /// Whether who reads what nobody was invoked to write yet violates a level: all of them have real time, and each op
    /// so far was invoked with what it writes.
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

    /// The report on so many ops after those that were judged, if they violate a level.
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
        // Up to `good` ops nothing is violated; up to `bad`, something is.
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
    /// What a beginning violates, said of a history that goes on: nothing is known of the other levels; and what was
    /// read may be written later, which only levels with real time forbid.
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
