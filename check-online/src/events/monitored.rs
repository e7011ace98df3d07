//! Collections that a monitor decides from the first event on, against the batch search.

use super::{Call, Events, Outcome};
use crate::OnlineModel;
use check_register::models::{FifoQueue, PriorityQueue, QueueOp, Removed, Spec, Stack, UnorderedQueue};
use check_register::{Operation, Outcome as Known, check};
use history_core::cast::Cast as _;
use history_core::{Budget, History, Verdict};

/// Numbers that look random: Knuth's multiplier; the upper bits are the good ones.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % end.to_u64()).to_usize()
    }
}

/// What becomes of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Ok,
    Fail,
    Info,
}

/// An event: an operation is called, or ends.
type Event = (usize, Option<End>);

/// What happened: what each operation does in the end, and the events.
#[derive(Debug)]
struct Plan {
    ops: Vec<QueueOp>,
    events: Vec<Event>,
}

/// What is random of a plan.
#[derive(Clone, Copy)]
struct Mix {
    ops: usize,
    clients: usize,
    /// One in so many of each.
    crashes: usize,
    lies: usize,
    /// Values that may come back when they are gone; 0 if none does.
    values: usize,
    /// Whether values come in no order, and lies are of values that were put in.
    is_shuffled: bool,
}

/// A collection in use, that now and then is said to have done something else.
fn plan(random: &mut Random, mix: Mix, initial: &[i64], take: fn(&mut Vec<i64>, &mut Random) -> i64) -> Plan {
    let (mut held, mut next) = (initial.to_vec(), 100);
    let mut plan = Plan { ops: Vec::new(), events: Vec::new() };
    // Of each client the operation in flight, and whether it took effect.
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
                let is_put = random.below(2) == 0 && !(mix.values > 0 && held.contains(&value));
                plan.ops.push(if is_put { QueueOp::Put(value) } else { QueueOp::Take(Removed::Unknown) });
            }
            Some((op, false)) if random.below(3) > 0 => {
                match &mut plan.ops[op] {
                    QueueOp::Put(value) => held.push(*value),
                    QueueOp::Take(removed) if held.is_empty() => *removed = Removed::Nothing,
                    QueueOp::Take(removed) => *removed = Removed::Value(take(&mut held, random)),
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

/// What an operation may do as long as it has not returned.
fn open(op: QueueOp) -> QueueOp {
    if let QueueOp::Take(_) = op { QueueOp::Take(Removed::Unknown) } else { op }
}

/// What was known when the first `count` events had happened, and the events of the calls.
fn known(plan: &Plan, count: usize) -> Vec<Operation<QueueOp>> {
    let mut known: Vec<Operation<QueueOp>> = Vec::new();
    let mut failed = Vec::new();
    for (at, (op, end)) in (0..).zip(&plan.events[..count]) {
        let done = plan.ops[*op];
        match end {
            None => known.push(Operation::crashed(0, open(done), at)),
            Some(End::Ok) => known[*op] = Operation { op: done, ret: Some(at), ..known[*op] },
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
fn refused<S: Spec<Op = QueueOp>>(model: &S, known: &[Operation<QueueOp>]) -> Option<u64> {
    let answer = check(model, known, &Budget::default());
    assert_ne!(answer.verdict(), Verdict::Unknown, "{known:?}");
    let refusals = answer.parts.iter().filter_map(|part| match &part.outcome {
        Known::Refused(refusal) => Some(refusal.op),
        Known::Linearizable(_) | Known::Unknown(_) => None,
    });
    refusals.min_by_key(|op| known[*op].ret).map(|op| known[op].call)
}

/// What was seen of many plans.
#[derive(Default, Debug)]
struct Seen {
    valid: u32,
    invalid: u32,
    conflicts: u32,
    unknown: u32,
    monitored: u32,
}

fn hold<S>(initial: &[i64], plan: &Plan, at_each_event: bool, seen: &mut Seen)
where
    S: Spec<Op = QueueOp> + OnlineModel + Default + Clone,
{
    let model: S = with_initial(initial);
    let mut events = Events::new(model.clone());
    events.monitor_always();
    let mut calls: Vec<Option<Call>> = Vec::new();
    let told = |count: usize| format!("{} {initial:?}, {count} of {plan:?}", S::NAME);
    for (count, (op, end)) in (1_usize..).zip(&plan.events) {
        let (done, at) = (plan.ops[*op], count.to_u64() - 1);
        match end {
            None => calls.push(Some(events.invoke(0, at, Some(&open(done))))),
            Some(end) => {
                let call = calls[*op].take().unwrap();
                match end {
                    End::Ok => events.complete(call, at, Some(&done)),
                    End::Fail => events.fail(call),
                    End::Info => events.crash(call, Some(&open(done))),
                };
            }
        }
        if at_each_event || count == plan.events.len() {
            events.conclude();
        }
        let Outcome::Violation(violation) = events.outcome() else {
            if at_each_event {
                assert_eq!(events.outcome(), Outcome::Ok, "{}", told(count));
                assert_eq!(refused(&model, &known(plan, count)), None, "{}", told(count));
            }
            continue;
        };
        // It may have been found some events later.
        let expected = (1..=count).find_map(|count| refused(&model, &known(plan, count)).map(|call| (count, call)));
        let Some((first, call)) = expected else { panic!("{violation:?} {}", told(count)) };
        assert!(!at_each_event || first == count, "at {first}: {}", told(count));
        assert_eq!(violation.refused.start, call, "{violation:?} {}", told(count));
        seen.invalid += 1;
        seen.conflicts += u32::from(!violation.conflict.is_empty());
        return;
    }
    assert_eq!(refused(&model, &known(plan, plan.events.len())), None, "{}", told(plan.events.len()));
    assert_eq!(events.outcome(), Outcome::Ok, "{}", told(plan.events.len()));
    seen.valid += 1;
    seen.monitored += u32::from(events.is_monitored());
    seen.unknown += u32::from(matches!(events.outcome(), Outcome::Unknown(_)));
}

fn hold_kind<S>(is_shuffled: bool, take: fn(&mut Vec<i64>, &mut Random) -> i64)
where
    S: Spec<Op = QueueOp> + OnlineModel + Default + Clone,
{
    let mut random = Random(1);
    let mut seen = Seen::default();
    for round in 0..2_400 {
        let mix = Mix {
            ops: 4 + random.below(if round % 8 == 0 { 40 } else { 14 }),
            clients: 2 + round % 3,
            crashes: [1_000, 30, 8][round % 3],
            lies: [40, 12][round % 2],
            values: [0, 0, 9][round / 5 % 3],
            is_shuffled,
        };
        let initial: Vec<i64> = (0..random.below(4).saturating_sub(1).to_i64()).map(|at| 10 + at).collect();
        let plan = plan(&mut random, mix, &initial, take);
        hold::<S>(&initial, &plan, true, &mut seen);
        hold::<S>(&initial, &plan, false, &mut seen);
    }
    println!("{}: {seen:?}", S::NAME);
    assert!(seen.valid > 500 && seen.invalid > 500 && seen.conflicts > 300, "too few to learn from: {seen:?}");
    assert!(seen.monitored * 4 > seen.valid * 3, "most are decided by the monitor: {seen:?}");
}

#[test]
fn fifo_queues() {
    hold_kind::<FifoQueue>(false, |held, _| held.remove(0));
}

#[test]
fn unordered_queues() {
    hold_kind::<UnorderedQueue>(false, |held, random| held.remove(random.below(held.len())));
}

#[test]
fn stacks() {
    hold_kind::<Stack>(false, |held, _| held.pop().unwrap_or_default());
}

#[test]
fn priority_queues() {
    hold_kind::<PriorityQueue>(true, |held, _| {
        let least = held.iter().enumerate().min_by_key(|(_, value)| **value).map_or(0, |(at, _)| at);
        held.remove(least)
    });
}

/// Many puts in flight at one time, and then their takes; the search alone would try every order.
fn wide<S>(last: i64) -> Outcome<QueueOp>
where
    S: Spec<Op = QueueOp> + OnlineModel + Default,
{
    let mut events = Events::new(S::default());
    let puts: Vec<Call> = (0..1_000).map(|value| events.invoke(value, 0, Some(&QueueOp::Put(value)))).collect();
    for (value, put) in (0..).zip(puts) {
        events.complete(put, 1, Some(&QueueOp::Put(value)));
    }
    for value in (0..999).map(|value| value * 7 % 1_000).chain([last]) {
        let take = events.invoke(0, 2, Some(&QueueOp::Take(Removed::Unknown)));
        events.complete(take, 3, Some(&QueueOp::Take(Removed::Value(value))));
    }
    events.conclude()
}

#[test]
fn a_thousand_puts_in_flight() {
    assert_eq!(wide::<FifoQueue>(993), Outcome::Ok);
    assert_eq!(wide::<Stack>(993), Outcome::Ok);
    assert_eq!(wide::<UnorderedQueue>(993), Outcome::Ok);
    assert_eq!(wide::<PriorityQueue>(0).verdict(), Verdict::Invalid, "7 is taken while 1 is there");
    assert_eq!(wide::<FifoQueue>(986).verdict(), Verdict::Invalid, "taken twice");
    assert_eq!(wide::<Stack>(986).verdict(), Verdict::Invalid, "taken twice");
}

/// A value that is gone shows that 2 was pushed below where 3 was.
#[test]
fn what_is_gone_may_say_which_of_two_is_on_top() {
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
fn what_is_kept_follows_what_is_in_use() {
    follows_use::<FifoQueue>(false);
    follows_use::<PriorityQueue>(true);
}

fn follows_use<S>(is_shuffled: bool)
where
    S: Spec<Op = QueueOp> + OnlineModel + Default,
{
    let mut random = Random(3);
    let mix = Mix { ops: 6_000, clients: 3, crashes: 1_000_000, lies: 1_000_000, values: 0, is_shuffled };
    let least_first = |held: &mut Vec<i64>, _: &mut Random| {
        held.sort_unstable();
        held.remove(0)
    };
    let plan = plan(&mut random, mix, &[], if is_shuffled { least_first } else { |held, _| held.remove(0) });
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
