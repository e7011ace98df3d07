//! The behaviour of the command line, tested with the program itself.

#![expect(clippy::needless_raw_string_hashes, reason = "snapbox writes snapshots with hashes")]

mod anonymize;
#[cfg(unix)]
mod checkpoints;
mod ci;
mod clients;
mod compose;
mod config;
mod convert;
mod directory;
mod errors;
mod exit_codes;
mod generate;
mod generate_objects;
mod help;
mod hostile;
mod inputs;
#[cfg(unix)]
mod interrupt;
mod jepsen;
mod keyed;
mod known;
mod linearizable;
#[cfg(all(target_os = "linux", feature = "live-sqlite"))]
mod live;
#[cfg(all(target_os = "linux", feature = "live-sqlite"))]
mod live_clusters;
#[cfg(all(target_os = "linux", feature = "live-sqlite"))]
mod live_process;
mod minimize;
mod next_steps;
#[cfg(feature = "objects")]
mod objects;
mod output;
mod outputs;
mod plugins;
mod policy;
mod processes;
mod registers;
mod repeatable;
mod report;
#[cfg(feature = "scale")]
mod scale;
mod serve;
mod several;
mod shells;
mod tables;
mod usage;
mod vacuous;
mod validate;
mod watch;
mod watch_end;
#[cfg(unix)]
mod watch_files;
#[cfg(unix)]
mod watch_order;
#[cfg(unix)]
mod watch_writers;

use snapbox::cmd::{Command, OutputAssert};
use std::path::PathBuf;

/// The folder of small histories for the tests.
fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// The program, run in the folder of the fixtures, independently of the tests' terminal.
fn histcheck(words: &str) -> Command {
    Command::new(snapbox::cmd::cargo_bin!("histcheck"))
        .args(words.split_whitespace())
        .current_dir(fixtures())
        .env_remove("COLUMNS")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("GITHUB_STEP_SUMMARY")
}

/// Runs it on histories of list-append.
fn check(words: &str) -> OutputAssert {
    histcheck(&format!("-m list-append {words}")).assert()
}

/// What was written to standard output.
fn stdout(assert: &OutputAssert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

/// What was written to standard error.
fn stderr(assert: &OutputAssert) -> String {
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}
