//! Compares pn-counter and g-counter with their definition: the sums of all subsets.

use crate::common::{anomalies, count, judge, op, story};
use check_jepsen::final_counter::FinalCounter;
use history_core::Verdict;
use proptest::prelude::*;
use std::fmt::Write as _;

/// Adds with their outcomes; `open` ones have no completion.
fn adds(adds: &[(i64, &str)]) -> String {
    let mut text = String::new();
    for (process, (amount, end)) in adds.iter().enumerate() {
        _ = writeln!(text, "{{:process {process}, :type :invoke, :f :add, :value {amount}}}");
        if *end != "open" {
            _ = writeln!(text, "{{:process {process}, :type :{end}, :f :add, :value {amount}}}");
        }
    }
    text
}

fn last_read(value: i64) -> String {
    format!(
        "{{:process 1000, :type :invoke, :f :read, :final? true}}
         {{:process 1000, :type :ok, :f :read, :value {value}, :final? true}}\n"
    )
}

/// Returns true if the certain adds and some subset of the possible ones have this sum.
fn is_sum(all: &[(i64, &str)], value: i64) -> bool {
    let certain: i64 = all.iter().filter(|(_, end)| *end == "ok").map(|(amount, _)| amount).sum();
    let possible: Vec<i64> =
        all.iter().filter(|(_, end)| matches!(*end, "info" | "open")).map(|(amount, _)| *amount).collect();
    (0..1 << possible.len()).any(|set: u32| {
        let chosen = possible.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
        certain + chosen.map(|(_, amount)| amount).sum::<i64>() == value
    })
}

proptest! {
    #[test]
    fn a_final_read_is_right_exactly_if_a_subset_makes_its_sum(
        all in prop::collection::vec((-9..9_i64, prop::sample::select(vec!["ok", "info", "fail", "open"])), 1..9),
        value in -30..30_i64,
    ) {
        let report = judge(&FinalCounter::default(), &[], &(adds(&all) + &last_read(value)));
        let expected = if is_sum(&all, value) { Verdict::Valid } else { Verdict::Invalid };
        prop_assert_eq!(report.verdict, expected, "{:?} {}", all, value);
        let grown: Vec<(i64, &str)> = all.iter().map(|(amount, end)| (amount.abs(), *end)).collect();
        let report = judge(&FinalCounter::G_COUNTER, &[], &(adds(&grown) + &last_read(value)));
        let expected = if is_sum(&grown, value) { Verdict::Valid } else { Verdict::Invalid };
        prop_assert_eq!(report.verdict, expected, "{:?} {}", grown, value);
    }
}

#[test]
fn what_a_person_reads() {
    let text = adds(&[(3, "ok"), (10, "info"), (10, "open"), (-1, "info"), (7, "fail")]) + &last_read(5);
    insta::assert_snapshot!(story(&judge(&FinalCounter::default(), &[], &text)));
}

#[test]
fn only_final_reads_count() {
    let early = adds(&[(3, "ok")]) + &op(7, "read", "nil", "ok", "99");
    let report = judge(&FinalCounter::default(), &[], &early);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("no ok :read with :final? true after an :add"), "{:?}", report.notes);
    assert_eq!(judge(&FinalCounter::default(), &[], &(early + &last_read(3))).verdict, Verdict::Valid);
    let json = r#"{"process": 0, "type": "invoke", "f": "add", "value": 1}
        {"process": 0, "type": "ok", "f": "add", "value": 1}
        {"process": 0, "type": "invoke", "f": "read", "value": null, "final?": true}
        {"process": 0, "type": "ok", "f": "read", "value": 2, "final?": true}"#;
    assert_eq!(anomalies(&judge(&FinalCounter::G_COUNTER, &[], json)), [("wrong-sum", 1)]);
}

#[test]
fn a_read_without_any_add_says_nothing() {
    assert_eq!(judge(&FinalCounter::default(), &[], &last_read(0)).verdict, Verdict::Unknown);
}

