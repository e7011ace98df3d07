//! Reads, and writes that name the version they replace: which version to name is guessed by the [`Predictor`].
//!
//! As in fast-jepsen, each key has one writer per group of seats and the others read, so that most writes succeed.

use super::Plan;
use crate::chance::Chance;
use crate::client::Seat;
use crate::predictor::Predictor;
use crate::request::{Key, Outcome, Request};

/// Registers in the run.
const KEYS: u32 = 3;

pub(super) struct VersionedRegister {
    key: Key,
    is_writer: bool,
    number: u32,
    writes: u64,
    predictor: Predictor,
}

impl VersionedRegister {
    pub(super) fn new(seat: &Seat) -> VersionedRegister {
        VersionedRegister {
            key: seat.number % KEYS,
            is_writer: seat.number / KEYS == 0,
            number: seat.number,
            writes: 0,
            predictor: Predictor::default(),
        }
    }
}

impl Plan for VersionedRegister {
    fn next(&mut self, chance: &mut Chance) -> Request {
        let key = self.key;
        if !self.is_writer || chance.percent(10) {
            return Request::ReadVersion(key);
        }
        self.writes += 1;
        let id = format!("w{}-{}", self.number, self.writes);
        let previous = self.predictor.propose(&id, chance);
        Request::WriteVersion { key, value: i64::try_from(self.writes).unwrap_or(i64::MAX), id, previous }
    }

    fn observe(&mut self, request: &Request, outcome: &Outcome) {
        match (request, outcome) {
            (Request::ReadVersion(_), Outcome::Ok(fields)) => {
                if let Some(id) = fields.get("write-id").and_then(serde_json::Value::as_str) {
                    self.predictor.saw(id);
                }
            }
            (Request::WriteVersion { id, .. }, Outcome::Ok(_)) => self.predictor.saw(id),
            (Request::WriteVersion { id, .. }, Outcome::Fail(_)) => self.predictor.refused(id),
            _ => {}
        }
    }
}
