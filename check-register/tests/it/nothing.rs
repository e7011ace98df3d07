//! Histories of objects without anything to check: for checkers of whole histories, and for those that watch.

use history_core::{Budget, Checker, Options, Reader, Report, Verdict};

/// Ops that end with ok, each with the fields of its invocation and of its completion.
type Ops = &'static [(&'static str, &'static str)];

/// An object, and a history by which it can be checked.
struct Row {
    name: &'static str,
    /// Ops that end with ok: the fields of the invocation besides type and process, and those of the completion. The
    /// first op is possible in the initial state; the last one has a result that could be wrong.
    ops: Ops,
    /// The text that a note gives as missing if there is no such result.
    missing: &'static str,
}

const fn row(name: &'static str, ops: Ops, missing: &'static str) -> Row {
    Row { name, ops, missing }
}

const READ: (&str, &str) = (":f :read", ":f :read, :value 1");
const WRITE: (&str, &str) = (":f :write, :value 1", ":f :write, :value 1");
const ADD: (&str, &str) = (":f :add, :value 1", ":f :add, :value 1");
const ENQUEUE: (&str, &str) = (":f :enqueue, :value 1", ":f :enqueue, :value 1");
const DEQUEUE: (&str, &str) = (":f :dequeue", ":f :dequeue, :value 1");
const ACQUIRE: (&str, &str) = (":f :acquire", ":f :acquire");

const OBJECTS: &[Row] = &[
    row("register", &[WRITE, READ], "no ok :read of a value"),
    row("cas-register", &[WRITE, READ], "no ok :read of a value, nor ok :cas"),
    row(
        "multi-register",
        &[
            (":f :txn, :value [[:write 0 1]]", ":f :txn, :value [[:write 0 1]]"),
            (":f :txn, :value [[:read 0 nil]]", ":f :txn, :value [[:read 0 1]]"),
        ],
        "no ok :txn that read a value",
    ),
    row(
        "kv",
        &[(":f :put, :key 0, :value \"b\"", ":f :put, :key 0"), (":f :get, :key 0", ":f :get, :key 0, :value \"b\"")],
        "no ok :get together with a :put or :append of a string",
    ),
    row("mutex", &[ACQUIRE], "no ok op"),
    row("owner-mutex", &[ACQUIRE], "no ok op"),
    row("reentrant-mutex", &[ACQUIRE], "no ok op"),
    row("semaphore", &[ACQUIRE], "no ok :acquire"),
    row("fifo-queue", &[ENQUEUE, DEQUEUE], "no ok :dequeue together with an :enqueue"),
    row("unordered-queue", &[ENQUEUE, DEQUEUE], "no ok :dequeue together with an :enqueue"),
    row(
        "stack",
        &[(":f :push, :value 1", ":f :push"), (":f :pop", ":f :pop, :value 1")],
        "no ok :pop together with a :push",
    ),
    row(
        "deque",
        &[(":f :push-front, :value 1", ":f :push-front"), (":f :pop-back", ":f :pop-back, :value 1")],
        "no ok :pop-front or :pop-back together with a :push-front or :push-back",
    ),
    row(
        "priority-queue",
        &[(":f :insert, :value 1", ":f :insert"), (":f :delete-min", ":f :delete-min, :value 1")],
        "no ok :delete-min together with an :insert",
    ),
    row("set", &[ADD, (":f :read", ":f :read, :value #{1}")], "no ok :read of a set"),
    row("counter", &[ADD, READ], "no ok :read of a number"),
    row(
        "versioned-register",
        &[(":f :write, :value 1, :write-id 2, :prev-write-id 1", ":f :write, :value 1, :write-id 2, :prev-write-id 1")],
        "no ok op",
    ),
];

fn row_of(checker: &dyn Checker) -> &'static Row {
    let short = checker.name().trim_start_matches("linearizable-");
    OBJECTS.iter().find(|row| row.name == short).unwrap_or_else(|| panic!("no ops of {short}"))
}

/// The report of a checker on a history.
pub(crate) fn judge(checker: &dyn Checker, text: &str) -> Report {
    let run = checker.start(&Options::new()).unwrap();
    history_core::check(run, &mut Reader::new(text.as_bytes()), &Budget::default()).unwrap()
}

fn op((invoked, completed): (&str, &str), kind: &str) -> String {
    format!("{{:process 0, :type :invoke, {invoked}}} {{:process 0, :type :{kind}, {completed}}}\n")
}

/// Histories without anything to check for the object, and the text of a note for each.
fn table(row: &Row) -> Vec<(&'static str, String, &'static str)> {
    let nobody = "no op of a client, so there was nothing to check";
    let nemesis = "{:process :nemesis, :type :info, :f :start} {:process :nemesis, :type :info, :f :stop}";
    let (first, last) = (row.ops[0], row.ops[row.ops.len() - 1]);
    let right: String = row.ops.iter().map(|ops| op(*ops, "ok")).collect();
    let mut table = vec![
        ("empty", "[]".to_owned(), nobody),
        ("nemesis only", nemesis.to_owned(), nobody),
        ("all info", op((first.0, first.0), "info"), row.missing),
        ("all fail", op((first.0, first.0), "fail"), row.missing),
        ("one invocation", format!("{{:process 0, :type :invoke, {}}}", first.0), row.missing),
        (
            "another workload",
            op((":f :transfer, :value {:from 0}", ":f :transfer, :value {:from 0}"), "ok"),
            "transfer",
        ),
    ];
    if right.contains(":value") && row.name != "versioned-register" {
        // Only operations that change the object; and results without values.
        table.push(("no answer", op(first, "ok"), row.missing));
        table.push(("values under another name", right.replace(":value", ":val"), "alue"));
        let answer = op(last, "ok");
        table.push(("answers only, under another name", answer.replace(":value", ":val"), "in the field :value"));
    }
    table
}

