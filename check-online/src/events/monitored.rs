//! Compares collections that are decided by their ledger from the first event on with the batch search.

use super::{Call, Events, Outcome};
use crate::{OnlineModel, Reason};
use check_register::models::{
    Deque, DequeOp, End as Side, FifoQueue, PriorityQueue, QueueOp, Removed, Spec, Stack, UnorderedQueue,
};
use check_register::{Operation, Outcome as Known, check};
use history_core::cast::Cast as _;
use history_core::{Budget, Cancel, History, Spent, Verdict};

/// Pseudo-random numbers from Knuth's multiplier; the upper bits are the best ones.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % end.to_u64()).to_usize()
    }
}

/// The outcome of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Ok,
    Fail,
    Info,
}

/// An event: the call or the end of an operation.
type Event = (usize, Option<End>);

/// A history: the final effect of each operation, and the events.
#[derive(Debug)]
struct Plan {
    ops: Vec<QueueOp>,
    events: Vec<Event>,
}

/// The parameters of a random plan.
#[derive(Clone, Copy)]
struct Mix {
    ops: usize,
    clients: usize,
    /// Of this number of operations, one crashes; of this number, one has a wrong result.
    crashes: usize,
    lies: usize,
    /// The number of values that may be inserted again after their removal; 0 if none is.
    values: usize,
    /// Whether they may be inserted again before their removal.
    repeats: bool,
    /// Whether values are inserted in no order, and wrong results are values that were inserted.
    is_shuffled: bool,
}

/// How a collection inserts and removes values, each given the operation's number.
#[derive(Clone, Copy)]
struct Kind {
    put: fn(&mut Vec<i64>, i64, usize),
    take: fn(&mut Vec<i64>, &mut Random, usize) -> i64,
    /// Whether values are inserted in no order, and wrong results are values that were inserted.
    is_shuffled: bool,
}

const FIFO: Kind = Kind { put: put_last, take: |held, _, _| held.remove(0), is_shuffled: false };
const BAG: Kind =
    Kind { put: put_last, take: |held, random, _| held.remove(random.below(held.len())), is_shuffled: false };
const STACK: Kind = Kind { put: put_last, take: |held, _, _| held.pop().unwrap_or_default(), is_shuffled: false };
const LEAST_FIRST: Kind = Kind { put: put_last, take: take_least, is_shuffled: true };
const DEQUE: Kind = Kind { put: put_at_end, take: take_at_end, is_shuffled: false };

fn put_last(held: &mut Vec<i64>, value: i64, _: usize) {
    held.push(value);
}

fn take_least(held: &mut Vec<i64>, _: &mut Random, _: usize) -> i64 {
    let least = held.iter().enumerate().min_by_key(|(_, value)| **value).map_or(0, |(at, _)| at);
    held.remove(least)
}

/// Returns true if an operation of a deque acts at the front.
fn is_front(op: usize) -> bool {
    (op * 37 / 8).is_multiple_of(2)
}

fn put_at_end(held: &mut Vec<i64>, value: i64, op: usize) {
    held.insert(if is_front(op) { 0 } else { held.len() }, value);
}

fn take_at_end(held: &mut Vec<i64>, _: &mut Random, op: usize) -> i64 {
    held.remove(if is_front(op) { 0 } else { held.len() - 1 })
}

/// The operation with this number, on a queue.
fn of_queue(_: usize, op: QueueOp) -> QueueOp {
    op
}

/// The operation with this number, on a deque.
fn of_deque(number: usize, op: QueueOp) -> DequeOp {
    let end = if is_front(number) { Side::Front } else { Side::Back };
    match op {
        QueueOp::Put(value) => DequeOp::Push(end, value),
        QueueOp::Take(removed) => DequeOp::Pop(end, removed),
    }
}

