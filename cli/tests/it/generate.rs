//! `histcheck gen`.

use crate::{histcheck, stderr, stdout};
use std::fs;

const WORKLOADS: [&str; 2] = ["list-append", "rw-register"];

#[test]
fn equal_arguments_give_equal_histories_and_other_seeds_others() {
    for workload in WORKLOADS {
        let run = |words: &str| stdout(&histcheck(&format!("gen {workload} --txns 200 {words}")).assert().code(0));
        assert_eq!(run("--seed 7"), run("--seed 7"));
        assert_ne!(run("--seed 7"), run("--seed 8"));
        assert_eq!(run(""), run("--seed 0 --format edn"), "the defaults are what the help says");
    }
}

#[test]
fn registers_are_written_and_read() {
    let words = "--txns 2 --clients 1 --seed 5 --fail-rate 0 --info-rate 0 --key-count 1 --min-txn-length 3";
    let run = |format: &str| stdout(&histcheck(&format!("gen rw-register {words} -f {format}")).assert().code(0));
    assert_eq!(run("edn"), REGISTERS_EDN);
    assert_eq!(run("jsonl"), REGISTERS_JSONL);
}

const REGISTERS_EDN: &str = "\
{:index 0, :type :invoke, :process 0, :f :txn, :value [[:r 0 nil] [:r 0 nil] [:w 0 1]], :time 15639}
{:index 1, :type :ok, :process 0, :f :txn, :value [[:r 0 nil] [:r 0 nil] [:w 0 1]], :time 73812}
{:index 2, :type :invoke, :process 0, :f :txn, :value [[:r 0 nil] [:w 0 2] [:r 0 nil] [:w 0 3]], :time 86984}
{:index 3, :type :ok, :process 0, :f :txn, :value [[:r 0 1] [:w 0 2] [:r 0 2] [:w 0 3]], :time 122857}
";

const REGISTERS_JSONL: &str = r#"{"index":0,"type":"invoke","process":0,"f":"txn","value":[["r",0,null],["r",0,null],["w",0,1]],"time":15639}
{"index":1,"type":"ok","process":0,"f":"txn","value":[["r",0,null],["r",0,null],["w",0,1]],"time":73812}
{"index":2,"type":"invoke","process":0,"f":"txn","value":[["r",0,null],["w",0,2],["r",0,null],["w",0,3]],"time":86984}
{"index":3,"type":"ok","process":0,"f":"txn","value":[["r",0,1],["w",0,2],["r",0,2],["w",0,3]],"time":122857}
"#;

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

