//! `histcheck watch`: reports the verdict while the history is still being written.
//!
//! Other threads bring text, which one thread reads ([`ahead`]), or the ops of several writers ([`source`]); one thread
//! checks them. If it is slower, the writers wait. A result is printed at the op that makes it certain. [`order`]
//! defines the order of the ops of several writers, and explains why it causes no false alarm.

mod address;
mod again;
mod ahead;
mod checkpoint;
mod feed;
mod follow;
mod inbox;
mod limit;
mod listen;
mod order;
mod refused;
mod socket;
mod source;
mod status;
mod writer;

use crate::job::{Check, PageAt};
use crate::judge::input::{Input, Unmatched};
use crate::judge::signals;
use crate::output::diagnose;
use crate::output::exit::Exit;
use crate::output::results::Results;
use crate::serve::page::Page;
use crate::serve::rest::Rest;
use crate::serve::shown::Shown;
pub(crate) use address::Address;
use ahead::ReadOn;
pub(crate) use checkpoint::{Checkpoints, written};
use checkpoint::{Keeper, Printed, Resume};
use feed::Feed;
use histcheck_front::clocks;
use histcheck_front::setup::guarded;
use history_core::cast::Cast as _;
use history_core::{Batch, Budget, Cancel, HistoryError, Op, Report, Run, Spent, Verdict};
use limit::{Limit, Stopped};
use refused::Doubt;
pub(crate) use source::Source;
use status::Status;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// The task: a history to watch.
pub(crate) struct Watch<'c> {
    /// How it is checked. Its only input represents the history if the history has no other name.
    pub(crate) check: Check<'c>,
    pub(crate) source: Source,
    /// Whether to continue after a violation.
    pub(crate) keep_going: bool,
    /// The address of a page that shows the watch in progress.
    pub(crate) serve: Option<PageAt>,
    /// Checkpoints for a later watch; only for a file.
    pub(crate) checkpoints: Option<Checkpoints>,
}

/// Watches until the history ends or is violated.
pub(crate) fn run(job: &Watch<'_>) -> Exit {
    job.check.warnings.iter().for_each(|warning| diagnose::warning(warning));
    let given = &job.check.inputs[0];
    let (opened, checkpoints) = match open(job) {
        Ok(opened) => opened,
        Err(message) => {
            diagnose::error(&message);
            return Exit::FAILED;
        }
    };
    let source::Opened { mut feed, name, end, begin, unlink } = opened;
    // The socket's file exists until this is dropped.
    let _socket = unlink;
    let budget = job.check.limits.budget(Cancel::default());
    let end = Arc::new(Mutex::new(end));
    let wake = Arc::clone(&end);
    let limit = Limit::begin(job.check.limits, move || end_history(&wake));
    let (rest, signalled) = (Rest::default(), Arc::clone(&end));
    if let Err(error) = end_on_signals(move || end_history(&signalled), budget.cancel.clone(), rest.clone()) {
        diagnose::warning(&format!("cannot catch signals, so an interrupt ends histcheck without a report: {error}"));
    }
    begin();
    // If any free port was requested, the name contains the port that was chosen.
    let named = name.map(|name| Input::new(name.into()));
    let input = named.as_ref().unwrap_or(given);
    let mut results = match Results::new(&job.check) {
        Ok(results) => results,
        Err(message) => {
            diagnose::error(&message);
            return Exit::FAILED;
        }
    };
    let mut page = match page(job, input) {
        Ok(page) => page,
        Err(message) => {
            diagnose::error(&message);
            return Exit::FAILED;
        }
    };
    let (mut failed, shown) = (Exit::FAILED, &mut page);
    let judged = guarded(|| {
        let status = Status::begin();
        let (results, Kept { keeper, resume }) = (&mut results, checkpoints);
        let printed = resume.as_ref().map(Resume::printed).unwrap_or_default();
        let said = Said::default();
        let mut watched = Watched { job, input, results, status, limit, end, page: shown, keeper, printed, said };
        match watched.judge(&mut feed, resume.as_ref(), &budget) {
            Ok(report) => Ok(Some(report)),
            Err(stopped) => {
                failed = stopped.exit()?;
                Ok(None)
            }
        }
    });
    let judged = judged.transpose();
    if let (Some(page), Some(judged)) = (&mut page, &judged) {
        page.end(judged.as_ref().map_err(|error| format!("{error}.")));
    }
    let exit = match judged {
        None => failed,
        Some(judged) => {
            let exit = results.write(input, judged).unwrap_or_else(|stopped| stopped);
            results.finish(exit)
        }
    };
    if let Some(page) = page {
        page.close(job.serve.is_some_and(|at| at.stays).then_some(&rest));
    }
    exit
}

