//! Long histories of distinct values by many clients without pauses, most of which only the monitors decide.
//!
//! `HISTCHECK_OPERATIONS=1000000 cargo test --release -p check-register --test it brute::large` sets the number of
//! operations.

use check_register::models::{
    Deque, DequeOp, End, FifoQueue, PriorityQueue, QueueOp, Removed, Spec, Stack, UnorderedQueue,
};
use check_register::{Conflict, Operation, Outcome, check};
use history_core::{Budget, Verdict};
use std::collections::VecDeque;

/// The number of operations of a history.
fn operations() -> usize {
    std::env::var("HISTCHECK_OPERATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000)
}

/// The state of a client.
#[derive(Clone, Copy)]
enum Client {
    Idle,
    /// Its operation, by position, with the value that it inserts.
    Called(usize, Option<i64>),
    /// Its operation took effect.
    Done(usize),
}

/// A history of a collection. `act` inserts a value or removes one, and returns the operation; it gets a random number.
fn simulate<O: Copy>(
    clients: u64,
    unknown: O,
    act: impl Fn(&mut VecDeque<i64>, Option<i64>, u64) -> O,
) -> Vec<Operation<O>> {
    let mut seed = clients;
    let mut below = move |end: u64| {
        // Knuth's multiplier; the upper bits are the best ones.
        seed = u64::wrapping_add(u64::wrapping_mul(seed, 6_364_136_223_846_793_005), 1_442_695_040_888_963_407);
        (seed >> 33) % end
    };
    let mut history: Vec<Operation<O>> = Vec::with_capacity(operations());
    let (mut held, mut now, mut value) = (VecDeque::new(), 0, 0);
    let mut at_work = vec![Client::Idle; usize::try_from(clients).unwrap()];
    // At the end, all operations in flight return.
    let is_idle = |client: &Client| matches!(client, Client::Idle);
    while history.len() < operations() || !at_work.iter().all(is_idle) {
        let process = below(clients);
        let client = &mut at_work[usize::try_from(process).unwrap()];
        match *client {
            Client::Idle if history.len() >= operations() => {}
            Client::Idle => {
                *client = Client::Called(history.len(), (below(2) == 1).then_some(value));
                value += 1;
                history.push(Operation::crashed(process.cast_signed(), unknown, now));
                now += 1;
            }
            Client::Called(at, value) => {
                *client = Client::Done(at);
                history[at].op = act(&mut held, value, below(1 << 20));
            }
            Client::Done(at) => {
                *client = Client::Idle;
                history[at].ret = Some(now);
                now += 1;
            }
        }
    }
    history
}

/// A history of a collection from which `take` removes values.
fn simulate_queue(take: fn(&mut VecDeque<i64>, u64) -> Option<i64>) -> Vec<Operation<QueueOp>> {
    simulate(20, QueueOp::Take(Removed::Unknown), |held, put, chance| {
        if let Some(value) = put {
            held.push_back(value);
            return QueueOp::Put(value);
        }
        QueueOp::Take(take(held, chance).map_or(Removed::Nothing, Removed::Value))
    })
}

fn hold<S: Spec<Op = QueueOp> + Default>(take: fn(&mut VecDeque<i64>, u64) -> Option<i64>) {
    let mut history = simulate_queue(take);
    let model = S::default();
    assert_eq!(check(&model, &history, &Budget::default()).verdict(), Verdict::Valid, "{}", S::NAME);
    // Near the end, a take returns a value that was removed long before.
    let is_taken = |operation: &&Operation<QueueOp>| matches!(operation.op, QueueOp::Take(Removed::Value(_)));
    let first = history.iter().find(is_taken).unwrap().op;
    let wrong = history.len() - history.len() / 10;
    let wrong = wrong + history[wrong..].iter().position(|one| is_taken(&one)).unwrap();
    history[wrong].op = first;
    let answer = check(&model, &history, &Budget::default());
    let refusals: Vec<_> = answer
        .parts
        .iter()
        .filter_map(|part| if let Outcome::Refused(refusal) = &part.outcome { Some(refusal) } else { None })
        .collect();
    let [refusal] = refusals[..] else { panic!("{}: {} parts are refused", S::NAME, refusals.len()) };
    assert!(refusal.is_first, "{}", S::NAME);
    // The value that the take really removed may be missed while the take is in flight.
    let (ret, wrong) = (history[refusal.op].ret, &history[wrong]);
    assert!(ret <= wrong.ret && ret > Some(wrong.call), "{}: {refusal:?}", S::NAME);
    let is_known = matches!(refusal.conflict, None | Some(Conflict::TakenTwice { .. } | Conflict::Values { .. }));
    assert!(is_known || matches!(refusal.conflict, Some(Conflict::NeverEmpty { .. })), "{}: {refusal:?}", S::NAME);
}

#[test]
fn stacks() {
    hold::<Stack>(|held, _| held.pop_back());
}

#[test]
fn fifo_queues() {
    hold::<FifoQueue>(|held, _| held.pop_front());
}

#[test]
fn unordered_queues() {
    hold::<UnorderedQueue>(|held, chance| {
        let len = u64::try_from(held.len()).unwrap();
        if len == 0 { None } else { held.swap_remove_back(usize::try_from(chance % len).unwrap()) }
    });
}

/// A priority that differs from the order of insertion.
fn priority(value: i64) -> i64 {
    value.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed())
}

