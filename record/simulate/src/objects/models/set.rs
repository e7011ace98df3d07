//! A set: additions of an element, and reads of all.

use super::{Model, Outcome, Want};
use crate::objects::flight::{Ask, Flight};
use crate::objects::values::{UNWRITTEN, Values};
use crate::rng::{Chance, Rng};

/// A set that is empty at first.
pub(in crate::objects) struct Set {
    pub(in crate::objects) values: Values,
    pub(in crate::objects) reads: Chance,
    /// Whether the operation that adds an element is called `write`, not `add`.
    pub(in crate::objects) writes: bool,
    /// The operation that is requested after all others, if there is one.
    pub(in crate::objects) last: Option<Ask>,
}

impl Model for Set {
    /// The elements in increasing order.
    type State = Vec<i64>;

    fn fresh(&self) -> Vec<i64> {
        Vec::new()
    }

    fn draw(&mut self, _: &Vec<i64>, flight: &mut Flight, want: Want, rng: &mut Rng) {
        flight.ask = if want == Want::Read || rng.happens(self.reads) {
            Ask::Read
        } else if self.writes {
            Ask::Write(self.values.draw(rng))
        } else {
            Ask::Add(self.values.draw(rng))
        };
    }

    fn apply(&mut self, state: &mut Vec<i64>, flight: &mut Flight) -> Outcome {
        match flight.ask {
            Ask::Add(element) | Ask::Write(element) => {
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

    fn skew(&self, past: &Vec<i64>, flight: &mut Flight, rng: &mut Rng) {
        flight.items.retain(|element| past.binary_search(element).is_ok() || rng.happens(Chance::HALF));
    }

    fn double(&mut self, state: &mut Vec<i64>, flight: &mut Flight) {
        if let Ask::Add(element) | Ask::Write(element) = flight.ask {
            let at = state.partition_point(|other| *other < element);
            state.insert(at, element);
        }
    }

    fn last(&self) -> Option<Ask> {
        self.last
    }
}
