//! Reduced: at least one schedule of every kind, where schedules that differ in the order of independent steps are of
//! one kind.
//!
//! Source sets with sleep sets: Abdulla, Aronis, Jonsson and Sagonas, "Optimal Dynamic Partial Order Reduction" (POPL
//! 2014), section 4. It refines Flanagan and Godefroid, "Dynamic Partial-Order Reduction for Model Checking Software"
//! (POPL 2005), whose backtracking points are not enough where sleep sets are in use: the thread that must be tried may
//! be asleep, when another one must come before it. After each execution, for each operation of each thread and each
//! moment at which the thread stood before it, the steps that depend on it and need not come before it are where
//! another order must be tried. An operation that waits is looked at from the moment when the thread came to it, since
//! two steps that lock a mutex are never next to each other.
//!
//! Two steps are independent if they touch different objects or only look, and none of them is a return of an operation
//! of the recorded history where the other is a call. What a step touches is known when it ends: the object of its
//! operation, and what its thread changed besides while it unwound. An operation that might have changed its object and
//! did not, such as an exchange that failed, has only looked. Counts (of senders, of pointers) go up and down without
//! being seen; whoever acts on a count depends on all that changed it.
//!
//! Yielding says nothing here: a program that spins until another thread has done something has no end, and is reported
//! as a livelock; search it with [`super::Exhaustive`].
//!
//! Preemptions are not bounded: with a bound, the one schedule of a kind that is tried may be one that exceeds it.

use super::{Choice, Ended, Scheduler};
use crate::ids::byte;
use crate::op::{Gate, Kind, ObjectId, Step, THREADS_MAX, extra};
use crate::{ThreadId, ThreadSet};

/// Tries one schedule of every kind: fewer executions than [`super::Exhaustive`], with the same results.
#[derive(Clone, Debug)]
pub struct Reduced {
    executions_max: u64,
    begun: u64,
    /// One for each step of the execution up to where it turned out to be of a kind that was seen.
    nodes: Vec<Node>,
    /// The execution is of a kind that was seen: every thread that is ready sleeps.
    is_redundant: bool,
    is_complete: bool,
    error: Option<String>,
}

#[derive(Clone, Debug)]
struct Node {
    ready: ThreadSet,
    chosen: ThreadId,
    done: ThreadSet,
    /// What must be tried; always holds `chosen`.
    wanted: ThreadSet,
    /// Steps that were tried from here or before, and have met nothing since that depends on them: whatever starts with
    /// them was seen.
    sleeping: Vec<Step>,
}

impl Reduced {
    /// Every kind of schedule.
    pub fn new() -> Reduced {
        Reduced {
            executions_max: u64::MAX,
            begun: 0,
            nodes: Vec::new(),
            is_redundant: false,
            is_complete: false,
            error: None,
        }
    }

    /// No more executions than this. The search may then not be complete.
    #[must_use]
    pub fn executions_max(mut self, executions: u64) -> Reduced {
        self.executions_max = executions;
        self
    }

    fn add_node(&mut self, choice: &Choice<'_>) -> Option<ThreadId> {
        let object_of = |thread: ThreadId| choice.threads[thread.at()].object;
        let mut sleeping = Vec::new();
        if let (Some(parent), Some(last)) = (self.nodes.last(), choice.steps.last()) {
            let asleep = |step: &&Step| step.thread != last.thread && !step.depends_on(last, object_of);
            sleeping.extend(parent.sleeping.iter().filter(asleep).copied());
        }
        let awake = sleeping.iter().fold(choice.ready(), |awake, step: &Step| awake.without(step.thread));
        let undisturbed = choice.undisturbed()?;
        let Some(first) = awake.first() else {
            self.is_redundant = true;
            return Some(undisturbed);
        };
        let chosen = if awake.contains(undisturbed) { undisturbed } else { first };
        let wanted = ThreadSet::default().with(chosen);
        self.nodes.push(Node { ready: choice.ready(), chosen, done: ThreadSet::default(), wanted, sleeping });
        Some(chosen)
    }
}

impl Default for Reduced {
    fn default() -> Reduced {
        Reduced::new()
    }
}

impl Scheduler for Reduced {
    fn begin(&mut self) -> bool {
        self.is_redundant = false;
        if self.begun > 0 {
            loop {
                let Some(node) = self.nodes.last_mut() else {
                    self.is_complete = true;
                    return false;
                };
                let asleep = node.sleeping.iter().fold(ThreadSet::default(), |set, step| set.with(step.thread));
                let left = ThreadSet(node.wanted.0 & !node.done.0 & !asleep.0);
                if let Some(next) = left.first() {
                    node.chosen = next;
                    break;
                }
                self.nodes.pop();
            }
        }
        self.begun += 1;
        self.begun <= self.executions_max
    }

