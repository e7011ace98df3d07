//! No verdict is `true` without evidence: every checker and every consistency level on histories in which it has
//! nothing to check.
//!
//! Each case has its expected verdict, and each `true` a reason. A checker that always returns valid is tested with the
//! same table, and every case must detect it.

use crate::{histcheck, next_steps, stdout};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A checker, and how to generate a history for it.
struct Row {
    /// The value of `-m`.
    checker: &'static str,
    /// The name of its workload in `histcheck gen`.
    workload: &'static str,
    /// A bug that the checker finds in such a history, with this seed. `stats` finds none.
    bug: &'static str,
    seed: u64,
}

const fn row(checker: &'static str, workload: &'static str, bug: &'static str, seed: u64) -> Row {
    Row { checker, workload, bug, seed }
}

/// Every built-in checker.
const CHECKERS: &[Row] = &[
    row("list-append", "list-append", "stale-read", 2),
    row("rw-register --linearizable-keys", "rw-register", "stale-read", 2),
    row("closed-predicate", "closed-predicate", "missed-insert", 1),
    row("isolation", "rw-register", "stale-read", 2),
    row("versioned-register", "versioned-register", "lost-write", 1),
    row("register", "register", "wrong-read", 1),
    row("cas-register", "cas-register", "wrong-read", 1),
    row("multi-register", "multi-register", "wrong-read", 1),
    row("kv", "kv", "wrong-read", 1),
    row("mutex", "mutex", "double-acquire", 1),
    row("owner-mutex", "owner-mutex", "double-acquire", 1),
    row("reentrant-mutex", "reentrant-mutex", "double-acquire", 1),
    row("semaphore", "semaphore", "double-acquire", 1),
    row("fifo-queue", "fifo-queue", "duplicate-element", 1),
    row("unordered-queue", "unordered-queue", "duplicate-element", 1),
    row("stack", "stack", "duplicate-element", 1),
    row("deque", "deque", "duplicate-element", 1),
    row("priority-queue", "priority-queue", "duplicate-element", 1),
    row("linearizable-set", "set", "lost-element", 1),
    row("linearizable-counter", "counter", "wrong-read", 1),
    row("linearizable-register", "by-key", "wrong-read", 1),
    row("linearizable --spec kv", "kv", "wrong-read", 1),
    row("bank", "bank", "wrong-read", 1),
    row("counter", "counter", "wrong-read", 1),
    row("pn-counter", "pn-counter", "wrong-sum", 1),
    row("g-counter", "pn-counter", "wrong-sum", 1),
    row("set", "set-full", "lost-element", 1),
    row("set-full", "set-full", "lost-element", 1),
    row("long-fork", "long-fork", "read-skew", 4),
    row("comments", "comments", "read-skew", 1),
    row("causal-reverse", "comments", "read-skew", 1),
    row("causal", "causal", "wrong-read", 1),
    row("adya-g2", "adya-g2", "both-insert", 1),
    row("sequential", "sequential", "read-skew", 1),
    row("queue", "queue", "wrong-read", 1),
    row("total-queue", "total-queue", "lost-element", 1),
    row("unique-ids", "unique-ids", "repeated-id", 1),
    row("kafka", "kafka", "lost-write", 1),
    row("stats", "bank", "none", 1),
    row("unhandled-exceptions", "bank", "none", 1),
];

/// Checkers whose verdict on a valid history of another workload is `true`, and the reason.
const TRUE_OF_ANOTHER: &[(&str, &[&str], &str)] = &[
    ("rw-register --linearizable-keys", &["long-fork"], "it reads and writes registers in transactions"),
    ("closed-predicate", &["long-fork", "rw-register"], "it reads and writes registers in transactions"),
    ("isolation", &["list-append", "long-fork"], "it reads and writes registers or lists in transactions"),
    ("register", &["versioned-register"], "it reads and writes a register"),
    ("cas-register", &["register", "versioned-register"], "they read and write a register"),
    ("multi-register", &["rw-register"], "it reads and writes registers in transactions"),
    ("mutex", &["owner-mutex", "semaphore"], "its owners acquire and release"),
    ("owner-mutex", &["mutex", "semaphore"], "who acquires is the owner"),
    ("reentrant-mutex", &["mutex", "owner-mutex", "semaphore"], "a lock that nobody acquires twice is one that may be"),
    ("semaphore", &["mutex"], "a lock is a single permit"),
    ("fifo-queue", &["queue"], "it enqueues and dequeues, in order"),
    ("unordered-queue", &["fifo-queue", "queue"], "they enqueue and dequeue"),
    ("linearizable-set", &["set-full"], "it adds and reads"),
    ("counter", &["pn-counter"], "it adds and reads"),
    ("linearizable-counter", &["pn-counter"], "it adds and reads"),
    ("set", &["set"], "it adds and reads"),
    ("set-full", &["set"], "it adds and reads"),
    ("queue", &["fifo-queue", "total-queue", "unordered-queue"], "they enqueue and dequeue"),
];

