//! The types of std with the same names, for code that is to be tested under schedules.
//!
//! In a managed thread each operation is a pause point. Elsewhere the types behave as those of std: they contain one,
//! and call it. Without the feature `scheduled` this module is `std::sync`.
//!
//! Differences under a schedule, and unavoidable ones:
//!
//! - A load may return an older value if the orderings permit it, but not a value that is stored later (load
//!   buffering); see [`Memory`](crate::Memory).
//! - A wait with a time-out may end at any moment, a wait without one may end without a reason, and a weak exchange may
//!   fail, if the schedule chooses so; [`Settings::surprises_max`](crate::Settings::surprises_max) limits how often. A
//!   time-out that is not such a surprise ends when no other thread can continue, the earliest one first.
//! - [`Arc`] and [`Weak`] are pointers of this crate, since dropping the last one can be observed; std's are not under
//!   the schedule, and a search does not find behaviour that depends on their number.
//! - An object that outlives an execution (a `static`) keeps its value; the next execution may then behave differently,
//!   and is reported as not determined by its schedule.
//! - A destructor that waits for another thread while its own thread unwinds ends the process, as a second panic does.
//! - Threads that a failure cuts off are not unwound: the values on their stacks are leaked.
//!
//! Mapped guards are not supported, nor are items that std marks as deprecated or unstable.

mod arc;
pub mod atomic;
mod barrier;
mod condvar;
mod lazy;
mod lock;
pub mod mpsc;
mod mutex;
mod once;
mod rwlock;

pub use arc::{Arc, Weak};
pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use lazy::LazyLock;
pub use mutex::{Mutex, MutexGuard};
pub use once::{Once, OnceLock};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use std::sync::{LockResult, OnceState, PoisonError, TryLockError, TryLockResult};
