//! Fairness: determines which threads wait because they loop, so that a loop that waits for another thread has finitely
//! many schedules.
//!
//! Musuvathi and Qadeer, "Fair Stateless Model Checking" (PLDI 2008), algorithm 1. A thread's window is the part of an
//! execution between two of its yields: from the pause point before one to the pause point before the next. When a
//! window of thread t ends, t waits for every thread that took no step in the window, and that was ready all through it
//! or was blocked by t itself: t continues only when such a thread has taken a step or cannot continue. The first yield
//! of a thread only begins a window, so a thread that yields once waits for no thread.
//!
//! In the paper, a thread waits from the second yield in a row on, which loses states: of
//! `yield_now(); yield_now(); x.store(1)` the store never comes first. Here a window counts only if it is **idle**: an
//! object was read, none was changed, and every lock was unlocked. The state that others can observe is then the same
//! as when the window began, and so is the state of the thread if it is in a loop that waits. Everything that it could
//! do now was possible then, and every order of those steps is tried. So no state is lost if the thread waits, except
//! for a loop that counts its rounds; [`super::Exhaustive`] tests whether such a loop ends by itself before the thread
//! has to wait. A locked value counts as unchanged if no thread borrowed it mutably, and the holder of the lock wrote
//! to no cell meanwhile. Other changes under a lock are not observed, such as those of a `Cell` in a mutex. So an
//! endless loop that locks values which no thread visibly changes makes the search incomplete ([`may_hide_changes`]).
//!
//! A loop that waits need not yield: a thread that has returned to the same operation without a change (see
//! `crate::op::rounds`) is assumed to yield there.
//!
//! A thread in a loop that changes something in each round (a number, or the value in a mutex) has to wait after
//! [`WINDOWS_MAX`] windows, because the loop might never end otherwise. This does lose states: the search is then
//! reported as incomplete.

use super::Choice;
use crate::ThreadId;
use crate::ThreadSet;
use crate::op::thread::State;
use crate::op::{Kind, ObjectId, Step, extra};

/// The number of consecutive windows that are not idle, and in which a thread runs without the others, before it waits
/// for them.
const WINDOWS_MAX: u32 = 16;

/// The state of each thread's windows in an execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Fairness {
    /// The number of steps examined.
    seen: usize,
    /// The window of each thread; empty until the first thread yields.
    threads: Vec<Window>,
    /// The threads that could continue before the next step.
    ready: ThreadSet,
    is_cut: bool,
}

/// A thread's current window, and the threads for which it waits.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    has_begun: bool,
    /// The threads that were ready all through the window.
    ready: u64,
    /// The threads that this thread blocked in the window.
    blocked: u64,
    /// The threads that took a step in the window.
    ran: u64,
    is_changed: bool,
    has_looked: bool,
    /// The sum of the locks that were acquired in the window and not released.
    locked: u64,
    /// The number of consecutive windows before this one that were not idle.
    busy: u32,
    /// The threads that this thread waits for. Empty unless the last window was idle or the limit of other windows was
    /// reached.
    waits_for: u64,
    /// The number of consecutive idle windows before this one.
    idle: u32,
}

impl Fairness {
    /// Resets the state for a new execution.
    pub(super) fn begin(&mut self) {
        self.seen = 0;
        self.threads.clear();
    }

    /// Examines the steps since the last call, and returns the threads that need not wait.
    pub(super) fn fair(&mut self, choice: &Choice<'_>) -> ThreadSet {
        self.look(choice);
        if self.threads.is_empty() {
            return choice.ready;
        }
        let waits =
            |thread: ThreadId| self.threads.get(thread.at()).is_some_and(|own| own.waits_for & choice.ready.0 != 0);
        let fair = choice.ready.iter().filter(|thread| !waits(*thread)).fold(ThreadSet::default(), ThreadSet::with);
        debug_assert!(!fair.is_empty(), "threads wait for each other");
        fair
    }

