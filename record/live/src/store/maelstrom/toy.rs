//! A small store with Maelstrom's protocol: registers, a counter and logs at a primary, `n1`, with backups.
//!
//! Writes go to the primary, which sends them once to the backups: a register's value, a counter's addition, a log's
//! message. Reads go to the primary, too; with [`Reads::Local`] each node responds from its own state, which may be
//! old, and permanently lacks messages that were lost.

use super::message::{KEY_DOES_NOT_EXIST, Message, NOT_SUPPORTED, PRECONDITION_FAILED, error};
use crate::error::LiveError;
use crate::kind::{Kind, Make, StoreOption};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Write};

/// The variable that makes a process a node of the toy: see [`serve`].
const NODE: &str = "HISTCHECK_LIVE_TOY";

const READS: StoreOption =
    StoreOption::text("reads", "MODE", "Source of reads: the primary, or the local state of any node")
        .of(&["primary", "local"], "primary");

pub(in crate::store) const KIND: Kind = Kind {
    name: "toy",
    summary: "a small example: a primary, n1, and two backups, on a simulated network",
    needs: &[],
    options: &[READS, super::LATENCY, super::LOSS],
    workloads: &["cas-register", "kafka", "g-counter", "pn-counter"],
    default_faults: &[],
    nodes_may_vary: true,
    command: None,
    make: Make::Store(|mut start| {
        let failed = |source| LiveError::Start { program: "this program".to_owned(), source };
        let program = std::env::current_exe().map_err(failed)?.display().to_string();
        let mode = format!("{NODE}={}", start.option(&READS));
        start.options.insert("primary".to_owned(), "n1".to_owned());
        let command = vec!["env".to_owned(), mode, program];
        Ok(Box::new(super::Maelstrom::start(super::Settings::of(&start, command)?)?))
    }),
    ..super::KIND
};

/// Serves as a node of the kind `toy`, if this process was started for that. Programs that start this kind call it
/// first: its nodes are the same program again.
pub fn serve() -> Option<io::Result<()>> {
    let mode = std::env::var(NODE).ok()?;
    let reads = if mode == "local" { Reads::Local } else { Reads::Primary };
    Some(run(io::stdin().lock(), io::stdout().lock(), reads))
}

/// Which node responds to a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reads {
    /// At the primary.
    #[default]
    Primary,
    /// The node that gets the request.
    Local,
}

/// Runs a node until its input ends.
///
/// # Errors
///
/// If a message cannot be read or written.
pub fn run(input: impl BufRead, mut output: impl Write, reads: Reads) -> io::Result<()> {
    let mut node = Toy { reads, ..Toy::default() };
    for line in input.lines() {
        // The input contains only messages; anything else is ignored.
        let Some(message) = Message::read(&line?) else { continue };
        for answer in node.receive(&message) {
            output.write_all(answer.line().as_bytes())?;
        }
        output.flush()?;
    }
    Ok(())
}

#[derive(Default)]
struct Toy {
    reads: Reads,
    name: String,
    nodes: Vec<String>,
    values: HashMap<String, Json>,
    logs: Logs,
}

impl Toy {
    fn receive(&mut self, message: &Message) -> Vec<Message> {
        let body = &message.body;
        match message.kind() {
            "init" => {
                body["node_id"].as_str().unwrap_or_default().clone_into(&mut self.name);
                let names = body["node_ids"].as_array().into_iter().flatten();
                self.nodes = names.filter_map(|name| name.as_str().map(str::to_owned)).collect();
                vec![message.answer(json!({"type": "init_ok"}))]
            }
            // Requests from clients.
            "read" | "poll" if self.reads == Reads::Local => vec![message.answer(self.perform(body))],
            "read" | "write" | "cas" | "add" | "send" | "poll" if self.is_primary() => {
                let answer = message.answer(self.perform(body));
                self.replicate(body).chain([answer]).collect()
            }
            "read" | "write" | "cas" | "add" | "send" | "poll" => self.send(
                self.nodes.first(),
                json!({"type": "forward", "message": {
                    "src": message.src, "body": body,
                }}),
            ),
            // Requests from other nodes.
            "forward" => {
                let asked = &body["message"]["body"];
                let back = json!({"type": "forward_ok", "to": body["message"]["src"], "body": self.perform(asked),
                    "msg_id": asked["msg_id"]});
                self.replicate(asked).chain(self.send(Some(&message.src), back)).collect()
            }
            "forward_ok" => {
                let mut answer = body["body"].clone();
                answer["in_reply_to"] = body["msg_id"].clone();
                let to = body["to"].as_str().map(str::to_owned);
                self.send(to.as_ref(), answer)
            }
            "replicate" if body["log"].is_string() => {
                self.logs.copy(body);
                Vec::new()
            }
            "replicate" if body["delta"].is_i64() => {
                self.add(body);
                Vec::new()
            }
            "replicate" => {
                self.values.insert(body["key"].to_string(), body["value"].clone());
                Vec::new()
            }
            other => vec![message.answer(error(NOT_SUPPORTED, &format!("no message {other}")))],
        }
    }

