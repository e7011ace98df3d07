//! The nemesis: now and then it cuts the network, and heals it a while later.

use super::schedule::Delay;
use crate::rng::{Chance, Rng};

/// While the network is whole.
const HEALTHY: Delay = Delay(1_000_000, 5_000_000);
/// While it is cut.
const CUT: Delay = Delay(500_000, 2_000_000);
/// How long cutting and healing take.
const ACT: Delay = Delay(1_000, 100_000);
/// How many of the requests sent while it is cut are never answered.
const UNANSWERED: f64 = 0.25;

/// What the nemesis does next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Cut,
    CutDone,
    Heal,
    HealDone,
}

/// Takes the network apart and mends it, over and over. Each act is two ops: it begins, and it is done.
pub(crate) struct Nemesis {
    next: Phase,
    unanswered: Chance,
}

impl Nemesis {
    pub(crate) fn new() -> Nemesis {
        Nemesis { next: Phase::Cut, unanswered: Chance::new(UNANSWERED) }
    }

    /// When it acts first, in nanoseconds since the test began.
    pub(crate) fn first(rng: &mut Rng) -> u64 {
        HEALTHY.draw(rng)
    }

    /// Does what is next: the name of it, and how long until the one after that, in nanoseconds.
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

    /// Whether it has nothing to mend or to report.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.next == Phase::Cut
    }

    /// Whether a request sent now is lost in the network.
    pub(crate) fn swallows(&self, rng: &mut Rng) -> bool {
        matches!(self.next, Phase::Heal | Phase::HealDone) && rng.happens(self.unanswered)
    }
}