fn take_least(held: &mut VecDeque<i64>, _: u64) -> Option<i64> {
    let least = (0..held.len()).min_by_key(|at| held[*at])?;
    held.swap_remove_back(least)
}

#[test]
fn priority_queues() {
    hold::<PriorityQueue>(take_least);
    // Every hundredth take crashes, and its value is unknown.
    let mut history = simulate(20, QueueOp::Take(Removed::Unknown), |held, put, chance| {
        if let Some(value) = put.map(priority) {
            held.push_back(value);
            return QueueOp::Put(value);
        }
        QueueOp::Take(take_least(held, chance).map_or(Removed::Nothing, Removed::Value))
    });
    for operation in history.iter_mut().filter(|one| matches!(one.op, QueueOp::Take(_))).step_by(100) {
        (operation.op, operation.ret) = (QueueOp::Take(Removed::Unknown), None);
    }
    let answer = check(&PriorityQueue::default(), &history, &Budget::default());
    assert_eq!(answer.verdict(), Verdict::Valid);
}

#[test]
fn deques() {
    let mut history = simulate(10, DequeOp::Pop(End::Front, Removed::Unknown), |held, put, chance| {
        let end = if chance % 2 == 0 { End::Front } else { End::Back };
        match (put, end) {
            (Some(value), End::Front) => held.push_front(value),
            (Some(value), End::Back) => held.push_back(value),
            (None, _) => {
                let taken = if end == End::Front { held.pop_front() } else { held.pop_back() };
                return DequeOp::Pop(end, taken.map_or(Removed::Nothing, Removed::Value));
            }
        }
        DequeOp::Push(end, put.unwrap())
    });
    let verdict = |history: &[_]| check(&Deque::default(), history, &Budget::default()).verdict();
    assert_eq!(verdict(&history), Verdict::Valid);
    // Near the end, a value is removed at the other end, where others are in front of it.
    let is_taken = |operation: &Operation<DequeOp>| matches!(operation.op, DequeOp::Pop(_, Removed::Value(_)));
    let near_end = history.len() - history.len() / 10;
    for wrong in (near_end..near_end + 200).filter(|at| is_taken(&history[*at])).collect::<Vec<_>>() {
        let DequeOp::Pop(end, value) = history[wrong].op else { panic!("it is a pop") };
        history[wrong].op = DequeOp::Pop(if end == End::Front { End::Back } else { End::Front }, value);
    }
    assert_eq!(verdict(&history), Verdict::Invalid);
}

#[test]
fn filled_and_drained_by_one_client() {
    let half = operations() as u64 / 2;
    let drained = |at: fn(u64, u64) -> u64| {
        let put = |at: u64| Operation::new(0, QueueOp::Put(at.cast_signed()), 2 * at, 2 * at + 1);
        let take = |step: u64| {
            let op = QueueOp::Take(Removed::Value(at(step, half).cast_signed()));
            Operation::new(0, op, 2 * (half + step), 2 * (half + step) + 1)
        };
        (0..half).map(put).chain((0..half).map(take)).collect::<Vec<_>>()
    };
    let verdict = |stack: &[Operation<QueueOp>], queue: &[Operation<QueueOp>]| {
        let budget = Budget::default();
        (check(&Stack::default(), stack, &budget).verdict(), check(&FifoQueue::default(), queue, &budget).verdict())
    };
    let (backwards, forwards) = (drained(|step, half| half - 1 - step), drained(|step, _| step));
    assert_eq!(verdict(&backwards, &forwards), (Verdict::Valid, Verdict::Valid));
    assert_eq!(verdict(&forwards, &backwards), (Verdict::Invalid, Verdict::Invalid));
}
