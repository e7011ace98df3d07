//! Compares monitors with trying all orders, and with the search: collections of distinct values, some of whose
//! operations crashed.
//!
//! `HISTCHECK_HISTORIES=100000 cargo test --release -p check-register --test it brute::monitors` sets the number of
//! histories of each kind; `HISTCHECK_SMALL=6` sets the number of operations up to which every history is checked.

use super::oracle::{admits, linearizable};
use super::world;
use check_register::models::{
    Deque, DequeOp, End, FifoQueue, PriorityQueue, QueueOp, Removed, Set, SetOp, Spec, Stack, UnorderedQueue,
};
use check_register::{Conflict, Engine, Handling, Held, Operation, Outcome, Reason, Refusal, Settings, check_with};
use history_core::{Budget, History};
use std::collections::BTreeSet;

/// The operations of a collection, created from numbers.
pub(crate) struct Kind<S: Spec> {
    put: fn(i64) -> S::Op,
    take: fn(Removed) -> S::Op,
    /// Of this number of histories, the monitor may leave one undecided. A thousand if it always decides unless takes
    /// of known values crashed.
    unknown_in: u64,
}

/// The number of random histories.
fn histories() -> u64 {
    std::env::var("HISTCHECK_HISTORIES").ok().and_then(|text| text.parse().ok()).unwrap_or(400)
}

/// The numbers of histories by result.
#[derive(Default, Debug)]
struct Seen {
    valid: u64,
    invalid: u64,
    unknown: u64,
    conflicts: u64,
    not_first: u64,
}

fn with_initial<S: Spec + Default>(values: &[i64]) -> S {
    let mut model = S::default();
    let text = format!("{values:?}");
    let history = History::parse(&format!("{{:process 0, :type :invoke, :f :x, :value {text}}}")).unwrap();
    model.set_initial(history.ops().next().unwrap().value).unwrap();
    model
}

fn decide<S: Spec>(model: &S, operations: &[Operation<S::Op>], engine: Engine) -> Vec<Outcome> {
    let settings = Settings { engine, configurations_max: 100_000 };
    let answer = check_with(model, operations, settings, &Budget::default());
    answer.parts.into_iter().map(|part| part.outcome).collect()
}

/// Compares a monitor with the search and, if the history is short, with all orders.
fn hold<S: Spec + Default>(initial: &[i64], operations: &[Operation<S::Op>], seen: &mut Seen) {
    let model: S = with_initial(initial);
    let searched = decide(&model, operations, Engine::JustInTime);
    let monitored = decide(&model, operations, Engine::Monitor);
    let context = || format!("initial {initial:?}, {operations:?}: {monitored:?}, searched {searched:?}");
    assert_eq!(searched.len(), monitored.len(), "{}", context());
    for (searched, monitored) in searched.iter().zip(&monitored) {
        match (searched, monitored) {
            // If the search gives up, the monitor is not verified here; the shorter histories verify it.
            (Outcome::Unknown(Reason::Full), _) => {}
            (_, Outcome::Unknown(Reason::NoMonitor)) => seen.unknown += 1,
            (Outcome::Linearizable(_), Outcome::Linearizable(order)) => {
                if parts(&model, operations).is_none() {
                    let all: Vec<usize> = (0..operations.len()).collect();
                    assert!(admits(&model, &all, operations, order), "{}", context());
                }
                seen.valid += 1;
            }
            (Outcome::Refused(one), Outcome::Refused(other)) => {
                if one.is_first && other.is_first {
                    assert_eq!((one.op, one.is_first), (other.op, other.is_first), "{}", context());
                } else if one.is_first {
                    assert!(operations[one.op].ret <= operations[other.op].ret, "{}", context());
                    seen.not_first += 1;
                }
                seen.invalid += 1;
                seen.conflicts += u64::from(other.conflict.is_some());
                certify::<S>(initial, operations, other);
            }
            _ => panic!("{}", context()),
        }
    }
    if operations.len() <= 6 {
        let expected = linearizable(&model, operations);
        let refused = monitored.iter().any(|outcome| matches!(outcome, Outcome::Refused(_)));
        let unknown = monitored.iter().any(|outcome| matches!(outcome, Outcome::Unknown(_)));
        assert!(unknown || expected != refused, "{}", context());
    }
}

