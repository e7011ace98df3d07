//! Numbers that no other seat uses, and keys that are replaced after a while.

use crate::chance::Chance;
use crate::client::Seat;
use crate::request::Key;

/// Numbers for one seat: each is used only once in the run.
#[derive(Debug)]
pub(super) struct Unique {
    next: i64,
    step: i64,
}

impl Unique {
    /// Numbers from 1 on, divided among the seats.
    pub(super) fn new(seat: &Seat) -> Unique {
        Unique { next: i64::from(seat.number) + 1, step: i64::from(seat.seats) }
    }

    pub(super) fn next(&mut self) -> i64 {
        let number = self.next;
        self.next += self.step;
        number
    }
}

/// The keys in use: a window over all keys that moves with the number of writes, so that no key grows without bound.
///
/// Each seat moves its own window with its own writes. Seats are about equally fast, so their windows overlap.
#[derive(Debug)]
pub(super) struct Window {
    first: Key,
    writes: u32,
    writes_per_key: u32,
}

/// The number of keys in use at a time.
const KEYS: u32 = 6;
/// The number of writes to a key, by all seats together, before a new one replaces it.
const WRITES_PER_KEY: u32 = 32;

impl Window {
    pub(super) fn new(seat: &Seat) -> Window {
        Window { first: 0, writes: 0, writes_per_key: (WRITES_PER_KEY / seat.seats).max(1) }
    }

    pub(super) fn key(&self, chance: &mut Chance) -> Key {
        self.first + u32::try_from(chance.below(u64::from(KEYS))).unwrap_or(0)
    }

    pub(super) fn written(&mut self) {
        self.writes += 1;
        if self.writes == self.writes_per_key {
            self.writes = 0;
            self.first += 1;
        }
    }
}
