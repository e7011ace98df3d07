//! Threads that loop: a thread that returns to the same operation, while everything that it has read in between is
//! unchanged, waits until some of that changes.
//!
//! A round is the part of an execution from one operation of a thread to the same operation again: same kind, object
//! and place. It is idle if the thread has changed nothing in it and has released its locks, and no other thread has
//! changed what the thread read. After an idle round the thread is in the same state, unless it counts its rounds. So
//! it waits, and a change of what it read lets it continue. Such a change depends on the reads, so whether a thread
//! waits is the same in all orders of independent steps.
//!
//! Whether a thread counts its rounds cannot be observed. So the thread is run alone before it waits for the first
//! time. If it leaves its loop within [`ROUNDS_MAX`] rounds, it does not wait there; if not, the loop is assumed to be
//! endless.
//!
//! A loop that yields and changes something in each round may be endless as well. After [`BUSY_MAX`] such rounds in
//! which no other thread took a step, others go first. This may lose outcomes: the search is then reported as
//! incomplete.

use crate::op::thread::State;
use crate::op::{Kind, ObjectId, Step, extra};
use crate::scheduler::Choice;
use crate::scheduler::fairness::lock_of;
use crate::{ThreadId, ThreadSet};
use std::panic::Location;

/// The number of idle rounds of a thread that is run alone, after which its loop is assumed to be endless.
const ROUNDS_MAX: u32 = 64;

/// The number of consecutive rounds that change something and yield, before other threads go first.
const BUSY_MAX: u32 = 16;

/// An operation to which a thread returns.
type Anchor = (Kind, ObjectId, &'static Location<'static>);

/// A step of a thread that had waited, and the step that let it continue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Woken {
    pub(super) step: usize,
    pub(super) by: usize,
}

/// The state of each thread's rounds in an execution, and of loops in all executions.
#[derive(Clone, Debug, Default)]
pub(super) struct Circles {
    /// The number of steps examined.
    seen: usize,
    threads: Vec<Round>,
    woken: Vec<Woken>,
    /// The thread that began to wait after the last step.
    new: Option<ThreadId>,
    /// For the thread that took the last step: the number of consecutive rounds, up to now, in which it changed
    /// something and yielded; and whether it has changed something in the current round.
    busy: (u32, bool),
    is_cut: bool,
}

/// The current round of a thread.
#[derive(Clone, Debug, Default)]
struct Round {
    anchor: Option<Anchor>,
    /// The number of steps since the anchor was set, and the number after which the anchor is set again.
    steps: u32,
    steps_max: u32,
    /// The objects that the thread has read since the anchor was set.
    looked: Vec<ObjectId>,
    /// The sum of the locks that the thread acquired and did not release.
    locked: u64,
    /// Whether another thread has changed an object that this one had read.
    is_broken: bool,
    /// Whether the thread has left its loop.
    has_left: bool,
    /// The number of consecutive idle rounds.
    rounds: u32,
    waits: bool,
    woken_by: Option<usize>,
}

impl Circles {
    /// Resets the state for a new execution.
    pub(super) fn begin(&mut self) {
        self.seen = 0;
        self.threads.clear();
        self.woken.clear();
        self.new = None;
        self.busy = (0, false);
    }

