//! Compares comments with its definition: a union over all values in a read.

use crate::common::{
    Event, anomalies, assert_sound, count, each_history, history, item, judge, op, random_history, read, story,
};
use check_jepsen::comments::Comments;
use history_core::{Checker as _, Datum, OpKind, Verdict};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

type Values = BTreeSet<String>;

fn elements(value: &Datum) -> Values {
    let Datum::Vector(all) = value else { panic!("{value}") };
    all.iter().map(Datum::to_string).collect()
}

/// The values that must be in a read with these values, and are not.
fn missing(seen: &Values, before: &BTreeMap<String, Values>) -> Values {
    let expected: Values = seen.iter().filter_map(|value| before.get(value)).flatten().cloned().collect();
    expected.difference(seen).cloned().collect()
}

fn expected(events: &[Event]) -> (Verdict, u64) {
    let (mut acknowledged, mut live, mut before) = (Values::new(), BTreeMap::<String, u32>::new(), BTreeMap::new());
    let (mut errors, mut twice, mut owes, mut too_early) = (0, false, false, Vec::new());
    for (at, event) in events.iter().enumerate() {
        let value = event.value.to_string();
        // A failed write did not happen.
        let end = || events[at + 1..].iter().find(|end| end.process == event.process);
        match (event.f, event.kind) {
            ("write", OpKind::Invoke) => {
                let writes = live.entry(value.clone()).or_default();
                *writes += 1;
                if *writes > 1 {
                    twice |= end().is_none_or(|end| end.kind != OpKind::Fail);
                } else {
                    before.insert(value, acknowledged.clone());
                }
            }
            ("write", OpKind::Ok) => _ = acknowledged.insert(value),
            ("write", OpKind::Fail) => *live.get_mut(&value).unwrap() -= 1,
            ("read", OpKind::Ok) => {
                let seen = elements(&event.value);
                let says_something = seen.is_empty() || seen.iter().any(|value| before.contains_key(value));
                owes |= says_something && before.values().any(|due| !due.is_empty());
                if seen.iter().all(|value| before.contains_key(value)) {
                    errors += u64::from(!missing(&seen, &before).is_empty());
                } else {
                    too_early.push(seen);
                }
            }
            _ => {}
        }
    }
    errors += too_early.iter().filter(|seen| !missing(seen, &before).is_empty()).count() as u64;
    // Reads that could not have been wrong are no evidence.
    let verdict = match (errors, twice || !owes) {
        (0, false) => Verdict::Valid,
        (0, true) => Verdict::Unknown,
        _ => Verdict::Invalid,
    };
    (verdict, errors)
}

fn agrees(events: &[Event]) -> Verdict {
    let report = Comments::default().check(&history(events)).unwrap();
    assert_eq!((report.verdict, count(&report, "error-count")), expected(events), "{events:?}\n{report:?}");
    assert_sound(&report, events);
    for witness in report.anomalies.iter().flat_map(|anomaly| &anomaly.witnesses) {
        let [acknowledged, invoked, read] = [0, 1, 2].map(|at| &witness.ops[at]);
        assert!(acknowledged.index < invoked.index, "{witness:?}");
        assert_eq!(events[acknowledged.index as usize].value, acknowledged.value);
        assert_eq!(events[invoked.index as usize].value, invoked.value);
        let seen = elements(&events[read.index as usize].value);
        assert!(seen.contains(&invoked.value.to_string()) && !seen.contains(&acknowledged.value.to_string()));
    }
    report.verdict
}

fn sets(values: &[i64]) -> Vec<Datum> {
    let set = |bits: usize| {
        let chosen = values.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
        Datum::Vector(chosen.map(|(_, value)| Datum::from(*value)).collect())
    };
    (0..1 << values.len()).map(set).collect()
}

fn write(value: i64) -> crate::common::Item {
    item("write", value, &[OpKind::Ok, OpKind::Fail, OpKind::Info])
}