/// A random history of a collection, with some wrong results.
fn plan(random: &mut Random, mix: Mix, initial: &[i64], kind: Kind) -> Plan {
    let (mut held, mut next) = (initial.to_vec(), 100);
    let mut plan = Plan { ops: Vec::new(), events: Vec::new() };
    // By client: the operation in flight, and whether it took effect.
    let mut clients: Vec<Option<(usize, bool)>> = vec![None; mix.clients];
    loop {
        let client = random.below(mix.clients);
        match clients[client] {
            None if plan.ops.len() == mix.ops => {
                let Some(left) = clients.iter().position(Option::is_some) else { return plan };
                clients.swap(client, left);
            }
            None => {
                plan.events.push((plan.ops.len(), None));
                clients[client] = Some((plan.ops.len(), false));
                next += 1;
                let value = match mix.values {
                    0 if mix.is_shuffled => 100 + next * 613 % 10_007,
                    0 => next,
                    values => 100 + random.below(values).to_i64(),
                };
                let is_there = mix.values > 0 && held.contains(&value);
                let is_put = random.below(2) == 0 && (mix.repeats || !is_there);
                plan.ops.push(if is_put { QueueOp::Put(value) } else { QueueOp::Take(Removed::Unknown) });
            }
            Some((op, false)) if random.below(3) > 0 => {
                match &mut plan.ops[op] {
                    QueueOp::Put(value) => (kind.put)(&mut held, *value, op),
                    QueueOp::Take(removed) if held.is_empty() => *removed = Removed::Nothing,
                    QueueOp::Take(removed) => *removed = Removed::Value((kind.take)(&mut held, random, op)),
                }
                clients[client] = Some((op, true));
            }
            Some((op, happened)) => {
                let mut end = if happened { End::Ok } else { End::Fail };
                let put: Vec<i64> = plan.ops.iter().filter_map(|op| put_value(*op)).collect();
                if random.below(mix.crashes) == 0 {
                    end = End::Info;
                } else if happened
                    && random.below(mix.lies) == 0
                    && let QueueOp::Take(removed) = &mut plan.ops[op]
                {
                    let mut value = 100 + random.below(plan.events.len()).to_i64();
                    if mix.is_shuffled {
                        value = put.get(random.below(put.len() + 1)).copied().unwrap_or(value);
                    }
                    *removed = if random.below(4) == 0 { Removed::Nothing } else { Removed::Value(value) };
                }
                plan.events.push((op, Some(end)));
                clients[client] = None;
            }
        }
    }
}

fn put_value(op: QueueOp) -> Option<i64> {
    if let QueueOp::Put(value) = op { Some(value) } else { None }
}

/// The known effect of an operation until it returns.
fn open(op: QueueOp) -> QueueOp {
    if let QueueOp::Take(_) = op { QueueOp::Take(Removed::Unknown) } else { op }
}

/// The operations as known after the first `count` events. The times of calls are numbers of events.
fn known<O: Clone>(plan: &Plan, count: usize, of: fn(usize, QueueOp) -> O) -> Vec<Operation<O>> {
    let mut known: Vec<Operation<O>> = Vec::new();
    let mut failed = Vec::new();
    for (at, (op, end)) in (0..).zip(&plan.events[..count]) {
        let done = plan.ops[*op];
        match end {
            None => known.push(Operation::crashed(0, of(*op, open(done)), at)),
            Some(End::Ok) => (known[*op].op, known[*op].ret) = (of(*op, done), Some(at)),
            Some(End::Fail) => failed.push(*op),
            Some(End::Info) => {}
        }
    }
    known.into_iter().enumerate().filter(|(op, _)| !failed.contains(op)).map(|(_, operation)| operation).collect()
}

fn with_initial<S: Spec + Default>(values: &[i64]) -> S {
    let mut model = S::default();
    let history = History::parse(&format!("{{:process 0, :type :invoke, :f :x, :value {values:?}}}")).unwrap();
    model.set_initial(history.ops().next().unwrap().value).unwrap();
    model
}

