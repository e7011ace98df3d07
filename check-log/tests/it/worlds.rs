//! Small worlds: compares the checker with the definitions on every history of two producers and a consumer, and on
//! many others.

use crate::certify::certify;
use crate::oracle::{Event, Kind, Part, World};
use check_log::Kafka;
use history_core::{Checker, History, Report, Verdict};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

const ALLOWED: [&str; 3] = ["int-send-skip", "G0", "G0-realtime"];

/// Types that do not depend on which of several values at an offset is chosen.
const STRICT: [&str; 8] =
    ["G1a", "duplicate", "inconsistent-offsets", "lost-write", "unseen", "precommitted-read", "phantom-message", "G1c"];

fn check(world: &World) {
    let text = world.text();
    let history = History::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let report = Kafka::default().check(&history).unwrap();
    let mut expected = world.anomalies();
    let any_cycle = expected.remove("any cycle").is_some();
    let mut got: BTreeMap<&str, usize> = report
        .anomalies
        .iter()
        .map(|anomaly| (anomaly.name.as_ref(), usize::try_from(anomaly.count).unwrap()))
        .collect();
    let found_cycle = got.remove("G1c-realtime").is_some() | got.contains_key("G1c");
    got.entry("G1c").and_modify(|count| *count = 1);
    assert_eq!(found_cycle, any_cycle, "{text}{:?}", report.anomalies);
    if world.is_loose() {
        expected.retain(|name, _| STRICT.contains(name));
        got.retain(|name, _| STRICT.contains(name));
    }
    assert_eq!(got, expected, "{text}");
    let violated = any_cycle || report.anomaly_types().any(|name| !ALLOWED.contains(&name));
    let is_right = if violated { report.verdict == Verdict::Invalid } else { report.verdict != Verdict::Invalid };
    assert!(is_right, "{:?}\n{text}", report.verdict);
    for anomaly in &report.anomalies {
        for witness in &anomaly.witnesses {
            certify(&history, &anomaly.name, witness)
                .unwrap_or_else(|why| panic!("{}: {why}\n{witness:?}\n{text}", anomaly.name));
        }
    }
    watch(&history, &report, &text);
}

/// Anomalies that are certain before the end remain at the end.
fn watch(history: &History, report: &Report, text: &str) {
    let mut run = Kafka::default().start(&history_core::Options::new()).unwrap();
    let mut since = None;
    for op in history.ops() {
        _ = run.observe(&op).unwrap();
        if run.is_violated() && since.is_none() {
            since = Some(op.index);
            let violation = run.violation().expect("it is violated");
            assert_eq!(violation.verdict, Verdict::Invalid, "{text}");
            let mut early = Kafka::default().start(&history_core::Options::new()).unwrap();
            for op in history.ops().take_while(|earlier| earlier.index <= op.index) {
                _ = early.observe(&op).unwrap();
            }
            for said in [violation, early.finish_early(&history_core::Budget::default()).unwrap()] {
                // These are known only at the end.
                let is_of_the_end = |name: &str| ["lost-write", "unseen"].contains(&name);
                assert_eq!(said.verdict, Verdict::Invalid, "{text}");
                assert!(!said.anomaly_types().any(is_of_the_end), "at {since:?}\n{text}");
            }
        }
        assert!(since.is_none() || run.is_violated());
    }
    assert!(since.is_none() || report.verdict == Verdict::Invalid, "violated at {since:?}\n{text}");
}

fn send(process: u8, kind: Kind, offset: Option<i64>, value: i64) -> Event {
    Event { process, kind, parts: vec![Part::Send(0, offset, value)] }
}

fn poll(process: u8, kind: Kind, list: Vec<(Option<i64>, i64)>) -> Event {
    Event { process, kind, parts: vec![Part::Poll(vec![(0, list)])] }
}

/// The possible next ops; `value` is the next message to send.
fn menu(value: i64, large: bool) -> Vec<Event> {
    let mut menu = Vec::new();
    let offsets: &[Option<i64>] = if large { &[None, Some(0), Some(1), Some(2)] } else { &[None, Some(value - 1)] };
    for process in [0, 1] {
        for kind in [Kind::Ok, Kind::Info, Kind::Fail] {
            for offset in offsets {
                // The first producer may crash, and the second one may fail.
                let known = offset.is_some();
                let small = [(0, Kind::Ok, true), (0, Kind::Info, false), (1, Kind::Ok, true), (1, Kind::Fail, true)];
                if large || small.contains(&(process, kind, known)) {
                    menu.push(send(process, kind, *offset, value));
                }
            }
        }
    }
    let pairs: Vec<(Option<i64>, i64)> = if large {
        (0..3).flat_map(|offset| (1..3).map(move |value| (Some(offset), value))).collect()
    } else {
        (1..4).map(|value| (Some(value - 1), value)).collect()
    };
    let mut lists = vec![Vec::new()];
    lists.extend(pairs.iter().map(|pair| vec![*pair]));
    if large {
        lists.extend(pairs.iter().flat_map(|a| pairs.iter().map(move |b| vec![*a, *b])));
    } else {
        lists.push(vec![pairs[0], pairs[2]]);
        lists.push(vec![pairs[1], pairs[0]]);
    }
    for list in lists {
        menu.push(poll(2, Kind::Ok, list.clone()));
        if large && list.len() < 2 {
            menu.push(poll(2, Kind::Fail, list));
        }
    }
    menu
}

