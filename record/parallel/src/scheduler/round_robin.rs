//! Round-robin: at each pause point the next thread in turn.

use super::{Choice, Scheduler};
use crate::ThreadId;

/// Executes one step of every thread, in the order of their numbers, repeatedly. There is one execution.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    begun: bool,
    last: Option<ThreadId>,
}

impl RoundRobin {
    /// A scheduler that starts with the first thread.
    pub fn new() -> RoundRobin {
        RoundRobin::default()
    }
}

impl Scheduler for RoundRobin {
    fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.begun, true)
    }

    fn next(&mut self, choice: &Choice<'_>) -> Option<ThreadId> {
        let after = choice.ready().iter().find(|thread| self.last.is_none_or(|last| *thread > last));
        self.last = after.or_else(|| choice.ready().first());
        self.last
    }

    fn wants_every_step(&self) -> bool {
        true
    }
}
