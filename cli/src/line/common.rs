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
