//! Tasks that remain on one thread and need not be `Send`. The task that runs their set polls them, one at a time.

use super::{AbortHandle, Completion, Id, Join, JoinError, JoinHandle, Target};
use crate::ids::{index, small};
use crate::object::Object;
use crate::runtime;
use crate::scheduler::Pick;
use crate::tokio::runtime::Runtime;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{Location, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// The equivalent of `tokio::task::LocalSet`. The schedule chooses which of the woken tasks is polled first.
pub struct LocalSet {
    set: Rc<Set>,
}

#[derive(Default)]
struct Set {
    tasks: RefCell<BTreeMap<u64, Local>>,
    made: Cell<u64>,
    woken: Arc<Woken>,
}

/// A task.
struct Local {
    member: Arc<Member>,
    future: Pin<Box<dyn Future<Output = ()>>>,
}

/// The tasks to poll, and the task that polls them.
#[derive(Default)]
struct Woken(Mutex<(VecDeque<u64>, Option<Waker>)>);

/// The part of a task that its handle and its waker use.
pub(super) struct Member {
    number: u64,
    is_aborted: AtomicBool,
    is_finished: AtomicBool,
    woken: Arc<Woken>,
}

crate::thread_local! {
    /// The set whose tasks are being polled.
    static CURRENT: RefCell<Option<Rc<Set>>> = const { RefCell::new(None) };
}

impl Woken {
    fn state(&self) -> MutexGuard<'_, (VecDeque<u64>, Option<Waker>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Member {
    fn wake(self: Arc<Member>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Member>) {
        let mut state = self.woken.state();
        if !state.0.contains(&self.number) {
            state.0.push_back(self.number);
        }
        let waker = state.1.clone();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Member {
    pub(super) fn abort(self: &Arc<Member>) {
        self.is_aborted.store(true, Ordering::Relaxed);
        self.wake_by_ref();
    }
}

/// While this value lives, the tasks of a set are being polled.
struct Entered(Option<Rc<Set>>);

impl Entered {
    fn new(set: &Rc<Set>) -> Entered {
        Entered(CURRENT.with(|current| current.replace(Some(Rc::clone(set)))))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.with(|current| current.replace(self.0.take()));
    }
}

/// Reports the end of a task to its handle. If it is dropped before, it reports that the task was cancelled.
struct Ending<T> {
    join: Arc<Join<T>>,
    id: Id,
    member: Arc<Member>,
}

impl<T> Ending<T> {
    fn end(&self, result: Result<T, JoinError>, panicked: Option<crate::ThreadId>) {
        if !self.member.is_finished.swap(true, Ordering::Relaxed) {
            self.join.complete(result, panicked);
        }
    }
}

impl<T> Drop for Ending<T> {
    fn drop(&mut self) {
        self.end(Err(JoinError::cancelled(self.id)), None);
    }
}

/// Starts a task in the set of the caller.
///
/// # Panics
///
/// If the caller is not in a set.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let set = CURRENT.with(|current| current.borrow().clone());
    let set = set.expect("`spawn_local` called from outside of a `task::LocalSet`");
    set.spawn(future, Location::caller())
}

impl Set {
    fn spawn<F>(self: &Rc<Set>, future: F, place: &'static Location<'static>) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let number = self.made.get() + 1;
        self.made.set(number);
        let member = Arc::new(Member {
            number,
            is_aborted: AtomicBool::new(false),
            is_finished: AtomicBool::new(false),
            woken: Arc::clone(&self.woken),
        });
        let id = Id::of_local(number);
        let join = Arc::new(Join { object: Object::new("task", place), place, result: Mutex::new(Completion::new()) });
        let ending = Ending { join: Arc::clone(&join), id, member: Arc::clone(&member) };
        let mut future = Some(Box::pin(future));
        let task = poll_fn(move |cx| {
            let is_aborted = ending.member.is_aborted.load(Ordering::Relaxed);
            let Some(running) = future.as_mut().filter(|_| !is_aborted) else {
                future = None;
                ending.end(Err(JoinError::cancelled(id)), None);
                return Poll::Ready(());
            };
            match runtime::catch(|| running.as_mut().poll(cx)) {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(value)) => {
                    future = None;
                    ending.end(Ok(value), None);
                }
                Err(caught) if caught.is_killed() => resume_unwind(caught.payload),
                Err(caught) => {
                    let panicked = runtime::with(|execution| execution.note_panic(caught.message, caught.place));
                    ending.end(Err(JoinError::panicked(id, caught.payload)), panicked);
                }
            }
            Poll::Ready(())
        });
        self.tasks.borrow_mut().insert(number, Local { member: Arc::clone(&member), future: Box::pin(task) });
        member.wake_by_ref();
        let finished = Arc::clone(&member);
        let is_finished = Arc::new(move || finished.is_finished.load(Ordering::Relaxed));
        JoinHandle { join, abort: AbortHandle { target: Target::Local(member), is_finished, id }, scope: None }
    }

    /// Polls all tasks that are woken now. Tasks that these wake are polled in the next round, which follows
    /// immediately.
    fn poll(self: &Rc<Set>, cx: &mut Context<'_>) {
        let _entered = Entered::new(self);
        let before = self.woken.state().1.replace(cx.waker().clone());
        drop(before);
        let count = self.woken.state().0.len();
        for left in (1..=count).rev() {
            let picked = runtime::pick(Pick::Branch, small(left.min(256)));
            let next = self.woken.state().0.remove(index(picked));
            let Some(number) = next else { break };
            let Some(mut task) = self.tasks.borrow_mut().remove(&number) else { continue };
            let waker = Waker::from(Arc::clone(&task.member));
            if task.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                self.tasks.borrow_mut().insert(number, task);
            }
        }
        let is_more = !self.woken.state().0.is_empty();
        if is_more {
            cx.waker().wake_by_ref();
        }
    }
}

impl LocalSet {
    /// Creates a set without tasks.
    pub fn new() -> LocalSet {
        LocalSet { set: Rc::default() }
    }

    /// Starts a task, which is polled when the set is run.
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.set.spawn(future, Location::caller())
    }

    /// Runs a future, and the tasks of the set until it is done.
    pub async fn run_until<F: Future>(&self, future: F) -> F::Output {
        let mut future = std::pin::pin!(future);
        poll_fn(|cx| {
            let polled = {
                let _entered = Entered::new(&self.set);
                future.as_mut().poll(cx)
            };
            if polled.is_pending() {
                self.set.poll(cx);
            }
            polled
        })
        .await
    }

    /// The same in a runtime, from a thread that is part of no task.
    #[track_caller]
    pub fn block_on<F: Future>(&self, runtime: &Runtime, future: F) -> F::Output {
        runtime.block_on(self.run_until(future))
    }
}

/// Runs all tasks until they are complete.
impl Future for LocalSet {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.set.poll(cx);
        if self.set.tasks.borrow().is_empty() { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for LocalSet {
    fn drop(&mut self) {
        let tasks = std::mem::take(&mut *self.set.tasks.borrow_mut());
        let _entered = Entered::new(&self.set);
        drop(tasks);
    }
}

impl Default for LocalSet {
    fn default() -> LocalSet {
        LocalSet::new()
    }
}

impl fmt::Debug for LocalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalSet").finish_non_exhaustive()
    }
}
