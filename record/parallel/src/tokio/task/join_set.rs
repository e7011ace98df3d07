//! A set of tasks, which are awaited in the order in which they finish.

use super::{AbortHandle, JoinError, JoinHandle};
use crate::tokio::executor;
use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// The equivalent of `tokio::task::JoinSet`. The tasks are cancelled when it is dropped.
pub struct JoinSet<T> {
    tasks: Vec<(u64, JoinHandle<T>)>,
    made: u64,
    woken: Arc<Woken>,
}

/// The tasks to poll, the first one first.
#[derive(Default)]
struct Woken(Mutex<(VecDeque<u64>, Option<Waker>)>);

/// The waker of one of the tasks' handles.
struct Member {
    number: u64,
    woken: Arc<Woken>,
}

impl Woken {
    fn state(&self) -> MutexGuard<'_, (VecDeque<u64>, Option<Waker>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Member {
    fn wake(self: Arc<Member>) {
        let mut state = self.woken.state();
        state.0.push_back(self.number);
        let waker = state.1.take();
        drop(state);
        // The task that has finished calls this waker, within the step in which it finishes.
        executor::wake_all(waker);
    }
}

impl<T> JoinSet<T> {
    /// Creates a set without tasks.
    pub fn new() -> JoinSet<T> {
        JoinSet { tasks: Vec::new(), made: 0, woken: Arc::default() }
    }

    /// The number of tasks that were not joined.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Returns true if all tasks were joined.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Cancels all tasks; they must be joined nevertheless.
    #[track_caller]
    pub fn abort_all(&mut self) {
        for (_, task) in &self.tasks {
            task.abort();
        }
    }

    /// Removes all tasks without cancelling them.
    pub fn detach_all(&mut self) {
        self.tasks.clear();
    }
}

impl<T: 'static> JoinSet<T> {
    /// Starts a task in the runtime of the caller.
    #[track_caller]
    pub fn spawn<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(super::spawn(task))
    }

    /// Starts a task in the [`LocalSet`](super::LocalSet) of the caller.
    #[track_caller]
    pub fn spawn_local<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert(super::spawn_local(task))
    }

    /// Runs a closure on a separate thread.
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.insert(super::spawn_blocking(f))
    }

    fn insert(&mut self, handle: JoinHandle<T>) -> AbortHandle {
        let abort = handle.abort_handle();
        self.made += 1;
        self.woken.state().0.push_back(self.made);
        self.tasks.push((self.made, handle));
        abort
    }

    /// The result of the next task that finishes; `None` if there is no task.
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        poll_fn(|cx| self.poll_join_next(cx)).await
    }

    /// The same, without waiting.
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        match self.poll_join_next(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => result,
            Poll::Pending => None,
        }
    }

    /// The same as [`JoinSet::join_next`], for manually implemented futures.
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        if self.tasks.is_empty() {
            return Poll::Ready(None);
        }
        let before = self.woken.state().1.replace(cx.waker().clone());
        drop(before);
        loop {
            let next = self.woken.state().0.pop_front();
            let Some(number) = next else { return Poll::Pending };
            let Some(at) = self.tasks.iter().position(|(own, _)| *own == number) else { continue };
            let waker = Waker::from(Arc::new(Member { number, woken: Arc::clone(&self.woken) }));
            if let Poll::Ready(result) = Pin::new(&mut self.tasks[at].1).poll(&mut Context::from_waker(&waker)) {
                self.tasks.remove(at);
                return Poll::Ready(Some(result));
            }
        }
    }

    /// Waits for all tasks; their results in the order in which they finished.
    ///
    /// # Panics
    ///
    /// If one of them panicked or was cancelled.
    pub async fn join_all(mut self) -> Vec<T> {
        let mut results = Vec::with_capacity(self.len());
        while let Some(result) = self.join_next().await {
            match result {
                Ok(value) => results.push(value),
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(error) => panic!("{error}"),
            }
        }
        results
    }

    /// Cancels all tasks and waits for them.
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        self.abort_all();
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> JoinSet<T> {
        JoinSet::new()
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.len()).finish()
    }
}
