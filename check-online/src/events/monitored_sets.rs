//! Compares sets that a monitor decides from the first event on with the batch search.

use super::{Call, Events, Outcome};
use check_register::models::{Set, SetOp};
use check_register::{Operation, Outcome as Known, check};
use history_core::cast::Cast as _;
use history_core::{Budget, Verdict};

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

/// A history: the final effect of each operation, and the events, each the call or the end of an operation.
#[derive(Debug, Default)]
struct Plan {
    ops: Vec<SetOp>,
    events: Vec<(usize, Option<End>)>,
}

/// A random history of a set, in which some reads lack a value, return an additional one, or return an older set.
fn plan(random: &mut Random, count: usize, clients: usize, crashes: usize, lies: usize) -> Plan {
    let mut plan = Plan::default();
    let mut sets: Vec<Vec<i64>> = vec![vec![1]];
    let mut clients: Vec<Option<(usize, bool)>> = vec![None; clients];
    loop {
        let client = random.below(clients.len());
        match clients[client] {
            None if plan.ops.len() == count => {
                let Some(left) = clients.iter().position(Option::is_some) else { return plan };
                clients.swap(client, left);
            }
            None => {
                plan.events.push((plan.ops.len(), None));
                clients[client] = Some((plan.ops.len(), false));
                let value = random.below(count).to_i64();
                plan.ops.push(if random.below(3) > 0 { SetOp::Add(value) } else { SetOp::Read([].into()) });
            }
            Some((op, false)) if random.below(3) > 0 => {
                let mut now = sets.last().cloned().unwrap_or_default();
                match &mut plan.ops[op] {
                    SetOp::Add(value) => {
                        now.push(*value);
                        now.sort_unstable();
                        now.dedup();
                        sets.push(now);
                    }
                    SetOp::Read(values) => *values = now.into(),
                }
                clients[client] = Some((op, true));
            }
            Some((op, happened)) => {
                let is_read = matches!(plan.ops[op], SetOp::Read(_));
                let mut end = if happened { End::Ok } else { End::Fail };
                if random.below(crashes) == 0 {
                    end = End::Info;
                } else if happened && is_read && random.below(lies) == 0 {
                    let mut now = sets[sets.len() - 1 - random.below(sets.len().min(4))].clone();
                    match random.below(3) {
                        0 => _ = now.remove(random.below(now.len())),
                        1 => now.push(random.below(count).to_i64()),
                        _ => {}
                    }
                    now.sort_unstable();
                    now.dedup();
                    plan.ops[op] = SetOp::Read(now.into());
                }
                plan.events.push((op, Some(end)));
                clients[client] = None;
            }
        }
    }
}

/// The known effect of an operation in flight, if it has one.
fn open(op: &SetOp) -> Option<&SetOp> {
    Some(op).filter(|op| matches!(op, SetOp::Add(_)))
}

/// The call of the operation that the batch search refuses in the first `count` events.
fn refused(plan: &Plan, count: usize) -> Option<u64> {
    let mut known: Vec<Option<Operation<SetOp>>> = Vec::new();
    for (at, (op, end)) in (0..).zip(&plan.events[..count]) {
        let done = &plan.ops[*op];
        match end {
            None => known.push(Some(Operation::crashed(0, done.clone(), at))),
            Some(End::Ok) => known[*op].iter_mut().for_each(|operation| operation.ret = Some(at)),
            Some(End::Fail) => known[*op] = None,
            Some(End::Info) => {}
        }
    }
    let says = |operation: &Operation<SetOp>| operation.ret.is_some() || open(&operation.op).is_some();
    let known: Vec<Operation<SetOp>> = known.into_iter().flatten().filter(says).collect();
    let answer = check(&Set::starting_with([1]), &known, &Budget::default());
    assert_ne!(answer.verdict(), Verdict::Unknown, "{known:?}");
    answer.parts.iter().find_map(|part| match &part.outcome {
        Known::Refused(refusal) => Some(known[refusal.op].call),
        Known::Linearizable(_) | Known::Unknown(_) => None,
    })
}