/// Ops of a history.
type Ops = Vec<Value>;

fn generate(workload: &str, bug: &str, seed: u64) -> Ops {
    if let Some(made) = made(workload, bug != "none") {
        return made;
    }
    if workload == "by-key" {
        return generate_lines(&format!(
            "gen cas-register --keyed --keys 3 --ops 200 --bug {bug} --seed {seed} -f jsonl"
        ));
    }
    let length = if ["list-append", "rw-register"].contains(&workload) { "--txns 100" } else { "--ops 200" };
    generate_lines(&format!("gen {workload} {length} --bug {bug} --seed {seed} -f jsonl"))
}

fn generate_lines(words: &str) -> Ops {
    let text = stdout(&histcheck(words).assert().code(0));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A history of a workload that `gen` does not generate.
fn made(workload: &str, has_bug: bool) -> Option<Ops> {
    let mut ops = Ops::new();
    let mut push = |process: u64, f: &str, invoked: Value, end: &str, value: Value, more: Value| {
        for (kind, value) in [("invoke", invoked), (end, value)] {
            let mut op = json!({"process": process, "type": kind, "f": f, "value": value});
            op.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            ops.push(op);
        }
    };
    match workload {
        "adya-g2" => {
            for key in 0..20_u64 {
                let end = if has_bug && key == 11 { "ok" } else { "fail" };
                for (process, ids, end) in [(0, json!([1, null]), "ok"), (1, json!([null, 2]), end)] {
                    push(process, "insert", json!([key, ids]), end, json!([key, ids]), json!({}));
                }
            }
        }
        "causal" => {
            push(0, "read-init", Value::Null, "ok", json!(0), json!({"position": 0, "link": "init"}));
            for count in 1..20_u64 {
                let at = |position| json!({"position": position, "link": position - 1});
                push(0, "write", json!(count), "ok", json!(count), at(2 * count - 1));
                let shown = if has_bug && count == 11 { 10 } else { count };
                push(0, "read", Value::Null, "ok", json!(shown), at(2 * count));
            }
        }
        "closed-predicate" => {
            push(0, "init", json!({"0": 0}), "ok", json!({"0": 0}), json!({}));
            for key in 1..20_u64 {
                let mops = |shown: Value| json!([["insert", key, 5], ["rp", "true", shown], ["r", key - 1, null]]);
                let first = u64::from(has_bug && key == 11);
                let shown: Vec<Value> = (first..=key).map(|key| json!([key, if key == 0 { 0 } else { 5 }])).collect();
                let mut ended = mops(shown.into());
                ended[2][2] = json!(if key == 1 { 0 } else { 5 });
                push(key % 3, "txn", mops(Value::Null), "ok", ended, json!({}));
            }
        }
        "pn-counter" => {
            for amount in 1..20_u64 {
                push(amount % 3, "add", json!(amount), "ok", json!(amount), json!({}));
            }
            let sum = if has_bug { 191 } else { 190 };
            push(0, "read", Value::Null, "ok", json!(sum), json!({"final?": true}));
        }
        _ => return None,
    }
    Some(ops)
}

/// One valid history of each workload, by name.
fn workloads() -> BTreeMap<&'static str, Ops> {
    CHECKERS.iter().map(|row| (row.workload, generate(row.workload, "none", 1))).collect()
}

/// The verdict of a checker, and its full report.
fn judge(checker: &str, ops: &[Value]) -> (String, String) {
    judge_all(checker, &[ops]).remove(0)
}

/// The same for several histories, in one process.
fn judge_all(checker: &str, histories: &[&[Value]]) -> Vec<(String, String)> {
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<_> = (0..histories.len()).map(|at| dir.path().join(format!("{at}.json"))).collect();
    for (path, ops) in paths.iter().zip(histories) {
        // An array, so that an empty history is valid JSON.
        std::fs::write(path, Value::from(*ops).to_string()).unwrap();
    }
    let output = histcheck(&format!("-m {checker} --output json")).args(&paths).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let reports = String::from_utf8(output.stdout).unwrap();
    let judged: Vec<(String, String)> = reports
        .lines()
        .map(|report| {
            let json: Value = serde_json::from_str(report).unwrap();
            let valid = json.get("valid").unwrap_or_else(|| panic!("-m {checker}: {report}{errors}"));
            (valid.as_str().map_or_else(|| valid.to_string(), str::to_owned), report.to_owned())
        })
        .collect();
    let some = |name: &str| judged.iter().any(|(verdict, _)| verdict == name);
    let code = if some("false") { 1 } else { 2 * i32::from(some("unknown")) };
    assert_eq!((output.status.code(), judged.len()), (Some(code), histories.len()), "-m {checker}: {errors}");
    judged
}

