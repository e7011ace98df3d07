//! The items of tokio with the same names, for code that is to be tested under schedules.
//!
//! Without the feature `scheduled` this module is tokio itself (feature `tokio`). With it, tasks are threads of the
//! execution, and each operation on shared objects is a pause point. Use `record_parallel::tokio` instead of `tokio`,
//! and [`runtime::block_on`] instead of `#[tokio::test]`.
//!
//! ```
//! use record_parallel::scheduler::Reduced;
//! use record_parallel::tokio::{self, runtime::block_on, sync::mpsc};
//! use record_parallel::{Settings, explore};
//!
//! let program = || {
//!     block_on(async {
//!         let (sender, mut receiver) = mpsc::channel(1);
//!         let task = tokio::spawn(async move { sender.send(7).await });
//!         assert_eq!(receiver.recv().await, Some(7));
//!         task.await.unwrap().unwrap();
//!     });
//! };
//! assert!(explore(&Settings::default(), Reduced::new(), program).unwrap().is_complete);
//! ```
//!
//! Differences from tokio under a schedule:
//!
//! - The runtime has several threads, unless it is created with [`runtime::Builder::new_current_thread`]: a task may be
//!   preempted at each operation, not only where it awaits. There is no attribute for tests.
//! - An execution has [`THREADS_MAX`](crate::THREADS_MAX) threads and tasks at most.
//! - A panic that is not reported through a [`JoinHandle`](task::JoinHandle) fails the execution.
//! - A task has no budget of operations after which it must yield, as in tokio (128): it can be preempted anyway.
//!   So a biased `select!` never finds a ready future pending because of that budget.
//! - A task is polled without a wake-up at most [`Settings::surprises_max`](crate::Settings::surprises_max) times, and
//!   only where it begins to wait.
//! - [`net`] is simulated, and [`io`] has no files and no standard streams.
//! - The values in locks must be `Sized`, and their guards cannot be mapped. An `RwLock` is `Send` only if its value is
//!   `Sync`.
//!
//! The types also work outside of executions, under any executor, except for [`time`], which needs this module's
//! runtime; there each task is a thread of std.

mod executor;
pub mod io;
mod macros;
pub mod net;
pub mod runtime;
mod scope;
pub mod sync;
pub mod task;
pub mod time;
mod turn;

pub use crate::{__join as join, __pin as pin, __select as select, __try_join as try_join};
pub use task::spawn;

#[doc(hidden)]
pub mod private {
    pub use super::macros::{Order, first};
}

/// The message if there is no runtime.
const NO_RUNTIME: &str = "there is no reactor running, must be called from the context of a Tokio 1.x runtime: \
                          record_parallel::tokio::runtime::block_on is one";
