//! Clients of ZooKeeper: a register is a node whose data contain the value and the id of its version.
//!
//! A write that depends on the content of the register reads the node, and sets it only if its version is still the
//! same. So a stale read makes it fail, and never overwrites anything.

use super::jute::{BAD_VERSION, NO_NODE, NODE_EXISTS, ReplyError, Session};
use crate::client::Client;
use crate::error::LiveError;
use crate::request::{FIRST_VERSION, Key, Outcome, Request};
use serde_json::Value as Json;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

/// The node with the elements of the set.
pub(super) const SET: &str = "/set";

/// The time before a rejected client tries again.
const AGAIN: Duration = Duration::from_millis(20);

pub(super) struct ZooKeeperClient {
    pub(super) node: SocketAddr,
    pub(super) timeout: Duration,
    /// Whether a read waits until the server has its leader's state.
    pub(super) syncs: bool,
    pub(super) session: Option<Session>,
}

/// The reason why a request has no response.
#[derive(Debug, PartialEq, Eq)]
enum Refused {
    /// Nothing was changed, because a precondition does not hold.
    Precondition(&'static str),
    /// The register contains a value that no client writes.
    Damaged(String),
    /// Nothing was changed, because the read before the write had no response.
    Unread(String),
    Reply(ReplyError),
}

impl From<ReplyError> for Refused {
    fn from(error: ReplyError) -> Refused {
        Refused::Reply(error)
    }
}

impl Client for ZooKeeperClient {
    fn invoke(&mut self, request: &Request) -> Result<Outcome, LiveError> {
        let mut session = match self.session.take().map_or_else(|| Session::open(self.node, self.timeout), Ok) {
            Ok(session) => session,
            Err(error) => {
                thread::sleep(AGAIN);
                return Ok(Outcome::Fail(format!("{}: {error}", self.node)));
            }
        };
        let performed = self.perform(&mut session, request)?;
        let (outcome, is_intact) = outcome(request, performed);
        if is_intact {
            self.session = Some(session);
        }
        Ok(outcome)
    }
}

impl ZooKeeperClient {
    fn perform(&self, session: &mut Session, request: &Request) -> Result<Result<Outcome, Refused>, LiveError> {
        if request.is_read()
            && self.syncs
            && let Err(error) = session.sync("/")
        {
            return Ok(Err(error.into()));
        }
        Ok(match request {
            Request::Read(key) => {
                held(session, *key).map(|held| Outcome::value(held.map_or(Json::Null, |held| held.value.into())))
            }
            Request::ReadVersion(key) => held(session, *key).map(|held| match held {
                Some(held) => Outcome::version(held.value, held.id),
                None => Outcome::version(0, FIRST_VERSION),
            }),
            Request::Write(key, value) => write(session, *key, *value),
            Request::Cas { key, expected, new } => {
                replace(session, *key, *new, FIRST_VERSION, |held| held.is_some_and(|held| held.value == *expected))
            }
            Request::WriteVersion { key, value, id, previous } => replace(session, *key, *value, id, |held| {
                held.map_or(previous == FIRST_VERSION, |held| held.id == *previous)
            }),
            Request::Add(element) => {
                session.create(&format!("{SET}/{element}"), "").map(|()| Outcome::done()).map_err(Refused::from)
            }
            Request::ReadSet => session.children(SET).map_err(Refused::from).and_then(|names| {
                let elements: Option<Vec<i64>> = names.iter().map(|name| name.parse().ok()).collect();
                let mut elements = elements.ok_or_else(|| Refused::Damaged(names.join(" ")))?;
                elements.sort_unstable();
                Ok(Outcome::value(elements))
            }),
            other => return Err(LiveError::Unsupported(format!("zookeeper has no request for {:?}", other.f()))),
        })
    }
}

/// The outcome of a request, and whether the session can be used again.
fn outcome(request: &Request, performed: Result<Outcome, Refused>) -> (Outcome, bool) {
    match performed {
        Ok(outcome) => (outcome, true),
        Err(Refused::Precondition(why)) => (Outcome::Fail(why.to_owned()), true),
        Err(Refused::Damaged(text)) if request.is_read() => (Outcome::damaged(text), true),
        Err(Refused::Damaged(text)) => (Outcome::Fail(format!("the register holds {text}")), true),
        Err(Refused::Unread(why)) => (Outcome::Fail(format!("before the write: {why}")), false),
        Err(Refused::Reply(ReplyError::Code(BAD_VERSION | NODE_EXISTS))) => {
            (Outcome::Fail("the node has another version".to_owned()), true)
        }
        Err(Refused::Reply(ReplyError::Code(code))) => (Outcome::unanswered(request, format!("error {code}")), false),
        Err(Refused::Reply(ReplyError::Lost(why))) => (Outcome::unanswered(request, why), false),
    }
}

/// The content of a register.
struct Held {
    value: i64,
    id: String,
    /// The version of its node.
    version: i32,
}

fn path(key: Key) -> String {
    format!("/r{key}")
}

fn held(session: &mut Session, key: Key) -> Result<Option<Held>, Refused> {
    let (data, version) = match session.get(&path(key)) {
        Ok(found) => found,
        Err(ReplyError::Code(NO_NODE)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let parts = data.split_once(' ').and_then(|(value, id)| Some((value.parse().ok()?, id.to_owned())));
    let (value, id) = parts.ok_or(Refused::Damaged(data))?;
    Ok(Some(Held { value, id, version }))
}

fn write(session: &mut Session, key: Key, value: i64) -> Result<Outcome, Refused> {
    let (path, data) = (path(key), format!("{value} {FIRST_VERSION}"));
    let set = match session.set(&path, &data, -1) {
        // The node does not exist: the first client that creates it writes it, and the others set it.
        Err(ReplyError::Code(NO_NODE)) => match session.create(&path, &data) {
            Err(ReplyError::Code(NODE_EXISTS)) => session.set(&path, &data, -1),
            created => created,
        },
        set => set,
    };
    set.map(|()| Outcome::done()).map_err(Refused::from)
}

fn replace(
    session: &mut Session,
    key: Key,
    value: i64,
    id: &str,
    fits: impl FnOnce(Option<&Held>) -> bool,
) -> Result<Outcome, Refused> {
    // Nothing was written yet, so an error here is not one of the write.
    let held = held(session, key).map_err(|refused| match refused {
        Refused::Reply(ReplyError::Lost(why)) => Refused::Unread(why),
        Refused::Reply(ReplyError::Code(code)) => Refused::Unread(format!("error {code}")),
        other => other,
    })?;
    if !fits(held.as_ref()) {
        return Err(Refused::Precondition("the register holds something else"));
    }
    let data = format!("{value} {id}");
    match held {
        Some(held) => session.set(&path(key), &data, held.version)?,
        None => session.create(&path(key), &data)?,
    }
    Ok(Outcome::done())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_wrong_version_fails_a_write() {
        let write = Request::WriteVersion { key: 1, value: 2, id: "b".into(), previous: "a".into() };
        let ends = |request: &Request, error: ReplyError| {
            let (outcome, is_intact) = outcome(request, Err(Refused::Reply(error)));
            (matches!(outcome, Outcome::Fail(_)), is_intact)
        };
        assert_eq!(ends(&write, ReplyError::Code(BAD_VERSION)), (true, true));
        assert_eq!(ends(&write, ReplyError::Code(NODE_EXISTS)), (true, true));
        // The session has expired; or the connection is lost.
        assert_eq!(ends(&write, ReplyError::Code(-112)), (false, false));
        assert_eq!(ends(&write, ReplyError::Code(-4)), (false, false));
        assert_eq!(ends(&write, ReplyError::Lost("reset".into())), (false, false));
        // A read has no effect, whether it is a request or precedes a write. Its session is not used again.
        let (unread, is_intact) = outcome(&write, Err(Refused::Unread("timed out".into())));
        assert_eq!((unread, is_intact), (Outcome::Fail("before the write: timed out".into()), false));
        assert_eq!(ends(&Request::ReadVersion(1), ReplyError::Lost("reset".into())), (true, false));
    }
}
