//! `histcheck validate`: reports all errors in a file.

use crate::job::Validate;
use crate::judge::input::{Input, Unmatched};
use crate::output::diagnose::{self, Diagnostic};
use crate::output::exit::{self, Exit};
use crate::output::formats;
use histcheck_front::Suggestion;
use histcheck_front::result::{self, Failure};
use history_core::cast::Cast as _;
use history_core::{HistoryError, Problems, Rule, Severity, Subject, Verdict};
use serde::Serialize;
use std::io::{self, Write};

/// Validates files, one after another.
pub(crate) fn run(job: &Validate<'_>) -> Exit {
    let mut out = anstream::stdout().lock();
    let (mut exit, unmatched) = (Exit::OK, Unmatched::default());
    for input in &job.inputs {
        let found = input.open().map(|reader| history_core::validate(reader, job.each_max));
        let whole = found.as_ref().ok().filter(|problems| problems.complete);
        unmatched.add(whole.map(|problems| &problems.unmatched[..]));
        exit = exit.and(exit_of(&found));
        let suggested = suggested(job, input, &found);
        if let Err(error) = write(&mut out, job, input, &found, suggested.as_deref()).and_then(|()| out.flush()) {
            return exit.and(exit::unwritten(&error));
        }
        if let Err(error) = &found {
            diagnose::history(&input.place(), error);
        }
    }
    unmatched.warnings().iter().for_each(|warning| diagnose::warning(warning));
    exit
}

/// The checkers that understand a history with ops. `None` for standard input, which cannot be read again.
fn suggested(job: &Validate<'_>, input: &Input, found: &Result<Problems, HistoryError>) -> Option<Vec<Suggestion>> {
    if input.is_stdin() || !found.as_ref().is_ok_and(|problems| problems.ops > 0) {
        return None;
    }
    input.open().and_then(|reader| histcheck_front::suggest(job.checkers, reader.growing())).ok()
}

fn write(
    out: &mut dyn Write,
    job: &Validate<'_>,
    input: &Input,
    found: &Result<Problems, HistoryError>,
    suggested: Option<&[Suggestion]>,
) -> io::Result<()> {
    match (job.output.notation(), found) {
        (None, Ok(problems)) => write_text(out, input, problems, suggested),
        (None, Err(_)) => Ok(()),
        (Some(notation), Ok(problems)) => {
            writeln!(out, "{}", result::record(notation, &input.name(), &Line::new(problems, suggested))?)
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

/// Writes the problems, then a summary line.
fn write_text(
    out: &mut dyn Write,
    input: &Input,
    problems: &Problems,
    suggested: Option<&[Suggestion]>,
) -> io::Result<()> {
    let place = input.place();
    for problem in &problems.list {
        diagnose::write(out, &place, &Diagnostic::from(problem))?;
    }
    for (rule, count) in &problems.counts {
        let listed = problems.list.iter().filter(|problem| problem.rule == *rule).count().to_u64();
        if *count > listed {
            writeln!(out, "{place}: {} more of {} are not shown", count - listed, rule.name())?;
        }
    }
    match suggested.map(<[Suggestion]>::split_first) {
        None => {}
        Some(Some((first, others))) => writeln!(out, "{place}: note: {}", which(first, others))?,
        // If some ops cannot be read, there is no need to note that no checker understands the history.
        Some(None) if !problems.is_history() => {}
        Some(None) => {
            writeln!(out, "{place}: note: no checker accepts its first ops; `histcheck models` lists the checkers")?;
        }
    }
    formats::path(out, input)?;
    let (errors, warnings) = (problems.count(Severity::Error), problems.count(Severity::Warning));
    writeln!(out, "\t{}, {}, {}", many(errors, "error"), many(warnings, "warning"), many(problems.ops, "op"))
}

/// Which checker to choose. A checker of transactions finds everything that the other ones find, and more. The
/// guarantees of objects and workloads differ, and ops do not show them.
fn which(first: &Suggestion, others: &[Suggestion]) -> String {
    let option = |one: &Suggestion| format!("{}{}", one.name, if one.keyed { " --keyed" } else { "" });
    let names: Vec<String> = others.iter().map(option).collect();
    if names.is_empty() {
        return format!("this looks like {}: check it with -m {}", first.name, option(first));
    }
    let names = names.join(", ");
    if first.subject == Subject::Transactions {
        return format!("this looks like {} (or {names}): check it with -m {}", first.name, option(first));
    }
    format!(
        "the ops fit {}, {names}, which expect different behaviour: choose one with -m (`histcheck models` describes them)",
        option(first)
    )
}

fn many(count: u64, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}

/// The result of one file, for programs.
#[derive(Serialize)]
struct Line<'a> {
    is_history: bool,
    format: Option<&'static str>,
    ops: u64,
    errors: u64,
    warnings: u64,
    problems: Vec<Failure<'a>>,
    /// Checkers that understand its first ops; absent if it could not be read twice, or has no ops.
    suggested_checkers: Option<Vec<&'a str>>,
    /// Those of them that understand the ops only if each key is checked separately.
    suggested_keyed: Option<Vec<&'a str>>,
    /// Whether the whole text was validated.
    complete: bool,
}

fn names(suggested: Option<&[Suggestion]>, which: impl Fn(&Suggestion) -> bool) -> Option<Vec<&str>> {
    suggested.map(|all| all.iter().filter(|one| which(one)).map(|one| one.name.as_str()).collect())
}

impl<'a> Line<'a> {
    fn new(problems: &'a Problems, suggested: Option<&'a [Suggestion]>) -> Line<'a> {
        Line {
            is_history: problems.is_history(),
            format: problems.format.map(history_core::Format::name),
            ops: problems.ops,
            errors: problems.count(Severity::Error),
            warnings: problems.count(Severity::Warning),
            problems: problems.list.iter().map(Failure::from).collect(),
            suggested_checkers: names(suggested, |_| true),
            suggested_keyed: names(suggested, |one| one.keyed),
            complete: problems.complete,
        }
    }
}