/// The bugs of a workload that its help lists.
fn bugs(workload: &str) -> Vec<String> {
    let help = stdout(&histcheck(&format!("gen {workload} --help")).assert().code(0));
    let (_, bugs) = help.split_once("Bugs:\n").unwrap();
    bugs.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn each_bug_that_is_listed_can_be_had_and_gives_a_history() {
    let bugs = bugs("list-append");
    assert!(bugs.len() > 20 && bugs[0] == "none", "{bugs:?}");
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
fn each_bug_of_registers_that_is_listed_can_be_had() {
    let bugs = bugs("rw-register");
    assert!(bugs.len() > 19 && !bugs.contains(&"reordered-append".to_owned()), "{bugs:?}");
    let correct = stdout(&histcheck("gen rw-register --txns 400").assert());
    for bug in &bugs {
        let history = stdout(&histcheck(&format!("gen rw-register --txns 400 --bug {bug}")).assert().code(0));
        assert_eq!(history == correct, bug == "none", "{bug} does something");
        histcheck("validate -").stdin(history).assert().code(0);
    }
}

#[test]
fn a_level_of_isolation_is_the_bug_that_the_help_says() {
    let help = stdout(&histcheck("gen --help").assert().code(0));
    let (_, levels) = help.split_once("Levels:\n").unwrap();
    let levels: Vec<Vec<&str>> =
        levels.lines().take_while(|line| !line.is_empty()).map(|line| line.split_whitespace().collect()).collect();
    assert!(levels.contains(&vec!["serializable", "stale-read"]), "{help}");
    for level in levels {
        let [level, bug] = level.try_into().unwrap();
        let run = |bug: &str| stdout(&histcheck(&format!("gen list-append --txns 300 --bug {bug}")).assert().code(0));
        assert_eq!(run(level), run(bug), "{level}");
    }
}

#[test]
fn each_level_of_isolation_is_kept_and_the_next_is_not() {
    for (level, next) in [
        ("strong-session-serializable", "strict-serializable"),
        ("serializable", "strong-session-serializable"),
        ("strong-snapshot-isolation", "serializable"),
        ("strong-session-snapshot-isolation", "strong-snapshot-isolation"),
        ("snapshot-isolation", "strong-session-snapshot-isolation"),
        ("cursor-stability", "consistent-view"),
        ("read-committed", "cursor-stability"),
        ("read-uncommitted", "read-committed"),
    ] {
        let history =
            stdout(&histcheck(&format!("gen list-append --txns 800 --key-count 6 --bug {level}")).assert().code(0));
        let verdict = |model: &str| histcheck(&format!("-m list-append -c {model} -")).stdin(history.clone()).assert();
        // Cursors are not recorded, and the level that could decide instead does not hold.
        verdict(level).code(if level == "cursor-stability" { 2 } else { 0 });
        verdict(next).code(1);
    }
}

#[test]
fn registers_are_as_good_as_their_store() {
    let sources = "--wfr-keys --sequential-keys --linearizable-keys";
    for (bug, model, code) in [
        ("none", "strict-serializable", 0),
        ("stale-read", "serializable --wfr-keys", 0),
        ("stale-read", "strict-serializable", 1),
        ("lost-update", "snapshot-isolation", 1),
        ("read-uncommitted", "read-committed", 1),
        ("planted-G1c", "read-committed", 1),
    ] {
        let words = format!("gen rw-register --txns 500 --key-count 6 --bug {bug}");
        let history = stdout(&histcheck(&words).assert().code(0));
        // Sources are only correct for a store that is strict serializable.
        let sources = if model.contains("--") { "" } else { sources };
        let verdict = histcheck(&format!("-m rw-register {sources} -c {model} -")).stdin(history).assert();
        assert_eq!(verdict.get_output().status.code(), Some(code), "{bug} {model}");
    }
}

#[test]
fn a_bug_that_makes_no_sense_for_a_workload_is_refused() {
    let assert = histcheck("gen rw-register --bug reordered-append").assert().code(254).stdout_eq("");
    let said = "error: --bug: rw-register has no bug reordered-append: expected one of none, stale-read, ";
    assert!(stderr(&assert).starts_with(said), "{}", stderr(&assert));
}

#[test]
fn a_planted_cycle_is_found_and_takes_no_rate() {
    for (bug, anomaly) in [("planted-G1c", "G1c"), ("planted-G-single", "G-single-item")] {
        let history = stdout(&histcheck(&format!("gen list-append --txns 1000 --bug {bug} --seed 1")).assert().code(0));
        let assert = histcheck("-m list-append --output json -").stdin(history).assert().code(1);
        assert!(stdout(&assert).contains(&format!("\"{anomaly}\"")), "{}", stdout(&assert));
        histcheck(&format!("gen list-append --bug {bug} --bug-rate 0.5")).assert().code(254);
    }
}

#[test]
fn options_can_be_said_as_elle_does() {
    let run = |words: &str| stdout(&histcheck(&format!("gen rw-register --txns 300 {words}")).assert().code(0));
    let ours = "--keys 5 --key-distribution exponential:2 --ops-per-txn-min 2 --ops-per-txn-max 6 \
                --writes-per-key-min 8 --writes-per-key-max 8";
    let elles = "--key-count 5 --key-dist exponential --min-txn-length 2 --max-txn-length 6 --max-writes-per-key 8";
    assert_eq!(run(ours), run(elles), "an end of a range that is not given makes room for the other");
    assert_eq!(run("--min-writes-per-key 500"), run("--writes-per-key-min 500 --writes-per-key-max 500"));
    assert_eq!(run("--key-dist zipf"), run("--key-distribution zipf:1"));
}

/// Runs the examples of the help with small numbers: the last value of an option counts.
#[test]
fn the_examples_run() {
    let help = stdout(&histcheck("gen rw-register --help").assert());
    let examples: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  histcheck gen ")).collect();
    assert_eq!(examples.len(), 3, "{help}");
    let dir = tempfile::tempdir().unwrap();
    for example in examples {
        histcheck(&format!("gen {example} --txns 10")).current_dir(dir.path()).assert().code(0).stdout_eq("");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3, "a file each");
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
        ("--ops-per-txn-min 5 --ops-per-txn-max 4", "--ops-per-txn-min: "),
        ("--key-distribution zipf:99", "not from 0 to 16"),
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
