//! Memory as C++20 and Rust define it, without load buffering: a load may return an older value.
//!
//! Lahav, Vafeiadis, Kang, Hur and Dreyer, "Repairing Sequential Consistency in C/C++11" (PLDI 2017), as an operational
//! model in the manner of Kang and others, "A Promising Semantics for Relaxed-Memory Concurrency" (POPL 2017), without
//! promises. Each atomic has its **messages**, in the order in which they were stored. A **view** determines which
//! message of each atomic is the oldest that may still be read. A thread has three: the current one; the one after an
//! acquire fence; and the one at its last release fence. A message has the view that a thread gets when it acquires the
//! message.
//!
//! This model is stronger than the language in some points: a store comes after all stores that were executed before
//! it; a fence that is sequentially consistent comes before or after every other step as a whole; a thread reads the
//! same old message at most [`READS_MAX`] times, or a loop that waits might never end; and the order of operations that
//! are sequentially consistent always agrees with happens-before, where C++20 and RC11 require that only of "strongly
//! happens before" (the weak outcome of the litmus test Z6.U is never produced). So every reported behaviour is
//! possible, and a few possible behaviours are not found.
//!
//! Locks, channels and all other types pass on views: a thread that changes or releases an object stores its view
//! there, and a thread that acquires the object or waits for it gets this view. Threads that only read, such as readers
//! of a lock, store their views separately, for threads that change something: two operations that only read can be
//! exchanged.
//!
//! Without weak memory, a load reads the newest message. Views are kept nevertheless: they determine happens-before.

use super::view::View;
use super::{Execution, Value};
use crate::ids::{index, small};
use crate::op::{Kind, ObjectId, Op, ThreadId, extra};
use crate::scheduler::Pick;
use std::sync::atomic::Ordering;

/// The maximum number of loads of a thread that return the same message although a newer one is readable.
const READS_MAX: u32 = 2;

/// The number of messages that are kept: the newest one and those before it.
const KEPT_MAX: usize = 16;

/// The stored value.
#[derive(Debug, Default)]
struct Message {
    bits: u64,
    view: View,
}

/// The messages of an atomic, numbered from 0.
#[derive(Debug, Default)]
struct Atomic {
    /// The newest messages, each at its number modulo [`KEPT_MAX`]. Messages left by an earlier execution are
    /// overwritten before they are read.
    ring: Vec<Message>,
    /// The number of messages stored so far.
    count: u32,
    /// The oldest message that a sequentially consistent access may read.
    consistent: u32,
    /// The oldest message that any thread may read: the last one stored while a thread had exclusive access.
    oldest: u32,
}

/// The views of a thread, which determine the messages that it may read.
#[derive(Clone, Debug, Default)]
pub(super) struct Own {
    pub(super) seen: View,
    /// The view that the thread gets at its next acquire fence.
    acquired: View,
    released: View,
    /// For each atomic, the old message that the thread read last, and how often.
    reads: Vec<(u32, u32)>,
}

/// The views stored at an object: by threads that changed it, and by threads that only read it. At the object of a
/// thread, the second is the view of the threads that gave it its token; at the object of a counted pointer, the view
/// of the threads that dropped a weak pointer.
#[derive(Debug, Default)]
struct Left {
    by_changes: View,
    by_looks: View,
}

/// All messages and views of an execution.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The atomics of this execution come first; the rest is memory from earlier executions.
    atomics: Vec<Atomic>,
    atomics_met: usize,
    /// By object number: the number of the atomic, counted from 1; 0 for an object that is no atomic.
    numbers: Vec<usize>,
    left: Vec<Left>,
    threads: Vec<Own>,
    /// The view of sequentially consistent fences.
    fenced: View,
    /// Whether loads may return older values.
    is_weak: bool,
}

impl Atomic {
    /// The number of the newest message. An atomic has a message from its first use on.
    #[inline]
    fn newest(&self) -> u32 {
        self.count - 1
    }

    #[inline]
    fn message(&self, time: u32) -> &Message {
        &self.ring[index(time) % KEPT_MAX]
    }

    /// The numbers of the messages from `oldest` up to, but without, `newest`, in descending order. Skips messages with
    /// the value `unless`.
    fn older(&self, oldest: u32, newest: u32, unless: Option<u64>) -> impl Iterator<Item = u32> {
        let differs = move |time: &u32| Some(self.message(*time).bits) != unless;
        (oldest..newest).rev().filter(differs)
    }