/// The page that shows the watch in progress, if requested.
fn page(job: &Watch<'_>, input: &Input) -> Result<Option<Page>, String> {
    let checkers = job.check.setup.checker.name();
    let show = |at: PageAt| {
        Page::open(&Shown {
            listen: at.listen,
            directory: None,
            name: input.place().to_string(),
            checkers,
            details: String::new(),
        })
    };
    job.serve.map(show).transpose()
}

/// The checkpoint keeper for later watches, and the checkpoint of an earlier one.
#[derive(Default)]
struct Kept {
    keeper: Option<Keeper>,
    resume: Option<Resume>,
}

/// Opens the source, after the position of a checkpoint if there is one. Returns also the keeper of checkpoints.
fn open(job: &Watch<'_>) -> Result<(source::Opened, Kept), String> {
    let how = job.check.inputs[0].how();
    let (Some(checkpoints), Source::File(path)) = (&job.checkpoints, &job.source) else {
        return Ok((source::open(&job.source, how)?, Kept::default()));
    };
    if path.exists() && !path.is_file() {
        let why = "is not a regular file, so it cannot be read from a checkpoint on";
        return Err(format!("--checkpoint: {} {why}", path.display()));
    }
    let settings = checkpoint::settings(&job.check.setup, how, job.keep_going);
    let (keeper, resume) = Keeper::begin(checkpoints, path, settings)?;
    let mut opened = source::file(path, how, keeper.file());
    if let Some(resume) = &resume {
        opened.feed = opened.feed.resume(resume.reader()).map_err(|damaged| resume.damaged(damaged))?;
    }
    opened.feed.save_every(checkpoints.every);
    Ok((opened, Kept { keeper: Some(keeper), resume }))
}

/// The function that ends the history, for the thread that calls it first.
type End = Mutex<Box<dyn Fn() + Send>>;

fn end_history(end: &End) {
    (end.lock().unwrap_or_else(PoisonError::into_inner))();
}

/// The first signal ends the history, the second one a search that may still be in progress, the third one the process.
fn end_on_signals(end: impl Fn() + Send + 'static, cancel: Cancel, rest: Rest) -> std::io::Result<()> {
    let mut signals = 0;
    signals::on_each(move || {
        if rest.interrupt() {
            return;
        }
        signals += 1;
        match signals {
            1 => end(),
            2 => cancel.cancel(),
            _ => std::process::exit(130),
        }
    })
}

/// The state of a watch.
struct Watched<'w, 'c> {
    job: &'w Watch<'c>,
    input: &'w Input,
    results: &'w mut Results,
    status: Status,
    limit: Limit,
    end: Arc<End>,
    page: &'w mut Option<Page>,
    keeper: Option<Keeper>,
    printed: Printed,
    said: Said,
}

/// The warnings about the verdict that were already printed.
#[derive(Default)]
struct Said {
    /// The reason why the verdict will not be `true`.
    doubt: Option<String>,
    /// Whether ops may be missing.
    has_gap: bool,
}

/// The maximum number of violations that are reported while the history continues; further ones are counted.
const WRITTEN_MAX: u64 = 100;