    fn look(&mut self, choice: &Choice<'_>) {
        while let Some(step) = choice.steps.get(self.seen) {
            self.seen += 1;
            // If the scheduler had no choice, only this thread could continue.
            let after = match choice.steps.get(self.seen) {
                Some(next) => ThreadSet::default().with(next.thread),
                None => choice.ready,
            };
            let yields = yields_next(choice, self.seen, step.thread);
            if yields || !self.threads.is_empty() {
                self.threads.resize(choice.threads.len(), Window::default());
                self.step(step, after);
            }
            if yields {
                self.end_window(step.thread, after);
            }
            self.ready = after;
        }
    }

    /// The number of consecutive idle windows of a thread.
    pub(super) fn idle(&self, thread: ThreadId) -> u32 {
        self.threads.get(thread.at()).map_or(0, |own| own.idle)
    }

    /// Returns true if a thread ever had to wait although it might have behaved differently without the wait.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    fn step(&mut self, step: &Step, after: ThreadSet) {
        let me = 1 << step.thread.0;
        let blocked = self.ready.0 & !after.0 & !me;
        let locked = lock_of(step);
        let is_changed = !step.is_idle();
        for window in &mut self.threads {
            window.waits_for &= !me;
            window.ready &= after.0;
            window.ran |= me;
            window.has_looked |= step.op.object != ObjectId::NONE;
            window.locked = window.locked.wrapping_add(locked);
            window.is_changed |= is_changed;
        }
        let own = &mut self.threads[step.thread.at()];
        own.blocked |= blocked;
        if is_changed {
            // The thread has changed something, so it is no longer in a loop that waits.
            (own.idle, own.waits_for) = (0, 0);
        }
    }

    fn end_window(&mut self, thread: ThreadId, after: ThreadSet) {
        let own = &mut self.threads[thread.at()];
        let passed = if own.has_begun { (own.ready | own.blocked) & !own.ran } else { 0 };
        let is_idle = own.has_looked && !own.is_changed && own.locked == 0;
        let (mut idle, mut busy, mut waits_for) = (0, 0, 0);
        if passed != 0 && is_idle {
            idle = own.idle + 1;
            waits_for = own.waits_for | passed;
        } else if passed != 0 {
            busy = own.busy + 1;
            if busy >= WINDOWS_MAX {
                waits_for = passed;
                self.is_cut = true;
            }
        }
        *own = Window { has_begun: true, ready: after.0, waits_for, idle, busy, ..Window::default() };
    }
}

/// Returns true if a thread yields after the steps up to number `seen`: explicitly, or because it seems to spin.
fn yields_next(choice: &Choice<'_>, seen: usize, thread: ThreadId) -> bool {
    if let Some(step) = choice.steps[seen..].iter().find(|step| step.thread == thread) {
        return step.op.kind == Kind::Yield || step.has(extra::SPINS);
    }
    let thread = &choice.threads[thread.at()];
    thread.state == State::Paused && thread.yields()
}

/// Returns true if a thread may have made an unobserved change in its loop since step `from`, or may wait for such a
/// change: it locked an object that no step of the execution has visibly changed.
pub(super) fn may_hide_changes(steps: &[Step], thread: ThreadId, from: usize) -> bool {
    let is_changed = |lock: ObjectId| {
        let changes = |step: &&Step| step.op.kind == Kind::Unlock && step.op.object == lock && !step.keeps();
        steps.iter().any(|step| step.op.also == lock || changes(&step))
    };
    let keeps = |step: &&Step| step.thread == thread && step.keeps() && step.has(extra::GUARDS);
    let own = steps.iter().skip(from).filter(keeps);
    own.map(|step| step.op.object).any(|lock| !is_changed(lock))
}

/// A number for the lock that a step acquires; the release of the lock has the negative number. 0 if the step does
/// neither, or if the locked value was changed before the release.
pub(super) fn lock_of(step: &Step) -> u64 {
    let number = (u64::from(step.op.object.0) << 8 | u64::from(step.thread.0)) + 1;
    let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    match step.op.kind {
        Kind::Lock | Kind::ReadLock => number,
        Kind::TryLock | Kind::TryReadLock if !step.has(extra::LOOKED) => number,
        Kind::ReadUnlock => number.wrapping_neg(),
        Kind::Unlock if step.keeps() => number.wrapping_neg(),
        _ => 0,
    }
}
