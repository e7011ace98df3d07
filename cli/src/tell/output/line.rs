//! Results for programs: a JSON object or an EDN map a line.

use crate::job::OutputFormat;
use crate::judge::input::Input;
use history_core::{HistoryError, Problem, Report, visible};
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, Write};

/// The version of what is written here. A key that is new does not change it; one that goes or changes meaning does.
const SCHEMA: u32 = 1;

/// How every line about a file begins.
#[derive(Serialize)]
struct Head<'a> {
    schema: u32,
    file: Cow<'a, str>,
}

/// What takes the place of a report where there is none.
#[derive(Serialize)]
struct Failed<'a> {
    error: Failure<'a>,
}

/// Something wrong in a history.
#[derive(Serialize)]
pub(crate) struct Failure<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<&'a str>,
    message: &'a str,
    /// Counted from 1, as columns are.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<&'a str>,
    /// The text around the place.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

impl<'a> From<&'a HistoryError> for Failure<'a> {
    fn from(error: &'a HistoryError) -> Failure<'a> {
        Failure {
            rule: None,
            severity: None,
            message: &error.message,
            line: error.position.map(|position| position.line),
            column: error.position.map(|position| position.column),
            expected: error.expected.as_deref(),
            text: error.snippet.as_ref().map(|snippet| snippet.text.as_str()),
        }
    }
}

impl<'a> From<&'a Problem> for Failure<'a> {
    fn from(problem: &'a Problem) -> Failure<'a> {
        Failure {
            rule: Some(problem.rule.name()),
            severity: Some(problem.severity.name()),
            message: &problem.message,
            line: problem.position.map(|position| position.line),
            column: problem.position.map(|position| position.column),
            expected: problem.expected.as_deref(),
            text: problem.snippet.as_ref().map(|snippet| snippet.text.as_str()),
        }
    }
}

/// Writes what became of a history.
pub(crate) fn write(
    out: &mut dyn Write,
    format: OutputFormat,
    input: &Input,
    judged: Result<&Report, &HistoryError>,
) -> io::Result<()> {
    match judged {
        Ok(report) => about(out, format, input, report),
        Err(error) => about(out, format, input, &Failed { error: error.into() }),
    }
}

/// Writes a line about a file: `tail`, a struct of at least one field, behind the file's name.
pub(crate) fn about(out: &mut dyn Write, format: OutputFormat, input: &Input, tail: &impl Serialize) -> io::Result<()> {
    // serde could flatten one struct into another, but then EDN would not see that its keys are names of fields.
    let head = text(format, &Head { schema: SCHEMA, file: input.name() })?;
    let tail = text(format, tail)?;
    let comma = if format == OutputFormat::Edn { ", " } else { "," };
    writeln!(out, "{}{comma}{}", &head[..head.len() - 1], &tail[1..])
}

/// Writes a line about anything else.
pub(crate) fn row(out: &mut dyn Write, format: OutputFormat, row: &impl Serialize) -> io::Result<()> {
    writeln!(out, "{}", text(format, row)?)
}

fn text(format: OutputFormat, value: &impl Serialize) -> io::Result<String> {
    if format == OutputFormat::Edn {
        return history_core::to_edn(value).map_err(io::Error::other);
    }
    Ok(visible::json(&serde_json::to_string(value)?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_holds_the_text_and_hides_nothing() {
        let text = "a\n\u{1b}\u{7f}\u{9b}\u{202e}\u{e0041}\u{6f22}\\u{1}";
        let json = super::text(OutputFormat::Json, &text).unwrap();
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        assert!(!json.contains(visible::is_hidden), "{json:?}");
    }
}
