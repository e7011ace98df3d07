//! Histories that contain nothing to check: no transaction checker reports them as valid, and a note says why.

use check_elle::list_append::ListAppend;
use check_elle::rw_register::RwRegister;
use history_core::{Budget, Checker, Options, Reader, Report, Verdict};

fn judge(checker: &dyn Checker, text: &str) -> Report {
    let run = checker.start(&Options::new()).unwrap();
    history_core::check(run, &mut Reader::new(text.as_bytes()), &Budget::default()).unwrap()
}

/// Returns the faults in a checker's answers.
fn faults(checker: &dyn Checker, write: &str, judge: impl Fn(&dyn Checker, &str) -> Report) -> Vec<String> {
    let op = |kind: &str, f: &str, value: &str| {
        format!(
            "{{:process 0, :type :invoke, :f :{f}, :value {value}}} {{:process 0, :type :{kind}, :f :{f}, :value {value}}}"
        )
    };
    let table = [
        ("empty", "[]".to_owned(), "no op of a client"),
        ("nemesis only", "{:process :nemesis, :type :info, :f :start}".to_owned(), "no op of a client"),
        ("all info", op("info", "txn", write), "No transaction is related to another"),
        ("all fail", op("fail", "txn", write), "No transaction is related to another"),
        ("one op", op("ok", "txn", write), "No transaction is related to another"),
        ("a lock", op("ok", "acquire", "nil"), "No op contains a micro-op"),
        ("another workload", op("ok", "read", "{0 5}"), "expected [:r key"),
    ];
    let mut faults = Vec::new();
    for (name, text, gist) in table {
        let report = judge(checker, &text);
        if report.verdict != Verdict::Unknown || !report.notes.iter().any(|note| note.contains(gist)) {
            faults.push(format!("{}, {name}: {} {:?}", checker.name(), report.verdict.name(), report.notes));
        }
    }
    faults
}

#[test]
fn a_history_with_nothing_to_check_is_unknown_and_a_note_says_why() {
    let mut all = faults(&ListAppend::default(), "[[:append 0 1]]", judge);
    all.extend(faults(&RwRegister::default(), "[[:w 0 1]]", judge));
    assert_eq!(all, [""; 0], "{all:#?}");
}

#[test]
fn canary_a_checker_that_always_says_valid_is_caught() {
    let stamp = |checker: &dyn Checker, _: &str| Report::new(checker.name().to_owned(), Verdict::Valid);
    assert_eq!(faults(&ListAppend::default(), "[[:append 0 1]]", stamp).len(), 7);
}
