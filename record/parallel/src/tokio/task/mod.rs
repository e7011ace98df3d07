//! The equivalent of `tokio::task`: tasks, and the handles to wait for them or cancel them.
//!
//! A panic of a task is reported to the task that awaits its handle, as in tokio. A panic that was reported to no task
//! fails the execution when it ends, where tokio would continue silently.

mod error;
mod join_set;
mod local;

pub use error::JoinError;
pub use join_set::JoinSet;
pub use local::{LocalSet, spawn_local};

use self::local::Member;
use super::executor::{self, Task};
use super::scope::{self, Scope};
use crate::ids::wide;
use crate::object::Object;
use crate::op::{Kind, ThreadId};
use crate::{runtime, thread};
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The equivalent of `tokio::task::Id`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Id(u64);

impl Id {
    /// The id of a task that remains on one thread. It is above the ids of other tasks.
    fn of_local(number: u64) -> Id {
        Id(1 << 32 | number)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The result of a task, for its handle.
struct Join<T> {
    object: Object,
    place: &'static Location<'static>,
    result: Mutex<Completion<T>>,
}

struct Completion<T> {
    is_finished: bool,
    value: Option<Result<T, JoinError>>,
    /// The thread of a task whose panic was not reported.
    panicked: Option<ThreadId>,
    is_detached: bool,
    waker: Option<Waker>,
}

impl<T> Completion<T> {
    fn new() -> Completion<T> {
        Completion { is_finished: false, value: None, panicked: None, is_detached: false, waker: None }
    }
}

impl<T> Join<T> {
    fn result(&self) -> MutexGuard<'_, Completion<T>> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the task has ended. The caller has then observed all effects of the task.
    fn is_finished(&self) -> bool {
        let is_finished = self.result().is_finished;
        if is_finished {
            self.object.acquire(false);
        }
        is_finished
    }

    /// Records the end of the task, with its result.
    fn complete(&self, value: Result<T, JoinError>, panicked: Option<ThreadId>) {
        self.object.pause_at(Kind::Complete, self.place, || [true; 2]);
        self.object.release();
        let mut result = self.result();
        (result.is_finished, result.panicked) = (true, panicked);
        let unwanted = if result.is_detached { Some(value) } else { result.value.replace(value) };
        let waker = result.waker.take();
        drop(result);
        executor::wake_all(waker);
        drop(unwanted);
    }
}

/// The equivalent of `tokio::task::JoinHandle`.
pub struct JoinHandle<T> {
    join: Arc<Join<T>>,
    abort: AbortHandle,
    /// `None` for a task that remains on one thread.
    scope: Option<Arc<Scope>>,
}

/// The part of a task that a cancellation needs.
#[derive(Clone)]
enum Target {
    Task(Arc<Task>),
    Local(Arc<Member>),
    /// A blocking closure cannot be cancelled.
    Nothing,
}

/// The equivalent of `tokio::task::AbortHandle`.
#[derive(Clone)]
pub struct AbortHandle {
    target: Target,
    is_finished: Arc<dyn Fn() -> bool + Send + Sync>,
    id: Id,
}

impl AbortHandle {
    /// Cancels the task at its next await point, or before it begins.
    #[track_caller]
    pub fn abort(&self) {
        match &self.target {
            Target::Task(task) => task.abort(false, Location::caller()),
            Target::Local(member) => member.abort(),
            Target::Nothing => {}
        }
    }

    /// Returns true if the task has finished.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        (self.is_finished)()
    }

    /// The id of the task.
    pub fn id(&self) -> Id {
        self.id
    }
}

impl<T> JoinHandle<T> {
    /// Cancels the task at its next await point, or before it begins.
    #[track_caller]
    pub fn abort(&self) {
        self.abort.abort();
    }

    /// Returns true if the task has finished.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.join.object.touch(Kind::Load);
        self.join.is_finished()
    }

    /// A handle that can cancel the task, but not wait for it.
    pub fn abort_handle(&self) -> AbortHandle {
        self.abort.clone()
    }

