//! Maelstrom's services, which nodes may use: `lin-kv`, `seq-kv`, `lww-kv` and `lin-tso`.

use super::message::{KEY_DOES_NOT_EXIST, Message, NOT_SUPPORTED, PRECONDITION_FAILED, error};
use crate::chance::Chance;
use history_core::cast::Cast as _;
use serde_json::{Value as Json, json};
use std::collections::{HashMap, VecDeque};

/// All services.
pub(super) struct Services {
    linearizable: Map,
    sequential: Sequential,
    last_write_wins: LastWriteWins,
    timestamp: u64,
    chance: Chance,
}

/// Values by key; keys are any JSON.
type Map = HashMap<String, Json>;

impl Services {
    pub(super) fn new(seed: u64) -> Services {
        Services {
            linearizable: Map::new(),
            sequential: Sequential::default(),
            last_write_wins: LastWriteWins::default(),
            timestamp: 0,
            chance: Chance::new(seed, 1 << 41),
        }
    }

    /// The response, if the message is for a service.
    pub(super) fn answer(&mut self, message: &Message) -> Option<Message> {
        let body = match message.dest.as_str() {
            "lin-kv" => apply(&mut self.linearizable, &message.body),
            "seq-kv" => self.sequential.apply(&message.src, &message.body, &mut self.chance),
            "lww-kv" => self.last_write_wins.apply(&message.body, &mut self.chance),
            "lin-tso" if message.kind() == "ts" => {
                self.timestamp += 1;
                json!({"type": "ts_ok", "ts": self.timestamp})
            }
            "lin-tso" => error(NOT_SUPPORTED, "lin-tso has only ts"),
            _ => return None,
        };
        Some(message.answer(body))
    }
}

/// The effect of a request on a value, and its response: absent if the value does not change.
fn step(value: Option<&Json>, body: &Json) -> (Option<Json>, Json) {
    match body["type"].as_str().unwrap_or_default() {
        "read" => match value {
            Some(value) => (None, json!({"type": "read_ok", "value": value})),
            None => (None, error(KEY_DOES_NOT_EXIST, "key does not exist")),
        },
        "write" => (Some(body["value"].clone()), json!({"type": "write_ok"})),
        "cas" => match value {
            None if body["create_if_not_exists"] == true => (Some(body["to"].clone()), json!({"type": "cas_ok"})),
            None => (None, error(KEY_DOES_NOT_EXIST, "key does not exist")),
            Some(value) if *value == body["from"] => (Some(body["to"].clone()), json!({"type": "cas_ok"})),
            Some(value) => (None, error(PRECONDITION_FAILED, &format!("expected {}, found {value}", body["from"]))),
        },
        other => (None, error(NOT_SUPPORTED, &format!("no request {other}: read, write and cas"))),
    }
}

fn apply(map: &mut Map, body: &Json) -> Json {
    let key = body["key"].to_string();
    let (new, answer) = step(map.get(&key), body);
    if let Some(new) = new {
        map.insert(key, new);
    }
    answer
}

/// A store in which each client reads states in order, but possibly old ones.
#[derive(Default)]
struct Sequential {
    /// The oldest state that any client may still read.
    oldest: Map,
    oldest_number: u64,
    /// The changes since then: each leads to the next state.
    changes: VecDeque<(String, Json)>,
    /// The last state that each client has read.
    seen: HashMap<String, u64>,
}

/// The maximum number of states by which a client can be behind.
const STATES_BEHIND: usize = 64;

impl Sequential {
    fn newest(&self) -> u64 {
        self.oldest_number + self.changes.len().to_u64()
    }

    fn value(&self, key: &str, state: u64) -> Option<&Json> {
        let count = usize::try_from(state - self.oldest_number).unwrap_or(usize::MAX);
        let changes: Vec<_> = self.changes.iter().take(count).collect();
        let changed = changes.into_iter().rev().find(|(changed, _)| changed == key);
        changed.map(|(_, value)| value).or_else(|| self.oldest.get(key))
    }

    fn apply(&mut self, client: &str, body: &Json, chance: &mut Chance) -> Json {
        let key = body["key"].to_string();
        let newest = self.newest();
        let seen = self.seen.get(client).copied().unwrap_or(0).max(self.oldest_number);
        // A read may return an old state. A change is applied to the newest state.
        let state = if body["type"] == "read" { seen + chance.below(newest - seen + 1) } else { newest };
        let (new, answer) = step(self.value(&key, state), body);
        let mut now = state;
        if let Some(new) = new {
            self.changes.push_back((key, new));
            now = self.newest();
            if self.changes.len() > STATES_BEHIND
                && let Some((key, value)) = self.changes.pop_front()
            {
                self.oldest.insert(key, value);
                self.oldest_number += 1;
            }
        }
        self.seen.insert(client.to_owned(), now);
        answer
    }
}

