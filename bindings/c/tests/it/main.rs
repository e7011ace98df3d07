//! Tests of the library from C's side: the header matches the functions, and the example runs, under valgrind if that
//! is installed.

mod calls;
mod header;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The folder of the library built for this test.
fn libraries() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    assert!(folder.join("libhistcheck.so").is_file(), "no libhistcheck.so in {}", folder.display());
    folder
}

#[test]
#[cfg(target_os = "linux")]
fn the_example_prints_what_it_should() {
    if !is_there("gcc") {
        eprintln!("skipped: there is no gcc");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("register");
    let libraries = libraries();
    run(Command::new("gcc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
        .arg(Path::new(CRATE).join("include"))
        .arg(Path::new(CRATE).join("examples/register.c"))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(&libraries)
        .arg("-lhistcheck")
        .arg(format!("-Wl,-rpath,{}", libraries.display())));
    let history = place.path().join("history.edn");
    std::fs::write(&history, "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value nil}\n")
        .unwrap();
    let output = run(Command::new(&program).arg(&history).arg("no-such-file"));
    let printed = String::from_utf8(output.stdout).unwrap();
    let begins = [
        "version 0.1.0",
        "bytes: 0 ",
        "initial 2: 0 ",
        "file: 2 ",
        "file: -1 opening failed",
        "violated: 1",
        "violation: 0 ",
        "finish: 0 ",
        "finish again: -1 this stream is finished",
        "feed after that: -1",
        "its error: -1 this stream is finished",
        "no checker: -1 checker is NULL",
        "no history: -1 ",
        "nothing: -1 ",
        "no such setting: -1 unknown setting colour; expected options",
        "NULL: -1 ",
    ];
    for (line, begin) in printed.lines().zip(begins) {
        assert!(line.starts_with(begin), "{line:?} does not begin with {begin:?}\n{printed}");
    }
    assert_eq!(printed.lines().count(), begins.len(), "{printed}");
    if !is_there("valgrind") {
        eprintln!("skipped: there is no valgrind");
        return;
    }
    run(Command::new("valgrind")
        .args(["-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite", "--"])
        .arg(&program)
        .arg(&history));
}
