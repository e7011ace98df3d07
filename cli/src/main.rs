//! `histcheck`: says which consistency guarantees a recorded history obeys, or proves which it broke.

mod args;
mod artifacts;
mod compat;
mod diagnose;
mod exit;
mod r#gen;
mod gen_args;
mod gen_objects;
mod grammar;
mod help;
mod input;
mod output;
#[cfg(feature = "png")]
mod png;
mod registry;
mod results;
mod tables;
mod validate;
mod watch;

use args::{Check, Command, WhetherKeyed};
use exit::Exit;
use history_core::{Budget, Decision, ErrorKind, HistoryError, Keyed, KeyedAuto, OptionError, Report, Run};
use input::Input;
use results::Results;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

fn main() -> ExitCode {
    // Some have other checkers for watching, with options of their own.
    let watches = std::env::args_os().nth(1).is_some_and(|word| word == "watch");
    let checkers = if watches { registry::watchers() } else { registry::checkers() };
    let done = match args::parse(std::env::args_os(), &checkers) {
        Err(said) => return exit::usage(&said),
        Ok(Command::Check(job)) => check(&job),
        Ok(Command::Watch(job)) => watch::run(&job),
        Ok(Command::Validate(job)) => validate::run(&job),
        Ok(Command::Gen(job)) => r#gen::run(&job),
        Ok(Command::Models(format)) => tables::models(&checkers, format),
        Ok(Command::Anomalies(format)) => tables::anomalies(format),
        Ok(Command::ConsistencyModels(format)) => tables::consistency_models(format),
    };
    done.code()
}

/// Judges histories, one after another.
fn check(job: &Check<'_>) -> Exit {
    job.warnings.iter().for_each(|warning| diagnose::warning(warning));
    let mut results = Results::new(job);
    let mut exit = Exit::OK;
    for input in &job.inputs {
        match results.tell(input, judge(job, input)) {
            Ok(told) => exit = exit.and(told),
            Err(stopped) => return exit.and(stopped),
        }
    }
    exit
}

/// Feeds one history to the checker.
fn judge(job: &Check<'_>, input: &Input) -> Result<Report, HistoryError> {
    let run = start(job, input)?;
    let check = || history_core::check_ahead(run, &mut input.open()?, &Budget::default());
    guarded(check)
}

/// Does what may fail because of a bug of ours, which in one history must not cost the others their verdicts.
fn guarded<T>(what: impl FnOnce() -> Result<T, HistoryError>) -> Result<T, HistoryError> {
    // The panic itself was told on stderr.
    catch_unwind(AssertUnwindSafe(what)).unwrap_or_else(|_| {
        let message = "histcheck itself failed here; please report it, with the history if you can";
        Err(HistoryError::new(ErrorKind::Unexpected, message))
    })
}

/// Begins a history: as a whole, or by key.
fn start<'j>(job: &'j Check<'_>, input: &Input) -> Result<Box<dyn Run + 'j>, HistoryError> {
    let begun = || -> Result<Box<dyn Run + 'j>, OptionError> {
        Ok(match job.keyed {
            WhetherKeyed::No => job.checker.start(&job.options)?,
            WhetherKeyed::Yes => Box::new(Keyed::start(&*job.checker, &job.options)?),
            WhetherKeyed::Auto => {
                let place = input.place().into_owned();
                let tell = move |decision: &Decision| diagnose::hint(&place, &format!("note: {decision}"));
                Box::new(KeyedAuto::start(&*job.checker, &job.options, tell)?)
            }
        })
    };
    // It started before, with the same options, when the command line was read.
    begun().map_err(|error| HistoryError::new(ErrorKind::Unexpected, error.to_string()))
}
