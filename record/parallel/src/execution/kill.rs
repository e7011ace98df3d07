//! Threads that end at their next pause point, because the host that they are part of crashes.
//!
//! A program that crashes may do so between any two of its operations. So a killed thread executes no further
//! operation: it unwinds from its current pause point. It continues only if it holds a lock, which would be poisoned,
//! or if it is in a destructor; it then ends at the next pause point.

use super::Execution;
use super::pick::Remark;
use crate::op::thread::State;
use crate::op::{Gate, Kind, ObjectId, ThreadId};

impl Execution {
    /// Makes a thread end.
    pub(crate) fn kill(&mut self, thread: ThreadId) {
        let own = &mut self.threads[thread.at()];
        if matches!(own.state, State::Finished | State::Panicked) {
            return;
        }
        own.is_killed = true;
        let (kind, is_paused) = (own.op.kind, own.state == State::Paused);
        // Others hand something over to a thread that waits in another way, so it is waited for.
        let is_free = match kind {
            Kind::Pending | Kind::Sleep => true,
            // Here the thread itself takes what it waits for. One that holds a lock would go on and take it.
            Kind::Lock
            | Kind::ReadLock
            | Kind::Receive
            | Kind::Send
            | Kind::Join
            | Kind::Await
            | Kind::Once
            | Kind::Park => !self.holds(thread),
            _ => false,
        };
        if is_paused && is_free {
            self.redirect(thread, |op| op.gate = Gate::Free);
        }
    }

    /// Whether a thread holds a lock.
    fn holds(&self, thread: ThreadId) -> bool {
        self.rows.iter().any(|row| row.holder == Some(thread) && !row.open[0])
    }

    /// Whether the running thread ends at this point.
    pub(crate) fn dies(&mut self) -> bool {
        let me = self.current;
        let thread = &self.threads[me.at()];
        if !thread.is_killed || self.over {
            return false;
        }
        let is_destructor = matches!(
            thread.op.kind,
            Kind::Unlock
                | Kind::ReadUnlock
                | Kind::Drop
                | Kind::Disconnect
                | Kind::Release
                | Kind::Complete
                | Kind::Abort
                | Kind::Shutdown
        );
        let ends = !is_destructor && !self.holds(me);
        self.threads[me.at()].is_killed = !ends;
        ends
    }

    /// Adds a remark to the current step, which a table of the schedule shows.
    pub(crate) fn remark(&mut self, text: String) {
        if let Some(at) = self.steps.len().checked_sub(1) {
            self.picked.push((at, Remark::Text(text)));
        }
    }

    /// How many bytes the step under way has moved.
    pub(crate) fn note_bytes(&mut self, object: ObjectId, bytes: usize) {
        if let Some((at, step)) = self.steps.iter().enumerate().next_back()
            && step.op.object == object
        {
            self.values.push(super::Value::new(at, None, Some(crate::ids::wide(bytes))));
        }
    }
}
