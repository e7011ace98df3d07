//! Subkeys: a client writes the subkeys of a key one after another, and other clients read all of them in reverse.

use super::{Model, Outcome, Want};
use crate::ids::{index, wide};
use crate::objects::flight::{Ask, Flight};
use crate::objects::values::UNWRITTEN;
use crate::op::Kind;
use crate::rng::{Chance, Rng};
use std::collections::BTreeMap;

/// Keys that clients write; each client has its own.
pub(in crate::objects) struct Sequential {
    pub(in crate::objects) reads: Chance,
    /// At most [`SUBKEYS_MAX`](crate::objects::object::SUBKEYS_MAX).
    pub(in crate::objects) subkeys: u32,
    /// By client: the key that it writes, and the next subkey.
    pub(in crate::objects) clients: Vec<Option<(i64, u32)>>,
    /// The next key that was not written yet.
    pub(in crate::objects) next: i64,
    /// The number of keys that are kept: more than a client that waits for an answer may read or write.
    pub(in crate::objects) room: i64,
}

impl Model for Sequential {
    /// The subkeys that were written, of each key that a client may still read.
    type State = BTreeMap<i64, u64>;

    fn fresh(&self) -> BTreeMap<i64, u64> {
        BTreeMap::new()
    }

    fn draw(&mut self, _: &BTreeMap<i64, u64>, flight: &mut Flight, want: Want, rng: &mut Rng) {
        if want == Want::Read || rng.happens(self.reads) {
            let back = rng.below(2 * wide(self.clients.len())).cast_signed();
            flight.ask = Ask::ReadSubkeys((self.next - 1 - back).max(0));
            return;
        }
        let own = &mut self.clients[index(flight.client)];
        let (key, subkey) = *own.get_or_insert_with(|| {
            self.next += 1;
            (self.next - 1, 0)
        });
        flight.ask = Ask::WriteSubkey { key, subkey };
    }

    fn apply(&mut self, state: &mut BTreeMap<i64, u64>, flight: &mut Flight) -> Outcome {
        match flight.ask {
            Ask::WriteSubkey { key, subkey } => {
                *state.entry(key).or_default() |= 1 << subkey;
                while state.first_key_value().is_some_and(|(first, _)| *first < key - self.room) {
                    state.pop_first();
                }
            }
            Ask::ReadSubkeys(key) => {
                let written = state.get(&key).copied().unwrap_or_default();
                let shown = |subkey: u32| if written >> subkey & 1 == 1 { subkey.into() } else { UNWRITTEN };
                flight.items.clear();
                flight.items.extend((0..self.subkeys).rev().map(shown));
            }
            _ => {}
        }
        Outcome::Done
    }

    fn hear(&mut self, _: &mut BTreeMap<i64, u64>, flight: &Flight, kind: Kind) {
        if let Ask::WriteSubkey { key, subkey } = flight.ask {
            // A client that does not know whether a subkey was written writes none after it.
            let goes_on = kind == Kind::Ok && subkey + 1 < self.subkeys;
            self.clients[index(flight.client)] = goes_on.then_some((key, subkey + 1));
        }
    }

    /// Subkeys are written at such intervals that hardly two are among the states that are kept. So any of them may be
    /// missing.
    fn skew(&self, _: &BTreeMap<i64, u64>, flight: &mut Flight, rng: &mut Rng) {
        for item in &mut flight.items {
            if rng.happens(Chance::HALF) {
                *item = UNWRITTEN;
            }
        }
    }
}
