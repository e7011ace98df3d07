//! Tests ops that cannot be decoded: what is certain in spite of them, and what is ignored because it failed.

use crate::common::{judge, op};
use check_jepsen::{
    adya_g2::AdyaG2,
    bank::Bank,
    comments::{CausalReverse, Comments},
    counter::Counter,
    final_counter::FinalCounter,
    long_fork::LongFork,
    set_full::SetFull,
    total_queue::TotalQueue,
};
use history_core::{Checker, History, Options, Verdict};

const INVALID: Verdict = Verdict::Invalid;
const UNKNOWN: Verdict = Verdict::Unknown;

#[track_caller]
fn assert_judged(checker: &dyn Checker, options: &[(&str, &str)], text: &str, expected: Verdict, note: &str) {
    let report = judge(checker, options, text);
    let told = format!("{}: {text}{:?}", checker.name(), report.notes);
    assert_eq!(report.verdict, expected, "{told}");
    assert_eq!(report.anomalies.is_empty(), expected != INVALID, "{told}");
    assert!(report.notes.iter().any(|known| known.contains(note)), "{told}");
    // A run that watches the history must never report a false violation.
    let given = options.iter().fold(Options::new(), |given, (name, value)| given.with(*name, *value));
    let mut run = checker.start_online(&given).unwrap();
    for op in History::parse(text).unwrap().ops() {
        _ = run.observe(&op).unwrap();
        assert!(!run.is_violated() || expected == INVALID, "{told}: at the op at index {}", op.index);
    }
}

/// The invocation and the completion of an `ok` op of process 0.
fn ok(f: &str, value: &str) -> String {
    let invoked = if f == "read" || f == "dequeue" { "nil" } else { value };
    op(0, f, invoked, "ok", value)
}

struct Case {
    checker: Box<dyn Checker>,
    /// Invocations that cannot be decoded.
    odd: &'static [&'static str],
    right: String,
    wrong: String,
}

fn cases() -> Vec<Case> {
    let fin = |value: &str| ok("read", value).replace('}', ", :final? true}");
    let read = |pairs: &str| {
        let asked = pairs.replace(" 1]", " nil]");
        op(1, "txn", &asked, "ok", pairs)
    };
    let writes = ok("txn", "[[:w :x 1]]") + &ok("txn", "[[:w :y 1]]");
    let insert = |ids: &str| ok("insert", &format!("[:x {ids}]"));
    let case = |checker: Box<dyn Checker>, odd, right: String, wrong: String| Case { checker, odd, right, wrong };
    vec![
        case(
            Box::<Counter>::default(),
            &["add nil", "add :j"],
            ok("add", "1") + &ok("read", "1"),
            ok("add", "1") + &ok("read", "2"),
        ),
        case(Box::<FinalCounter>::default(), &["add nil"], ok("add", "1") + &fin("1"), ok("add", "1") + &fin("2")),
        case(
            Box::new(FinalCounter::G_COUNTER),
            &["add nil", "add -1"],
            ok("add", "1") + &fin("1"),
            ok("add", "1") + &fin("2"),
        ),
        case(
            Box::<Comments>::default(),
            &["write nil"],
            ok("write", "1") + &ok("write", "2") + &ok("read", "[1 2]"),
            ok("write", "1") + &ok("write", "2") + &ok("read", "[2]"),
        ),
        case(
            Box::<CausalReverse>::default(),
            &["write nil"],
            ok("write", "1") + &ok("write", "2") + &ok("read", "[1 2]"),
            ok("write", "1") + &ok("write", "2") + &ok("read", "[2]"),
        ),
        case(
            Box::<LongFork>::default(),
            &["txn :j", "txn [[:append :x 1]]", "write nil"],
            writes.clone() + &read("[[:r :x 1] [:r :y nil]]") + &read("[[:r :x 1] [:r :y 1]]"),
            writes + &read("[[:r :x 1] [:r :y nil]]") + &read("[[:r :x nil] [:r :y 1]]"),
        ),
        case(
            Box::<AdyaG2>::default(),
            &["insert :j", "insert [:x [1 2]]"],
            insert("[1 nil]") + &insert("[nil 2]").replace(":ok", ":fail"),
            insert("[1 nil]") + &insert("[nil 2]"),
        ),
    ]
}

#[test]
fn what_failed_need_not_be_decoded() {
    for Case { checker, odd, right, wrong } in cases() {
        let assert = |text: &str, expected, note| assert_judged(checker.as_ref(), &[], text, expected, note);
        for (f, value) in odd.iter().map(|odd| odd.split_once(' ').unwrap()) {
            let part = |kind: &str| format!("{{:process 9, :type :{kind}, :f :{f}, :value {value}}}\n");
            let (invoked, failed) = (part("invoke"), part("fail"));
            for (history, expected) in [(&right, Verdict::Valid), (&wrong, INVALID)] {
                assert(&format!("{invoked}{failed}{history}"), expected, " ignored ");
                let named = format!("{invoked}{history}{failed}").replace(":process ", ":process client-");
                assert(&named, expected, " ignored ");
                assert(&format!("{invoked}{history}{failed}"), expected, " ignored ");
                assert(&format!("{history}{invoked}{failed}"), expected, " ignored ");
                // Two such ops that overlap.
                let other = part("invoke").replace(" 9", " 8");
                let other_failed = part("fail").replace(" 9", " 8");
                let text = format!("{invoked}{other}{history}{failed}{other_failed}");
                assert(&text, expected, " ignored ");
            }
            for ended in [String::new(), part("info"), part("ok")] {
                for history in [format!("{invoked}{right}{ended}"), format!("{invoked}{ended}{right}")] {
                    assert(&history, UNKNOWN, "because of the op at index 0 (");
                }
                let history = format!("{right}{invoked}{ended}");
                assert(&history, UNKNOWN, "because of the op at index ");
            }
            assert(&format!("{invoked}{failed}"), UNKNOWN, "because of the op at index 0 (");
        }
    }
}

