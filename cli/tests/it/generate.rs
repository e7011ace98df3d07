//! `histcheck gen`.

use crate::{histcheck, stderr, stdout};
use std::fs;

#[test]
fn equal_arguments_give_equal_histories_and_other_seeds_others() {
    let run = |words: &str| stdout(&histcheck(&format!("gen list-append --txns 200 {words}")).assert().code(0));
    assert_eq!(run("--seed 7"), run("--seed 7"));
    assert_ne!(run("--seed 7"), run("--seed 8"));
    assert_eq!(run(""), run("--seed 0 --format edn"), "the defaults are what the help says");
}

#[test]
fn a_correct_store_gives_valid_histories_in_every_format() {
    for format in ["edn", "json", "jsonl"] {
        let history = stdout(&histcheck(&format!("gen list-append --txns 300 --format {format}")).assert().code(0));
        let begins = if format == "edn" {
            "{:index 0"
        } else if format == "json" {
            "[{"
        } else {
            "{\"index\":0"
        };
        assert!(history.starts_with(begins), "{format}: {}", &history[..20]);
        histcheck("-m list-append -").stdin(history).assert().code(0).stdout_eq("-\ttrue\n");
    }
}

/// The bugs, as the help lists them.
fn bugs() -> Vec<String> {
    let help = stdout(&histcheck("gen --help").assert().code(0));
    let (_, bugs) = help.split_once("Bugs:\n").unwrap();
    bugs.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn each_bug_that_is_listed_can_be_had_and_gives_a_history() {
    let bugs = bugs();
    assert!(bugs.len() > 10 && bugs[0] == "none", "{bugs:?}");
    let correct = stdout(&histcheck("gen list-append --txns 400").assert());
    for bug in &bugs {
        let history = stdout(&histcheck(&format!("gen list-append --txns 400 --bug {bug}")).assert().code(0));
        assert_eq!(history == correct, bug == "none", "{bug} does something");
        let assert = histcheck("-m list-append -").stdin(history).assert();
        let code = assert.get_output().status.code().unwrap();
        assert!(code <= 2, "{bug}: {code} {}", stderr(&assert));
        if ["lost-update", "read-committed", "read-uncommitted", "dirty-write"].contains(&bug.as_str()) {
            assert_eq!(code, 1, "{bug} does harm in every history of this length");
        }
    }
}

#[test]
fn a_bug_that_never_applies_does_no_harm() {
    let words = "gen list-append --txns 400 --bug lost-update --bug-rate 0";
    let history = stdout(&histcheck(words).assert().code(0));
    histcheck("-m list-append -").stdin(history).assert().code(0);
}

#[test]
fn a_nemesis_is_no_client() {
    let history = stdout(&histcheck("gen list-append --txns 2000 --nemesis").assert().code(0));
    assert!(history.contains(":process :nemesis"), "{}", &history[..200]);
    histcheck("-m list-append -").stdin(history).assert().code(0);
}

#[test]
fn an_unknown_bug_is_wrong_usage() {
    let assert = histcheck("gen list-append --bug lost-updates").assert().code(254).stdout_eq("");
    assert!(stderr(&assert).contains("'lost-update'"), "{}", stderr(&assert));
}

#[test]
fn a_file_gets_the_format_of_its_name() {
    let dir = tempfile::tempdir().unwrap();
    histcheck("gen list-append --txns 5 -o h.jsonl").current_dir(dir.path()).assert().code(0).stdout_eq("");
    let text = fs::read_to_string(dir.path().join("h.jsonl")).unwrap();
    let piped = stdout(&histcheck("gen list-append --txns 5 -f jsonl").assert());
    assert_eq!(text, piped);
    histcheck("gen list-append --txns 5 -f edn --out h.jsonl").current_dir(dir.path()).assert().code(0);
    assert!(
        fs::read_to_string(dir.path().join("h.jsonl")).unwrap().starts_with("{:index 0"),
        "what was asked for wins"
    );
}

#[test]
fn parameters_shape_the_history() {
    let words = "--txns 40 --clients 1 --keys 1 --ops-per-txn-min 2 --ops-per-txn-max 2 --read-fraction 0 --fail-rate 0 \
                 --info-rate 0 --writes-per-key-min 9 --writes-per-key-max 9 --key-distribution zipf:1";
    let history = stdout(&histcheck(&format!("gen list-append {words}")).assert().code(0));
    assert_eq!(history.lines().count(), 80);
    assert!(
        history.lines().all(|line| line.matches(":append").count() == 2 && line.contains(":process 0,")),
        "{history}"
    );
    assert_eq!(history.matches(":append 0 ").count(), 18, "invoked and completed, nine appends to the first key");
}

#[test]
fn parameters_out_of_range_are_wrong_usage() {
    for (words, said) in [
        ("--fail-rate 2", "--fail-rate: "),
        ("--keys 0", "--keys: "),
        ("--ops-per-txn-min 5", "--ops-per-txn-min: "),
        ("--key-distribution zipf:99", "--key-distribution: "),
        ("--key-distribution normal", "exponential:BASE"),
        ("--bug-rate 1.5", "--bug-rate: "),
        ("--txns -1", "--txns"),
        ("--seed x", "--seed"),
    ] {
        let assert = histcheck(&format!("gen list-append {words}")).assert().code(254).stdout_eq("");
        assert!(stderr(&assert).contains(said), "{words}: {}", stderr(&assert));
    }
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let assert = histcheck("gen list-append --txns 5 -o no/such/folder.edn").assert().code(255).stdout_eq("");
    assert!(stderr(&assert).starts_with("error: cannot write no/such/folder.edn: "), "{}", stderr(&assert));
}
