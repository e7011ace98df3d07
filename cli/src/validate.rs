//! `histcheck validate`: all that is wrong with a file at once.

use crate::ids::wide;
use crate::job::Validate;
use crate::judge::input::{Input, Unmatched};
use crate::output::diagnose::{self, Diagnostic};
use crate::output::exit::{self, Exit};
use crate::output::formats;
use histcheck_front::result::{self, Failure};
use history_core::{HistoryError, Problems, Rule, Severity, Verdict};
use serde::Serialize;
use std::io::{self, Write};

/// Looks through files, one after another.
pub(crate) fn run(job: &Validate) -> Exit {
    let mut out = anstream::stdout().lock();
    let (mut exit, unmatched) = (Exit::OK, Unmatched::default());
    for input in &job.inputs {
        let found = input.open().map(|reader| history_core::validate(reader, job.each_max));
        let whole = found.as_ref().ok().filter(|problems| problems.complete);
        unmatched.add(whole.map(|problems| &problems.unmatched[..]));
        exit = exit.and(exit_of(&found));
        if let Err(error) = write(&mut out, job, input, &found).and_then(|()| out.flush()) {
            return exit.and(exit::unwritten(&error));
        }
        if let Err(error) = &found {
            diagnose::history(&input.place(), error);
        }
    }
    unmatched.warnings().iter().for_each(|warning| diagnose::warning(warning));
    exit
}

fn write(out: &mut dyn Write, job: &Validate, input: &Input, found: &Result<Problems, HistoryError>) -> io::Result<()> {
    match (job.output.notation(), found) {
        (None, Ok(problems)) => write_text(out, input, problems),
        (None, Err(_)) => Ok(()),
        (Some(notation), Ok(problems)) => {
            writeln!(out, "{}", result::record(notation, &input.name(), &Line::new(problems))?)
        }
        (Some(notation), Err(error)) => writeln!(out, "{}", result::result(notation, &input.name(), Err(error))?),
    }
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
        let listed = wide(problems.list.iter().filter(|problem| problem.rule == *rule).count());
        if *count > listed {
            writeln!(out, "{place}: {} more of {} are not shown", count - listed, rule.name())?;
        }
    }
    formats::path(out, input)?;
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
