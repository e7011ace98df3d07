//! Time: one virtual clock, which advances if no thread can continue, or if the scheduler ends a wait early.
//!
//! A thread that waits with a time-out or sleeps has a **deadline**. When no thread can continue, the clock advances to
//! the earliest deadline, and the threads that wait for it continue. The same happens if all threads that can continue
//! loop and change nothing. All of them must loop, so that time passes in all orders of independent steps or in none. A
//! wait may also end earlier, as if other threads were slow; this is a [`Pick`](crate::scheduler::Pick): the clock then
//! immediately advances to its deadline, and all earlier deadlines pass as well.
//!
//! A thread that reads the clock, or waits for some time from now on, depends on every thread that has advanced the
//! clock by a pick. If the clock advances because no thread can continue, this is not a step: all earlier steps happen
//! before it.

use super::Execution;
use crate::ids::{byte, index};
use crate::op::thread::{State, Thread};
use crate::op::{Gate, Kind, Op, Step, ThreadId, extra};
use std::time::Duration;

/// The number of rounds without a change that each ready thread takes before time passes.
const ROUNDS_MAX: usize = 64;

/// The number of consecutive steps without a change after which rounds are counted again.
const COUNTED: u32 = 64;

/// The minimum advance of the clock, in nanoseconds, for a thread that reads it in a loop and waits for nothing else.
const SPIN: u64 = 1_000_000;

/// The duration in nanoseconds, saturated to the range of the type.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Execution {
    /// The time since the execution began.
    pub(crate) fn now(&mut self) -> Duration {
        self.mark(extra::TIMED);
        Duration::from_nanos(self.now)
    }

    /// Sets the deadline of the running thread's next wait: this time from now.
    pub(crate) fn set_deadline(&mut self, time: Duration) {
        self.mark(extra::TIMED);
        self.threads[self.current.at()].deadline = Some(self.now.saturating_add(nanos(time)));
        self.timed += 1;
    }

    /// Removes the deadline of a thread.
    pub(super) fn clear_deadline(&mut self, thread: ThreadId) {
        if self.threads[thread.at()].deadline.take().is_some() {
            self.timed -= 1;
        }
    }

    /// Advances the clock by this time, because the running thread's wait ends at once.
    pub(crate) fn jump(&mut self, time: Duration) {
        self.mark(extra::MOVED | extra::TIMED);
        self.now = self.now.saturating_add(nanos(time));
        self.pass(|thread| thread.is_due = true);
    }

    /// Continues the threads whose deadlines have passed.
    fn pass(&mut self, note: impl Fn(&mut Thread)) {
        let now = self.now;
        for at in 0..self.threads.len() {
            let own = &mut self.threads[at];
            if own.state == State::Paused && own.deadline.is_some_and(|deadline| deadline <= now) {
                note(own);
                self.redirect(ThreadId(byte(at)), |op| op.gate = Gate::Free);
            }
        }
    }

    /// The steps since the last step that changed something.
    fn idle_steps(&self) -> &[Step] {
        &self.steps[self.steps.len().saturating_sub(index(self.idle))..]
    }

    /// Returns true if each ready thread has repeatedly returned to its operation since the last change.
    fn all_spin(&self) -> bool {
        let spins = |thread: ThreadId| {
            let here = self.threads[thread.at()].op;
            let is_here = |step: &&Step| {
                let Op { kind, object, place, .. } = step.op;
                step.thread == thread && (kind, object) == (here.kind, here.object) && std::ptr::eq(place, here.place)
            };
            self.idle_steps().iter().filter(is_here).nth(ROUNDS_MAX - 1).is_some()
        };
        self.idle > 0 && self.idle.is_multiple_of(COUNTED) && self.ready.iter().all(spins)
    }

    /// Returns true if a thread has read the clock since the last change.
    fn is_timed(&self) -> bool {
        self.idle_steps().iter().any(|step| step.op.kind == Kind::Now)
    }

    /// Advances the clock if nothing else can happen.
    pub(super) fn tick(&mut self) {
        let is_idle = self.steps.last().is_none_or(Step::is_idle);
        self.idle = if is_idle { self.idle + 1 } else { 0 };
        if !(self.ready.is_empty() || self.all_spin()) {
            return;
        }
        let waits = |thread: &&Thread| thread.state == State::Paused;
        let next = self.threads.iter().filter(waits).filter_map(|thread| thread.deadline).min();
        if let Some(next) = next.filter(|_| self.timed > 0) {
            self.idle = 0;
            self.now = self.now.max(next);
            let since = self.steps.len();
            self.pass(|thread| thread.late = Some(since));
        } else if !self.ready.is_empty() && self.is_timed() {
            // A thread that waits for a time by reading the clock sees that time at some point. The rounds so far still
            // count.
            self.now = self.now.saturating_add(self.now.max(SPIN));
            self.mark(extra::MANY);
        }
    }
}
