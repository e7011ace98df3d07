//! Replay: follows a schedule exactly. Picks that the schedule does not contain are 0.

use super::{Choice, Ended, Pick, Scheduler};
use crate::{Schedule, ThreadId};

/// Follows a schedule. After its end, threads run without preemptions.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The thread of each step, and its picks.
    steps: Vec<(ThreadId, Vec<u8>)>,
    at: usize,
    /// The number of picks made in the current step so far.
    picked: usize,
    begun: bool,
    is_strict: bool,
    error: Option<String>,
}

impl Replay {
    /// Follows a schedule, and gives up if a thread that it names cannot continue: the schedule then belongs to another
    /// program. The same applies to a program that ends before the schedule does, or that has fewer picks.
    pub fn new(schedule: &Schedule) -> Replay {
        let steps = schedule.steps().map(|(thread, picks)| (thread, picks.to_vec())).collect();
        Replay { steps, at: 0, picked: 0, begun: false, is_strict: true, error: None }
    }

    /// Follows a schedule as far as the program permits: steps of a thread that cannot continue are skipped.
    pub fn as_far_as_possible(schedule: &Schedule) -> Replay {
        Replay { is_strict: false, ..Replay::new(schedule) }
    }

    /// Returns true if the program has made all picks of the current step, and records an error otherwise.
    fn is_step_used(&mut self) -> bool {
        let picks = self.at.checked_sub(1).and_then(|at| self.steps.get(at)).map_or(0, |(_, picks)| picks.len());
        if !self.is_strict || self.picked >= picks {
            return true;
        }
        let (at, picked) = (self.at, self.picked);
        self.error = Some(format!(
            "the schedule belongs to another program: step {at} has {picks} picks, and the program asked for {picked}"
        ));
        false
    }
}

impl Scheduler for Replay {
    fn begin(&mut self) -> bool {
        self.at = 0;
        !std::mem::replace(&mut self.begun, true)
    }

    fn next(&mut self, choice: &Choice<'_>) -> Option<ThreadId> {
        if !self.is_step_used() {
            return None;
        }
        self.picked = 0;
        while let Some(&(thread, _)) = self.steps.get(self.at) {
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
        // After the end of the schedule, all picks are 0.
        self.at = self.steps.len() + 1;
        choice.undisturbed()
    }

    fn pick(&mut self, _: Pick, options: u32) -> Option<u32> {
        let step = self.at.checked_sub(1).and_then(|at| self.steps.get(at));
        let value = step.and_then(|(_, picks)| picks.get(self.picked)).map_or(0, |value| u32::from(*value));
        self.picked += 1;
        if value < options {
            return Some(value);
        }
        if self.is_strict {
            let at = self.at;
            self.error = Some(format!(
                "the schedule belongs to another program: step {at} picks {value}, and only 0 to {} can be picked",
                options - 1
            ));
            return None;
        }
        Some(0)
    }

    /// Records an error if the program ended before its schedule: the schedule then belongs to another program.
    fn end(&mut self, _: &Ended<'_>) -> bool {
        let (used, all) = (self.at, self.steps.len());
        if self.is_step_used() && self.is_strict && used < all {
            self.error = Some(format!(
                "the schedule belongs to another program: it has {all} steps, and the program ended after {used}"
            ));
        }
        true
    }

    fn wants_every_step(&self) -> bool {
        true
    }

    fn error(&self) -> Option<String> {
        self.error.clone()
    }
}
