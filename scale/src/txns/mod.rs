//! Checks one history of transactions: each worker has a share of the keys.
//!
//! 1. Ranges are read in rounds, as for keyed histories. A transaction goes to all workers that have a key of it, and
//!    each of them processes only the micro-ops on its own keys.
//! 2. Each worker ends its share: a report, and the dependencies between concurrent transactions.
//! 3. The first worker gets the dependencies in windows of time ([`runs`]), and searches for cycles of them and real
//! 4. If there are none, and each share is valid, then so is the history. If shares have each found an order of
//!    versions, the first worker searches for another order of the transactions on a cycle ([`knots`]).
//! 5. Otherwise the first worker checks the whole history alone, as one machine does, because only the whole shows the
//!    anomaly.
//!
//! If memory has a limit, one worker has all shares, one after another ([`passes`]).

mod gauge;
mod knots;
pub(crate) mod passes;
mod runs;
mod tangles;

use crate::job::Judged;
use crate::judge::{Irregular, Session};
use crate::keys::{Feed, guarded, unfit};
use crate::read::part::Reading;
use histcheck_front::setup::Checked;
use history_core::cast::Cast as _;
use history_core::share::{Dependency, Share, ShareEnd};
use history_core::{Batch, Budget, HistoryError, Report};
use knots::{ROUNDS_MAX, Step};
use runs::{Runs, from_bytes, to_bytes};
use std::ops::ControlFlow;
use std::sync::Arc;
use tangles::Tangles;

/// Reading runs in memory cannot fail.
const IN_MEMORY: &str = "no file is read";

/// The reason why the shares do not decide a history.
enum Undecided {
    /// It must be checked as a whole.
    Irregular,
    /// It cannot be checked.
    Failed(HistoryError),
}

impl Session<'_> {
    /// Reads the history by ranges, and checks its shares. The result is irregular if they do not decide it.
    pub(crate) fn by_shares(&mut self, reading: Reading) -> Result<Option<Judged>, Irregular> {
        match self.shares(reading) {
            Ok(report) => Ok(report.and_then(|report| self.say(Ok(report)))),
            Err(Undecided::Irregular) => Err(Irregular),
            Err(Undecided::Failed(error)) => Ok(self.say(Err(error))),
        }
    }

    /// Computes the report on the history from its shares. The first worker returns it.
    fn shares(&mut self, reading: Reading) -> Result<Option<Report>, Undecided> {
        let setup = self.job.setup;
        let share = Share::Part { own: self.meeting.own().to_u64(), of: self.meeting.workers().to_u64() };
        let started = guarded(|| setup.checker.start_share(&setup.options, share).map_err(|error| unfit(&error)));
        let mut run = started.map_err(Undecided::Failed)?.ok_or(Undecided::Irregular)?;
        let mut feed = Feed::new(reading.format, self.history.read_as.time_unit);
        let read = self.read_ranges(reading, &mut |packets, base| {
            feed.feed(packets.iter().filter(|packet| packet.range == base.range), base, |op| run.observe(op));
        });
        let join = read.map_err(|why| why.map_or(Undecided::Irregular, Undecided::Failed))?;
        // The reader of the whole history reports invalid ops with their positions.
        let end = guarded(|| run.finish(&Budget::default())).ok().filter(|_| feed.failed().is_none());
        let (report, dependencies, is_one_of_several) = match end {
            // The report must be the same as that of one machine.
            Some(ShareEnd {
                report, dependencies: Some(dependencies), is_one_of_several, may_say_less: false, ..
            }) => (Some(report), dependencies, is_one_of_several),
            _ => (None, Vec::new(), false),
        };
        // These reports contain no values of the history.
        let reports: Option<Vec<Report>> = self.meeting.all(&report).into_iter().collect();
        let reports = reports.ok_or(Undecided::Irregular)?;
        // All workers have the same options, so they have the same answer.
        self.look_for_cycles(dependencies, is_one_of_several)?;
        let own = self.meeting.is_first().then(|| guarded(|| Ok(setup.checker.join_shares(reports, &join.totals()))));
        let report = own.map(|joined| joined.ok().flatten());
        let is_known = report.as_ref().map(Option::is_some);
        if self.meeting.told_by_first(is_known.as_ref()) { Ok(report.flatten()) } else { Err(Undecided::Irregular) }
    }

    /// Searches for cycles of the dependencies of all workers and real time. If the dependencies are those of one order
    /// of several, searches for other orders of the transactions on the cycles.
    fn look_for_cycles(&mut self, dependencies: Vec<Dependency>, is_one_of_several: bool) -> Result<(), Undecided> {
        let mut runs = Runs::default();
        runs.add(dependencies, None).expect(IN_MEMORY);
        if !is_one_of_several {
            return self.tangles(&mut runs, true).map(|_| ());
        }
        for round in 0..=ROUNDS_MAX {
            let found = self.tangles(&mut runs, false)?;
            let step = found.map(|found| self.step(&found, round));
            let is_done = step.as_ref().map(|step| match step {
                Step::Done => Some(true),
                Step::Widen(_) => Some(false),
                Step::GiveUp => None,
            });
            match self.meeting.told_by_first(is_done.as_ref()) {
                Some(true) => return Ok(()),
                Some(false) => {}
                None => break,
            }
            if let Some(Step::Widen(more)) = step {
                runs.add(more, None).expect(IN_MEMORY);
            }
            runs.rewind().expect(IN_MEMORY);
        }
        Err(Undecided::Irregular)
    }

    /// Finds where the dependencies of all workers have cycles; the first worker returns this. If `ends_at_a_cycle`,
    /// the first cycle makes the result irregular.
    fn tangles(&mut self, runs: &mut Runs, ends_at_a_cycle: bool) -> Result<Option<Tangles>, Undecided> {
        let mut tangles = self.meeting.is_first().then(Tangles::default);
        loop {
            let own = runs.end().expect(IN_MEMORY);
            let end = self.meeting.all(&own).into_iter().flatten().min();
            let got = self.meeting.exchange(vec![(0, to_bytes(&runs.take(end)))]);
            let is_over = tangles.as_mut().map(|tangles| {
                tangles.take(got.iter().flat_map(|(_, bytes)| from_bytes(bytes)), end);
                ends_at_a_cycle && tangles.is_any_found()
            });
            if self.meeting.told_by_first(is_over.as_ref()) {
                return Err(Undecided::Irregular);
            }
            if end.is_none() {
                return Ok(tangles);
            }
        }
    }

    /// The first worker's next step for cycles.
    fn step(&self, found: &Tangles, round: u32) -> Step {
        let read = &mut |see: &mut dyn FnMut(&Batch) -> Result<ControlFlow<()>, HistoryError>| {
            let mut reader = self.history.open(&Arc::default())?;
            guarded(|| reader.for_each_batch_ahead(see))
        };
        knots::step(self.job, found, round, &Budget::default(), read).unwrap_or(Step::GiveUp)
    }

    /// The first worker checks the history alone.
    pub(crate) fn alone(&mut self) -> Option<Judged> {
        let (setup, history) = (self.job.setup, self.history);
        self.meeting.is_first().then(|| {
            let open = |reading: &Arc<_>| history.open(reading);
            let Checked { outcome, unmatched, decisions, .. } =
                setup.check(open, &Arc::default(), &Budget::default(), &());
            Judged { outcome, unmatched, decisions }
        })
    }
}
