//! Replay: what a schedule says, word for word.

use super::{Choice, Scheduler};
use crate::{Schedule, ThreadId};

/// Follows a schedule. Where it ends, threads continue undisturbed.
#[derive(Clone, Debug)]
pub struct Replay {
    threads: Vec<ThreadId>,
    at: usize,
    begun: bool,
    is_strict: bool,
    error: Option<String>,
}

impl Replay {
    /// Follows a schedule, and gives up where the thread that it names cannot continue: the program is then not the one
    /// that the schedule is of.
    pub fn new(schedule: &Schedule) -> Replay {
        Replay { threads: schedule.threads().collect(), at: 0, begun: false, is_strict: true, error: None }
    }

    /// Follows a schedule as far as the program lets it: words that name a thread that cannot continue are skipped.
    pub fn as_far_as_possible(schedule: &Schedule) -> Replay {
        Replay { is_strict: false, ..Replay::new(schedule) }
    }
}

impl Scheduler for Replay {
    fn begin(&mut self) -> bool {
        self.at = 0;
        !std::mem::replace(&mut self.begun, true)
    }

    fn next(&mut self, choice: &Choice<'_>) -> Option<ThreadId> {
        while let Some(&thread) = self.threads.get(self.at) {
            self.at += 1;
            if choice.ready().contains(thread) {
                return Some(thread);
            }
            if self.is_strict {
                let (at, ready) = (self.at, choice.ready());
                self.error = Some(format!(
                    "the schedule belongs to another program: step {at} runs thread {thread}, and only {ready:?} can continue"
                ));
                return None;
            }
        }
        choice.undisturbed()
    }

    fn wants_every_step(&self) -> bool {
        true
    }

    fn error(&self) -> Option<String> {
        self.error.clone()
    }
}
