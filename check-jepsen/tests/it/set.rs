//! Compares set with its definition.

use crate::common::{
    Event, anomalies, assert_sound, count, each_history, history, item, judge, oks_after, op, random_history, read,
    story, verdict,
};
use check_jepsen::set::Set;
use history_core::{Checker as _, Datum, OpKind, Verdict};
use proptest::prelude::*;

const ENDS: [OpKind; 3] = [OpKind::Ok, OpKind::Fail, OpKind::Info];

fn elements(of: &Event) -> Vec<Datum> {
    let Datum::Vector(elements) = &of.value else { panic!("{of:?}") };
    elements.clone()
}

fn distinct(values: impl Iterator<Item = Datum>) -> Vec<Datum> {
    let mut all: Vec<Datum> = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

/// Compares the report with the definition.
fn agrees(events: &[Event]) {
    let report = Set::default().check(&history(events)).unwrap();
    assert_sound(&report, events);
    let adds = |kind: OpKind| {
        let adds = events.iter().filter(move |event| event.f == "add" && event.kind == kind);
        distinct(adds.map(|event| event.value.clone()))
    };
    let (attempted, acknowledged) = (adds(OpKind::Invoke), adds(OpKind::Ok));
    let Some(last) = events.iter().rfind(|event| event.f == "read" && event.kind == OpKind::Ok) else {
        assert_eq!(report.verdict, Verdict::Unknown);
        return;
    };
    let last = distinct(elements(last).into_iter());
    let lost = acknowledged.iter().filter(|element| !last.contains(element)).count() as u64;
    let unexpected = last.iter().filter(|element| !attempted.contains(element)).count() as u64;
    let ok = last.iter().filter(|element| attempted.contains(element)).count() as u64;
    let unsure = |element: &&Datum| attempted.contains(element) && !acknowledged.contains(element);
    let recovered = last.iter().filter(unsure).count() as u64;
    for (name, expected) in [
        ("attempt-count", attempted.len() as u64),
        ("acknowledged-count", acknowledged.len() as u64),
        ("ok-count", ok),
        ("lost-count", lost),
        ("unexpected-count", unexpected),
        ("recovered-count", recovered),
    ] {
        assert_eq!(count(&report, name), expected, "{name} of {events:?}");
    }
    let expected: Vec<(&str, u64)> =
        [("lost", lost), ("unexpected", unexpected)].into_iter().filter(|of| of.1 > 0).collect();
    assert_eq!(anomalies(&report), expected, "{events:?}");
    let observed = oks_after(events, "add", "read");
    assert_eq!(report.verdict, verdict(&report, lost + unexpected, observed), "{events:?}");
}

fn vectors(all: &[&[i64]]) -> Vec<Datum> {
    all.iter().map(|elements| Datum::from(elements.to_vec())).collect()
}

#[test]
fn every_small_history_is_judged_as_defined() {
    let reads = vectors(&[&[], &[1], &[2], &[1, 2], &[3, 3, 1]]);
    let menu = [item("add", 1, &ENDS), item("add", 2, &ENDS), read("read", reads)];
    let count = each_history(&menu, 2, 6, &mut |events| agrees(events));
    assert!(count > 40_000, "{count}");
}

proptest! {
    #[test]
    fn random_histories_are_judged_as_defined(numbers in prop::collection::vec((0..4u8, any::<u8>()), 0..80)) {
        let pair = Datum::from(vec![0, 0]);
        let reads: Vec<Datum> = (0..64u8)
            .map(|bits| {
                let all = [Datum::from(0), Datum::from(7), pair.clone(), Datum::from("x"), Datum::from(1_i64 << 40), Datum::from(-3)];
                let some = all.into_iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
                Datum::Vector(some.map(|(_, element)| element).collect())
            })
            .collect();
        let mut menu: Vec<_> = [0, 7, 1 << 40].map(|element: i64| item("add", element, &ENDS)).into();
        menu.push(item("add", pair, &ENDS));
        menu.push(item("add", "x", &ENDS));
        menu.push(read("read", reads));
        agrees(&random_history(&menu, 3, &numbers));
    }
}

#[test]
fn what_a_person_reads() {
    let mut text = String::new();
    for element in 0..12 {
        let kind = if element == 7 { "info" } else { "ok" };
        text += &crate::common::op(element, "add", &element.to_string(), kind, &element.to_string());
    }
    text += "{:process 20, :type :invoke, :f :read} {:process 20, :type :ok, :f :read, :value #{0 1 2 7 8 9 99 \"x\"}}";
    let report = judge(&Set::default(), &[], &text);
    insta::assert_snapshot!(story(&report));
    let sets = report.artifacts.iter().find(|artifact| artifact.path == "set.edn").unwrap();
    let expected = r##"{:ok "#{0..2 7..9}", :lost "#{3..6 10..11}", :unexpected "#{99 \"x\"}", :recovered "#{7}"}"##;
    assert_eq!(String::from_utf8_lossy(&sets.content).trim_end(), expected);
}

#[test]
fn a_completion_without_value_is_of_the_element_invoked() {
    let text = "{:process 0, :type :invoke, :f :add, :value 3} {:process 0, :type :ok, :f :add}
                {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value ";
    let report = judge(&Set::default(), &[], &format!("{text}[3]}}"));
    assert_eq!((report.verdict, count(&report, "acknowledged-count")), (Verdict::Valid, 1));
    assert_eq!(anomalies(&judge(&Set::default(), &[], &format!("{text}[]}}"))), [("lost", 1)]);
}

#[test]
fn only_the_last_read_has_to_be_readable() {
    let odd = "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value :timeout}";
    let good = "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value []}";
    let add = op(0, "add", "1", "fail", "1");
    assert_eq!(judge(&Set::default(), &[], &format!("{add}\n{odd}\n{good}")).verdict, Verdict::Valid);
    let report = judge(&Set::default(), &[], &format!("{good}\n{odd}"));
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(
        report.notes[0].contains("the op at index 3: expected a collection of elements as the read's value"),
        "{:?}",
        report.notes
    );
    let nil = "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read}";
    assert_eq!(judge(&Set::default(), &[], &format!("{good}\n{nil}")).verdict, Verdict::Unknown);
}

#[test]
fn completions_alone_tell_what_was_attempted() {
    let text = "{:process 0, :type :ok, :f :add, :value 3} {:process 0, :type :fail, :f :add, :value 4}
                {:process 1, :type :info, :f :add, :value 5} {:process 0, :type :ok, :f :read, :value [3 5]}";
    let report = judge(&Set::default(), &[], text);
    assert_eq!(report.verdict, Verdict::Valid);
    assert_eq!((count(&report, "attempt-count"), count(&report, "recovered-count")), (3, 1));
}

#[test]
fn an_add_that_completes_as_another_is_unknown() {
    let text = "{:process 0, :type :invoke, :f :add, :value 3} {:process 0, :type :ok, :f :add, :value 4}
                {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value [3]}";
    let report = judge(&Set::default(), &[], text);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("at index 1 (line 1): the completion's value differs"), "{:?}", report.notes);
}

#[test]
fn without_reads_nothing_is_known() {
    let text = "{:process 0, :type :invoke, :f :add, :value 3} {:process 0, :type :ok, :f :add, :value 3}
                {:process 0, :type :invoke, :f :read} {:process 0, :type :fail, :f :read, :value []}
                {:process :nemesis, :type :ok, :f :read, :value []}";
    let report = judge(&Set::default(), &[], text);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("no ok :read"), "{:?}", report.notes);
}

#[test]
fn what_was_added_after_the_last_read_began_is_said_to_be_no_proof() {
    let read_first = "{:process 1, :type :invoke, :f :read}".to_owned();
    let read_last = "{:process 1, :type :ok, :f :read, :value []}";
    let add = op(0, "add", "7", "ok", "7");
    let note = |text: &str| {
        let report = judge(&Set::default(), &[], text);
        assert_eq!(report.verdict, Verdict::Invalid);
        report.notes.iter().any(|note| note.starts_with("1 lost element: the add was acknowledged after the last read"))
    };
    assert!(note(&(read_first.clone() + &add + read_last)));
    assert!(!note(&(add + &read_first + read_last)));
}
