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
mod tables;
mod validate;

use args::{Check, Command, OutputFormat, WhetherKeyed};
use artifacts::Directory;
use exit::Exit;
use history_core::{Budget, Decision, ErrorKind, HistoryError, Keyed, KeyedAuto, OptionError, Report, Run, Verdict};
use input::Input;
use output::Output;
use std::io::{self, IsTerminal as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

fn main() -> ExitCode {
    let checkers = registry::checkers();
    let done = match args::parse(std::env::args_os(), &checkers) {
        Err(said) => return exit::usage(&said),
        Ok(Command::Check(job)) => check(&job),
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
    let mut output = Output::new(job.output, job.verbose);
    let mut directory = job.directory.as_ref().map(|path| Directory::new(path.clone(), job.inputs.len(), job.plots));
    let terse = job.output == OutputFormat::Text && !job.verbose;
    // What was found shows in the verdict; why nothing was does not.
    let wanted = |report: &Report| terse && (report.verdict != Verdict::Invalid || io::stderr().is_terminal());
    let mut exit = Exit::OK;
    for input in &job.inputs {
        let mut judged = judge(job, input);
        // They belong into the directory, not into the report that is printed.
        let artifacts = judged.as_mut().map(Report::take_artifacts).unwrap_or_default();
        exit = exit.and(judged.as_ref().map_or(Exit::FAILED, |report| Exit::of(report.verdict)));
        if let Err(error) = output.write(input, &judged) {
            return exit.and(exit::stopped(&error));
        }
        match &judged {
            Ok(report) => output::hints(report, &wanted).iter().for_each(|hint| diagnose::hint(&input.place(), hint)),
            Err(error) => diagnose::history(&input.place(), error),
        }
        if let (Some(directory), Ok(report)) = (&mut directory, &judged)
            && let Err(message) = directory.write(input, report, &artifacts)
        {
            diagnose::error(&message);
            exit = exit.and(Exit::FAILED);
        }
    }
    exit
}

/// Feeds one history to the checker.
fn judge(job: &Check<'_>, input: &Input) -> Result<Report, HistoryError> {
    // It started before, with the same options, when the command line was read.
    let run = start(job, input).map_err(|error| HistoryError::new(ErrorKind::Unexpected, error.to_string()))?;
    let check = || history_core::check_ahead(run, &mut input.open()?, &Budget::default());
    // A bug of ours in one history must not cost the others their verdicts. The panic itself was told on stderr.
    catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|_| {
        let message = "histcheck itself failed here; please report it, with the history if you can";
        Err(HistoryError::new(ErrorKind::Unexpected, message))
    })
}

/// Begins a history: as a whole, or by key.
fn start<'j>(job: &'j Check<'_>, input: &Input) -> Result<Box<dyn Run + 'j>, OptionError> {
    Ok(match job.keyed {
        WhetherKeyed::No => job.checker.start(&job.options)?,
        WhetherKeyed::Yes => Box::new(Keyed::start(&*job.checker, &job.options)?),
        WhetherKeyed::Auto => {
            let place = input.place().into_owned();
            let tell = move |decision: &Decision| diagnose::hint(&place, &format!("note: {decision}"));
            Box::new(KeyedAuto::start(&*job.checker, &job.options, tell)?)
        }
    })
}
