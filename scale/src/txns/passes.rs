//! Checks one history of transactions in a limited amount of memory: one share of its keys after another.
//!
//! Each pass reads the history with the reader of a single machine, and checks one share. If one pass is sufficient,
//! its report is that of one machine. Otherwise the dependencies of each share are written to a file. At the end all of
//! them are read again in parallel, to search for cycles.
//!
//! A share is itself a history: a violation in it is one of the whole. If a violation depends on the keys of several
//! shares, there is a cycle of transactions, and all of its dependencies are on keys of these transactions. The cycle
//! is within one of the intervals of time in which there are cycles ([`Tangles`]). So the history is read again for the
//! keys of the transactions invoked in the first intervals, as many as a share may have; and once more for a share of
//! only these keys. If that is valid, the next intervals are checked. A level may allow all existing cycles.
//!
//! If shares have each found an order of versions, another order is searched for instead ([`knots`]).

use super::gauge::{Gauge, TooMuch};
use super::knots::{self, ROUNDS_MAX, Step};
use super::runs::Runs;
use super::tangles::Tangles;
use crate::job::{History, Job, Judged, Spill};
use crate::keys::{guarded, unfit};
use crate::read::place::Stamp;
use histcheck_front::source::Reading;
use histcheck_front::{clocks, setup};
use history_core::cast::Cast as _;
use history_core::hash::HashSet;
use history_core::share::{self, Share, ShareEnd, Totals};
use history_core::{Budget, ErrorKind, HistoryError, NextStep, Op, OpKind, Pair, Participants, Report, Verdict};
use std::borrow::Cow;
use std::io;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

/// The maximum number of passes over a history.
const PASSES_MAX: u64 = 1 << 12;

/// How many other numbers of passes are tried if the orders that shares have found contradict each other.
const RETRIES_MAX: u64 = 3;

/// The maximum number of parts of intervals with cycles. Each takes two passes.
const PARTS_MAX: usize = 200;

/// The note on a report on some of the keys.
const SOME_KEYS: &str = "Only some of the keys were checked together, because of --max-memory. The history is invalid, \
    but it may have other anomalies. Operations are shown without their micro-ops on other keys.";

/// The note if no violation was found.
const UNDECIDED: &str = "Too much of this history may be on cycles for this --max-memory, or some of its keys show \
    too little.";

/// The same for shares that search for orders.
const UNORDERED: &str = "No order of commits that agrees with real time was found of all keys together, and this \
    --max-memory is too little to judge them at once.";

/// The same if some op has no invocation.
const UNTIMED: &str = "Some completion has no invocation, or an op has no process, so it is unknown when a transaction \
    ran. Then what some keys show does not decide what all of them do.";

/// The note if an op does not belong to the workload.
const MALFORMED: &str = "Some op is not a transaction of this checker, a value was written twice, or the versions of \
    some key contradict an option that says how they are ordered.";

/// The next step in both cases.
const WITHOUT: &str = "Check the history without --spill, or with a greater --max-memory.";

/// The reason why the shares do not decide a history.
enum Undecided {
    /// They need this many passes.
    Passes(u64),
    /// The history cannot be checked.
    Failed(HistoryError),
    /// Some op does not belong to the workload.
    Malformed,
    /// Some keys have this report, which is not complete.
    Report(Box<Report>),
    /// Too many transactions may be on cycles.
    Tangled,
}

impl From<HistoryError> for Undecided {
    fn from(error: HistoryError) -> Undecided {
        Undecided::Failed(error)
    }
}

/// Checks a history within a limit on memory.
pub(crate) fn judge(job: &Job<'_>, history: &History, spill: &Spill) -> Judged {
    let stamp = Stamp::of(&history.path);
    let mut passes =
        Passes { job, history, spill, unmatched: None, decisions: Vec::new(), dropped: 0, is_untimed: false };
    let mut outcome = passes.judge();
    if let Ok(report) = &mut outcome {
        clocks::doubt(report, &job.setup.checker.about(), passes.dropped);
    }
    if Stamp::of(&history.path) != stamp {
        outcome = Err(HistoryError::new(ErrorKind::Io, "reading failed: the file changed while it was read"));
    }
    Judged { outcome, unmatched: passes.unmatched, decisions: passes.decisions }
}

