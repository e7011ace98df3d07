//! The operation before which a managed thread pauses, on an object that other threads can observe.

pub(crate) mod rounds;
pub(crate) mod thread;

use crate::ids::byte;
use std::fmt;
use std::panic::Location;

/// The maximum number of threads in an execution: the number of letters.
pub const THREADS_MAX: usize = 52;

/// A thread of an execution. Threads are numbered in the order in which they are spawned; 0 is the main thread of the
/// program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadId(pub(crate) u8);

impl ThreadId {
    /// The thread with this number; `None` if it is not below [`THREADS_MAX`].
    pub fn new(number: usize) -> Option<ThreadId> {
        (number < THREADS_MAX).then_some(ThreadId(byte(number)))
    }

    /// The number of the thread.
    pub fn at(self) -> usize {
        self.0.into()
    }

    /// The letter of the thread: `a` to `z`, then `A` to `Z`.
    pub fn letter(self) -> char {
        char::from(if self.0 < 26 { b'a' + self.0 } else { b'A' + self.0 - 26 })
    }

    /// The thread of a letter.
    pub fn from_letter(letter: char) -> Option<ThreadId> {
        match letter {
            'a'..='z' => Some(ThreadId(byte(letter) - b'a')),
            'A'..='Z' => Some(ThreadId(byte(letter) - b'A' + 26)),
            _ => None,
        }
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letter())
    }
}

/// Some of an execution's threads.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadSet(pub(crate) u64);

impl ThreadSet {
    /// Returns true if the set contains a thread.
    pub fn contains(self, thread: ThreadId) -> bool {
        self.0 & (1 << thread.0) != 0
    }

    /// The number of threads.
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns true if the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The thread with the lowest number.
    pub fn first(self) -> Option<ThreadId> {
        (self.0 != 0).then(|| ThreadId(byte(self.0.trailing_zeros())))
    }

    /// The thread after the first `skipped` ones, in the order of their numbers.
    pub fn nth(self, skipped: u32) -> Option<ThreadId> {
        let mut rest = self.0;
        for _ in 0..skipped {
            rest &= rest.wrapping_sub(1);
        }
        ThreadSet(rest).first()
    }

    /// All threads of the set, in the order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = ThreadId> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let first = ThreadSet(rest).first()?;
            rest &= rest - 1;
            Some(first)
        })
    }

    /// The same set with one more thread.
    #[must_use]
    pub fn with(self, thread: ThreadId) -> ThreadSet {
        ThreadSet(self.0 | 1 << thread.0)
    }

    /// The same set without one thread.
    #[must_use]
    pub fn without(self, thread: ThreadId) -> ThreadSet {
        ThreadSet(self.0 & !(1 << thread.0))
    }

    pub(crate) fn insert(&mut self, thread: ThreadId) {
        *self = self.with(thread);
    }

    pub(crate) fn remove(&mut self, thread: ThreadId) {
        *self = self.without(thread);
    }
}

impl fmt::Debug for ThreadSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal $writes:literal;)*) => {
        /// The operation on an object.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Kind { $($(#[$doc])* $kind,)* }

        impl Kind {
            /// The text in reports.
            pub fn name(self) -> &'static str {
                match self { $(Kind::$kind => $name,)* }
            }

            /// Returns true if it may change the object; two operations on one object that do not change it
            /// can be exchanged.
            pub fn writes(self) -> bool {
                match self { $(Kind::$kind => $writes,)* }
            }
        }
    };
}

