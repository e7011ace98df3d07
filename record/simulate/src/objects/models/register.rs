//! A register: reads, writes and, if it supports it, compare-and-set.

use super::{Model, Outcome, Want};
use crate::objects::flight::{Ask, Flight};
use crate::objects::values::Values;
use crate::rng::{Chance, Rng};

/// A register that is initially nil.
pub(in crate::objects) struct Register {
    pub(in crate::objects) values: Values,
    pub(in crate::objects) reads: Chance,
    /// The share of operations other than reads that are compare-and-sets.
    pub(in crate::objects) cas: Chance,
}

impl Model for Register {
    type State = Option<i64>;

    fn fresh(&self) -> Option<i64> {
        None
    }

    fn draw(&mut self, state: &Option<i64>, flight: &mut Flight, want: Want, rng: &mut Rng) {
        flight.ask = if want == Want::Read || rng.happens(self.reads) {
            Ask::Read
        } else if rng.happens(self.cas) {
            // If all values are new, a value drawn at random would never match. The register is nil until a value is
            // written.
            let old = if self.values.are_new() { *state } else { state.map(|_| self.values.draw(rng)) };
            let new = self.values.draw(rng);
            old.map_or(Ask::Write(new), |old| Ask::Cas { old, new })
        } else {
            Ask::Write(self.values.draw(rng))
        };
    }

    fn apply(&mut self, state: &mut Option<i64>, flight: &mut Flight) -> Outcome {
        match flight.ask {
            Ask::Write(new) => *state = Some(new),
            Ask::Cas { old, new } if *state == Some(old) => *state = Some(new),
            Ask::Cas { .. } => return Outcome::Refused,
            _ => flight.seen = *state,
        }
        Outcome::Done
    }
}
