//! Compares sequential with its definition.

use crate::common::{Event, anomalies, assert_sound, count, each_history, history, judge, op, read, story, verdict};
use check_jepsen::sequential::Sequential;
use history_core::{Checker, Datum, OpKind, Options, Verdict};
use proptest::prelude::*;

fn subkeys(event: &Event) -> Vec<Datum> {
    match &event.value {
        Datum::Vector(pair) => match &pair[1] {
            Datum::Vector(values) => values.clone(),
            other => panic!("{other}"),
        },
        other => panic!("{other}"),
    }
}

fn agrees(events: &[Event], key_count: Option<u32>) -> Verdict {
    let report = Sequential { key_count }.check(&history(events)).unwrap();
    assert_sound(&report, events);
    let reads: Vec<Vec<Datum>> = events.iter().filter(|event| event.kind == OpKind::Ok).map(subkeys).collect();
    let is_nil = |value: &Datum| *value == Datum::Nil;
    let bad = |read: &&Vec<Datum>| read.iter().skip_while(|value| is_nil(value)).any(is_nil);
    let longest = reads.iter().map(Vec::len).max().unwrap_or(0);
    let whole = key_count.map_or(longest, |count| count as usize);
    let number = |is: &dyn Fn(&&Vec<Datum>) -> bool| reads.iter().filter(is).count() as u64;
    let expected = [
        ("read-count", reads.len() as u64),
        ("all-count", number(&|read| read.len() == whole && !read.iter().any(is_nil))),
        ("some-count", number(&|read| read.iter().any(is_nil))),
        ("none-count", number(&|read| read.iter().all(is_nil))),
        ("bad-count", number(&bad)),
        ("key-count", whole as u64),
    ];
    for (name, expected) in expected {
        assert_eq!(count(&report, name), expected, "{name}: {events:?}");
    }
    let observed = number(&|read| read.len() > 1 && !read.iter().all(is_nil));
    assert_eq!(report.verdict, verdict(&report, number(&bad), observed), "{events:?}");
    for witness in report.anomalies.iter().flat_map(|anomaly| &anomaly.witnesses) {
        let values = subkeys(&events[witness.ops[0].index as usize]);
        let fact = |name: &str| match &witness.facts.iter().find(|(known, _)| known == name).unwrap().1 {
            Datum::Int(number) => usize::try_from(*number).unwrap(),
            other => panic!("{other}"),
        };
        let value = |number: usize| &values[values.len() - 1 - number];
        let (shown, absent) = (fact("shown"), fact("absent"));
        assert!(absent < shown && is_nil(value(absent)) && !is_nil(value(shown)), "{witness:?}");
    }
    report.verdict
}

fn value(length: usize, bits: usize) -> Datum {
    let subkey = |at: usize| Datum::from((bits >> at & 1 == 1).then(|| format!("5_{at}")));
    Datum::Vector(vec![5.into(), Datum::Vector((0..length).rev().map(subkey).collect())])
}

#[test]
fn every_pair_of_reads_is_judged_as_defined() {
    let reads: Vec<Datum> = (0..5).flat_map(|length| (0..1 << length).map(move |bits| value(length, bits))).collect();
    for key_count in [None, Some(3)] {
        let mut seen = [0; 3];
        let menu = [read("read", reads.clone())];
        each_history(&menu, 1, 4, &mut |events| seen[agrees(events, key_count) as usize] += 1);
        assert!(seen[Verdict::Valid as usize] > 100 && seen[Verdict::Invalid as usize] > 100, "{seen:?}");
        assert!(seen[Verdict::Unknown as usize] > 10, "{seen:?}");
    }
}

proptest! {
    #[test]
    fn random_reads_are_judged_as_defined(reads in prop::collection::vec((0..12usize, any::<usize>()), 0..12), key_count in prop::option::of(1..12u32)) {
        let read = |(length, bits): (usize, usize)| {
            Event { kind: OpKind::Ok, process: 0, f: "read", value: value(length, bits) }
        };
        agrees(&reads.into_iter().map(read).collect::<Vec<_>>(), key_count);
    }
}