/// The error in the next steps of a report: an unknown verdict must have some, and no other verdict may.
fn lacks_step(report: &str, options: &[String]) -> Option<String> {
    next_steps::fault(&serde_json::from_str(report).unwrap(), options).map(|why| format!("{why}: {report}"))
}

/// The ops with a separate client for each operation, which ends in this way.
fn all_end(ops: &[Value], kind: &str) -> Ops {
    let mut clients = 0;
    let mut open = BTreeMap::new();
    let mut changed = Ops::new();
    for op in ops {
        let mut op = op.clone();
        let process = op["process"].to_string();
        if op["type"] == "invoke" {
            clients += 1;
            open.insert(process.clone(), clients);
        } else {
            op["type"] = kind.into();
        }
        op["process"] = open[&process].into();
        changed.push(op);
    }
    changed
}

fn by_name(ops: &[Value]) -> Ops {
    let named = |op: &Value| {
        let mut op = op.clone();
        op["process"] = format!("w{}", op["process"]).into();
        op
    };
    ops.iter().map(named).collect()
}

/// The first operation of a function that ends with ok, alone.
fn one_op(ops: &[Value], f: Option<&str>) -> Ops {
    let is_it = |op: &&Value| op["type"] == "ok" && f.is_none_or(|f| op["f"] == f);
    let end = ops.iter().position(|op| is_it(&op)).unwrap();
    let invoked = ops[..end].iter().rposition(|op| op["process"] == ops[end]["process"]).unwrap();
    vec![ops[invoked].clone(), ops[end].clone()]
}

/// The same ops, with their values in a field that checkers do not read.
fn values_as_val(ops: &[Value]) -> Ops {
    let renamed = |op: &Value| {
        let mut op = op.clone();
        if let Some(value) = op.as_object_mut().unwrap().remove("value") {
            op["val"] = value;
        }
        op
    };
    ops.iter().map(renamed).collect()
}

/// The expected verdict on ops without values, if it is not unknown.
fn of_ops_without_values(row: &Row) -> Option<(&'static str, &'static str)> {
    let locks = ["mutex", "owner-mutex", "reentrant-mutex", "semaphore"];
    if locks.contains(&row.checker) {
        return Some(("true", "who acquires is the process, and one permit"));
    }
    match row.checker {
        "versioned-register" => Some(("true", "its ids are compared, which stand beside the values")),
        "stats" | "unhandled-exceptions" => Some(("true", "it looks at no values")),
        _ => None,
    }
}

fn nemesis_only() -> Ops {
    let op = |time: u64, f: &str| json!({"type": "info", "process": "nemesis", "f": f, "value": null, "time": time});
    vec![op(1, "start"), op(2, "start"), op(3, "stop"), op(4, "stop")]
}

/// A history with nothing, or little, to check.
struct Case {
    name: &'static str,
    ops: Ops,
    /// The verdict and its reason, if it is not unknown.
    known: Option<(&'static str, &'static str)>,
}

fn cases(row: &Row, valid: &Ops) -> Vec<Case> {
    let case = |name, ops, known| Case { name, ops, known };
    vec![
        case("empty", Ops::new(), None),
        case("nemesis only", nemesis_only(), None),
        case("all info", all_end(valid, "info"), of_ended_ops(row)),
        case("all fail", all_end(valid, "fail"), of_ended_ops(row)),
        case("values under another name", values_as_val(valid), of_ops_without_values(row)),
        case("one op", one_op(valid, observed(row.workload)), of_one_op(row)),
    ]
}

/// The expected verdict on ops none of which was ok, if it is not unknown.
fn of_ended_ops(row: &Row) -> Option<(&'static str, &'static str)> {
    (row.checker == "unhandled-exceptions").then_some(("true", "it shows how ops ended, and finds nothing wrong"))
}

