//! `histcheck gen` for objects: registers, locks, queues and others.

use crate::{histcheck, stderr, stdout};
use std::fs;

const OBJECTS: [&str; 24] = [
    "register",
    "cas-register",
    "multi-register",
    "mutex",
    "owner-mutex",
    "reentrant-mutex",
    "semaphore",
    "fifo-queue",
    "unordered-queue",
    "stack",
    "deque",
    "priority-queue",
    "set",
    "counter",
    "kv",
    "versioned-register",
    "bank",
    "set-full",
    "queue",
    "total-queue",
    "unique-ids",
    "long-fork",
    "comments",
    "sequential",
];

fn run(words: &str) -> String {
    stdout(&histcheck(&format!("gen {words}")).assert().code(0))
}

#[test]
fn each_object_is_listed_and_gives_the_history_of_its_arguments() {
    let help = run("--help");
    for object in OBJECTS {
        assert!(help.lines().any(|line| line.split_whitespace().next() == Some(object)), "{object}: {help}");
        let history = run(&format!("{object} --ops 50 --seed 7"));
        assert_eq!(history, run(&format!("{object} --ops 50 --seed 7 -f edn")));
        assert_ne!(history, run(&format!("{object} --ops 50 --seed 8")));
        assert_eq!(run(object), run(&format!("{object} --ops 1000 --seed 0 --clients 10 --think 100000")), "defaults");
    }
}

#[test]
fn each_bug_that_is_listed_gives_a_history_of_its_own() {
    for object in OBJECTS {
        let help = run(&format!("{object} --help"));
        let (_, bugs) = help.split_once("Bugs:\n").unwrap();
        let bugs: Vec<&str> = bugs.lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert!(bugs.len() > 1 && bugs[0] == "none", "{bugs:?}");
        let correct = run(object);
        for bug in bugs {
            let history = run(&format!("{object} --bug {bug}"));
            assert_eq!(history == correct, bug == "none", "{bug} of {object} does something");
            histcheck("validate -").stdin(history).assert().code(0);
        }
    }
}

/// Writes of a multi-register may repeat values, which is an anomaly for transactions in general.
#[test]
fn nothing_about_them_is_doubtful() {
    for object in OBJECTS {
        let new = if object == "multi-register" { " --values 0" } else { "" };
        for more in ["", " --info-rate 0.1 --lost-rate 0.1 --nemesis"] {
            let history = run(&format!("{object}{new}{more}"));
            let assert = histcheck("validate -").stdin(history).assert().code(0);
            assert!(stdout(&assert).contains("-\t0 errors, 0 warnings, "), "{object}: {}", stdout(&assert));
        }
    }
}

#[test]
fn options_say_what_clients_do() {
    let words = "--clients 1 --fail-rate 0 --info-rate 0 --seed 3";
    let history =
        run(&format!("cas-register {words} --ops 3 --read-fraction 0 --cas-fraction 1 --values 1 --keyed --keys 2"));
    assert_eq!(history, CAS);
    let history = run(&format!("kv {words} --ops 4 --read-fraction 0.6 --put-fraction 0.3 --keys 1 -f jsonl"));
    assert_eq!(history, KV);
}

const CAS: &str = "\
{:index 0, :type :invoke, :process 0, :f :write, :value [0 0], :time 1953}
{:index 1, :type :ok, :process 0, :f :write, :value [0 0], :time 82611}
{:index 2, :type :invoke, :process 0, :f :write, :value [1 0], :time 190231}
{:index 3, :type :ok, :process 0, :f :write, :value [1 0], :time 195605}
{:index 4, :type :invoke, :process 0, :f :cas, :value [1 [0 0]], :time 287624}
{:index 5, :type :ok, :process 0, :f :cas, :value [1 [0 0]], :time 310997}
";

const KV: &str = r#"{"index":0,"type":"invoke","process":0,"f":"get","value":null,"key":"0","time":1953}
{"index":1,"type":"ok","process":0,"f":"get","value":"","key":"0","time":82611}
{"index":2,"type":"invoke","process":0,"f":"get","value":null,"key":"0","time":190231}
{"index":3,"type":"ok","process":0,"f":"get","value":"","key":"0","time":195605}
{"index":4,"type":"invoke","process":0,"f":"append","value":"0,","key":"0","time":287624}
{"index":5,"type":"ok","process":0,"f":"append","value":"0,","key":"0","time":310997}
{"index":6,"type":"invoke","process":0,"f":"append","value":"1,","key":"0","time":501588}
{"index":7,"type":"ok","process":0,"f":"append","value":"1,","key":"0","time":565384}
"#;

#[test]
fn names_of_other_options_will_do() {
    assert_eq!(run("kv --key-count 4 --key-dist zipf"), run("kv --keys 4 --key-distribution zipf:1"));
    assert_eq!(run("register --think 5"), run("register --think-ns 5"));
    assert_eq!(run("multi-register --max-txn-length 5"), run("multi-register --ops-per-txn-max 5"));
}

#[test]
fn the_examples_run() {
    for object in OBJECTS {
        let help = run(&format!("{object} --help"));
        let examples: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  histcheck gen ")).collect();
        assert_eq!(examples.len(), 2, "{help}");
        let dir = tempfile::tempdir().unwrap();
        for example in examples {
            histcheck(&format!("gen {example} --ops 10")).current_dir(dir.path()).assert().code(0).stdout_eq("");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "a file each");
    }
}

#[test]
fn what_cannot_be_had_is_wrong_usage() {
    for (words, said) in [
        ("register --keys 2", "--keys: keys is 2: more than one key needs keyed ops"),
        ("register --bug double-acquire", "'double-acquire'"),
        ("register --bug stale-read --bug-at 0.5", "--bug-at: "),
        ("register --cas-fraction 0.5", "--cas-fraction"),
        ("mutex --values 3", "--values"),
        ("kv --keyed", "--keyed"),
        ("counter --values 0", "--values: "),
        ("set --think -1", "--think"),
        ("semaphore --permits 0", "--permits: "),
        ("stack --capacity 0", "--capacity: "),
    ] {
        let assert = histcheck(&format!("gen {words}")).assert().code(254).stdout_eq("");
        assert!(stderr(&assert).contains(said), "{words}: {}", stderr(&assert));
    }
}
