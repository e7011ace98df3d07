//! Messages sent to logs, and polls of them. Each seat is a consumer of all logs and keeps its own position in each.

use super::Plan;
use super::elements::Unique;
use crate::chance::Chance;
use crate::client::Seat;
use crate::request::{Key, Outcome, Positions, Request};

/// The number of logs.
const LOGS: Key = 4;
/// The percentage of polls among requests.
const POLL_PERCENT: u64 = 50;

pub(super) struct Log {
    messages: Unique,
    positions: Positions,
}

impl Log {
    pub(super) fn new(seat: &Seat) -> Log {
        Log { messages: Unique::new(seat), positions: (0..LOGS).map(|log| (log, 0)).collect() }
    }
}

impl Plan for Log {
    fn next(&mut self, chance: &mut Chance) -> Request {
        if chance.percent(POLL_PERCENT) {
            return Request::Poll { from: self.positions.clone(), to_end: false };
        }
        let log = Key::try_from(chance.below(u64::from(LOGS))).unwrap_or_default();
        Request::Send(log, self.messages.next())
    }

    /// The next poll continues where the last one with a response ended.
    fn observe(&mut self, request: &Request, outcome: &Outcome) {
        if let (Request::Poll { .. }, Outcome::Ok(fields)) = (request, outcome)
            && let Some(polls) = fields.get("value").and_then(serde_json::Value::as_array)
        {
            for poll in polls {
                self.positions.move_behind(&poll[1]);
            }
        }
    }

    /// A message that was not polled yet is not lost, so the final request polls.
    fn last(&mut self) -> Option<Request> {
        Some(Request::Poll { from: self.positions.clone(), to_end: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn polls_go_on_where_the_last_answered_one_ended() {
        let seat = Seat {
            number: 0,
            seats: 1,
            node: 0,
            nodes: 1,
            process: 0,
            seed: 1,
            timeout: std::time::Duration::from_secs(1),
            stands: crate::client::Stands::AtNode,
        };
        let mut plan = Log { positions: [(0, 0), (1, 0)].into_iter().collect(), ..Log::new(&seat) };
        let poll = Request::Poll { from: plan.positions.clone(), to_end: false };
        plan.observe(&poll, &Outcome::value(json!([["poll", {"0": [[3, 7], [4, 8]], "1": []}]])));
        plan.observe(&poll, &Outcome::Fail("timeout".into()));
        let wanted: Positions = [(0, 5), (1, 0)].into_iter().collect();
        assert_eq!(plan.last(), Some(Request::Poll { from: wanted, to_end: true }));
    }
}