#[test]
fn every_small_history_is_judged_as_defined() {
    for (clients, len) in [(1, 8), (2, 6)] {
        let mut seen = [0; 3];
        let mut reads = sets(&[1, 2]);
        reads.push(Datum::Vector(vec![2.into(), 2.into()]));
        let menu = [write(1), write(2), read("read", reads)];
        each_history(&menu, clients, len, &mut |events| seen[agrees(events) as usize] += 1);
        assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn random_histories_are_judged_as_defined(numbers in prop::collection::vec((0..4u8, any::<u8>()), 0..60)) {
        let mut menu: Vec<crate::common::Item> = (0..6).map(write).collect();
        menu.push(read("read", sets(&[0, 1, 2, 3, 4, 5])));
        menu.push(read("read", vec![Datum::Vector((0..6).map(Datum::from).collect())]));
        agrees(&random_history(&menu, 4, &numbers));
    }
}

#[test]
fn what_a_person_reads() {
    let mut text: String = (0..50).map(|value| op(0, "write", &value.to_string(), "ok", "nil")).collect();
    text += &op(1, "write", "\"last\"", "info", "\"last\"");
    let all: Vec<String> = (0..50).map(|value| value.to_string()).collect();
    text += &op(2, "read", "nil", "ok", &format!("#{{{} \"last\"}}", all.join(" ")));
    text += &op(2, "read", "nil", "ok", &format!("#{{{} \"last\"}}", all[..48].join(" ")));
    text += &op(3, "read", "nil", "ok", "[\"last\"]");
    text += &op(3, "read", "nil", "ok", "[3 0 1]");
    insta::assert_snapshot!(story(&judge(&Comments::default(), &[], &text)));
}

#[test]
fn a_value_that_is_shown_twice_stands_for_no_other() {
    let text: String = (1..=3).map(|value: i64| op(0, "write", &value.to_string(), "ok", "nil")).collect();
    let report = judge(&Comments::default(), &[], &(text.clone() + &op(1, "read", "nil", "ok", "[1 1 3]")));
    assert_eq!(anomalies(&report), [("causal-reverse", 1)]);
    let report = judge(&Comments::default(), &[], &(text + &op(1, "read", "nil", "ok", "[1 2 2 1 3 3]")));
    assert_eq!(report.verdict, Verdict::Valid);
}

#[test]
fn a_write_that_fails_takes_nothing_from_another_of_its_value() {
    let text = "{:process 0, :type :invoke, :f :write, :value 5} {:process 1, :type :invoke, :f :write, :value 5}
                {:process 0, :type :fail, :f :write, :value 5} {:process 1, :type :ok, :f :write, :value 5}
                {:process 0, :type :invoke, :f :write, :value 4} {:process 0, :type :ok, :f :write, :value 4}
                {:process 0, :type :invoke, :f :write, :value 5} {:process 1, :type :invoke, :f :read}
                {:process 1, :type :ok, :f :read, :value #{5}}";
    let report = judge(&Comments::default(), &[], text);
    assert_eq!(
        (report.verdict, report.anomalies.len()),
        (Verdict::Unknown, 0),
        "the first write of 5 says nothing of 4"
    );
    let failed = text.replace(":type :ok, :f :write, :value 5", ":type :fail, :f :write, :value 5");
    assert_eq!(judge(&Comments::default(), &[], &failed).verdict, Verdict::Invalid);
}

#[test]
fn values_from_nowhere_say_nothing_until_they_are_written() {
    let early = op(0, "read", "nil", "ok", "#{9}");
    let report = judge(&Comments::default(), &[], &early);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("1 read (the first at index 1) showed values whose write"), "{:?}", report.notes);
    let report =
        judge(&Comments::default(), &[], &(early + &op(0, "write", "1", "ok", "1") + &op(0, "write", "9", "ok", "9")));
    assert_eq!(anomalies(&report), [("causal-reverse", 1)]);
}

#[test]
fn what_cannot_be_read_is_unknown_unless_the_rest_is_wrong() {
    let good = op(0, "write", "1", "ok", "1") + &op(0, "write", "2", "ok", "2");
    let wrong = op(1, "read", "nil", "ok", "#{2}");
    for (odd, reason, lasts) in [
        (op(1, "read", "nil", "ok", "nil"), "expected a collection of elements as the read's value, found nil", true),
        (op(1, "read", "nil", "ok", "[:k #{1 2}]"), "check each key separately with --keyed", true),
        (op(1, "write", "2", "ok", "2"), "2 was already written", true),
        (op(1, "write", "nil", "ok", "7"), "a write has no value", false),
        (op(1, "write", "7", "ok", "8"), "differs from its invocation's", false),
    ] {
        let report = judge(&Comments::default(), &[], &format!("{good}{odd}"));
        assert_eq!(report.verdict, Verdict::Unknown, "{odd}");
        assert!(report.notes[0].contains(reason), "{:?}", report.notes);
        let report = judge(&Comments::default(), &[], &format!("{good}{odd}{wrong}"));
        assert_eq!(report.verdict, if lasts { Verdict::Invalid } else { Verdict::Unknown }, "{odd}");
        assert_eq!(judge(&Comments::default(), &[], &format!("{good}{wrong}{odd}")).verdict, Verdict::Invalid, "{odd}");
    }
    let report = judge(&Comments::default(), &[], "{:process 0, :type :ok, :f :write, :value 1}");
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("the op has no invocation or completion"), "{:?}", report.notes);
    // Pairs that a client wrote are values.
    let pairs = op(0, "write", "[1 [2]]", "ok", "nil")
        + &op(0, "write", "[2]", "ok", "nil")
        + &op(0, "read", "nil", "ok", "[[1 [2]] [2]]");
    assert_eq!(judge(&Comments::default(), &[], &pairs).verdict, Verdict::Valid);
}

