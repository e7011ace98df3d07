//! Compares counter with its definition.

use crate::common::{
    Event, anomalies, assert_sound, count, each_history, history, item, judge, oks_after, random_history, read, story,
    verdict,
};
use check_jepsen::counter::Counter;
use history_core::{Checker as _, Datum, OpKind, Verdict};
use proptest::prelude::*;

const ENDS: [OpKind; 3] = [OpKind::Ok, OpKind::Fail, OpKind::Info];

fn int(datum: &Datum) -> i64 {
    let Datum::Int(int) = datum else { panic!("{datum}") };
    *int
}

/// For each `ok` read, by the definition: its value, and the minimum and the maximum that it may be.
fn bounds(events: &[Event]) -> Vec<(i64, i64, i64)> {
    let end_of = |at: usize| (at + 1..events.len()).find(|later| events[*later].process == events[at].process);
    let mut all = Vec::new();
    for (invoked, event) in events.iter().enumerate() {
        let Some(completed) = end_of(invoked) else { continue };
        if event.kind != OpKind::Invoke || event.f != "read" || events[completed].kind != OpKind::Ok {
            continue;
        }
        let (mut lower, mut upper) = (0, 0);
        for (at, add) in events.iter().enumerate().filter(|(_, add)| add.kind == OpKind::Invoke && add.f == "add") {
            let end = end_of(at);
            if at > completed || end.is_some_and(|end| events[end].kind == OpKind::Fail) {
                continue;
            }
            let amount = int(&add.value);
            let certain = end.is_some_and(|end| end < invoked && events[end].kind == OpKind::Ok);
            lower += if certain { amount } else { amount.min(0) };
            upper += if certain { amount } else { amount.max(0) };
        }
        all.push((completed, (int(&events[completed].value), lower, upper)));
    }
    all.sort_unstable();
    all.into_iter().map(|(_, bounds)| bounds).collect()
}

fn agrees(events: &[Event]) {
    let report = Counter::default().check(&history(events)).unwrap();
    assert_sound(&report, events);
    let all = bounds(events);
    let wrong: Vec<_> = all.iter().filter(|(value, lower, upper)| value < lower || value > upper).collect();
    assert_eq!(count(&report, "read-count"), all.len() as u64);
    assert_eq!(count(&report, "error-count"), wrong.len() as u64, "{events:?}");
    assert_eq!(report.verdict, verdict(&report, wrong.len() as u64, oks_after(events, "add", "read")));
    let Some(anomaly) = report.anomaly("out-of-bounds") else { return };
    for (place, expected) in [("first", wrong.first()), ("last", wrong.last())] {
        let place = Datum::keyword(place);
        let shown_as = |witness: &&history_core::Witness| matches!(&witness.facts[0].1, Datum::Vector(roles) if roles.contains(&place));
        let witness = anomaly.witnesses.iter().find(shown_as).unwrap();
        let fact = |name: &str| int(&witness.facts.iter().find(|(known, _)| known == name).unwrap().1);
        let (value, lower, upper) = expected.unwrap();
        assert_eq!((fact("value"), fact("lower"), fact("upper")), (*value, *lower, *upper), "{events:?}");
    }
}

fn reads(values: std::ops::RangeInclusive<i64>) -> crate::common::Item {
    read("read", values.map(Datum::from).collect())
}

#[test]
fn every_small_history_is_judged_as_defined() {
    let menu = [item("add", 1, &ENDS), item("add", -2, &ENDS), reads(-2..=1)];
    let count = each_history(&menu, 3, 6, &mut |events| agrees(events));
    assert!(count > 100_000, "{count}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn random_histories_are_judged_as_defined(numbers in prop::collection::vec((0..5u8, any::<u8>()), 0..60)) {
        let menu = [item("add", 1, &ENDS), item("add", 3, &ENDS), item("add", -2, &ENDS), item("add", 0, &ENDS), reads(-4..=8)];
        agrees(&random_history(&menu, 5, &numbers));
    }
}

#[test]
fn what_a_person_reads() {
    let text = "
        {:process 0, :type :invoke, :f :add, :value 2} {:process 0, :type :ok, :f :add, :value 2}
        {:process 1, :type :invoke, :f :add, :value -1}
        {:process 2, :type :invoke, :f :add, :value 5}
        {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value 9}
        {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value 6}
        {:process 2, :type :fail, :f :add, :value 5}
        {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value -3}
        {:process 1, :type :info, :f :add, :value -1}
        {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value 1}
        {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value 0}
    ";
    insta::assert_snapshot!(story(&judge(&Counter::default(), &[], text)));
}

