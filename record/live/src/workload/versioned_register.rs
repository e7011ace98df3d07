//! Reads, and writes that name the version they replace: the [`Predictor`] chooses this version.
//!
//! As in fast-jepsen, each key has one writer, so that most writes succeed, and a reader on every node, so that writes
//! acknowledged by one node are read on the others. With three nodes this takes twelve seats.

use super::Plan;
use crate::chance::Chance;
use crate::client::Seat;
use crate::request::{Key, Outcome, Request};
use crate::workload::predictor::Predictor;

/// The number of registers in the run.
const KEYS: u32 = 3;

/// The number of seats: a writer for each register, and a reader of it on every node.
pub(super) fn seats(nodes: u32) -> u32 {
    KEYS * (1 + nodes)
}

pub(super) struct VersionedRegister {
    key: Key,
    is_writer: bool,
    number: u32,
    writes: u64,
    predictor: Predictor,
}

impl VersionedRegister {
    pub(super) fn new(seat: &Seat) -> VersionedRegister {
        // Seats are assigned to nodes in turn, so consecutive readers of a key are on different nodes.
        let key = seat.number.checked_sub(KEYS).map_or(seat.number, |reader| reader / seat.nodes % KEYS);
        VersionedRegister {
            key,
            is_writer: seat.number < KEYS,
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn every_key_has_a_writer_and_a_reader_on_every_node() {
        let seats = (0..12).map(|number| {
            let timeout = Duration::from_secs(1);
            let seat = Seat {
                number,
                seats: 12,
                node: number % 3,
                nodes: 3,
                process: 0,
                seed: 0,
                timeout,
                stands: crate::client::Stands::AtNode,
            };
            (seat.node, VersionedRegister::new(&seat))
        });
        let (writers, readers): (Vec<_>, Vec<_>) = seats.partition(|(_, plan)| plan.is_writer);
        assert_eq!(writers.iter().map(|(node, plan)| (*node, plan.key)).collect::<Vec<_>>(), [(0, 0), (1, 1), (2, 2)]);
        let mut read: Vec<_> = readers.iter().map(|(node, plan)| (plan.key, *node)).collect();
        read.sort_unstable();
        let all: Vec<_> = (0..3).flat_map(|key| (0..3).map(move |node| (key, node))).collect();
        assert_eq!(read, all);
    }
}
