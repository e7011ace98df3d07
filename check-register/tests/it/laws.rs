//! The built-in models obey the laws of models.

use check_register::assert_model_laws;
use check_register::models::{
    CasRegister, Counter, CounterOp, Deque, DequeOp, End, FifoQueue, Kv, KvAction, KvOp, LockOp, MultiRegister, Mutex,
    OwnerMutex, PlainRegister, PriorityQueue, QueueOp, ReentrantMutex, RegisterAccess, RegisterOp, Removed, Semaphore,
    SemaphoreOp, Set, SetOp, Stack, UnorderedQueue,
};

fn queue_ops() -> Vec<QueueOp> {
    let taken = [Removed::Value(1), Removed::Value(2), Removed::Nothing, Removed::Unknown];
    [QueueOp::Put(1), QueueOp::Put(2)].into_iter().chain(taken.map(QueueOp::Take)).collect()
}

#[test]
fn registers_and_maps_obey_the_laws() {
    use RegisterOp::{Cas, Read, Write};
    assert_model_laws(&PlainRegister::default(), &[], &[Write(1), Write(2), Read(1), Read(2)]);
    assert_model_laws(&CasRegister::default(), &[5], &[Write(1), Read(1), Read(2), Cas(1, 2), Cas(2, 1)]);
    let read = |key, value| RegisterAccess::Read { key, value };
    let write = |key, value| RegisterAccess::Write { key, value };
    let one: [Box<[RegisterAccess]>; 6] = [
        [write(0, 1)].into(),
        [read(0, 1), write(0, 2)].into(),
        [read(0, 2)].into(),
        [write(1, 2)].into(),
        [read(1, 2)].into(),
        [read(0, 2), read(1, 2)].into(),
    ];
    assert_model_laws(&MultiRegister::default(), &[], &one);
    let op = |key, action| KvOp { key, action };
    let kv = [
        op(0, KvAction::Put("a".into())),
        op(0, KvAction::Append("b".into())),
        op(0, KvAction::Get("ab".into())),
        op(0, KvAction::Get("a".into())),
        op(1, KvAction::Append("b".into())),
        op(1, KvAction::Get("b".into())),
    ];
    assert_model_laws(&Kv::default(), &[], &kv);
}

#[test]
fn queues_obey_the_laws() {
    assert_model_laws(&FifoQueue::default(), &[], &queue_ops());
    assert_model_laws(&UnorderedQueue::default(), &[], &queue_ops());
    assert_model_laws(&UnorderedQueue::default(), &[], &queue_ops()[..4]);
    assert_model_laws(&Stack::default(), &[], &queue_ops());
    assert_model_laws(&PriorityQueue::default(), &[], &queue_ops());
    let of_ends = |(op, end)| match op {
        QueueOp::Put(value) => DequeOp::Push(end, value),
        QueueOp::Take(removed) => DequeOp::Pop(end, removed),
    };
    let ends = [End::Front, End::Back].into_iter().cycle();
    let both_ends: Vec<DequeOp> = queue_ops().into_iter().zip(ends).map(of_ends).collect();
    assert_model_laws(&Deque::default(), &[], &both_ends);
}

#[test]
fn locks_sets_and_counters_obey_the_laws() {
    let locks = [LockOp::Acquire(0), LockOp::Release(0), LockOp::Acquire(1), LockOp::Release(1)];
    assert_model_laws(&Mutex::default(), &[], &locks[..2]);
    assert_model_laws(&OwnerMutex::default(), &[], &locks);
    assert_model_laws(&ReentrantMutex::default(), &[], &locks);
    let permits = [SemaphoreOp::Acquire(1), SemaphoreOp::Release(1), SemaphoreOp::Acquire(2)];
    assert_model_laws(&Semaphore::default(), &[], &permits);
    let set = [SetOp::Add(1), SetOp::Add(2), SetOp::Read([1].into()), SetOp::Read([1, 2].into())];
    assert_model_laws(&Set::default(), &[], &set);
    let counter = [CounterOp::Add(1), CounterOp::Add(-2), CounterOp::Read(1), CounterOp::Read(-1)];
    assert_model_laws(&Counter::default(), &[], &counter);
}
