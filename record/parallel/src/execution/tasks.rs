//! The state of tasks in an execution: what they await, and their unreported panics.

use super::Execution;
use super::cause::Cause;
use crate::ids::index;
use crate::op::{ObjectId, ThreadId, extra};

/// A panic of a task, which was passed to its handle.
#[derive(Clone, Debug)]
pub(super) struct Unseen {
    thread: ThreadId,
    message: String,
    place: String,
}

impl Execution {
    /// Records which object the running thread awaits.
    pub(crate) fn set_awaited(&mut self, object: Option<ObjectId>) {
        self.threads[self.current.at()].awaited = object;
    }

    /// Records that a thread holds an object; `None` is the running thread.
    pub(crate) fn hold_for(&mut self, object: ObjectId, thread: Option<ThreadId>) {
        self.rows[index(object.0)].holder = Some(thread.unwrap_or(self.current));
    }

    /// The number of threads spawned so far, including the first one.
    pub(crate) fn threads_made(&self) -> usize {
        self.threads.len()
    }

    /// Makes the current step depend on every other step.
    pub(crate) fn depend_on_all(&mut self) {
        self.mark(extra::MANY);
    }

    /// Records that the running thread's task has panicked. Returns the thread.
    pub(crate) fn note_panic(&mut self, message: String, place: String) -> ThreadId {
        let thread = self.current;
        self.unseen.push(Unseen { thread, message, place });
        thread
    }

    /// Records that a task's panic was reported to another task.
    pub(crate) fn see_panic(&mut self, thread: ThreadId) {
        self.unseen.retain(|unseen| unseen.thread != thread);
    }

    /// The first panic that was not reported to any other task.
    pub(super) fn unseen_panic(&self) -> Option<Cause> {
        let Unseen { thread, message, place } = self.unseen.first()?.clone();
        Some(Cause::Panic { thread, message, place })
    }
}