/// 60 powers of 2, from 2^20 on, have 2^60 sums, no two of which are adjacent.
#[test]
fn too_many_sums_are_unknown_but_what_no_sum_reaches_is_wrong() {
    let mut text = String::new();
    for process in 0..60 {
        let amount = 1_i128 << (process + 20);
        _ = writeln!(text, "{{:process {process}, :type :invoke, :f :add, :value {amount}}}");
        _ = writeln!(text, "{{:process {process}, :type :info, :f :add, :value {amount}}}");
    }
    let report = judge(&FinalCounter::default(), &[], &(text.clone() + &last_read(5)));
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].starts_with("60 adds may have happened"), "{:?}", report.notes);
    let report = judge(&FinalCounter::default(), &[], &(text + &last_read(-1)));
    assert_eq!((report.verdict, count(&report, "error-count")), (Verdict::Invalid, 1));
}

#[test]
fn what_a_counter_cannot_take_is_unknown() {
    for (text, reason) in [
        (adds(&[(-1, "ok")]) + &last_read(-1), "a g-counter only grows"),
        (op(0, "add", ":x", "ok", ":x"), "expected an integer of at most 90 bits"),
        (op(0, "add", "1", "ok", "2") + &last_read(2), "differs from its invocation's"),
    ] {
        let report = judge(&FinalCounter::G_COUNTER, &[], &text);
        assert_eq!(report.verdict, Verdict::Unknown, "{text}");
        assert!(report.notes[0].contains(reason), "{:?}", report.notes);
    }
}

/// The amount of an add may be only in its `ok` completion. If it is nowhere, the add may be of any amount.
#[test]
fn an_ok_completion_may_have_the_amount() {
    let invoked = "{:process 0, :type :invoke, :f :add}\n";
    let ended = "{:process 0, :type :ok, :f :add, :value 1}\n";
    for checker in [FinalCounter::default(), FinalCounter::G_COUNTER] {
        let judge = |text: &str| judge(&checker, &[], text);
        assert_eq!(judge(&format!("{invoked}{ended}{}", last_read(1))).verdict, Verdict::Valid);
        assert_eq!(judge(&format!("{invoked}{}{ended}", last_read(1))).verdict, Verdict::Valid);
        let report = judge(&format!("{invoked}{ended}{}", last_read(5)));
        assert_eq!(anomalies(&report), [("wrong-sum", 1)]);
        let explanation = &report.anomalies[0].witnesses[0].explanation;
        assert!(explanation.contains("So R1 must show 1. However, it shows 5"), "{explanation}");
        for end in ["", "{:process 0, :type :ok, :f :add}", "{:process 0, :type :info, :f :add, :value 1}"] {
            let report = judge(&format!("{invoked}{end}{}", last_read(5)));
            assert_eq!((report.verdict, report.anomalies.len()), (Verdict::Unknown, 0), "{end}");
            let note = "because of the op at index 0 (line 1): neither the invocation nor an ok completion has a value";
            assert!(report.notes[0].contains(note), "{:?}", report.notes);
        }
    }
    let negative = ended.replace('1', "-1");
    let report = judge(&FinalCounter::G_COUNTER, &[], &format!("{invoked}{negative}{}", last_read(-1)));
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("a g-counter only grows"), "{:?}", report.notes);
}

/// The invocation or the completion may mark a read as final; if both have a mark, that of the completion counts.
#[test]
fn either_end_of_a_read_may_be_marked() {
    for (invoked, completed, verdict) in [
        (":final? true", "", Verdict::Invalid),
        ("", ":final? true", Verdict::Invalid),
        (":final? true", ":final? false", Verdict::Valid),
        (":final? \"true\"", "", Verdict::Unknown),
        ("", ":final? 1", Verdict::Unknown),
    ] {
        let odd = format!(
            "{{:process 0, :type :invoke, :f :read, {invoked}}} {{:process 0, :type :ok, :f :read, :value 9, {completed}}}\n"
        );
        let report = judge(&FinalCounter::default(), &[], &(adds(&[(3, "ok")]) + &odd + &last_read(3)));
        assert_eq!(report.verdict, verdict, "{odd}: {:?}", report.notes);
    }
}
