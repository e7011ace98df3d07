//! Test helpers: every history of a few clients that choose from a menu of operations, and random longer ones.

#![allow(clippy::cast_possible_wrap, reason = "worlds are small")]

use history_core::{Budget, Checker, Datum, History, HistoryBuilder, NewOp, OpKind, Options, Reader, Report, Verdict};
use std::fmt::Write;

/// An op as the oracles receive it; its index is its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) kind: OpKind,
    pub(crate) process: i64,
    pub(crate) f: &'static str,
    pub(crate) value: Datum,
}

/// An operation that a client may invoke, and its possible completions.
pub(crate) struct Item {
    pub(crate) f: &'static str,
    pub(crate) argument: Datum,
    pub(crate) ends: Vec<(OpKind, Datum)>,
}

/// An operation whose completions of these kinds repeat the argument.
pub(crate) fn item(f: &'static str, argument: impl Into<Datum>, kinds: &[OpKind]) -> Item {
    let argument = argument.into();
    Item { f, ends: kinds.iter().map(|kind| (*kind, argument.clone())).collect(), argument }
}

/// A read with these results.
pub(crate) fn read(f: &'static str, results: Vec<Datum>) -> Item {
    Item { f, argument: Datum::Nil, ends: results.into_iter().map(|result| (OpKind::Ok, result)).collect() }
}

/// A history so far, with the operations in flight.
struct World<'m> {
    menu: &'m [Item],
    /// By client: its process, and its operation in flight.
    clients: Vec<(i64, Option<usize>)>,
    events: Vec<Event>,
}

impl<'m> World<'m> {
    fn new(menu: &'m [Item], clients: usize) -> World<'m> {
        World { menu, clients: (0..clients as i64).map(|process| (process, None)).collect(), events: Vec::new() }
    }

    /// The number of choices for the next step of a client.
    fn choices(&self, client: usize) -> usize {
        self.clients[client].1.map_or(self.menu.len(), |item| self.menu[item].ends.len())
    }

    fn step(&mut self, client: usize, choice: usize) {
        let clients = self.clients.len() as i64;
        let (process, flight) = &mut self.clients[client];
        let event = match *flight {
            None => {
                *flight = Some(choice);
                let Item { f, argument, .. } = &self.menu[choice];
                Event { kind: OpKind::Invoke, process: *process, f, value: argument.clone() }
            }
            Some(item) => {
                *flight = None;
                let (kind, value) = self.menu[item].ends[choice].clone();
                let event = Event { kind, process: *process, f: self.menu[item].f, value };
                if kind == OpKind::Info {
                    *process += clients;
                }
                event
            }
        };
        self.events.push(event);
    }
}

/// Visits every history of up to `len` ops, and returns their number.
pub(crate) fn each_history(menu: &[Item], clients: usize, len: usize, look: &mut dyn FnMut(&[Event])) -> u64 {
    fn go(world: &mut World<'_>, len: usize, look: &mut dyn FnMut(&[Event])) -> u64 {
        look(&world.events);
        let mut count = 1;
        if len == 0 {
            return count;
        }
        for client in 0..world.clients.len() {
            // Clients that have done nothing yet are equivalent.
            if client > 0 && world.events.iter().all(|event| event.process != client as i64 - 1) {
                break;
            }
            for choice in 0..world.choices(client) {
                let before = world.clients[client];
                world.step(client, choice);
                count += go(world, len - 1, look);
                world.events.pop();
                world.clients[client] = before;
            }
        }
        count
    }
    go(&mut World::new(menu, clients), len, look)
}

/// The history that these random numbers choose.
pub(crate) fn random_history(menu: &[Item], clients: usize, numbers: &[(u8, u8)]) -> Vec<Event> {
    let mut world = World::new(menu, clients);
    for (client, choice) in numbers {
        let client = *client as usize % clients;
        let choices = world.choices(client);
        if choices > 0 {
            world.step(client, *choice as usize % choices);
        }
    }
    world.events
}

/// The same history for the checker, with one millisecond per op.
pub(crate) fn history(events: &[Event]) -> History {
    let mut builder = HistoryBuilder::new();
    for (at, event) in events.iter().enumerate() {
        let op = NewOp::new(event.kind, event.process).f(event.f).value(event.value.clone());
        builder.push_op(&op.time_ns(at as i64 * 1_000_000)).unwrap();
    }
    builder.build()
}

/// The text of an operation: an invocation with an argument, and a completion of some kind with a value.
pub(crate) fn op(process: usize, f: &str, argument: &str, kind: &str, value: &str) -> String {
    format!(
        "{{:process {process}, :type :invoke, :f :{f}, :value {argument}}} \
         {{:process {process}, :type :{kind}, :f :{f}, :value {value}}}\n"
    )
}

/// The report of the checker on a text, given options by name.
pub(crate) fn judge(checker: &dyn Checker, options: &[(&str, &str)], text: &str) -> Report {
    let options = options.iter().fold(Options::new(), |options, (name, value)| options.with(*name, *value));
    let run = checker.start(&options).unwrap();
    history_core::check(run, &mut Reader::new(text.as_bytes()), &Budget::default()).unwrap()
}

/// A count of a report.
pub(crate) fn count(report: &Report, name: &str) -> u64 {
    report.counts.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("no {name}: {report:?}")).1
}

