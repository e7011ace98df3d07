//! Results on standard output and in files: one line per history, the whole report of each, or one document about all.

mod case;
mod github;
mod junit;
mod markdown;
mod paint;
mod sarif;
mod sink;
mod text;

use crate::job::{Check, DocumentFormat, OutputFormat, ResultFormat};
use crate::judge::input::Input;
use crate::output::known::Known;
use crate::output::lines;
use crate::output::policy::{Compat, Policy};
use case::Case;
use histcheck_front::jepsen;
use histcheck_front::result::{self, Notation};
use history_core::{About, ErrorKind, HistoryError, Report, Verdict};
use serde::{Deserialize, Serialize};
use sink::Sink;
use std::collections::BTreeMap;
use std::io::{self, Write as _};

pub(crate) use paint::Paint;
pub(crate) use text::{account, counted, hints, path, verdict, wrapped};

/// Writes results. Each is flushed as soon as it is known, except for documents, which are written at the end.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Output {
    sinks: Vec<Sink>,
    policy: Policy,
    known: Known,
    verbose: bool,
    /// Whether lines of valid histories are left out.
    quiet: bool,
    paint: Paint,
    /// Whether this process checks a single history for its parent.
    is_part: bool,
    /// Whether the files may be read a second time.
    may_reread: bool,
    checker: String,
    /// The data of each history for documents.
    cases: Vec<Named>,
}

/// A history in a document.
struct Named {
    path: String,
    uri: String,
    case: Case,
}

/// The data that a child process passes to its parent: one line of JSON.
#[derive(Serialize, Deserialize)]
struct Packet {
    /// Absent if the history was not checked.
    verdict: Option<Verdict>,
    /// The output in each format that is written per history.
    texts: Vec<(OutputFormat, String)>,
    /// The data for all other formats.
    case: Option<Case>,
}

impl Output {
    /// Opens the outputs.
    ///
    /// # Errors
    ///
    /// If a file cannot be written, as a sentence.
    pub(crate) fn new(job: &Check<'_>) -> Result<Output, String> {
        let is_part = job.child.is_some();
        let sinks = job.outputs.iter().map(|output| Sink::open(output, is_part)).collect::<Result<_, _>>()?;
        Ok(Output {
            sinks,
            policy: job.policy,
            known: job.known.clone(),
            verbose: job.verbose,
            quiet: job.quiet,
            paint: Paint::for_stdout(),
            is_part,
            may_reread: !job.is_live,
            checker: job.setup.checker.name().to_owned(),
            cases: Vec::new(),
        })
    }

    /// Writes the result of a history.
    pub(crate) fn write(&mut self, input: &Input, judged: &Result<Report, HistoryError>) -> io::Result<()> {
        if self.is_part {
            return self.hand_on(input, judged);
        }
        for at in 0..self.sinks.len() {
            if let ResultFormat::Stream(format) = self.sinks[at].format {
                let paint = if self.sinks[at].is_stdout() { self.paint } else { Paint::Plain };
                let text = self.text(format, input, judged, paint)?;
                self.sinks[at].write(&text)?;
            }
        }
        if self.needs_cases() {
            self.add(input, Case::new(&self.checker, judged, (&input.name(), &self.known)))
        } else {
            Ok(())
        }
    }