/// The errors in a checker's results.
pub(crate) fn faults(checker: &dyn Checker, judge: impl Fn(&dyn Checker, &str) -> Report) -> Vec<String> {
    let row = row_of(checker);
    let mut faults = Vec::new();
    for (name, text, gist) in table(row) {
        let report = judge(checker, &text);
        if report.verdict != Verdict::Unknown || !report.notes.iter().any(|note| note.contains(gist)) {
            faults.push(format!("{}, {name}: {} {:?}", checker.name(), report.verdict.name(), report.notes));
        }
    }
    let right: String = row.ops.iter().map(|ops| op(*ops, "ok")).collect();
    let report = judge(checker, &right);
    if report.verdict != Verdict::Valid || !report.notes.is_empty() {
        faults.push(format!("{}, {right}: {} {:?}", checker.name(), report.verdict.name(), report.notes));
    }
    faults
}

/// Each case must detect a checker that always returns valid.
pub(crate) fn assert_catches_a_stamp(checker: &dyn Checker) {
    let stamp = |checker: &dyn Checker, _: &str| Report::new(checker.name().to_owned(), Verdict::Valid);
    assert_eq!(faults(checker, stamp).len(), table(row_of(checker)).len(), "{}", checker.name());
}

/// Histories in which all or most results are nil: the checker, sequential ops that end with ok, and the number of
/// observations. The verdict is unknown if there are none.
const NILS: &[(&str, Ops, u64)] = &[
    // A read of nil before any write is evidence; after a write, it is none.
    ("register", &[(":f :read", ":f :read"), WRITE], 1),
    ("register", &[WRITE, (":f :read", ":f :read"), (":f :read", ":f :read")], 0),
    ("register", &[WRITE, (":f :read", ":f :read"), READ], 1),
    ("register", &[(":f :write", ":f :write"), (":f :read", ":f :read")], 0),
    ("cas-register", &[(":f :cas, :value [nil nil]", ":f :cas")], 0),
    ("cas-register", &[(":f :cas, :value [nil 1]", ":f :cas")], 1),
    ("multi-register", &[(":f :txn", ":f :txn"), ("", "")], 0),
    ("multi-register", &[(":f :txn, :value []", ":f :txn, :value []")], 0),
    ("multi-register", &[(":value [[:read 0 nil]]", ":value [[:read 0 nil]]")], 0),
    (
        "multi-register",
        &[(":value [[:read 0 nil]]", ":value [[:read 0 nil]]"), (":value [[:write 0 1]]", ":value [[:write 0 1]]")],
        1,
    ),
    (
        "multi-register",
        &[(":value [[:write 0 1]]", ":value [[:write 0 1]]"), (":value [[:read 0 nil]]", ":value [[:read 0 nil]]")],
        0,
    ),
    ("multi-register", &[(":value [[:write 0 nil]]", ":value [[:write 0 nil]]"), (":f :txn", ":f :txn")], 0),
    ("kv", &[(":f :put, :key 0, :value \"\"", ":f :put, :key 0"), (":f :get, :key 0", ":f :get, :key 0")], 0),
    ("kv", &[(":f :get, :key 0", ":f :get, :key 0"), (":f :append, :key 0, :value \"b\"", ":f :append, :key 0")], 1),
    ("fifo-queue", &[(":f :dequeue", ":f :dequeue"), (":f :dequeue", ":f :dequeue")], 0),
    ("unordered-queue", &[(":f :dequeue", ":f :dequeue"), ENQUEUE, DEQUEUE], 2),
    ("stack", &[(":f :pop", ":f :pop"), (":f :push, :value 1", ":f :push, :value 1")], 1),
    ("linearizable-set", &[(":f :add", ":f :add"), (":f :read", ":f :read")], 0),
    ("linearizable-set", &[(":f :read", ":f :read, :value #{}")], 1),
    ("linearizable-counter", &[ADD, (":f :read", ":f :read")], 0),
    ("semaphore", &[(":f :release", ":f :release")], 0),
    ("semaphore", &[(":f :acquire, :value 0", ":f :acquire, :value 0")], 0),
];

/// Checks [`NILS`] with the checkers of these names.
pub(crate) fn assert_nil_is_no_answer(checkers: &[Box<dyn Checker>]) {
    for (name, ops, observed) in NILS {
        let checker = checkers.iter().find(|checker| checker.name() == *name).unwrap();
        let text: String = ops.iter().map(|ops| op(*ops, "ok")).collect();
        let report = judge(checker.as_ref(), &text);
        let count = report.counts.iter().find(|(name, _)| name == "observed-count").map(|(_, count)| *count);
        let verdict = if *observed == 0 { Verdict::Unknown } else { Verdict::Valid };
        assert_eq!(report.verdict, verdict, "{name}: {text} {:?}", report.notes);
        assert_eq!(count.unwrap_or_default(), *observed, "{name}: {text} {:?}", report.notes);
    }
}
