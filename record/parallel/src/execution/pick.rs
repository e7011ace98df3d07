//! Picks: the choices within a step besides the next thread. The scheduler makes them.
//!
//! A pick belongs to the current step; a thread that has just been spawned runs in a step of its parent. 0 is the usual
//! case. A rare case, a **surprise**, has a budget per thread and execution, so that a loop around it ends. Each thread
//! has its own budget: with a common budget, two steps without a common object would depend on each other.

use super::Execution;
use crate::ids::byte;
use crate::op::{Picks, extra};
use crate::scheduler::Pick;
use std::fmt;

/// A remark on a step. It is formatted only when it is printed.
#[derive(Clone, Debug)]
pub(crate) enum Remark {
    /// The picked option, and the number of options.
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
    /// Returns true if a pick needs its own step, because there is no current step or it has no room for more picks.
    pub(crate) fn needs_step(&self, pick: Pick) -> bool {
        self.may_pick(pick) && self.steps.last().is_none_or(|step| step.picks.is_full())
    }

    fn may_pick(&self, pick: Pick) -> bool {
        !(self.over || self.is_lost || self.is_spent_on(pick))
    }

    /// Returns true if the running thread has used its budget of surprises of this kind.
    fn is_spent_on(&self, pick: Pick) -> bool {
        let surprises = &self.threads[self.current.at()].surprises;
        pick.is_surprise() && surprises[usize::from(pick.is_fault())] >= self.limits.surprises_max
    }

    /// Returns the scheduler's pick among `options` options.
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