/// Returns true if a plan is linearizable. The answers at each event, or at the end, must be those of the search.
fn hold(plan: &Plan, at_each_event: bool, is_monitored: bool) -> bool {
    let mut events = Events::new(Set::starting_with([1]));
    if is_monitored {
        events.monitor_always();
    }
    let mut calls: Vec<Option<Call>> = Vec::new();
    for (count, (op, end)) in (1_usize..).zip(&plan.events) {
        let (done, at) = (&plan.ops[*op], count.to_u64() - 1);
        match end {
            None => calls.push(Some(events.invoke(0, at, open(done)))),
            Some(end) => {
                let call = calls[*op].take().unwrap();
                match end {
                    End::Ok => events.complete(call, at, Some(done)),
                    End::Fail => events.fail(call),
                    End::Info => events.crash(call, open(done)),
                };
            }
        }
        if at_each_event || count == plan.events.len() {
            events.conclude();
        }
        let Outcome::Violation(violation) = events.outcome() else {
            if at_each_event {
                assert_eq!((events.outcome(), refused(plan, count)), (Outcome::Ok, None), "{count} of {plan:?}");
            }
            continue;
        };
        let expected = (1..=count).find_map(|count| refused(plan, count).map(|call| (count, call)));
        let Some((first, call)) = expected else { panic!("{violation:?} {count} of {plan:?}") };
        assert!(!at_each_event || first == count, "at {first}: {count} of {plan:?}");
        assert_eq!(violation.refused.start, call, "{violation:?} {count} of {plan:?}");
        return false;
    }
    assert_eq!((events.outcome(), refused(plan, plan.events.len())), (Outcome::Ok, None), "{plan:?}");
    assert_eq!(events.is_monitored(), is_monitored, "{plan:?}");
    true
}

#[test]
fn sets_are_decided_as_the_search_decides_them() {
    let mut random = Random(1);
    let (mut valid, mut invalid) = (0, 0);
    for round in 0..3_000 {
        let count = 4 + random.below(if round % 8 == 0 { 40 } else { 12 });
        let plan = plan(&mut random, count, 2 + round % 3, [1_000, 30, 6][round % 3], [6, 3][round % 2]);
        let is_valid = hold(&plan, true, true);
        assert_eq!(hold(&plan, false, true), is_valid, "{plan:?}");
        *if is_valid { &mut valid } else { &mut invalid } += 1;
    }
    assert!(valid > 700 && invalid > 700, "{valid} valid, {invalid} invalid: too few histories");
}

/// Forty adds in flight at the same time, of which a read has returned half: the search would try their subsets.
#[test]
fn many_adds_in_flight() {
    for (last, expected) in [(20, Verdict::Valid), (19, Verdict::Invalid)] {
        let mut events = Events::new(Set::default());
        let adds: Vec<Call> = (0..40).map(|value| events.invoke(value, 0, Some(&SetOp::Add(value)))).collect();
        for (at, found) in [(1, 20), (2, last)] {
            let read = events.invoke(100, at, None);
            events.complete(read, at, Some(&SetOp::Read((0..found).collect())));
        }
        for (value, add) in (0..).zip(adds) {
            events.complete(add, 3, Some(&SetOp::Add(value)));
        }
        assert_eq!(events.conclude().verdict(), expected);
    }
}

/// Reads and adds that later events cannot depend on are discarded.
#[test]
fn the_ledger_keeps_only_what_operations_in_flight_need() {
    let mut events = Events::new(Set::default());
    events.monitor_always();
    let mut most = 0;
    for value in 0..600 {
        let (one, other) =
            (events.invoke(0, 0, Some(&SetOp::Add(value))), events.invoke(1, 0, Some(&SetOp::Add(value))));
        events.complete(one, 0, Some(&SetOp::Add(value)));
        let read = events.invoke(2, 0, None);
        events.complete(read, 0, Some(&SetOp::Read((0..=value).collect())));
        events.complete(other, 0, Some(&SetOp::Add(value)));
        events.conclude();
        most = most.max(events.ledger_len());
    }
    assert_eq!(events.outcome(), Outcome::Ok);
    assert!(most < 200, "{most} operations are kept");
    let read = events.invoke(2, 7, None);
    events.complete(read, 8, Some(&SetOp::Read((1..600).collect())));
    assert_eq!(events.conclude().verdict(), Verdict::Invalid, "0 was there");
}
