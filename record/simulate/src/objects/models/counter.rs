//! A counter: additions of positive amounts, and reads of the sum.

use super::{Model, Outcome, Want};
use crate::objects::flight::{Ask, Flight};
use crate::rng::{Chance, Rng};

/// A counter that starts with 0.
pub(in crate::objects) struct Counter {
    pub(in crate::objects) reads: Chance,
    /// The largest amount.
    pub(in crate::objects) amount_max: u64,
    /// The sum of all requested additions, to any counter.
    pub(in crate::objects) asked: i64,
}

impl Model for Counter {
    type State = i64;

    fn fresh(&self) -> i64 {
        0
    }

    fn draw(&mut self, _: &i64, flight: &mut Flight, want: Want, rng: &mut Rng) {
        if want == Want::Read || rng.happens(self.reads) {
            flight.ask = Ask::Read;
            return;
        }
        let amount = rng.between(1, self.amount_max).cast_signed();
        self.asked += amount;
        flight.ask = Ask::Add(amount);
    }

    fn apply(&mut self, state: &mut i64, flight: &mut Flight) -> Outcome {
        match flight.ask {
            Ask::Add(amount) => *state += amount,
            _ => flight.seen = Some(*state),
        }
        Outcome::Done
    }

    fn distort(&self, flight: &mut Flight) {
        flight.seen = Some(self.asked + 1);
    }
}
