//! Reduced: at least one schedule of every kind, where schedules that differ only in the order of independent steps are
//! of the same kind.
//!
//! Source sets with sleep sets: Abdulla, Aronis, Jonsson and Sagonas, "Optimal Dynamic Partial Order Reduction" (POPL
//! 2014), section 4. It refines Flanagan and Godefroid, "Dynamic Partial-Order Reduction for Model Checking Software"
//! (POPL 2005), whose backtracking points are not sufficient with sleep sets: the thread that must be tried may be in
//! the sleep set, when another one must come before it. After each execution, the search examines each operation of
//! each thread, at each moment at which the thread was before the operation: another order must be tried at the steps
//! that depend on the operation and need not come before it. An operation that waits is examined from the moment when
//! the thread reached it, since two steps that lock a mutex are never adjacent.
//!
//! Two steps are independent if they access different objects or only read, and it is not the case that one is a call
//! and the other a return of an operation of the recorded history. The objects that a step accesses are known when it
//! ends: the object of its operation, and those that its thread changed while it unwound. An operation that might have
//! changed its object and did not, such as an exchange that failed, counts as a read. Counts (of senders, of pointers)
//! are changed without being observed; an operation that depends on a count depends on all changes of it.
//!
//! Picks are branches of a step: if a thread is tried, all possible picks in its step are tried. The possible picks
//! depend on the thread and on the objects that its step accesses, so a thread sleeps with all of its picks or not at
//! all.
//!
//! A thread that returns to the same operation, while nothing that it has read has changed, waits until some of it
//! changes: all its possible actions have been executed. The change acts as if it opened a gate for the thread. For
//! details see `circles`.
//!
//! Preemptions are not bounded: with a bound, the one schedule of a kind that is tried may be one that exceeds it.

mod analysis;
mod circles;

use super::fairness::may_hide_changes;
use super::{Choice, Ended, Pick, Scheduler};
use crate::op::Step;
use crate::{ThreadId, ThreadSet};
use analysis::Analysis;
use circles::Circles;

/// Tries one schedule of every kind: fewer executions than [`super::Exhaustive`], with the same results.
#[derive(Clone, Debug)]
pub struct Reduced {
    executions_max: u64,
    begun: u64,
    /// A node for each step of the execution, up to the step where it was found to be equivalent to an earlier
    /// execution.
    nodes: Vec<Node>,
    /// Whether the execution is equivalent to an earlier one, because every ready thread sleeps.
    is_redundant: bool,
    circles: Circles,
    /// A thread that is run alone to find out whether its loop ends, and the first step of that run. The planned
    /// execution comes next.
    alone: Option<(ThreadId, usize)>,
    /// Whether the loop of the thread ends that was run alone in the previous execution.
    ends: Option<bool>,
    /// The current step, and the number of its picks so far.
    at: usize,
    picked: usize,
    is_cut: bool,
    is_complete: bool,
    error: Option<String>,
}

#[derive(Clone, Debug)]
struct Node {
    ready: ThreadSet,
    chosen: ThreadId,
    /// The picks of the step, each with the number of options.
    picks: Vec<(u32, u32)>,
    /// Whether the step with these picks is in `sleeping`.
    is_noted: bool,
    /// A thread that has returned to the same operation but does not wait, since its loop ends by itself.
    released: Option<ThreadId>,
    done: ThreadSet,
    /// The threads that must be tried; always contains `chosen`.
    wanted: ThreadSet,
    /// Steps that were tried from here or before, without a dependent step since then: every execution that continues
    /// with one of them was covered.
    sleeping: Vec<Step>,
}

impl Reduced {
    /// Creates a scheduler for every kind of schedule.
    pub fn new() -> Reduced {
        Reduced {
            executions_max: u64::MAX,
            begun: 0,
            nodes: Vec::new(),
            is_redundant: false,
            circles: Circles::default(),
            alone: None,
            ends: None,
            at: 0,
            picked: 0,
            is_cut: false,
            is_complete: false,
            error: None,
        }
    }

    /// Sets the maximum number of executions. The search may then not be complete.
    #[must_use]
    pub fn executions_max(mut self, executions: u64) -> Reduced {
        self.executions_max = executions;
        self
    }

