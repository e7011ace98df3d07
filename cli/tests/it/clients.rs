//! Clients with names are treated like those with numbers: the reports differ only in the names of clients.

use super::{histcheck, stderr, stdout};
use std::fmt::Write as _;
use std::path::Path;

/// A workload, a bug that causes a violation with the seed below, and the checker.
const WORLDS: &[(&str, &str, &str)] = &[
    ("list-append", "stale-read", "list-append"),
    ("rw-register", "read-uncommitted", "rw-register"),
    ("register", "wrong-read", "register"),
    ("cas-register", "wrong-read", "cas-register"),
    ("multi-register", "wrong-read", "multi-register"),
    ("kv", "stale-read", "kv"),
    ("mutex", "double-acquire", "mutex"),
    ("owner-mutex", "double-acquire", "owner-mutex"),
    ("reentrant-mutex", "double-acquire", "reentrant-mutex"),
    ("semaphore", "double-acquire", "semaphore"),
    ("fifo-queue", "lost-element", "fifo-queue"),
    ("unordered-queue", "duplicate-element", "unordered-queue"),
    ("stack", "lost-element", "stack"),
    ("deque", "lost-element", "deque"),
    ("priority-queue", "lost-element", "priority-queue"),
    ("set", "lost-element", "linearizable-set"),
    ("counter", "lost-write", "linearizable-counter"),
    ("versioned-register", "stale-read", "versioned-register"),
    ("bank", "read-skew", "bank"),
    ("counter", "stale-read", "counter"),
    ("set", "lost-element", "set"),
    ("set-full", "lost-element", "set-full"),
    ("queue", "wrong-read", "queue"),
    ("total-queue", "lost-element", "total-queue"),
    ("unique-ids", "repeated-id", "unique-ids"),
    ("long-fork", "read-skew", "long-fork"),
    ("comments", "read-skew", "comments"),
    ("sequential", "read-skew", "sequential"),
];

/// A history of a workload, as JSON Lines.
fn generated(workload: &str, bug: &str, more: &str) -> String {
    let size = if matches!(workload, "list-append" | "rw-register") { "--txns" } else { "--ops" };
    let words = format!("gen {workload} {size} 200 --seed 4 --bug {bug} {more} -f jsonl");
    stdout(&histcheck(&words).assert().success())
}

/// The beginning of the numbers that represent names within checkers.
const NUMBER_OF_A_NAME: &str = "-92233720368547758";

/// The history, with names for some clients.
fn renamed(text: &str, has_name: impl Fn(u64) -> bool) -> String {
    let mut renamed = String::new();
    for line in text.lines() {
        let (before, rest) = line.split_once("\"process\":").unwrap();
        let (process, rest) = rest.split_once(',').unwrap();
        let process = match process.parse::<u64>() {
            Ok(number) if has_name(number) => format!("\"worker-{number}-x\""),
            _ => process.to_owned(),
        };
        writeln!(renamed, "{before}\"process\":{process},{rest}").unwrap();
    }
    renamed
}

/// The report that the clients would have with numbers.
fn numbered(report: &str) -> String {
    let mut parts = report.split("worker-");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_once("-x").unwrap();
        let is_json = text.ends_with('"');
        if is_json || text.ends_with(':') {
            text.pop();
        }
        text += number;
        text += if is_json { rest.strip_prefix('"').unwrap() } else { rest };
    }
    text
}

/// The report on a history, and the exit code.
fn report(dir: &Path, checker: &str, more: &str, text: &str) -> (String, Option<i32>) {
    let path = dir.join("history.jsonl");
    std::fs::write(&path, text).unwrap();
    let judged = histcheck(&format!("-m {checker} --output json {more}")).arg(&path).assert();
    (stdout(&judged), judged.get_output().status.code())
}

#[test]
fn clients_with_names_are_judged_as_those_with_numbers() {
    let dir = tempfile::tempdir().unwrap();
    for (workload, bug, checker) in WORLDS {
        for bug in ["none", bug] {
            let text = generated(workload, bug, "--info-rate 0.02 --nemesis");
            let about = format!("{workload} {bug} {checker}");
            let expected = report(dir.path(), checker, "", &text);
            assert!(bug == "none" || expected.1 == Some(1), "it did no harm: {about}: {expected:?}");
            let all = report(dir.path(), checker, "", &renamed(&text, |_| true));
            assert_eq!((numbered(&all.0), all.1), expected, "{about}");
            let some = report(dir.path(), checker, "", &renamed(&text, |number| number % 2 == 0));
            assert_eq!((numbered(&some.0), some.1), expected, "{about}, mixed");
            // Some harnesses record only completions. The first one may be an info.
            let completions =
                |text: &str| -> String { text.split_inclusive('\n').filter(|line| !line.contains("invoke")).collect() };
            let expected = report(dir.path(), checker, "", &completions(&text));
            let all = report(dir.path(), checker, "--clients worker-*", &completions(&renamed(&text, |_| true)));
            assert_eq!((numbered(&all.0), all.1), expected, "{about}, completions only");
        }
    }
}