/// An op that stops a checker hides all later ops, also if it ends late.
#[test]
fn nothing_follows_what_may_have_happened() {
    for Case { checker, odd, wrong, .. } in cases().into_iter().take(5) {
        let (f, value) = odd[0].split_once(' ').unwrap();
        let part = |kind: &str| format!("{{:process 9, :type :{kind}, :f :{f}, :value {value}}}\n");
        for ended in [String::new(), part("info"), part("ok")] {
            let text = format!("{}{wrong}{ended}", part("invoke"));
            assert_judged(checker.as_ref(), &[], &text, UNKNOWN, "because of the op at index 0 (");
            let text = format!("{}{ended}{wrong}", part("invoke"));
            assert_judged(checker.as_ref(), &[], &text, UNKNOWN, "because of the op at index 0 (");
        }
    }
    let text = ok("add", "1") + &ok("read", "2") + &op(9, "add", "nil", "info", "nil");
    assert_judged(&Counter::default(), &[], &text, INVALID, "The verdict covers only the ops before the op at index 4");
}

#[test]
fn a_set_is_lost_beside_a_read_that_is_unknown() {
    let (add, unread) = (ok("add", "1"), ok("read", "nil"));
    let (full, empty) = (ok("read", "[1]"), ok("read", "[]"));
    let assert = |text: &str, expected, note| assert_judged(&SetFull::default(), &[], text, expected, note);
    let ignores = "The verdict ignores the op at index ";
    assert(&format!("{unread}{add}{full}{empty}"), INVALID, ignores);
    assert(&format!("{add}{unread}{full}{empty}"), INVALID, ignores);
    assert(&format!("{add}{full}{unread}{empty}"), INVALID, ignores);
    // The undecoded read may show the element again, or be the only one that lacks it.
    assert(&format!("{add}{full}{empty}{unread}"), UNKNOWN, "No verdict, because of the op at index ");
    assert(&format!("{add}{unread}{full}"), UNKNOWN, "No verdict, because of the op at index ");
    // It began before the read that lacks the element, or after it.
    let late = "{:process 5, :type :invoke, :f :read, :value nil}";
    let ended = "{:process 5, :type :ok, :f :read, :value nil}";
    assert(&format!("{add}{full}{late}{empty}{ended}"), INVALID, ignores);
    let split = empty.split_once(" {").unwrap();
    let text = format!("{add}{full}{} {late}{{{}{ended}", split.0, split.1);
    assert(&text, UNKNOWN, "No verdict, because of the op at index ");
    assert(&format!("{add}{unread}{}", ok("read", "[1 1]")), INVALID, ignores);
}

#[test]
fn a_total_is_wrong_whatever_accounts_there_are() {
    let unread = ok("read", "nil");
    let (ten, eleven) = (ok("read", "{1 5, 2 5}"), ok("read", "{1 4, 2 7}"));
    let ignores = "The verdict ignores the op at index 1";
    let blames = "No verdict, because of the op at index 1";
    let of_ten = [("total-amount", "10")];
    let assert = |options: &[(&str, &str)], text: &str, expected, note| {
        assert_judged(&Bank::default(), options, text, expected, note);
    };
    assert(&of_ten, &format!("{unread}{eleven}"), INVALID, ignores);
    assert(&of_ten, &format!("{unread}{ten}"), UNKNOWN, blames);
    assert(&[], &format!("{unread}{ten}{eleven}"), INVALID, ignores);
    assert(&[], &format!("{unread}{eleven}"), UNKNOWN, blames);
    // Only the first read determines the accounts.
    assert(&[], &format!("{unread}{ten}{}", ok("read", "{1 5, 3 5}")), UNKNOWN, blames);
    assert(&[], &format!("{unread}{}", ok("read", "{1 5, 2 nil}")), INVALID, ignores);
    assert(&[], &format!("{unread}{}", ok("read", "{1 5, 2 -5}")), INVALID, ignores);
}

#[test]
fn one_dequeue_takes_one_element() {
    let (one, two, unread) = (ok("enqueue", "1"), ok("enqueue", "2"), ok("dequeue", "nil"));
    let assert = |text: &str, expected, note| assert_judged(&TotalQueue::default(), &[], text, expected, note);
    assert(&format!("{one}{two}{unread}"), INVALID, "The verdict ignores the op at index 5");
    let report = judge(&TotalQueue::default(), &[], &format!("{one}{two}{unread}"));
    let lost = report.anomaly("lost").unwrap();
    assert_eq!((lost.count, lost.witnesses[0].ops.len()), (1, 2));
    let said = "2 elements were acknowledged and not dequeued";
    assert!(lost.witnesses[0].explanation.contains(said), "{}", lost.witnesses[0].explanation);
    let blames = "No verdict, because of the op at index 5";
    assert(&format!("{one}{two}{unread}{unread}"), UNKNOWN, blames);
    assert(&format!("{one}{one}{unread}"), INVALID, "The verdict ignores the op at index 5");
    assert(&format!("{one}{two}{unread}{}", ok("dequeue", "2")), UNKNOWN, blames);
    // A drain takes any number of elements.
    let drain = "{:process 3, :type :invoke, :f :drain}";
    assert(&format!("{one}{two}{unread}{drain}"), UNKNOWN, blames);
    assert(&format!("{one}{two}{unread}{}", op(3, "drain", "nil", "ok", "nil")), UNKNOWN, blames);
}