    fn add_node(&mut self, choice: &Choice<'_>) -> Option<ThreadId> {
        let mut released = None;
        if let Some(thread) = self.circles.begins_to_wait() {
            let Some(ends) = self.ends.take() else {
                self.alone = Some((thread, choice.step()));
                return Some(thread);
            };
            if ends {
                self.circles.release(thread);
                released = Some(thread);
            }
        }
        let ready = self.circles.ready(choice);
        let object_of = |thread: ThreadId| choice.threads[thread.at()].object;
        let mut sleeping = Vec::new();
        if let (Some(parent), Some(last)) = (self.nodes.last(), choice.steps.last()) {
            let wakes = |step: &&Step| step.thread == last.thread || step.depends_on(last, object_of);
            let awake = parent.sleeping.iter().filter(wakes).fold(ThreadSet::default(), |set, of| set.with(of.thread));
            sleeping.extend(parent.sleeping.iter().filter(|step| !awake.contains(step.thread)).copied());
        }
        let awake = sleeping.iter().fold(ready, |awake, step: &Step| awake.without(step.thread));
        let undisturbed = choice.undisturbed()?;
        let Some(first) = awake.first() else {
            self.is_redundant = true;
            return Some(undisturbed);
        };
        let chosen = if awake.contains(undisturbed) { undisturbed } else { first };
        self.nodes.push(Node {
            ready,
            chosen,
            picks: Vec::new(),
            is_noted: false,
            released,
            done: ThreadSet::default(),
            wanted: ThreadSet::default().with(chosen),
            sleeping,
        });
        Some(chosen)
    }

    /// Decides whether a thread that is run alone continues.
    fn run_alone(&mut self, choice: &Choice<'_>, thread: ThreadId, from: usize) -> Option<ThreadId> {
        if !self.is_redundant && choice.step() > from {
            let is_long = choice.step() >= choice.steps_max / 2;
            let ends = !choice.ready().contains(thread) || self.circles.has_left(thread);
            self.is_cut |= is_long && !ends;
            self.is_redundant = ends || is_long || self.circles.has_circled(thread);
            self.ends = self.is_redundant.then_some(ends);
        }
        if self.is_redundant { choice.undisturbed() } else { Some(thread) }
    }
}

impl Node {
    /// Advances to the next alternative. Returns false if there is none.
    fn advance(&mut self) -> bool {
        while let Some((value, options)) = self.picks.pop() {
            if value + 1 < options {
                self.picks.push((value + 1, options));
                self.is_noted = false;
                return true;
            }
        }
        self.done.insert(self.chosen);
        let asleep = self.sleeping.iter().fold(ThreadSet::default(), |set, step| set.with(step.thread));
        let left = ThreadSet(self.wanted.0 & !self.done.0 & !asleep.0);
        let Some(next) = left.first() else { return false };
        self.chosen = next;
        self.is_noted = false;
        true
    }
}

impl Default for Reduced {
    fn default() -> Reduced {
        Reduced::new()
    }
}

impl Scheduler for Reduced {
    fn begin(&mut self) -> bool {
        self.circles.begin();
        let is_again = self.alone.take().is_some();
        self.is_redundant = false;
        if self.begun > 0 && !is_again {
            loop {
                let Some(node) = self.nodes.last_mut() else {
                    self.is_complete = !self.is_cut && !self.circles.is_cut();
                    return false;
                };
                if node.advance() {
                    break;
                }
                self.nodes.pop();
            }
        }
        self.begun += 1;
        self.begun <= self.executions_max
    }

    fn next(&mut self, choice: &Choice<'_>) -> Option<ThreadId> {
        (self.at, self.picked) = (choice.step(), 0);
        self.circles.look(choice);
        if let Some((thread, from)) = self.alone.filter(|(_, from)| choice.step() >= *from) {
            return self.run_alone(choice, thread, from);
        }
        if self.is_redundant {
            return choice.undisturbed();
        }
        let Some(node) = self.nodes.get(choice.step()) else { return self.add_node(choice) };
        if let Some(thread) = node.released {
            self.circles.release(thread);
        }
        let ready = self.circles.ready(choice);
        if node.ready != ready {
            self.error = Some(format!(
                "the program is not deterministic: {ready:?} can continue in this run, {:?} in an earlier one",
                node.ready
            ));
            return None;
        }
        Some(node.chosen)
    }

    fn pick(&mut self, _: Pick, options: u32) -> Option<u32> {
        if self.is_redundant || self.alone.is_some_and(|(_, from)| self.at >= from) {
            return Some(0);
        }
        let picks = &mut self.nodes.get_mut(self.at)?.picks;
        if self.picked == picks.len() {
            picks.push((0, options));
        }
        let (value, of) = picks[self.picked];
        self.picked += 1;
        if of != options {
            self.error = Some(format!(
                "the program is not deterministic: it picks of {options} in this run, of {of} in an earlier one"
            ));
            return None;
        }
        Some(value)
    }

    fn wants_every_step(&self) -> bool {
        true
    }

    fn end(&mut self, ended: &Ended<'_>) -> bool {
        if let Some((thread, from)) = self.alone {
            // If nothing was determined before, the execution has ended, and with it the loop.
            let ends = *self.ends.get_or_insert(true);
            self.is_cut |= !ends && may_hide_changes(ended.steps, thread, from);
            return false;
        }
        Analysis::new(ended, self.circles.woken(), self.nodes.len()).want_other_orders(&mut self.nodes);
        for (node, step) in self.nodes.iter_mut().zip(ended.steps) {
            // A step common to several executions is put to sleep only once: when the search leaves it for good.
            if !std::mem::replace(&mut node.is_noted, true) {
                node.sleeping.push(*step);
            }
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