#[test]
fn a_lost_write_of_clients_with_names_is_found() {
    let words = "gen versioned-register --ops 200 --bug lost-write --seed 1 -f jsonl";
    let text = renamed(&stdout(&histcheck(words).assert().success()), |_| true);
    let dir = tempfile::tempdir().unwrap();
    let (found, code) = report(dir.path(), "versioned-register", "", &text);
    assert!(code == Some(1) && found.contains(r#""process":"worker-"#), "{found}");
}

#[test]
fn pages_pictures_and_smaller_histories_have_the_names() {
    let dir = tempfile::tempdir().unwrap();
    for (workload, bug) in [("list-append", "stale-read"), ("register", "wrong-read"), ("bank", "read-skew")] {
        let text = renamed(&generated(workload, bug, ""), |_| true);
        let path = dir.path().join(format!("{workload}.jsonl"));
        std::fs::write(&path, text).unwrap();
        let out = dir.path().join(workload);
        histcheck(&format!("report -m {workload} -d")).arg(&out).arg(&path).assert().code(1);
        let page = std::fs::read_to_string(out.join("report.html")).unwrap();
        assert!(page.contains("worker-") && !page.contains(NUMBER_OF_A_NAME), "{page}");
        let small = dir.path().join("small.jsonl");
        histcheck(&format!("minimize -m {workload} -o")).arg(&small).arg(&path).assert().code(1);
        let small = std::fs::read_to_string(small).unwrap();
        assert!(small.lines().all(|line| line.contains("\"process\":\"worker-")), "{small}");
    }
    // Files that checkers write themselves.
    for (workload, file) in [("register", "timeline.html"), ("bank", "wrong-total.txt"), ("list-append", "0.svg")] {
        let out = dir.path().join(format!("{workload}-files"));
        histcheck(&format!("-m {workload} -d"))
            .arg(&out)
            .arg(dir.path().join(format!("{workload}.jsonl")))
            .assert()
            .code(1);
        let written: Vec<String> = files(&out).into_iter().filter(|path| path.ends_with(file)).collect();
        assert!(!written.is_empty(), "{workload}");
        for path in written {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.contains("worker-") && !text.contains(NUMBER_OF_A_NAME), "{path}: {text}");
        }
    }
}

/// All files below a directory.
fn files(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path.display().to_string()] }).collect()
}

const LEFT_OUT: &str = "{:process 0, :type :invoke, :f :txn, :value [[:append 1 1]]}
{:process :w1, :type :info, :f :txn, :value [[:append 1 2]]}
{:process :nemesis, :type :info, :f :kill}
{:process 0, :type :ok, :f :txn, :value [[:append 1 1]]}
{:process 0, :type :invoke, :f :txn, :value [[:r 1 nil]]}
{:process 0, :type :ok, :f :txn, :value [[:r 1 [1]]]}";

#[test]
fn what_is_left_out_is_noted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.edn");
    std::fs::write(&path, LEFT_OUT).unwrap();
    let judge = |words: &str| stdout(&histcheck(&format!("--output json {words}")).arg(&path).assert());
    let note = "1 op was ignored, because its process is not a client: 1 of w1.";
    let judged = judge("-m list-append");
    assert!(judged.contains("\"valid\":true") && judged.contains(note), "{judged}");
    assert!(judged.contains("\"nonclient-op-count\":2"), "{judged}");
    assert!(judge("-m list-append,stats").matches(note).count() == 2);
    let judged = histcheck("-m list-append --clients w1,w2").arg(&path).assert().code(255);
    let expected = "process w1 completes an op without having invoked one";
    assert!(stderr(&judged).contains(expected), "{}", stderr(&judged));
}

#[test]
fn numbers_are_left_out_like_names() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.edn");
    let text = "{:process 0, :type :invoke, :f :write, :value 1} {:process 0, :type :ok, :f :write, :value 1}
{:process 1, :type :invoke, :f :read} {:process 1, :type :ok, :f :read, :value 7}
{:process 10, :type :invoke, :f :read} {:process 10, :type :ok, :f :read, :value 1}";
    std::fs::write(&path, text).unwrap();
    let judge = |words: &str| histcheck(&format!("-m register --output json {words}")).arg(&path).assert();
    judge("").code(1);
    let judged = stdout(&judge("--not-clients 1").success());
    assert!(judged.contains("2 ops were ignored, because their processes are not clients: 2 of 1."), "{judged}");
    assert!(judged.contains("\"nonclient-op-count\":2"), "{judged}");
    // A name that is given as a client remains one.
    judge("--clients 1 --not-clients 1*").code(1);
    // A process that is not a client may continue after an info.
    std::fs::write(&path, format!("{text} {{:process 2, :type :info}} {{:process 2, :type :info}}")).unwrap();
    judge("--not-clients 1,2").success();
    judge("--not-clients 1").code(255);
}