struct Passes<'j> {
    job: &'j Job<'j>,
    history: &'j History,
    spill: &'j Spill,
    unmatched: Option<Vec<String>>,
    decisions: Vec<String>,
    /// The number of operations that are not ordered after the previous one of the same client.
    dropped: u64,
    /// Whether some completion has no invocation.
    is_untimed: bool,
}

impl Passes<'_> {
    fn judge(&mut self) -> Result<Report, HistoryError> {
        let (mut count, mut retries) = (1, 0);
        loop {
            let mut totals = None;
            let report = match self.in_passes(count, &mut totals) {
                Ok(report) => return Ok(report),
                // With another number of shares, other orders are found.
                Err(Undecided::Tangled) if retries < RETRIES_MAX && self.searches() && !self.is_untimed => {
                    (count, retries) = (count + 1, retries + 1);
                    continue;
                }
                Err(Undecided::Passes(needed)) if needed <= PASSES_MAX => {
                    count = needed;
                    continue;
                }
                Err(Undecided::Passes(_)) => return Err(self.too_small()),
                Err(Undecided::Failed(error)) => return Err(error),
                Err(Undecided::Malformed) => return Ok(self.unknown(MALFORMED)),
                Err(Undecided::Report(report)) => *report,
                Err(Undecided::Tangled) => return Ok(self.unknown(self.undecided())),
            };
            let participants = totals.map(|totals: Totals| totals.participants);
            return Ok(self.in_part(report, &participants.unwrap_or_default()));
        }
    }

    fn too_small(&self) -> HistoryError {
        let limit = self.spill.bytes_max;
        HistoryError::new(ErrorKind::Limit, format!("{limit} bytes of memory are too few for this history"))
            .expected("a greater --max-memory")
    }

    /// Computes the report on the history from this number of shares. Stores the totals of the whole history.
    fn in_passes(&mut self, count: u64, totals: &mut Option<Totals>) -> Result<Report, Undecided> {
        let (mut runs, mut reports, mut incomplete) = (Runs::default(), Vec::new(), None);
        let (mut keys_max, mut proves_nothing, mut is_malformed) = (1, false, false);
        let searches = self.searches();
        for own in 0..count {
            let mut gauge = Gauge::new(self.spill, own == 0, searches);
            let share = Share::Part { own, of: count };
            let (end, known) = self.pass(share, &mut |read| {
                gauge.look(read).map_err(|TooMuch { percent }| {
                    // Adds a tenth to the estimate, which is relative to the current number of passes.
                    Undecided::Passes(count.saturating_mul(percent.saturating_add(10)).div_ceil(100))
                })
            })?;
            totals.get_or_insert(known);
            let ShareEnd { report, is_well_formed, keys, dependencies, is_one_of_several, .. } = end;
            keys_max = keys.max(keys_max);
            proves_nothing |= is_one_of_several;
            if count == 1 {
                return Ok(report);
            }
            is_malformed |= !is_well_formed;
            match dependencies {
                Some(dependencies) if is_well_formed => {
                    runs.add(dependencies, Some(&self.spill.dir)).map_err(|error| unusable(&error))?;
                    reports.push(report);
                }
                // If another share has an op that cannot be checked, nothing is certain. A violation in a share has
                // priority.
                _ if !incomplete.as_ref().is_some_and(is_violation) => incomplete = Some(report),
                _ => {}
            }
        }
        match incomplete {
            // The version order of registers may depend on an assumption that another share contradicts.
            Some(report) if !is_malformed || is_violation(&report) && !searches => {
                return Err(Undecided::Report(Box::new(report)));
            }
            Some(_) => return Err(Undecided::Malformed),
            None => {}
        }
        let tangles = tangles(&mut runs)?;
        let not_checked = if proves_nothing {
            self.untie(tangles, &mut runs)?;
            Vec::new()
        } else {
            self.untangle(&tangles.end(), keys_max.to_usize())?
        };
        for report in &mut reports {
            report.not_checked.extend_from_slice(&not_checked);
        }
        let first = reports[0].clone();
        let checker = &self.job.setup.checker;
        let totals = totals.as_ref().expect("there was a pass");
        let joined = guarded(|| Ok(checker.join_shares(reports, totals)))?;
        joined.ok_or_else(|| Undecided::Report(Box::new(first)))
    }

    /// Executes one pass: returns the end of a share, and the totals of the whole. `look` receives how much of the text
    /// was read, and may end the pass.
    fn pass(
        &mut self,
        share: Share,
        look: &mut dyn FnMut((u64, Option<u64>)) -> Result<(), Undecided>,
    ) -> Result<(ShareEnd, Totals), Undecided> {
        let (setup, is_part) = (self.job.setup, share.is_part());
        let mut run = guarded(|| setup.checker.start_share(&setup.options, share).map_err(|error| unfit(&error)))?
            .ok_or_else(|| HistoryError::new(ErrorKind::Unexpected, "the checker judges only whole histories"))?;
        let mut totals = Totals { ok: 0, fail: 0, info: 0, participants: Participants::new() };
        let (mut in_flight, mut ended, mut is_untimed) = (0_u64, None, false);
        self.read(|batch, read| {
            let observed = batch.each(&mut |op| {
                let is_client = count(op, &mut totals, &mut in_flight);
                is_untimed |= is_client && op.pair == Pair::Alone;
                // Ops of other processes belong to no share; the note on them is added to the whole.
                if !is_client && is_part {
                    return Ok(ControlFlow::Continue(()));
                }
                run.observe(op).map(|()| ControlFlow::Continue(()))
            })?;
            match look(read) {
                Ok(()) => Ok(observed),
                Err(why) => {
                    ended = Some(why);
                    Ok(ControlFlow::Break(()))
                }
            }
        })?;
        if let Some(why) = ended {
            return Err(why);
        }
        self.is_untimed = is_untimed;
        totals.info += in_flight;
        let budget = Budget::default().with_bytes_max(self.spill.bytes_max);
        Ok((guarded(|| run.finish(&budget))?, totals))
    }

    /// Reads the history. `see` receives its batches, and how much of the text was read.
    fn read(
        &mut self,
        mut see: impl FnMut(&history_core::Batch, (u64, Option<u64>)) -> Result<ControlFlow<()>, HistoryError>,
    ) -> Result<(), HistoryError> {
        let (reading, mut is_all) = (Arc::<Reading>::default(), true);
        let mut reader = self.history.open(&reading)?;
        guarded(|| {
            reader.for_each_batch_ahead(|batch| {
                let seen = see(batch, reading.bytes())?;
                is_all &= seen.is_continue();
                Ok(seen)
            })
        })?;
        if is_all && self.unmatched.is_none() {
            self.unmatched = Some(reader.unmatched().map(str::to_owned).collect());
            self.decisions.extend(setup::left_out(&reader));
            self.dropped = reader.dropped_client_orders();
        }
        Ok(())
    }

    /// Checks the transactions invoked in these intervals, in parts with at most about this number of keys. Returns the
    /// levels that some part did not check.
    fn untangle(
        &mut self,
        tangles: &[RangeInclusive<u64>],
        keys_max: usize,
    ) -> Result<Vec<Cow<'static, str>>, Undecided> {
        let (mut rest, mut not_checked) = (tangles, Vec::new());
        while !rest.is_empty() {
            let (places, taken) = self.places(rest, keys_max)?;
            if taken * PARTS_MAX < tangles.len() {
                return Err(Undecided::Tangled);
            }
            let mut gauge = Gauge::new(self.spill, false, false);
            let looked = &mut |read| gauge.look(read).map_err(|TooMuch { .. }| Undecided::Tangled);
            let (ShareEnd { report, .. }, _) = self.pass(Share::Only(places.into()), looked)?;
            // A note means that something is undecided.
            if report.verdict != Verdict::Valid || !report.notes.is_empty() {
                return Err(Undecided::Report(Box::new(report)));
            }
            not_checked.extend(report.not_checked);
            rest = &rest[taken..];
        }
        not_checked.sort_unstable();
        not_checked.dedup();
        Ok(not_checked)
    }

    /// Searches for other orders of the transactions on cycles.
    fn untie(&mut self, found: Tangles, runs: &mut Runs) -> Result<(), Undecided> {
        let (mut found, job) = (found, self.job);
        let budget = Budget::default().with_bytes_max(self.spill.bytes_max);
        for round in 0..=ROUNDS_MAX {
            let step = knots::step(job, &found, round, &budget, &mut |see| self.read(|batch, _| see(batch)))?;
            match step {
                Step::Done => return Ok(()),
                Step::GiveUp => break,
                Step::Widen(dependencies) => {
                    runs.add(dependencies, None).map_err(|error| unusable(&error))?;
                    runs.rewind().map_err(|error| unusable(&error))?;
                    found = tangles(runs)?;
                }
            }
        }
        Err(Undecided::Tangled)
    }

    /// The places of the keys of the transactions invoked in the first of these intervals, in order, and the number of
    /// these intervals: as many as fit the limit on keys, but at least one.
    fn places(&mut self, tangles: &[RangeInclusive<u64>], keys_max: usize) -> Result<(Vec<u64>, usize), HistoryError> {
        let (mut all, mut own, mut taken) = (HashSet::default(), Vec::new(), tangles.len());
        self.read(|batch, _| {
            for op in batch.ops() {
                // The invocation may not contain the keys.
                let invoked = match (op.kind, op.pair) {
                    (_, Pair::Completes { invoked, .. }) => invoked,
                    (OpKind::Invoke, _) => op.index,
                    _ => continue,
                };
                let at = tangles.partition_point(|tangle| *tangle.end() < invoked);
                if at < taken && tangles[at].contains(&invoked) && share::places(op.value, &mut own) {
                    let new = own.iter().filter(|place| !all.contains(*place)).count();
                    if at > 0 && all.len() + new > keys_max {
                        taken = at;
                    } else {
                        all.extend(own.iter().copied());
                    }
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let mut places: Vec<u64> = all.into_iter().collect();
        places.sort_unstable();
        Ok((places, taken))
    }

    /// Returns true if shares search for version orders.
    fn searches(&self) -> bool {
        let setup = self.job.setup;
        setup.checker.start_knots(&setup.options, 0).is_ok_and(|run| run.is_some())
    }

    fn undecided(&self) -> &'static str {
        match self.is_untimed {
            true => UNTIMED,
            false if self.searches() => UNORDERED,
            false => UNDECIDED,
        }
    }

    fn unknown(&self, why: &str) -> Report {
        let mut report = Report::new(self.job.setup.checker.name().to_owned(), Verdict::Unknown);
        report.notes.push(why.to_owned());
        report.add_next(NextStep::option("max-memory", WITHOUT));
        report
    }

    /// The report on the whole history, from the one on some keys.
    fn in_part(&self, report: Report, participants: &Participants) -> Report {
        let mut report = report;
        if is_violation(&report) {
            report.notes.push(SOME_KEYS.to_owned());
        } else {
            report = self.unknown(self.undecided());
        }
        report.notes.extend(participants.note());
        report
    }
}

/// Finds where the dependencies may have cycles.
fn tangles(runs: &mut Runs) -> Result<Tangles, HistoryError> {
    let mut tangles = Tangles::default();
    loop {
        let end = runs.end().map_err(|error| unusable(&error))?;
        tangles.take(runs.take(end), end);
        if end.is_none() {
            return Ok(tangles);
        }
    }
}

/// Counts an op, and operations in flight. Returns whether it is a client's op.
fn count(op: &Op<'_>, totals: &mut Totals, in_flight: &mut u64) -> bool {
    if !totals.participants.see(op) {
        return false;
    }
    match op.kind {
        OpKind::Invoke => {}
        OpKind::Ok => totals.ok += 1,
        OpKind::Fail => totals.fail += 1,
        OpKind::Info => totals.info += 1,
    }
    match op.pair {
        Pair::Invokes { .. } => *in_flight += 1,
        Pair::Completes { .. } => *in_flight = in_flight.saturating_sub(1),
        Pair::Alone => {}
    }
    true
}

fn is_violation(report: &Report) -> bool {
    report.verdict == Verdict::Invalid
}

fn unusable(error: &io::Error) -> HistoryError {
    HistoryError::new(ErrorKind::Io, format!("temporary file: {error}"))
}
