//! Models of the objects that Jepsen's tests, and many others, use.
//!
//! Each reads recorded ops by the conventions of Knossos: see [`Spec`]. Crashed reads are dropped, because they have no
//! effect and no result.

mod all;
mod counter;
mod deque;
mod kv;
mod locks;
mod multi_register;
mod priority_queue;
mod queue_notes;
mod queue_state;
mod queues;
mod register;
mod semaphore;
mod set;
mod shared;
mod spec;

pub use all::{Visitor, visit_all};
pub use counter::{Counter, CounterOp};
pub use deque::{Deque, DequeOp, DequeState, End};
pub use kv::{Kv, KvAction, KvOp, KvState};
pub use locks::{LockOp, Mutex, OwnedLock, OwnerMutex, ReentrantMutex};
pub use multi_register::{MultiRegister, RegisterAccess};
pub use priority_queue::{PriorityQueue, PriorityState};
pub use queue_state::{Discipline, QueueState};
pub use queues::{FifoQueue, Queue, Stack, UnorderedQueue};
pub use register::{CasRegister, PlainRegister, Register, RegisterOp};
pub use semaphore::{Semaphore, SemaphoreOp};
pub use set::{Set, SetOp, SetState};
pub use shared::queue_op::{QueueOp, Removed};
pub use spec::{Shows, Spec};
