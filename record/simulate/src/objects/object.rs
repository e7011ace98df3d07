//! The objects that can be simulated: a table.

use crate::named::named;

/// The maximum number of subkeys of a key of [`Object::Sequential`]: each is one bit.
pub(super) const SUBKEYS_MAX: u32 = 64;

/// The objects that clients use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Object {
    /// `read`, `write`. Initially nil.
    Register,
    /// As `Register`, and `cas [old new]`, which fails if the value is not `old`.
    CasRegister,
    /// Several registers, read and written by transactions that happen at one instant.
    MultiRegister,
    /// `acquire`, `release`. Clients release the lock only if they hold it.
    Mutex,
    /// As `Mutex`, but each operation names its owner.
    OwnerMutex,
    /// As `OwnerMutex`, but its owner can acquire it again, and must release it as often.
    ReentrantMutex,
    /// `acquire` and `release` of one of several permits.
    Semaphore,
    /// `enqueue`, `dequeue`: first in, first out. A dequeue from an empty queue fails.
    FifoQueue,
    /// As `FifoQueue`, but a dequeue removes any of the elements.
    UnorderedQueue,
    /// `push`, `pop`: last in, first out. A pop from an empty stack fails.
    Stack,
    /// `push-front`, `push-back`, `pop-front`, `pop-back`: operations at both ends. A pop from an empty deque fails.
    Deque,
    /// `insert`, `delete-min`: the least element first. A delete-min from an empty queue fails.
    PriorityQueue,
    /// `add` of an element, `read` of all of them.
    Set,
    /// `add` of an amount, `read` of the sum.
    Counter,
    /// `get`, `put`, `append` of strings by key. A key that was never written is empty.
    Kv,
    /// A register whose every version has an id: `write` names the version that it replaces and fails if this is not
    /// the current one; `read` returns the version with the value.
    VersionedRegister,
    /// `transfer` between accounts, which fails if the balance is too low, and `read` of all balances.
    Bank,
    /// `add` of a new element, `read` of all elements as a list. There is one more read at the end.
    SetFull,
    /// `enqueue`, `dequeue` of new elements: first in, first out. A dequeue from an empty queue fails.
    Queue,
    /// As `Queue`, with a `drain` of all remaining elements at the end. Dequeues do not crash.
    TotalQueue,
    /// `generate`, which returns an id.
    UniqueIds,
    /// Keys in groups: `write` of one key, each once, and `read` of all keys of a group.
    LongFork,
    /// `write` of a new value, `read` of all values.
    Comments,
    /// `write` of the subkeys of a key, one after another by one client, and `read` of all subkeys of a key in reverse.
    Sequential,
}

/// The data of an object.
struct Row {
    object: Object,
    name: &'static str,
    summary: &'static str,
    /// The defaults of the number of keys, of operations per key, and of values.
    keys: u32,
    ops_per_key: u64,
    values: u32,
}

const fn row(object: Object, name: &'static str, values: u32, summary: &'static str) -> Row {
    Row { object, name, summary, keys: 1, ops_per_key: 0, values }
}

