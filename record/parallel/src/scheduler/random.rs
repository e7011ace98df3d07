//! Random: at each pause point any thread that is ready, each as likely as the others, whether it yields or not.

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
        // Each execution has a seed of its own, so that the hundredth does not hang on how long those before it were.
        self.rng = Rng::fork(self.seed, self.begun);
        self.faults = Faults::of(self.seed, self.begun);
        self.begun += 1;
        self.begun <= self.executions
    }

    fn next(&mut self, choice: &Choice<'_>) -> Option<ThreadId> {
        // That a thread yields makes no difference: what it waits for happens some time.
        choice.ready().nth(self.rng.below(choice.ready().len()))
    }

    fn pick(&mut self, pick: Pick, options: u32) -> Option<u32> {
        Some(at_random(&mut self.rng, self.faults, pick, options))
    }
}

/// The frequency of the network's surprises in an execution: between once in 4 times and once in 256. A thread has only
/// a few, and would have used them before it reaches the later ones if they were frequent in each execution.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Faults(u32);

impl Faults {
    pub(super) fn of(seed: u64, execution: u64) -> Faults {
        Faults(4 << (2 * Rng::fork(!seed, execution).below(4)))
    }
}

/// Any of the options; a surprise once in four times, or as rarely as the network's are.
pub(super) fn at_random(rng: &mut Rng, faults: Faults, pick: Pick, options: u32) -> u32 {
    if pick.is_fault() {
        u32::from(rng.below(faults.0.max(1)) == 0)
    } else if pick.is_surprise() {
        u32::from(rng.below(4) == 0)
    } else {
        rng.below(options)
    }
}
