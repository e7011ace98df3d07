//! The messages between a run and a worker, one line of JSON each.

use crate::client::{FailedStart, Seat};
use crate::error::LiveError;
use crate::request::{Outcome, Request};
use crate::world::{Node, Order};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The first line of a worker. Both ends must have the same version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// The worker's version.
    pub(crate) histcheck_worker: String,
}

impl Hello {
    /// The first line for this program's version.
    pub(crate) fn own() -> Hello {
        Hello { histcheck_worker: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

/// A call, with a number that its reply repeats.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) id: u64,
    pub(crate) what: What,
}

/// The content of a call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum What {
    /// An order to the machine.
    Order(Order),
    /// Opens a client under this number.
    Open { client: u64, seat: Seat, of: Of },
    /// Performs a request with a client, one at a time.
    Invoke { client: u64, request: Request },
    /// Announces to a client that there are no more requests, and checks whether it sent more output.
    End { client: u64 },
    /// Closes a client.
    Close { client: u64 },
}

/// The store of a client.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Of {
    /// A store of this kind, with these options, on these nodes.
    Kind { kind: String, options: BTreeMap<String, String>, nodes: Vec<Node> },
    /// The command with which the worker was started; the node names for its clients.
    Command { nodes: Vec<String> },
}

/// The reply to a call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Reply {
    pub(crate) id: u64,
    pub(crate) answer: Result<Answer, Failure>,
}

/// The result of a call.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// An order was executed, with its result.
    Done(String),
    /// The outcome of a request, whether its client cannot perform another one, and why the client ended if it has
    /// never answered.
    Outcome { outcome: Outcome, is_broken: bool, failed_start: Option<FailedStart> },
}

/// The reason why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    what: String,
    log: String,
}

impl From<LiveError> for Failure {
    fn from(error: LiveError) -> Failure {
        match error {
            LiveError::Store { what, log } => Failure { what, log },
            other => Failure { what: other.to_string(), log: String::new() },
        }
    }
}

impl Failure {
    /// The error, with the name of its machine.
    pub(crate) fn at(self, place: &str) -> LiveError {
        LiveError::Store { what: format!("{place}: {}", self.what), log: self.log }
    }
}
