//! PCT: threads have random priorities, and at a few random steps the running thread gets the lowest priority.
//!
//! Burckhardt, Kothari, Musuvathi and Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding
//! Bugs" (ASPLOS 2010). A bug has depth d if d orderings between steps suffice for it to show. With n threads and k
//! steps each execution finds a bug of depth d with probability at least 1 / (n k^(d-1)).
//!
//! Deviations from the paper: k is not known beforehand, so unless it is given, the length of the longest execution so
//! far is used, and the first execution has no change points. Picks are random. Threads get their priority when they
//! are first seen. A thread that yields gets the lowest priority; otherwise a spinning thread of high priority would
//! prevent the thread that it waits for from running. So the probability differs from that of the paper for a bug that
//! appears only if a thread continues immediately where it yields, or that needs a certain pick.

use super::random::{Faults, at_random};
use super::rng::Rng;
use super::{Choice, Ended, Pick, Scheduler};
use crate::ThreadId;
use crate::ids::index;
use crate::op::THREADS_MAX;

/// Finds bugs of a given depth with a known probability.
#[derive(Clone, Debug)]
pub struct Pct {
    seed: u64,
    depth: u32,
    executions: u64,
    begun: u64,
    steps: usize,
    rng: Rng,
    faults: Faults,
    /// Priorities of the threads: the highest goes first. Lowered priorities are negative; those not yet drawn are
    /// `None`.
    priorities: [Option<i64>; THREADS_MAX],
    lowest: i64,
    /// The steps before which a priority changes, the earliest last.
    changes: Vec<usize>,
}

impl Pct {
    /// Creates a scheduler for this number of executions and bugs of a depth, which is at least 1. A bug that needs one
    /// preemption has depth 2.
    pub fn new(seed: u64, depth: u32, executions: u64) -> Pct {
        Pct {
            seed,
            depth: depth.max(1),
            executions,
            begun: 0,
            steps: 0,
            rng: Rng::new(seed),
            faults: Faults::default(),
            priorities: [None; THREADS_MAX],
            lowest: 0,
            changes: Vec::new(),
        }
    }

    /// Sets the expected number of steps of an execution, from the first one on.
    #[must_use]
    pub fn steps(mut self, steps: usize) -> Pct {
        self.steps = steps;
        self
    }

    fn priority(&mut self, thread: ThreadId) -> i64 {
        let rng = &mut self.rng;
        *self.priorities[thread.at()].get_or_insert_with(|| (rng.next() >> 1).cast_signed())
    }

    fn lower(&mut self, thread: ThreadId) {
        self.lowest -= 1;
        self.priorities[thread.at()] = Some(self.lowest);
    }

    fn highest(&mut self, choice: &Choice<'_>) -> Option<ThreadId> {
        // Priorities are drawn in the order of the threads' numbers.
        choice.ready().iter().max_by_key(|thread| self.priority(*thread))
    }
}

impl Scheduler for Pct {
    fn begin(&mut self) -> bool {
        self.rng = Rng::fork(self.seed, self.begun);
        self.faults = Faults::of(self.seed, self.begun);
        self.begun += 1;
        self.priorities = [None; THREADS_MAX];
        self.lowest = 0;
        self.changes.clear();
        if self.steps > 0 {
            let steps = u32::try_from(self.steps).unwrap_or(u32::MAX);
            self.changes.extend((1..self.depth).map(|_| index(self.rng.below(steps))));
            self.changes.sort_unstable_by(|a, b| b.cmp(a));
        }
        self.begun <= self.executions
    }

    fn next(&mut self, choice: &Choice<'_>) -> Option<ThreadId> {
        if let Some(current) = choice.current().filter(|_| choice.yielded()) {
            self.lower(current);
        }
        while self.changes.last().is_some_and(|step| *step <= choice.step()) {
            self.changes.pop();
            if let Some(highest) = self.highest(choice) {
                self.lower(highest);
            }
        }
        self.highest(choice)
    }

    fn pick(&mut self, pick: Pick, options: u32) -> Option<u32> {
        Some(at_random(&mut self.rng, self.faults, pick, options))
    }

    fn wants_every_step(&self) -> bool {
        true
    }

    fn end(&mut self, ended: &Ended<'_>) -> bool {
        self.steps = self.steps.max(ended.steps().len());
        true
    }
}

/// The maximum probability that PCT misses a bug of this depth in this number of executions of programs with this
/// number of threads and steps: (1 - 1 / (n k^(d-1)))^executions.
///
/// ```
/// use record_parallel::scheduler::miss_probability;
///
/// // Two threads of two steps each, and a bug that takes one preemption.
/// let missed = miss_probability(3, 6, 2, 200);
/// assert!((1e-6..1e-4).contains(&missed), "{missed}");
/// ```
pub fn miss_probability(threads: u32, steps: u32, depth: u32, executions: u32) -> f64 {
    let orders = f64::from(threads.max(1)) * f64::from(steps.max(1)).powf(f64::from(depth.max(1) - 1));
    (1.0 - 1.0 / orders).powf(f64::from(executions))
}
