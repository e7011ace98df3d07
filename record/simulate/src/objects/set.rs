//! A set: additions of an element, and reads of all.

use super::flight::{Ask, Flight};
use super::model::{Model, Outcome, UNWRITTEN, Values, Want};
use crate::rng::{Chance, Rng};

/// A set that is empty at first.
pub(super) struct Set {
    pub(super) values: Values,
    pub(super) reads: Chance,
}

impl Model for Set {
    /// In increasing order.
    type State = Vec<i64>;

    fn fresh(&self) -> Vec<i64> {
        Vec::new()
    }

    fn draw(&mut self, _: &Vec<i64>, flight: &mut Flight, want: Want, rng: &mut Rng) {
        flight.ask =
            if want == Want::Read || rng.happens(self.reads) { Ask::Read } else { Ask::Add(self.values.draw(rng)) };
    }

    fn apply(&mut self, state: &mut Vec<i64>, flight: &mut Flight) -> Outcome {
        match flight.ask {
            Ask::Add(element) => {
                if let Err(at) = state.binary_search(&element) {
                    state.insert(at, element);
                }
            }
            _ => flight.items.clone_from(state),
        }
        Outcome::Done
    }

    fn distort(&self, flight: &mut Flight) {
        flight.items.insert(0, UNWRITTEN);
    }
}
