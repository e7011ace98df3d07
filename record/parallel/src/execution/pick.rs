//! Picks: what a step leaves open besides who goes next, and the scheduler decides.
//!
//! A pick belongs to the step under way; a thread that has just been spawned runs in a step of its parent. 0 is what
//! usually happens. What is rare, a **surprise**, has a budget for each thread and execution, so that a loop around it
//! ends. The budget is the thread's own: were it shared, two steps that touch nothing in common would depend on each
//! other.

use super::Execution;
use crate::ids::byte;
use crate::op::{Picks, extra};
use std::fmt;

/// What is picked: see [`Scheduler::pick`](crate::scheduler::Scheduler::pick).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Pick {
    /// Whether a wait with a time-out ends at once (1), although others could continue before the time is up.
    TimeOut,
    /// Whether a wait ends (1) although nobody has notified or unparked the thread.
    Wake,
    /// Whether `compare_exchange_weak` fails (1) although the value is the expected one.
    Fail,
    /// Which of the waiting threads is notified, in the order in which they began to wait.
    Waiter,
    /// Which of the values that an atomic has had a load returns: 0 is the newest one.
    Message,
    /// Which branch of a `select!` is polled first.
    Branch,
    /// A number for [`choose`](crate::choose).
    Number,
    /// Whether what was sent over a simulated network is still on its way (1) when someone looks for it.
    Late,
    /// Whether one byte (1) is read from a stream, or written to it, although more could be.
    Part,
    /// Whether a datagram is lost (1).
    Lose,
    /// Whether a datagram arrives twice (1).
    Repeat,
    /// Whether a connection is reset (1).
    Break,
}

impl Pick {
    /// Whether 1 is rare, and limited by [`Settings::surprises_max`](crate::Settings::surprises_max).
    pub fn is_surprise(self) -> bool {
        matches!(self, Pick::TimeOut | Pick::Wake | Pick::Fail) || self.is_fault()
    }

    /// Whether it is a surprise of the network. A thread has as many of them as of the others, which it meets more
    /// often.
    pub fn is_fault(self) -> bool {
        matches!(self, Pick::Late | Pick::Part | Pick::Lose | Pick::Repeat | Pick::Break)
    }

    /// What picking this number out of so many means, as a reader is shown it.
    fn explain(self, value: u32, options: u32) -> String {
        match self {
            Pick::TimeOut => "times out".into(),
            Pick::Wake => "wakes without a notification".into(),
            Pick::Fail => "fails although the value is the expected one".into(),
            Pick::Waiter => format!("wakes waiter {} of {options}", value + 1),
            Pick::Message => format!("reads an older value, {value} of {}", options - 1),
            Pick::Branch => format!("polls branch {} of {options} first", value + 1),
            Pick::Number => format!("chooses {value} of 0 to {}", options - 1),
            Pick::Late => "what was sent is still on its way".into(),
            Pick::Part => "one byte only".into(),
            Pick::Lose => "the datagram is lost".into(),
            Pick::Repeat => "the datagram arrives twice".into(),
            Pick::Break => "the connection is reset".into(),
        }
    }
}

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