    /// The id of the task.
    pub fn id(&self) -> Id {
        self.abort.id
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let join = &self.join;
        join.object.pause_at(Kind::Join, join.place, || [true; 2]);
        let waker = cx.waker().clone();
        let mut result = join.result();
        if !result.is_finished {
            let before = result.waker.replace(waker);
            drop(result);
            drop(before);
            executor::awaits(Some(&join.object), join.place);
            return Poll::Pending;
        }
        let value = result.value.take();
        let panicked = result.panicked.take();
        drop(result);
        join.object.acquire(true);
        if let Some(thread) = panicked {
            runtime::with(|execution| execution.see_panic(thread));
        }
        if let Some(scope) = &self.scope {
            scope.forget(self.abort.id.0);
        }
        Poll::Ready(value.expect("JoinHandle polled after completion"))
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if std::mem::needs_drop::<T>() {
            // The result of the task is dropped by the task or by this handle, whichever ends last.
            self.join.object.pause_at(Kind::Drop, self.join.place, || [true; 2]);
            self.join.object.release();
        }
        let mut result = self.join.result();
        result.is_detached = true;
        let left = (result.value.take(), result.waker.take());
        drop(result);
        drop(left);
    }
}

impl<T> Unpin for JoinHandle<T> {}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("id", &self.abort.id).finish_non_exhaustive()
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Starts a task in the runtime of the caller.
///
/// # Panics
///
/// If the caller is part of no runtime, or an execution has [`THREADS_MAX`](crate::THREADS_MAX) threads and tasks.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let scope = scope::current().expect(super::NO_RUNTIME);
    spawn_on(&scope, future)
}

/// Runs a blocking closure on a separate thread.
///
/// # Panics
///
/// The same as [`spawn`].
#[track_caller]
pub fn spawn_blocking<F, R>(f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let own = scope::current().expect(super::NO_RUNTIME);
    let inner = Arc::clone(&own);
    start(&own, None, Location::caller(), move |_| {
        let _entered = scope::enter(None, &inner);
        Some(f())
    })
}

#[track_caller]
pub(super) fn spawn_on<F>(scope: &Arc<Scope>, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    spawn_at(scope, future, Location::caller())
}

/// Starts a task of a runtime. The step is recorded at `place`.
pub(super) fn spawn_at<F>(scope: &Arc<Scope>, future: F, place: &'static Location<'static>) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let task = Task::of(scope.turn(), place);
    let (own, inner) = (Arc::clone(&task), Arc::clone(scope));
    let is_over = scope.is_over();
    let body = move |_| {
        let is_aborted = own.start();
        let _entered = scope::enter(Some(Arc::clone(&own)), &inner);
        let mut future = Box::pin(future);
        let output = if is_aborted || is_over { None } else { own.run(future.as_mut()) };
        let _turn = own.take_turn();
        drop(future);
        output
    };
    start(scope, Some(task), place, body)
}

/// Starts a thread for a task or a closure. `body` returns `None` if the task was cancelled.
fn start<R: Send + 'static>(
    scope: &Arc<Scope>,
    task: Option<Arc<Task>>,
    place: &'static Location<'static>,
    body: impl FnOnce(Id) -> Option<R> + Send + 'static,
) -> JoinHandle<R> {
    static IDS: AtomicU64 = AtomicU64::new(1);
    let made = runtime::with(|execution| wide(execution.threads_made()));
    let id = Id(made.unwrap_or_else(|| IDS.fetch_add(1, Ordering::Relaxed)));
    let join = Arc::new(Join { object: Object::new("task", place), place, result: Mutex::new(Completion::new()) });
    let (ends, looks) = (Arc::clone(&join), Arc::clone(&join));
    let thread = match scope.name() {
        Some(name) => thread::Builder::new().name(name),
        None => thread::Builder::new(),
    };
    let body = move || match runtime::catch(|| body(id)) {
        Ok(Some(value)) => ends.complete(Ok(value), None),
        Ok(None) => ends.complete(Err(JoinError::cancelled(id)), None),
        Err(caught) if caught.is_killed() => ends.complete(Err(JoinError::cancelled(id)), None),
        Err(caught) => {
            let panicked = runtime::with(|execution| execution.note_panic(caught.message, caught.place));
            ends.complete(Err(JoinError::panicked(id, caught.payload)), panicked);
        }
    };
    let handle = thread.spawn(body).expect("the system cannot start a thread");
    scope.add(id.0, task.clone(), handle);
    let is_finished = Arc::new(move || {
        looks.object.touch(Kind::Load);
        looks.is_finished()
    });
    let target = task.map_or(Target::Nothing, Target::Task);
    JoinHandle { join, abort: AbortHandle { target, is_finished, id }, scope: Some(Arc::clone(scope)) }
}

/// Yields to other tasks, or continues immediately, as the schedule chooses.
#[track_caller]
pub fn yield_now() -> impl Future<Output = ()> {
    let place = Location::caller();
    let mut is_done = false;
    poll_fn(move |cx| {
        if std::mem::replace(&mut is_done, true) {
            return Poll::Ready(());
        }
        executor::awaits(None, place);
        cx.waker().wake_by_ref();
        Poll::Pending
    })
}