/// The function whose `ok` op is an observation, if not every op is.
fn observed(workload: &str) -> Option<&'static str> {
    match workload {
        "bank" | "counter" | "set-full" | "set" | "long-fork" | "comments" | "sequential" | "pn-counter" | "causal" => {
            Some("read")
        }
        "queue" => Some("dequeue"),
        "kafka" => Some("send"),
        _ => None,
    }
}

/// The expected verdict on a single op that ended with ok, if it is not unknown.
fn of_one_op(row: &Row) -> Option<(&'static str, &'static str)> {
    match row.checker.split(' ').next().unwrap() {
        // A single transaction is not related to others. No write came before the read. No element remains in the
        // reads. Or it is a write or an enqueue, which is always possible.
        "list-append"
        | "rw-register"
        | "closed-predicate"
        | "comments"
        | "causal-reverse"
        | "set-full"
        | "cas-register"
        | "kv"
        | "linearizable"
        | "linearizable-register"
        | "fifo-queue"
        | "unordered-queue"
        | "stack"
        | "deque"
        | "priority-queue" => None,
        "register"
        | "multi-register"
        | "linearizable-set"
        | "linearizable-counter"
        | "counter"
        | "pn-counter"
        | "g-counter"
        | "set"
        | "queue" => Some(("false", "it shows what no other op did")),
        "causal" => Some(("false", "it is linked to an op that is not there")),
        "total-queue" => Some(("false", "nobody takes what was enqueued")),
        "kafka" => Some(("false", "nobody polls what was sent")),
        _ => Some(("true", "it was compared with what must hold")),
    }
}

/// Verifies a verdict; the error describes the difference.
fn is_right(case: &Case, verdict: &str) -> Result<(), String> {
    let (expected, _) = case.known.unwrap_or(("unknown", ""));
    if verdict == expected { Ok(()) } else { Err(format!("{} is {verdict}, not {expected}", case.name)) }
}

#[test]
fn the_table_has_every_checker() {
    let lines = stdout(&histcheck("models --output json").assert().code(0));
    let name = |line: &str| serde_json::from_str::<Value>(line).unwrap()["name"].as_str().unwrap().to_owned();
    let mut built_in: Vec<String> = lines.lines().map(name).collect();
    let mut listed: Vec<&str> = CHECKERS.iter().map(|row| row.checker.split(' ').next().unwrap()).collect();
    built_in.sort();
    listed.sort_unstable();
    assert_eq!(listed, built_in);
}

