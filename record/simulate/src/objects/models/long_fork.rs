//! Keys in groups: each key is written once, and all keys of a group are read at once.

use super::{Model, Outcome, Want};
use crate::ids::{index, wide};
use crate::lists::registers::RegisterMop;
use crate::objects::flight::{Ask, Flight};
use crate::rng::{Chance, Rng};
use std::collections::BTreeSet;

/// The number of groups before the last one that are still read.
const GROUPS_READ: u64 = 4;

/// The value that is written to every key.
const WRITTEN: i64 = 1;

/// Registers that are initially nil.
pub(in crate::objects) struct LongFork {
    pub(in crate::objects) reads: Chance,
    /// The number of keys of a group, at least two.
    pub(in crate::objects) group_size: u32,
    /// The next key to be written.
    pub(in crate::objects) next: i64,
    /// The number of keys that are kept: more than a client that waits for an answer may read.
    pub(in crate::objects) room: i64,
}

impl Model for LongFork {
    /// The keys that were written, as far back as clients read.
    type State = BTreeSet<i64>;

    fn fresh(&self) -> BTreeSet<i64> {
        BTreeSet::new()
    }

    fn draw(&mut self, _: &BTreeSet<i64>, flight: &mut Flight, want: Want, rng: &mut Rng) {
        if want != Want::Read && !rng.happens(self.reads) {
            flight.ask = Ask::Write(self.next);
            flight.mops.push(RegisterMop::Write { key: self.next, value: WRITTEN });
            self.next += 1;
            return;
        }
        flight.ask = Ask::Read;
        let size = i64::from(self.group_size);
        let last = (self.next - 1).max(0) / size;
        let group = last - rng.below(GROUPS_READ).cast_signed().min(last);
        flight.mops.extend((group * size..(group + 1) * size).map(|key| RegisterMop::Read { key, value: None }));
        // In any order.
        for at in (1..flight.mops.len()).rev() {
            flight.mops.swap(at, index(rng.below(wide(at) + 1)));
        }
    }

    fn apply(&mut self, state: &mut BTreeSet<i64>, flight: &mut Flight) -> Outcome {
        if let Ask::Write(written) = flight.ask {
            state.insert(written);
            while state.first().is_some_and(|key| *key < written - self.room) {
                state.pop_first();
            }
            return Outcome::Done;
        }
        for mop in &mut flight.mops {
            if let RegisterMop::Read { key, value } = mop {
                *value = state.contains(key).then_some(WRITTEN);
            }
        }
        Outcome::Done
    }

    fn skew(&self, past: &BTreeSet<i64>, flight: &mut Flight, rng: &mut Rng) {
        for mop in &mut flight.mops {
            if let RegisterMop::Read { key, value } = mop
                && rng.happens(Chance::HALF)
            {
                *value = value.filter(|_| past.contains(key));
            }
        }
    }
}