/// The call of the operation that the batch search refuses.
fn refused<S: Spec>(model: &S, known: &[Operation<S::Op>]) -> Option<u64> {
    let answer = check(model, known, &Budget::default());
    assert_ne!(answer.verdict(), Verdict::Unknown, "{known:?}");
    let refusals = answer.parts.iter().filter_map(|part| match &part.outcome {
        Known::Refused(refusal) => Some(refusal.op),
        Known::Linearizable(_) | Known::Unknown(_) => None,
    });
    refusals.min_by_key(|op| known[*op].ret).map(|op| known[op].call)
}

/// Counts of the results of many plans.
#[derive(Default, Debug)]
struct Seen {
    valid: u32,
    invalid: u32,
    conflicts: u32,
    unknown: u32,
    monitored: u32,
}

fn hold<S>(initial: &[i64], plan: &Plan, of: fn(usize, QueueOp) -> S::Op, at_each_event: bool, seen: &mut Seen)
where
    S: Spec + OnlineModel + Default + Clone,
{
    let model: S = with_initial(initial);
    let mut events = Events::new(model.clone());
    events.monitor_always();
    let mut calls: Vec<Option<Call>> = Vec::new();
    let context = |count: usize| format!("{} {initial:?}, {count} of {plan:?}", S::NAME);
    for (count, (op, end)) in (1_usize..).zip(&plan.events) {
        let (done, at) = (plan.ops[*op], count.to_u64() - 1);
        match end {
            None => calls.push(Some(events.invoke(0, at, Some(&of(*op, open(done)))))),
            Some(end) => {
                let call = calls[*op].take().unwrap();
                match end {
                    End::Ok => events.complete(call, at, Some(&of(*op, done))),
                    End::Fail => events.fail(call),
                    End::Info => events.crash(call, Some(&of(*op, open(done)))),
                };
            }
        }
        if at_each_event || count == plan.events.len() {
            events.conclude();
        }
        let Outcome::Violation(violation) = events.outcome() else {
            if at_each_event {
                assert_eq!(events.outcome(), Outcome::Ok, "{}", context(count));
                assert_eq!(refused(&model, &known(plan, count, of)), None, "{}", context(count));
            }
            continue;
        };
        // The violation may have occurred some events earlier.
        let expected = (1..=count).find_map(|count| refused(&model, &known(plan, count, of)).map(|call| (count, call)));
        let Some((first, call)) = expected else { panic!("{violation:?} {}", context(count)) };
        assert!(!at_each_event || first == count, "at {first}: {}", context(count));
        assert_eq!(violation.refused.start, call, "{violation:?} {}", context(count));
        seen.invalid += 1;
        seen.conflicts += u32::from(!violation.conflict.is_empty());
        return;
    }
    assert_eq!(refused(&model, &known(plan, plan.events.len(), of)), None, "{}", context(plan.events.len()));
    assert_eq!(events.outcome(), Outcome::Ok, "{}", context(plan.events.len()));
    seen.valid += 1;
    seen.monitored += u32::from(events.is_monitored());
    seen.unknown += u32::from(matches!(events.outcome(), Outcome::Unknown(_)));
}