kinds! {
    /// A load of an atomic, or another read.
    Load "load" false;
    /// An atomic's store.
    Store "store" true;
    /// An atomic's read-modify-write.
    Update "update" true;
    /// A mutex is locked.
    Lock "lock" true;
    /// A mutex is locked if it is free.
    TryLock "try lock" true;
    /// A mutex is unlocked.
    Unlock "unlock" true;
    /// A reader-writer lock is locked for reading.
    ReadLock "lock to read" false;
    /// A reader-writer lock is locked for reading, if it can be.
    TryReadLock "try lock to read" false;
    /// A reader releases a reader-writer lock.
    ReadUnlock "unlock from reading" false;
    /// A condition variable is waited for, and the mutex unlocked.
    Wait "wait" true;
    /// A wait ends because of a time-out or a notification.
    WaitEnd "wake from" true;
    /// A mutex is locked after a wait.
    Relock "lock again" true;
    /// One waiter is notified.
    NotifyOne "notify one" true;
    /// All waiters are notified.
    NotifyAll "notify all" true;
    /// A message is sent.
    Send "send" true;
    /// A message that is passed directly has been received.
    Sent "sent" true;
    /// A message is received.
    Receive "receive" true;
    /// One end of a channel is dropped.
    Disconnect "disconnect" true;
    /// A barrier is reached.
    Arrive "arrive" true;
    /// A thread leaves a barrier.
    Pass "pass" true;
    /// An initialization begins, or is found to be complete.
    Once "call once" true;
    /// A thread waits until a one-time initialization is complete.
    Await "wait for" false;
    /// An initialization completes.
    OnceEnd "end of call once" true;
    /// A counted pointer is cloned.
    Clone "clone" false;
    /// A counted pointer is dropped.
    Drop "drop" true;
    /// The pointers to a value are counted, either to return their number, or to return the value if there is only one.
    Count "count" true;
    /// A resource is read.
    Read "read" false;
    /// A resource is written.
    Write "write" true;
    /// A thread waits for the end of another one.
    Join "join" false;
    /// A thread parks until it has a token.
    Park "park" true;
    /// A thread gets a token.
    Unpark "unpark" true;
    /// A thread yields to others.
    Yield "yield" false;
    /// A thread is spawned by an operation of a recorded history that has accessed nothing before.
    Spawn "spawn" false;
    /// An operation of a recorded history that accesses nothing is called.
    Call "call" false;
    /// A sequentially consistent fence orders memory accesses.
    Fence "fence" true;
    /// A random choice is made.
    Pick "choose" false;
    /// The clock is read.
    Now "read the clock" false;
    /// A thread sleeps.
    Sleep "sleep" false;
    /// A task waits for permits.
    Acquire "acquire" true;
    /// Permits are acquired if they are available.
    TryAcquire "try to acquire" true;
    /// Permits are returned.
    Release "release" true;
    /// A task polls the object that it waits for, and stores its waker there.
    Poll "poll" true;
    /// A task begins.
    Start "start" false;
    /// A task waits until it is woken.
    Pending "await" true;
    /// A task is woken.
    Wake "wake" true;
    /// A task is cancelled.
    Abort "abort" true;
    /// A task ends.
    Complete "complete" true;
    /// A runtime cancels its remaining tasks.
    Shutdown "shut down" true;
    /// An address is bound.
    Bind "bind" true;
    /// A connection is opened.
    Connect "connect" true;
    /// A listener accepts a connection.
    Accept "accept" true;
    /// Messages between hosts are stopped; datagrams are lost.
    Partition "partition" true;
    /// Messages between hosts pass again.
    Repair "repair" true;
    /// Messages between hosts are delayed.
    Hold "hold" true;
    /// A host's tasks end at their current points, and its connections are reset.
    Crash "crash" true;
    /// A host starts again.
    Restart "restart" true;
}

/// An object of an execution, numbered in the order of first use.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct ObjectId(pub(crate) u32);

impl ObjectId {
    /// No object.
    pub(crate) const NONE: ObjectId = ObjectId(u32::MAX);
}

/// The gate of an object that must be open for an operation; see `crate::execution`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Gate {
    /// The operation needs no gate.
    Free,
    First,
    Second,
    /// A gate that never opens: another thread replaces the operation.
    Shut,
}

/// The next operation of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) kind: Kind,
    pub(crate) gate: Gate,
    pub(crate) object: ObjectId,
    /// A second object, which the operation or the rest of its step changes.
    pub(crate) also: ObjectId,
    pub(crate) place: &'static Location<'static>,
}

/// Bits for further events of a step.
pub(crate) mod extra {
    /// An operation of the recorded history was called.
    pub(crate) const CALL: u16 = 1;
    /// An operation of the recorded history returned.
    pub(crate) const RETURN: u16 = 2;
    /// A thread was spawned.
    pub(crate) const SPAWN: u16 = 4;
    /// The thread of the step finished.
    pub(crate) const FINISH: u16 = 8;
    /// The thread that took the step before could have continued.
    pub(crate) const PREEMPTION: u16 = 16;
    /// This thread continues unless the schedule chooses another one.
    pub(crate) const UNDISTURBED: u16 = 32;
    /// The operation changed nothing, so it counts as a read of its object. For an unlock: nothing was changed under
    /// the lock either.
    pub(crate) const LOOKED: u16 = 64;
    /// The step changed more objects than it can list, so it is assumed to depend on every other step.
    pub(crate) const MANY: u16 = 128;
    /// The step was possible only because time passed: see `crate::execution::time`.
    pub(crate) const LATE: u16 = 256;
    /// The thread seemed to spin when it reached the step.
    pub(crate) const SPINS: u16 = 512;
    /// The step contains a pick: see `crate::execution::pick`.
    pub(crate) const PICKED: u16 = 1024;
    /// The step depends on the clock.
    pub(crate) const TIMED: u16 = 2048;
    /// The step has advanced the clock.
    pub(crate) const MOVED: u16 = 4096;
    /// For an unlock after reads only: the lock guards a value, which may have been changed without being observed.
    pub(crate) const GUARDS: u16 = 8192;
}

/// The picks of a step, in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Picks {
    values: [u8; 3],
    len: u8,
}

impl Picks {
    /// The maximum number of options of one pick.
    pub(crate) const OPTIONS_MAX: u32 = 256;

    /// Returns true if there is no room for another pick.
    pub(crate) fn is_full(self) -> bool {
        self.values().len() == self.values.len()
    }

