//! Errors in an op's place in a history, and their messages.

use super::{Open, Pairing};
use crate::Client;
use crate::error::{ErrorKind, HistoryError};
use crate::ops::participants::NAMES_END;

/// How an op contradicts those before it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Misfit {
    /// An invocation in a history that seemed to have none.
    Late,
    /// An invocation by a client whose last op is in flight.
    Busy(i64, Open),
    /// A completion without an operation in flight.
    Uninvoked(i64),
    /// An op of a client that crashed.
    Returned(i64),
    /// A completion without an invocation, after an op that is omitted unless it is such a completion too.
    Early,
    /// A number that represents a name.
    Reserved(i64),
}

impl Pairing {
    #[cold]
    pub(crate) fn error(&self, misfit: Misfit) -> HistoryError {
        match misfit {
            Misfit::Late => error(
                "this op is an invocation, but the history began with a completion without one".into(),
                "an invocation before every completion, or no invocations",
            ),
            Misfit::Busy(process, open) => error(
                format!("process {} invokes an op while its op {} is in flight", self.shown(process), site(&open)),
                "the completion of that op first",
            ),
            Misfit::Uninvoked(process) => error(
                format!("process {} completes an op without having invoked one", self.shown(process)),
                "an invocation by that process before it",
            ),
            Misfit::Returned(process) => {
                let (client, kind) = (self.shown(process), if process < NAMES_END { "name" } else { "number" });
                error(
                    format!("process {client} is used again after an info"),
                    &format!("a new process {kind} for a client that continues after a crash"),
                )
            }
            Misfit::Early => {
                let (name, place) = self.early.as_ref().map_or(("", ""), |early| (&early.name, &early.place));
                error(
                    format!(
                        "the history begins with a completion without an invocation, so whether the info of {name} at \
                         {place} is of a crashed client is unknown"
                    ),
                    &format!("--clients {name} or --not-clients {name}"),
                )
            }
            Misfit::Reserved(number) => error(
                format!("the number of the process, {number}, is below the minimum"),
                &format!("a number from {NAMES_END} on"),
            ),
        }
    }

    /// The client with its name or number in the history.
    fn shown(&self, process: i64) -> Client {
        let name = self.names.iter().find(|(_, number)| **number == process);
        name.map_or(Client::Number(process), |(name, _)| Client::Name(name.to_string()))
    }
}

fn error(message: String, expected: &str) -> HistoryError {
    HistoryError::new(ErrorKind::Pairing, message).expected(expected)
}

fn site(open: &Open) -> String {
    match open.position {
        Some(position) if position.line > 0 => format!("of line {}", position.line),
        _ => format!("with index {}", open.index),
    }
}