/// The parts of operations; `None` if some operation concerns the whole object.
fn parts<S: Spec>(model: &S, operations: &[Operation<S::Op>]) -> Option<BTreeSet<u64>> {
    operations.iter().map(|operation| model.shortcuts().part(&operation.op)).collect()
}

/// Derives a conflict again, from its operations alone.
fn certify<S: Spec + Default>(initial: &[i64], operations: &[Operation<S::Op>], refusal: &Refusal) {
    let Some(conflict) = &refusal.conflict else { return };
    let until = operations[refusal.op].ret.unwrap();
    let model = S::default();
    let value = |at: usize| match model.shortcuts().handling(&operations[at].op) {
        Some(Handling::Put(value) | Handling::Take(value)) => value,
        other => panic!("{other:?}"),
    };
    let read = |at: usize| match model.shortcuts().handling(&operations[at].op) {
        Some(Handling::All(values)) => values.iter().copied().collect::<BTreeSet<i64>>(),
        other => panic!("{other:?}"),
    };
    let context = || format!("{conflict:?} of {operations:?}");
    let is_put = |at: &usize| matches!(model.shortcuts().handling(&operations[*at].op), Some(Handling::Put(_)));
    let cut =
        |at: &usize| Operation { ret: operations[*at].ret.filter(|ret| *ret <= until), ..operations[*at].clone() };
    match conflict {
        Conflict::NeverPut { take } => {
            let shown = match model.shortcuts().handling(&operations[*take].op) {
                Some(Handling::All(values)) => values.to_vec(),
                _ => vec![value(*take)],
            };
            let is_unknown = |value_of: &i64| {
                !initial.contains(value_of) && (0..operations.len()).filter(is_put).all(|at| value(at) != *value_of)
            };
            assert!(shown.iter().any(is_unknown), "{}", context());
        }
        Conflict::BeforePut { take, put } => {
            assert!(operations[*take].ret.unwrap() < operations[*put].call, "{}", context());
        }
        Conflict::TakenTwice { take, other } => {
            assert_eq!(value(*take), value(*other));
            assert!(
                take != other && operations[*take].ret.is_some() && operations[*other].ret.is_some(),
                "{}",
                context()
            );
        }
        Conflict::NeverEmpty { .. } | Conflict::Values { .. } => {
            let (values, nothing) = match conflict {
                Conflict::NeverEmpty { values, nothing } => (values, Some(*nothing)),
                Conflict::Values { values } => (values, None),
                _ => unreachable!(),
            };
            let of = |values: &[Held]| -> (Vec<i64>, Vec<Operation<S::Op>>) {
                let moved = values.iter().flat_map(|held| [held.put, held.take]).flatten();
                let crashed = (0..operations.len())
                    .filter(|at| matches!(model.shortcuts().handling(&operations[*at].op), Some(Handling::Any)));
                let all: BTreeSet<usize> = moved.chain(nothing).chain(crashed).collect();
                let from_start = values.iter().filter(|held| held.put.is_none());
                // In the order in which they were present.
                let taken: Vec<i64> = from_start.filter_map(|held| held.take).map(value).collect();
                let from_start = initial.iter().copied().filter(|value| taken.contains(value)).collect();
                (from_start, all.iter().filter(|at| operations[**at].call <= until).map(cut).collect())
            };
            if values.iter().any(|held| held.put.is_none() && held.take.is_none()) {
                return;
            }
            let (from_start, few) = of(values);
            assert!(!linearizable(&with_initial::<S>(&from_start), &few), "{}", context());
            for left_out in 0..values.len() {
                let mut less = values.clone();
                less.remove(left_out);
                let has_crashed = few
                    .iter()
                    .any(|operation| matches!(model.shortcuts().handling(&operation.op), Some(Handling::Any)));
                let (from_start, few) = of(&less);
                assert!(has_crashed || linearizable(&with_initial::<S>(&from_start), &few), "not small: {}", context());
            }
        }
        Conflict::Reads { read: one, other } => {
            assert!(!read(*one).is_subset(&read(*other)) && !read(*other).is_subset(&read(*one)), "{}", context());
        }
        Conflict::WithoutInitial { read: one } => {
            assert!(initial.iter().any(|value| !read(*one).contains(value)), "{}", context());
        }
        Conflict::Backwards { first, second, read: shows } => {
            assert!(operations[*second].ret.unwrap() < operations[*first].call, "{}", context());
            let of_adds = is_put(first) && is_put(second);
            assert_eq!(shows.is_some(), of_adds, "{}", context());
            if let Some(shows) = shows {
                assert!(
                    read(*shows).contains(&value(*first)) && !read(*shows).contains(&value(*second)),
                    "{}",
                    context()
                );
            } else {
                let later = if is_put(second) { BTreeSet::from([value(*second)]) } else { read(*second) };
                assert!(!later.is_subset(&read(*first)), "{}", context());
            }
        }
        other => panic!("{other:?}"),
    }
}