#[test]
fn nothing_to_look_at_is_unknown() {
    let workloads = workloads();
    let options = next_steps::options();
    let mut wrong = Vec::new();
    for row in CHECKERS {
        let cases = cases(row, &workloads[row.workload]);
        let judged = judge_all(row.checker, &cases.iter().map(|case| &case.ops[..]).collect::<Vec<_>>());
        for (case, (verdict, report)) in cases.iter().zip(judged) {
            wrong.extend(is_right(case, &verdict).err().map(|why| format!("{}: {why}: {report}", row.checker)));
            // An unknown verdict has a reason.
            let notes = serde_json::from_str::<Value>(&report).unwrap()["notes"].to_string();
            assert!(verdict != "unknown" || notes.len() > 20, "{} on {}: {report}", row.checker, case.name);
            // It also has a next step.
            wrong.extend(lacks_step(&report, &options).map(|why| format!("{} on {}: {why}", row.checker, case.name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every case whose verdict is not `true` detects a checker that always returns valid.
#[test]
fn canary_a_checker_that_always_says_valid_is_caught() {
    let workloads = workloads();
    for row in CHECKERS {
        let caught: Vec<&str> = cases(row, &workloads[row.workload])
            .iter()
            .filter(|case| is_right(case, "true").is_err())
            .map(|case| case.name)
            .collect();
        assert!(caught.starts_with(&["empty", "nemesis only"]), "{}: {caught:?}", row.checker);
        let needs_oks = of_ended_ops(row).is_none();
        assert_eq!(caught.contains(&"all info") && caught.contains(&"all fail"), needs_oks, "{}", row.checker);
        let needs_values = of_ops_without_values(row).is_none();
        assert_eq!(caught.contains(&"values under another name"), needs_values, "{}", row.checker);
    }
}

#[test]
fn another_workload_is_valid_only_for_a_reason() {
    let workloads = workloads();
    let options = next_steps::options();
    let mut wrong = Vec::new();
    for row in CHECKERS.iter().filter(|row| !["stats", "unhandled-exceptions"].contains(&row.checker)) {
        let allowed = TRUE_OF_ANOTHER.iter().filter(|(checker, ..)| *checker == row.checker);
        let allowed: Vec<&str> = allowed.flat_map(|(_, workloads, _)| *workloads).copied().collect();
        let others: Vec<_> = workloads.iter().filter(|(name, _)| **name != row.workload).collect();
        let judged = judge_all(row.checker, &others.iter().map(|(_, ops)| &ops[..]).collect::<Vec<_>>());
        for ((name, _), (verdict, report)) in others.into_iter().zip(judged) {
            wrong.extend(lacks_step(&report, &options).map(|why| format!("{} on {name}: {why}", row.checker)));
            if (verdict == "true") != allowed.contains(name) {
                wrong.push(format!("{} says {verdict} of {name}: {report}", row.checker));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Clients with names have the same verdicts as those with numbers.
#[test]
fn clients_by_name_change_no_verdict() {
    for row in CHECKERS {
        let expected = if row.bug == "none" { "true" } else { "false" };
        let history = generate(row.workload, row.bug, row.seed);
        let (numbered, _) = judge(row.checker, &history);
        let (named, report) = judge(row.checker, &by_name(&history));
        assert_eq!((&numbered[..], &named[..]), (expected, expected), "{}: {report}", row.checker);
    }
}

/// Levels that only `isolation` decides.
pub(crate) const DECIDED_EXACTLY: [&str; 5] = [
    "strong-session-prefix",
    "strong-session-parallel-snapshot-isolation",
    "strong-session-causal-cerone",
    "strong-session-read-atomic",
    "strong-session-monotonic-atomic-view",
];

/// For every consistency level: an empty history is unknown, a serial one holds, and one with read skew is not `true`
/// at any level that forbids it.
#[test]
fn no_level_holds_for_nothing() {
    let lines = stdout(&histcheck("consistency-models --output json").assert().code(0));
    let mut levels: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = levels.len();
    levels.retain(|level| !DECIDED_EXACTLY.contains(&level["name"].as_str().unwrap()));
    assert_eq!(levels.len() + DECIDED_EXACTLY.len(), count);
    assert!(levels.len() >= 36, "{}", levels.len());
    let valid = generate("list-append", "none", 1);
    let hold = ["read-uncommitted", "read-committed"];
    let strong_forms = hold.map(|level| [format!("strong-{level}"), format!("strong-session-{level}")]).concat();
    for level in levels.iter().map(|level| level["name"].as_str().unwrap()) {
        let histories =
            [Ops::new(), nemesis_only(), all_end(&valid, "fail"), one_op(&valid, None), valid.clone(), read_skew()];
        let judged = judge_all(&format!("list-append -c {level}"), &histories.each_ref().map(|ops| &ops[..]));
        let [empty @ .., (serial, serial_report), (skew, skew_report)] = &judged[..] else { panic!("{judged:?}") };
        for (verdict, report) in empty {
            assert_eq!(verdict, "unknown", "{level}: {report}");
        }
        assert_eq!(serial, "true", "{level}: {serial_report}");
        let may_hold = hold.contains(&level) || strong_forms.iter().any(|strong| strong == level);
        assert_eq!(skew == "true", may_hold, "{level} is {skew}: {skew_report}");
    }
}

/// A transaction reads another one's write of x, and misses its write of y.
fn read_skew() -> Ops {
    let op =
        |process: u64, kind: &str, value: Value| json!({"process": process, "type": kind, "f": "txn", "value": value});
    let wrote = json!([["append", "x", 1], ["append", "y", 1]]);
    vec![
        op(0, "invoke", wrote.clone()),
        op(1, "invoke", json!([["r", "x", null], ["r", "y", null]])),
        op(0, "ok", wrote),
        op(1, "ok", json!([["r", "x", [1]], ["r", "y", []]])),
    ]
}

/// Checkers that are not suggested for their own workload: they understand any history, or require options.
const NOT_SUGGESTED: &[&str] = &["stats", "unhandled-exceptions", "linearizable"];

#[test]
fn each_checker_is_suggested_for_its_own_workload() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.json");
    let mut suggested: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (workload, ops) in workloads() {
        std::fs::write(&path, Value::from(ops).to_string()).unwrap();
        let said = stdout(&histcheck("validate --output json").arg(&path).assert());
        let line: Value = serde_json::from_str(&said).unwrap();
        suggested.insert(workload, line["suggested_checkers"].as_array().unwrap().clone());
    }
    for row in CHECKERS {
        let name = row.checker.split(' ').next().unwrap();
        let names = &suggested[row.workload];
        let is_there = names.contains(&name.into());
        assert_eq!(is_there, !NOT_SUGGESTED.contains(&name), "{name} of {}: {names:?}", row.workload);
    }
}
