//! Nothing passes for nothing: every checker and every consistency level on histories in which there is nothing for it to
//! look at.
//!
//! Each case has its verdict written down, and each `true` its reason. A checker that says valid of everything goes through the
//! same table, which has to catch it in every case.

use crate::{histcheck, stdout};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A checker, and how to make a history for it.
struct Row {
    /// What stands after `-m`.
    checker: &'static str,
    /// What `histcheck gen` calls its workload.
    workload: &'static str,
    /// A bug that the checker finds in such a history, with this seed. `stats` finds none.
    bug: &'static str,
    seed: u64,
}

const fn row(checker: &'static str, workload: &'static str, bug: &'static str, seed: u64) -> Row {
    Row { checker, workload, bug, seed }
}

/// Every checker that is built in.
const CHECKERS: &[Row] = &[
    row("list-append", "list-append", "stale-read", 2),
    row("rw-register --linearizable-keys", "rw-register", "stale-read", 2),
    row("versioned-register", "versioned-register", "lost-write", 1),
    row("register", "register", "wrong-read", 1),
    row("cas-register", "cas-register", "wrong-read", 1),
    row("multi-register", "multi-register", "wrong-read", 1),
    row("kv", "kv", "wrong-read", 1),
    row("mutex", "mutex", "double-acquire", 1),
    row("owner-mutex", "owner-mutex", "double-acquire", 1),
    row("reentrant-mutex", "reentrant-mutex", "double-acquire", 1),
    row("semaphore --initial 2", "semaphore", "double-acquire", 1),
    row("fifo-queue", "fifo-queue", "duplicate-element", 1),
    row("unordered-queue", "unordered-queue", "duplicate-element", 1),
    row("stack", "stack", "duplicate-element", 1),
    row("linearizable-set", "set", "lost-element", 1),
    row("linearizable-counter", "counter", "wrong-read", 1),
    row("linearizable --spec kv", "kv", "wrong-read", 1),
    row("bank", "bank", "wrong-read", 1),
    row("counter", "counter", "wrong-read", 1),
    row("set", "set-full", "lost-element", 1),
    row("set-full", "set-full", "lost-element", 1),
    row("long-fork", "long-fork", "read-skew", 4),
    row("comments", "comments", "read-skew", 1),
    row("sequential", "sequential", "read-skew", 1),
    row("queue", "queue", "wrong-read", 1),
    row("total-queue", "total-queue", "lost-element", 1),
    row("unique-ids", "unique-ids", "repeated-id", 1),
    row("stats", "bank", "none", 1),
];

/// What may be `true` of a history of another workload, and why.
const TRUE_OF_ANOTHER: &[(&str, &[&str], &str)] = &[];

/// Ops of a history.
type Ops = Vec<Value>;

fn generate(workload: &str, bug: &str, seed: u64) -> Ops {
    let length = if ["list-append", "rw-register"].contains(&workload) { "--txns 100" } else { "--ops 200" };
    let words = format!("gen {workload} {length} --bug {bug} --seed {seed} -f jsonl");
    let text = stdout(&histcheck(&words).assert().code(0));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// One valid history of each workload, by name.
fn workloads() -> BTreeMap<&'static str, Ops> {
    CHECKERS.iter().map(|row| (row.workload, generate(row.workload, "none", 1))).collect()
}

/// The verdict of a checker, and its whole report.
fn judge(checker: &str, ops: &[Value]) -> (String, String) {
    let text: String = ops.iter().map(|op| format!("{op}\n")).collect();
    let output = histcheck(&format!("-m {checker} --output json -")).stdin(text).output().unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    let code = output.status.code().unwrap();
    let verdict = match code {
        0 => "true",
        1 => "false",
        2 => "unknown",
        _ => panic!("-m {checker} ends with {code}: {}", String::from_utf8_lossy(&output.stderr)),
    };
    (verdict.to_owned(), report)
}

/// Every operation under a client of its own, ended in this way.
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

/// The first operation that ends with ok, from its invocation to its end, and nothing else.
fn one_op(ops: &[Value]) -> Ops {
    let end = ops.iter().find(|op| op["type"] == "ok").unwrap();
    let invoked = ops.iter().find(|op| op["type"] == "invoke" && op["process"] == end["process"]).unwrap();
    vec![invoked.clone(), end.clone()]
}

fn nemesis_only() -> Ops {
    let op = |time: u64, f: &str| json!({"type": "info", "process": "nemesis", "f": f, "value": null, "time": time});
    vec![op(1, "start"), op(2, "start"), op(3, "stop"), op(4, "stop")]
}

/// A history with nothing in it for a checker, and whether the checker may call it valid.
struct Case {
    name: &'static str,
    ops: Ops,
    /// Why `true` is right, if it is.
    reason: Option<&'static str>,
}

fn cases(row: &Row, valid: &Ops) -> Vec<Case> {
    let case = |name, ops, reason| Case { name, ops, reason };
    vec![
        case("empty", Ops::new(), None),
        case("nemesis only", nemesis_only(), None),
        case("all info", all_end(valid, "info"), None),
        case("all fail", all_end(valid, "fail"), None),
        case("one op", one_op(valid), one_op_is_enough(row.checker)),
    ]
}

/// Why one op that ended with ok may be all it takes.
fn one_op_is_enough(checker: &str) -> Option<&'static str> {
    let name = checker.split(' ').next().unwrap();
    Some(match name {
        "list-append" | "rw-register" => return None,
        _ => "that op was looked at",
    })
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
    for row in CHECKERS {
        for case in cases(row, &workloads[row.workload]) {
            let (verdict, report) = judge(row.checker, &case.ops);
            let place = format!("{} on {}: {report}", row.checker, case.name);
            println!("{:32} {:14} {verdict} {report:.200}", row.checker, case.name);
        }
    }
}

#[test]
fn another_workload_is_not_valid() {
    let workloads = workloads();
    for row in CHECKERS {
        for (name, ops) in workloads.iter().filter(|(name, _)| **name != row.workload) {
            let (verdict, report) = judge(row.checker, ops);
            println!("{:32} {name:14} {verdict} {report:.300}", row.checker);
        }
    }
}