impl<'w> Watched<'w, '_> {
    fn judge(&mut self, feed: &mut Feed, resume: Option<&Resume>, budget: &Budget) -> Result<Report, Stopped> {
        let mut run = self.start(budget)?;
        let mut settled = match self.resume(run.as_mut(), resume, budget)? {
            ControlFlow::Continue(settled) => settled,
            ControlFlow::Break(report) => return Ok(report),
        };
        let mut batch = Batch::new();
        let mut output = None;
        let (mut ended, mut is_whole) = (false, false);
        while !ended {
            let more = feed.read_batch(&mut batch);
            self.warn(feed);
            let flow = batch.each(&mut |op| {
                if settled {
                    return Ok(ControlFlow::Continue(()));
                }
                let flow = run.observe(op)?;
                if let Some(page) = self.page {
                    page.op(op);
                }
                match self.look(run.as_ref(), op, feed) {
                    Ok(true) => {}
                    Ok(false) => return Ok(ControlFlow::Break(())),
                    Err(exit) => {
                        output = Some(exit);
                        return Ok(ControlFlow::Break(()));
                    }
                }
                settled = flow.is_break() && self.reads_on(op);
                Ok(if settled { ControlFlow::Continue(()) } else { flow })
            })?;
            self.warn_of_doubt(run.as_ref());
            self.status.update(feed.ops(), feed.in_flight(), run.configurations());
            if let Some(page) = self.page {
                page.pass(feed.ops(), feed.in_flight().to_u64(), run.configurations());
            }
            // At a limit it does not matter whether the run would continue, but a checkpoint needs a position from
            // which reading can continue.
            if !flow.is_break()
                && let Some(why) = self.limit.reached(feed.ops()).cloned()
                && (more.is_err() || !self.awaits_checkpoint(feed))
            {
                self.keep(run.as_ref(), feed, true)?;
                let mut report = self.report_at_limit(run.as_ref(), &why, feed.ops());
                self.qualify(&mut report, feed, false);
                return Ok(report);
            }
            is_whole = flow.is_continue() && !more?;
            ended = flow.is_break() || is_whole;
            if !flow.is_break() {
                self.keep(run.as_ref(), feed, is_whole)?;
            }
        }
        if let Some(exit) = output {
            return Err(Stopped::Output(exit));
        }
        self.warn_of_the_end(feed, is_whole);
        let evidence = run.evidence().zip(feed.file());
        let stops_early = !is_whole && self.printed.is_violated;
        let mut report = if stops_early { run.finish_early(budget) } else { run.finish(budget) }?;
        if let Some((evidence, file)) = evidence
            && let Some(part) = again::report(&self.job.check.setup, file, self.input.how(), &evidence, budget)
        {
            report = part;
        }
        self.qualify(&mut report, feed, is_whole);
        Ok(report)
    }

    fn start(&self, budget: &Budget) -> Result<Box<dyn Run + 'w>, HistoryError> {
        let (place, job) = (self.input.place(), self.job);
        let setup = &job.check.setup;
        let mut run = setup.start_online(move |decision| diagnose::hint(&place, &format!("note: {decision}")))?;
        run.limit(budget);
        if self.job.keep_going {
            run.keep_going();
        }
        if let Some(growth) = run.growth() {
            self.status.suspended(|| diagnose::note(&growth));
        }
        Ok(run)
    }

    /// Continues from a checkpoint. Returns whether the verdict of the run can no longer change, or the report if a
    /// limit ends the watch.
    fn resume(
        &mut self,
        run: &mut dyn Run,
        resume: Option<&Resume>,
        budget: &Budget,
    ) -> Result<ControlFlow<Report, bool>, Stopped> {
        let Some(resume) = resume else {
            self.keeper.iter().for_each(|keeper| self.status.suspended(|| diagnose::note(&keeper.note())));
            return Ok(ControlFlow::Continue(false));
        };
        self.status.suspended(|| diagnose::note(&resume.note()));
        let (mut flow, mut ops, mut ended) = (ControlFlow::Continue(()), 0, None);
        if resume.ops_again() > 0 {
            let seen = resume.each_op(self.input.how(), |op| {
                flow = run.observe(op)?;
                ops += 1;
                ended = self.ended(ops, budget);
                Ok(if ended.is_some() { ControlFlow::Break(()) } else { flow })
            });
            // If the ops differ from those of the checkpoint, neither their results nor their errors count.
            resume.compare().map_err(Stopped::Checkpoint)?;
            seen?;
        }
        if let Some(why) = ended {
            let mut report = self.report_at_limit(run, &why, ops);
            report.notes.extend(self.printed.violated.clone());
            return Ok(ControlFlow::Break(report));
        }
        resume.restore(run).map_err(|damaged| Stopped::Checkpoint(resume.damaged(damaged)))?;
        Ok(ControlFlow::Continue(self.printed.is_violated && flow.is_break()))
    }

    /// The reason to end the watch, after this number of ops, while they are checked again.
    fn ended(&mut self, ops: u64, budget: &Budget) -> Option<(Spent, String)> {
        if budget.cancel.is_cancelled() {
            return Some((Spent::Cancelled, Spent::Cancelled.because().to_owned()));
        }
        self.limit.reached(ops).cloned()
    }

    fn report_at_limit(&self, run: &dyn Run, why: &(Spent, String), ops: u64) -> Report {
        limit::report(self.job.check.setup.checker.name(), run, self.printed.is_violated, why, ops)
    }

    /// Returns true if a checkpoint can be written only after one of the next batches. The history may not continue, so
    /// it is ended.
    fn awaits_checkpoint(&self, feed: &Feed) -> bool {
        let awaits = self.keeper.is_some() && matches!(feed.read_on(), ReadOn::Later);
        if awaits {
            feed.want_save();
            end_history(&self.end);
        }
        awaits
    }

    /// Writes a checkpoint, if the time has come or this `is_last`.
    fn keep(&mut self, run: &dyn Run, feed: &Feed, is_last: bool) -> Result<(), Stopped> {
        let Some(keeper) = &mut self.keeper else { return Ok(()) };
        let printed = self.printed.clone();
        let kept = if is_last { keeper.write(run, feed, printed) } else { keeper.keep(run, feed, printed) };
        let warning = kept.map_err(Stopped::Checkpoint)?;
        self.status.suspended(|| checkpoint::warn(warning.as_deref()));
        Ok(())
    }

    /// Warns at the end about omitted ops, and about names that no process had.
    fn warn_of_the_end(&mut self, feed: &Feed, is_whole: bool) {
        self.warn_of_gap(feed.has_gap(is_whole));
        if let Some(position) = feed.cut_off() {
            let line = position.line;
            self.status.suspended(|| {
                diagnose::warning(&format!("incomplete op at line {line} at the end of the history: omitted"));
            });
        }
        if is_whole {
            let unmatched = Unmatched::default();
            unmatched.add(Some(feed.unmatched()));
            self.status.suspended(|| unmatched.warnings().iter().for_each(|warning| diagnose::warning(warning)));
        }
    }

    /// Warns about refused messages and missing ops.
    fn warn(&mut self, feed: &mut Feed) {
        for warning in feed.warnings() {
            self.status.suspended(|| diagnose::warning(&warning));
        }
        self.warn_of_gap(feed.has_gap(false));
    }

    fn warn_of_gap(&mut self, has_gap: bool) {
        if has_gap && !std::mem::replace(&mut self.said.has_gap, true) {
            self.status.suspended(|| diagnose::warning(follow::gap::WARNING));
        }
    }

    /// Prints the reason why the verdict cannot become `true`, each time that the reason changes.
    fn warn_of_doubt(&mut self, run: &dyn Run) {
        let doubt = run.doubt();
        if let Some(doubt) = doubt.as_ref().filter(|doubt| self.said.doubt.as_ref() != Some(doubt)) {
            self.status.suspended(|| diagnose::warning(doubt));
            self.said.doubt = Some(doubt.clone());
        }
    }

    /// Returns true if the watch continues although no op after this one can change the verdict. Only a violation ends
    /// a watch early: what writes the history must not end because of an unknown verdict. With --keep-going, a
    /// violation does not end it either. Prints a warning if no violation and no doubt was reported before.
    fn reads_on(&self, op: &Op<'_>) -> bool {
        if !self.printed.is_violated && self.said.doubt.is_none() {
            let (place, text) = (op.place(), "the watch reads to the end of the history, and prints the verdict then");
            self.status.suspended(|| {
                diagnose::warning(&format!("no op after the one at {place} can change the verdict: {text}"));
            });
        }
        self.job.keep_going || !self.printed.is_violated
    }

    /// Stores and reports the result of an op. Returns whether to continue.
    fn look(&mut self, run: &dyn Run, op: &Op<'_>, feed: &Feed) -> Result<bool, Exit> {
        if !self.printed.is_violated && run.is_violated() {
            self.printed.is_violated = true;
            self.printed.violated = (feed.doubt() == Doubt::None).then(|| since(op));
            if let Some(page) = self.page.as_mut().filter(|_| self.printed.violated.is_some()) {
                page.violation(Some(op.index), run.violation().as_ref());
            }
            if !self.job.keep_going {
                return Ok(false);
            }
            self.printed.violations = run.violations();
            self.write_violation(run.violation(), self.printed.violated.clone(), feed)?;
        } else if self.job.keep_going
            && let Some(report) = self.further_violation(run)
        {
            if let Some(page) = self.page {
                page.violation(Some(op.index), Some(&report));
            }
            self.write_violation(Some(report), Some(since(op)), feed)?;
        }
        Ok(true)
    }

    /// The report on a further violation, if the last op proves one and not too many were reported.
    fn further_violation(&mut self, run: &dyn Run) -> Option<Report> {
        if run.violations() <= self.printed.violations || self.printed.violations >= WRITTEN_MAX {
            return None;
        }
        self.printed.violations = run.violations();
        run.last_violation()
    }

    /// Reports a violation that is certain, and since which op, while the history continues.
    fn write_violation(&mut self, report: Option<Report>, since: Option<String>, feed: &Feed) -> Result<(), Exit> {
        // A document is written once, at the end, when more is known.
        if !self.results.are_seen_at_once() {
            return Ok(());
        }
        let Some(mut report) = report else { return Ok(()) };
        self.qualify_since(&mut report, since, feed, feed.has_gap(false));
        let is_last = self.printed.violations >= WRITTEN_MAX;
        let end = if is_last { " Further violations are counted, but not reported." } else { "" };
        report.notes.push(format!("The history continues.{end}"));
        let Watched { results, input, status, .. } = self;
        status.suspended(|| results.write(input, Ok(report))).map(|_| ())
    }

    /// Adds to a report since when the first violation was certain, or why the verdict is not certain.
    fn qualify(&self, report: &mut Report, feed: &Feed, is_whole: bool) {
        clocks::doubt(report, &self.job.check.setup.checker.about(), feed.dropped_client_orders());
        let violated = self.printed.violated.clone().filter(|_| report.verdict == Verdict::Invalid);
        self.qualify_since(report, violated, feed, feed.has_gap(is_whole));
    }

    fn qualify_since(&self, report: &mut Report, since: Option<String>, feed: &Feed, has_gap: bool) {
        if feed.doubt() != Doubt::FromTheBeginning {
            report.notes.extend(since);
        }
        if let Some(refused) = feed.refused() {
            refused.qualify(report, self.printed.violated.is_some());
        }
        if has_gap {
            follow::gap::qualify(report, self.printed.violated.is_some());
        }
    }
}

fn since(op: &Op<'_>) -> String {
    format!("The violation was found at the op at {}.", op.place())
}