    /// Returns the slot for a message after the newest one, and its number. The slot may contain an old message.
    #[inline]
    fn add(&mut self) -> (u32, &mut Message) {
        let time = self.count;
        self.count += 1;
        let at = index(time) % KEPT_MAX;
        if at == self.ring.len() {
            self.ring.push(Message::default());
        }
        (time, &mut self.ring[at])
    }

    /// Starts the history of an atomic that was created with this value, or set through an exclusive borrow.
    fn begin_anew(&mut self, bits: u64) {
        let (time, message) = self.add();
        message.bits = bits;
        message.view.clear();
        self.oldest = time;
    }
}

fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

impl Memory {
    /// Discards the state of the previous execution and keeps its memory.
    pub(super) fn begin(&mut self, is_weak: bool) {
        for atomic in &mut self.atomics[..self.atomics_met] {
            (atomic.count, atomic.consistent, atomic.oldest) = (0, 0, 0);
        }
        self.atomics_met = 0;
        self.numbers.clear();
        self.left.clear();
        for own in &mut self.threads {
            own.seen.clear();
            own.acquired.clear();
            own.released.clear();
            own.reads.clear();
        }
        self.fenced.clear();
        self.is_weak = is_weak;
    }

    #[inline]
    pub(super) fn own(&mut self, thread: ThreadId) -> &mut Own {
        if self.threads.len() <= thread.at() {
            self.threads.resize_with(thread.at() + 1, Own::default);
        }
        &mut self.threads[thread.at()]
    }

    /// The index of an atomic, whose current value is `now`.
    fn atomic(&mut self, object: ObjectId, now: u64) -> usize {
        let at = index(object.0);
        if self.numbers.len() <= at {
            self.numbers.resize(at + 1, 0);
        }
        if self.numbers[at] == 0 {
            self.meet(at);
        }
        let number = self.numbers[at] - 1;
        let atomic = &mut self.atomics[number];
        if atomic.count == 0 || atomic.message(atomic.newest()).bits != now {
            atomic.begin_anew(now);
        }
        number
    }

    /// Assigns an index to an atomic.
    #[cold]
    fn meet(&mut self, object: usize) {
        if self.atomics.len() == self.atomics_met {
            self.atomics.push(Atomic::default());
        }
        self.atomics_met += 1;
        self.numbers[object] = self.atomics_met;
    }

    /// The view of a thread, and the views stored at an object.
    fn meeting(&mut self, thread: ThreadId, object: ObjectId) -> (&mut View, &mut Left) {
        let at = index(object.0);
        if self.left.len() <= at {
            self.left.resize_with(at + 1, Left::default);
        }
        self.own(thread);
        (&mut self.threads[thread.at()].seen, &mut self.left[at])
    }

    fn release(&mut self, thread: ThreadId, object: ObjectId, by_change: bool) {
        let (seen, left) = self.meeting(thread, object);
        if by_change { left.by_changes.join(seen) } else { left.by_looks.join(seen) }
    }

    fn acquire(&mut self, thread: ThreadId, object: ObjectId, to_change: bool) {
        let (seen, left) = self.meeting(thread, object);
        seen.join(&left.by_changes);
        if to_change {
            seen.join(&left.by_looks);
        }
    }

    /// Acquires only the views stored by threads that did not change an object.
    fn acquire_looks(&mut self, thread: ThreadId, object: ObjectId) {
        let (seen, left) = self.meeting(thread, object);
        seen.join(&left.by_looks);
    }

