//! Results on standard output: a line a history, the whole report of each, or one document on all of them.

mod case;
mod github;
mod junit;
mod paint;
mod sarif;
mod text;

use crate::job::{Check, DocumentFormat, OutputFormat, ResultFormat};
use crate::judge::input::Input;
use crate::output::lines;
use crate::output::policy::{Compat, Policy};
use case::Case;
use histcheck_front::result::{self, Notation};
use history_core::{About, ErrorKind, HistoryError, Report};
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Stdout, Write as _};

pub(crate) use paint::Paint;
pub(crate) use text::{account, hints, path, verdict, wrapped};

/// Writes results: each flushed as it becomes known, but for documents, which are written in the end.
pub(crate) struct Output {
    out: BufWriter<Stdout>,
    format: ResultFormat,
    policy: Policy,
    verbose: bool,
    paint: Paint,
    /// Whether this process writes for another one, which makes a document of it.
    is_part: bool,
    /// Whether the files may be read again.
    may_reread: bool,
    checker: String,
    /// What a document will say of each history.
    cases: Vec<Named>,
}

/// A history of a document.
struct Named {
    path: String,
    uri: String,
    case: Case,
}

impl Output {
    pub(crate) fn new(job: &Check<'_>) -> Output {
        Output {
            out: BufWriter::new(io::stdout()),
            format: job.output,
            policy: job.policy,
            verbose: job.verbose,
            paint: Paint::for_stdout(),
            is_part: job.child.is_some(),
            may_reread: !job.is_live,
            checker: job.setup.checker.name().to_owned(),
            cases: Vec::new(),
        }
    }

    /// Writes what became of a history.
    pub(crate) fn write(&mut self, input: &Input, judged: &Result<Report, HistoryError>) -> io::Result<()> {
        let ResultFormat::Stream(format) = self.format else {
            let case = Case::new(&self.checker, judged);
            return if self.is_part { self.hand_on(&case) } else { self.add(input, case) };
        };
        let out = &mut self.out;
        match (format, judged) {
            (OutputFormat::Text, Ok(report)) => {
                let between = if self.policy.compat == Some(Compat::ElleCli) { " \t " } else { "\t" };
                text::line(out, input, report.verdict, between)?;
                if self.verbose {
                    text::account(out, report, "  ", self.paint)?;
                }
            }
            // What is not known is not printed; a diagnostic says why.
            (OutputFormat::Text, Err(_)) => {}
            (OutputFormat::Json, judged) => writeln!(out, "{}", result::json(&input.name(), judged.as_ref())?)?,
            (OutputFormat::Edn, judged) => {
                writeln!(out, "{}", result::result(Notation::Edn, &input.name(), judged.as_ref())?)?;
            }
        }
        out.flush()
    }

    /// Writes what another process, with the same command line, wrote of a history.
    pub(crate) fn pass_on(&mut self, input: &Input, text: &[u8]) -> io::Result<()> {
        if let ResultFormat::Stream(_) = self.format {
            self.out.write_all(text)?;
            return self.out.flush();
        }
        // A plugin may have written lines of its own before.
        let last = text.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let case = serde_json::from_slice(last).unwrap_or_else(|_| {
            let message = "the process that checked it ended without a report, which is a bug: please report it";
            Case::new(&self.checker, &Err(HistoryError::new(ErrorKind::Unexpected, message)))
        });
        self.add(input, case)
    }

    fn hand_on(&mut self, case: &Case) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, case)?;
        writeln!(self.out)?;
        self.out.flush()
    }

    fn add(&mut self, input: &Input, mut case: Case) -> io::Result<()> {
        if self.may_reread {
            case.locate(|indices| lines::find(input, indices));
        }
        if self.format == ResultFormat::Github {
            github::write(&mut self.out, input, &case, self.policy.unknown, self.verbose)?;
            return self.out.flush();
        }
        self.cases.push(Named { path: input.name().into_owned(), uri: sarif::uri(input), case });
        Ok(())
    }

    /// Whether nothing is written before all is known.
    pub(crate) fn is_document(&self) -> bool {
        matches!(self.format, ResultFormat::Document(_))
    }

    /// Writes the document, if there is to be one, with what the checkers say about themselves.
    pub(crate) fn finish(&mut self, summaries: &BTreeMap<String, String>, about: &About) -> io::Result<()> {
        let ResultFormat::Document(format) = self.format else { return Ok(()) };
        if self.is_part {
            return Ok(());
        }
        let (out, unknown) = (&mut self.out, self.policy.unknown);
        match format {
            DocumentFormat::Junit => junit::write(out, self.cases.iter().map(|it| (&*it.path, &it.case)), unknown)?,
            DocumentFormat::Sarif => {
                let cases: Vec<_> = self.cases.iter().map(|it| (&*it.uri, &it.case)).collect();
                sarif::write(out, &cases, summaries, about, unknown)?;
            }
        }
        self.out.flush()
    }
}
