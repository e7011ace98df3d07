//! `histcheck watch`: the verdict while the history is still being written.
//!
//! Other threads bring text, or the ops of several writers ([`source`]); one reads and judges them. Where it is slower,
//! those who write wait. What is certain is printed at the op that proves it. In which order the ops of several writers
//! count, and why that raises no false alarm, is said in [`order`].

mod address;
mod again;
#[cfg(unix)]
mod datagram;
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
mod stream;
mod writer;

use crate::ids::wide;
use crate::job::Check;
use crate::judge::input::{Input, Unmatched};
use crate::judge::signals;
use crate::output::diagnose;
use crate::output::exit::Exit;
use crate::output::results::Results;
use crate::serve::page::{Page, Shown};
use crate::serve::rest::Rest;
pub(crate) use address::Address;
use feed::Feed;
use histcheck_front::setup::guarded;
use history_core::{Batch, Budget, Cancel, HistoryError, Op, Report, Run};
use limit::Limit;
use refused::Doubt;
pub(crate) use source::Source;
use status::Status;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// A history to be watched.
pub(crate) struct Watch<'c> {
    /// How it is judged; its one input represents the history where it has no other name.
    pub(crate) check: Check<'c>,
    pub(crate) source: Source,
    /// Whether to continue after a violation.
    pub(crate) keep_going: bool,
    /// Where a page shows it while it goes on.
    pub(crate) serve: Option<SocketAddr>,
}

/// Watches until the history ends or is violated.
pub(crate) fn run(job: &Watch<'_>) -> Exit {
    job.check.warnings.iter().for_each(|warning| diagnose::warning(warning));
    let given = &job.check.inputs[0];
    let source::Opened { mut feed, name, end, begin, unlink } = match source::open(&job.source, given.how()) {
        Ok(opened) => opened,
        Err(message) => {
            diagnose::error(&message);
            return Exit::FAILED;
        }
    };
    // As long as this lives, a socket's file stays.
    let _socket = unlink;
    let budget = job.check.limits.budget(Cancel::default());
    let end = Arc::new(Mutex::new(end));
    let wake = Arc::clone(&end);
    let limit = Limit::begin(job.check.limits, move || end_history(&wake));
    let rest = Rest::default();
    if let Err(error) = end_on_signals(move || end_history(&end), budget.cancel.clone(), rest.clone()) {
        diagnose::warning(&format!("cannot catch signals, so an interrupt ends histcheck without a report: {error}"));
    }
    begin();
    // Where any free port would do, it is known by the one that it got.
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
    let (mut stopped, shown) = (None, &mut page);
    let judged = guarded(|| {
        let status = Status::begin();
        let results = &mut results;
        let mut watched =
            Watched { job, input, results, status, limit, page: shown, is_violated: false, violated: None, written: 0 };
        let judged = watched.judge(&mut feed, &budget);
        if let Err(Stopped::Output(exit)) = judged {
            stopped = Some(exit);
        }
        match judged {
            Ok(report) => Ok(Some(report)),
            Err(Stopped::Output(_)) => Ok(None),
            Err(Stopped::History(error)) => Err(error),
        }
    });
    let judged = judged.transpose();
    if let (Some(page), Some(judged)) = (&mut page, &judged) {
        page.end(judged.as_ref().map_err(|error| format!("{error}.")));
    }
    let exit = match judged {
        None => stopped.unwrap_or(Exit::FAILED),
        Some(judged) => {
            let exit = results.write(input, judged).unwrap_or_else(|stopped| stopped);
            results.finish(exit)
        }
    };
    if let Some(page) = page {
        page.close(Some(&rest));
    }
    exit
}

/// The page that shows it while it goes on, if one was asked for.
fn page(job: &Watch<'_>, input: &Input) -> Result<Option<Page>, String> {
    let checkers = job.check.setup.checker.name();
    let show = |listen| {
        Page::open(&Shown {
            listen,
            directory: None,
            name: input.place().to_string(),
            checkers,
            details: String::new(),
        })
    };
    job.serve.map(show).transpose()
}

/// What ends the history, for whoever comes first.
type End = Mutex<Box<dyn Fn() + Send>>;

fn end_history(end: &End) {
    (end.lock().unwrap_or_else(PoisonError::into_inner))();
}

/// The first signal ends the history, the next one the search that then may still continue, the third one everything.
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

/// A history while it is being watched.
struct Watched<'w, 'c> {
    job: &'w Watch<'c>,
    input: &'w Input,
    results: &'w mut Results,
    status: Status,
    limit: Limit,
    page: &'w mut Option<Page>,
    is_violated: bool,
    /// The op at which the violation became certain, as a sentence; absent where doubt came before it.
    violated: Option<String>,
    /// Violations that were reported.
    written: u64,
}

/// Violations that are reported while the history continues; further ones are counted.
const WRITTEN_MAX: u64 = 100;

/// Why there will be no report.
enum Stopped {
    History(HistoryError),
    /// The receiver is gone.
    Output(Exit),
}

impl From<HistoryError> for Stopped {
    fn from(error: HistoryError) -> Stopped {
        Stopped::History(error)
    }
}