    fn is_primary(&self) -> bool {
        self.nodes.first() == Some(&self.name)
    }

    fn send(&self, to: Option<&String>, body: Json) -> Vec<Message> {
        to.map(|to| Message { src: self.name.clone(), dest: to.clone(), body }).into_iter().collect()
    }

    /// The messages to the backups.
    fn replicate(&self, asked: &Json) -> impl Iterator<Item = Message> + use<> {
        let key = &asked["key"];
        let copy = match asked["type"].as_str().unwrap_or_default() {
            "read" | "poll" => None,
            "send" => self.logs.last(key),
            "add" => Some(json!({"type": "replicate", "key": key, "delta": asked["delta"]})),
            _ => {
                let value = self.values.get(&key.to_string());
                value.map(|value| json!({"type": "replicate", "key": key, "value": value}))
            }
        };
        let copies = self
            .nodes
            .iter()
            .filter(|name| **name != self.name)
            .filter_map(|name| Some(Message { src: self.name.clone(), dest: name.clone(), body: copy.clone()? }));
        copies.collect::<Vec<_>>().into_iter()
    }

    fn perform(&mut self, asked: &Json) -> Json {
        let key = asked["key"].to_string();
        match (asked["type"].as_str().unwrap_or_default(), self.values.get(&key)) {
            ("send", _) => self.logs.append(asked),
            ("poll", _) => self.logs.poll(asked),
            ("add", _) => {
                self.add(asked);
                json!({"type": "add_ok"})
            }
            ("read", None) if asked["key"].is_null() => json!({"type": "read_ok", "value": 0}),
            ("read", Some(value)) => json!({"type": "read_ok", "value": value}),
            ("write", _) => {
                self.values.insert(key, asked["value"].clone());
                json!({"type": "write_ok"})
            }
            (_, None) => error(KEY_DOES_NOT_EXIST, "the register was never written"),
            (_, Some(value)) if *value == asked["from"] => {
                self.values.insert(key, asked["to"].clone());
                json!({"type": "cas_ok"})
            }
            (_, Some(value)) => error(PRECONDITION_FAILED, &format!("expected {}, found {value}", asked["from"])),
        }
    }

    /// A counter is a register without a key, and 0 before the first addition.
    fn add(&mut self, asked: &Json) {
        let sum = self.values.entry(asked["key"].to_string()).or_insert_with(|| 0.into());
        *sum = (sum.as_i64().unwrap_or_default() + asked["delta"].as_i64().unwrap_or_default()).into();
    }
}

/// The maximum number of messages of a log that one poll returns.
const POLLED_MAX: usize = 20;

/// Logs by name: each message by its offset.
#[derive(Default)]
struct Logs(HashMap<String, BTreeMap<i64, Json>>);

impl Logs {
    fn append(&mut self, asked: &Json) -> Json {
        let log = self.0.entry(name_of(&asked["key"])).or_default();
        let offset = log.last_key_value().map_or(0, |(last, _)| last + 1);
        log.insert(offset, asked["msg"].clone());
        json!({"type": "send_ok", "offset": offset})
    }

    /// The message that was appended last, for backups.
    fn last(&self, key: &Json) -> Option<Json> {
        let (offset, message) = self.0.get(&name_of(key))?.last_key_value()?;
        Some(json!({"type": "replicate", "log": name_of(key), "offset": offset, "msg": message}))
    }

    fn copy(&mut self, sent: &Json) {
        if let Some(offset) = sent["offset"].as_i64() {
            self.0.entry(name_of(&sent["log"])).or_default().insert(offset, sent["msg"].clone());
        }
    }

    fn poll(&self, asked: &Json) -> Json {
        let polled = asked["offsets"].as_object().into_iter().flatten().filter_map(|(log, from)| {
            let messages = self.0.get(log)?.range(from.as_i64()?..).take(POLLED_MAX);
            Some((log.clone(), messages.map(|(offset, message)| json!([offset, message])).collect()))
        });
        json!({"type": "poll_ok", "msgs": polled.collect::<serde_json::Map<_, Json>>()})
    }
}

fn name_of(key: &Json) -> String {
    key.as_str().map_or_else(|| key.to_string(), str::to_owned)
}
