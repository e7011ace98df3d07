//! Ends threads at their next pause point because their host crashes.
//!
//! A program may crash between any two of its operations. So a killed thread executes no further operation: it unwinds
//! from its current pause point. It continues only while it holds a lock, which unwinding would poison, or while it is
//! in a destructor; it then ends at a later pause point.

use super::Execution;
use super::pick::Remark;
use crate::op::thread::State;
use crate::op::{Gate, Kind, ObjectId, ThreadId};

impl Execution {
    /// Requests that a thread ends: at once if it waits at a pause point where it can end, otherwise at a later one.
    pub(crate) fn kill(&mut self, thread: ThreadId) {
        let own = &mut self.threads[thread.at()];
        if matches!(own.state, State::Finished | State::Panicked) {
            return;
        }
        own.is_killed = true;
        let (kind, is_paused) = (own.op.kind, own.state == State::Paused);
        // In other waits, another thread hands something to this one, so that thread must complete first.
        let is_free = match kind {
            Kind::Pending | Kind::Sleep => true,
            // In these waits, the thread itself takes what it waits for. A thread that holds a lock has to continue and
            // take it.
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

    /// Returns true if a thread holds a lock.
    fn holds(&self, thread: ThreadId) -> bool {
        self.rows.iter().any(|row| row.holder == Some(thread) && !row.open[0])
    }

    /// Returns true if the running thread was killed and ends at this pause point.
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

    /// Adds a remark to the current step, for the table of the schedule.
    pub(crate) fn remark(&mut self, text: String) {
        if let Some(at) = self.steps.len().checked_sub(1) {
            self.picked.push((at, Remark::Text(text)));
        }
    }

    /// Records how many bytes the current step has moved.
    pub(crate) fn note_bytes(&mut self, object: ObjectId, bytes: usize) {
        if let Some((at, step)) = self.steps.iter().enumerate().next_back()
            && step.op.object == object
        {
            self.values.push(super::Value::new(at, None, Some(crate::ids::wide(bytes))));
        }
    }
}