    /// Returns true if a thread ever had to wait although it might have behaved differently without the wait.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub(super) fn woken(&self) -> &[Woken] {
        &self.woken
    }

    /// Examines the steps since the last call.
    pub(super) fn look(&mut self, choice: &Choice<'_>) {
        self.threads.resize_with(choice.threads.len(), Round::default);
        self.new = None;
        while let Some(step) = choice.steps.get(self.seen) {
            self.step(choice, step);
            self.seen += 1;
        }
    }

    /// The ready threads that need not wait; all ready threads if all of them wait.
    pub(super) fn ready(&mut self, choice: &Choice<'_>) -> ThreadSet {
        let waits = |thread: &ThreadId| self.threads[thread.at()].waits;
        let waiting = choice.ready().iter().filter(waits).fold(ThreadSet::default(), ThreadSet::with);
        let mut ready = ThreadSet(choice.ready().0 & !waiting.0);
        if let (BUSY_MAX.., Some(last)) = (self.busy.0, choice.steps.last()) {
            ready.remove(last.thread);
            self.is_cut |= !ready.is_empty();
        }
        if ready.is_empty() { choice.ready() } else { ready }
    }

    /// The thread that began to wait after the last step.
    pub(super) fn begins_to_wait(&self) -> Option<ThreadId> {
        self.new
    }

    /// Continues a thread that has begun to wait.
    pub(super) fn release(&mut self, thread: ThreadId) {
        let round = &mut self.threads[thread.at()];
        round.looked.clear();
        (round.waits, round.rounds) = (false, 0);
    }

    /// Returns true if a thread has left its loop since it began to wait.
    pub(super) fn has_left(&self, thread: ThreadId) -> bool {
        self.threads[thread.at()].has_left
    }

    /// Returns true if a thread has had so many idle rounds that its loop is assumed to be endless.
    pub(super) fn has_circled(&self, thread: ThreadId) -> bool {
        self.threads[thread.at()].rounds >= ROUNDS_MAX
    }

    fn step(&mut self, choice: &Choice<'_>, step: &Step) {
        let at = self.seen;
        if at.checked_sub(1).is_some_and(|before| choice.steps[before].thread != step.thread) {
            self.busy = (0, false);
        }
        self.busy.1 |= !step.is_idle();
        if step.op.kind == Kind::Yield {
            self.busy = if self.busy.1 { (self.busy.0 + 1, false) } else { (0, false) };
        }
        let own_object = choice.threads[step.thread.at()].object;
        for (number, round) in self.threads.iter_mut().enumerate() {
            if number != step.thread.at() && round.looked.iter().any(|object| changes(step, *object, own_object)) {
                round.rounds = 0;
                if std::mem::take(&mut round.waits) {
                    // The thread's next round begins where it waited.
                    round.looked.clear();
                    round.woken_by = Some(at);
                } else {
                    round.is_broken = true;
                }
            }
        }
        let round = &mut self.threads[step.thread.at()];
        if let Some(by) = round.woken_by.take() {
            self.woken.push(Woken { step: at, by });
        }
        let thread = &choice.threads[step.thread.at()];
        if !step.is_idle() || thread.state != State::Paused {
            *round = Round { has_left: true, ..Round::default() };
            return;
        }
        for object in [step.op.object, step.op.also] {
            if object != ObjectId::NONE && !round.looked.contains(&object) {
                round.looked.push(object);
            }
        }
        round.locked = round.locked.wrapping_add(lock_of(step));
        let here = (thread.op.kind, thread.op.object, thread.op.place);
        if round.comes_to(here) && !std::mem::replace(&mut round.waits, true) {
            round.has_left = false;
            self.new = Some(step.thread);
        }
    }
}

impl Round {
    /// Records that the thread is before an operation. Returns true if an idle round ends there.
    fn comes_to(&mut self, here: Anchor) -> bool {
        if self.anchor == Some(here) {
            let is_idle = !self.is_broken && self.locked == 0 && !self.looked.is_empty();
            self.rounds = if is_idle { self.rounds + 1 } else { 0 };
            if !is_idle {
                self.looked.clear();
                self.is_broken = false;
            }
            (self.steps, self.locked) = (0, 0);
            return is_idle;
        }
        self.steps += 1;
        if self.steps > self.steps_max {
            let steps_max = (2 * self.steps_max).max(1);
            *self = Round { anchor: Some(here), steps_max, has_left: true, ..Round::default() };
        }
        false
    }
}

/// Returns true if a step changes an object. `own` is the object of its thread, which the end of the thread changes.
fn changes(step: &Step, object: ObjectId, own: ObjectId) -> bool {
    let is_counted = matches!(step.op.kind, Kind::Clone | Kind::Drop | Kind::Disconnect);
    let is_changed = (step.changes() && lock_of(step) == 0) || is_counted;
    let is_more = !(step.op.kind == Kind::Receive && step.has(extra::LOOKED));
    step.has(extra::MANY)
        || (step.has(extra::FINISH) && own == object)
        || (step.op.object == object && is_changed)
        || (step.op.also == object && is_more)
}