fn hold_kind<S>(kind: Kind, of: fn(usize, QueueOp) -> S::Op, repeats: bool, rounds: usize)
where
    S: Spec + OnlineModel + Default + Clone,
{
    let mut random = Random(1);
    let mut seen = Seen::default();
    for round in 0..rounds {
        let mix = Mix {
            ops: 4 + random.below(if round % 8 == 0 { 40 } else { 14 }),
            clients: 2 + round % 3,
            crashes: [1_000, 30, 8][round % 3],
            lies: [40, 12][round % 2],
            // With many values, the first repeated one occurs after others are settled.
            values: if repeats { [5, 5, 40][round / 5 % 3] } else { [0, 0, 9][round / 5 % 3] },
            repeats,
            is_shuffled: kind.is_shuffled,
        };
        let initial: Vec<i64> = (0..random.below(4).saturating_sub(1).to_i64()).map(|at| 10 + at).collect();
        let plan = plan(&mut random, mix, &initial, kind);
        hold::<S>(&initial, &plan, of, true, &mut seen);
        hold::<S>(&initial, &plan, of, false, &mut seen);
    }
    println!("{}: {seen:?}", S::NAME);
    let few = u32::try_from(rounds / 5).unwrap();
    assert!(seen.valid > few && seen.invalid > few && seen.conflicts > few / 2, "too few histories:  {seen:?}");
    assert!(seen.monitored * 4 > seen.valid * 3, "most are decided from the ledger: {seen:?}");
}

#[test]
fn fifo_queues() {
    hold_kind::<FifoQueue>(FIFO, of_queue, false, 2_400);
    hold_kind::<FifoQueue>(FIFO, of_queue, true, 800);
}

#[test]
fn unordered_queues() {
    hold_kind::<UnorderedQueue>(BAG, of_queue, false, 2_400);
    hold_kind::<UnorderedQueue>(BAG, of_queue, true, 800);
}

#[test]
fn stacks() {
    hold_kind::<Stack>(STACK, of_queue, false, 2_400);
    hold_kind::<Stack>(STACK, of_queue, true, 800);
}

#[test]
fn priority_queues() {
    hold_kind::<PriorityQueue>(LEAST_FIRST, of_queue, false, 2_400);
    hold_kind::<PriorityQueue>(LEAST_FIRST, of_queue, true, 800);
}

#[test]
fn deques() {
    hold_kind::<Deque>(DEQUE, of_deque, false, 800);
    hold_kind::<Deque>(DEQUE, of_deque, true, 800);
}

/// Many puts in flight at the same time, and then their takes. A search alone would try every order.
fn wide<S>(last: i64, of: fn(QueueOp) -> S::Op) -> Outcome<S::Op>
where
    S: Spec + OnlineModel + Default,
{
    let mut events = Events::new(S::default());
    let put = |value: i64| of(QueueOp::Put(value));
    let puts: Vec<Call> = (0..1_000).map(|value| events.invoke(value, 0, Some(&put(value)))).collect();
    for (value, call) in (0..).zip(puts) {
        events.complete(call, 1, Some(&put(value)));
    }
    for value in (0..999).map(|value| value * 7 % 1_000).chain([last]) {
        let take = events.invoke(0, 2, Some(&of(QueueOp::Take(Removed::Unknown))));
        events.complete(take, 3, Some(&of(QueueOp::Take(Removed::Value(value)))));
    }
    events.conclude()
}

/// A deque of which only one end is used is a stack.
fn at_front(op: QueueOp) -> DequeOp {
    match op {
        QueueOp::Put(value) => DequeOp::Push(Side::Front, value),
        QueueOp::Take(removed) => DequeOp::Pop(Side::Front, removed),
    }
}

#[test]
fn a_thousand_puts_in_flight() {
    let same = |op: QueueOp| op;
    assert_eq!(wide::<FifoQueue>(993, same), Outcome::Ok);
    assert_eq!(wide::<Stack>(993, same), Outcome::Ok);
    assert_eq!(wide::<UnorderedQueue>(993, same), Outcome::Ok);
    assert_eq!(wide::<Deque>(993, at_front), Outcome::Ok);
    assert_eq!(wide::<PriorityQueue>(0, same).verdict(), Verdict::Invalid, "7 is taken while 1 is there");
    assert_eq!(wide::<FifoQueue>(986, same).verdict(), Verdict::Invalid, "taken twice");
    assert_eq!(wide::<Stack>(986, same).verdict(), Verdict::Invalid, "taken twice");
    assert_eq!(wide::<Deque>(986, at_front).verdict(), Verdict::Invalid, "taken twice");
}

