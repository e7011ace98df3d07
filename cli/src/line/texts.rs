//! Options about the text of histories: the format, and facts that the text does not contain.

use crate::line::units;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, value_parser};
use history_core::{FirstValue, Format, TimeUnit};
use std::ffi::OsString;

/// `-f FORMAT`.
pub(crate) fn format() -> Arg {
    let names = Format::ALL.map(|format| match format {
        Format::Json => PossibleValue::new("json").aliases(["jsonl", "ndjson"]),
        Format::Table => PossibleValue::new("txt").alias("log"),
        format => PossibleValue::new(format.name()),
    });
    Arg::new("format")
        .short('f')
        .long("format")
        .value_name("FORMAT")
        .value_parser(PossibleValuesParser::new(names))
        .help("Input format [default: detected]")
}

/// The option for a history that ends within an op. A watched history may end anywhere.
pub(crate) fn torn() -> Arg {
    Arg::new("accept-torn")
        .long("accept-torn")
        .action(ArgAction::SetTrue)
        .help("Omit an incomplete op at the end of the file, with a note")
}

/// The options for other files in the directory of a test.
pub(crate) fn node_logs() -> [Arg; 2] {
    [
        Arg::new("log-file-pattern")
            .long("log-file-pattern")
            .value_name("REGEX")
            .requires("log-file")
            .hide_short_help(true)
            .help(
                "Also search the logs of the nodes of a Jepsen test: the verdict is false if a line of --log-file matches this \
                 regular expression in any directory below that of the test",
            ),
        Arg::new("log-file")
            .long("log-file")
            .value_name("NAME")
            .requires("log-file-pattern")
            .hide_short_help(true)
            .value_parser(value_parser!(OsString))
            .help("Name of the log file in the directory of each node, for --log-file-pattern"),
    ]
}

/// The options for facts that a history does not contain.
pub(crate) fn rules() -> [Arg; 5] {
    let names = |name: &'static str| Arg::new(name).long(name).value_name("NAMES").value_delimiter(',');
    [
        names("clients")
            .help("Processes to treat as clients, comma-separated; NAME* matches all names with this prefix"),
        names("not-clients").help(
            "Processes to ignore (names or numbers), comma-separated; names that contain nemesis are always ignored",
        ),
        Arg::new("time-unit")
            .long("time-unit")
            .value_name("UNIT")
            .value_parser(PossibleValuesParser::new(TimeUnit::NAMES))
            .help("Unit of recorded times; times may then have fractions [default: whole nanoseconds]"),
        Arg::new("clock-error")
            .long("clock-error")
            .value_name("TIME")
            .hide_short_help(true)
            .value_parser(units::time)
            .help("Widen each interval by this time on both sides, such as 5ms: the maximum clock error of a machine (intervals)"),
        Arg::new("first-value")
            .long("first-value")
            .value_name("N")
            .hide_short_help(true)
            .allow_negative_numbers(true)
            .value_parser(|text: &str| match (text, text.parse::<i64>()) {
                ("none", _) => Ok(FirstValue::Null),
                (_, Ok(number)) => Ok(FirstValue::Number(number)),
                _ => Err("expected an integer, or none"),
            })
            .help(
                "Initial value of registers in formats of other checkers: an integer, or none [default: 0 for plume and dbcop, else \
                 none; null and similar values are always initial]",
            ),
    ]
}
