//! Compares total-queue with its definition.

use crate::common::{
    Event, anomalies, assert_sound, count, each_history, history, item, judge, oks, random_history, read, story,
    verdict,
};
use check_jepsen::total_queue::TotalQueue;
use history_core::{Checker as _, Datum, OpKind, Verdict};
use proptest::prelude::*;

const ENDS: [OpKind; 3] = [OpKind::Ok, OpKind::Fail, OpKind::Info];

/// The difference of two multisets.
fn less(from: &[Datum], other: &[Datum]) -> Vec<Datum> {
    let mut rest = from.to_vec();
    for element in other {
        if let Some(at) = rest.iter().position(|known| known == element) {
            rest.remove(at);
        }
    }
    rest
}

/// Compares with the definition, with lists as multisets.
fn agrees(events: &[Event]) {
    let report = TotalQueue::default().check(&history(events)).unwrap();
    assert_sound(&report, events);
    let those = |f: &str, kind: OpKind| -> Vec<Datum> {
        events.iter().filter(|event| event.f == f && event.kind == kind).map(|event| event.value.clone()).collect()
    };
    let (attempted, acknowledged) = (those("enqueue", OpKind::Invoke), those("enqueue", OpKind::Ok));
    let mut dequeued = those("dequeue", OpKind::Ok);
    for drain in those("drain", OpKind::Ok) {
        let Datum::Vector(elements) = drain else { panic!("{drain}") };
        dequeued.extend(elements);
    }
    let lost = less(&acknowledged, &dequeued);
    let unexpected: Vec<Datum> = dequeued.iter().filter(|element| !attempted.contains(element)).cloned().collect();
    let duplicated = less(&less(&dequeued, &attempted), &unexpected);
    let ok = less(&dequeued, &less(&dequeued, &attempted));
    let recovered = less(&ok, &acknowledged);
    for (name, expected) in [
        ("attempt-count", &attempted),
        ("acknowledged-count", &acknowledged),
        ("dequeue-count", &dequeued),
        ("lost-count", &lost),
        ("unexpected-count", &unexpected),
        ("duplicated-count", &duplicated),
        ("ok-count", &ok),
        ("recovered-count", &recovered),
    ] {
        assert_eq!(count(&report, name), expected.len() as u64, "{name} of {events:?}");
    }
    let drains = |kind: OpKind| those("drain", kind).len();
    let crashed = drains(OpKind::Invoke) > drains(OpKind::Ok) + drains(OpKind::Fail);
    let expected = match (lost.is_empty(), unexpected.is_empty()) {
        (_, false) => Verdict::Invalid,
        (false, true) => {
            if crashed {
                Verdict::Unknown
            } else {
                Verdict::Invalid
            }
        }
        (true, true) => {
            let drains = those("drain", OpKind::Ok).iter().filter(|drain| drain.to_string() != "[]").count() as u64;
            verdict(&report, 0, oks(events, "enqueue") + oks(events, "dequeue") + drains)
        }
    };
    assert_eq!(report.verdict, expected, "{events:?}");
    let lost = if crashed { 0 } else { lost.len() as u64 };
    let expected = [("lost", lost), ("unexpected", unexpected.len() as u64)];
    assert_eq!(anomalies(&report), expected.into_iter().filter(|of| of.1 > 0).collect::<Vec<_>>(), "{events:?}");
}

fn menu() -> Vec<crate::common::Item> {
    let mut drain = read("drain", vec![Datum::from(vec![1, 2]), Datum::Vector(vec![])]);
    drain.ends.push((OpKind::Info, Datum::Nil));
    let dequeue = read("dequeue", vec![1.into(), 2.into()]);
    vec![item("enqueue", 1, &ENDS), item("enqueue", 2, &ENDS), dequeue, drain]
}

#[test]
fn every_small_history_is_judged_as_defined() {
    let count = each_history(&menu(), 2, 6, &mut |events| agrees(events));
    assert!(count > 60_000, "{count}");
}

proptest! {
    #[test]
    fn random_histories_are_judged_as_defined(numbers in prop::collection::vec((0..4u8, any::<u8>()), 0..80)) {
        let mut menu = menu();
        menu.push(item("enqueue", "x", &ENDS));
        menu.push(read("dequeue", vec!["x".into(), 3.into()]));
        menu.push(item("dequeue", Datum::Nil, &[OpKind::Fail, OpKind::Info]));
        agrees(&random_history(&menu, 4, &numbers));
    }
}

