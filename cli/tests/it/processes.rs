//! Checkers and models in other processes, on the command line. plugins/process has tests of the protocol.

#![cfg(unix)]

use crate::{histcheck, stderr, stdout};
use std::path::Path;

fn example(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/process/examples").join(name).display().to_string()
}

fn run(words: &[&str]) -> snapbox::cmd::OutputAssert {
    histcheck("").args(words).assert()
}

#[test]
fn a_model_in_python_checks_as_the_built_in_one() {
    let spec = format!("exec:python3 {}", example("cas_register.py"));
    for limit in [&[][..], &["--timeout", "100"]] {
        let words = [&["-m", "linearizable", "--spec", &spec, "stale-register.edn"], limit].concat();
        run(&words).code(1).stdout_eq("stale-register.edn\tfalse\n");
    }
    let shown = stdout(&run(&["minimize", "-m", "linearizable", "--spec", &spec, "stale-register.edn"]).code(1));
    assert!(shown.lines().count() > 1, "{shown}");
}

#[test]
fn a_checker_in_python_is_one_like_any_other() {
    let plugin = format!("exec:python3 {}", example("monotonic_reads.py"));
    let listed = stdout(&run(&["models", "--plugin", &plugin]).code(0));
    let begins = "monotonic-reads\n    Reads of one process never return less than an earlier one.\n    options: f\n";
    assert!(listed.contains(begins), "{listed}");
    let backwards = "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value 2}
        {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value 1}";
    for limit in [&[][..], &["--timeout", "100"]] {
        let words = [&["--plugin", &plugin, "-m", "monotonic-reads", "--output", "json", "-"], limit].concat();
        let assert = histcheck("").args(&words).stdin(backwards).assert().code(1);
        assert!(stdout(&assert).contains("\"anomaly_types\":[\"backwards-read\"]"), "{}", stdout(&assert));
        let words = [&["--plugin", &plugin, "-m", "monotonic-reads", "--f", "look", "-"], limit].concat();
        histcheck("").args(&words).stdin(backwards).assert().code(2);
    }
}

#[test]
fn what_goes_wrong_names_the_program() {
    let silent = "exec:sleep 1000";
    let assert = run(&["--timeout", "0.3", "--plugin", silent, "-m", "x", "valid.edn"]).code(255);
    assert!(stderr(&assert).contains("plugin exec:sleep 1000 sent no \"hello\""), "{}", stderr(&assert));
    let assert = run(&["-m", "linearizable", "--spec", "exec:false", "valid.edn"]).code(255).stdout_eq("");
    let error = "valid.edn: error: exec:false ended before it answered (exit status: 1)\n";
    assert_eq!(stderr(&assert), error);
    let assert = run(&["-m", "linearizable", "--spec", "exec:./none", "valid.edn"]).code(255).stdout_eq("");
    assert!(
        stderr(&assert).contains("exec:./none cannot be started: ./none or its interpreter was not found"),
        "{}",
        stderr(&assert)
    );
}
