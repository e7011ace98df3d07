//! Long histories of distinct values by many clients without pauses, of which only the monitors decide most.
//!
//! `HISTCHECK_OPERATIONS=1000000 cargo test --release -p check-register --test it brute::large` has as many operations
//! as that.

use check_register::models::{FifoQueue, QueueOp, Removed, Spec, Stack, UnorderedQueue};
use check_register::{Conflict, Operation, Outcome, check};
use history_core::{Budget, Verdict};
use std::collections::VecDeque;

/// How many operations a history has.
fn operations() -> usize {
    std::env::var("HISTCHECK_OPERATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000)
}

/// What a client is at.
#[derive(Clone, Copy)]
enum Client {
    Idle,
    /// Its operation, by position; whether it took effect.
    InFlight(usize, bool),
}

/// A history of a collection from which `take` takes out one value.
fn simulate(clients: u64, take: fn(&mut VecDeque<i64>, u64) -> Option<i64>) -> Vec<Operation<QueueOp>> {
    let mut seed = clients;
    let mut below = move |end: u64| {
        // Knuth's multiplier; the upper bits are the good ones.
        seed = u64::wrapping_add(u64::wrapping_mul(seed, 6_364_136_223_846_793_005), 1_442_695_040_888_963_407);
        (seed >> 33) % end
    };
    let mut history: Vec<Operation<QueueOp>> = Vec::with_capacity(operations());
    let (mut held, mut now, mut value) = (VecDeque::new(), 0, 0);
    let mut at_work = vec![Client::Idle; usize::try_from(clients).unwrap()];
    // In the end all that is in flight returns.
    let is_idle = |client: &Client| matches!(client, Client::Idle);
    while history.len() < operations() || !at_work.iter().all(is_idle) {
        let process = below(clients);
        let client = &mut at_work[usize::try_from(process).unwrap()];
        match *client {
            Client::Idle if history.len() >= operations() => {}
            Client::Idle => {
                *client = Client::InFlight(history.len(), false);
                let op = if below(2) == 0 { QueueOp::Take(Removed::Unknown) } else { QueueOp::Put(value) };
                value += 1;
                history.push(Operation::crashed(process.cast_signed(), op, now));
                now += 1;
            }
            Client::InFlight(at, false) => {
                *client = Client::InFlight(at, true);
                let operation = &mut history[at];
                match operation.op {
                    QueueOp::Put(value) => held.push_back(value),
                    QueueOp::Take(_) => {
                        let removed = take(&mut held, below(1 << 20));
                        operation.op = QueueOp::Take(removed.map_or(Removed::Nothing, Removed::Value));
                    }
                }
            }
            Client::InFlight(at, true) => {
                *client = Client::Idle;
                history[at].ret = Some(now);
                now += 1;
            }
        }
    }
    history
}

fn hold<S: Spec<Op = QueueOp> + Default>(take: fn(&mut VecDeque<i64>, u64) -> Option<i64>) {
    let mut history = simulate(20, take);
    let model = S::default();
    assert_eq!(check(&model, &history, &Budget::default()).verdict(), Verdict::Valid, "{}", S::NAME);
    // Near the end somebody takes what was taken long ago.
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
    // What it took instead may be missed while it is in flight.
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
