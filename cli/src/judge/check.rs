//! Judging histories: one after another or several at one time, here or each in a process of its own, until all are told of or an
//! interrupt comes.
//!
//! Results are told in the order given, whatever ends first, so `--jobs` changes no byte of what is written. What takes memory is
//! the histories that are being judged, as many as there are jobs, and as many reports again that wait for their turn.

use crate::job::{Check, WhetherKeyed};
use crate::judge::apart::{self, Judged};
use crate::judge::in_order::in_order;
use crate::judge::input::Input;
use crate::judge::progress::Progress;
use crate::judge::signals;
use crate::judge::source::Reading;
use crate::tell::diagnose;
use crate::tell::exit::Exit;
use crate::tell::results::Results;
use history_core::{
    Cancel, Decision, ErrorKind, HistoryError, Keyed, KeyedAuto, OptionError, Report, Run, Spent, Verdict,
};
use std::io::{self, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Batches that are still looked at when an interrupt comes: those that were read by then.
const BATCHES_AFTER_INTERRUPT: usize = 8;

/// Judges all histories.
pub(crate) fn run(job: &Check<'_>) -> Exit {
    let (elsewhere, cancel) = (job.limits.are_any() && job.only.is_none(), Cancel::default());
    if job.only.is_none() {
        job.warnings.iter().for_each(|warning| diagnose::warning(warning));
    }
    // Progress would be drawn over what somebody types.
    let typed = job.inputs.iter().any(Input::is_stdin) && io::stdin().is_terminal();
    let progress = Progress::begin(job.inputs.len(), job.only.is_none() && !typed);
    let notes = end_on_signals(job, &cancel, &progress);
    let mut results = Results::new(job);
    let folders = if elsewhere { results.folders(&job.inputs) } else { Vec::new() };
    let judge = |at: usize| {
        let input = &job.inputs[at];
        if cancel.is_cancelled() {
            return Judged::NotBegun(not_begun());
        }
        if let Some(trouble) = input.trouble() {
            return Judged::Here(Vec::new(), Err(trouble.clone()));
        }
        if elsewhere {
            let _shown = progress.history(at, input, None);
            return apart::judge(job, input, folders.get(at).map(String::as_str), &cancel);
        }
        let (said, judged) = judge_here(job, at, &progress, &cancel);
        Judged::Here(said, judged)
    };
    let aside = progress.aside();
    let mut exit = Exit::OK;
    let tell = |at: usize, judged: Judged| match aside.write(|| tell(&mut results, &job.inputs[at], judged)) {
        Ok(told) => {
            exit = exit.and(told);
            ControlFlow::Continue(())
        }
        Err(stopped) => {
            exit = exit.and(stopped);
            ControlFlow::Break(())
        }
    };
    let _ = in_order(job.jobs, job.inputs.len(), judge, tell, || cancel.cancel());
    // What is said of an interrupt is said, however soon all ended then.
    let note = notes.lock().unwrap_or_else(PoisonError::into_inner).take();
    note.map(JoinHandle::join);
    for name in job.inputs.first().map(Input::unmatched).into_iter().flatten() {
        let warning =
            format!("--clients or --not-clients names {name}, and no op of any history is by a process of that name");
        aside.write(|| diagnose::warning(&warning));
    }
    aside.write(|| results.finish(exit))
}

/// Judges the first history only, and tells nobody but of what is said beside the verdict.
pub(crate) fn judge_alone(job: &Check<'_>) -> Result<Report, HistoryError> {
    let progress = Progress::begin(1, !job.inputs[0].is_stdin());
    let (said, judged) = judge_here(job, 0, &progress, &Cancel::default());
    drop(progress);
    for said in &said {
        diagnose::hint(&job.inputs[0].place(), said);
    }
    judged
}

/// Who tells the user of an interrupt.
type Telling = Arc<Mutex<Option<JoinHandle<()>>>>;

/// The first signal ends what is under way, the second one everything. Returns who tells the user so, once anybody does.
fn end_on_signals(job: &Check<'_>, cancel: &Cancel, progress: &Progress) -> Telling {
    let (cancel, notes) = (cancel.clone(), Telling::default());
    let caught = if let Some(only) = &job.only {
        only.end_with_parent();
        // How often does not matter: the terminal tells this process too, and the other one ends it when it must.
        signals::on_each(move || cancel.cancel())
    } else {
        let (aside, telling) = (progress.aside(), Arc::clone(&notes));
        signals::on_each(move || {
            if cancel.is_cancelled() {
                std::process::exit(130);
            }
            // Who writes may have to wait; the next signal must not.
            let aside = aside.clone();
            let note = "interrupted; what is known by now is told. Another interrupt ends this at once";
            let thread = std::thread::Builder::new().spawn(move || aside.write(|| diagnose::note(note)));
            *telling.lock().unwrap_or_else(PoisonError::into_inner) = thread.ok();
            cancel.cancel();
        })
    };
    if let Err(error) = caught {
        diagnose::warning(&format!(
            "signals cannot be caught, so one that ends this ends it without a report: {error}"
        ));
    }
    notes
}

fn not_begun() -> HistoryError {
    HistoryError::new(ErrorKind::Limit, "this was not judged: the interrupt came before it was begun")
}

fn tell(results: &mut Results, input: &Input, judged: Judged) -> Result<Exit, Exit> {
    match judged {
        Judged::Here(said, judged) => {
            for said in &said {
                diagnose::hint(&input.place(), said);
            }
            results.tell(input, judged)
        }
        Judged::NotBegun(why) => results.tell_not_begun(input, &why),
        Judged::Elsewhere { stdout, stderr, exit } => {
            let told = results.pass_on(input, &stdout, exit);
            say(&stderr);
            told
        }
        Judged::GivenUp { stderr, judged } => {
            say(&stderr);
            results.tell(input, judged)
        }
    }
}

/// Prints what another process would have printed here.
fn say(stderr: &[u8]) {
    // Where standard error is closed nobody listens.
    let _ = io::stderr().write_all(stderr);
}

/// Feeds one history to the checker. What there is to say beside the verdict, and the verdict.
fn judge_here(
    job: &Check<'_>,
    at: usize,
    progress: &Progress,
    cancel: &Cancel,
) -> (Vec<String>, Result<Report, HistoryError>) {
    let input = &job.inputs[at];
    let reading = Arc::new(Reading::new(cancel.clone()));
    let shown = progress.history(at, input, Some(&reading));
    let said = Arc::new(Mutex::new(Vec::new()));
    let figures = job.directory.is_some();
    let mut budget = job.limits.budget(cancel.clone()).with_figures(figures);
    budget.activity = shown.activity();
    let judged = guarded(|| {
        let note = Arc::clone(&said);
        let mut run = start(job, move |decision| {
            note.lock().unwrap_or_else(PoisonError::into_inner).push(format!("note: {decision}"));
        })?;
        let (mut spent, mut ops, mut late) = (None, 0, 0);
        let mut ended = false;
        let read = input.open_followed(&reading).and_then(|mut reader| {
            let read = reader.for_each_batch_ahead(|batch| {
                spent = budget.check(0, 0).err();
                late += usize::from(spent == Some(Spent::Cancelled));
                if spent.is_some() && (spent != Some(Spent::Cancelled) || late > BATCHES_AFTER_INTERRUPT) {
                    reading.leave();
                    ended = true;
                    return Ok(ControlFlow::Break(()));
                }
                spent = None;
                ops += batch.len();
                shown.set_ops(ops);
                let flow = run.observe_batch(batch)?;
                if flow.is_break() {
                    reading.leave();
                    ended = true;
                }
                Ok(flow)
            });
            input.note_unmatched((read.is_ok() && !ended).then_some(&reader));
            read
        });
        match read {
            // The reader ran into the interrupt, which is no error of the history.
            Err(error) if error.kind == ErrorKind::Io && reading.was_cut() => spent = Some(Spent::Cancelled),
            read => read?,
        }
        if let Some(spent) = spent {
            return Ok(apart::cut_short(run.as_ref(), job.checker.name(), spent, ops));
        }
        shown.set_read();
        let mut report = run.finish(&budget)?;
        if cancel.is_cancelled() && report.verdict == Verdict::Unknown {
            report.notes.push(format!("Interrupted after all {ops} ops were read, while it was being judged."));
        }
        Ok(report)
    });
    let said = std::mem::take(&mut *said.lock().unwrap_or_else(PoisonError::into_inner));
    (said, judged)
}

/// Does what may fail because of a bug of ours, which in one history must not cost the others their verdicts.
pub(crate) fn guarded<T>(what: impl FnOnce() -> Result<T, HistoryError>) -> Result<T, HistoryError> {
    // The panic itself was told on stderr.
    catch_unwind(AssertUnwindSafe(what)).unwrap_or_else(|_| {
        let message = "histcheck itself failed here; please report it, with the history if you can";
        Err(HistoryError::new(ErrorKind::Unexpected, message))
    })
}

/// Begins a history: as a whole, or by key. With `--keyed=auto` that is decided, and told, once ops were seen.
pub(crate) fn start<'j>(
    job: &'j Check<'_>,
    tell: impl FnMut(&Decision) + Send + 'j,
) -> Result<Box<dyn Run + 'j>, HistoryError> {
    let begun = || -> Result<Box<dyn Run + 'j>, OptionError> {
        Ok(match job.keyed {
            WhetherKeyed::No => job.checker.start(&job.options)?,
            WhetherKeyed::Yes => Box::new(Keyed::start(&*job.checker, &job.options)?),
            WhetherKeyed::Auto => Box::new(KeyedAuto::start(&*job.checker, &job.options, tell)?),
        })
    };
    // It started before, with the same options, when the command line was read.
    begun().map_err(|error| HistoryError::new(ErrorKind::Unexpected, error.to_string()))
}
