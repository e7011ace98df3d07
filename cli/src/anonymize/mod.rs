//! `histcheck anonymize`: writes a history with other names, keys and values, which can be shared.
//!
//! The parts that may be renamed depend on the workload: balances must keep their sum, and strings that are appended to
//! each other must remain such strings. So there are several ways to rename, ordered from the one that hides most. The
//! command uses the first one whose history has the same report: the same verdict, the same types of anomalies, and the
//! same number of each.

mod rename;

use crate::convert::note_dropped_orders;
use crate::job::Check;
use crate::judge::check;
use crate::line::gen_args;
use crate::output::diagnose;
use crate::output::exit::{self, Exit};
use history_core::{Format, History, HistoryError, Report, Writer};
use rename::Way;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;

/// The task: a history to rename.
pub(crate) struct Anonymize<'c> {
    pub(crate) check: Check<'c>,
    /// The path of the output; standard output if absent.
    pub(crate) output: Option<OsString>,
}

/// Runs the command.
pub(crate) fn run(job: &Anonymize<'_>) -> Exit {
    let Some(input) = job.check.inputs.first() else { return Exit::FAILED };
    job.check.warnings.iter().for_each(|warning| diagnose::warning(warning));
    match rename_and_write(job) {
        Ok(said) => {
            diagnose::hint(&input.place(), &said);
            Exit::OK
        }
        Err(Stopped::History(error)) => {
            diagnose::history(&input.place(), &error);
            Exit::FAILED
        }
        Err(Stopped::Other(message)) => {
            diagnose::error(&format!("{}: {message}", input.place()));
            Exit::FAILED
        }
        Err(Stopped::Closed(error)) => exit::stopped(&error),
    }
}

/// The reason why nothing was written.
enum Stopped {
    History(HistoryError),
    Other(String),
    /// An error of standard output.
    Closed(io::Error),
}

impl From<HistoryError> for Stopped {
    fn from(error: HistoryError) -> Stopped {
        Stopped::History(error)
    }
}

fn rename_and_write(job: &Anonymize<'_>) -> Result<String, Stopped> {
    let report = check::check_alone(&job.check)?;
    let Some(input) = job.check.inputs.first() else { return Ok(String::new()) };
    let mut reader = input.open()?;
    let history = History::read(&mut reader)?;
    for way in Way::ALL {
        let renamed = rename::rename(&history, way)?;
        let text = written(job, &renamed, reader.format())?;
        // Reads and checks the written text, as its receiver will.
        let again = job.check.setup.check_bytes(&text);
        if again.is_ok_and(|again| is_same(&report, &again)) {
            write(job, &text)?;
            note_dropped_orders(&reader);
            return Ok(format!("verdict unchanged ({}); {}", report.verdict.name(), way.hides()));
        }
    }
    let message = "no file written: even the smallest renaming changes the report";
    Err(Stopped::Other(message.to_owned()))
}

/// Returns true if two reports agree except for names.
fn is_same(one: &Report, other: &Report) -> bool {
    let found = |report: &Report| -> Vec<(String, u64)> {
        report.anomalies.iter().map(|anomaly| (anomaly.name.to_string(), anomaly.count)).collect()
    };
    one.verdict == other.verdict
        && found(one) == found(other)
        && one.counts == other.counts
        && (&one.not, &one.also_not, &one.not_checked) == (&other.not, &other.also_not, &other.not_checked)
        && one.notes.len() == other.notes.len()
        && one.checkers.len() == other.checkers.len()
        && one.checkers.iter().zip(&other.checkers).all(|(one, other)| is_same(one, other))
}

fn written(job: &Anonymize<'_>, history: &History, input: Option<Format>) -> Result<Vec<u8>, Stopped> {
    let other = |error: io::Error| Stopped::Other(error.to_string());
    let named = job.output.as_deref().map(Path::new).and_then(gen_args::extension_of);
    let format = match named.and_then(|name| name.parse::<Format>().ok()).or(input) {
        Some(Format::Json | Format::Intervals) => Format::Json,
        _ => Format::Edn,
    };
    let mut writer = Writer::new(Vec::new(), format);
    for op in history.ops() {
        writer.write(&op).map_err(other)?;
    }
    writer.finish().map_err(other)
}

fn write(job: &Anonymize<'_>, text: &[u8]) -> Result<(), Stopped> {
    match &job.output {
        Some(path) if path != "-" => crate::r#gen::write_text(Path::new(path), text)
            .map_err(|error| Stopped::Other(format!("cannot write {}: {error}", path.to_string_lossy()))),
        _ => io::stdout().lock().write_all(text).map_err(Stopped::Closed),
    }
}
