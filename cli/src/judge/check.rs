//! Checks histories: one after another or several in parallel, in this process or each in a separate one, until all are
//! reported or an interrupt arrives.
//!
//! Results are printed in the given order, whichever history ends first, so `--jobs` changes no byte of the output.
//! Memory is used by the histories being checked, one per job, and by at most as many reports that wait to be printed.

use crate::job::Check;
use crate::judge::apart::{self, Judged};
use crate::judge::child_job;
use crate::judge::in_order::in_order;
use crate::judge::input::{Input, Unmatched};
use crate::judge::progress::Progress;
use crate::judge::signals;
use crate::judge::workers;
use crate::output::diagnose;
use crate::output::exit::Exit;
use crate::output::results::Results;
use histcheck_front::setup::Checked;
use histcheck_front::source::Reading;
use history_core::{Cancel, ErrorKind, HistoryError, Report};
use std::io::{self, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Checks all histories.
pub(crate) fn run(job: &Check<'_>) -> Exit {
    let (elsewhere, cancel) = (job.limits.are_any() && job.child.is_none(), Cancel::default());
    if job.child.is_none() {
        job.warnings.iter().for_each(|warning| diagnose::warning(warning));
    }
    // Progress would be drawn over the text that a user types.
    let typed = job.inputs.iter().any(Input::is_stdin) && io::stdin().is_terminal();
    let progress = Progress::begin(job.inputs.len(), job.child.is_none() && !typed && !job.quiet);
    let notes = end_on_signals(job, &cancel, &progress);
    let unmatched = Unmatched::default();
    let mut results = match Results::new(job) {
        Ok(results) => results,
        Err(message) => {
            diagnose::error(&message);
            return Exit::FAILED;
        }
    };
    let folders = if elsewhere { results.folders(&job.inputs) } else { Vec::new() };
    let judge = |at: usize| {
        let input = &job.inputs[at];
        if cancel.is_cancelled() {
            return Judged::NotBegun(not_begun());
        }
        if let Some(trouble) = input.open_error() {
            return Judged::Here(Vec::new(), Err(trouble.clone()));
        }
        if elsewhere {
            let _shown = progress.history(at, input, None);
            return apart::judge(job, input, folders.get(at).map(String::as_str), &unmatched, &cancel);
        }
        let checked = check_here(job, at, &progress, &cancel);
        unmatched.add(checked.unmatched.as_deref());
        Judged::Here(decisions(&checked), checked.outcome)
    };
    let terminal = progress.terminal();
    let mut exit = Exit::OK;
    let written = |at: usize, judged: Judged| match terminal.write(|| write(&mut results, &job.inputs[at], judged)) {
        Ok(one) => {
            exit = exit.and(one);
            ControlFlow::Continue(())
        }
        Err(stopped) => {
            exit = exit.and(stopped);
            ControlFlow::Break(())
        }
    };
    // Child processes have their own limits on address space.
    let jobs = if elsewhere { job.jobs } else { workers::that_fit(job.jobs) };
    if jobs < job.jobs.min(job.inputs.len()) {
        let note = format!(
            "address space is limited (ulimit -v): checking {jobs} histories in parallel instead of {}",
            job.jobs
        );
        terminal.write(|| diagnose::note(&note));
    }
    let _ = in_order(jobs, job.inputs.len(), judge, written, || cancel.cancel());
    // The note on an interrupt is printed completely, even if all checks end soon after it.
    let note = notes.lock().unwrap_or_else(PoisonError::into_inner).take();
    note.map(JoinHandle::join);
    if job.child.is_some() {
        child_job::pass_unmatched(&unmatched);
    } else {
        terminal.write(|| unmatched.warnings().iter().for_each(|warning| diagnose::warning(warning)));
    }
    terminal.write(|| results.finish(exit))
}

/// Checks the first history only, and prints the notes in addition to the verdict.
pub(crate) fn check_alone(job: &Check<'_>) -> Result<Report, HistoryError> {
    let progress = Progress::begin(1, !job.inputs[0].is_stdin());
    let checked = check_here(job, 0, &progress, &Cancel::default());
    drop(progress);
    for note in decisions(&checked) {
        diagnose::hint(&job.inputs[0].place(), &note);
    }
    let unmatched = Unmatched::default();
    unmatched.add(checked.unmatched.as_deref());
    unmatched.warnings().iter().for_each(|warning| diagnose::warning(warning));
    checked.outcome
}

/// The thread that prints the note on an interrupt.
type NoteThread = Arc<Mutex<Option<JoinHandle<()>>>>;

/// The first signal ends the checks in progress, the second one the process. Returns the thread that prints a note
/// about the signal, once there is one.
fn end_on_signals(job: &Check<'_>, cancel: &Cancel, progress: &Progress) -> NoteThread {
    let (cancel, notes) = (cancel.clone(), NoteThread::default());
    let caught = if let Some(child) = &job.child {
        child.end_with_parent();
        // Repeated signals need no handling: the terminal sends each signal to both processes, and the parent ends this
        // process when necessary.
        signals::on_each(move || cancel.cancel())
    } else {
        let (terminal, thread_of_note) = (progress.terminal(), Arc::clone(&notes));
        signals::on_each(move || {
            if cancel.is_cancelled() {
                std::process::exit(130);
            }
            // Printing the note may have to wait, but the handler must be ready for the next signal.
            let terminal = terminal.clone();
            let note = "interrupted: printing the verdicts known so far; a second interrupt exits at once";
            let thread = std::thread::Builder::new().spawn(move || terminal.write(|| diagnose::note(note)));
            *thread_of_note.lock().unwrap_or_else(PoisonError::into_inner) = thread.ok();
            cancel.cancel();
        })
    };
    if let Err(error) = caught {
        diagnose::warning(&format!("cannot catch signals, so an interrupt ends histcheck without a report: {error}"));
    }
    notes
}

fn not_begun() -> HistoryError {
    HistoryError::new(ErrorKind::Limit, "not checked: interrupted before it was started")
}

fn write(results: &mut Results, input: &Input, judged: Judged) -> Result<Exit, Exit> {
    match judged {
        Judged::Here(said, judged) => {
            for said in &said {
                diagnose::hint(&input.place(), said);
            }
            results.write(input, judged)
        }
        Judged::NotBegun(why) => results.write_not_begun(input, &why),
        Judged::ByChild { stdout, stderr, exit } => {
            let exit = results.pass_on(input, &stdout, exit);
            print(&stderr);
            exit
        }
        Judged::GivenUp { stderr, judged } => {
            print(&stderr);
            results.write(input, judged)
        }
    }
}

/// Prints the output of a child process.
fn print(stderr: &[u8]) {
    // If standard error is closed, the text is lost.
    let _ = io::stderr().write_all(stderr);
}

/// Checks one history in this process.
fn check_here(job: &Check<'_>, at: usize, progress: &Progress, cancel: &Cancel) -> Checked {
    let input = &job.inputs[at];
    let reading = Arc::new(Reading::new(cancel.clone()));
    let shown = progress.history(at, input, Some(&reading));
    let figures = job.directory.is_some() || job.pages.is_some();
    let mut budget = job.limits.budget(cancel.clone()).with_figures(figures);
    budget.activity = shown.activity();
    let threads = workers::that_read(if job.child.is_some() { job.jobs } else { job.jobs.min(job.inputs.len()) });
    let open = |reading: &Arc<Reading>| Ok(input.open_followed(reading)?.with_threads(threads));
    let mut checked = job.setup.check(open, &reading, &budget, &shown);
    if let Some(logs) = &job.node_logs {
        checked.outcome = checked.outcome.and_then(|report| logs.beside(input, report));
    }
    checked
}

/// Notes about decisions that the first ops determined.
fn decisions(checked: &Checked) -> Vec<String> {
    checked.decisions.iter().map(|decision| format!("note: {decision}")).collect()
}
