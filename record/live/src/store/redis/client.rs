//! Clients of Redis: they query only the sentinel of their node for the master.

use super::resp::{Answer, Connection};
use super::{MASTER, PORT, SENTINEL_PORT};
use crate::client::Client;
use crate::error::LiveError;
use crate::request::{FIRST_VERSION, Outcome, Request};
use serde_json::Value as Json;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

/// How long a client uses the response of its sentinel.
const BELIEVES: Duration = Duration::from_secs(1);

/// Writes a version if the hash contains the previous one.
const WRITE_VERSION: &str = "local id = redis.call('hget', KEYS[1], 'id') or '0' \
    if id == ARGV[1] then redis.call('hset', KEYS[1], 'id', ARGV[2], 'v', ARGV[3]) return 1 else return 0 end";
/// Writes a value if the key has the expected one.
const CAS: &str =
    "if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('set', KEYS[1], ARGV[2]) return 1 else return 0 end";

pub(super) struct RedisClient {
    node: Ipv4Addr,
    timeout: Duration,
    /// The number of replicas that a write waits for.
    wait: u32,
    master: Option<(Connection, SocketAddr)>,
    believed: Instant,
    is_broken: bool,
}

impl RedisClient {
    pub(super) fn new(node: Ipv4Addr, timeout: Duration, wait: u32) -> RedisClient {
        RedisClient { node, timeout, wait, master: None, believed: Instant::now(), is_broken: false }
    }

    /// A connection to the master according to the sentinel. Nothing was sent to it if this fails.
    fn master(&mut self) -> Result<&mut Connection, String> {
        if self.master.is_some() && self.believed.elapsed() >= BELIEVES {
            self.believed = Instant::now();
            let now = master(self.node, self.timeout);
            if self.master.as_ref().map(|(_, address)| *address) != now.map(|ip| (ip, PORT).into()) {
                self.master = None;
            }
        }
        if self.master.is_none() {
            let ip = master(self.node, self.timeout).ok_or("the sentinel reports no master")?;
            let address = SocketAddr::from((ip, PORT));
            let connection = Connection::open(address, self.timeout).map_err(|error| format!("{address}: {error}"))?;
            self.believed = Instant::now();
            self.master = Some((connection, address));
        }
        self.master.as_mut().map(|(connection, _)| connection).ok_or_else(String::new)
    }

    fn perform(&mut self, request: &Request) -> Outcome {
        let wait = self.wait.to_string();
        let is_waiting = self.wait > 0 && !request.is_read();
        let wait_ms = (self.timeout.as_millis() / 2).to_string();
        let connection = match self.master() {
            Ok(connection) => connection,
            Err(why) => return Outcome::Fail(why),
        };
        let outcome = match connection.call(&command(request).iter().map(String::as_str).collect::<Vec<_>>()) {
            Ok(answer) => outcome(request, answer),
            Err(error) => Outcome::unanswered(request, error.to_string()),
        };
        if !is_waiting || !matches!(outcome, Outcome::Ok(_)) {
            return outcome;
        }
        match connection.call(&["WAIT", &wait, &wait_ms]) {
            Ok(Answer::Integer(replicas)) if replicas >= i64::from(self.wait) => outcome,
            Ok(answer) => Outcome::Info(format!("written, but WAIT answered {answer:?}")),
            Err(error) => Outcome::Info(format!("written, but WAIT failed: {error}")),
        }
    }
}

impl Client for RedisClient {
    fn invoke(&mut self, request: &Request) -> Result<Outcome, LiveError> {
        let outcome = self.perform(request);
        // After an error, another server may be the master, and a late response must not be taken for that of the next
        // request.
        self.is_broken = !matches!(outcome, Outcome::Ok(_)) && !is_refusal(&outcome);
        Ok(outcome)
    }

    fn is_broken(&self) -> bool {
        self.is_broken
    }
}

const REFUSED: &str = "the register holds another version";

fn is_refusal(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Fail(why) if why == REFUSED)
}

