//! Feeds spans without end, like a service that runs for weeks, and asserts that memory does not grow.
//!
//! `cargo run --release -p check-online --example soak -- [SPANS] [CLIENTS] [register|cas|queue|kv] [spans|events]`; or
//! `-- latency` for the time from the span that proves a violation to the answer.

use check_online::{Events, Online, OnlineModel, Outcome, Span};
use check_register::Model;
use check_register::models::{CasRegister, FifoQueue, Kv, KvAction, KvOp, PlainRegister, QueueOp, RegisterOp, Removed};
use std::collections::VecDeque;
use std::time::Instant;

/// Resident memory in bytes; 0 if the system does not report it.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

/// Pseudo-random numbers from Knuth's multiplier; the upper bits are the best ones.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Objects that clients use, one operation at each instant.
trait Object {
    type Model: OnlineModel;
    fn model() -> Self::Model;
    /// The next operation.
    fn next(&mut self, random: &mut Random) -> <Self::Model as Model>::Op;
}

type SpanOf<O> = Span<<<O as Object>::Model as Model>::Op>;

/// The number per second.
fn rate(count: u64, since: Instant) -> u128 {
    u128::from(count) * 1_000_000_000 / since.elapsed().as_nanos().max(1)
}

#[derive(Default)]
struct Register(i64, i64);

impl Object for Register {
    type Model = PlainRegister;
    fn model() -> PlainRegister {
        PlainRegister::starting_with(0)
    }
    fn next(&mut self, random: &mut Random) -> RegisterOp {
        if random.below(2) == 0 {
            return RegisterOp::Read(self.0);
        }
        self.1 += 1;
        self.0 = self.1;
        RegisterOp::Write(self.0)
    }
}

#[derive(Default)]
struct Cas(i64);

impl Object for Cas {
    type Model = CasRegister;
    fn model() -> CasRegister {
        CasRegister::starting_with(0)
    }
    fn next(&mut self, random: &mut Random) -> RegisterOp {
        let value = random.below(5).cast_signed();
        match random.below(3) {
            0 => RegisterOp::Read(self.0),
            1 => {
                self.0 = value;
                RegisterOp::Write(value)
            }
            _ => RegisterOp::Cas(std::mem::replace(&mut self.0, value), value),
        }
    }
}

#[derive(Default)]
struct Queue(VecDeque<i64>, i64);

impl Object for Queue {
    type Model = FifoQueue;
    fn model() -> FifoQueue {
        FifoQueue::default()
    }
    fn next(&mut self, random: &mut Random) -> QueueOp {
        if random.below(2) == 0 && self.0.len() < 4 {
            self.1 += 1;
            self.0.push_back(self.1);
            return QueueOp::Put(self.1);
        }
        QueueOp::Take(self.0.pop_front().map_or(Removed::Nothing, Removed::Value))
    }
}

#[derive(Default)]
struct Map(Vec<i64>);

impl Object for Map {
    type Model = Kv;
    fn model() -> Kv {
        Kv::default()
    }
    fn next(&mut self, random: &mut Random) -> KvOp {
        self.0.resize(100, 0);
        let key = random.below(100);
        let held = &mut self.0[key as usize];
        let text = |value: i64| if value == 0 { "".into() } else { value.to_string().into() };
        let action = if random.below(2) == 0 {
            KvAction::Get(text(*held))
        } else {
            *held += 1;
            KvAction::Put(text(*held))
        };
        KvOp { key: key.cast_signed(), action }
    }
}

/// Spans of clients without pauses, each with an instant at which it takes effect.
struct Source<O: Object> {
    object: O,
    random: Random,
    /// By client: when its operation takes effect, when it began, and when it will end.
    clients: Vec<(u64, u64, u64)>,
}

impl<O: Object> Source<O> {
    fn plan(&mut self, client: usize, from: u64) {
        let clients = self.clients.len() as u64;
        // All times are different: each client has its own remainder.
        let mut at = |least: u64| (least / clients + 1 + self.random.below(1000)) * clients + client as u64;
        let start = at(from);
        let effect = at(start);
        let finish = at(effect);
        self.clients[client] = (effect, start, finish);
    }

    fn new(object: O, clients: usize) -> Source<O> {
        let mut source = Source { object, random: Random(17), clients: vec![(0, 0, 0); clients] };
        for client in 0..clients {
            source.plan(client, 0);
        }
        source
    }

    /// The span of the operation that takes effect next.
    fn next(&mut self) -> SpanOf<O> {
        let client = (0..self.clients.len()).min_by_key(|client| self.clients[*client].0).expect("some client");
        let (_, start, finish) = self.clients[client];
        let op = self.object.next(&mut self.random);
        self.plan(client, finish);
        Span::new(client as u32, start, finish, op)
    }
}

/// The destination of spans. Returns whether there is no violation.
trait Sink<O: Object> {
    fn take(&mut self, span: SpanOf<O>) -> bool;
}

