//! Memory as C++20 and Rust define it, without load buffering: a load may return an older value.
//!
//! Lahav, Vafeiadis, Kang, Hur and Dreyer, "Repairing Sequential Consistency in C/C++11" (PLDI 2017), as an operational
//! model in the manner of Kang and others, "A Promising Semantics for Relaxed-Memory Concurrency" (POPL 2017), without
//! promises. Each atomic has its **messages**, in the order in which they were stored. A **view** says which message of
//! each atomic is the oldest that may still be read. A thread has three: what it has seen; what an acquire fence would
//! let it see; and what it had seen at its last release fence. A message has the view that who acquires it gets.
//!
//! Where this is stronger than the language: a store comes after all stores that were executed before it; a fence that is
//! sequentially consistent comes before or after every other step as a whole; and a thread reads the same old message
//! no more than [`READS_MAX`] times, or a loop that waits might never end. So what is found can happen, and a few things
//! that can happen are not found.
//!
//! Locks, channels and all else hand on views: whoever changes or lets go of something leaves its view there, and who
//! takes it or waits for it gets it. Those that only look, such as readers of a lock, leave theirs apart, for those that
//! change something: two that only look can change places.

use super::{Execution, Pick};
use crate::ids::{index, small};
use crate::op::{Kind, ObjectId, Op, Picks, ThreadId, extra};
use std::sync::atomic::Ordering;

/// Loads of a thread that return the same message although it may see a newer one, at most.
const READS_MAX: u32 = 2;

/// Messages before the newest one that are remembered.
const OLD_MAX: usize = 15;

/// The oldest message of each atomic that may be read; 0 where nothing is said.
#[derive(Clone, Debug, Default)]
struct View(Vec<u32>);

impl View {
    fn get(&self, atomic: usize) -> u32 {
        self.0.get(atomic).copied().unwrap_or(0)
    }

    fn raise(&mut self, atomic: usize, time: u32) {
        if self.0.len() <= atomic {
            self.0.resize(atomic + 1, 0);
        }
        self.0[atomic] = self.0[atomic].max(time);
    }

    fn join(&mut self, other: &View) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            *own = (*own).max(*other);
        }
    }

    fn has_all_of(&self, other: &View) -> bool {
        other.0.iter().enumerate().all(|(atomic, time)| self.get(atomic) >= *time)
    }
}

/// What was stored.
#[derive(Clone, Debug)]
struct Message {
    bits: u64,
    view: View,
}

/// The messages of an atomic.
#[derive(Debug, Default)]
struct Atomic {
    messages: Vec<Message>,
    /// The oldest one that an access that is sequentially consistent may read.
    consistent: u32,
    /// The oldest one that any may read: someone had the atomic for itself.
    oldest: u32,
}

/// What a thread may read.
#[derive(Clone, Debug, Default)]
struct Own {
    seen: View,
    /// What it sees from its next acquire fence on.
    acquired: View,
    released: View,
    /// Of each atomic, the old message that it read last, and how often.
    reads: Vec<(u32, u32)>,
}

/// What was left at an object: by those that changed it, and by those that only looked.
#[derive(Debug, Default)]
struct Left {
    by_changes: View,
    by_looks: View,
}

/// All messages and views of an execution.
#[derive(Debug, Default)]
pub(super) struct Memory {
    atomics: Vec<Atomic>,
    /// By the numbers of objects: which atomic it is, from 1 on.
    numbers: Vec<usize>,
    left: Vec<Left>,
    threads: Vec<Own>,
    /// What fences that are sequentially consistent have seen.
    fenced: View,
}

fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

impl Memory {
    fn own(&mut self, thread: ThreadId) -> &mut Own {
        if self.threads.len() <= thread.at() {
            self.threads.resize_with(thread.at() + 1, Own::default);
        }
        &mut self.threads[thread.at()]
    }

    /// The number of an atomic, which holds this now.
    fn atomic(&mut self, object: ObjectId, now: u64) -> usize {
        let at = index(object.0);
        if self.numbers.len() <= at {
            self.numbers.resize(at + 1, 0);
        }
        if self.numbers[at] == 0 {
            self.atomics.push(Atomic::default());
            self.numbers[at] = self.atomics.len();
        }
        let number = self.numbers[at] - 1;
        let atomic = &mut self.atomics[number];
        if atomic.messages.last().is_none_or(|last| last.bits != now) {
            // It was made with this value, or set through an exclusive borrow.
            atomic.oldest = small(atomic.messages.len());
            atomic.messages.push(Message { bits: now, view: View::default() });
        }
        number
    }

    fn left(&mut self, object: ObjectId) -> &mut Left {
        let at = index(object.0);
        if self.left.len() <= at {
            self.left.resize_with(at + 1, Left::default);
        }
        &mut self.left[at]
    }

