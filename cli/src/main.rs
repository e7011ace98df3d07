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
mod limits;
mod minimize;
mod new_plugin;
mod output;
mod plugins;
#[cfg(feature = "png")]
mod png;
mod registry;
mod report;
mod results;
mod tables;
mod validate;
mod watch;

use args::{Check, Command, WhetherKeyed};
use exit::Exit;
use history_core::{Decision, ErrorKind, HistoryError, Keyed, KeyedAuto, OptionError, Report, Run};
use input::Input;
use registry::Registry;
use results::Results;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

fn main() -> ExitCode {
    // Some have other checkers for watching, with options of their own.
    let watches = std::env::args_os().nth(1).is_some_and(|word| word == "watch");
    let mut checkers = if watches { Registry::watchers() } else { Registry::built_in() };
    let loaded = plugins::load(&mut checkers, std::env::args_os());
    let done = match args::parse(std::env::args_os(), &checkers) {
        // What is wrong with the command line may be that a plugin is missing.
        Err(said) if loaded == Exit::FAILED && said.use_stderr() => {
            exit::usage(&said);
            Exit::FAILED
        }
        Err(said) => return exit::usage(&said),
        Ok(Command::Check(job)) if job.limits.are_any() && job.only.is_none() => limits::check(&job),
        Ok(Command::Check(job)) => check(&job),
        Ok(Command::Watch(job)) => watch::run(&job),
        Ok(Command::Minimize(job)) => minimize::run(&job),
        Ok(Command::Validate(job)) => validate::run(&job),
        Ok(Command::Gen(job)) => r#gen::run(&job),
        Ok(Command::NewPlugin(name)) => new_plugin::run(&name),
        Ok(Command::Models(format)) => tables::models(&checkers, format),
        #[cfg(feature = "elle")]
        Ok(Command::Anomalies(format)) => tables::anomalies(format),
        #[cfg(feature = "elle")]
        Ok(Command::ConsistencyModels(format)) => tables::consistency_models(format),
    };
    loaded.and(done).code()
}

/// Judges histories, one after another.
fn check(job: &Check<'_>) -> Exit {
    let mut results = Results::new(job);
    let mut exit = Exit::OK;
    if job.only.is_none() {
        job.warnings.iter().for_each(|warning| diagnose::warning(warning));
    }
    for (at, input) in job.inputs.iter().enumerate() {
        if job.only.is_some_and(|only| only != at) {
            results.pass_over(input);
            continue;
        }
        match results.tell(input, judge(job, input)) {
            Ok(told) => exit = exit.and(told),
            Err(stopped) => return exit.and(stopped),
        }
    }
    exit
}

/// Feeds one history to the checker.
fn judge(job: &Check<'_>, input: &Input) -> Result<Report, HistoryError> {
    let mut run = start(job, input)?;
    let budget = job.limits.budget();
    guarded(|| {
        let (mut spent, mut ops) = (None, 0);
        input.open()?.for_each_batch_ahead(|batch| {
            spent = budget.check(0, 0).err();
            if spent.is_some() {
                return Ok(ControlFlow::Break(()));
            }
            ops += batch.len();
            run.observe_batch(batch)
        })?;
        match spent {
            Some(spent) => Ok(limits::cut_short(run.as_ref(), job.checker.name(), spent, ops)),
            None => run.finish(&budget),
        }
    })
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
