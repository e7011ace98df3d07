//! Reports the result of a checked history: a line on standard output, hints on standard error, files.

use crate::job::{Check, OutputFormat, ResultFormat, ResultPlace};
use crate::judge::input::Input;
use crate::output::artifacts::Directory;
use crate::output::diagnose;
use crate::output::exit::{self, Exit};
use crate::output::formats::{self, Output};
use crate::output::known::{self, Known};
use crate::output::notes;
use crate::output::over_time;
use crate::output::policy::Policy;
use crate::output::terminal::Terminal;
use crate::report::Pages;
use histcheck_draw::bands::Annotations;
use histcheck_draw::plot;
use history_core::{About, Artifact, HistoryError, Report, Verdict};
use std::collections::BTreeMap;

/// The destinations of results.
pub(crate) struct Results {
    output: Output,
    directory: Option<Directory>,
    pages: Option<Pages>,
    /// Whether the output contains only verdicts.
    terse: bool,
    /// Whether a line at the end summarizes all histories.
    sums_up: bool,
    /// The numbers of histories that are valid, invalid, unknown, and not checked.
    counts: [usize; 4],
    policy: Policy,
    known: Known,
    /// The summaries of checkers, by name.
    summaries: BTreeMap<String, String>,
    /// The checkers' own descriptions.
    about: About,
    /// The maximum size of pictures.
    drawing: histcheck_draw::Limits,
    annotations: Annotations,
}

impl Results {
    /// Opens the outputs.
    ///
    /// # Errors
    ///
    /// If a file cannot be written, as a sentence.
    pub(crate) fn new(job: &Check<'_>) -> Result<Results, String> {
        let alone = job.child.as_ref().and_then(|child| child.folder.as_ref());
        let directory = job.directory.as_ref();
        let directory = directory.map(|path| alone.map_or(path.clone(), |folder| path.join(folder)));
        let is_text = |output: &crate::job::ResultOutput| {
            output.to == ResultPlace::Stdout && output.format == ResultFormat::Stream(OutputFormat::Text)
        };
        let is_text = job.outputs.iter().any(is_text);
        Ok(Results {
            output: Output::new(job)?,
            directory: directory.map(|path| Directory::new(path, job.inputs.len(), job.plots).below(alone.is_some())),
            pages: Pages::new(job),
            terse: is_text && !job.verbose && !job.quiet,
            sums_up: is_text
                && !job.quiet
                && job.inputs.len() > 1
                && job.child.is_none()
                && !job.policy.ends_at_errors(),
            counts: [0; 4],
            policy: job.policy,
            known: job.known.clone(),
            summaries: job.summaries.clone(),
            about: job.setup.checker.about(),
            drawing: job.drawing,
            annotations: job.annotations.clone(),
        })
    }

    /// The folders that these histories will get, if they are reported first; empty if there is no choice.
    pub(crate) fn folders(&self, inputs: &[Input]) -> Vec<String> {
        let pages = self.pages.as_ref().map(Pages::directory);
        self.directory.as_ref().or(pages).map_or(Vec::new(), |directory| directory.folders(inputs))
    }

    /// Reserves the files of a history for a child process.
    pub(crate) fn pass_over(&mut self, input: &Input) {
        if let Some(directory) = &mut self.directory {
            directory.pass_over(input);
        }
        if let Some(Err(message)) = self.pages.as_mut().map(|pages| pages.pass_over(input)) {
            diagnose::error(&message);
        }
    }