    /// The oldest and the newest message that a thread may read.
    fn range(&mut self, thread: ThreadId, atomic: usize, order: Ordering) -> (u32, u32) {
        let Atomic { consistent, oldest: first, .. } = &self.atomics[atomic];
        let newest = self.atomics[atomic].newest();
        if !self.is_weak {
            return (newest, newest);
        }
        let mut oldest = newest.saturating_sub(small(KEPT_MAX - 1)).max(*first);
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

    /// Reads a message. Returns whether other threads can now read fewer old messages.
    fn read(&mut self, thread: ThreadId, atomic: usize, time: u32, order: Ordering) -> bool {
        self.own(thread);
        let Memory { atomics, threads, is_weak, .. } = self;
        let memory = &mut atomics[atomic];
        let is_old = time < memory.newest();
        let raises = *is_weak && order == Ordering::SeqCst && memory.consistent < time;
        if raises {
            memory.consistent = time;
        }
        let own = &mut threads[thread.at()];
        own.seen.raise(atomic, time);
        let view = &memory.message(time).view;
        if acquires(order) {
            own.seen.join(view);
        } else {
            own.acquired.join(view);
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

    /// Stores a value for a thread. A read-modify-write also passes on the view of the message before. Returns false if
    /// the store changes neither the value nor any view.
    fn store(&mut self, thread: ThreadId, atomic: usize, bits: u64, order: Ordering, is_update: bool) -> bool {
        self.own(thread);
        let Memory { atomics, threads, is_weak, .. } = self;
        let memory = &mut atomics[atomic];
        let own = &mut threads[thread.at()];
        let newest = memory.newest();
        let base = if releases(order) { &own.seen } else { &own.released };
        let last = memory.message(newest);
        if last.bits == bits {
            let mut view = base.clone();
            if is_update {
                view.join(&last.view);
            }
            let is_known = order != Ordering::SeqCst || memory.consistent == newest;
            let is_same = if *is_weak {
                is_update && is_known && last.view.has_all_of(&view)
            } else {
                last.view.is_as_late_as(&view)
            };
            if is_same {
                return false;
            }
        }
        // A thread that acquires and releases has already joined the message's view to its own.
        let is_carried = is_update && !(acquires(order) && releases(order));
        let carried = is_carried.then(|| last.view.clone());
        let (time, message) = memory.add();
        message.bits = bits;
        message.view.clone_from(base);
        if let Some(carried) = carried {
            message.view.join(&carried);
        }
        message.view.raise(atomic, time);
        if order == Ordering::SeqCst {
            memory.consistent = time;
        }
        own.seen.raise(atomic, time);
        true
    }
}

impl Execution {
    /// Loads an atomic whose newest value is `latest`. Returns the value that is read.
    pub(crate) fn load(&mut self, object: ObjectId, order: Ordering, latest: u64) -> u64 {
        self.load_unless(object, order, latest, None).unwrap_or(latest)
    }

    /// Loads the newest message.
    pub(crate) fn load_latest(&mut self, object: ObjectId, order: Ordering, latest: u64) {
        let atomic = self.memory.atomic(object, latest);
        let newest = self.memory.atomics[atomic].newest();
        self.read(object, atomic, newest, order);
        self.show(object, Some(latest), None);
    }

    /// Returns the older value that makes an exchange fail, if the scheduler picks one: a value other than the expected
    /// one.
    pub(crate) fn fails(&mut self, object: ObjectId, order: Ordering, latest: u64, expected: u64) -> Option<u64> {
        self.load_unless(object, order, latest, Some(expected))
    }

    /// Loads one of the messages that may be read; the default pick is the newest one. If the result must differ from
    /// the value `unless`, only older messages with other values are options, and the default pick is none of them.
    fn load_unless(&mut self, object: ObjectId, order: Ordering, latest: u64, unless: Option<u64>) -> Option<u64> {
        let atomic = self.memory.atomic(object, latest);
        let (oldest, newest) = self.memory.range(self.current, atomic, order);
        let older = self.memory.atomics[atomic].older(oldest, newest, unless).count();
        let picked = self.pick(Pick::Message, small(older + 1));
        let time = match picked.checked_sub(1) {
            Some(skipped) => self.memory.atomics[atomic].older(oldest, newest, unless).nth(index(skipped)),
            None if unless.is_some() => return None,
            None => Some(newest),
        };
        let time = time.expect("the message was counted");
        self.read(object, atomic, time, order);
        let bits = self.memory.atomics[atomic].message(time).bits;
        self.show(object, Some(bits), None);
        Some(bits)
    }

    /// Records what the current step read of an atomic, and what it stored, for the reader.
    fn show(&mut self, object: ObjectId, before: Option<u64>, after: Option<u64>) {
        if self.steps.last().is_some_and(|step| step.op.object == object) {
            self.values.push(Value::new(self.steps.len() - 1, before, after));
        }
    }

    fn read(&mut self, object: ObjectId, atomic: usize, time: u32, order: Ordering) {
        if self.memory.read(self.current, atomic, time, order) {
            self.touch(object);
        }
    }

    /// Stores to an atomic whose value was `before`. Returns whether the value has changed.
    pub(crate) fn store(&mut self, object: ObjectId, order: Ordering, before: u64, bits: u64) -> bool {
        self.show(object, None, Some(bits));
        let atomic = self.memory.atomic(object, before);
        self.memory.store(self.current, atomic, bits, order, false)
    }

    /// Stores the result of a read-modify-write on an atomic whose value was `before`. Returns whether the value or a
    /// view has changed.
    pub(crate) fn update(&mut self, object: ObjectId, order: Ordering, before: u64, bits: u64) -> bool {
        self.show(object, Some(before), Some(bits));
        let atomic = self.memory.atomic(object, before);
        let newest = self.memory.atomics[atomic].newest();
        let raises = self.memory.read(self.current, atomic, newest, order);
        self.memory.store(self.current, atomic, bits, order, true) || raises
    }

    /// Executes a fence. A step with a sequentially consistent fence depends on every other step.
    pub(crate) fn fence(&mut self, order: Ordering) {
        let thread = self.current;
        self.memory.own(thread);
        let Memory { atomics, atomics_met, threads, fenced, is_weak, .. } = &mut self.memory;
        let own = &mut threads[thread.at()];
        if acquires(order) {
            own.seen.join(&own.acquired);
        }
        if order == Ordering::SeqCst {
            own.seen.join_times(fenced);
            for (number, atomic) in atomics[..*atomics_met].iter_mut().enumerate() {
                own.seen.raise(number, atomic.consistent);
                atomic.consistent = atomic.consistent.max(own.seen.get(number));
            }
            fenced.join_times(&own.seen);
        }
        if releases(order) {
            own.released.clone_from(&own.seen);
        }
        if order == Ordering::SeqCst && *is_weak {
            self.mark(extra::MANY);
        }
    }

    /// Adds the view of a thread to that of a thread that it spawns.
    pub(super) fn inherit(&mut self, child: ThreadId) {
        let seen = self.memory.own(self.current).seen.clone();
        self.memory.own(child).seen.clone_from(&seen);
    }

    /// Returns the view of the running thread, to be attached to a message.
    pub(crate) fn hand_on(&mut self) -> View {
        self.memory.own(self.current).seen.clone()
    }

    /// Adds the view of a message's sender to that of the running thread.
    pub(crate) fn take_in(&mut self, seen: &View) {
        self.memory.own(self.current).seen.join(seen);
    }

    /// Stores the view of the running thread at an object that it changes.
    pub(crate) fn release(&mut self, object: ObjectId) {
        self.memory.release(self.current, object, true);
    }

    /// Stores the view of the running thread at an object that it only reads.
    pub(crate) fn release_apart(&mut self, object: ObjectId) {
        self.memory.release(self.current, object, false);
    }

    /// Adds the views stored at an object by threads that changed it; if the running thread is about to change it, also
    /// those of threads that only read it.
    pub(crate) fn acquire(&mut self, object: ObjectId, to_change: bool) {
        self.memory.acquire(self.current, object, to_change);
    }

    /// Passes on views at the beginning of a step whose object is no atomic.
    pub(super) fn synchronize(&mut self, thread: ThreadId, op: &Op) {
        if op.object == ObjectId::NONE {
            return;
        }
        let memory = &mut self.memory;
        match op.kind {
            Kind::Lock | Kind::Relock => memory.acquire(thread, op.object, true),
            // A token passes on the view of the thread that gave it; the end of a thread passes on its own view. Both
            // views are stored at the thread's object.
            Kind::Park => memory.acquire_looks(thread, op.object),
            Kind::ReadLock | Kind::Once | Kind::Join | Kind::Pass => {
                memory.acquire(thread, op.object, false);
            }
            Kind::Unlock | Kind::Disconnect | Kind::OnceEnd => {
                memory.release(thread, op.object, true);
            }
            Kind::ReadUnlock | Kind::Unpark => memory.release(thread, op.object, false),
            Kind::Wait if op.also != ObjectId::NONE => memory.release(thread, op.also, true),
            Kind::Arrive => {
                memory.release(thread, op.object, true);
                memory.acquire(thread, op.object, true);
            }
            _ => {}
        }
    }
}
