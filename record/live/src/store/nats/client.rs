//! Clients of NATS: a register is a subject, whose last message contains the value and the id of its version.
//!
//! A write that depends on the content of the register reads the message, and publishes only if it is still the
//! subject's last one. So a stale read makes it fail, and never overwrites anything.

use super::STREAM;
use super::protocol::{Connection, NoResponders};
use crate::client::Client;
use crate::error::LiveError;
use crate::request::{FIRST_VERSION, Key, Outcome, Request};
use crate::run::patience;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value as Json, json};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// The time before a rejected client tries again.
const AGAIN: Duration = Duration::from_millis(20);
/// The subject of a set's elements.
const ELEMENTS: &str = "rig.e";

pub(super) struct NatsClient {
    node: SocketAddr,
    timeout: Duration,
    /// Whether any server responds to reads from its own state.
    reads_anywhere: bool,
    connection: Option<Connection>,
}

/// The last message of a subject.
#[derive(Debug)]
struct Held {
    /// Its number in the stream; 0 if there is none.
    sequence: u64,
    value: Json,
    id: String,
}

/// The reason why a request has no result.
#[derive(Debug, PartialEq, Eq)]
enum Refused {
    /// The request certainly did not happen.
    Failed(String),
    /// The same, because the read before the write had no response.
    Unread(String),
    /// The subject contains a value that no client writes.
    Damaged(String),
    /// The request may have happened.
    Unknown(String),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Refused {
        Refused::Unknown(error.to_string())
    }
}

/// The server's error code if the subject's last message is another one.
const WRONG_LAST_SEQUENCE: u64 = 10071;
const NO_MESSAGE: u64 = 10037;
const NOT_FOUND: u64 = 404;

const ANOTHER: &str = "the register holds another version";

impl NatsClient {
    pub(super) fn new(node: SocketAddr, timeout: Duration, reads_anywhere: bool) -> NatsClient {
        NatsClient { node, timeout, reads_anywhere, connection: None }
    }

    fn perform(&self, connection: &mut Connection, request: &Request) -> Result<Outcome, Refused> {
        Ok(match request {
            Request::Read(key) => Outcome::value(self.read(connection, &plain(*key))?.value),
            Request::ReadVersion(key) => {
                let held = self.read(connection, &versioned(*key))?;
                match held.value.as_i64().or_else(|| (held.sequence == 0).then_some(0)) {
                    Some(value) => Outcome::version(value, held.id),
                    None => return Err(Refused::Damaged(format!("{} with the id {:?}", held.value, held.id))),
                }
            }
            Request::ReadSet => elements(connection)?,
            Request::Write(key, value) => publish(connection, &plain(*key), *value, "", None)?,
            Request::Cas { key, expected, new } => {
                let held = read_leader(connection, &plain(*key)).map_err(before_the_write)?;
                if held.value != json!(expected) {
                    return Err(Refused::Failed(ANOTHER.to_owned()));
                }
                publish(connection, &plain(*key), *new, "", Some(held.sequence))?
            }
            Request::WriteVersion { key, value, id, previous } => {
                let held = read_leader(connection, &versioned(*key)).map_err(before_the_write)?;
                if held.id != *previous {
                    return Err(Refused::Failed(ANOTHER.to_owned()));
                }
                publish(connection, &versioned(*key), *value, id, Some(held.sequence))?
            }
            Request::Add(element) => publish(connection, &format!("{ELEMENTS}.{element}"), *element, "", None)?,
            // The store has no workload with other requests.
            _ => {
                return Err(Refused::Failed("not a request of this store".to_owned()));
            }
        })
    }

    fn read(&self, connection: &mut Connection, subject: &str) -> Result<Held, Refused> {
        if !self.reads_anywhere {
            return read_leader(connection, subject);
        }
        let asked = json!({"last_by_subj": subject}).to_string();
        let answer = document(connection.request(&format!("$JS.API.DIRECT.GET.{STREAM}"), &[], &asked)?)?;
        if answer["status"] == NOT_FOUND {
            return Ok(nothing());
        }
        let sequence = answer["sequence"].as_u64().ok_or_else(|| unexpected(&answer))?;
        held(sequence, answer["body"].as_str().unwrap_or_default())
    }
}

impl Client for NatsClient {
    fn invoke(&mut self, request: &Request) -> Result<Outcome, LiveError> {
        let opened = self.connection.take().map_or_else(|| Connection::open(self.node, self.timeout), Ok);
        let mut connection = match opened {
            Ok(connection) => connection,
            Err(error) => {
                patience::sleep(AGAIN);
                return Ok(Outcome::Fail(format!("{}: {error}", self.node)));
            }
        };
        let performed = self.perform(&mut connection, request);
        // Responses to other requests are distinguished by their subjects, but a connection that failed cannot be used
        // again.
        if !matches!(performed, Err(Refused::Unknown(_) | Refused::Unread(_))) {
            self.connection = Some(connection);
        }
        Ok(outcome(request, performed))
    }
}

/// The outcome of a request.
fn outcome(request: &Request, performed: Result<Outcome, Refused>) -> Outcome {
    match performed {
        Ok(outcome) => outcome,
        Err(Refused::Failed(why)) => Outcome::Fail(why),
        Err(Refused::Unread(why)) => Outcome::Fail(format!("before the write: {why}")),
        Err(Refused::Damaged(text)) if request.is_read() => Outcome::damaged(text),
        Err(Refused::Damaged(text)) => Outcome::Fail(format!("the register holds {text}")),
        Err(Refused::Unknown(why)) => Outcome::unanswered(request, why),
    }
}

