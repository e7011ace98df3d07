//! Time: it passes where nothing else can happen.
//!
//! A thread that waits with a time-out has a **deadline**. When no thread can continue, the clock goes to the earliest
//! deadline, and whoever waits for it continues. That is so as well where threads only look, again and again, and
//! change nothing. A time-out that ends before that, because others are slow, is a [`Pick`](super::Pick).

use super::{Execution, State};
use crate::ids::byte;
use crate::op::{Gate, Step, ThreadId};
use std::time::Duration;

/// Steps in a row that change nothing, after which time passes although threads could continue.
const IDLE_MAX: u32 = 64;

impl Execution {
    /// The running thread will wait until this time is over, at most.
    pub(crate) fn set_deadline(&mut self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.threads[self.current.at()].deadline = Some(self.now.saturating_add(nanos));
        self.timed += 1;
    }

    /// A thread does not wait for a deadline any more.
    pub(super) fn clear_deadline(&mut self, thread: ThreadId) {
        if self.threads[thread.at()].deadline.take().is_some() {
            self.timed -= 1;
        }
    }

    /// Lets time pass if there is nothing else to do.
    pub(super) fn tick(&mut self) {
        let is_idle = self.steps.last().is_none_or(Step::is_idle);
        self.idle = if is_idle { self.idle + 1 } else { 0 };
        if self.timed == 0 || !(self.ready.is_empty() || self.idle >= IDLE_MAX) {
            return;
        }
        self.idle = 0;
        let waits = |thread: &&super::Thread| thread.state == State::Paused;
        let Some(next) = self.threads.iter().filter(waits).filter_map(|thread| thread.deadline).min() else { return };
        self.now = self.now.max(next);
        for at in 0..self.threads.len() {
            let thread = ThreadId(byte(at));
            let own = &mut self.threads[at];
            if own.state == State::Paused && own.deadline.is_some_and(|deadline| deadline <= next) {
                own.late = Some(self.steps.len());
                self.redirect(thread, |op| op.gate = Gate::Free);
            }
        }
    }
}
