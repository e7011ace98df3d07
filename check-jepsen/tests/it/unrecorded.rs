//! Tests adds whose invocation has no value: the `ok` completion may have it. Otherwise they may have added anything.

use crate::common::{Event, anomalies, each_history, history, item, judge, op, read};
use check_jepsen::queue::Queue;
use check_jepsen::set::Set;
use check_jepsen::set_full::SetFull;
use check_jepsen::total_queue::TotalQueue;
use history_core::Verdict::{self, Invalid, Unknown, Valid};
use history_core::{Checker, Datum, History, OpKind, Options, Report};

const UNRECORDED: &str = "(line 1): neither the invocation nor an ok completion has a value";

/// Each checker, with its function that adds and that which shows everything.
fn checkers() -> [(Box<dyn Checker>, &'static str, &'static str); 4] {
    [
        (Box::<Queue>::default(), "enqueue", "dequeue"),
        (Box::<TotalQueue>::default(), "enqueue", "drain"),
        (Box::<Set>::default(), "add", "read"),
        (Box::<SetFull>::default(), "add", "read"),
    ]
}

/// An op of process 1 that shows these elements.
fn shows(f: &str, elements: &[&str]) -> String {
    let each = |element: &&str| op(1, f, "nil", "ok", element);
    if f == "dequeue" {
        return elements.iter().map(each).collect();
    }
    op(1, f, "nil", "ok", &format!("[{}]", elements.join(" ")))
}

fn part(process: u32, kind: &str, f: &str, rest: &str) -> String {
    format!("{{:process {process}, :type :{kind}, :f :{f}{rest}}} ")
}

/// The verdict, the anomalies, and the notes in one line. Whatever a watch finds must remain true.
fn judged(checker: &dyn Checker, text: &str) -> (Verdict, Vec<(String, u64)>, String) {
    let report = judge(checker, &[], text);
    let mut run = checker.start(&Options::new()).unwrap();
    for op in History::parse(text).unwrap().ops() {
        _ = run.observe(&op).unwrap();
        assert!(!run.is_violated() || report.verdict == Invalid, "{}: {text}", checker.name());
    }
    let found = anomalies(&report).into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    (report.verdict, found, report.notes.join(" "))
}

#[test]
fn an_add_without_a_recorded_element_may_have_added_any() {
    for (checker, add, show) in checkers() {
        for end in [
            String::new(),
            part(0, "info", add, ", :value 1"),
            part(0, "info", add, ", :error :timeout"),
            part(0, "ok", add, ""),
        ] {
            let (invoked, shown) = (part(0, "invoke", add, ""), shows(show, &["1"]));
            for text in [format!("{invoked}{end}{shown}"), format!("{invoked}{shown}{end}")] {
                let (verdict, found, notes) = judged(checker.as_ref(), &text);
                assert_eq!((verdict, found), (Unknown, Vec::new()), "{} {text} {notes}", checker.name());
                assert!(notes.contains(&format!("because of the op at index 0 {UNRECORDED}")), "{notes}");
            }
        }
    }
}

#[test]
fn a_failed_add_needs_no_element() {
    for (checker, add, show) in checkers() {
        let failed = part(0, "invoke", add, "") + &part(0, "fail", add, "");
        let known = op(2, add, "2", "ok", "2");
        let (verdict, _, notes) = judged(checker.as_ref(), &format!("{failed}{known}{}", shows(show, &["2"])));
        assert_eq!(verdict, Valid, "{} {notes}", checker.name());
        assert!(notes.contains("ignored 1 of 6 client ops"), "{notes}");
        if checker.name() != "set-full" {
            let (_, found, _) = judged(checker.as_ref(), &format!("{failed}{known}{}", shows(show, &["2", "1"])));
            assert_eq!(found, [("unexpected".to_owned(), 1)], "{}", checker.name());
        }
    }
}

