//! Results for programs: a JSON object or an EDN map per line.
//!
//! Each begins with the version of the schema and the name of the file, followed by the fields of a [`Report`], which
//! the README of history-core lists, or `error`, a [`Failure`].

use history_core::{HistoryError, Position, Problem, Report, visible};
use serde::Serialize;
use std::io;

/// The version of the schema. A new key does not change it; a key that is removed or changes its meaning does.
pub const SCHEMA: u32 = 1;

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// As JSON.
    Json,
    /// As EDN.
    Edn,
}

/// The first fields of every line about a file.
#[derive(Serialize)]
struct Head<'a> {
    schema: u32,
    file: &'a str,
}

/// The fields that replace a report if there is none.
#[derive(Serialize)]
struct Failed<'a> {
    error: Failure<'a>,
}

/// Something wrong in a history.
#[derive(Clone, Debug, Serialize)]
pub struct Failure<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<&'a str>,
    message: &'a str,
    /// The line, counted from 1, as is the column.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u64>,
    /// The number of bytes before the position, in a format without lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    byte: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<&'a str>,
    /// The text around the position.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

impl<'a> From<&'a HistoryError> for Failure<'a> {
    fn from(error: &'a HistoryError) -> Failure<'a> {
        Failure {
            rule: None,
            severity: None,
            message: &error.message,
            line: error.position.and_then(Position::line_and_column).map(|(line, _)| line),
            column: error.position.and_then(Position::line_and_column).map(|(_, column)| column),
            byte: error.position.filter(|position| position.line == 0).map(|position| position.offset),
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
            line: problem.position.and_then(Position::line_and_column).map(|(line, _)| line),
            column: problem.position.and_then(Position::line_and_column).map(|(_, column)| column),
            byte: problem.position.filter(|position| position.line == 0).map(|position| position.offset),
            expected: problem.expected.as_deref(),
            text: problem.snippet.as_ref().map(|snippet| snippet.text.as_str()),
        }
    }
}

/// A line of JSON about a history that was checked, without the end of the line. `file` is its name.
///
/// # Errors
///
/// None that is known: a report can always be written.
pub fn json(file: &str, outcome: Result<&Report, &HistoryError>) -> io::Result<String> {
    result(Notation::Json, file, outcome)
}

/// The same in either notation.
///
/// # Errors
///
/// None that is known: a report can always be written.
pub fn result(notation: Notation, file: &str, outcome: Result<&Report, &HistoryError>) -> io::Result<String> {
    match outcome {
        Ok(report) => record(notation, file, report),
        Err(error) => record(notation, file, &Failed { error: error.into() }),
    }
}

/// A line about a file: `tail`, a struct of at least one field, after the schema and the name.
///
/// # Errors
///
/// If `tail` cannot be written in this notation.
pub fn record(notation: Notation, file: &str, tail: &impl Serialize) -> io::Result<String> {
    // serde could flatten one struct into another, but the EDN serializer would then not recognize its keys as field
    // names.
    let head = row(notation, &Head { schema: SCHEMA, file })?;
    let tail = row(notation, tail)?;
    let comma = if notation == Notation::Edn { ", " } else { "," };
    Ok(format!("{}{comma}{}", &head[..head.len() - 1], &tail[1..]))
}

/// A line about anything else. Hidden characters are escaped.
///
/// # Errors
///
/// If it cannot be written in this notation.
pub fn row(notation: Notation, row: &impl Serialize) -> io::Result<String> {
    match notation {
        Notation::Edn => history_core::to_edn(row).map_err(io::Error::other),
        Notation::Json => Ok(visible::json(&serde_json::to_string(row)?).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_holds_the_text_and_hides_nothing() {
        let text = "a\n\u{1b}\u{7f}\u{9b}\u{202e}\u{e0041}\u{6f22}\\u{1}";
        let json = row(Notation::Json, &text).unwrap();
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        assert!(!json.contains(visible::is_hidden), "{json:?}");
    }
}
