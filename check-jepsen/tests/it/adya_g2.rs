//! Compares adya-g2 with its definition: counts the ok inserts of each key.

use crate::common::{Event, anomalies, assert_sound, count, each_history, history, item, judge, op, story};
use check_jepsen::adya_g2::AdyaG2;
use history_core::{Checker as _, Datum, OpKind, Verdict};
use std::collections::BTreeMap;

fn insert(key: i64, table: usize) -> Datum {
    let mut ids = [Datum::Nil, Datum::Nil];
    ids[table] = Datum::Int(10 * key);
    Datum::Vector(vec![key.into(), Datum::Vector(ids.into())])
}

fn key(event: &Event) -> String {
    let Datum::Vector(pair) = &event.value else { panic!("{event:?}") };
    pair[0].to_string()
}

/// The verdict, the number of keys, and the number of keys with too many inserts.
fn expected(events: &[Event]) -> (Verdict, u64, u64) {
    let mut keys: BTreeMap<String, u64> = BTreeMap::new();
    let mut is_observed = false;
    for event in events {
        *keys.entry(key(event)).or_default() += u64::from(event.kind == OpKind::Ok);
        is_observed |= event.kind == OpKind::Ok;
    }
    let illegal = keys.values().filter(|ok| **ok > 1).count() as u64;
    let verdict = match (illegal, is_observed) {
        (0, false) => Verdict::Unknown,
        (0, true) => Verdict::Valid,
        _ => Verdict::Invalid,
    };
    (verdict, keys.len() as u64, illegal)
}

#[test]
fn every_small_history_is_judged_by_the_definition() {
    let ends = [OpKind::Ok, OpKind::Fail, OpKind::Info];
    let menu =
        [item("insert", insert(1, 0), &ends), item("insert", insert(1, 1), &ends), item("insert", insert(2, 0), &ends)];
    let mut verdicts = BTreeMap::new();
    each_history(&menu, 2, 6, &mut |events| {
        let report = AdyaG2::default().check(&history(events)).unwrap();
        let found = (report.verdict, count(&report, "key-count"), count(&report, "illegal-count"));
        assert_eq!(found, expected(events), "{events:?}");
        assert_sound(&report, events);
        for witness in report.anomalies.iter().flat_map(|anomaly| &anomaly.witnesses) {
            let [one, other] = [0, 1].map(|at| &events[witness.ops[at].index as usize]);
            assert!(one.kind == OpKind::Ok && other.kind == OpKind::Ok && key(one) == key(other), "{witness:?}");
        }
        *verdicts.entry(report.verdict.name()).or_insert(0) += 1;
    });
    assert!(verdicts.len() == 3 && verdicts.values().all(|count| *count > 1_000), "{verdicts:?}");
}

#[test]
fn what_a_person_reads() {
    let text = op(0, "insert", "[:k [4 nil]]", "ok", "nil")
        + &op(1, "insert", "[:k [nil 5]]", "ok", "[:k [nil 5]]")
        + &op(2, "insert", "[:j [nil 6]]", "ok", "[:j [nil 6]]")
        + &op(3, "insert", "[:j [7 nil]]", "info", "nil");
    insta::assert_snapshot!(story(&judge(&AdyaG2::default(), &[], &text)));
}

#[test]
fn inserts_that_nothing_competes_with_say_little() {
    let alone = op(0, "insert", "[1 [4 nil]]", "ok", "[1 [4 nil]]") + &op(0, "insert", "[2 [4 nil]]", "ok", "nil");
    let both_fail = op(0, "insert", "[1 [4 nil]]", "fail", "nil") + &op(1, "insert", "[1 [nil 4]]", "fail", "nil");
    for (text, verdict, why) in
        [(&alone, Verdict::Valid, "No key has more than one insert"), (&both_fail, Verdict::Unknown, "no ok :insert")]
    {
        let report = judge(&AdyaG2::default(), &[], text);
        assert_eq!(report.verdict, verdict, "{text}");
        assert!(report.notes[0].contains(why), "{report:?}");
    }
}

#[test]
fn completions_alone_count() {
    let one = "{:process 0, :type :ok, :f :insert, :value [1 [4 nil]]}";
    let refused = format!("{one} {{:process 1, :type :fail, :f :insert, :value [1 [nil 5]]}}");
    assert_eq!(judge(&AdyaG2::default(), &[], &refused).verdict, Verdict::Valid);
    let both = format!("{one} {{:process 1, :type :ok, :f :insert, :value [1 [nil 5]]}}");
    assert_eq!(anomalies(&judge(&AdyaG2::default(), &[], &both)), [("G2", 1)]);
}

#[test]
fn what_cannot_be_read_is_unknown_unless_the_rest_is_wrong() {
    let good = op(0, "insert", "[1 [4 nil]]", "ok", "nil") + &op(1, "insert", "[1 [nil 5]]", "fail", "nil");
    let wrong = op(1, "insert", "[1 [nil 6]]", "ok", "nil");
    for (odd, reason) in [
        (op(2, "insert", "nil", "ok", "nil"), "expected [key [a-id b-id]]"),
        (op(2, "insert", "[1 2]", "ok", "[1 2]"), "one of the ids nil"),
        (op(2, "insert", "[1 [2 3]]", "ok", "nil"), "one of the ids nil"),
        (op(2, "insert", "[2 [2 nil]]", "ok", "[2 [3 nil]]"), ""),
        (op(2, "insert", "[2 [2 nil]]", "ok", "[3 [2 nil]]"), "differs from its invocation's"),
    ] {
        let report = judge(&AdyaG2::default(), &[], &(good.clone() + &odd));
        // The row does not matter, only its table and its key do.
        let verdict = if reason.is_empty() { Verdict::Valid } else { Verdict::Unknown };
        assert_eq!(report.verdict, verdict, "{odd}: {:?}", report.notes);
        assert!(report.notes.join(" ").contains(reason), "{:?}", report.notes);
        assert_eq!(judge(&AdyaG2::default(), &[], &(good.clone() + &wrong + &odd)).verdict, Verdict::Invalid, "{odd}");
    }
}
