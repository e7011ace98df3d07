//! What an execution knows of tasks: what they await, and which of their panics nobody has seen.

use super::Execution;
use super::cause::Cause;
use crate::ids::index;
use crate::op::{ObjectId, ThreadId, extra};

/// A panic of a task, which its handle was given.
#[derive(Clone, Debug)]
pub(super) struct Unseen {
    thread: ThreadId,
    message: String,
    place: String,
}

impl Execution {
    /// Notes what the running thread awaits.
    pub(crate) fn set_awaited(&mut self, object: Option<ObjectId>) {
        self.threads[self.current.at()].awaited = object;
    }

    /// Notes that a thread holds an object: the running one if it is not named.
    pub(crate) fn hold_for(&mut self, object: ObjectId, thread: Option<ThreadId>) {
        self.rows[index(object.0)].holder = Some(thread.unwrap_or(self.current));
    }

    /// Threads that were spawned up to now, with the first one.
    pub(crate) fn threads_made(&self) -> usize {
        self.threads.len()
    }

    /// Takes the step under way to depend on every other.
    pub(crate) fn depend_on_all(&mut self) {
        self.mark(extra::MANY);
    }

    /// The running thread's task has panicked. Returns the thread.
    pub(crate) fn note_panic(&mut self, message: String, place: String) -> ThreadId {
        let thread = self.current;
        self.unseen.push(Unseen { thread, message, place });
        thread
    }

    /// Someone was told of a task's panic.
    pub(crate) fn see_panic(&mut self, thread: ThreadId) {
        self.unseen.retain(|unseen| unseen.thread != thread);
    }

    /// The first panic that nobody has seen, if there is one.
    pub(super) fn unseen_panic(&self) -> Option<Cause> {
        let Unseen { thread, message, place } = self.unseen.first()?.clone();
        Some(Cause::Panic { thread, message, place })
    }
}