/// One row per object, in the order of the variants.
const TABLE: [Row; 24] = [
    row(Object::Register, "register", 5, "Reads and writes of a register"),
    row(Object::CasRegister, "cas-register", 5, "Reads, writes and compare-and-sets of a register"),
    Row {
        keys: 3,
        ..row(
            Object::MultiRegister,
            "multi-register",
            5,
            "Transactions that read and write a few registers at one instant",
        )
    },
    row(Object::Mutex, "mutex", 0, "A lock"),
    row(Object::OwnerMutex, "owner-mutex", 0, "A lock whose operations name the owner"),
    row(Object::ReentrantMutex, "reentrant-mutex", 0, "A lock that its owner can acquire again"),
    row(Object::Semaphore, "semaphore", 0, "A semaphore: permits to acquire and release"),
    row(Object::FifoQueue, "fifo-queue", 0, "A queue, first in, first out"),
    row(Object::UnorderedQueue, "unordered-queue", 0, "A queue that returns its elements in any order"),
    row(Object::Stack, "stack", 0, "A stack, last in, first out"),
    row(Object::Deque, "deque", 0, "A double-ended queue"),
    row(Object::PriorityQueue, "priority-queue", 0, "A priority queue, the least element first"),
    row(Object::Set, "set", 64, "A set with add, and reads of the whole set"),
    row(Object::Counter, "counter", 5, "A counter with add and read"),
    Row { keys: 10, ops_per_key: 1000, ..row(Object::Kv, "kv", 0, "Gets, puts and appends of strings by key") },
    row(Object::VersionedRegister, "versioned-register", 100, "A register whose writes name the version they replace"),
    row(Object::Bank, "bank", 8, "Transfers between accounts of a bank, and reads of all balances"),
    row(Object::SetFull, "set-full", 0, "New elements added to a set, and reads of all of them"),
    row(Object::Queue, "queue", 0, "A queue whose elements are all new"),
    row(Object::TotalQueue, "total-queue", 0, "A queue whose elements are all new, drained at the end"),
    row(Object::UniqueIds, "unique-ids", 0, "A generator of ids"),
    row(Object::LongFork, "long-fork", 2, "Keys that are written once, and read in groups"),
    row(Object::Comments, "comments", 0, "New values written, and reads of all of them"),
    row(Object::Sequential, "sequential", 5, "Subkeys written one after another, and read in reverse"),
];

impl Object {
    /// The default number of keys.
    pub fn default_keys(self) -> u32 {
        self.row().keys
    }

    /// The default number of operations after which another key replaces a key; 0 if keys are not replaced.
    pub fn default_ops_per_key(self) -> u64 {
        self.row().ops_per_key
    }

    /// The default number of different values that are written; 0 if each value is new.
    pub fn default_values(self) -> u32 {
        self.row().values
    }

    /// Returns true if its operations are those of a lock, without values.
    pub fn is_lock(self) -> bool {
        matches!(self, Object::Mutex | Object::OwnerMutex | Object::ReentrantMutex | Object::Semaphore)
    }

    /// Returns true if it contains elements that are removed again.
    pub fn is_sequence(self) -> bool {
        self.may_show_nothing() || matches!(self, Object::Queue | Object::TotalQueue)
    }

    /// Returns true if a take that finds nothing may be `ok` with nil.
    pub fn may_show_nothing(self) -> bool {
        use Object::{Deque, FifoQueue, PriorityQueue, Stack, UnorderedQueue};
        matches!(self, FifoQueue | UnorderedQueue | Stack | Deque | PriorityQueue)
    }

    /// Returns true if operations name a key in any case, so that `keyed` has no effect.
    pub fn has_keys(self) -> bool {
        matches!(self, Object::MultiRegister | Object::Kv | Object::LongFork | Object::Sequential)
    }

    /// Returns true if operations concern several keys at a time, so that all keys are one object.
    pub(super) fn joins_keys(self) -> bool {
        self.has_keys() && self != Object::Kv
    }

    /// Returns true if it is one register.
    pub(super) fn is_register(self) -> bool {
        matches!(self, Object::Register | Object::CasRegister)
    }

    /// The minimum and the maximum number of values.
    pub fn values_range(self) -> (u32, u32) {
        match self {
            Object::Counter => (1, 1_000_000),
            Object::Bank | Object::LongFork => (2, 1000),
            Object::Sequential => (2, SUBKEYS_MAX),
            // An element that is added twice would be another workload.
            Object::SetFull | Object::Queue | Object::TotalQueue | Object::UniqueIds | Object::Comments => (0, 0),
            _ => (0, 1_000_000),
        }
    }

    /// Returns true if each object gets one more operation after all others: a read of all elements, or a drain.
    pub fn has_last(self) -> bool {
        matches!(self, Object::Set | Object::SetFull | Object::TotalQueue)
    }
}

named!(Object, UnknownObject, object, "object", "A name that no object has.", also | _ | None);
