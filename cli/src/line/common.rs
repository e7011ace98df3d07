//! Arguments that several commands have.

use clap::{Arg, ValueHint, value_parser};
use std::ffi::OsString;

/// `-d DIR`.
pub(crate) fn directory(help: &'static str) -> Arg {
    Arg::new("directory")
        .short('d')
        .long("directory")
        .value_name("DIR")
        .value_hint(ValueHint::DirPath)
        .value_parser(value_parser!(OsString))
        .help(help)
}

/// Histories, one or more.
pub(crate) fn files() -> Arg {
    Arg::new("files")
        .value_name("FILE")
        .num_args(1..)
        .value_hint(ValueHint::AnyPath)
        .value_parser(value_parser!(OsString))
        .help("History files, directories of histories (such as Jepsen's store), or - for standard input")
}

/// What a history may take.
pub(crate) fn limits() -> [Arg; 3] {
    let jobs = Arg::new("jobs")
        .short('j')
        .long("jobs")
        .value_name("N")
        .allow_negative_numbers(true)
        .value_parser(|text: &str| {
            text.parse::<u16>().map_err(|_| "expected a number from 0 to 65535 (0 = one per core)")
        })
        .help("Check N histories in parallel (memory grows with N; 0 = one per core) [default: 1]");
    [
        timeout(
            "Limit the time per history, in seconds; at the limit the verdict is false if a violation was found, else unknown [default: none]",
        ),
        max_memory("Limit the memory per history, in bytes; at the limit the verdict is unknown [default: none]"),
        jobs,
    ]
}

/// What a watch may take.
pub(crate) fn watch_limits() -> [Arg; 2] {
    [
        timeout(
            "End the watch after this time, in seconds; the verdict is false if a violation was found, else unknown [default: none]",
        ),
        max_memory(
            "End the watch when histcheck takes more memory than this, in bytes, with the same verdicts [default: none]",
        ),
    ]
}

fn timeout(help: &'static str) -> Arg {
    Arg::new("timeout")
        .long("timeout")
        .value_name("SECONDS")
        .value_parser(value_parser!(f64))
        .allow_negative_numbers(true)
        .help(help)
}

fn max_memory(help: &'static str) -> Arg {
    Arg::new("max-memory")
        .long("max-memory")
        .value_name("BYTES")
        .allow_negative_numbers(true)
        .value_parser(|text: &str| match text.parse::<u64>() {
            Ok(bytes) if bytes > 0 => Ok(bytes),
            _ => Err("expected a number of bytes, such as 8000000000"),
        })
        .help(help)
}
