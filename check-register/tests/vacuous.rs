//! Histories that hold nothing to check: no checker says that they are linearizable, and a note says why.

use check_register::versioned_register::VersionedRegister;
use history_core::{Budget, Checker, Options, Reader, Report, Verdict};

/// An op that each object admits at its start: the fields beside type and process.
const FIRST: &[(&str, &str)] = &[
    ("register", ":f :write, :value 1"),
    ("cas-register", ":f :write, :value 1"),
    ("multi-register", ":f :txn, :value [[:write 0 1]]"),
    ("kv", ":f :put, :key \"a\", :value \"b\""),
    ("mutex", ":f :acquire"),
    ("owner-mutex", ":f :acquire"),
    ("reentrant-mutex", ":f :acquire"),
    ("semaphore", ":f :acquire"),
    ("fifo-queue", ":f :enqueue, :value 1"),
    ("unordered-queue", ":f :enqueue, :value 1"),
    ("stack", ":f :push, :value 1"),
    ("set", ":f :add, :value 1"),
    ("counter", ":f :add, :value 1"),
    ("versioned-register", ":f :write, :value 1, :write-id 2, :prev-write-id 1"),
];

fn checkers() -> Vec<Box<dyn Checker>> {
    let mut all = check_register::checkers();
    all.retain(|checker| checker.name() != "linearizable");
    all.push(Box::new(VersionedRegister::default()));
    all
}

fn first(checker: &dyn Checker) -> &'static str {
    let short = checker.name().trim_start_matches("linearizable-");
    FIRST.iter().find(|(name, _)| *name == short).unwrap_or_else(|| panic!("no op of {short}")).1
}

fn judge(checker: &dyn Checker, text: &str) -> Report {
    let run = checker.start(&Options::new()).unwrap();
    history_core::check(run, &mut Reader::new(text.as_bytes()), &Budget::default()).unwrap()
}

/// What is wrong with a checker's answers.
fn faults(checker: &dyn Checker, judge: impl Fn(&dyn Checker, &str) -> Report) -> Vec<String> {
    let first = first(checker);
    let op = |kind: &str, fields: &str| {
        format!("{{:process 0, :type :invoke, {fields}}} {{:process 0, :type :{kind}, {fields}}}")
    };
    let nemesis = "{:process :nemesis, :type :info, :f :start} {:process :nemesis, :type :info, :f :stop}";
    let table = [
        ("empty", "[]".to_owned(), "no op of a client, so there was nothing to check"),
        ("nemesis only", nemesis.to_owned(), "no op of a client, so there was nothing to check"),
        ("all info", op("info", first), "no ok op, so there was nothing to check"),
        ("all fail", op("fail", first), "no ok op, so there was nothing to check"),
        ("one invocation", format!("{{:process 0, :type :invoke, {first}}}"), "no ok op"),
        ("another workload", op("ok", ":f :transfer, :value {:from 0, :to 1}"), "transfer"),
    ];
    let mut faults = Vec::new();
    for (name, text, gist) in table {
        let report = judge(checker, &text);
        if report.verdict != Verdict::Unknown || !report.notes.iter().any(|note| note.contains(gist)) {
            faults.push(format!("{}, {name}: {} {:?}", checker.name(), report.verdict.name(), report.notes));
        }
    }
    let one = judge(checker, &op("ok", first));
    if one.verdict != Verdict::Valid {
        faults.push(format!("{}, one op: {} {:?}", checker.name(), one.verdict.name(), one.notes));
    }
    faults
}

#[test]
fn a_history_with_nothing_to_check_is_unknown_and_a_note_says_why() {
    let faults: Vec<String> = checkers().iter().flat_map(|checker| faults(checker.as_ref(), judge)).collect();
    assert_eq!(faults, [""; 0], "{faults:#?}");
}

#[test]
fn canary_a_checker_that_always_says_valid_is_caught() {
    for checker in checkers() {
        let stamp = |checker: &dyn Checker, _: &str| Report::new(checker.name().to_owned(), Verdict::Valid);
        assert_eq!(faults(checker.as_ref(), stamp).len(), 6, "{}", checker.name());
    }
}
