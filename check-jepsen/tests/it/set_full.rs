//! Compares set-full with its definition.

use crate::common::{
    Event, anomalies, assert_sound, count, each_history, history, item, judge, op, random_history, read, story,
};
use check_jepsen::set_full::SetFull;
use history_core::{Checker as _, Datum, OpKind, Verdict};
use proptest::prelude::*;

const ENDS: [OpKind; 3] = [OpKind::Ok, OpKind::Fail, OpKind::Info];

struct Read<'e> {
    invoked: usize,
    completed: usize,
    elements: &'e [Datum],
}

fn reads(events: &[Event]) -> Vec<Read<'_>> {
    let ok = |(_, event): &(usize, &Event)| event.f == "read" && event.kind == OpKind::Ok;
    let oks = events.iter().enumerate().filter(ok);
    oks.map(|(completed, event)| {
        let Datum::Vector(elements) = &event.value else { panic!("{event:?}") };
        let invoked = (0..completed).rfind(|before| events[*before].process == event.process).unwrap();
        Read { invoked, completed, elements }
    })
    .collect()
}

/// The numbers of outcomes by the definition; an op takes a millisecond.
#[derive(Debug, Default, PartialEq)]
struct Expected {
    attempted: u64,
    stable: u64,
    lost: u64,
    never_read: u64,
    stale: u64,
    duplicated: u64,
}

fn expected(events: &[Event]) -> Expected {
    let all = reads(events);
    let mut expected = Expected::default();
    let mut elements: Vec<&Datum> = Vec::new();
    for (begun, add) in events.iter().enumerate().filter(|(_, event)| event.f == "add" && event.kind == OpKind::Invoke)
    {
        let element = &add.value;
        if elements.contains(&element) {
            continue;
        }
        elements.push(element);
        let seen: Vec<&Read<'_>> = all.iter().filter(|read| read.completed > begun).collect();
        let shows = |read: &&&Read<'_>| read.elements.contains(element);
        let by_add =
            events.iter().position(|event| event.f == "add" && event.kind == OpKind::Ok && event.value == *element);
        let by_read = seen.iter().find(shows).map(|read| read.completed);
        let known = by_add.into_iter().chain(by_read).min();
        let present = seen.iter().filter(shows).map(|read| read.invoked).max();
        let absent = seen.iter().filter(|read| !shows(read)).map(|read| read.invoked).max();
        expected.attempted += 1;
        if present.is_some() && present > absent {
            expected.stable += 1;
            // An op takes a millisecond, and a nanosecond is added: so the latency in milliseconds is the number of
            // ops between.
            expected.stale += u64::from(absent.is_some_and(|absent| absent > known.unwrap()));
        } else if known.is_some() && absent > present && absent > known {
            expected.lost += 1;
        } else {
            expected.never_read += 1;
        }
    }
    let twice = |read: &&Read<'_>| (1..read.elements.len()).any(|at| read.elements[..at].contains(&read.elements[at]));
    expected.duplicated = all.iter().filter(twice).count() as u64;
    expected
}

fn agrees(events: &[Event], linearizable: bool) {
    let report = SetFull { linearizable }.check(&history(events)).unwrap();
    assert_sound(&report, events);
    let expected = expected(events);
    let counted = Expected {
        attempted: count(&report, "attempt-count"),
        stable: count(&report, "stable-count"),
        lost: count(&report, "lost-count"),
        never_read: count(&report, "never-read-count"),
        stale: count(&report, "stale-count"),
        duplicated: count(&report, "duplicated-read-count"),
    };
    assert_eq!(counted, expected, "{events:?}");
    let verdict = if expected.duplicated > 0 || expected.lost > 0 {
        Verdict::Invalid
    } else if expected.stable == 0 {
        Verdict::Unknown
    } else if linearizable && expected.stale > 0 {
        Verdict::Invalid
    } else {
        Verdict::Valid
    };
    assert_eq!(report.verdict, verdict, "{events:?}");
    let stale = if linearizable { expected.stale } else { 0 };
    let all = [("duplicated", expected.duplicated), ("lost", expected.lost), ("stale", stale)];
    assert_eq!(anomalies(&report), all.into_iter().filter(|of| of.1 > 0).collect::<Vec<_>>());
}

fn vectors(all: &[&[i64]]) -> Vec<Datum> {
    all.iter().map(|elements| Datum::from(elements.to_vec())).collect()
}

#[test]
fn every_small_history_of_one_element_is_judged_as_defined() {
    let menu = [item("add", 1, &[OpKind::Ok, OpKind::Info]), read("read", vectors(&[&[], &[1]]))];
    let count = each_history(&menu, 3, 8, &mut |events| agrees(events, true));
    assert!(count > 90_000, "{count}");
}