    /// Writes the result of a history. Returns its exit status, or an error if no more results can be written.
    pub(crate) fn write(&mut self, input: &Input, mut judged: Result<Report, HistoryError>) -> Result<Exit, Exit> {
        if let Ok(report) = &mut judged {
            notes::shorten(report);
        }
        // Artifacts are written to the directory, not to the printed report.
        let mut artifacts = judged.as_mut().map(Report::take_artifacts).unwrap_or_default();
        if let (Ok(report), Some(_)) = (&mut judged, &self.directory) {
            let performance = over_time::read(input, &self.annotations);
            let drawn = histcheck_draw::draw_all(report, &self.drawing, &performance);
            let plots = plot::plots(&performance);
            if let Some(note) = performance.annotations_note() {
                diagnose::hint(&input.place(), &format!("note: {note}"));
            }
            artifacts.extend(
                drawn.into_iter().chain(plots).map(|it| Artifact { path: it.path, content: it.content.into_bytes() }),
            );
        }
        self.count(judged.as_ref().ok().map(|report| report.verdict));
        let mut exit =
            judged.as_ref().map_or(Exit::FAILED, |report| self.policy.exit(self.known.verdict(&input.name(), report)));
        if let Err(error) = self.output.write(input, &judged) {
            self.sums_up = false;
            return Err(exit.and(exit::unwritten(&error)));
        }
        // The reason for another verdict is always printed. Anomalies are named only on a terminal.
        let wanted =
            |report: &Report| self.terse && (report.verdict != Verdict::Invalid || Terminal::get().stderr_on_screen);
        if let Ok(report) = &judged {
            let known = self.known.verdict(&input.name(), report);
            if let Some(words) = known::words(report.verdict, known) {
                diagnose::hint(&input.place(), words);
            }
        }
        match &judged {
            Ok(report) => formats::hints(report, &wanted).iter().for_each(|hint| diagnose::hint(&input.place(), hint)),
            Err(error) => {
                diagnose::history(&input.place(), error);
                if input.is_torn(error) {
                    let hint =
                        "the file ends within this op, as after a crash of its writer: --accept-torn omits the op";
                    diagnose::hint(&input.place(), hint);
                }
            }
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
        self.go_on(exit)
    }

    /// Writes that a history was not started.
    pub(crate) fn write_not_begun(&mut self, input: &Input, why: &HistoryError) -> Result<Exit, Exit> {
        // A page would need to read the history.
        let pages = self.pages.take();
        let written = self.write(input, Err(why.clone()));
        self.pages = pages;
        match self.pages.as_mut().map_or(Ok(()), |pages| pages.skip(input)) {
            Ok(()) => written,
            Err(message) => {
                diagnose::error(&message);
                written.map(|exit| exit.and(Exit::FAILED))
            }
        }
    }

    /// The same for a history that a child process checked, from its output.
    pub(crate) fn pass_on(&mut self, input: &Input, text: &[u8], exit: Exit) -> Result<Exit, Exit> {
        self.pass_over(input);
        match self.output.pass_on(input, text) {
            Ok(verdict) => {
                self.count(verdict);
                self.go_on(exit)
            }
            Err(error) => {
                self.sums_up = false;
                Err(exit.and(exit::unwritten(&error)))
            }
        }
    }

    fn count(&mut self, verdict: Option<Verdict>) {
        let at = match verdict {
            Some(Verdict::Valid) => 0,
            Some(Verdict::Invalid) => 1,
            Some(Verdict::Unknown) => 2,
            None => 3,
        };
        self.counts[at] += 1;
    }

    fn go_on(&self, exit: Exit) -> Result<Exit, Exit> {
        if exit.is_failure() && self.policy.ends_at_errors() { Err(exit) } else { Ok(exit) }
    }

    /// Returns true if results are written before the end.
    pub(crate) fn are_seen_at_once(&self) -> bool {
        !self.output.is_document()
    }

    /// Writes documents and the summary. Returns the exit status of the run.
    pub(crate) fn finish(mut self, exit: Exit) -> Exit {
        match self.output.finish(&self.summaries, &self.about) {
            Ok(()) => {
                if self.sums_up {
                    let [valid, invalid, unknown, failed] = self.counts;
                    diagnose::summary(&formats::counted(valid, invalid, unknown, failed));
                }
                exit
            }
            Err(error) => exit.and(exit::unwritten(&error)),
        }
    }
}