impl Watched<'_, '_> {
    fn judge(&mut self, feed: &mut Feed, budget: &Budget) -> Result<Report, Stopped> {
        let place = self.input.place();
        let mut run =
            self.job.check.setup.start_online(move |decision| diagnose::hint(&place, &format!("note: {decision}")))?;
        if self.job.keep_going {
            run.keep_going();
        }
        if let Some(growth) = run.growth() {
            self.status.suspended(|| diagnose::note(&growth));
        }
        let mut batch = Batch::new();
        let mut output = None;
        let (mut settled, mut ended, mut is_whole) = (false, false, false);
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
                // Whoever writes a history that is invalid anyway shall be able to continue with it.
                settled = flow.is_break() && self.job.keep_going && self.is_violated;
                Ok(if settled { ControlFlow::Continue(()) } else { flow })
            })?;
            self.status.update(feed.ops(), feed.in_flight(), run.configurations());
            if let Some(page) = self.page {
                page.pass(feed.ops(), wide(feed.in_flight()), run.configurations());
            }
            // At a limit it does not matter whether there would be more.
            if !flow.is_break()
                && let Some(why) = self.limit.reached(feed.ops())
            {
                let mut report = limit::report(self.job.check.setup.checker.name(), run.as_ref(), &why, feed.ops());
                self.qualify(&mut report, feed);
                return Ok(report);
            }
            is_whole = flow.is_continue() && !more?;
            ended = flow.is_break() || is_whole;
        }
        if let Some(exit) = output {
            return Err(Stopped::Output(exit));
        }
        if let Some(position) = feed.cut_off() {
            let line = position.line;
            self.status.suspended(|| {
                diagnose::warning(&format!("the history ends within the op at line {line}; that op was ignored"));
            });
        }
        if is_whole {
            let unmatched = Unmatched::default();
            unmatched.add(Some(&feed.unmatched()));
            self.status.suspended(|| unmatched.warnings().iter().for_each(|warning| diagnose::warning(warning)));
        }
        let evidence = run.evidence();
        let mut report = run.finish(budget)?;
        if let (Source::File(path), Some(evidence)) = (&self.job.source, evidence)
            && let Some(part) = again::report(&self.job.check.setup, path, self.input.how(), &evidence, budget)
        {
            report = part;
        }
        self.qualify(&mut report, feed);
        Ok(report)
    }

    /// Says what was refused.
    fn warn(&self, feed: &mut Feed) {
        for refusal in feed.news() {
            self.status.suspended(|| diagnose::warning(&refusal.sentence()));
        }
    }

    /// Notes, and reports, what an op proved. Whether to continue.
    fn look(&mut self, run: &dyn Run, op: &Op<'_>, feed: &Feed) -> Result<bool, Exit> {
        if !self.is_violated && run.is_violated() {
            self.is_violated = true;
            self.violated = (doubt(feed) == Doubt::None).then(|| since(op));
            if let Some(page) = self.page.as_mut().filter(|_| self.violated.is_some()) {
                page.violation(Some(op.index), run.violation().as_ref());
            }
            if !self.job.keep_going {
                return Ok(false);
            }
            self.written = run.violations();
            self.write_violation(run.violation(), self.violated.clone(), feed)?;
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

    /// The report on a further violation, if the last op proved one and not too many were reported.
    fn further_violation(&mut self, run: &dyn Run) -> Option<Report> {
        if run.violations() <= self.written || self.written >= WRITTEN_MAX {
            return None;
        }
        self.written = run.violations();
        run.last_violation()
    }

    /// Reports what is certain, and since when, while the history continues.
    fn write_violation(&mut self, report: Option<Report>, since: Option<String>, feed: &Feed) -> Result<(), Exit> {
        // A document is written once, and then knows more.
        if !self.results.are_seen_at_once() {
            return Ok(());
        }
        let Some(mut report) = report else { return Ok(()) };
        self.qualify_since(&mut report, since, feed);
        let is_last = self.written >= WRITTEN_MAX;
        let end = if is_last { " Further violations are counted, and not reported." } else { "" };
        report.notes.push(format!("The history continues.{end}"));
        let Watched { results, input, status, .. } = self;
        status.suspended(|| results.write(input, Ok(report))).map(|_| ())
    }

    /// Says since when the first violation was certain, or why a verdict is not.
    fn qualify(&self, report: &mut Report, feed: &Feed) {
        self.qualify_since(report, self.violated.clone(), feed);
    }

    fn qualify_since(&self, report: &mut Report, since: Option<String>, feed: &Feed) {
        if doubt(feed) != Doubt::FromTheBeginning {
            report.notes.extend(since);
        }
        if let Some(refused) = feed.refused() {
            refused.qualify(report, self.violated.is_some());
        }
    }
}

/// Whether what was recorded shows what happened.
fn doubt(feed: &Feed) -> Doubt {
    feed.refused().map_or(Doubt::None, refused::Refused::doubt)
}

fn since(op: &Op<'_>) -> String {
    format!("The violation was certain at the op at {}.", op.place())
}
