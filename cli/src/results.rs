//! What becomes of a judged history: a line on standard output, what else there is to say on standard error, files.

use crate::args::{Check, OutputFormat};
use crate::artifacts::Directory;
use crate::diagnose;
use crate::exit::{self, Exit};
use crate::input::Input;
use crate::output::{self, Output};
use crate::report::Pages;
use history_core::{HistoryError, Report, Verdict};
use std::io::{self, IsTerminal as _};

/// Where results go.
pub(crate) struct Results {
    output: Output,
    directory: Option<Directory>,
    pages: Option<Pages>,
    /// Whether results are verdicts and nothing else.
    terse: bool,
}

impl Results {
    pub(crate) fn new(job: &Check<'_>) -> Results {
        let directory = job.directory.as_ref();
        Results {
            output: Output::new(job.output, job.verbose),
            directory: directory.map(|path| Directory::new(path.clone(), job.inputs.len(), job.plots)),
            pages: Pages::new(job),
            terse: job.output == OutputFormat::Text && !job.verbose,
        }
    }

    /// Leaves a history to another process.
    pub(crate) fn pass_over(&mut self, input: &Input) {
        if let Some(directory) = &mut self.directory {
            directory.pass_over(input);
        }
        if let Some(Err(message)) = self.pages.as_mut().map(|pages| pages.pass_over(input)) {
            diagnose::error(&message);
        }
    }

    /// Tells what became of a history. What it means for the exit code; as an error if nothing more can be told.
    pub(crate) fn tell(&mut self, input: &Input, mut judged: Result<Report, HistoryError>) -> Result<Exit, Exit> {
        // They belong into the directory, not into the report that is printed.
        let artifacts = judged.as_mut().map(Report::take_artifacts).unwrap_or_default();
        let mut exit = judged.as_ref().map_or(Exit::FAILED, |report| Exit::of(report.verdict));
        if let Err(error) = self.output.write(input, &judged) {
            return Err(exit.and(exit::stopped(&error)));
        }
        // What was found shows in the verdict; why nothing was does not.
        let wanted = |report: &Report| self.terse && (report.verdict != Verdict::Invalid || io::stderr().is_terminal());
        match &judged {
            Ok(report) => output::hints(report, &wanted).iter().for_each(|hint| diagnose::hint(&input.place(), hint)),
            Err(error) => diagnose::history(&input.place(), error),
        }
        if let (Some(directory), Ok(report)) = (&mut self.directory, &judged)
            && let Err(message) = directory.write(input, report, &artifacts)
        {
            diagnose::error(&message);
            exit = exit.and(Exit::FAILED);
        }
        if let Some(Err(message)) = self.pages.as_mut().map(|pages| pages.write(input, judged.as_ref())) {
            diagnose::error(&message);
            exit = exit.and(Exit::FAILED);
        }
        Ok(exit)
    }
}
