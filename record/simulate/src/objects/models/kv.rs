//! A map of strings: gets, puts and appends.

use super::{Model, Outcome, Want};
use crate::objects::flight::{Ask, Flight};
use crate::objects::values::{UNWRITTEN, Values};
use crate::rng::{Chance, Rng};
use std::fmt::Write as _;

/// The string of one key, empty at first.
pub(in crate::objects) struct Kv {
    pub(in crate::objects) values: Values,
    pub(in crate::objects) reads: Chance,
    /// The share of operations other than gets that are puts. Puts keep strings short.
    pub(in crate::objects) puts: Chance,
}

fn append(text: &mut String, piece: i64) {
    // Writing to a string cannot fail.
    let _ = write!(text, "{piece},");
}

impl Model for Kv {
    type State = String;

    fn fresh(&self) -> String {
        String::new()
    }

    fn draw(&mut self, _: &String, flight: &mut Flight, want: Want, rng: &mut Rng) {
        flight.ask = if want == Want::Read || rng.happens(self.reads) {
            Ask::Get
        } else if rng.happens(self.puts) {
            Ask::Put(self.values.draw(rng))
        } else {
            Ask::Append(self.values.draw(rng))
        };
    }

    fn apply(&mut self, state: &mut String, flight: &mut Flight) -> Outcome {
        match flight.ask {
            Ask::Put(piece) => {
                state.clear();
                append(state, piece);
            }
            Ask::Append(piece) => append(state, piece),
            _ => flight.text.clone_from(state),
        }
        Outcome::Done
    }

    fn distort(&self, flight: &mut Flight) {
        append(&mut flight.text, UNWRITTEN);
    }
}
