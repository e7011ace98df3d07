//! Reads, writes and compare-and-sets of a few registers.

use super::Plan;
use crate::chance::Chance;
use crate::client::Seat;
use crate::request::{Key, Outcome, Request};

/// The number of registers in use at a time.
const KEYS: u64 = 3;
/// The number of values that are written.
const VALUES: u64 = 5;
/// The number of operations on a register, by all seats together, before a new one replaces it: a register's search
/// stays short.
const OPS_PER_KEY: u64 = 200;

pub(super) struct CasRegister {
    seats: u64,
    ops: u64,
    /// The last known value of each register in use, so that a compare-and-set can succeed.
    seen: Vec<(Key, i64)>,
}

impl CasRegister {
    pub(super) fn new(seat: &Seat) -> CasRegister {
        CasRegister { seats: u64::from(seat.seats), ops: 0, seen: Vec::new() }
    }

    fn see(&mut self, key: Key, value: i64) {
        self.seen.retain(|(seen, _)| *seen != key);
        self.seen.push((key, value));
        if self.seen.len() > 8 {
            self.seen.remove(0);
        }
    }
}

impl Plan for CasRegister {
    fn next(&mut self, chance: &mut Chance) -> Request {
        self.ops += 1;
        let first = self.ops * self.seats / (OPS_PER_KEY * KEYS) * KEYS;
        let key = Key::try_from(first + chance.below(KEYS)).unwrap_or(Key::MAX);
        let value = |chance: &mut Chance| i64::try_from(chance.below(VALUES)).unwrap_or(0);
        match chance.below(10) {
            0..=4 => Request::Read(key),
            5..=7 => Request::Write(key, value(chance)),
            _ => {
                let seen = self.seen.iter().find(|(seen, _)| *seen == key);
                // The last known value depends on the store, but the number of random choices does not, so a seed
                // repeats the requests.
                let guess = value(chance);
                let expected = seen.map_or(guess, |(_, value)| *value);
                Request::Cas { key, expected, new: value(chance) }
            }
        }
    }

    fn observe(&mut self, request: &Request, outcome: &Outcome) {
        let Outcome::Ok(fields) = outcome else { return };
        match *request {
            Request::Read(key) => {
                if let Some(value) = fields.get("value").and_then(serde_json::Value::as_i64) {
                    self.see(key, value);
                }
            }
            Request::Write(key, value) | Request::Cas { key, new: value, .. } => self.see(key, value),
            _ => {}
        }
    }
}
