//! Measures the search if one client inserts many values, some of them twice, and removes them all:
//! `cargo run --release --example fill -- stack 20000 [wing-gong]`.
//!
//! No operations are concurrent, so any search has one state after another. This measures the cost of a state.

use check_register::models::{FifoQueue, Kv, KvAction, KvOp, QueueOp, Removed, Set, SetOp, Stack, UnorderedQueue};
use check_register::{Engine, Model, Operation, Settings, check_with};
use history_core::Budget;
use history_core::cast::Cast as _;
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, count, engine @ ..] = &arguments[..] else { panic!("expected a model and how many values") };
    let count: i64 = count.parse().expect("a number");
    let engine = if engine.is_empty() { Engine::JustInTime } else { Engine::WingGong };
    let put = |at: i64| QueueOp::Put(at / 2);
    let take = |at: i64| QueueOp::Take(Removed::Value(at / 2));
    let puts = || (0..count).map(put);
    // Prevents the values of an unordered queue from being split into parts.
    let nothing = || [QueueOp::Take(Removed::Nothing)];
    match &**model {
        "stack" => time(&Stack::default(), engine, puts().chain((0..count).rev().map(take))),
        "fifo-queue" => time(&FifoQueue::default(), engine, puts().chain((0..count).map(take))),
        "unordered-queue" => {
            time(&UnorderedQueue::default(), engine, nothing().into_iter().chain(puts()).chain((0..count).map(take)));
        }
        "linearizable-set" => {
            let all = SetOp::Read((0..(count + 1) / 2).collect());
            time(&Set::default(), engine, (0..count).map(|at| SetOp::Add(at / 2)).chain([all]));
        }
        "kv" => {
            let (appended, all) = (|at: i64| format!(" {}", at / 2), (0..count).map(|at| format!(" {}", at / 2)));
            let all = KvAction::Get(all.collect::<String>().into());
            let appends = (0..count).map(|at| KvAction::Append(appended(at).into()));
            time(&Kv::default(), engine, appends.chain([all]).map(|action| KvOp { key: 0, action }));
        }
        other => panic!("no such model: {other}"),
    }
}

fn time<M: Model>(model: &M, engine: Engine, ops: impl Iterator<Item = M::Op>) {
    let operation = |(at, op): (u64, M::Op)| Operation::new(0, op, 2 * at, 2 * at + 1);
    let operations: Vec<Operation<M::Op>> = (0..).zip(ops).map(operation).collect();
    let start = Instant::now();
    let answer = check_with(model, &operations, Settings { engine, ..Settings::default() }, &Budget::default());
    let seconds = start.elapsed().as_secs_f64();
    println!("{} operations: {:?}, {seconds:.2} s", operations.len().to_u64(), answer.verdict());
}