/// The expected verdict, given the number of anomalies and of observed ops. Verifies that the report counts the latter.
pub(crate) fn verdict(report: &Report, wrong: u64, observed: u64) -> Verdict {
    assert_eq!(count(report, "observed-count"), observed, "{report:?}");
    match (wrong, observed) {
        (0, 0) => Verdict::Unknown,
        (0, _) => Verdict::Valid,
        _ => Verdict::Invalid,
    }
}

/// The number of `ok` ops of a function.
pub(crate) fn oks(events: &[Event], f: &str) -> u64 {
    events.iter().filter(|event| event.kind == OpKind::Ok && event.f == f).count() as u64
}

/// The number of `ok` ops of a function after the first op of another.
pub(crate) fn oks_after(events: &[Event], first: &str, f: &str) -> u64 {
    oks(events.iter().position(|event| event.f == first).map_or(&[], |at| &events[at..]), f)
}

/// The names of all anomalies with their counts.
pub(crate) fn anomalies(report: &Report) -> Vec<(&str, u64)> {
    report.anomalies.iter().map(|anomaly| (anomaly.name.as_ref(), anomaly.count)).collect()
}

/// Verifies that a report is consistent, whatever was found: it is invalid exactly if it has anomalies, and each has
/// witnesses whose ops are in the history as described.
pub(crate) fn assert_sound(report: &Report, events: &[Event]) {
    assert_eq!(report.verdict == Verdict::Invalid, !report.anomalies.is_empty(), "{report:?}");
    for anomaly in &report.anomalies {
        assert!((1..=3).contains(&anomaly.witnesses.len()), "{anomaly:?}");
        assert!(anomaly.witnesses.len() as u64 <= anomaly.count, "{anomaly:?}");
        for witness in &anomaly.witnesses {
            assert!(!witness.ops.is_empty(), "{anomaly:?}");
            for op in &witness.ops {
                let event = &events[op.index as usize];
                assert_eq!((op.kind, &op.process), (event.kind, &Some(event.process.into())), "{witness:?}");
                assert!(witness.explanation.contains(&op.name), "{witness:?}");
            }
        }
    }
}

/// The explanations of a report, one after another.
pub(crate) fn story(report: &Report) -> String {
    let mut text = format!("{}\n", report.verdict.name());
    for note in &report.notes {
        _ = writeln!(text, "note: {note}");
    }
    for anomaly in &report.anomalies {
        for witness in &anomaly.witnesses {
            _ = write!(text, "\n{}: {} of them\n{}", anomaly.name, anomaly.count, witness.explanation);
            for (name, fact) in &witness.facts {
                _ = writeln!(text, "  {name} = {fact}");
            }
        }
    }
    text += "\n";
    for (name, count) in &report.counts {
        _ = writeln!(text, "{name} {count}");
    }
    text
}