#[test]
fn what_a_person_reads() {
    let text = [
        op(0, "read", "nil", "ok", "[5 [nil nil nil nil]]"),
        op(0, "read", "nil", "ok", "[5 [nil nil \"5_1\" \"5_0\"]]"),
        op(0, "read", "nil", "ok", "[5 [nil \"5_2\" nil \"5_0\"]]"),
        op(1, "read", "nil", "ok", "#jepsen.independent.Tuple [\"k\" (\"k_3\" nil nil nil)]"),
        op(1, "read", "nil", "ok", "[6 [6 5 4]]"),
        op(0, "read", "nil", "ok", "[5 [3 2 1 nil]]"),
    ];
    insta::assert_snapshot!(story(&judge(&Sequential::default(), &[], &text.concat())));
}

#[test]
fn integers_and_lists_are_values_too() {
    let judge = |value: &str| judge(&Sequential::default(), &[], &op(0, "read", "nil", "ok", value));
    assert_eq!(count(&judge("[0 [3 2 1]]"), "all-count"), 1);
    assert_eq!(anomalies(&judge("(0 (3 nil))")), [("out-of-order", 1)]);
    assert_eq!(count(&judge("[0 []]"), "read-count"), 1);
}

#[test]
fn what_cannot_be_read_is_unknown_unless_another_is_wrong() {
    for value in ["nil", "7", "[1]", "[1 2]", "[1 #{2}]", "[1 [2] 3]", "{1 [2]}"] {
        let odd = op(0, "read", "nil", "ok", value);
        let report = judge(&Sequential::default(), &[], &odd);
        assert_eq!(report.verdict, Verdict::Unknown, "{value}");
        assert!(report.notes[0].contains("the op at index 1 (line 1): expected a pair of a key"), "{:?}", report.notes);
        let wrong = op(0, "read", "nil", "ok", "[1 [2 nil]]");
        assert_eq!(judge(&Sequential::default(), &[], &(odd + &wrong)).verdict, Verdict::Invalid, "{value}");
    }
}

#[test]
fn other_ops_are_passed_over_and_options_are_looked_at() {
    let text = "{:process 0, :type :invoke, :f :write, :value 1} {:process 0, :type :ok, :f :write, :value [1 [2 nil]]}
                {:process 0, :type :invoke, :f :read, :value 1} {:process 0, :type :info, :f :read, :value [1 [2 nil]]}";
    let report = judge(&Sequential::default(), &[("key-count", "5")], text);
    assert_eq!((report.verdict, count(&report, "key-count")), (Verdict::Unknown, 5));
    assert!(report.notes[0].contains("no ok :read"), "{:?}", report.notes);
    for count in ["0", "-1", "4294967296", "two"] {
        let error = Sequential::default().start(&Options::new().with("key-count", count)).err().unwrap();
        assert!(error.to_string().starts_with("--key-count: "), "{error}");
    }
}

#[test]
fn one_anomaly_has_one_witness_whatever_was_read() {
    // ##NaN is not equal to itself.
    let text = "{:process 3, :type :invoke, :f :read} {:process 3, :type :ok, :f :read, :value [7 [\"7_2\" nil ##NaN \"7_0\"]]}";
    let report = judge(&Sequential::default(), &[], text);
    assert_eq!((report.anomalies[0].count, report.anomalies[0].witnesses.len()), (1, 1));
}

/// A store without nil may represent absence as false: false is not a value of a subkey.
#[test]
fn a_boolean_is_no_value_of_a_subkey() {
    let report = judge(&Sequential::default(), &[], &op(0, "read", "nil", "ok", "[0 [true false true]]"));
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(
        report.notes[0].contains("a subkey's value is true; expected a value, or nil for none"),
        "{:?}",
        report.notes
    );
    let report = judge(&Sequential::default(), &[], &op(0, "read", "nil", "ok", "[0 [3 \"\" 1]]"));
    assert_eq!(report.verdict, Verdict::Valid);
    assert!(report.notes[0].starts_with("No read shows a nil, so none lacks a subkey."), "{:?}", report.notes);
}
