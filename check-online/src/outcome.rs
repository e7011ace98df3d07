//! What is known so far, and what may be wrong with what is fed.

use crate::Violation;
use history_core::{NextStep, Spent, Verdict};
use std::fmt;
use std::sync::Arc;

/// What is known of a history so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome<O> {
    /// What has happened so far is linearizable, as far as it is known.
    Ok,
    /// It is not, and never will be.
    Violation(Arc<Violation<O>>),
    /// It could not be found out. A violation may still be found, if there are parts of which more is known.
    Unknown(Reason),
}

impl<O> Outcome<O> {
    /// As a verdict.
    pub fn verdict(&self) -> Verdict {
        match self {
            Outcome::Ok => Verdict::Valid,
            Outcome::Violation(_) => Verdict::Invalid,
            Outcome::Unknown(_) => Verdict::Unknown,
        }
    }
}

/// Why an answer was not found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Reason {
    /// There are more configurations than may be held: see
    /// [`Settings::configurations_max`](crate::Settings::configurations_max).
    Full,
    /// More than 8,192 operations were in flight at one time.
    InFlight,
    /// This client lags so far behind the others that their spans filled the queues: see
    /// [`Settings::lag_max`](crate::Settings::lag_max).
    Behind {
        /// Which.
        client: u32,
    },
    /// An operation was in flight for longer than what is kept of the past, and then ended in a way that would have
    /// mattered: see [`Settings::lag_max`](crate::Settings::lag_max).
    Lag,
    /// More operations crashed, or are in flight, than may be remembered: see
    /// [`Settings::lag_max`](crate::Settings::lag_max).
    Crashed,
    /// Parts of the object had been judged alone for long when an operation about the whole of it came.
    Whole,
    /// This part of the budget ran out at the end: see
    /// [`Events::conclude_within`](crate::Events::conclude_within).
    Spent(Spent),
}

impl Reason {
    /// What would give an answer.
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

/// What may be held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Configurations of one part of the object, of about 20 bytes each. Where there are more the outcome is unknown.
    pub configurations_max: usize,
    /// Events that may be kept because something that was in flight before them is not known yet: spans that wait for
    /// the slowest client, calls and returns of a part since the call of an operation in flight; and operations of
    /// which no client will know whether they happened. About 50 bytes each.
    pub lag_max: usize,
}

impl Default for Settings {
    /// A million of either.
    fn default() -> Settings {
        Settings { configurations_max: 1_000_000, lag_max: 1_000_000 }
    }
}

/// Why a span cannot be taken. Nothing has changed then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FeedError {
    /// There is no such client.
    NoClient {
        /// Its number.
        client: u32,
    },
    /// The client has stopped, or does not go on before it is resumed.
    NotRunning {
        /// Which.
        client: u32,
    },
    /// The client is running, so it cannot be resumed.
    Running {
        /// Which.
        client: u32,
    },
    /// A client's operations come one after another, but this starts at or before the time that it was known to have
    /// come to.
    OutOfOrder {
        /// Which.
        client: u32,
        /// When this starts.
        start: u64,
        /// What the client had come to.
        last: u64,
    },
    /// A span that finishes before it starts.
    Backwards {
        /// Its start.
        start: u64,
        /// Its finish.
        finish: u64,
    },
    /// A client joins or goes on at a time that has been judged already.
    Late {
        /// The time.
        at: u64,
        /// Everything up to then has been judged.
        judged: u64,
    },
    /// Nothing takes what is fed: the thread that judged it is gone.
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
