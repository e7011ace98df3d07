//! Help texts, and tests that they are correct.

use crate::{histcheck, stdout};
use snapbox::file;

#[test]
fn help_is_on_standard_output_and_no_error() {
    histcheck("-h").assert().code(0).stdout_eq(file!["snapshots/short-help.txt"]).stderr_eq("");
    histcheck("--help").assert().code(0).stdout_eq(file!["snapshots/help.txt"]).stderr_eq("");
}

#[test]
fn commands_have_help() {
    histcheck("validate --help").assert().code(0).stdout_eq(file!["snapshots/validate.txt"]);
    histcheck("gen --help").assert().code(0).stdout_eq(file!["snapshots/gen.txt"]);
    histcheck("gen list-append --help").assert().code(0).stdout_eq(file!["snapshots/gen-list-append.txt"]);
    histcheck("gen rw-register --help").assert().code(0).stdout_eq(file!["snapshots/gen-rw-register.txt"]);
    histcheck("gen cas-register --help").assert().code(0).stdout_eq(file!["snapshots/gen-cas-register.txt"]);
    for words in ["models --help", "anomalies --help", "consistency-models --help"] {
        histcheck(words).assert().code(0);
    }
}

#[test]
fn nothing_at_all_is_wrong_usage_and_shows_the_help() {
    let help = stdout(&histcheck("-h").assert());
    histcheck("").assert().code(254).stdout_eq("").stderr_eq(help);
}

#[test]
fn the_version_is_the_packages() {
    let version = concat!("histcheck ", env!("CARGO_PKG_VERSION"), "\n");
    histcheck("--version").assert().code(0).stdout_eq(version);
    histcheck("-V").assert().code(0).stdout_eq(version);
}

/// Runs the examples of --help, with the files that they name.
#[cfg(unix)]
#[test]
fn the_examples_run() {
    let help = stdout(&histcheck("--help").assert());
    let lines: Vec<&str> = help.lines().map(str::trim).filter(|line| line.starts_with("histcheck ")).collect();
    let examples: Vec<&&str> = lines.iter().filter(|line| line.contains("history.edn") || line.contains('|')).collect();
    assert!(examples.len() >= 4, "{help}");

    let dir = tempfile::tempdir().unwrap();
    let program = snapbox::cmd::cargo_bin!("histcheck");
    let path = std::env::join_paths(
        program.parent().map(Into::into).into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    for example in examples {
        // A history that the checkers of the example understand.
        let history = if example.contains("bank") { "transfers.edn" } else { "stale.edn" };
        std::fs::copy(crate::fixtures().join(history), dir.path().join("history.edn")).unwrap();
        let shell = snapbox::cmd::Command::new("sh").args(["-c", example]).current_dir(dir.path());
        let assert = shell.env("PATH", path.as_ref().unwrap()).assert();
        let code = assert.get_output().status.code();
        assert!(matches!(code, Some(0 | 1)), "{example}: {code:?}\n{}", crate::stderr(&assert));
    }
}