/// Replicas that process requests independently and exchange their states; of two writes, the later one wins.
struct LastWriteWins {
    replicas: Vec<HashMap<String, (u64, Json)>>,
    clock: u64,
}

impl Default for LastWriteWins {
    fn default() -> LastWriteWins {
        LastWriteWins { replicas: vec![HashMap::new(); 3], clock: 0 }
    }
}

impl LastWriteWins {
    fn apply(&mut self, body: &Json, chance: &mut Chance) -> Json {
        if chance.percent(50) {
            self.exchange(chance);
        }
        let key = body["key"].to_string();
        let count = self.replicas.len().to_u64();
        let replica = &mut self.replicas[usize::try_from(chance.below(count)).unwrap_or(0)];
        let (new, answer) = step(replica.get(&key).map(|(_, value)| value), body);
        if let Some(new) = new {
            self.clock += 1;
            replica.insert(key, (self.clock, new));
        }
        answer
    }

    /// Copies the state of one replica to another.
    fn exchange(&mut self, chance: &mut Chance) {
        let count = self.replicas.len().to_u64();
        let from = usize::try_from(chance.below(count)).unwrap_or(0);
        let to = usize::try_from(chance.below(count)).unwrap_or(0);
        let sent = self.replicas[from].clone();
        for (key, (time, value)) in sent {
            let held = self.replicas[to].entry(key).or_insert_with(|| (0, Json::Null));
            if held.0 < time {
                *held = (time, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(services: &mut Services, service: &str, client: &str, body: Json) -> Json {
        let message = Message { src: client.into(), dest: service.into(), body };
        services.answer(&message).expect("a service").body
    }

    fn write(value: u64) -> Json {
        json!({"type": "write", "key": "k", "value": value, "msg_id": 1})
    }

    fn read() -> Json {
        json!({"type": "read", "key": "k", "msg_id": 2})
    }

    #[test]
    fn the_linearizable_map_shows_the_last_write() {
        let mut services = Services::new(1);
        assert_eq!(ask(&mut services, "lin-kv", "n1", read())["code"], 20);
        assert_eq!(ask(&mut services, "lin-kv", "n1", write(3))["type"], "write_ok");
        let answer = ask(&mut services, "lin-kv", "n2", read());
        assert_eq!(answer, json!({"type": "read_ok", "value": 3, "in_reply_to": 2}));
        let cas = |from: u64| json!({"type": "cas", "key": "k", "from": from, "to": 9, "msg_id": 3});
        assert_eq!(ask(&mut services, "lin-kv", "n2", cas(4))["code"], 22);
        assert_eq!(ask(&mut services, "lin-kv", "n2", cas(3))["type"], "cas_ok");
        assert!(services.answer(&Message { src: "n1".into(), dest: "n2".into(), body: read() }).is_none());
    }

    #[test]
    fn a_client_of_the_sequential_map_never_goes_back_and_may_be_behind() {
        let mut services = Services::new(1);
        let (mut last, mut was_behind) = (0, false);
        for value in 1..1000 {
            ask(&mut services, "seq-kv", "n1", write(value));
            let own = ask(&mut services, "seq-kv", "n1", read());
            assert_eq!(own["value"], value, "a client sees its own write");
            let seen = ask(&mut services, "seq-kv", "n2", read())["value"].as_u64().unwrap_or(0);
            assert!(seen >= last, "{seen} after {last}");
            was_behind |= seen < value;
            last = seen;
        }
        assert!(was_behind);
    }

    #[test]
    fn timestamps_increase() {
        let mut services = Services::new(1);
        let ts = json!({"type": "ts", "msg_id": 1});
        let first = ask(&mut services, "lin-tso", "n1", ts.clone())["ts"].as_u64();
        assert!(first < ask(&mut services, "lin-tso", "n2", ts)["ts"].as_u64());
    }

    #[test]
    fn replicas_agree_in_the_end() {
        let mut services = Services::new(3);
        (1..=20).for_each(|value| _ = ask(&mut services, "lww-kv", "n1", write(value)));
        let chance = &mut Chance::new(9, 9);
        (0..100).for_each(|_| services.last_write_wins.exchange(chance));
        let values: Vec<_> =
            services.last_write_wins.replicas.iter().map(|replica| replica["\"k\""].1.clone()).collect();
        assert_eq!(values, vec![json!(20); 3]);
    }
}
