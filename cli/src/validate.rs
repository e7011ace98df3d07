//! `histcheck validate`: all that is wrong with a file at once.

use crate::job::{OutputFormat, Validate};
use crate::judge::input::Input;
use crate::tell::diagnose::{self, Diagnostic};
use crate::tell::exit::{self, Exit};
use crate::tell::output::{self, Failure};
use history_core::{HistoryError, Problems, Rule, Severity, Verdict};
use serde::Serialize;
use std::io::{self, Write};

/// Looks through files, one after another.
pub(crate) fn run(job: &Validate) -> Exit {
    let mut out = anstream::stdout().lock();
    let mut exit = Exit::OK;
    for input in &job.inputs {
        let found = input.open().map(|reader| history_core::validate(reader, job.each_max));
        exit = exit.and(exit_of(&found));
        let written = match (job.output, &found) {
            (OutputFormat::Text, Ok(problems)) => write_text(&mut out, input, problems),
            (OutputFormat::Text, Err(_)) => Ok(()),
            (format, Ok(problems)) => output::about(&mut out, format, input, &Line::new(problems)),
            (format, Err(error)) => output::write_line(&mut out, format, input, Err(error)),
        };
        if let Err(error) = written.and_then(|()| out.flush()) {
            return exit.and(exit::unwritten(&error));
        }
        if let Err(error) = &found {
            diagnose::history(&input.place(), error);
        }
    }
    exit
}

fn exit_of(found: &Result<Problems, HistoryError>) -> Exit {
    match found {
        Ok(problems) if problems.counts.iter().any(|(rule, _)| *rule == Rule::Unreadable) => Exit::FAILED,
        Ok(problems) => Exit::of(if problems.is_history() { Verdict::Valid } else { Verdict::Invalid }),
        Err(_) => Exit::FAILED,
    }
}

/// What is wrong, then a line that sums it up.
fn write_text(out: &mut dyn Write, input: &Input, problems: &Problems) -> io::Result<()> {
    let place = input.place();
    for problem in &problems.list {
        diagnose::write(out, &place, &Diagnostic::from(problem))?;
    }
    for (rule, count) in &problems.counts {
        let listed = problems.list.iter().filter(|problem| problem.rule == *rule).count() as u64;
        if *count > listed {
            writeln!(out, "{place}: {} more of {} are not shown", count - listed, rule.name())?;
        }
    }
    output::path(out, input)?;
    let (errors, warnings) = (problems.count(Severity::Error), problems.count(Severity::Warning));
    writeln!(out, "\t{}, {}, {}", many(errors, "error"), many(warnings, "warning"), many(problems.ops, "op"))
}

fn many(count: u64, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}

/// The same for programs.
#[derive(Serialize)]
struct Line<'a> {
    is_history: bool,
    format: Option<&'static str>,
    ops: u64,
    errors: u64,
    warnings: u64,
    problems: Vec<Failure<'a>>,
    /// Whether the whole text was looked at.
    complete: bool,
}

impl<'a> Line<'a> {
    fn new(problems: &'a Problems) -> Line<'a> {
        Line {
            is_history: problems.is_history(),
            format: problems.format.map(history_core::Format::name),
            ops: problems.ops,
            errors: problems.count(Severity::Error),
            warnings: problems.count(Severity::Warning),
            problems: problems.list.iter().map(Failure::from).collect(),
            complete: problems.complete,
        }
    }
}