#[test]
fn an_ok_completion_records_the_element() {
    for (checker, add, show) in checkers() {
        let (invoked, ended) = (part(0, "invoke", add, ""), part(0, "ok", add, ", :value 1"));
        for (text, expected, kind) in [
            (format!("{invoked}{ended}{}", shows(show, &["1"])), Valid, ""),
            (format!("{invoked}{ended}{}", shows(show, &["1", "2"])), Invalid, "unexpected"),
            (format!("{invoked}{ended}{}", shows(show, &[])), Invalid, "lost"),
            (format!("{invoked}{}{ended}", shows(show, &["1"])), Valid, ""),
            (format!("{invoked}{}{ended}", shows(show, &["1", "2"])), Invalid, "unexpected"),
            (format!("{}{invoked}{ended}", shows(show, &["1"])), Invalid, "unexpected"),
        ] {
            let (verdict, found, notes) = judged(checker.as_ref(), &text);
            let told = format!("{} {text}{notes}", checker.name());
            match (checker.name(), kind) {
                // No queue loses what nobody drains, and no read before the first add is observed.
                ("queue", "lost") => assert_eq!((verdict, found), (Unknown, Vec::new()), "{told}"),
                ("set", "unexpected") if text.starts_with("{:process 1") => assert_eq!(verdict, Unknown, "{told}"),
                ("total-queue", "unexpected") if text.starts_with("{:process 1") => {
                    assert_eq!(verdict, Valid, "{told}");
                }
                // Reads that showed an element before its add was known to be one are not processed again.
                ("set-full", _) if text.find(":ok").unwrap() < text.find(&ended).unwrap() => {
                    assert_eq!((verdict, found), (Unknown, Vec::new()), "{told}");
                }
                ("set-full", "unexpected") => assert_eq!(verdict, Valid, "{told}"),
                (_, "") => assert_eq!(verdict, expected, "{told}"),
                _ => assert_eq!((verdict, found), (expected, vec![(kind.to_owned(), 1)]), "{told}"),
            }
        }
    }
}

#[test]
fn what_no_add_explains_is_wrong_beside_an_add_without_value() {
    // What was acknowledged is lost whatever the other add was.
    let unrecorded = part(0, "invoke", "add", "") + &part(0, "ok", "add", "");
    let lost = op(2, "add", "2", "ok", "2") + &op(1, "read", "nil", "ok", "[1]");
    let (verdict, found, notes) = judged(&Set::default(), &(unrecorded + &lost));
    assert_eq!((verdict, found), (Invalid, vec![("lost".into(), 1)]));
    assert!(notes.contains("1 unexpected, unless an op without a value added them: #{1}."), "{notes}");
    // This dequeue ended before the enqueue began.
    let early = shows("dequeue", &["1"]) + &part(0, "invoke", "enqueue", "");
    let (verdict, found, _) = judged(&Queue::default(), &early);
    assert_eq!((verdict, found), (Invalid, vec![("unexpected".into(), 1)]));
}