    fn next(&mut self, choice: &Choice<'_>) -> Option<ThreadId> {
        if self.is_redundant {
            return choice.undisturbed();
        }
        let Some(node) = self.nodes.get(choice.step()) else { return self.add_node(choice) };
        if node.ready != choice.ready() {
            self.error = Some(format!(
                "the program is not deterministic: {:?} can continue in this run, {:?} in an earlier one",
                choice.ready(),
                node.ready
            ));
            return None;
        }
        Some(node.chosen)
    }

    fn wants_every_step(&self) -> bool {
        true
    }

    fn end(&mut self, ended: &Ended<'_>) -> bool {
        Analysis::new(ended, self.nodes.len()).want_other_orders(&mut self.nodes);
        for (node, step) in self.nodes.iter_mut().zip(ended.steps) {
            // Steps of the common beginning are put to sleep once: when the search leaves them for good.
            if node.done.contains(step.thread) {
                continue;
            }
            node.done.insert(step.thread);
            node.sleeping.push(*step);
        }
        !self.is_redundant
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }

    fn error(&self) -> Option<String> {
        self.error.clone()
    }
}

/// What happens before what in an execution.
struct Analysis<'a> {
    ended: &'a Ended<'a>,
    /// Steps that are looked at: the first ones.
    len: usize,
    /// For each step and each thread, how many steps of the execution up to the thread's last one that happens before
    /// it, or is it.
    clocks: Vec<usize>,
}

impl<'a> Analysis<'a> {
    fn new(ended: &'a Ended<'a>, len: usize) -> Analysis<'a> {
        let mut analysis = Analysis { ended, len, clocks: vec![0; len * ended.threads()] };
        let mut before: Vec<Option<usize>> = ended.threads.iter().map(|thread| Some(thread.spawned?.0)).collect();
        for at in 0..len {
            let thread = ended.steps[at].thread;
            if let Some(own) = before[thread.at()] {
                analysis.join(at, own);
            }
            for earlier in (0..at).rev() {
                if !analysis.happens_before(earlier, at) && analysis.depend(earlier, &ended.steps[at]) {
                    analysis.join(at, earlier);
                }
            }
            analysis.clocks[at * ended.threads() + thread.at()] = at + 1;
            before[thread.at()] = Some(at);
        }
        analysis
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

    /// Whether a step and an operation that another thread is before depend on each other and might change places.
    fn may_change_places(&self, at: usize, later: &Step) -> bool {
        let step = &self.ended.steps[at];
        let lock = matches!(later.op.kind, Kind::Lock | Kind::Relock);
        let is_single = |step: &Step| step.op.also == ObjectId::NONE && !step.has(extra::MANY);
        let never_both = match later.op.kind {
            Kind::Join => self.ended.object_of(step.thread) == later.op.object,
            // It has waited until all senders had gone.
            Kind::Receive if later.op.gate != Gate::Free => {
                step.op.kind == Kind::Disconnect && step.op.object == later.op.also && is_single(step)
            }
            _ => lock && step.op.kind == Kind::Unlock && step.op.object == later.op.object && is_single(step),
        };
        step.thread != later.thread && !never_both && self.depend(at, later)
    }

    fn want_other_orders(&self, nodes: &mut [Node]) {
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
                    // What it found at last is not what it would have found earlier.
                    step.extras &= !extra::LOOKED;
                }
                self.want_earlier(nodes, own, at.min(self.len), &step);
                own = Some(at);
                if at >= self.len {
                    break;
                }
            }
            // What it is before and was never ready for.
            if thread.state == crate::execution::State::Paused && own.is_none_or(|own| own < self.len) {
                let step = Step { op: thread.op, thread: thread_id, extras: 0 };
                self.want_earlier(nodes, own, self.len, &step);
            }
        }
    }

    /// A thread came to be before a step after its step `own`, and took it as the one numbered `at`.
    fn want_earlier(&self, nodes: &mut [Node], own: Option<usize>, at: usize, step: &Step) {
        let stood = own.map_or(0, |own| own + 1);
        let mut races: Vec<usize> = Vec::new();
        for other in (0..at).rev() {
            let is_before = own.is_some_and(|own| self.happens_before(other, own));
            let is_covered = races.iter().any(|race| self.happens_before(other, *race));
            if is_before || !self.may_change_places(other, step) {
                continue;
            }
            if !is_covered {
                self.want(nodes, other, at, step);
            }
            // What waits may have been possible before someone else made it wait: each moment since the thread stood
            // there counts, and the last one before.
            let early = stood.max(other);
            let could = nodes.get(early).is_none_or(|node| node.ready.contains(step.thread));
            if step.op.gate != Gate::Free && could && (other >= stood || !is_covered) {
                self.want(nodes, other, early, step);
            }
            // Of a thread that waited, races are distinguished by when it came to wait.
            if other < stood || step.op.gate == Gate::Free {
                races.push(other);
            }
        }
    }

    /// Makes sure that an order is tried in which a step of another thread comes before the one numbered `at`: after
    /// whatever was taken from there up to `end` that does not need that one. Any thread will do whose first step there
    /// needs nothing of the rest: one of the weak initials of the source set.
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