fn plain(key: Key) -> String {
    format!("rig.r.{key}")
}

fn versioned(key: Key) -> String {
    format!("rig.v.{key}")
}

/// Converts an error of a read before a write: in any case, nothing was written.
fn before_the_write(refused: Refused) -> Refused {
    match refused {
        Refused::Unknown(why) => Refused::Unread(why),
        other => other,
    }
}

fn document(answer: Result<String, NoResponders>) -> Result<Json, Refused> {
    // No server has the subject's stream, so the message had no receiver.
    let text = answer.map_err(|NoResponders| Refused::Failed("no responders".to_owned()))?;
    serde_json::from_str(&text).map_err(|_| Refused::Unknown(format!("unexpected answer {text:?}")))
}

fn unexpected(answer: &Json) -> Refused {
    Refused::Unknown(format!("unexpected answer {answer}"))
}

/// The content of a subject before its first message.
fn nothing() -> Held {
    Held { sequence: 0, value: Json::Null, id: FIRST_VERSION.to_owned() }
}

/// The content of a message.
fn held(sequence: u64, body: &str) -> Result<Held, Refused> {
    let parsed: Option<Json> = serde_json::from_str(body).ok();
    let parts = parsed.and_then(|body| Some((body.get("value")?.clone(), body["id"].as_str()?.to_owned())));
    let (value, id) = parts.ok_or_else(|| Refused::Damaged(body.to_owned()))?;
    Ok(Held { sequence, value, id })
}

/// A subject's last message, from the stream's leader.
fn read_leader(connection: &mut Connection, subject: &str) -> Result<Held, Refused> {
    let asked = json!({"last_by_subj": subject}).to_string();
    let answer = document(connection.request(&format!("$JS.API.STREAM.MSG.GET.{STREAM}"), &[], &asked)?)?;
    if answer["error"]["err_code"] == NO_MESSAGE {
        return Ok(nothing());
    }
    let message = &answer["message"];
    // A message without a body has no field `data`.
    let body = BASE64.decode(message["data"].as_str().unwrap_or_default()).ok();
    let (sequence, body) = message["seq"].as_u64().zip(body).ok_or_else(|| unexpected(&answer))?;
    held(sequence, &String::from_utf8_lossy(&body))
}

/// Publishes a subject's next message, if the last one has this number.
fn publish(
    connection: &mut Connection,
    subject: &str,
    value: i64,
    id: &str,
    last: Option<u64>,
) -> Result<Outcome, Refused> {
    let last = last.map(|last| last.to_string());
    let headers: Vec<(&str, &str)> =
        last.iter().map(|last| ("Nats-Expected-Last-Subject-Sequence", last.as_str())).collect();
    let answer = document(connection.request(subject, &headers, &json!({"value": value, "id": id}).to_string())?)?;
    if answer["error"]["err_code"] == WRONG_LAST_SEQUENCE {
        return Err(Refused::Failed(ANOTHER.to_owned()));
    }
    if answer.get("error").is_some() || answer["seq"].as_u64().is_none() {
        return Err(unexpected(&answer));
    }
    Ok(Outcome::done())
}

/// All elements of the set, from the stream's leader.
fn elements(connection: &mut Connection) -> Result<Outcome, Refused> {
    let (mut all, mut offset) = (Vec::new(), 0);
    loop {
        let asked = json!({"subjects_filter": format!("{ELEMENTS}.>"), "offset": offset}).to_string();
        let answer = document(connection.request(&format!("$JS.API.STREAM.INFO.{STREAM}"), &[], &asked)?)?;
        if answer.get("error").is_some() || answer.get("state").is_none() {
            return Err(unexpected(&answer));
        }
        let before = all.len();
        for (subject, _) in answer["state"]["subjects"].as_object().into_iter().flatten() {
            let element = subject.rsplit('.').next().and_then(|element| element.parse::<i64>().ok());
            all.push(element.ok_or_else(|| Refused::Damaged(subject.clone()))?);
        }
        offset += all.len() - before;
        let total = answer["total"].as_u64().and_then(|total| usize::try_from(total).ok()).unwrap_or(0);
        if all.len() == before || offset >= total {
            break;
        }
    }
    // If an element is added between two pages, the second one contains some elements again.
    all.sort_unstable();
    all.dedup();
    Ok(Outcome::value(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_client_writes_is_read_as_it_is() {
        assert_eq!(held(3, r#"{"value":5,"id":"b"}"#).map(|held| (held.value, held.id)), Ok((json!(5), "b".into())));
        for body in ["", "5", r#"{"value":5}"#, r#"{"id":"b"}"#] {
            let Err(refused) = held(3, body) else { panic!("{body:?} is a register") };
            let Outcome::Ok(fields) = outcome(&Request::Read(1), Err(refused)) else { panic!("{body:?} was left out") };
            assert_eq!(fields["value"], body);
        }
    }

    #[test]
    fn a_write_whose_read_had_no_answer_failed() {
        let cas = Request::Cas { key: 1, expected: 2, new: 3 };
        let refused = before_the_write(Refused::Unknown("timed out".into()));
        assert_eq!(outcome(&cas, Err(refused)), Outcome::Fail("before the write: timed out".into()));
        assert_eq!(outcome(&cas, Err(Refused::Unknown("timed out".into()))), Outcome::Info("timed out".into()));
        assert_eq!(before_the_write(Refused::Failed("no".into())), Refused::Failed("no".into()));
    }
}