#[test]
fn other_ops_are_passed_over() {
    let text = "{:process :nemesis, :type :info, :f :write, :value 1} {:process 0, :type :invoke, :f :read}
                {:process 0, :type :fail, :f :read, :value #{1}} {:process 0, :type :invoke, :f :sync}
                {:process 0, :type :ok, :f :sync}";
    let report = judge(&Comments::default(), &[], text);
    assert_eq!((report.verdict, count(&report, "read-count"), count(&report, "write-count")), (Verdict::Unknown, 0, 0));
    assert!(report.notes[0].contains("no ok :read"), "{:?}", report.notes);
}

#[test]
fn reads_of_values_that_nobody_writes_say_which() {
    let text =
        op(0, "write", "1", "ok", "1") + &op(0, "write", "2", "ok", "2") + &op(0, "read", "nil", "ok", "[\"2\"]");
    let report = judge(&Comments::default(), &[], &text);
    assert_eq!(report.verdict, Verdict::Unknown);
    let why =
        "No verdict: no read shows a value that an op writes. The read at index 5 shows \"2\", which no op writes.";
    assert_eq!(report.notes.last().map(String::as_str), Some(why), "{:?}", report.notes);
}

#[test]
fn a_read_of_what_is_written_later_counts_beside_one_of_what_nobody_writes() {
    let text = op(0, "write", "1", "ok", "1")
        + &op(0, "write", "2", "ok", "2")
        + &op(0, "read", "nil", "ok", "[\"x\"]")
        + &op(0, "read", "nil", "ok", "[3]");
    let is_doubted = |text: &str, verdict: Verdict| {
        let report = judge(&Comments::default(), &[], text);
        assert_eq!(report.verdict, verdict, "{:?}", report.notes);
        report.notes.iter().any(|note| note.starts_with("No verdict"))
    };
    assert!(is_doubted(&text, Verdict::Unknown));
    // It lacks 1 and 2, which were acknowledged before the write of 3 was invoked.
    assert!(!is_doubted(&(text + &op(0, "write", "3", "ok", "3")), Verdict::Invalid));
}