    /// The text for a history that is written as soon as it is known.
    fn text(
        &self,
        format: OutputFormat,
        input: &Input,
        judged: &Result<Report, HistoryError>,
        paint: Paint,
    ) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        match (format, judged) {
            (OutputFormat::Text, Ok(report)) if self.quiet && report.verdict == Verdict::Valid => {}
            (OutputFormat::Text, Ok(report)) => {
                let between = if self.policy.compat == Some(Compat::ElleCli) { " \t " } else { "\t" };
                text::line(&mut out, input, report.verdict, between)?;
                if self.verbose {
                    text::account(&mut out, report, "  ", paint)?;
                }
            }
            // Without a verdict nothing is printed. A diagnostic reports the error.
            (OutputFormat::Text, Err(_)) => {}
            (OutputFormat::Json, judged) => writeln!(out, "{}", result::json(&input.name(), judged.as_ref())?)?,
            (OutputFormat::Edn, judged) if self.policy.compat == Some(Compat::Jepsen) => {
                writeln!(out, "{}", jepsen::edn(judged.as_ref()))?;
            }
            (OutputFormat::Edn, judged) => {
                writeln!(out, "{}", result::result(Notation::Edn, &input.name(), judged.as_ref())?)?;
            }
        }
        Ok(out)
    }

    fn needs_cases(&self) -> bool {
        self.sinks.iter().any(|sink| !matches!(sink.format, ResultFormat::Stream(_)))
    }

    fn hand_on(&mut self, input: &Input, judged: &Result<Report, HistoryError>) -> io::Result<()> {
        let mut texts: Vec<(OutputFormat, String)> = Vec::new();
        for sink in &self.sinks {
            if let ResultFormat::Stream(format) = sink.format
                && texts.iter().all(|(other, _)| *other != format)
            {
                let paint = if sink.is_stdout() { self.paint } else { Paint::Plain };
                let text = self.text(format, input, judged, paint)?;
                texts.push((format, String::from_utf8_lossy(&text).into_owned()));
            }
        }
        let case = self.needs_cases().then(|| Case::new(&self.checker, judged, (&input.name(), &self.known)));
        let mut out = io::stdout().lock();
        serde_json::to_writer(
            &mut out,
            &Packet { verdict: judged.as_ref().ok().map(|report| report.verdict), texts, case },
        )?;
        writeln!(out)?;
        out.flush()
    }

    /// Writes the result that a child process with the same command line passed. Returns the verdict, if there is one.
    pub(crate) fn pass_on(&mut self, input: &Input, text: &[u8]) -> io::Result<Option<Verdict>> {
        let end = text.trim_ascii_end();
        let begin = end.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let packet = serde_json::from_slice(&end[begin..]).unwrap_or_else(|_| {
            let message = "the process that checked it ended without a report, which is a bug: please report it";
            let failed = Err(HistoryError::new(ErrorKind::Unexpected, message));
            Packet {
                verdict: None,
                texts: Vec::new(),
                case: Some(Case::new(&self.checker, &failed, (&input.name(), &self.known))),
            }
        });
        for sink in &mut self.sinks {
            if let ResultFormat::Stream(format) = sink.format {
                // A plugin may have printed lines before the result.
                if sink.is_stdout() {
                    sink.write(&text[..begin])?;
                }
                if let Some((_, text)) = packet.texts.iter().find(|(other, _)| *other == format) {
                    sink.write(text.as_bytes())?;
                }
            }
        }
        if let Some(case) = packet.case.filter(|_| self.needs_cases()) {
            self.add(input, case)?;
        }
        Ok(packet.verdict)
    }

    fn add(&mut self, input: &Input, mut case: Case) -> io::Result<()> {
        if self.may_reread {
            case.locate(|indices| lines::find(input, indices));
        }
        for sink in self.sinks.iter_mut().filter(|sink| sink.format == ResultFormat::Github) {
            let mut text = Vec::new();
            github::write(&mut text, input, &case, self.policy.unknown, self.verbose)?;
            sink.write(&text)?;
        }
        if self.sinks.iter().any(|sink| matches!(sink.format, ResultFormat::Document(_))) {
            self.cases.push(Named { path: input.name().into_owned(), uri: sarif::uri(input), case });
        }
        Ok(())
    }

    /// Returns true if all outputs are documents, so that nothing is written before the end.
    pub(crate) fn is_document(&self) -> bool {
        self.sinks.iter().all(|sink| matches!(sink.format, ResultFormat::Document(_)))
    }

    /// Writes the documents, if requested, with the descriptions of the checkers.
    pub(crate) fn finish(&mut self, summaries: &BTreeMap<String, String>, about: &About) -> io::Result<()> {
        if self.is_part {
            return Ok(());
        }
        let unknown = self.policy.unknown;
        for sink in &mut self.sinks {
            let ResultFormat::Document(format) = sink.format else { continue };
            let mut out = Vec::new();
            let cases = self.cases.iter().map(|it| (&*it.path, &it.case));
            match format {
                DocumentFormat::Junit => junit::write(&mut out, cases, unknown)?,
                DocumentFormat::Markdown => markdown::write(&mut out, cases)?,
                DocumentFormat::Sarif => {
                    let cases: Vec<_> = self.cases.iter().map(|it| (&*it.uri, &it.case)).collect();
                    sarif::write(&mut out, &cases, summaries, about, unknown)?;
                }
            }
            sink.write(&out)?;
        }
        Ok(())
    }
}