    fn release(&mut self, thread: ThreadId, object: ObjectId, by_change: bool) {
        let seen = self.own(thread).seen.clone();
        let left = self.left(object);
        if by_change { left.by_changes.join(&seen) } else { left.by_looks.join(&seen) }
    }

    fn acquire(&mut self, thread: ThreadId, object: ObjectId, to_change: bool) {
        let left = self.left(object);
        let mut view = left.by_changes.clone();
        if to_change {
            view.join(&left.by_looks);
        }
        self.own(thread).seen.join(&view);
    }

    /// The oldest and the newest message that a thread may read.
    fn range(&mut self, thread: ThreadId, atomic: usize, order: Ordering) -> (u32, u32) {
        let Atomic { messages, consistent, oldest: first } = &self.atomics[atomic];
        let newest = small(messages.len() - 1);
        let mut oldest = newest.saturating_sub(small(OLD_MAX)).max(*first);
        if order == Ordering::SeqCst {
            oldest = oldest.max(*consistent);
        }
        let own = self.own(thread);
        oldest = oldest.max(own.seen.get(atomic));
        if own.reads.get(atomic).is_some_and(|(time, count)| *time == oldest && *count >= READS_MAX) {
            oldest = (oldest + 1).min(newest);
        }
        (oldest, newest)
    }

    /// A thread reads a message. Returns whether that makes others see less that is old.
    fn read(&mut self, thread: ThreadId, atomic: usize, time: u32, order: Ordering) -> bool {
        let Atomic { messages, consistent, .. } = &mut self.atomics[atomic];
        let message = messages[index(time)].clone();
        let is_old = index(time) + 1 < messages.len();
        let raises = order == Ordering::SeqCst && *consistent < time;
        if raises {
            *consistent = time;
        }
        let own = self.own(thread);
        own.seen.raise(atomic, time);
        if acquires(order) {
            own.seen.join(&message.view);
        } else {
            own.acquired.join(&message.view);
        }
        if is_old {
            if own.reads.len() <= atomic {
                own.reads.resize(atomic + 1, (0, 0));
            }
            let (last, count) = own.reads[atomic];
            own.reads[atomic] = (time, if last == time { count + 1 } else { 1 });
        }
        raises
    }

    /// A thread stores. `carried` is the view that goes on from the message before, of a read-modify-write. Returns
    /// whether that is anything new.
    fn store(&mut self, thread: ThreadId, atomic: usize, bits: u64, order: Ordering, carried: Option<View>) -> bool {
        let is_update = carried.is_some();
        let own = self.own(thread);
        let mut view = carried.unwrap_or_default();
        view.join(if releases(order) { &own.seen } else { &own.released });
        let Atomic { messages, consistent, .. } = &mut self.atomics[atomic];
        let newest = small(messages.len() - 1);
        if let Some(last) = messages.last() {
            let is_known = order != Ordering::SeqCst || *consistent == newest;
            if is_update && last.bits == bits && is_known && last.view.has_all_of(&view) {
                return false;
            }
        }
        let time = newest + 1;
        view.raise(atomic, time);
        messages.push(Message { bits, view });
        if order == Ordering::SeqCst {
            *consistent = time;
        }
        if let Some(old) = messages.len().checked_sub(OLD_MAX + 2) {
            messages[old].view = View::default();
        }
        self.own(thread).seen.raise(atomic, time);
        true
    }
}

impl Execution {
    /// A load of an atomic that holds `latest`. Returns what it reads.
    pub(crate) fn load(&mut self, object: ObjectId, order: Ordering, latest: u64) -> u64 {
        self.load_unless(object, order, latest, None).unwrap_or(latest)
    }

    /// A load that reads the newest message.
    pub(crate) fn load_latest(&mut self, object: ObjectId, order: Ordering, latest: u64) {
        if self.limits.is_weak {
            let atomic = self.memory.atomic(object, latest);
            let newest = small(self.memory.atomics[atomic].messages.len() - 1);
            self.read(object, atomic, newest, order);
        }
    }

    /// An exchange may fail because it reads an older value, which is another one than it expects. Returns that value.
    pub(crate) fn fails(&mut self, object: ObjectId, order: Ordering, latest: u64, expected: u64) -> Option<u64> {
        self.load_unless(object, order, latest, Some(expected))
    }

