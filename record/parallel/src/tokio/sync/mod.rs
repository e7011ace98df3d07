//! The equivalent of `tokio::sync`: locks, notifications and channels of tasks.
//!
//! Each poll of a future of these types is a pause point, and so is each other operation that another task can observe.
//! Waiting tasks are served in the order in which they began to wait, where tokio guarantees that. Since this crate has
//! no unsafe code, locks move the value into the guard; so the values must be `Sized`.

mod barrier;
mod batch;
pub mod broadcast;
pub mod mpsc;
mod mutex;
mod notify;
mod once_cell;
pub mod oneshot;
mod rwlock;
mod semaphore;
mod waiters;
pub mod watch;

pub use barrier::{Barrier, BarrierWaitResult};
pub use mutex::{Mutex, MutexGuard, OwnedMutexGuard, TryLockError};
pub use notify::{Notified, Notify};
pub use once_cell::{OnceCell, SetError};
pub use rwlock::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use semaphore::{AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError};