#[test]
fn names_that_no_op_has_are_warned_of() {
    let dir = tempfile::tempdir().unwrap();
    let other = dir.path().join("other.edn");
    std::fs::write(&other, "{:process :w9, :type :invoke, :f :read} {:process :w9, :type :ok, :f :read, :value 1}")
        .unwrap();
    let path = dir.path().join("h.edn");
    std::fs::write(&path, LEFT_OUT).unwrap();
    let warned = |words: &str| stderr(&histcheck(&format!("-m stats {words}")).arg(&path).arg(&other).assert());
    let said = warned("--clients zzz,w9 --not-clients w1,7,n*");
    for name in ["zzz", "7"] {
        let warning = format!("--clients or --not-clients names {name}, but no history has an op");
        assert!(said.contains(&warning), "{name}: {said}");
    }
    assert_eq!(said.matches("no history has an op").count(), 2, "{said}");
}

#[test]
fn every_command_warns_of_names_that_no_op_has() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.edn");
    std::fs::write(&path, LEFT_OUT).unwrap();
    let pages = format!("report -d {} -m stats", dir.path().join("pages").display());
    let commands = [
        "watch -m stats",
        "validate",
        "minimize -m stats",
        &pages,
        "-m stats --timeout 60",
        "-m stats -j 2 --timeout 60",
    ];
    for words in commands {
        let command = if words.starts_with("watch") {
            histcheck(&format!("{words} - --clients zzz --not-clients w1")).stdin(LEFT_OUT).assert()
        } else {
            histcheck(&format!("{words} --clients zzz --not-clients w1")).arg(&path).assert()
        };
        let said = stderr(&command);
        let warning = "warning: --clients or --not-clients names zzz, but no history has an op of that process\n";
        assert_eq!(said.matches(warning).count(), 1, "{words}: {said}");
        assert_eq!(said.matches("no history has an op").count(), 1, "{words}: {said}");
        assert!(!said.contains('\0'), "{words}: {said}");
    }
    // If any of several histories contains a name, there is no warning about it, whichever process checked the history.
    let other = dir.path().join("other.edn");
    std::fs::write(&other, "{:process :zzz, :type :invoke, :f :read} {:process :zzz, :type :ok, :f :read, :value 1}")
        .unwrap();
    let both = histcheck("-m stats --timeout 60 --clients zzz --not-clients w1").arg(&path).arg(&other).assert();
    assert!(!stderr(&both).contains("no history has an op"), "{}", stderr(&both));
}

#[test]
fn an_info_that_may_be_a_clients_needs_an_option() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.edn");
    // Without the op of w2, the value that was read was never written.
    let text = "{:process :w2, :type :info, :f :txn, :value [[:append 1 2]]}
{:process :w1, :type :ok, :f :txn, :value [[:r 1 [2]]]}";
    std::fs::write(&path, text).unwrap();
    let judge = |words: &str| histcheck(&format!("-m list-append {words}")).arg(&path).assert();
    let refused = judge("").code(255);
    assert!(stderr(&refused).contains("--clients w2"), "{}", stderr(&refused));
    judge("--clients w2").success();
    judge("--not-clients w2").code(1);
}

#[test]
fn times_may_be_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.jsonl");
    let text = r#"{"process": "w1", "type": "invoke", "f": "txn", "value": [["append", 1, 1]], "time": 1700000000.123}
{"process": "w1", "type": "ok", "f": "txn", "value": [["append", 1, 1]], "time": 1700000000.125}"#;
    std::fs::write(&path, text).unwrap();
    let refused = histcheck("-m list-append").arg(&path).assert().code(255);
    let said = stderr(&refused);
    assert!(said.contains(":1:1: error: the op's time is 1700000000.123\n"), "{said}");
    assert!(said.contains("expected nanoseconds, as an integer; or the unit of such times (--time-unit s,"), "{said}");
    let found = histcheck("validate").arg(&path).assert().code(1);
    assert!(stdout(&found).contains("the op's time is 1700000000.125 [not-an-op]"), "{}", stdout(&found));
    let written = histcheck("-m stats --output json --time-unit s").arg(&path).assert();
    assert!(stdout(&written).contains("latency 2.000 to 2.000 ms"), "{}", stdout(&written));
    histcheck("validate --time-unit s").arg(&path).assert().success();
}