    /// Adds a pick; there must be room.
    pub(crate) fn push(&mut self, value: u8) {
        self.values[usize::from(self.len)] = value;
        self.len += 1;
    }

    pub(crate) fn values(&self) -> &[u8] {
        &self.values[..usize::from(self.len)]
    }

    /// The picks up to the last one that is not 0.
    pub(crate) fn said(&self) -> &[u8] {
        let said = self.values().iter().rposition(|value| *value > 0).map_or(0, |last| last + 1);
        &self.values[..said]
    }
}

/// One step of an execution: from one pause point of a thread to its next.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub(crate) op: Op,
    pub(crate) thread: ThreadId,
    pub(crate) extras: u16,
    pub(crate) picks: Picks,
}

impl Step {
    /// The thread that took the step.
    pub fn thread(&self) -> ThreadId {
        self.thread
    }

    /// The kind of operation.
    pub fn kind(&self) -> Kind {
        self.op.kind
    }

    /// The place in the program.
    pub fn place(&self) -> &'static Location<'static> {
        self.op.place
    }

    /// Returns true if the thread that took the previous step could have continued.
    pub fn is_preemption(&self) -> bool {
        self.extras & extra::PREEMPTION != 0
    }

    pub(crate) fn has(&self, extra: u16) -> bool {
        self.extras & extra != 0
    }

    /// Returns true if the step changed its object, or may change it if the step was not taken yet.
    pub(crate) fn changes(&self) -> bool {
        self.op.kind.writes() && (!self.has(extra::LOOKED) || self.op.kind == Kind::Unlock)
    }

    /// Returns true if the step unlocked a value that was only read while it was locked.
    pub(crate) fn keeps(&self) -> bool {
        self.op.kind == Kind::Unlock && self.has(extra::LOOKED) && !self.has(extra::MANY)
    }

    /// Returns true if the step leaves the state as it was, except for locks that are held.
    pub(crate) fn is_idle(&self) -> bool {
        let more =
            extra::CALL | extra::RETURN | extra::SPAWN | extra::FINISH | extra::MANY | extra::PICKED | extra::LATE;
        let is_lock = match self.op.kind {
            Kind::Lock | Kind::ReadLock | Kind::ReadUnlock => true,
            Kind::TryLock | Kind::TryReadLock => !self.has(extra::LOOKED),
            Kind::Unlock => self.keeps(),
            _ => false,
        };
        // Such operations are independent of each other, but they change the state.
        let is_counted = matches!(self.op.kind, Kind::Clone | Kind::Drop | Kind::Disconnect);
        // A receiver that finds no message reads a second object without changing it.
        let is_more = self.op.also != ObjectId::NONE && !(self.op.kind == Kind::Receive && self.has(extra::LOOKED));
        let is_changed = self.changes() && !is_lock;
        !(is_changed || is_counted || is_more || self.has(more))
    }

    /// Records that the step changed an object that its operation does not name.
    pub(crate) fn touch(&mut self, object: ObjectId) {
        let op = &mut self.op;
        if object == op.object && op.kind.writes() {
            self.extras &= !extra::LOOKED;
            return;
        }
        if object == op.also {
            return;
        }
        // An operation that names its object twice has room for another object.
        if op.also == ObjectId::NONE || (op.also == op.object && op.kind.writes()) {
            op.also = object;
        } else {
            self.extras |= extra::MANY;
        }
    }

    /// Returns true if two consecutive steps of different threads might have another result in the other order.
    /// `object_of` returns each thread's own object, which the end of the thread changes.
    pub(crate) fn depends_on(&self, other: &Step, object_of: impl Fn(ThreadId) -> ObjectId) -> bool {
        let touch = |a: ObjectId, b: ObjectId| a == b && a != ObjectId::NONE;
        let both = [(self, other), (other, self)];
        if (self.extras | other.extras) & extra::MANY != 0 {
            return true;
        }
        if touch(self.op.object, other.op.object) && (self.changes() || other.changes()) {
            return true;
        }
        // A second object is always changed.
        if touch(self.op.also, other.op.also) || both.iter().any(|(a, b)| touch(a.op.also, b.op.object)) {
            return true;
        }
        // The check of a history depends on which operations returned before which other operations were called.
        if both.iter().any(|(a, b)| a.has(extra::CALL) && b.has(extra::RETURN)) {
            return true;
        }
        if both.iter().any(|(a, b)| a.has(extra::MOVED) && b.has(extra::MOVED | extra::TIMED)) {
            return true;
        }
        // Threads are named in the order in which they were spawned.
        if self.has(extra::SPAWN) && other.has(extra::SPAWN) {
            return true;
        }
        let ends = |a: &Step, b: &Step| {
            let own = object_of(a.thread);
            a.has(extra::FINISH) && (touch(own, b.op.object) || touch(own, b.op.also))
        };
        ends(self, other) || ends(other, self)
    }
}