#[test]
fn every_small_history_of_two_elements_is_judged_as_defined() {
    let reads = read("read", vectors(&[&[], &[1], &[1, 2], &[2, 2]]));
    let menu = [item("add", 1, &ENDS), item("add", 2, &ENDS), reads];
    let count = each_history(&menu, 2, 7, &mut |events| agrees(events, true));
    assert!(count > 200_000, "{count}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn random_histories_are_judged_as_defined(
        numbers in prop::collection::vec((0..6u8, any::<u8>()), 0..120),
        strings: bool,
        linearizable: bool,
    ) {
        let element = |at: i64| if strings && at % 2 == 0 { Datum::from(vec![at]) } else { Datum::from(at) };
        let reads = (0..32i64)
            .chain([31, 31, 31, 31])
            .map(|bits| Datum::Vector((0..5).filter(|at| bits >> at & 1 == 1).map(element).collect()))
            .chain([Datum::Vector(vec![element(2), element(3), element(2), element(2)])]);
        let mut menu: Vec<_> = (0..4).map(|at| item("add", element(at), &ENDS)).collect();
        for _ in 0..3 {
            menu.push(read("read", reads.clone().collect()));
        }
        agrees(&random_history(&menu, 5, &numbers), linearizable);
    }
}

const STORY: &str = "
    {:process 0, :type :invoke, :f :add, :value 1, :time 0}        {:process 0, :type :ok, :f :add, :value 1, :time 1000000}
    {:process 0, :type :invoke, :f :add, :value 2, :time 2000000}  {:process 0, :type :ok, :f :add, :value 2, :time 3000000}
    {:process 0, :type :invoke, :f :add, :value 3, :time 4000000}  {:process 0, :type :info, :f :add, :value 3, :time 5000000}
    {:process 1, :type :invoke, :f :add, :value 4, :time 5000000}  {:process 1, :type :ok, :f :add, :value 4, :time 5500000}
    {:process 1, :type :invoke, :f :read, :time 6000000}           {:process 1, :type :ok, :f :read, :value [1 3 9], :time 7000000}
    {:process 1, :type :invoke, :f :read, :time 9000000}           {:process 1, :type :ok, :f :read, :value [4 4 1], :time 9500000}
    {:process 1, :type :invoke, :f :read, :time 10000000}          {:process 1, :type :ok, :f :read, :value [1 4], :time 10500000}
";

#[test]
fn what_a_person_reads() {
    let report = judge(&SetFull { linearizable: true }, &[], STORY);
    insta::assert_snapshot!(story(&report));
    let sets = report.artifacts.iter().find(|artifact| artifact.path == "set-full.edn").unwrap();
    let expected = r##"{:lost "#{2..3}", :never-read "#{}", :stale "#{}"}"##;
    assert_eq!(String::from_utf8_lossy(&sets.content).trim_end(), expected);
}

#[test]
fn stale_elements_fail_only_a_linearizable_set() {
    let stale = "{:process 0, :type :invoke, :f :add, :value 1, :time 0} {:process 0, :type :ok, :f :add, :value 1, :time 10}
                 {:process 1, :type :invoke, :f :read, :time START} {:process 1, :type :ok, :f :read, :value [], :time END}
                 {:process 1, :type :invoke, :f :read, :time END} {:process 1, :type :ok, :f :read, :value [1], :time END}";
    let judge = |start: u64, options: &[(&str, &str)]| {
        let text = stale.replace("START", &start.to_string()).replace("END", &(start + 100).to_string());
        judge(&SetFull::default(), options, &text)
    };
    let linearizable = [("linearizable", "true")];
    // From 10 ns, when the element was known, until just after 1,000,009 ns.
    let report = judge(1_000_009, &[]);
    assert_eq!(
        (report.verdict, count(&report, "stale-count"), count(&report, "stable-latency-ms-max")),
        (Verdict::Valid, 1, 1)
    );
    assert_eq!(anomalies(&judge(1_000_009, &linearizable)), [("stale", 1)]);
    // A latency of less than a millisecond does not count.
    assert_eq!(judge(1_000_008, &linearizable).verdict, Verdict::Valid);
}

#[test]
fn without_times_staleness_goes_by_index() {
    let text = "{:process 0, :type :invoke, :f :add, :value 1} {:process 0, :type :ok, :f :add, :value 1}
                {:process 1, :type :invoke, :f :read} {:process 1, :type :ok, :f :read, :value []}
                {:process 1, :type :invoke, :f :read} {:process 1, :type :ok, :f :read, :value [1]}";
    let report = judge(&SetFull::default(), &[("linearizable", "true")], text);
    assert_eq!(anomalies(&report), [("stale", 1)]);
    assert!(report.notes.iter().any(|note| note.contains("no :time")), "{:?}", report.notes);
    assert!(report.counts.iter().all(|(name, _)| !name.contains("latency")), "{report:?}");
}

