//! The equivalent of `tokio::runtime`: the owner of tasks. When it is dropped, its remaining tasks are cancelled.

use super::executor::{self, Task};
use super::scope::{self, Scope};
use super::task::{self, JoinHandle};
use std::fmt;
use std::future::Future;
use std::io;
use std::panic::Location;
use std::pin::pin;
use std::sync::Arc;

/// The equivalent of `tokio::runtime::Runtime`: each task runs on its own thread. Under a schedule, each of them may
/// run between two operations of any other, as with tokio's threads.
pub struct Runtime {
    handle: Handle,
}

/// The equivalent of `tokio::runtime::Handle`.
#[derive(Clone)]
pub struct Handle {
    scope: Arc<Scope>,
}

/// The equivalent of `tokio::runtime::EnterGuard`.
#[must_use = "the runtime is left when this is dropped"]
pub struct EnterGuard<'a> {
    _entered: executor::Entered,
    /// Makes the type not `Send`: it must be dropped on the thread on which it was created.
    _handle: std::marker::PhantomData<std::sync::MutexGuard<'a, Handle>>,
}

/// The equivalent of `tokio::runtime::TryCurrentError`: the caller is part of no runtime.
#[derive(Debug)]
pub struct TryCurrentError(());

impl fmt::Display for TryCurrentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(super::NO_RUNTIME)
    }
}

impl std::error::Error for TryCurrentError {}

impl Runtime {
    /// Creates a runtime without tasks.
    ///
    /// # Errors
    ///
    /// Never.
    #[track_caller]
    pub fn new() -> io::Result<Runtime> {
        Ok(Runtime { handle: Handle { scope: Scope::new(Location::caller()) } })
    }

    /// Runs a future on this thread, and returns its result.
    ///
    /// # Panics
    ///
    /// If the caller is part of a task.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle.block_on(future)
    }

    /// Starts a task.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// A handle that can be passed to others.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Makes this the runtime of the caller.
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.handle.scope.shut_down();
    }
}

impl Handle {
    /// The runtime of the caller.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[track_caller]
    pub fn current() -> Handle {
        Handle::try_current().expect("Handle::current")
    }

    /// The runtime of the caller.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn try_current() -> Result<Handle, TryCurrentError> {
        scope::current().map(|scope| Handle { scope }).ok_or(TryCurrentError(()))
    }

    /// The same as [`Runtime::block_on`].
    ///
    /// # Panics
    ///
    /// If the caller is part of a task.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        assert!(
            executor::task().is_none(),
            "Cannot start a runtime from within a runtime: the caller is part of a task, which could not be polled meanwhile"
        );
        let task = Task::of(self.scope.turn(), Location::caller());
        let _entered = scope::enter(Some(Arc::clone(&task)), &self.scope);
        task.run(pin!(future)).expect("no handle can abort the task")
    }

    /// Starts a task.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        task::spawn_on(&self.scope, future)
    }

    /// Makes this the runtime of the caller.
    pub fn enter(&self) -> EnterGuard<'_> {
        let entered = scope::enter(executor::task(), &self.scope);
        EnterGuard { _entered: entered, _handle: std::marker::PhantomData }
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").finish_non_exhaustive()
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}

impl fmt::Debug for EnterGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnterGuard").finish_non_exhaustive()
    }
}

/// The equivalent of `tokio::runtime::Builder`.
#[derive(Debug)]
pub struct Builder {
    is_one_thread: bool,
}

impl Builder {
    /// A runtime whose tasks run on several threads.
    pub fn new_multi_thread() -> Builder {
        Builder { is_one_thread: false }
    }

    /// A runtime whose tasks run on one thread: other tasks run only where one awaits. Unlike tokio's, they also run
    /// outside of [`Runtime::block_on`], and the schedule chooses which one goes first.
    pub fn new_current_thread() -> Builder {
        Builder { is_one_thread: true }
    }

    /// Sets the number of threads; here there is one for each task.
    pub fn worker_threads(&mut self, threads: usize) -> &mut Builder {
        assert!(threads > 0, "Worker threads cannot be set to 0");
        self
    }

    /// The network; it always works here.
    pub fn enable_io(&mut self) -> &mut Builder {
        self
    }

    /// Timers and the network; they always work here.
    pub fn enable_all(&mut self) -> &mut Builder {
        self
    }

    /// Timers; they always work here.
    pub fn enable_time(&mut self) -> &mut Builder {
        self
    }

    /// Creates the runtime.
    ///
    /// # Errors
    ///
    /// Never.
    #[track_caller]
    pub fn build(&mut self) -> io::Result<Runtime> {
        let made = Location::caller();
        let scope = if self.is_one_thread { Scope::of_one_thread(made) } else { Scope::new(made) };
        Ok(Runtime { handle: Handle { scope } })
    }
}

/// Runs a future and the tasks that it spawns, in a separate runtime; cancels the remaining tasks when it is done.
///
/// This is what `#[tokio::main]` and `#[tokio::test]` do. tokio has no function of this name.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let handle = Handle { scope: Scope::new(Location::caller()) };
    let output = handle.block_on(future);
    handle.scope.shut_down();
    output
}