    /// A load of one of the messages that may be read, the newest one first. If it must not return a certain value, only
    /// older messages with other values are read, and nothing is if none is picked.
    fn load_unless(&mut self, object: ObjectId, order: Ordering, latest: u64, unless: Option<u64>) -> Option<u64> {
        if !self.limits.is_weak {
            return None;
        }
        let atomic = self.memory.atomic(object, latest);
        let (oldest, newest) = self.memory.range(self.current, atomic, order);
        let messages = &self.memory.atomics[atomic].messages;
        let old = (oldest..newest).rev().filter(|time| Some(messages[index(*time)].bits) != unless);
        let old: Vec<u32> = old.take(index(Picks::OPTIONS_MAX) - 1).collect();
        let picked = self.pick(Pick::Message, small(old.len() + 1));
        let time = match picked.checked_sub(1) {
            Some(older) => old[index(older)],
            None if unless.is_some() => return None,
            None => newest,
        };
        self.read(object, atomic, time, order);
        Some(self.memory.atomics[atomic].messages[index(time)].bits)
    }

    fn read(&mut self, object: ObjectId, atomic: usize, time: u32, order: Ordering) {
        if self.memory.read(self.current, atomic, time, order) {
            self.touch(object);
        }
    }

    /// A store to an atomic that held `before`. Returns whether it has changed anything.
    pub(crate) fn store(&mut self, object: ObjectId, order: Ordering, before: u64, bits: u64) -> bool {
        if !self.limits.is_weak {
            return before != bits;
        }
        let atomic = self.memory.atomic(object, before);
        self.memory.store(self.current, atomic, bits, order, None)
    }

    /// The same of a read-modify-write.
    pub(crate) fn update(&mut self, object: ObjectId, order: Ordering, before: u64, bits: u64) -> bool {
        if !self.limits.is_weak {
            return before != bits;
        }
        let atomic = self.memory.atomic(object, before);
        let newest = self.memory.atomics[atomic].messages.len() - 1;
        let carried = self.memory.atomics[atomic].messages[newest].view.clone();
        let raises = self.memory.read(self.current, atomic, small(newest), order);
        self.memory.store(self.current, atomic, bits, order, Some(carried)) || raises
    }

    /// A fence. One that is sequentially consistent is a step that depends on every other.
    pub(crate) fn fence(&mut self, order: Ordering) {
        if !self.limits.is_weak {
            return;
        }
        let thread = self.current;
        let own = self.memory.own(thread);
        if acquires(order) {
            own.seen.join(&own.acquired);
        }
        if order == Ordering::SeqCst {
            let mut seen = own.seen.clone();
            seen.join(&self.memory.fenced);
            for (number, atomic) in self.memory.atomics.iter_mut().enumerate() {
                seen.raise(number, atomic.consistent);
                atomic.consistent = atomic.consistent.max(seen.get(number));
            }
            self.memory.fenced = seen.clone();
            self.memory.own(thread).seen = seen;
            self.mark(extra::MANY);
        }
        let own = self.memory.own(thread);
        if releases(order) {
            own.released = own.seen.clone();
        }
    }

    /// A thread sees what another one has seen that spawns it.
    pub(super) fn inherit(&mut self, child: ThreadId) {
        if self.limits.is_weak {
            let seen = self.memory.own(self.current).seen.clone();
            self.memory.own(child).seen = seen;
        }
    }

    /// Leaves what the running thread has seen at an object that it changes.
    pub(crate) fn release(&mut self, object: ObjectId) {
        if self.limits.is_weak {
            self.memory.release(self.current, object, true);
        }
    }

    /// Takes what was left at an object by those that have changed it.
    pub(crate) fn acquire(&mut self, object: ObjectId) {
        if self.limits.is_weak {
            self.memory.acquire(self.current, object, false);
        }
    }

    /// Hands on views at the beginning of a step on anything but an atomic.
    pub(super) fn synchronize(&mut self, thread: ThreadId, op: &Op) {
        if !self.limits.is_weak || op.object == ObjectId::NONE {
            return;
        }
        let memory = &mut self.memory;
        match op.kind {
            Kind::Lock | Kind::TryLock | Kind::Relock => memory.acquire(thread, op.object, true),
            // Of an atomic that is loaded nothing is left like this.
            Kind::ReadLock
            | Kind::TryReadLock
            | Kind::Once
            | Kind::Count
            | Kind::Load
            | Kind::Receive
            | Kind::Sent
            | Kind::Join
            | Kind::Park
            | Kind::Pass => memory.acquire(thread, op.object, false),
            Kind::Unlock | Kind::Send | Kind::Disconnect | Kind::OnceEnd | Kind::Drop | Kind::Unpark => {
                memory.release(thread, op.object, true);
            }
            Kind::ReadUnlock => memory.release(thread, op.object, false),
            Kind::Wait if op.also != ObjectId::NONE => memory.release(thread, op.also, true),
            Kind::Arrive => {
                memory.release(thread, op.object, true);
                memory.acquire(thread, op.object, true);
            }
            _ => {}
        }
    }
}
