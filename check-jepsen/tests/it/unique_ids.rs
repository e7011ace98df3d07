//! Compares unique-ids with its definition.

use crate::common::{
    Event, anomalies, assert_sound, count, each_history, history, judge, oks, random_history, read, story, verdict,
};
use check_jepsen::unique_ids::UniqueIds;
use history_core::{Checker as _, Datum, OpKind, Verdict};
use proptest::prelude::*;

fn agrees(events: &[Event]) {
    let report = UniqueIds::default().check(&history(events)).unwrap();
    assert_sound(&report, events);
    let ids: Vec<&Datum> = events.iter().filter(|event| event.kind == OpKind::Ok).map(|event| &event.value).collect();
    let second = |at: &usize| ids[..*at].iter().filter(|id| **id == ids[*at]).count() == 1;
    let duplicated = (0..ids.len()).filter(second).count() as u64;
    assert_eq!(count(&report, "duplicated-count"), duplicated, "{events:?}");
    assert_eq!(count(&report, "acknowledged-count"), ids.len() as u64);
    assert_eq!(report.verdict, verdict(&report, duplicated, oks(events, "generate")));
}

#[test]
fn every_small_history_is_judged_as_defined() {
    let ids = [Datum::from(1), Datum::from("1"), Datum::from(i64::MAX), Datum::keyword("a")];
    let count = each_history(&[read("generate", ids.to_vec())], 2, 9, &mut |events| agrees(events));
    assert!(count > 20_000, "{count}");
}

proptest! {
    #[test]
    fn random_histories_are_judged_as_defined(numbers in prop::collection::vec((0..4u8, any::<u8>()), 0..60)) {
        let ids = (0..200i64).map(|id| Datum::from(id * id * id - 100));
        agrees(&random_history(&[read("generate", ids.collect())], 4, &numbers));
    }
}

#[test]
fn what_a_person_reads() {
    let mut text = String::new();
    for (process, id) in [1, 2, 3, 2, 1, 9, 2].into_iter().enumerate() {
        text += &crate::common::op(process, "generate", "nil", "ok", &id.to_string());
    }
    insta::assert_snapshot!(story(&judge(&UniqueIds::default(), &[], &text)));
}

#[test]
fn an_id_that_was_not_said_is_unknown_unless_another_is_there_twice() {
    let op = |value: &str| {
        format!("{{:process 0, :type :invoke, :f :generate}} {{:process 0, :type :ok, :f :generate, :value {value}}}\n")
    };
    let report = judge(&UniqueIds::default(), &[], &[op("nil"), op("nil")].concat());
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("expected the generated id"), "{:?}", report.notes);
    let report = judge(&UniqueIds::default(), &[], &[op("7"), op("nil"), op("7")].concat());
    assert_eq!(anomalies(&report), [("duplicated", 1)]);
}
