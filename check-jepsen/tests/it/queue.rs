//! Compares queue with its definition.

use crate::common::{
    Event, anomalies, assert_sound, count, each_history, history, item, judge, oks, random_history, read, story,
    verdict,
};
use check_jepsen::queue::Queue;
use history_core::{Checker as _, Datum, OpKind, Verdict};
use proptest::prelude::*;

const ENDS: [OpKind; 3] = [OpKind::Ok, OpKind::Fail, OpKind::Info];

/// The definition: the maximum content of the queue, as a list.
fn agrees(events: &[Event]) {
    let report = Queue::default().check(&history(events)).unwrap();
    assert_sound(&report, events);
    let (mut inside, mut ever) = (Vec::new(), Vec::new());
    let (mut unexpected, mut duplicated) = (0, 0);
    for event in events {
        match (event.f, event.kind) {
            ("enqueue", OpKind::Invoke) => {
                inside.push(&event.value);
                ever.push(&event.value);
            }
            ("dequeue", OpKind::Ok) => match inside.iter().position(|element| **element == event.value) {
                Some(at) => _ = inside.remove(at),
                None if ever.contains(&&event.value) => duplicated += 1,
                None => unexpected += 1,
            },
            _ => {}
        }
    }
    let expected = [("duplicated", duplicated), ("unexpected", unexpected)];
    assert_eq!(anomalies(&report), expected.into_iter().filter(|of| of.1 > 0).collect::<Vec<_>>(), "{events:?}");
    assert_eq!(report.verdict, verdict(&report, unexpected + duplicated, oks(events, "dequeue")));
}

#[test]
fn every_small_history_is_judged_as_defined() {
    let dequeue = read("dequeue", vec![1.into(), 2.into()]);
    let menu = [item("enqueue", 1, &ENDS), item("enqueue", 2, &ENDS), dequeue];
    let count = each_history(&menu, 3, 6, &mut |events| agrees(events));
    assert!(count > 60_000, "{count}");
}

proptest! {
    #[test]
    fn random_histories_are_judged_as_defined(numbers in prop::collection::vec((0..4u8, any::<u8>()), 0..80)) {
        let elements = [Datum::from(1), Datum::from(-4), Datum::from("x"), Datum::from(vec![1, 2])];
        let mut menu: Vec<_> = elements.iter().map(|element| item("enqueue", element.clone(), &ENDS)).collect();
        menu.push(read("dequeue", elements.to_vec()));
        menu.push(item("dequeue", Datum::Nil, &[OpKind::Fail, OpKind::Info]));
        agrees(&random_history(&menu, 4, &numbers));
    }
}

#[test]
fn what_a_person_reads() {
    let text = "
        {:process 0, :type :invoke, :f :enqueue, :value 1} {:process 0, :type :ok, :f :enqueue, :value 1}
        {:process 0, :type :invoke, :f :dequeue} {:process 0, :type :ok, :f :dequeue, :value 1}
        {:process 0, :type :invoke, :f :dequeue} {:process 0, :type :ok, :f :dequeue, :value 1}
        {:process 0, :type :invoke, :f :dequeue} {:process 0, :type :ok, :f :dequeue, :value 2}
        {:process 0, :type :invoke, :f :enqueue, :value 2} {:process 0, :type :fail, :f :enqueue, :value 2}
        {:process 0, :type :invoke, :f :dequeue} {:process 0, :type :ok, :f :dequeue, :value 1}
    ";
    insta::assert_snapshot!(story(&judge(&Queue::default(), &[], text)));
}

#[test]
fn a_dequeue_of_nothing_is_no_observation() {
    let nothing = "{:process 0, :type :invoke, :f :dequeue} {:process 0, :type :ok, :f :dequeue}";
    let report = judge(&Queue::default(), &[], nothing);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("an ok dequeue has no value"), "{:?}", report.notes);
    let nil = "{:process 0, :type :invoke, :f :enqueue} {:process 0, :type :ok, :f :enqueue}";
    let report = judge(&Queue::default(), &[], &format!("{nil} {nothing}"));
    assert_eq!((report.verdict, count(&report, "observed-count")), (Verdict::Unknown, 0));
    assert!(report.notes[0].contains("index 0 (line 1): neither the invocation nor an ok completion has a value"));
}

#[test]
fn without_invocations_nobody_knows_what_was_first() {
    let report = judge(
        &Queue::default(),
        &[],
        "{:process 0, :type :ok, :f :dequeue, :value 1} {:process 1, :type :ok, :f :enqueue, :value 1}",
    );
    assert_eq!(report.verdict, Verdict::Unknown, "{report:?}");
}

#[test]
fn an_enqueue_that_completes_with_another_element_is_not_understood() {
    let text = "{:process 0, :type :invoke, :f :enqueue, :value 3} {:process 0, :type :ok, :f :enqueue, :value 4}
                {:process 1, :type :invoke, :f :dequeue} {:process 1, :type :ok, :f :dequeue, :value 4}";
    let report = judge(&Queue::default(), &[], text);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("the completion's value differs from its invocation's"), "{:?}", report.notes);
}
