//! Determines the other orders to try after an execution: from its happens-before order, and the steps that might be
//! exchanged.

use super::Node;
use super::circles::Woken;
use crate::ids::byte;
use crate::op::{Gate, Kind, ObjectId, Step, THREADS_MAX, extra};
use crate::scheduler::Ended;
use crate::{ThreadId, ThreadSet};

/// The happens-before order of an execution.
pub(super) struct Analysis<'a> {
    ended: &'a Ended<'a>,
    /// Steps of threads that had waited for a change, and the change.
    woken: &'a [Woken],
    /// The number of steps examined, from the beginning.
    len: usize,
    /// For each step and each thread: one more than the number of the thread's last step that happens before the step
    /// or is the step itself; 0 if there is none.
    clocks: Vec<usize>,
}

impl<'a> Analysis<'a> {
    pub(super) fn new(ended: &'a Ended<'a>, woken: &'a [Woken], len: usize) -> Analysis<'a> {
        let mut analysis = Analysis { ended, woken, len, clocks: vec![0; len * ended.threads()] };
        let mut before: Vec<Option<usize>> = ended.threads.iter().map(|thread| Some(thread.spawned?.0)).collect();
        for at in 0..len {
            let thread = ended.steps[at].thread;
            if let Some(own) = before[thread.at()] {
                analysis.join(at, own);
            }
            if let Some(change) = analysis.change_before(at) {
                analysis.join(at, change);
            }
            let late = analysis.late_since(at);
            for earlier in (0..at).rev() {
                if earlier < late {
                    // No thread could continue when time passed, so all earlier steps happen before.
                    analysis.join(at, earlier);
                } else if !analysis.happens_before(earlier, at) && analysis.depend(earlier, &ended.steps[at]) {
                    analysis.join(at, earlier);
                }
            }
            analysis.clocks[at * ended.threads() + thread.at()] = at + 1;
            before[thread.at()] = Some(at);
        }
        analysis
    }

    /// The change that the thread of a step had waited for, if any.
    fn change_before(&self, at: usize) -> Option<usize> {
        self.woken.iter().find(|woken| woken.step == at).map(|woken| woken.by)
    }

    /// The number of steps when time passed and made a step possible; 0 if the step was possible anyway.
    fn late_since(&self, at: usize) -> usize {
        if !self.ended.steps[at].has(extra::LATE) {
            return 0;
        }
        self.ended.late.iter().find(|(step, _)| *step == at).map_or(0, |(_, since)| *since)
    }

    fn join(&mut self, at: usize, earlier: usize) {
        let width = self.ended.threads();
        for thread in 0..width {
            let clock = self.clocks[earlier * width + thread];
            let own = &mut self.clocks[at * width + thread];
            *own = clock.max(*own);
        }
    }

    fn happens_before(&self, earlier: usize, at: usize) -> bool {
        self.clocks[at * self.ended.threads() + self.ended.steps[earlier].thread.at()] > earlier
    }

    fn depend(&self, at: usize, step: &Step) -> bool {
        self.ended.steps[at].depends_on(step, |thread| self.ended.object_of(thread))
    }

    /// Returns true if a step and the operation before which another thread is depend on each other and might be
    /// exchanged.
    fn may_change_places(&self, at: usize, later: &Step) -> bool {
        let step = &self.ended.steps[at];
        let lock = matches!(later.op.kind, Kind::Lock | Kind::Relock);
        let is_single = |step: &Step| step.op.also == ObjectId::NONE && !step.has(extra::MANY);
        let never_both = match later.op.kind {
            Kind::Join => self.ended.object_of(step.thread) == later.op.object,
            // The receiver has waited until all senders were dropped.
            Kind::Receive if later.op.gate != Gate::Free => {
                step.op.kind == Kind::Disconnect && step.op.object == later.op.also && is_single(step)
            }
            _ => lock && step.op.kind == Kind::Unlock && step.op.object == later.op.object && is_single(step),
        };
        step.thread != later.thread && !never_both && self.depend(at, later)
    }

    pub(super) fn want_other_orders(&self, nodes: &mut [Node]) {
        for (number, thread) in self.ended.threads.iter().enumerate() {
            let thread_id = ThreadId(byte(number));
            let spawned = thread.spawned.map(|(step, _)| step);
            if spawned.is_some_and(|step| step >= self.len) {
                continue;
            }
            let mut own = spawned;
            for (at, step) in self.ended.steps.iter().enumerate().filter(|(_, step)| step.thread == thread_id) {
                let mut step = *step;
                if at >= self.len || step.op.gate != Gate::Free {
                    // Executed earlier, the operation might have changed something.
                    step.extras &= !extra::LOOKED;
                }
                self.want_earlier(nodes, own, at.min(self.len), &step);
                own = Some(at);
                if at >= self.len {
                    break;
                }
            }
            // The operation before which the thread still waits.
            if thread.state == crate::op::thread::State::Paused && own.is_none_or(|own| own < self.len) {
                let step = Step { op: thread.op, thread: thread_id, extras: 0, picks: crate::op::Picks::default() };
                self.want_earlier(nodes, own, self.len, &step);
            }
        }
    }

    /// Examines the steps before which a thread could have taken the step numbered `at`. Its step before that is `own`.
    fn want_earlier(&self, nodes: &mut [Node], own: Option<usize>, at: usize, step: &Step) {
        let stood = own.map_or(0, |own| own + 1);
        let mut races: Vec<usize> = Vec::new();
        let is_taken = at < self.len;
        let (late, change) = if is_taken { (self.late_since(at), self.change_before(at)) } else { (0, None) };
        for other in (late..at).rev().filter(|other| Some(*other) != change) {
            let is_before = own.is_some_and(|own| self.happens_before(other, own));
            let is_covered = races.iter().any(|race| self.happens_before(other, *race));
            if is_before || !self.may_change_places(other, step) {
                continue;
            }
            if !is_covered {
                self.want(nodes, other, at, step);
            }
            // An operation that waits may have been possible before another thread prevented it. So each moment since
            // the thread reached the operation is examined, and the last moment before.
            let early = stood.max(other);
            let could = nodes.get(early).is_none_or(|node| node.ready.contains(step.thread));
            if step.op.gate != Gate::Free && could && (other >= stood || !is_covered) {
                self.want(nodes, other, early, step);
            }
            // For a thread that waited, races are distinguished by the moment at which it reached the operation.
            if other < stood || step.op.gate == Gate::Free {
                races.push(other);
            }
        }
    }

    /// Ensures that an order is tried in which a step of another thread comes before the step numbered `at`, after all
    /// steps between that one and `end` that do not depend on it. It is sufficient to try any thread whose first step
    /// there depends on none of the others: one of the weak initials of the source set.
    fn want(&self, nodes: &mut [Node], at: usize, end: usize, step: &Step) {
        let mut firsts: [Option<usize>; THREADS_MAX] = [None; THREADS_MAX];
        let mut is_free = true;
        for between in (at + 1..end).filter(|between| !self.happens_before(at, *between)) {
            firsts[self.ended.steps[between].thread.at()].get_or_insert(between);
            is_free &= !self.depend(between, step);
        }
        let width = self.ended.threads();
        let mut initials = ThreadSet::default();
        for (thread, first) in firsts.iter().enumerate() {
            let Some(first) = *first else { continue };
            let clock = |of: usize| self.clocks[first * width + of];
            let needs = |(of, earlier): (usize, &Option<usize>)| {
                of != thread && earlier.is_some_and(|earlier| earlier < first && clock(of) > earlier)
            };
            if !firsts.iter().enumerate().any(needs) {
                initials.insert(ThreadId(byte(thread)));
            }
        }
        if firsts[step.thread.at()].is_none() && is_free {
            initials.insert(step.thread);
        }
        let node = &mut nodes[at];
        if initials.0 & node.wanted.0 != 0 {
            return;
        }
        match ThreadSet(initials.0 & node.ready.0).first() {
            Some(first) => node.wanted.insert(first),
            None => node.wanted = node.ready,
        }
    }
}