/// Random histories in which no value is inserted twice, with `len` operations, of which one in `crash_one_in` crashed.
fn random<S: Spec>(kind: &Kind<S>, (len, crash_one_in): (u64, u64), mut f: impl FnMut(&[i64], &[Operation<S::Op>])) {
    let mut seed = len * 1_000 + crash_one_in;
    let mut below = move |end: u64| {
        // Knuth's multiplier; the upper bits are the best ones.
        seed = u64::wrapping_add(u64::wrapping_mul(seed, 6_364_136_223_846_793_005), 1_442_695_040_888_963_407);
        (seed >> 33) % end
    };
    for _ in 0..histories() {
        let mut initial: Vec<i64> = (0..below(4).saturating_sub(1)).map(|at| 10 + at.cast_signed() * 7 % 5).collect();
        initial.dedup();
        let (span, most) = (4 + below(24), 1 + below(len));
        // Values are inserted out of order, and some of the removed values were never inserted.
        let values: Vec<i64> = (0..most.cast_signed()).map(|at| at * 7 % 17 + 20).collect();
        let (mut to_put, mut to_take) = (values.clone(), [&initial[..], &values[..]].concat());
        let mut history = Vec::new();
        for at in 0..most {
            let begin = below(span);
            let end = begin + below(8);
            let crashed = below(crash_one_in) == 0;
            let op = match below(16) {
                0..=6 => {
                    let Some(value) = to_put.pop() else { continue };
                    (kind.put)(value)
                }
                7..=12 if !crashed || below(4) == 0 => {
                    let value = to_take.remove(below(to_take.len() as u64) as usize);
                    // Rarely, a value is removed twice.
                    if below(12) == 0 || to_take.is_empty() {
                        to_take.push(value);
                    }
                    (kind.take)(Removed::Value(value))
                }
                7..=13 if crashed => (kind.take)(Removed::Unknown),
                _ => (kind.take)(Removed::Nothing),
            };
            let is_nothing = op == (kind.take)(Removed::Nothing);
            let is_unknown = op == (kind.take)(Removed::Unknown);
            history.push(Operation {
                process: at.cast_signed(),
                op,
                // All events have different times.
                call: 64 * begin + 2 * at,
                // A crashed operation that found nothing has no result.
                ret: (!crashed && !is_unknown || is_nothing).then_some(64 * end + 2 * at + 1),
            });
        }
        f(&initial, &history);
    }
}

