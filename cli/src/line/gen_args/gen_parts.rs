//! Options that the workloads of `gen` share.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, value_parser};
use record_simulate::{Format, KeyDistribution};
use std::path::PathBuf;

/// Formats lines of two parts, with the second parts aligned in a column.
pub(crate) fn two_columns(lines: &[(&str, &str)]) -> String {
    let width = lines.iter().map(|line| line.0.len()).max().unwrap_or_default();
    let lines: Vec<String> = lines.iter().map(|(left, right)| format!("  {left:width$}  {right}")).collect();
    lines.join("\n")
}

pub(crate) fn key_distribution() -> Arg {
    Arg::new("key-distribution")
        .long("key-distribution")
        .visible_alias("key-dist")
        .value_name("KIND")
        .value_parser(|text: &str| text.parse::<KeyDistribution>())
        .default_value("uniform")
        .help("Distribution of keys: uniform, exponential:BASE or zipf:S; BASE defaults to 2 and S to 1")
}

pub(crate) fn bug_rate(help: &'static str) -> Arg {
    let arg = Arg::new("bug-rate").long("bug-rate").value_name("SHARE").help(help);
    arg.allow_negative_numbers(true).value_parser(value_parser!(f64))
}

pub(crate) fn nemesis() -> Arg {
    let arg = Arg::new("nemesis").long("nemesis").action(ArgAction::SetTrue);
    arg.help("Add a nemesis that partitions the network from time to time")
}

/// The options for the destination of the history.
pub(crate) fn destination() -> [Arg; 2] {
    [
        Arg::new("format")
            .short('f')
            .long("format")
            .value_name("FORMAT")
            .value_parser(PossibleValuesParser::new(Format::ALL.map(Format::name)))
            .help("Output format [default: from the file extension, else edn]"),
        Arg::new("out")
            .short('o')
            .long("out")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help("Output file, compressed if its name ends in .gz or .zst [default: standard output]"),
    ]
}

pub(crate) fn number(name: &'static str, value_name: &'static str, default: u64, help: &'static str) -> Arg {
    option(name, value_name, default.to_string(), help).value_parser(value_parser!(u64))
}

pub(crate) fn small(name: &'static str, value_name: &'static str, default: u32, help: &'static str) -> Arg {
    option(name, value_name, default.to_string(), help).value_parser(value_parser!(u32))
}

pub(crate) fn share(name: &'static str, default: f64, help: &'static str) -> Arg {
    option(name, "SHARE", default.to_string(), help).value_parser(value_parser!(f64))
}

fn option(name: &'static str, value_name: &'static str, default: String, help: &'static str) -> Arg {
    let arg = Arg::new(name).long(name).value_name(value_name).help(help);
    // Negative numbers are accepted here so that clap does not treat them as options; they are rejected as values.
    arg.default_value(default).allow_negative_numbers(true)
}