/// Every dequeue of `queue` that only an enqueue of an unknown element explains is in a note.
#[test]
fn a_note_lists_the_dequeues_that_need_an_enqueue_without_value() {
    let invoked = part(0, "invoke", "enqueue", "");
    let known = op(2, "enqueue", "2", "ok", "2");
    let unexpected = "1 unexpected, unless an op without a value added them: #{1}.";
    let duplicated = "1 duplicated, unless an op without a value added them: #{2}.";
    for end in [String::new(), part(0, "ok", "enqueue", ""), part(0, "info", "enqueue", "")] {
        let taken = shows("dequeue", &["1", "2", "2"]);
        for text in [format!("{known}{invoked}{taken}{end}"), format!("{known}{invoked}{end}{taken}")] {
            let (verdict, found, notes) = judged(&Queue::default(), &text);
            assert_eq!((verdict, found), (Unknown, Vec::new()), "{text}");
            assert!(notes.contains(unexpected) && notes.contains(duplicated), "{text}{notes}");
        }
    }
    // Only the dequeues after the invocation are in doubt.
    let early = shows("dequeue", &["3"]) + &invoked + &shows("dequeue", &["1"]);
    let (verdict, found, notes) = judged(&Queue::default(), &early);
    assert_eq!((verdict, found), (Invalid, vec![("unexpected".into(), 1)]));
    assert!(notes.contains(unexpected), "{notes}");
    // If another enqueue explains a dequeue, it needs no other one.
    let other = part(3, "invoke", "enqueue", "") + &shows("dequeue", &["1"]) + &part(3, "ok", "enqueue", ", :value 1");
    let (verdict, _, notes) = judged(&Queue::default(), &(invoked.clone() + &part(0, "ok", "enqueue", "") + &other));
    assert_eq!((verdict, notes.contains("unless")), (Unknown, false), "{notes}");
    // Without such dequeues there is no such note.
    let right = known + &invoked + &shows("dequeue", &["2"]);
    let (verdict, _, notes) = judged(&Queue::default(), &right);
    assert_eq!((verdict, notes.contains("unless")), (Unknown, false), "{notes}");
    // There is a limit on how many the note lists.
    let many: Vec<String> = (0..4_098).map(|element| element.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let text = invoked + &part(0, "ok", "enqueue", "") + &shows("dequeue", &many);
    let notes = judge(&Queue::default(), &[], &text).notes.join(" ");
    assert!(notes.contains("4096 unexpected, unless an op without a value added them: #{0..4095}."), "{notes}");
    assert!(notes.contains("2 later dequeues also needed an op without a value to be right."), "{notes}");
}

#[test]
fn each_enqueue_explains_one_dequeue() {
    let invoked = |process| part(process, "invoke", "enqueue", "");
    let ended = |process, value| part(process, "ok", "enqueue", &format!(", :value {value}"));
    let taken = |elements: &[&str]| shows("dequeue", elements);
    for (text, expected) in [
        (invoked(2) + &taken(&["1", "1"]) + &ended(2, 1), vec![("duplicated", 1)]),
        (invoked(2) + &taken(&["1", "1"]) + &ended(2, 2), vec![("unexpected", 2)]),
        (invoked(2) + &invoked(3) + &taken(&["1", "1"]) + &ended(2, 1) + &ended(3, 1), vec![]),
        (invoked(2) + &taken(&["1"]) + &invoked(3) + &taken(&["1"]) + &ended(3, 1) + &ended(2, 1), vec![]),
        (
            invoked(2) + &taken(&["1"]) + &invoked(3) + &taken(&["1"]) + &ended(3, 1) + &ended(2, 2),
            vec![("unexpected", 1)],
        ),
        (invoked(2) + &taken(&["1", "2", "1"]) + &ended(2, 1), vec![("duplicated", 1), ("unexpected", 1)]),
        (invoked(2) + &ended(2, 1) + &taken(&["1", "1"]), vec![("duplicated", 1)]),
        (invoked(2) + &op(3, "enqueue", "1", "ok", "1") + &taken(&["1", "1"]) + &ended(2, 1), vec![]),
    ] {
        let (verdict, mut found, notes) = judged(&Queue::default(), &text);
        found.sort_unstable();
        assert_eq!(verdict, if expected.is_empty() { Valid } else { Invalid }, "{text}{notes}");
        assert_eq!(
            found,
            expected.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect::<Vec<_>>(),
            "{text}"
        );
    }
    // The second enqueue does not record its element: it may explain the second dequeue, but not the first.
    let text = invoked(2) + &taken(&["1"]) + &invoked(3) + &taken(&["1"]) + &ended(2, 2);
    assert_eq!(judged(&Queue::default(), &text).1, [("unexpected".into(), 1)]);
    let text = invoked(2) + &taken(&["1"]) + &invoked(3) + &taken(&["1"]) + &ended(2, 1);
    assert_eq!(judged(&Queue::default(), &text).0, Unknown);
}

/// Compares a history with the same one whose adds have no value in their invocation.
fn is_as_sure(checker: &dyn Checker, add: &str, events: &[Event]) {
    let stripped: Vec<Event> = events
        .iter()
        .cloned()
        .map(|event| {
            let value = if event.f == add && event.kind != OpKind::Ok { Datum::Nil } else { event.value };
            Event { value, ..event }
        })
        .collect();
    let (given, late) = (checker.check(&history(events)).unwrap(), checker.check(&history(&stripped)).unwrap());
    let sorted = |report: &Report| {
        let mut all: Vec<_> = anomalies(report).into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
        all.sort_unstable();
        all
    };
    let adds = |kind| events.iter().filter(|event| event.f == add && event.kind == kind).count();
    if adds(OpKind::Ok) == adds(OpKind::Invoke) {
        assert_eq!((given.verdict, sorted(&given)), (late.verdict, sorted(&late)), "{} {events:?}", checker.name());
    } else {
        assert_ne!(late.verdict, Valid, "{} {events:?}", checker.name());
        assert!(late.verdict == Unknown || given.verdict == Invalid, "{} {events:?}", checker.name());
    }
}

#[test]
fn every_small_history_is_the_same_wherever_the_values_are() {
    let ends = [OpKind::Ok, OpKind::Info];
    for (checker, add, show) in checkers().into_iter().take(3) {
        let results = if show == "dequeue" {
            vec![1.into(), 2.into()]
        } else {
            [&[][..], &[1], &[2], &[1, 2]].map(|all: &[i64]| Datum::from(all.to_vec())).into()
        };
        let menu = [item(add, 1, &ends), item(add, 2, &ends), read(show, results)];
        let count = each_history(&menu, 3, 6, &mut |events| is_as_sure(checker.as_ref(), add, events));
        assert!(count > 40_000, "{count}");
    }
}

/// The reads in an add count from its invocation, whichever of its ops has the value.
#[test]
fn a_set_is_the_same_wherever_the_value_is() {
    let reads = |shown: &[&str]| -> Vec<String> {
        let read = |(at, elements): (usize, &&str)| {
            let process = 10 + at as u32;
            [part(process, "invoke", "read", ""), part(process, "ok", "read", &format!(", :value [{elements}]"))]
        };
        shown.iter().enumerate().flat_map(read).collect()
    };
    let known = op(3, "add", "2", "ok", "2");
    for bits in 0..1_usize << 9 {
        // Each read shows the element or not; then the places of the four ops of the reads.
        let shown: Vec<&str> = (0..2).map(|at| if bits >> at & 1 == 1 { "2 1" } else { "2" }).collect();
        let reads = reads(&shown);
        let order = if bits >> 2 & 1 == 1 { [0, 1, 2, 3] } else { [0, 2, 1, 3] };
        let (begin, end) = (bits >> 3 & 7, bits >> 6 & 7);
        if begin > end || end > 4 {
            continue;
        }
        let text = |invoked: &str| {
            let mut text = known.clone();
            for at in 0..=4 {
                text += &if at == begin { part(0, "invoke", "add", invoked) } else { String::new() };
                text += &if at == end { part(0, "ok", "add", ", :value 1") } else { String::new() };
                text += order.get(at).map_or("", |read| reads[*read].as_str());
            }
            text + &op(4, "read", "nil", "ok", &format!("[{}]", if bits & 1 == 1 { "2" } else { "2 1" }))
        };
        for checker in [&Set::default() as &dyn Checker, &SetFull::default(), &SetFull { linearizable: true }] {
            let (given, late) = (judged(checker, &text(", :value 1")), judged(checker, &text("")));
            let is_unsure = late.0 == Unknown && late.2.contains("a read shows its element before the add completes");
            assert!(
                (&given.0, &given.1) == (&late.0, &late.1) || is_unsure,
                "{} {}: {given:?} {late:?}",
                checker.name(),
                text("")
            );
        }
    }
}
