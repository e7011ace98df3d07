//! Picks: what a step leaves open besides who goes next, and the scheduler decides.
//!
//! A pick belongs to the step under way; a thread that has just been spawned runs in a step of its parent. 0 is what
//! usually happens. What is rare, a **surprise**, has a budget for each thread and execution, so that a loop around it
//! ends. The budget is the thread's own: were it shared, two steps that touch nothing in common would depend on each
//! other.

use super::Execution;
use crate::ids::byte;
use crate::op::{Picks, extra};
use crate::scheduler::Pick;
use std::fmt;

/// What a reader is told of a step. It is put in words only if someone reads it.
#[derive(Clone, Debug)]
pub(crate) enum Remark {
    /// What was picked, and out of how many.
    Picked(Pick, u32, u32),
    Text(String),
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remark::Picked(pick, value, options) => f.write_str(&pick.explain(*value, *options)),
            Remark::Text(text) => f.write_str(text),
        }
    }
}

impl Execution {
    /// Whether a pick has to wait for a step of its own: there is none, or it is full.
    pub(crate) fn needs_step(&self, pick: Pick) -> bool {
        self.may_pick(pick) && self.steps.last().is_none_or(|step| step.picks.is_full())
    }

    fn may_pick(&self, pick: Pick) -> bool {
        !(self.over || self.is_lost || self.is_spent_on(pick))
    }

    /// Whether the running thread has had as many surprises of this kind as it may have.
    fn is_spent_on(&self, pick: Pick) -> bool {
        let surprises = &self.threads[self.current.at()].surprises;
        pick.is_surprise() && surprises[usize::from(pick.is_fault())] >= self.limits.surprises_max
    }

    /// One of so many options.
    pub(crate) fn pick(&mut self, pick: Pick, options: u32) -> u32 {
        if options < 2 || !self.may_pick(pick) || self.needs_step(pick) {
            let is_refused = options > 1 && self.is_spent_on(pick);
            self.refused = self.refused.saturating_add(u32::from(is_refused));
            return 0;
        }
        debug_assert!(options <= Picks::OPTIONS_MAX, "{options} options");
        let picked = self.scheduler.as_mut().and_then(|scheduler| scheduler.pick(pick, options));
        let Some(value) = picked.filter(|value| *value < options) else {
            self.is_lost = true;
            return 0;
        };
        let at = self.steps.len() - 1;
        let step = &mut self.steps[at];
        step.picks.push(byte(value));
        step.extras |= extra::PICKED;
        if value > 0 {
            self.picked.push((at, Remark::Picked(pick, value, options)));
            let surprises = &mut self.threads[self.current.at()].surprises;
            surprises[usize::from(pick.is_fault())] += u32::from(pick.is_surprise());
        }
        value
    }
}
