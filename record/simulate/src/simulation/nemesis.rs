//! The nemesis: it cuts the network from time to time, and repairs it a while later.

use super::schedule::Delay;
use crate::rng::{Chance, Rng};

/// The time during which the network works.
const HEALTHY: Delay = Delay(1_000_000, 5_000_000);
/// The time during which it is cut.
const CUT: Delay = Delay(500_000, 2_000_000);
/// The time that cutting or repairing takes.
const ACT: Delay = Delay(1_000, 100_000);
/// The share of requests that get no answer if they are sent while the network is cut.
const UNANSWERED: f64 = 0.25;

/// The next step of the nemesis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Cut,
    CutDone,
    Heal,
    HealDone,
}

/// Cuts the network and repairs it, repeatedly. Each action is two ops: its beginning and its end.
pub(crate) struct Nemesis {
    next: Phase,
    unanswered: Chance,
}

impl Nemesis {
    pub(crate) fn new() -> Nemesis {
        Nemesis { next: Phase::Cut, unanswered: Chance::new(UNANSWERED) }
    }

    /// The time of its first action, in nanoseconds since the test began.
    pub(crate) fn first(rng: &mut Rng) -> u64 {
        HEALTHY.draw(rng)
    }

    /// Performs the next step. Returns its name, and the time until the following step in nanoseconds.
    pub(crate) fn act(&mut self, rng: &mut Rng) -> (&'static str, u64) {
        let (f, wait, next) = match self.next {
            Phase::Cut => ("start-partition", &ACT, Phase::CutDone),
            Phase::CutDone => ("start-partition", &CUT, Phase::Heal),
            Phase::Heal => ("stop-partition", &ACT, Phase::HealDone),
            Phase::HealDone => ("stop-partition", &HEALTHY, Phase::Cut),
        };
        self.next = next;
        (f, wait.draw(rng))
    }

    /// Returns true if there is nothing to repair or to report.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.next == Phase::Cut
    }

    /// Returns true if a request sent now is lost.
    pub(crate) fn swallows(&self, rng: &mut Rng) -> bool {
        matches!(self.next, Phase::Heal | Phase::HealDone) && rng.happens(self.unanswered)
    }
}
