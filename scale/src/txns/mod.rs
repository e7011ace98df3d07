//! Judging one history of transactions: each worker has a share of the keys.
//!
//! 1. Ranges are read in rounds, as for keyed histories. A transaction goes to all workers that have a key of it, and
//!    each of them looks only at the micro-ops on its own keys.
//! 2. Each worker ends its share: a report, and the dependencies between concurrent transactions.
//! 3. The first worker gets the dependencies in windows of time ([`runs`]), and looks for cycles of them and real time
//!    ([`tangles`]).
//! 4. If there are none, and each share is valid, then so is the history. Else the first worker judges it alone, as one
//!    machine does: what is wrong with it is for the whole to say.
//!
//! Where memory has a limit, one worker has all shares, one after another ([`passes`]).

mod gauge;
pub(crate) mod passes;
mod runs;
mod tangles;

use crate::job::Judged;
use crate::judge::{Irregular, Session};
use crate::keys::{Feed, guarded, unfit};
use crate::part::Reading;
use histcheck_front::setup::Checked;
use history_core::cast::Cast as _;
use history_core::share::{Dependency, Share, ShareEnd};
use history_core::{Budget, HistoryError, Report};
use runs::{Runs, from_bytes, to_bytes};
use std::sync::Arc;
use tangles::Tangles;

/// Why the shares do not decide a history.
enum Undecided {
    /// It has to be judged as a whole.
    Irregular,
    /// It cannot be judged.
    Failed(HistoryError),
}

impl Session<'_> {
    /// Reads the history by ranges, and judges its shares; irregular if that does not decide it.
    pub(crate) fn by_shares(&mut self, reading: Reading) -> Result<Option<Judged>, Irregular> {
        match self.shares(reading) {
            Ok(report) => Ok(report.and_then(|report| self.say(Ok(report)))),
            Err(Undecided::Irregular) => Err(Irregular),
            Err(Undecided::Failed(error)) => Ok(self.say(Err(error))),
        }
    }

    /// The report on the history by its shares; the first worker gets it.
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
        // What an op cannot be is said at its place, by whoever reads all.
        let end = guarded(|| run.finish(&Budget::default())).ok().filter(|_| feed.failed().is_none());
        let (report, dependencies) = match end {
            Some(ShareEnd { report, dependencies: Some(dependencies), .. }) => (Some(report), dependencies),
            _ => (None, Vec::new()),
        };
        // These reports hold no values of the history.
        let reports: Option<Vec<Report>> = self.meeting.all(&report).into_iter().collect();
        let reports = reports.ok_or(Undecided::Irregular)?;
        self.look_for_cycles(dependencies)?;
        let own = self.meeting.is_first().then(|| guarded(|| Ok(setup.checker.join_shares(reports, &join.totals()))));
        let report = own.map(|joined| joined.ok().flatten());
        let is_known = report.as_ref().map(Option::is_some);
        if self.meeting.told_by_first(is_known.as_ref()) { Ok(report.flatten()) } else { Err(Undecided::Irregular) }
    }

    /// Looks for cycles of the dependencies of all workers, and real time.
    fn look_for_cycles(&mut self, dependencies: Vec<Dependency>) -> Result<(), Undecided> {
        let in_memory = "no file is read";
        let (mut runs, mut tangles) = (Runs::default(), Tangles::default());
        runs.add(dependencies, None).expect(in_memory);
        loop {
            let own = runs.end().expect(in_memory);
            let end = self.meeting.all(&own).into_iter().flatten().min();
            let got = self.meeting.exchange(vec![(0, to_bytes(&runs.take(end)))]);
            let is_cyclic = self.meeting.is_first().then(|| {
                tangles.take(got.iter().flat_map(|(_, bytes)| from_bytes(bytes)), end);
                tangles.is_any_found()
            });
            if self.meeting.told_by_first(is_cyclic.as_ref()) {
                return Err(Undecided::Irregular);
            }
            if end.is_none() {
                return Ok(());
            }
        }
    }

    /// Has the first worker judge the history alone.
    pub(crate) fn alone(&mut self) -> Option<Judged> {
        let (setup, history) = (self.job.setup, self.history);
        self.meeting.is_first().then(|| {
            let open = |_: &_| history.read_as.open(&history.path);
            let Checked { outcome, unmatched, decisions, .. } =
                setup.check(open, &Arc::default(), &Budget::default(), &());
            Judged { outcome, unmatched, decisions }
        })
    }
}