fn hold_kind<S: Spec + Default>(kind: &Kind<S>) {
    for (len, crash_one_in) in
        [(6, 1_000_000), (6, 10), (6, 4), (8, 1_000_000), (8, 12), (8, 4), (11, 1_000_000), (11, 12)]
    {
        let mut seen = Seen::default();
        random(kind, (len, crash_one_in), |initial, operations| hold::<S>(initial, operations, &mut seen));
        let counts = format!("{} of {len}, one in {crash_one_in}: {seen:?}", S::NAME);
        println!("{counts}");
        assert!(seen.valid > 50 && seen.invalid > 50, "too few histories: {counts}");
        assert!(seen.unknown <= (seen.valid + seen.invalid) / kind.unknown_in, "{counts}");
    }
}

fn queue<S: Spec<Op = QueueOp>>(unknown_in: u64) -> Kind<S> {
    Kind { put: QueueOp::Put, take: QueueOp::Take, unknown_in }
}

#[test]
fn unordered_queues() {
    hold_kind::<UnorderedQueue>(&queue(1_000));
}

#[test]
fn fifo_queues() {
    hold_kind::<FifoQueue>(&queue(1_000));
}

#[test]
fn stacks() {
    hold_kind::<Stack>(&queue(40));
}

#[test]
fn priority_queues() {
    hold_kind::<PriorityQueue>(&queue(4));
}

/// Deques of which only one end is used for insertions, and only one for removals.
#[test]
fn deques() {
    let front = |value| DequeOp::Push(End::Front, value);
    let back = |value| DequeOp::Push(End::Back, value);
    let from_front = |removed| DequeOp::Pop(End::Front, removed);
    let from_back = |removed| DequeOp::Pop(End::Back, removed);
    hold_kind::<Deque>(&Kind { put: front, take: from_back, unknown_in: 1_000 });
    hold_kind::<Deque>(&Kind { put: back, take: from_front, unknown_in: 1_000 });
    hold_kind::<Deque>(&Kind { put: front, take: from_front, unknown_in: 40 });
    hold_kind::<Deque>(&Kind { put: back, take: from_back, unknown_in: 40 });
}

/// A take of a higher value observes a lower one, which a crashed take that was called in the meantime may have
/// removed.
#[test]
fn a_crashed_take_may_take_effect_late() {
    let put = |value| QueueOp::Put(value);
    let operation = |op, call, ret| Operation { process: 0, op, call, ret };
    let history = |crashed_at| {
        vec![
            operation(put(1), 0, Some(1)),
            operation(put(2), 2, Some(3)),
            operation(QueueOp::Take(Removed::Value(2)), 4, Some(8)),
            // Without them, the first moment of the take would also be its last one.
            operation(put(3), 5, Some(6)),
            operation(QueueOp::Take(Removed::Unknown), crashed_at, None),
        ]
    };
    let outcome = |crashed_at| decide(&PriorityQueue::default(), &history(crashed_at), Engine::Monitor).remove(0);
    assert!(matches!(outcome(7), Outcome::Linearizable(order) if order == [0, 1, 3, 4, 2]), "{:?}", outcome(7));
    assert!(matches!(outcome(9), Outcome::Refused(refusal) if refusal.op == 2), "{:?}", outcome(9));
}

