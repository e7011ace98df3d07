//! The outcome so far, and errors of fed data.

use crate::Violation;
use history_core::{NextStep, Spent, Verdict};
use std::fmt;
use std::sync::Arc;

/// The outcome for a history so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome<O> {
    /// The history so far is linearizable, as far as is known.
    Ok,
    /// The history is not linearizable, whatever follows.
    Violation(Arc<Violation<O>>),
    /// The checker could not decide. It may still find a violation in other parts.
    Unknown(Reason),
}

impl<O> Outcome<O> {
    /// The outcome as a verdict.
    pub fn verdict(&self) -> Verdict {
        match self {
            Outcome::Ok => Verdict::Valid,
            Outcome::Violation(_) => Verdict::Invalid,
            Outcome::Unknown(_) => Verdict::Unknown,
        }
    }
}

/// Why a checker could not decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Reason {
    /// The limit of configurations was reached: see
    /// [`Settings::configurations_max`](crate::Settings::configurations_max).
    Full,
    /// More than 8,192 operations were in flight at the same time.
    InFlight,
    /// This client was so far behind the others that their spans filled the queues: see
    /// [`Settings::lag_max`](crate::Settings::lag_max).
    Behind {
        /// The client.
        client: u32,
    },
    /// An operation was in flight longer than the past is kept, and then ended in a way that would have mattered: see
    /// [`Settings::lag_max`](crate::Settings::lag_max).
    Lag,
    /// More operations crashed, or are in flight, than may be stored: see
    /// [`Settings::lag_max`](crate::Settings::lag_max).
    Crashed,
    /// An operation on the whole object followed after its parts had been checked separately for too long.
    Whole,
    /// This part of the budget was exhausted at the end: see
    /// [`Events::conclude_within`](crate::Events::conclude_within).
    Spent(Spent),
}

impl Reason {
    /// What would give a verdict.
    pub fn next(self) -> NextStep {
        match self {
            Reason::Full => NextStep::option(
                "max-configurations",
                "Allow a greater --max-configurations, or record with fewer clients at once.",
            ),
            Reason::InFlight => NextStep::new("Record fewer operations in flight at once."),
            Reason::Behind { .. } => NextStep::option(
                "max-lag",
                "Let every client report its operations soon after they end, or allow a greater --max-lag.",
            ),
            Reason::Lag | Reason::Crashed => NextStep::option(
                "max-lag",
                "Allow a greater --max-lag, or let operations that cannot have happened end with fail.",
            ),
            Reason::Whole => NextStep::new("Check the file when it is complete, without watch."),
            Reason::Spent(spent) => NextStep::spent(spent),
        }
    }

    /// As a clause: `"the search reached its limit of configurations"`.
    pub fn because(self) -> String {
        match self {
            Reason::Full => {
                "the search reached its maximum number of configurations, because many operations are in flight at \
                 once"
                    .into()
            }
            Reason::InFlight => "more than 8,192 operations are in flight at once".into(),
            Reason::Behind { client } => {
                format!("client {client} is so late that the maximum number of held operations was reached")
            }
            Reason::Lag => "an operation was in flight for longer than the history that is kept".into(),
            Reason::Crashed => "the maximum number of operations that crashed or are in flight was reached".into(),
            Reason::Whole => "an operation on the whole object came after its parts had been checked separately".into(),
            Reason::Spent(spent) => spent.because().into(),
        }
    }
}

/// Limits of a checker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The maximum number of configurations of one part of the object, of about 20 bytes each. Beyond it, the outcome
    /// is unknown.
    pub configurations_max: usize,
    /// The maximum number of events that are kept because an operation before them is still in flight (spans that wait
    /// for the slowest client; calls and returns of a part since the call of an operation in flight), and of operations
    /// with an unknown outcome. About 50 bytes each.
    pub lag_max: usize,
}

impl Default for Settings {
    /// A million of either.
    fn default() -> Settings {
        Settings { configurations_max: 1_000_000, lag_max: 1_000_000 }
    }
}

/// Why a span was rejected. The state has not changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FeedError {
    /// There is no such client.
    NoClient {
        /// Its number.
        client: u32,
    },
    /// The client has stopped, or is paused and was not resumed.
    NotRunning {
        /// The client.
        client: u32,
    },
    /// The client is running, so it cannot be resumed.
    Running {
        /// The client.
        client: u32,
    },
    /// The operation starts at or before the time that its client has already reached: operations of a client are
    /// sequential.
    OutOfOrder {
        /// The client.
        client: u32,
        /// The start of the operation.
        start: u64,
        /// The time that the client has reached.
        last: u64,
    },
    /// A span that finishes before it starts.
    Backwards {
        /// Its start.
        start: u64,
        /// Its finish.
        finish: u64,
    },
    /// A client joins or resumes at a time that has already been checked.
    Late {
        /// The time.
        at: u64,
        /// The time up to which everything has been checked.
        judged: u64,
    },
    /// The thread of the checker has ended.
    Closed,
}

impl fmt::Display for FeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            FeedError::NoClient { client } => write!(f, "unknown client {client}: it must join first"),
            FeedError::NotRunning { client } => write!(f, "client {client} has stopped: resume it first"),
            FeedError::Running { client } => write!(f, "client {client} is running, so it cannot be resumed"),
            FeedError::OutOfOrder { client, start, last } => write!(
                f,
                "client {client} starts an operation at {start}, after it had reached {last}: the operations of a \
                 client must not overlap"
            ),
            FeedError::Backwards { start, finish } => {
                write!(f, "a span from {start} to {finish} ends before it starts")
            }
            FeedError::Late { at, judged } => {
                write!(f, "a client cannot begin at {at}: everything up to {judged} was already checked")
            }
            FeedError::Closed => write!(f, "the checker has ended"),
        }
    }
}

impl std::error::Error for FeedError {}
