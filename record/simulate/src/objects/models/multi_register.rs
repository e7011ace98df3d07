//! Several registers, read and written by transactions that happen at one instant.

use super::{Model, Outcome, Want};
use crate::ids::{index, small};
use crate::key_distribution::Popularity;
use crate::lists::registers::RegisterMop;
use crate::objects::flight::{Ask, Flight};
use crate::objects::values::{UNWRITTEN, Values};
use crate::rng::{Chance, Rng};

/// The position of a key's value in the state. Keys are positions, so they are not negative.
fn place(key: i64) -> usize {
    index(key.unsigned_abs())
}

/// Registers that are initially nil.
pub(in crate::objects) struct MultiRegister {
    pub(in crate::objects) values: Values,
    pub(in crate::objects) reads: Chance,
    pub(in crate::objects) keys: u32,
    pub(in crate::objects) popularity: Popularity,
    pub(in crate::objects) ops_per_txn_max: u32,
}

impl Model for MultiRegister {
    /// A value for each key.
    type State = Vec<Option<i64>>;

    fn fresh(&self) -> Vec<Option<i64>> {
        vec![None; index(self.keys)]
    }

    fn draw(&mut self, _: &Vec<Option<i64>>, flight: &mut Flight, want: Want, rng: &mut Rng) {
        flight.ask = Ask::Txn;
        for _ in 0..rng.between(1, self.ops_per_txn_max.into()) {
            let key = i64::from(small(self.popularity.draw(rng)));
            flight.mops.push(if want == Want::Read || rng.happens(self.reads) {
                RegisterMop::Read { key, value: None }
            } else {
                RegisterMop::Write { key, value: self.values.draw(rng) }
            });
        }
    }

    fn apply(&mut self, state: &mut Vec<Option<i64>>, flight: &mut Flight) -> Outcome {
        for mop in &mut flight.mops {
            match mop {
                RegisterMop::Read { key, value } => *value = state[place(*key)],
                RegisterMop::Write { key, value } => state[place(*key)] = Some(*value),
            }
        }
        Outcome::Done
    }

    fn distort(&self, flight: &mut Flight) {
        for mop in &mut flight.mops {
            if let RegisterMop::Read { value, .. } = mop {
                *value = Some(UNWRITTEN);
                return;
            }
        }
    }
}
