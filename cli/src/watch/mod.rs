//! `histcheck watch`: the verdict while the history is still being written.
//!
//! One thread brings text ([`inbox`]), another reads and judges it; where the judge is slower, those who write wait. What is
//! certain is printed at the op that proves it.

mod follow;
mod inbox;
mod listen;
mod status;

use crate::args::Check;
use crate::check::{guarded, start};
use crate::exit::Exit;
use crate::results::Results;
use crate::{diagnose, signals};
use follow::Follow;
use history_core::{Batch, Budget, Cancel, HistoryError, Op, Reader, Report, Run};
use inbox::{ARRIVAL_BYTES, Arrival, Door, Inbox};
pub(crate) use listen::Address;
use listen::{Listener, Unlink};
use status::Status;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// A history to be watched.
pub(crate) struct Watch<'c> {
    /// How it is judged; its one input stands for the history where it has no other name.
    pub(crate) check: Check<'c>,
    pub(crate) source: Source,
    /// Whether to go on behind a violation.
    pub(crate) keep_going: bool,
}

/// Where the history comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Stdin,
    File(PathBuf),
    Listen {
        address: Address,
        /// Whether the history ends when the last writer is gone.
        until_closed: bool,
    },
}

/// Watches until the history ends or is violated.
pub(crate) fn run(job: &Watch<'_>) -> Exit {
    job.check.warnings.iter().for_each(|warning| diagnose::warning(warning));
    let (door, inbox) = inbox::inbox();
    let budget = Budget::default();
    let is_over = Arc::new(AtomicBool::new(false));
    let end = end_of(&job.source, &door, &is_over);
    if let Err(error) = end_on_signals(end, budget.cancel.clone()) {
        diagnose::warning(&format!(
            "signals cannot be caught, so one that ends this ends it without a report: {error}"
        ));
    }
    // As long as this lives, a socket's file stays.
    let _socket = match open(&job.source, door, is_over) {
        Ok(socket) => socket,
        Err(message) => {
            diagnose::error(&message);
            return Exit::FAILED;
        }
    };
    let input = &job.check.inputs[0];
    let mut results = Results::new(&job.check);
    let mut stopped = None;
    let judged = guarded(|| {
        let mut watched = Watched { job, results: &mut results, status: Status::begin(), violated: None };
        let judged = watched.judge(inbox, &budget);
        if let Err(Stopped::Output(exit)) = judged {
            stopped = Some(exit);
        }
        match judged {
            Ok(report) => Ok(Some(report)),
            Err(Stopped::Output(_)) => Ok(None),
            Err(Stopped::History(error)) => Err(error),
        }
    });
    match judged.transpose() {
        None => stopped.unwrap_or(Exit::FAILED),
        Some(judged) => {
            let exit = results.tell(input, judged).unwrap_or_else(|stopped| stopped);
            results.finish(exit)
        }
    }
}

/// What ends a history that does not end by itself.
fn end_of(source: &Source, door: &Door, is_over: &Arc<AtomicBool>) -> Box<dyn Fn() + Send> {
    let (door, is_over) = (door.clone(), Arc::clone(is_over));
    if matches!(source, Source::File(_)) {
        // Who follows the file has yet to look what is in it by now.
        return Box::new(move || is_over.store(true, Ordering::SeqCst));
    }
    // It waits until what came before was read; another signal must not.
    Box::new(move || {
        let door = door.clone();
        thread::spawn(move || door.send(Arrival::End));
    })
}

/// The first signal ends the history, the next one the search that then may still go on, the third one everything.
fn end_on_signals(end: Box<dyn Fn() + Send>, cancel: Cancel) -> std::io::Result<()> {
    let mut signals = 0;
    signals::on_each(move || {
        signals += 1;
        match signals {
            1 => end(),
            2 => cancel.cancel(),
            _ => std::process::exit(130),
        }
    })
}