/// A thousand values in a deque, which are then removed: no monitor decides that, and a search may be cancelled.
#[test]
fn a_cancelled_decision_is_repeated_on_request() {
    let mut events = Events::new(Deque::default());
    events.monitor_always();
    let mut call = |asks: DequeOp, does: DequeOp| {
        let called = events.invoke(0, 0, Some(&asks));
        events.complete(called, 1, Some(&does));
    };
    (0..1_000).for_each(|value| call(DequeOp::Push(Side::Front, value), DequeOp::Push(Side::Front, value)));
    for value in 0..1_000 {
        call(DequeOp::Pop(Side::Back, Removed::Unknown), DequeOp::Pop(Side::Back, Removed::Value(value)));
    }
    let cancel = Cancel::default();
    cancel.cancel();
    let spent = events.conclude_within(&Budget::default().with_cancel(cancel));
    assert_eq!(spent, Outcome::Unknown(Reason::Spent(Spent::Cancelled)));
    assert_eq!(events.conclude(), Outcome::Ok);
}

/// A value that was removed shows that 2 was pushed below the position of 3.
#[test]
fn a_removed_value_may_show_the_order_of_two_others() {
    let mut events = Events::new(Stack::default());
    events.monitor_always();
    let mut put = |value: i64| events.invoke(value, 0, Some(&QueueOp::Put(value)));
    let (first, second) = (put(1), put(2));
    events.complete(first, 0, Some(&QueueOp::Put(1)));
    let third = events.invoke(3, 0, Some(&QueueOp::Put(3)));
    events.complete(second, 0, Some(&QueueOp::Put(2)));
    let take = |events: &mut Events<Stack>, value: i64| {
        let call = events.invoke(9, 0, Some(&QueueOp::Take(Removed::Unknown)));
        events.complete(call, 0, Some(&QueueOp::Take(Removed::Value(value))));
        events.conclude().verdict()
    };
    assert_eq!(take(&mut events, 1), Verdict::Valid);
    events.complete(third, 0, Some(&QueueOp::Put(3)));
    assert_eq!(events.conclude(), Outcome::Ok);
    assert_eq!(take(&mut events, 2), Verdict::Invalid);
}

#[test]
fn the_ledger_keeps_only_operations_in_use() {
    follows_use::<FifoQueue>(FIFO);
    follows_use::<PriorityQueue>(LEAST_FIRST);
}

fn follows_use<S>(kind: Kind)
where
    S: Spec<Op = QueueOp> + OnlineModel + Default,
{
    let mut random = Random(3);
    let none = 1_000_000;
    let mix = Mix {
        ops: 6_000,
        clients: 3,
        crashes: none,
        lies: none,
        values: 0,
        repeats: false,
        is_shuffled: kind.is_shuffled,
    };
    let plan = plan(&mut random, mix, &[], kind);
    let mut events = Events::new(S::default());
    events.monitor_always();
    let (mut calls, mut most): (Vec<Option<Call>>, usize) = (Vec::new(), 0);
    let mut there: usize = 0;
    for (op, end) in &plan.events {
        let done = plan.ops[*op];
        match end {
            None => calls.push(Some(events.invoke(0, 0, Some(&open(done))))),
            Some(End::Ok) => _ = events.complete(calls[*op].take().unwrap(), 0, Some(&done)),
            Some(_) => _ = events.fail(calls[*op].take().unwrap()),
        }
        match (done, end) {
            (QueueOp::Put(_), Some(End::Ok)) => there += 1,
            (QueueOp::Take(Removed::Value(_)), Some(End::Ok)) => there = there.saturating_sub(1),
            _ => {}
        }
        most = most.max(events.ledger_len().saturating_sub(there));
    }
    assert_eq!(events.conclude(), Outcome::Ok);
    assert!(most < 400, "{most} operations are kept of {}", plan.ops.len());
}