impl<O: Object> Sink<O> for Online<O::Model> {
    fn take(&mut self, span: SpanOf<O>) -> bool {
        let outcome = self.feed(span).expect("spans in order");
        if outcome != Outcome::Ok {
            eprintln!("{outcome:?}");
        }
        outcome == Outcome::Ok
    }
}

/// Converts spans to events. They are sorted once no earlier one can come.
struct Sorted<O: Object> {
    events: Events<O::Model>,
    calls: Vec<Option<check_online::Call>>,
    waiting: Vec<(u64, bool, SpanOf<O>)>,
}

impl<O: Object> Sink<O> for Sorted<O> {
    fn take(&mut self, span: SpanOf<O>) -> bool {
        self.waiting.push((span.start, false, span.clone()));
        self.waiting.push((span.finish, true, span));
        if self.waiting.len() < 1024 {
            return true;
        }
        self.waiting.sort_by_key(|(time, _, _)| *time);
        // Spans are at most 3,000 times the number of clients apart.
        for (time, is_return, span) in self.waiting.drain(..512) {
            let call = &mut self.calls[span.client as usize];
            if !is_return {
                let read = O::model().shortcuts().reads_only(&span.op);
                *call = Some(self.events.invoke(i64::from(span.client), time, (!read).then_some(&span.op)));
            } else if self.events.complete(call.take().expect("called"), time, Some(&span.op)) != Outcome::Ok {
                eprintln!("{:?}", self.events.outcome());
                return false;
            }
        }
        true
    }
}

fn soak<O: Object>(object: O, spans: u64, clients: usize, mut sink: impl Sink<O>) {
    let mut source = Source::new(object, clients);
    let mut peaks = [0; 2];
    let (start, mut lap) = (Instant::now(), Instant::now());
    for at in 0..spans {
        assert!(sink.take(source.next()), "what is correct is refused, at span {at}");
        if at % 4096 == 0 && at > spans / 100 {
            let peak = &mut peaks[usize::from(at >= spans / 2)];
            *peak = resident().max(*peak);
        }
        if at % (spans / 10).max(1) == 0 && at > 0 {
            let (rate, held) = (rate(spans / 10, lap), resident() / 1024);
            println!("{at:>10} spans, {rate:>10} spans/s, {held:>7} KiB");
            lap = Instant::now();
        }
    }
    println!("{} spans/s in all", rate(spans, start));
    let [first, second] = peaks;
    println!("peak {} KiB in the first half, {} KiB in the second", first / 1024, second / 1024);
    assert!(second * 10 <= first * 11, "memory grows");
}

fn run<O: Object>(object: O, spans: u64, clients: usize, events: bool) {
    if events {
        let calls = (0..clients).map(|_| None).collect();
        soak(object, spans, clients, Sorted::<O> { events: Events::new(O::model()), calls, waiting: Vec::new() });
    } else {
        soak(object, spans, clients, Online::new(O::model(), clients as u32));
    }
}

/// The time from the span that proves a violation to the result, with a checker on a separate thread.
fn latency(rounds: usize) {
    let mut nanoseconds = Vec::new();
    for round in 0..rounds {
        let handle = Online::new(Register::model(), 4).spawn(1_000);
        let mut source = Source::new(Register::default(), 4);
        source.random.0 += round as u64;
        let spans: Vec<_> = (0..5_000).map(|_| source.next()).collect();
        for span in &spans {
            handle.feed(*span).expect("spans in order");
        }
        // When this is answered, everything before has been checked.
        let end = 2 + spans.iter().map(|span| span.finish).max().unwrap_or(0);
        for client in 0..4 {
            handle.idle(client, end).expect("it runs");
        }
        let fifth = handle.join(end).expect("nothing is later");
        handle.stop(fifth).expect("it runs");
        for client in 1..4 {
            handle.stop(client).expect("it runs");
        }
        let start = Instant::now();
        handle.feed(Span::new(0, end + 1, end + 2, RegisterOp::Read(-1))).expect("a span in order");
        while handle.outcome() == Outcome::Ok {
            std::thread::yield_now();
        }
        nanoseconds.push(start.elapsed().as_nanos());
    }
    nanoseconds.sort_unstable();
    let at = |percent: usize| nanoseconds[(nanoseconds.len() - 1) * percent / 100] / 1_000;
    println!("from the span that proves it to the answer: {} us (median), {} us (99th percentile)", at(50), at(99));
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|arg| arg == "latency") {
        return latency(1_000);
    }
    let arg = |at: usize, default: &str| args.get(at).cloned().unwrap_or_else(|| default.into());
    let spans: u64 = arg(0, "1000000").parse().expect("a number of spans");
    let clients: usize = arg(1, "4").parse().expect("a number of clients");
    let events = arg(3, "spans") == "events";
    match arg(2, "register").as_str() {
        "register" => run(Register::default(), spans, clients, events),
        "cas" => run(Cas::default(), spans, clients, events),
        "queue" => run(Queue::default(), spans, clients, events),
        "kv" => run(Map::default(), spans, clients, events),
        other => panic!("there is no object {other}"),
    }
}