/// The master according to the sentinel at this node.
pub(super) fn master(node: Ipv4Addr, timeout: Duration) -> Option<Ipv4Addr> {
    let mut sentinel = Connection::open((IpAddr::V4(node), SENTINEL_PORT).into(), timeout).ok()?;
    match sentinel.call(&["SENTINEL", "get-master-addr-by-name", MASTER]).ok()? {
        Answer::List(parts) => match parts.first() {
            Some(Answer::Text(ip)) => ip.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

/// A request as a command.
fn command(request: &Request) -> Vec<String> {
    let words: Vec<String> = match request {
        Request::Read(key) => vec!["GET".into(), format!("r{key}")],
        Request::Write(key, value) => vec!["SET".into(), format!("r{key}"), value.to_string()],
        Request::Cas { key, expected, new } => {
            vec!["EVAL".into(), CAS.into(), "1".into(), format!("r{key}"), expected.to_string(), new.to_string()]
        }
        Request::ReadVersion(key) => vec!["HMGET".into(), format!("h{key}"), "v".into(), "id".into()],
        Request::WriteVersion { key, value, id, previous } => {
            let start = ["EVAL".into(), WRITE_VERSION.into(), "1".into(), format!("h{key}")];
            start.into_iter().chain([previous.clone(), id.clone(), value.to_string()]).collect()
        }
        Request::Add(element) => vec!["SADD".into(), "elements".into(), element.to_string()],
        Request::ReadSet => vec!["SMEMBERS".into(), "elements".into()],
        // The store has no workload with other requests.
        _ => vec!["PING".into()],
    };
    words
}

/// Errors that state that nothing was written.
const DEFINITE: [&str; 7] = ["READONLY", "NOREPLICAS", "MASTERDOWN", "LOADING", "MISCONF", "NOSCRIPT", "BUSY"];

/// The outcome of a response.
fn outcome(request: &Request, answer: Answer) -> Outcome {
    let integer = |answer: &Answer| match answer {
        Answer::Text(text) => text.parse::<i64>().ok(),
        _ => None,
    };
    match (request, answer) {
        // Before a script runs, Redis writes the reason before the error of the script's command.
        (_, Answer::Error(why)) if DEFINITE.iter().any(|code| why.split([' ', ':']).any(|word| word == *code)) => {
            Outcome::Fail(why)
        }
        (_, Answer::Error(why)) => Outcome::unanswered(request, why),
        (Request::Read(_), Answer::Nil) => Outcome::value(Json::Null),
        (Request::Read(_), value) => match integer(&value) {
            Some(value) => Outcome::value(value),
            None => Outcome::damaged(format!("{value:?}")),
        },
        (Request::ReadVersion(_), Answer::List(parts)) => match &parts[..] {
            [Answer::Nil, Answer::Nil] => Outcome::version(0, FIRST_VERSION),
            [value, Answer::Text(id)] if integer(value).is_some() => {
                Outcome::version(integer(value).unwrap_or_default(), id.clone())
            }
            _ => Outcome::damaged(format!("{parts:?}")),
        },
        (Request::ReadSet, Answer::List(parts)) => {
            let Some(mut elements) = parts.iter().map(integer).collect::<Option<Vec<i64>>>() else {
                return Outcome::damaged(format!("{parts:?}"));
            };
            elements.sort_unstable();
            Outcome::value(elements)
        }
        (Request::Cas { .. } | Request::WriteVersion { .. }, Answer::Integer(0)) => Outcome::Fail(REFUSED.to_owned()),
        (Request::Cas { .. } | Request::WriteVersion { .. } | Request::Add(_), Answer::Integer(_))
        | (Request::Write(..), Answer::Text(_)) => Outcome::done(),
        (_, answer) => Outcome::unanswered(request, format!("unexpected answer {answer:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_definite_errors_fail_a_write() {
        let write = Request::Write(1, 2);
        let after = |why: &str| outcome(&write, Answer::Error(why.to_owned()));
        for why in ["READONLY You can't write against a read only replica.", "NOREPLICAS Not enough good replicas"] {
            assert_eq!(after(why), Outcome::Fail(why.into()));
        }
        let script = "ERR READONLY You can't write against a read only replica. script: 0";
        assert_eq!(after(script), Outcome::Fail(script.into()));
        assert_eq!(after("ERR something"), Outcome::Info("ERR something".into()));
        assert_eq!(outcome(&Request::Read(1), Answer::Error("ERR x".into())), Outcome::Fail("ERR x".into()));
    }

    #[test]
    fn a_refused_write_fails() {
        let write = Request::WriteVersion { key: 1, value: 2, id: "b".into(), previous: "a".into() };
        assert_eq!(outcome(&write, Answer::Integer(0)), Outcome::Fail(REFUSED.into()));
        assert_eq!(outcome(&write, Answer::Integer(1)), Outcome::done());
        let read = Request::ReadVersion(1);
        assert_eq!(outcome(&read, Answer::List(vec![Answer::Nil, Answer::Nil])), Outcome::version(0, "0"));
        let text = |text: &str| Answer::Text(text.to_owned());
        assert_eq!(outcome(&read, Answer::List(vec![text("3"), text("b")])), Outcome::version(3, "b"));
    }

    #[test]
    fn a_read_of_what_nobody_wrote_is_recorded_as_it_is() {
        let text = |text: &str| Answer::Text(text.to_owned());
        for (read, answer) in [
            (Request::Read(1), text("x")),
            (Request::ReadVersion(1), Answer::List(vec![Answer::Nil, text("b")])),
            (Request::ReadVersion(1), Answer::List(vec![text("3"), Answer::Nil])),
            (Request::ReadSet, Answer::List(vec![text("3"), text("x")])),
        ] {
            let Outcome::Ok(fields) = outcome(&read, answer) else { panic!("{read:?} was left out") };
            assert!(fields["value"].is_string(), "{fields:?}");
        }
    }
}