/// If values are inserted and removed at both ends, the monitor decides most histories, but not all.
#[test]
fn deques_of_both_ends() {
    let end = |is_front| if is_front { End::Front } else { End::Back };
    let put = |value: i64| DequeOp::Push(if value % 2 == 0 { End::Front } else { End::Back }, value);
    let take = |removed| match removed {
        Removed::Value(value) => DequeOp::Pop(if value % 3 == 0 { End::Front } else { End::Back }, removed),
        _ => DequeOp::Pop(End::Front, removed),
    };
    let kind = Kind::<Deque> { put, take, unknown_in: 1 };
    let mut seen = Seen::default();
    for (len, crash_one_in) in [(6, 1_000_000), (6, 10), (6, 4), (9, 1_000_000), (9, 6)] {
        random(&kind, (len, crash_one_in), |initial, operations| hold::<Deque>(initial, operations, &mut seen));
    }
    assert!(seen.valid > 450 && seen.invalid > 1_450, "{seen:?}");

    // Of two values at each end, those at one end contradict each other.
    let at = |at: u64, op| Operation { process: 0, op, call: 2 * at, ret: Some(2 * at + 1) };
    let taken = |first, second| {
        let ops = [put(1), put(2), put(3), put(4)].into_iter().chain([first, second]);
        ops.enumerate().map(|(place, op)| at(place as u64, op)).collect::<Vec<_>>()
    };
    let pop = |is_front, value| DequeOp::Pop(end(is_front), Removed::Value(value));
    let refused = |operations: &[Operation<DequeOp>]| match &decide(&Deque::default(), operations, Engine::Monitor)[..]
    {
        [Outcome::Refused(refusal)] => refusal.conflict.clone(),
        [Outcome::Linearizable(_)] => None,
        other => panic!("{other:?}"),
    };
    // From front to back: 4 2 1 3.
    assert_eq!(refused(&taken(pop(true, 4), pop(false, 3))), None);
    let values = vec![Held { put: Some(0), take: Some(4) }, Held { put: Some(2), take: None }];
    let conflict = refused(&taken(pop(false, 1), pop(true, 4)));
    assert_eq!(conflict, Some(Conflict::Values { values }));
}

/// Two takes of a value are in flight, at different ends: until one returns, either may have removed it.
#[test]
fn a_value_of_a_deque_with_two_takes() {
    let pop = |end, value, call, ret| Operation {
        process: 0,
        op: DequeOp::Pop(end, Removed::Value(value)),
        call,
        ret: Some(ret),
    };
    let push = |end, value, at| Operation { process: 0, op: DequeOp::Push(end, value), call: at, ret: Some(at + 1) };
    let from_start = vec![pop(End::Back, 1, 0, 5), pop(End::Front, 1, 1, 6), pop(End::Front, 2, 2, 3)];
    let pushed = vec![
        push(End::Front, 1, 0),
        push(End::Back, 2, 2),
        pop(End::Back, 1, 4, 7),
        pop(End::Front, 2, 5, 9),
        pop(End::Back, 2, 6, 8),
    ];
    let mut seen = Seen::default();
    hold::<Deque>(&[1, 2], &from_start, &mut seen);
    hold::<Deque>(&[], &pushed, &mut seen);
    assert_eq!(seen.invalid, 2, "{seen:?}");
}

/// The number of operations up to which every history is checked.
fn small() -> usize {
    std::env::var("HISTCHECK_SMALL").ok().and_then(|text| text.parse().ok()).unwrap_or(4)
}

/// Histories with more operations than this are checked only if each value is inserted, no value is removed twice, and
/// all operations returned.
const WHOLE: usize = 3;

/// Calls `f` with every sequence of operations in which values are numbered in the order of their first occurrence.
fn plans(count: usize, plan: &mut Vec<QueueOp>, values: i64, f: &mut impl FnMut(&[QueueOp], i64)) {
    let has = |op: QueueOp| plan.contains(&op);
    if plan.len() == count {
        let is_put = |value| has(QueueOp::Put(value));
        if count <= WHOLE || (1..=values).all(is_put) {
            f(plan, values);
        }
        return;
    }
    let mut next = vec![QueueOp::Take(Removed::Nothing), QueueOp::Take(Removed::Unknown)];
    for value in 1..=values + 1 {
        let (put, take) = (QueueOp::Put(value), QueueOp::Take(Removed::Value(value)));
        next.extend(Some(put).filter(|put| !has(*put)));
        next.extend(Some(take).filter(|take| count <= WHOLE || !has(*take)));
    }
    for op in next {
        let named = if let QueueOp::Put(value) | QueueOp::Take(Removed::Value(value)) = op { value } else { 0 };
        plan.push(op);
        plans(count, plan, values.max(named), f);
        plan.pop();
    }
}