#[test]
fn what_cannot_be_read_is_unknown_unless_an_element_is_twice_in_one_read() {
    let good = "{:process 0, :type :invoke, :f :add, :value 1} {:process 0, :type :ok, :f :add}
                {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value [1]}";
    let twice = "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value [1 1]}";
    for (odd, reason) in [
        (
            "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read}",
            "expected a collection of elements as the read's value, found nil",
        ),
        ("{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value {1 1}}", "found a map"),
        ("{:type :ok, :f :read, :value [1]}", "has no invocation or completion"),
        ("{:type :invoke, :f :read, :value [1]}", "has no invocation or completion"),
        ("{:type :ok, :f :add, :value 7}", "has no invocation or completion"),
        ("{:type :ok, :f :add}", "neither the op nor its invocation has a value"),
        ("{:process 0, :type :invoke, :f :add, :value 2} {:process 0, :type :ok, :f :add, :value 3}", "differs from"),
        (
            "{:process 0, :type :invoke, :f :add, :value 2} {:process 0, :type :ok, :f :read, :value [2]}",
            "the completion has :f :read, its invocation :f :add",
        ),
        (
            "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :add, :value 1}",
            "the completion has :f :add, its invocation :f :read",
        ),
    ] {
        let report = judge(&SetFull::default(), &[], &format!("{good}\n{odd}"));
        assert_eq!(report.verdict, Verdict::Unknown, "{odd}");
        assert!(report.notes[0].contains("(line 3)") && report.notes[0].contains(reason), "{:?}", report.notes);
        let report = judge(&SetFull::default(), &[], &format!("{good}\n{twice}\n{odd}"));
        assert_eq!(anomalies(&report), [("duplicated", 1)], "{odd}");
    }
}

#[test]
fn an_element_that_is_added_again_stays_the_same() {
    // The first add was acknowledged, so the read that misses it proves a loss; the second add was never read.
    let text = "{:process 0, :type :invoke, :f :add, :value 1} {:process 0, :type :ok, :f :add, :value 1}
                {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value []}
                {:process 0, :type :invoke, :f :add, :value 1} {:process 0, :type :ok, :f :add, :value 1}";
    assert_eq!(anomalies(&judge(&SetFull::default(), &[], text)), [("lost", 1)]);
}

#[test]
fn many_reads_of_little_cost_little() {
    // If a read took time for elements that it does not show, this would take hours.
    const ELEMENTS: usize = 100_000;
    let mut text = String::new();
    for element in 0..ELEMENTS {
        let value = element.to_string();
        text += &crate::common::op(0, "add", &value, "ok", &value);
        let shown = if element % 2 == 0 { "[]".to_owned() } else { format!("[{element} 0]") };
        text += &crate::common::op(1, "read", "nil", "ok", &shown);
    }
    let report = judge(&SetFull::default(), &[], &text);
    // The last read contains element 0 and the last one, and none of the others.
    assert_eq!(anomalies(&report), [("lost", ELEMENTS as u64 - 2)]);
    assert_eq!(count(&report, "stable-count"), 2);
}

/// set compares the last read with all adds, whenever they began, so it finds nothing here either.
#[test]
fn an_element_read_before_its_add_is_noted() {
    let text = op(0, "read", "nil", "ok", "[1]") + &op(0, "add", "1", "ok", "1") + &op(0, "read", "nil", "ok", "[1]");
    let report = judge(&SetFull::default(), &[], &text);
    assert_eq!(report.verdict, Verdict::Valid);
    let note = "Reads show 1 element before any op tried to add it, the first at index 1: 1. set-full does not check \
                this. linearizable-set does; set reports only elements that no op ever tried to add.";
    assert_eq!(report.notes[report.notes.len() - 1], note);
    assert_eq!(judge(&check_jepsen::set::Set::default(), &[], &text).verdict, Verdict::Valid);
}

/// A read that lacks an element may begin up to 1 ms after the element was known.
#[test]
fn the_help_states_how_old_a_stale_read_is() {
    let checker = SetFull::default();
    let [linearizable] = checker.options() else { panic!() };
    assert!(linearizable.help.contains("lacks an element 1 ms or more after it was known"), "{}", linearizable.help);
    let text = |invoked_ns: u32| {
        format!(
            "{{:process 0, :type :invoke, :f :add, :value 1, :time 0}}
             {{:process 0, :type :ok, :f :add, :value 1, :time 1}}
             {{:process 0, :type :invoke, :f :read, :time {invoked_ns}}}
             {{:process 0, :type :ok, :f :read, :value [], :time {invoked_ns}}}
             {{:process 0, :type :invoke, :f :read, :time 9000000}}
             {{:process 0, :type :ok, :f :read, :value [1], :time 9000000}}"
        )
    };
    let judge = |invoked_ns| judge(&SetFull { linearizable: true }, &[], &text(invoked_ns));
    assert_eq!(judge(999_999).verdict, Verdict::Valid);
    assert_eq!(anomalies(&judge(1_000_001)), [("stale", 1)]);
}
