//! One test per model: operations that are few enough to be enumerated and can contradict each other.

use super::hold_model;
use check_register::models::*;

#[test]
fn register() {
    hold_model::<PlainRegister>(&[
        RegisterOp::Write(1),
        RegisterOp::Write(2),
        RegisterOp::Read(1),
        RegisterOp::Read(2),
    ]);
}

#[test]
fn cas_register() {
    hold_model::<CasRegister>(&[
        RegisterOp::Write(1),
        RegisterOp::Read(1),
        RegisterOp::Read(2),
        RegisterOp::Cas(1, 2),
        RegisterOp::Cas(2, 1),
    ]);
}

#[test]
fn multi_register() {
    let read = |key, value| RegisterAccess::Read { key, value };
    let write = |key, value| RegisterAccess::Write { key, value };
    hold_model::<MultiRegister>(&[
        [write(0, 1), write(1, 1)].into(),
        [read(0, 1), write(0, 2)].into(),
        [read(0, 2), read(1, 1)].into(),
        [write(1, 2)].into(),
        [read(1, 2)].into(),
    ]);
    // Each transaction on one key, so that the keys are parts.
    hold_model::<MultiRegister>(&[
        [write(0, 1)].into(),
        [read(0, 1), write(0, 2)].into(),
        [read(0, 2)].into(),
        [write(1, 2)].into(),
        [read(1, 2)].into(),
    ]);
}

#[test]
fn mutex() {
    hold_model::<Mutex>(&[LockOp::Acquire(0), LockOp::Release(0)]);
}

#[test]
fn owner_mutex() {
    hold_model::<OwnerMutex>(&[LockOp::Acquire(0), LockOp::Release(0), LockOp::Acquire(1), LockOp::Release(1)]);
}

#[test]
fn reentrant_mutex() {
    hold_model::<ReentrantMutex>(&[LockOp::Acquire(0), LockOp::Release(0), LockOp::Acquire(1), LockOp::Release(1)]);
}

#[test]
fn semaphore() {
    hold_model::<Semaphore>(&[SemaphoreOp::Acquire(1), SemaphoreOp::Release(1), SemaphoreOp::Acquire(2)]);
}

fn queue_ops() -> Vec<QueueOp> {
    let taken = [Removed::Value(1), Removed::Value(2), Removed::Nothing, Removed::Unknown];
    [QueueOp::Put(1), QueueOp::Put(2)].into_iter().chain(taken.map(QueueOp::Take)).collect()
}

#[test]
fn fifo_queue() {
    hold_model::<FifoQueue>(&queue_ops());
}

#[test]
fn unordered_queue() {
    hold_model::<UnorderedQueue>(&queue_ops());
    // Without takes of unknown result, the values are parts.
    hold_model::<UnorderedQueue>(&queue_ops()[..4]);
}

#[test]
fn stack() {
    hold_model::<Stack>(&queue_ops());
}

#[test]
fn deque() {
    use DequeOp::{Pop, Push};
    use End::{Back, Front};
    hold_model::<Deque>(&[
        Push(Front, 1),
        Push(Back, 2),
        Pop(Front, Removed::Value(1)),
        Pop(Back, Removed::Value(1)),
        Pop(Front, Removed::Value(2)),
        Pop(Back, Removed::Nothing),
        Pop(Back, Removed::Unknown),
    ]);
    // Operations at one end, so that the monitors decide what they can.
    let of_queue = queue_ops().into_iter().map(|op| match op {
        QueueOp::Put(value) => Push(Front, value),
        QueueOp::Take(removed) => Pop(Back, removed),
    });
    hold_model::<Deque>(&of_queue.collect::<Vec<_>>());
}

#[test]
fn priority_queue() {
    hold_model::<PriorityQueue>(&queue_ops());
}

#[test]
fn set() {
    hold_model::<Set>(&[SetOp::Add(1), SetOp::Add(2), SetOp::Read([1].into()), SetOp::Read([1, 2].into())]);
}

#[test]
fn counter() {
    hold_model::<Counter>(&[CounterOp::Add(1), CounterOp::Add(-2), CounterOp::Read(1), CounterOp::Read(-1)]);
}

#[test]
fn kv() {
    let op = |key, action| KvOp { key, action };
    hold_model::<Kv>(&[
        op(0, KvAction::Put("a".into())),
        op(0, KvAction::Append("b".into())),
        op(0, KvAction::Get("ab".into())),
        op(1, KvAction::Append("b".into())),
        op(1, KvAction::Get("b".into())),
    ]);
}