/// Lets threads bring the text. What is returned is to be kept until all was read.
fn open(source: &Source, door: Door, is_over: Arc<AtomicBool>) -> Result<Option<Unlink>, String> {
    match source {
        Source::Stdin => {
            thread::spawn(move || bring(std::io::stdin(), &door));
        }
        Source::File(path) => {
            if path.is_dir() {
                return Err(format!("{} is a directory; say which file in it to watch", path.display()));
            }
            if !path.exists() {
                diagnose::note(&format!("{} does not exist yet; waiting for it", path.display()));
            }
            let follow = Follow::new(path.clone());
            thread::spawn(move || follow.run(&door, &is_over));
        }
        Source::Listen { address, until_closed } => {
            let (listener, until_closed) = (Listener::bind(address), *until_closed);
            let listener = listener.map_err(|error| format!("cannot listen on {address}: {error}"))?;
            // Whoever starts the writers needs to know, above all where any free port would do.
            diagnose::note(&format!("listening on {}", listener.name()));
            let unlink = listener.unlink();
            thread::spawn(move || listener.run(&door, until_closed));
            return Ok(unlink);
        }
    }
    Ok(None)
}

fn bring(mut source: impl Read, door: &Door) {
    loop {
        let mut text = vec![0; ARRIVAL_BYTES];
        let arrival = match source.read(&mut text) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => Arrival::Failed(error),
            Ok(0) => Arrival::End,
            Ok(count) => {
                text.truncate(count);
                Arrival::Text(text)
            }
        };
        let last = !matches!(arrival, Arrival::Text(_));
        if door.send(arrival).is_err() || last {
            return;
        }
    }
}

/// A history while it is being watched.
struct Watched<'w, 'c> {
    job: &'w Watch<'c>,
    results: &'w mut Results,
    status: Status,
    /// The op at which the violation became certain, as a sentence.
    violated: Option<String>,
}

/// Why there will be no report.
enum Stopped {
    History(HistoryError),
    /// Nobody can be told.
    Output(Exit),
}

impl From<HistoryError> for Stopped {
    fn from(error: HistoryError) -> Stopped {
        Stopped::History(error)
    }
}

impl Watched<'_, '_> {
    fn judge(&mut self, inbox: Inbox, budget: &Budget) -> Result<Report, Stopped> {
        let input = &self.job.check.inputs[0];
        let place = input.place();
        let mut run = start(&self.job.check, move |decision| diagnose::hint(&place, &format!("note: {decision}")))?;
        let mut reader = input.ruled(Reader::new(inbox).growing());
        let mut batch = Batch::new();
        let mut output = None;
        let (mut settled, mut ended) = (false, false);
        while !ended {
            let more = reader.read_batch(&mut batch);
            let flow = batch.each(&mut |op| {
                if settled {
                    return Ok(ControlFlow::Continue(()));
                }
                let flow = run.observe(op)?;
                if self.violated.is_none() && run.is_violated() {
                    self.violated = Some(since(op));
                    if !self.job.keep_going {
                        return Ok(ControlFlow::Break(()));
                    }
                    if let Err(exit) = self.tell(run.as_ref()) {
                        output = Some(exit);
                        return Ok(ControlFlow::Break(()));
                    }
                }
                // Whoever writes a history that is invalid anyway shall be able to go on with it.
                settled = flow.is_break() && self.job.keep_going && self.violated.is_some();
                Ok(if settled { ControlFlow::Continue(()) } else { flow })
            })?;
            self.status.update(reader.ops(), reader.in_flight(), run.possibilities());
            ended = flow.is_break() || !more?;
        }
        if let Some(exit) = output {
            return Err(Stopped::Output(exit));
        }
        if let Some(position) = reader.cut_off() {
            let line = position.line;
            self.status.aside(|| diagnose::warning(&format!("the end cuts the op at line {line}; it was left out")));
        }
        let mut report = run.finish(budget)?;
        report.notes.extend(self.violated.take());
        Ok(report)
    }

    /// Tells what is certain while the history goes on.
    fn tell(&mut self, run: &dyn Run) -> Result<(), Exit> {
        // A document is written once, and then knows more.
        if !self.results.are_seen_at_once() {
            return Ok(());
        }
        let Some(mut report) = run.violation() else { return Ok(()) };
        report.notes.extend(self.violated.clone());
        report.notes.push("The history goes on.".into());
        let Watched { results, job, status, .. } = self;
        status.aside(|| results.tell(&job.check.inputs[0], Ok(report))).map(|_| ())
    }
}

fn since(op: &Op<'_>) -> String {
    format!("This has been certain since the op at {}.", op.place())
}
