//! What std has under the same names, for code that is to be tested under schedules.
//!
//! In a managed thread each operation is a pause point. Anywhere else the types do what those of std do: they hold one,
//! and call it. Without the feature `scheduled` this module is `std::sync`.
//!
//! What differs under a schedule, and where it cannot be otherwise:
//!
//! - A load may return an older value where the orderings allow it, but not a value that is stored later (load
//!   buffering); see [`Memory`](crate::Memory).
//! - A wait with a time-out may end at any moment, a wait without one may end without a reason, and a weak exchange may
//!   fail, as the schedule says; how often is limited by [`Settings::surprises_max`](crate::Settings::surprises_max). A
//!   time-out that is not such a surprise ends when no other thread can continue, the earliest one first.
//! - [`Arc`] and [`Weak`] are pointers of this crate, since who drops the last one can be seen; std's are not under the
//!   schedule, and a search does not see what hangs on how many of those there are.
//! - An object that outlives an execution (a `static`) keeps what it holds; the next execution may then do something
//!   else, and is reported as not determined by its schedule.
//! - A destructor that waits for another thread while its own thread unwinds ends the process, as a second panic does.
//! - Threads that a failure cuts off are not unwound: what is on their stacks is leaked.
//!
//! Guards that are mapped are not here, nor is what std marks as deprecated or unstable.

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
