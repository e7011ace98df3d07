//! A generator of ids.

use super::{Model, Outcome, Want};
use crate::objects::flight::{Ask, Flight};
use crate::rng::Rng;

/// Returns a new id to each request.
pub(in crate::objects) struct Ids;

impl Model for Ids {
    /// The number of ids that were generated.
    type State = i64;

    fn fresh(&self) -> i64 {
        0
    }

    fn draw(&mut self, _: &i64, flight: &mut Flight, _: Want, _: &mut Rng) {
        flight.ask = Ask::Generate;
    }

    fn apply(&mut self, state: &mut i64, flight: &mut Flight) -> Outcome {
        *state += 1;
        flight.seen = Some(*state);
        Outcome::Done
    }
}
