//! The content of an op on logs, borrowed from the simulation.

/// An operation on logs.
#[derive(Clone, Copy, Debug)]
pub struct LogOp<'a> {
    /// The keys that a consumer assigns to itself, if that is what it does.
    pub assigned: Option<&'a [i64]>,
    /// Its sends and polls, if it assigns nothing.
    pub mops: &'a [LogMop],
    /// Whether offsets and polled messages are known: the op is `ok`.
    pub shown: bool,
}

/// One micro-operation on logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogMop {
    /// Sends a message.
    Send {
        /// To which log.
        key: u32,
        /// Unlike every other one of that log.
        value: i64,
        /// Where it was stored, if the store says.
        offset: Option<i64>,
    },
    /// Polls: for each key the offsets and messages.
    Poll(Vec<(u32, Vec<(i64, i64)>)>),
}
