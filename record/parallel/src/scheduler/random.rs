//! Random: at each pause point runs any ready thread, each with the same probability, whether it yields or not.

use super::rng::Rng;
use super::{Choice, Pick, Scheduler};
use crate::ThreadId;

/// Chooses at random. The same seed gives the same schedules on every machine.
#[derive(Clone, Debug)]
pub struct Random {
    seed: u64,
    executions: u64,
    begun: u64,
    rng: Rng,
    faults: Faults,
}

impl Random {
    /// Creates a scheduler for this number of executions.
    pub fn new(seed: u64, executions: u64) -> Random {
        Random { seed, executions, begun: 0, rng: Rng::new(seed), faults: Faults::default() }
    }
}

impl Scheduler for Random {
    fn begin(&mut self) -> bool {
        // Each execution has its own seed, so that it does not depend on the lengths of earlier executions.
        self.rng = Rng::fork(self.seed, self.begun);
        self.faults = Faults::of(self.seed, self.begun);
        self.begun += 1;
        self.begun <= self.executions
    }

    fn next(&mut self, choice: &Choice<'_>) -> Option<ThreadId> {
        // Threads that yield are not treated differently: the event that such a thread waits for happens at some point.
        choice.ready().nth(self.rng.below(choice.ready().len()))
    }

    fn pick(&mut self, pick: Pick, options: u32) -> Option<u32> {
        Some(at_random(&mut self.rng, self.faults, pick, options))
    }
}

/// The frequency of the network's surprises in an execution: between 1 in 4 and 1 in 256. A thread may have only a few
/// surprises. If they were frequent in each execution, threads would have none left for later points.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Faults(u32);

impl Faults {
    pub(super) fn of(seed: u64, execution: u64) -> Faults {
        Faults(4 << (2 * Rng::fork(!seed, execution).below(4)))
    }
}

/// Picks any of the options. A surprise has probability 1/4, or the execution's frequency if it is one of the network.
pub(super) fn at_random(rng: &mut Rng, faults: Faults, pick: Pick, options: u32) -> u32 {
    if pick.is_fault() {
        u32::from(rng.below(faults.0.max(1)) == 0)
    } else if pick.is_surprise() {
        u32::from(rng.below(4) == 0)
    } else {
        rng.below(options)
    }
}
