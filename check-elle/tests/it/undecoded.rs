//! Ops that cannot be decoded but whose writes are known: the smallest histories of each kind.

use check_elle::closed_predicate::ClosedPredicate;
use check_elle::list_append::ListAppend;
use check_elle::rw_register::RwRegister;
use history_core::{Budget, Checker, History, Options, Reader, Report, Verdict};

/// Returns the report, and asserts that judging the history while it is being written gives the same verdict.
fn check(checker: &dyn Checker, text: &str) -> Report {
    let report = checker.check(&History::parse(text).expect("a history")).expect("a report");
    let watched = checker.start_online(&Options::new()).expect("no options are all right");
    let watched = history_core::check(watched, &mut Reader::new(text.as_bytes()), &Budget::default());
    assert_eq!(watched.expect("a report").verdict, report.verdict, "{}: watched\n{text}", checker.name());
    report
}

const LISTS: (&str, [(&str, Verdict, &str); 3]) = (
    "[[:append :x 1]]",
    [
        ("[[:r :x [1]]]", Verdict::Valid, ""),
        ("[[:r :x []]]", Verdict::Invalid, "G-single-item-realtime"),
        ("[[:r :x [1 2]]]", Verdict::Invalid, "garbage-read"),
    ],
);
const REGISTERS: (&str, [(&str, Verdict, &str); 3]) = (
    "[[:w :x 1]]",
    [
        ("[[:r :x 1]]", Verdict::Valid, ""),
        ("[[:r :x nil]]", Verdict::Invalid, "G-single-item-realtime"),
        ("[[:r :x 2]]", Verdict::Invalid, "garbage-read"),
    ],
);

fn each(judge: impl Fn(&dyn Checker, &str, &str, Verdict, &str)) {
    let checkers: [(&dyn Checker, _); 3] = [
        (&ListAppend::default(), LISTS),
        (&RwRegister::default(), REGISTERS),
        (&ClosedPredicate::default(), REGISTERS),
    ];
    for (checker, (write, reads)) in checkers {
        for (read, verdict, name) in reads {
            judge(checker, write, read, verdict, name);
        }
    }
}

/// Makes a history of one process's ops between a write and a read of other processes.
fn history(write: &str, read: &str, other: &[(&str, &str)]) -> String {
    let op = |process: u32, (kind, value): (&str, &str)| {
        format!("{{:process {process}, :type :{kind}, :f :txn, :value {value}}}\n")
    };
    let mut text = op(0, ("invoke", write)) + &op(0, ("ok", write));
    text.extend(other.iter().map(|event| op(9, *event)));
    text + &op(1, ("invoke", read)) + &op(1, ("ok", read))
}

#[test]
fn what_failed_is_ignored_if_it_is_not_understood() {
    let failed: &[&[(&str, &str)]] = &[
        &[("invoke", ":junk"), ("fail", ":junk")],
        &[("invoke", "[[:frob :x 2]]"), ("fail", "[[:frob :x 2]]")],
        &[("invoke", "[[:r :z nil]]"), ("fail", "[[:frob :x 2]]")],
        &[("invoke", "nil"), ("fail", "{:x 2}")],
    ];
    each(|checker, write, read, verdict, name| {
        for failed in failed {
            let text = history(write, read, failed);
            let report = check(checker, &text);
            let names: Vec<_> = report.anomaly_types().collect();
            assert_eq!(report.verdict, verdict, "{}: {:?} {names:?}\n{text}", checker.name(), report.notes);
            assert!(
                name.is_empty() || names.contains(&name) || checker.name() == "closed-predicate",
                "{names:?}\n{text}"
            );
            assert!(report.counts.iter().any(|(name, count)| name == "passed-over-count" && *count > 0), "{text}");
            let note = report.notes.last().expect("a note");
            assert!(note.contains("not understand, because the operation failed"), "{note}\n{text}");
        }
    });
}

#[test]
fn what_is_not_understood_and_may_have_happened_leaves_the_verdict_unknown() {
    let possible: &[&[(&str, &str)]] = &[
        &[("invoke", ":junk")],
        &[("invoke", ":junk"), ("ok", ":junk")],
        &[("invoke", ":junk"), ("info", "nil")],
        &[("invoke", "[[:frob :x 2]]"), ("ok", "[[:frob :x 2]]")],
        // The completion contradicts the invocation.
        &[("invoke", "[[:r :z nil]]"), ("ok", "[[:frob :x 2]]")],
    ];
    each(|checker, write, read, _, _| {
        for other in possible {
            let text = history(write, read, other);
            let report = check(checker, &text);
            assert_eq!(report.verdict, Verdict::Unknown, "{}: {:?}\n{text}", checker.name(), report.anomalies);
            assert!(report.notes[0].starts_with("No verdict, because of the op at index "), "{:?}", report.notes);
        }
    });
}

#[test]
fn what_is_not_understood_writes_nothing_if_it_is_a_read_or_the_invocation_says_what_it_writes() {
    let others: &[&[(&str, &str)]] = &[
        &[("invoke", "[[:r :z nil]]"), ("ok", "[[:r]]")],
        &[("invoke", "[[:r :z nil]]"), ("ok", "[[:r :z 1 2]]")],
        &[("invoke", "[[:r :z nil]]"), ("ok", "{:z 1}")],
        &[("invoke", "[[:r :z nil]]"), ("info", "{:z 1}")],
        &[("invoke", "[[:r]]"), ("ok", "[[:r]]")],
    ];
    each(|checker, write, read, verdict, name| {
        for other in others {
            let text = history(write, read, other);
            let report = check(checker, &text);
            let names: Vec<_> = report.anomaly_types().collect();
            let expected = verdict.and(Verdict::Unknown);
            assert_eq!(report.verdict, expected, "{}: {:?} {names:?}\n{text}", checker.name(), report.notes);
            let is_named = name.is_empty() || names.contains(&name) || checker.name() == "closed-predicate";
            assert!(is_named, "{names:?}\n{text}");
        }
    });
    // The contents of this key are unknown.
    let z = history("[[:append :x 1]]", "[[:r :x []]]", &[("invoke", "[[:r :x nil]]"), ("ok", "[[:r :x :timeout]]")]);
    assert_eq!(check(&ListAppend::default(), &z).verdict, Verdict::Unknown);
}

/// The decodable writes of such a failed op count as the writes of a failed op.
#[test]
fn what_failed_and_is_not_understood_may_be_read_nevertheless() {
    let failed: &[(&str, &str)] = &[("invoke", "[[:append :x 2] [:frob :x 3]]"), ("fail", "[[:frob :x 3]]")];
    let report = check(&ListAppend::default(), &history("[[:append :x 1]]", "[[:r :x [1 2]]]", failed));
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["G1a"], "{:?}", report.notes);
}

#[test]
fn a_history_of_another_form_that_failed_is_not_understood() {
    let text = "{:process 0, :type :invoke, :value :junk} {:process 0, :type :fail, :value :junk}";
    for checker in [&ListAppend::default() as &dyn Checker, &RwRegister::default(), &ClosedPredicate::default()] {
        let report = check(checker, text);
        assert_eq!(report.verdict, Verdict::Unknown);
        assert!(report.notes[0].starts_with("No verdict, because of the op at index 0 (line 1)"), "{:?}", report.notes);
    }
}
