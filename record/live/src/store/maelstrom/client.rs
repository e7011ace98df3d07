//! Clients of nodes: requests as messages, responses as outcomes.

use super::message::{KEY_DOES_NOT_EXIST, Message, is_definite};
use super::network::Mailbox;
use crate::client::Client;
use crate::error::LiveError;
use crate::request::{Outcome, Positions, Request};
use serde_json::{Value as Json, json};
use std::time::Duration;

/// The form of requests for a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Messages `add` and `read`, as of Maelstrom's workload `g-set`.
    #[default]
    GSet,
    /// Messages `topology`, `broadcast` and `read`, as of Maelstrom's workload `broadcast`.
    Broadcast,
}

pub(super) struct MaelstromClient {
    mailbox: Mailbox,
    node: String,
    timeout: Duration,
    dialect: Dialect,
}

impl MaelstromClient {
    pub(super) fn new(mailbox: Mailbox, node: String, timeout: Duration, dialect: Dialect) -> MaelstromClient {
        MaelstromClient { mailbox, node, timeout, dialect }
    }
}

impl Client for MaelstromClient {
    fn invoke(&mut self, request: &Request) -> Result<Outcome, LiveError> {
        match request {
            Request::Poll { from, to_end: true } => self.poll_to_end(from),
            _ => self.ask(request),
        }
    }
}

impl MaelstromClient {
    fn ask(&mut self, request: &Request) -> Result<Outcome, LiveError> {
        let body = body(request, self.dialect)?;
        let Some(answer) = self.mailbox.call(&self.node, &body, self.timeout)? else {
            return Ok(Outcome::unanswered(request, "timeout"));
        };
        outcome(request, &body, &answer)
    }

    /// Polls until a response has nothing new.
    fn poll_to_end(&mut self, from: &Positions) -> Result<Outcome, LiveError> {
        let (mut positions, mut polls) = (from.clone(), Vec::new());
        loop {
            match self.ask(&Request::Poll { from: positions.clone(), to_end: false })? {
                Outcome::Ok(fields) => {
                    let poll = fields.get("value").map_or(Json::Null, |value| value[0].clone());
                    let is_over = !positions.move_behind(&poll[1]);
                    polls.push(poll);
                    if is_over {
                        return Ok(Outcome::value(polls));
                    }
                }
                other => return Ok(other),
            }
        }
    }
}

/// A request as a message.
fn body(request: &Request, dialect: Dialect) -> Result<Json, LiveError> {
    Ok(match request {
        Request::Txn(mops) => {
            let mops: Vec<Json> = mops.iter().map(|mop| mop.to_json()).collect();
            json!({"type": "txn", "txn": mops})
        }
        Request::Read(key) => json!({"type": "read", "key": key}),
        Request::Write(key, value) => json!({"type": "write", "key": key, "value": value}),
        Request::Cas { key, expected, new } => json!({"type": "cas", "key": key, "from": expected, "to": new}),
        Request::Add(element) if dialect == Dialect::Broadcast => json!({"type": "broadcast", "message": element}),
        Request::Add(element) => json!({"type": "add", "element": element}),
        Request::ReadSet | Request::ReadCounter { .. } => json!({"type": "read"}),
        Request::Count(amount) => json!({"type": "add", "delta": amount}),
        Request::Send(log, message) => json!({"type": "send", "key": log.to_string(), "msg": message}),
        Request::Poll { from, .. } => json!({"type": "poll", "offsets": from.to_json()}),
        other => return Err(LiveError::Unsupported(format!("Maelstrom has no message for {:?}", other.f()))),
    })
}

/// The outcome of a response.
fn outcome(request: &Request, asked: &Json, answer: &Message) -> Result<Outcome, LiveError> {
    let wrong = |expected: &str| LiveError::Protocol {
        who: format!("{} to {}", answer.src, asked["type"]),
        answer: answer.body.to_string(),
        expected: expected.to_owned(),
    };
    if answer.kind() == "error" {
        let code = answer.body["code"].as_u64().ok_or_else(|| wrong("an error with a code"))?;
        let why = answer.body["text"].as_str().map_or_else(|| format!("error {code}"), str::to_owned);
        // A register that was never written contains nothing, so a read returns null.
        if code == KEY_DOES_NOT_EXIST && matches!(request, Request::Read(_)) {
            return Ok(Outcome::value(Json::Null));
        }
        return Ok(if is_definite(code) { Outcome::Fail(why) } else { Outcome::unanswered(request, why) });
    }
    let expected = format!("{}_ok", asked["type"].as_str().unwrap_or_default());
    if answer.kind() != expected {
        return Err(wrong(&format!("a message of type {expected}")));
    }
    let field = |name: &str| {
        let value = answer.body.get(name).ok_or_else(|| wrong(&format!("a field {name:?}")))?;
        Ok::<_, LiveError>(Outcome::value(value.clone()))
    };
    match request {
        Request::Txn(_) => field("txn"),
        // g-set responds with `value`, broadcast with `messages`.
        Request::ReadSet if answer.body.get("messages").is_some() => field("messages"),
        Request::Read(_) | Request::ReadSet | Request::ReadCounter { .. } => field("value"),
        Request::Send(log, message) => {
            let offset = answer.body["offset"].as_i64().ok_or_else(|| wrong("a field \"offset\" with an integer"))?;
            Ok(Outcome::value(json!([["send", log, [offset, message]]])))
        }
        Request::Poll { .. } => {
            let messages = answer.body["msgs"].as_object().ok_or_else(|| wrong("a field \"msgs\" with an object"))?;
            Ok(Outcome::value(json!([["poll", messages]])))
        }
        _ => Ok(Outcome::done()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(request: &Request, body: Json) -> Result<Outcome, LiveError> {
        let asked = super::body(request, Dialect::GSet).unwrap();
        outcome(request, &asked, &Message { src: "n1".into(), dest: "c1".into(), body })
    }

    #[test]
    fn errors_are_failures_only_if_they_are_definite() {
        let write = Request::Write(1, 2);
        assert_eq!(answered(&write, json!({"type": "write_ok"})).unwrap(), Outcome::done());
        for (code, fails) in [(0, false), (1, true), (11, true), (13, false), (14, true), (22, true), (1000, false)] {
            let outcome = answered(&write, json!({"type": "error", "code": code, "text": "why"})).unwrap();
            assert_eq!(outcome == Outcome::Fail("why".into()), fails, "{code}");
            assert_eq!(outcome == Outcome::Info("why".into()), !fails, "{code}");
        }
        let lost_read = answered(&Request::Read(1), json!({"type": "error", "code": 13, "text": "why"})).unwrap();
        assert_eq!(lost_read, Outcome::Fail("why".into()));
        let no_key = answered(&Request::Read(1), json!({"type": "error", "code": 20, "text": "no key"})).unwrap();
        assert_eq!(no_key, Outcome::value(Json::Null));
    }

    #[test]
    fn another_answer_than_the_one_that_was_asked_for_is_an_error() {
        let error = answered(&Request::Read(1), json!({"type": "write_ok"})).unwrap_err().to_string();
        assert!(error.contains("n1 to \"read\"") && error.contains("read_ok"), "{error}");
        let error = answered(&Request::Read(1), json!({"type": "read_ok"})).unwrap_err().to_string();
        assert!(error.contains("a field \"value\""), "{error}");
    }
}