#[test]
fn what_a_person_reads() {
    let mut text = String::new();
    for element in [1, 2, 2, 2, 3, 4] {
        text += &crate::common::op(0, "enqueue", &element.to_string(), "ok", "nil");
    }
    text += "{:process 0, :type :invoke, :f :enqueue, :value 5} {:process 0, :type :info, :f :enqueue}
             {:process 1, :type :invoke, :f :dequeue} {:process 1, :type :ok, :f :dequeue, :value 4}
             {:process 1, :type :invoke, :f :dequeue} {:process 1, :type :ok, :f :dequeue, :value 4}
             {:process 1, :type :invoke, :f :dequeue} {:process 1, :type :info, :f :dequeue}
             {:process 2, :type :invoke, :f :drain} {:process 2, :type :ok, :f :drain, :value [9 2 5]}";
    let report = judge(&TotalQueue::default(), &[], &text);
    insta::assert_snapshot!(story(&report));
    let sets = report.artifacts.iter().find(|artifact| artifact.path == "total-queue.edn").unwrap();
    let expected = r##"{:lost "#{1..3}", :unexpected "#{9}", :duplicated "#{4}", :recovered "#{5}"}"##;
    assert_eq!(String::from_utf8_lossy(&sets.content).trim_end(), expected);
}

#[test]
fn what_may_be_with_a_crashed_or_silent_op_is_not_lost() {
    let enqueued = "{:process 0, :type :invoke, :f :enqueue, :value 1} {:process 0, :type :ok, :f :enqueue, :value 1}";
    let strange = "{:process 0, :type :invoke, :f :dequeue} {:process 0, :type :ok, :f :dequeue, :value 7}";
    for (odd, reason) in [
        ("{:process 1, :type :invoke, :f :drain}", "1 drain never returned the drained elements"),
        ("{:process 1, :type :invoke, :f :drain} {:process 1, :type :info, :f :drain}", "1 drain never returned"),
        (
            "{:process 1, :type :invoke, :f :drain} {:process 1, :type :ok, :f :drain}",
            "expected a collection of the drained elements, found nil",
        ),
        ("{:process 1, :type :invoke, :f :dequeue} {:process 1, :type :ok, :f :dequeue}", "an ok dequeue has no value"),
        (
            "{:process 1, :type :invoke, :f :drain} {:process 1, :type :ok, :f :enqueue}",
            "the completion has :f :enqueue, its invocation :f :drain",
        ),
    ] {
        let report = judge(&TotalQueue::default(), &[], &format!("{enqueued}\n{odd}"));
        assert_eq!(report.verdict, Verdict::Unknown, "{odd}");
        assert!(report.notes.iter().any(|note| note.contains(reason)), "{:?}", report.notes);
        if reason.contains("enqueue") {
            continue;
        }
        assert_eq!(
            anomalies(&judge(&TotalQueue::default(), &[], &format!("{enqueued}\n{odd}\n{strange}"))),
            [("unexpected", 1)]
        );
    }
}

#[test]
fn an_enqueue_that_nobody_invoked_may_have_begun_at_any_time() {
    // Clients without a name: the invocation of the last op is unknown.
    let text = "{:type :invoke, :f :enqueue, :value 1}
                {:type :ok, :f :dequeue, :value 2}
                {:type :ok, :f :enqueue, :value 2}";
    let report = judge(&TotalQueue::default(), &[], text);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("the op at index 2"), "{:?}", report.notes);
}

#[test]
fn a_dequeue_in_flight_may_have_what_is_missing() {
    let lost = "{:process 0, :type :invoke, :f :enqueue, :value 1} {:process 0, :type :ok, :f :enqueue, :value 1}";
    let open = format!("{lost} {{:process 1, :type :invoke, :f :dequeue}}");
    let report = judge(&TotalQueue::default(), &[], &open);
    let note = "1 dequeue never completed and may have taken missing elements.";
    assert!(report.notes.iter().any(|said| said == note), "{:?}", report.notes);
}