/// All orders of the numbers from 1 to `count`.
fn permutations(count: i64) -> Vec<Vec<i64>> {
    (1..=count).fold(vec![Vec::new()], |all, last| {
        let with =
            |order: &Vec<i64>| (0..=order.len()).map(|at| [&order[..at], &[last], &order[at..]].concat()).collect();
        all.iter().flat_map::<Vec<Vec<i64>>, _>(with).collect()
    })
}

/// Every small history of distinct values. Which value is which matters only if values have priorities.
fn enumerate<S: Spec<Op = QueueOp> + Default>(unknown_in: u64, has_priorities: bool) {
    let mut seen = Seen::default();
    for count in 1..=small() {
        let mut orders = Vec::new();
        world::orders(count, |order| {
            if count <= WHOLE || order.iter().all(|(_, ret)| ret.is_some()) {
                orders.push(order.to_vec());
            }
        });
        plans(count, &mut Vec::new(), 0, &mut |plan, values| {
            let names = if has_priorities { permutations(values) } else { vec![(1..=values).collect()] };
            for (order, names) in orders.iter().flat_map(|order| names.iter().map(move |names| (order, names))) {
                let name = |value: i64| names[usize::try_from(value).unwrap() - 1];
                let named = |op: &QueueOp| match *op {
                    QueueOp::Put(value) => QueueOp::Put(name(value)),
                    QueueOp::Take(Removed::Value(value)) => QueueOp::Take(Removed::Value(name(value))),
                    take @ QueueOp::Take(_) => take,
                };
                let returns = |(op, (_, ret)): (&QueueOp, &(u64, Option<u64>))| match op {
                    QueueOp::Take(Removed::Unknown) => ret.is_none(),
                    QueueOp::Take(Removed::Nothing) => ret.is_some(),
                    _ => true,
                };
                if plan.iter().zip(order).all(returns) {
                    let operation = |(op, (call, ret)): (&QueueOp, &(u64, Option<u64>))| Operation {
                        process: 0,
                        op: named(op),
                        call: *call,
                        ret: *ret,
                    };
                    let operations: Vec<_> = plan.iter().zip(order).map(operation).collect();
                    hold::<S>(&[], &operations, &mut seen);
                }
            }
        });
    }
    println!("{}, every history: {seen:?}", S::NAME);
    assert!(seen.valid > 1_000 && seen.invalid > 1_000, "{seen:?}");
    assert!(seen.unknown <= (seen.valid + seen.invalid) / unknown_in, "{seen:?}");
}

#[test]
fn every_small_history() {
    enumerate::<UnorderedQueue>(1_000_000_000, false);
    enumerate::<FifoQueue>(1_000_000_000, false);
    enumerate::<Stack>(1_000_000_000, false);
    enumerate::<PriorityQueue>(4, true);
}

#[test]
fn sets() {
    let mut ops = vec![SetOp::Add(1), SetOp::Add(2), SetOp::Add(3), SetOp::Add(1), SetOp::Add(2)];
    for shown in 0..8_i64 {
        ops.push(SetOp::Read((1..=3).filter(|value| shown >> (value - 1) & 1 == 1).collect()));
    }
    let mut seen = Seen::default();
    for (len, crash_one_in) in [(5, 1_000_000), (5, 4), (8, 6)] {
        for initial in [&[][..], &[1], &[2, 3]] {
            world::random(len, &ops, (histories(), crash_one_in), |operations| {
                let operations: Vec<Operation<SetOp>> = operations
                    .iter()
                    .filter(|one| one.ret.is_some() || matches!(one.op, SetOp::Add(_)))
                    .cloned()
                    .collect();
                hold::<Set>(initial, &operations, &mut seen);
            });
        }
    }
    assert!(seen.valid > 200 && seen.invalid > 200 && seen.unknown == 0, "{seen:?}");
}