fn each_world(events: &mut Vec<Event>, length: usize, large: bool, count: &mut u64) {
    if !events.is_empty() {
        *count += 1;
        let invoked_after = (0..events.len()).collect();
        check(&World::new(events.clone(), invoked_after));
    }
    if events.len() == length {
        return;
    }
    let sent = events.iter().flat_map(Event::sends).count();
    for event in menu(i64::try_from(sent).unwrap() + 1, large) {
        events.push(event);
        each_world(events, length, large, count);
        events.pop();
    }
}

/// Checks every history that begins with one of these, as [`each_world`] does, on as many threads as there are
/// processors.
fn each_world_from(starts: &[Event], length: usize) -> u64 {
    let (next, count) = (AtomicUsize::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(start) = starts.get(next.fetch_add(1, Relaxed)) {
                    let mut found = 0;
                    each_world(&mut vec![start.clone()], length, false, &mut found);
                    count.fetch_add(found, Relaxed);
                }
            });
        }
    });
    count.into_inner()
}

#[test]
fn every_history_of_up_to_five_ops_is_judged_by_the_definitions() {
    let count = each_world_from(&menu(1, false), 5);
    assert!(count > 50_000, "{count}");
}

#[test]
fn every_history_of_two_ops_and_all_offsets_is_judged_by_the_definitions() {
    let mut count = 0;
    each_world(&mut Vec::new(), 2, true, &mut count);
    assert!(count > 5_000, "{count}");
}

/// A random number generator that is the same on every machine.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}

/// Random transactions on two keys that overlap; most of them return the current messages.
fn random_world(chance: &mut Chance) -> World {
    let count = 2 + chance.below(9);
    let mut logs: [Vec<(i64, i64)>; 2] = [Vec::new(), Vec::new()];
    let mut next = [0_i64; 2];
    let mut positions = BTreeMap::<(u8, u8), usize>::new();
    let mut events: Vec<Event> = Vec::new();
    let mut invoked_after: Vec<usize> = Vec::new();
    for at in 0..usize::try_from(count).unwrap() {
        let process = u8::try_from(chance.below(3)).unwrap();
        let kind = chance.pick(&[Kind::Ok, Kind::Ok, Kind::Ok, Kind::Info, Kind::Fail]);
        let mut parts = Vec::new();
        if chance.below(12) == 0 {
            parts.push(Part::Assign(chance.pick(&[&[0_u8, 1][..], &[0], &[1]]).to_vec()));
        } else {
            for _ in 0..=chance.below(3) {
                let key = u8::try_from(chance.below(2)).unwrap();
                let log = &mut logs[usize::from(key)];
                if chance.below(2) == 0 {
                    next[usize::from(key)] += 1;
                    let value = next[usize::from(key)];
                    let end = log.last().map_or(0, |(offset, _)| offset + 1);
                    let offset = if chance.below(8) == 0 { i64::try_from(chance.below(6)).unwrap() } else { end };
                    if kind != Kind::Fail || chance.below(6) == 0 {
                        log.push((offset, value));
                    }
                    parts.push(Part::Send(key, (chance.below(4) > 0).then_some(offset), value));
                } else {
                    let position = positions.entry((process, key)).or_default();
                    let from = (*position + usize::from(chance.below(8) == 0)).min(log.len());
                    let to = (from + usize::try_from(chance.below(3)).unwrap()).min(log.len());
                    let mut list: Vec<(Option<i64>, i64)> = log[from..to].iter().map(|(o, v)| (Some(*o), *v)).collect();
                    *position = to;
                    match chance.below(20) {
                        0 => list.reverse(),
                        1 => list.push((
                            Some(i64::try_from(chance.below(9)).unwrap()),
                            1 + i64::try_from(chance.below(9)).unwrap(),
                        )),
                        2 => list.iter_mut().for_each(|pair| pair.0 = None),
                        _ => {}
                    }
                    parts.push(Part::Poll(vec![(key, list)]));
                }
            }
        }
        // A process performs one operation after another.
        let earliest = events.iter().rposition(|event| event.process == process).map_or(0, |last| last + 1);
        let span = u64::try_from(at - earliest).unwrap() + 1;
        invoked_after.push(earliest + usize::try_from(chance.below(span)).unwrap());
        events.push(Event { process, kind, parts });
    }
    World::new(events, invoked_after)
}

#[test]
fn random_histories_are_judged_by_the_definitions() {
    let mut chance = Chance(7);
    for _ in 0..20_000 {
        check(&random_world(&mut chance));
    }
}