#[test]
fn numbers_may_be_huge() {
    let text = "{:process 0, :type :invoke, :f :add, :value 9223372036854775807} {:process 0, :type :ok, :f :add}
                {:process 0, :type :invoke, :f :add, :value 9223372036854775808} {:process 0, :type :ok, :f :add}
                {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value VALUE}";
    let judge = |value: &str| judge(&Counter::default(), &[], &text.replace("VALUE", value));
    assert_eq!(judge("18446744073709551615").verdict, Verdict::Valid);
    assert_eq!(anomalies(&judge("18446744073709551614")), [("out-of-bounds", 1)]);
    assert_eq!(anomalies(&judge(&format!("1{}", "0".repeat(60)))), [("out-of-bounds", 1)]);
    assert_eq!(anomalies(&judge(&format!("-1{}", "0".repeat(60)))), [("out-of-bounds", 1)]);
}

#[test]
fn what_cannot_be_read_is_unknown_unless_the_rest_is_wrong() {
    let add = |value: &str| {
        format!("{{:process 0, :type :invoke, :f :add, :value {value}}} {{:process 0, :type :ok, :f :add}}")
    };
    let read = |value: &str| {
        format!("{{:process 0, :type :invoke, :f :read}} {{:process 0, :type :ok, :f :read, :value {value}}}")
    };
    for (odd, reason) in [
        (read("nil"), "expected an integer as the value of a read, found nil"),
        (read("\"3\""), "found \"3\""),
        (read("3.0"), "found 3.0"),
        (read("1/2"), "found 1/2"),
        (add("nil"), "expected an integer of at most 90 bits as the amount of an add, found nil"),
        (add("1.5"), "as the amount of an add, found 1.5"),
        (add(&format!("1{}", "0".repeat(30))), "expected an integer of at most 90 bits"),
        (
            "{:process 0, :type :invoke, :f :add, :value 1} {:process 0, :type :ok, :f :add, :value 7}".into(),
            "1 in the invocation of an add, but 7 in its completion",
        ),
        (
            "{:process 0, :type :invoke, :f :add, :value 1} {:process 0, :type :ok, :f :read, :value 1}".into(),
            "the completion has :f :read, its invocation :f :add",
        ),
        (
            "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :add, :value 1}".into(),
            "the completion has :f :add, its invocation :f :read",
        ),
        ("{:type :ok, :f :read, :value 1}".into(), "the op has no invocation or completion"),
        ("{:type :invoke, :f :add, :value 1}".into(), "the op has no invocation or completion"),
    ] {
        let report = judge(&Counter::default(), &[], &format!("{}\n{odd}", read("0")));
        assert_eq!(report.verdict, Verdict::Unknown, "{odd}");
        assert!(report.notes[0].contains("(line 2)") && report.notes[0].contains(reason), "{:?}", report.notes);
        let report = judge(&Counter::default(), &[], &format!("{}\n{odd}", read("7")));
        assert_eq!(anomalies(&report), [("out-of-bounds", 1)], "{odd}");
    }
}

#[test]
fn an_add_that_never_completes_holds_no_verdict_back() {
    // Each read waits for the first add. If it depended on this add only, it would be right.
    let mut text = String::from("{:process 9, :type :invoke, :f :add, :value 5}\n");
    // If a failed add visited each waiting read, this would take hours.
    const READS: u64 = 100_000;
    for at in 0..READS {
        let kind = if at % 2 == 0 { "fail" } else { "ok" };
        text += &crate::common::op(0, "add", "1", kind, "1");
        text += &crate::common::op(0, "read", "nil", "ok", &(5 + at.div_ceil(2)).to_string());
    }
    assert_eq!(judge(&Counter::default(), &[], &text).verdict, Verdict::Valid);
    text += "{:process 9, :type :fail, :f :add, :value 5}";
    assert_eq!(anomalies(&judge(&Counter::default(), &[], &text)), [("out-of-bounds", READS)]);
}

#[test]
fn a_read_that_nobody_invoked_as_one_is_unknown() {
    // The slot of the failed read is reused; its data must not affect this op.
    let text = "{:process 0, :type :invoke, :f :read} {:process 0, :type :fail, :f :read}
                {:process 0, :type :invoke, :f :txn} {:process 0, :type :ok, :f :read, :value 7}";
    let report = judge(&Counter::default(), &[], text);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("the completion has :f :read, its invocation :f :txn"), "{:?}", report.notes);
}
