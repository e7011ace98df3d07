//! The content of an op on logs, borrowed from the simulation.

/// An operation on logs.
#[derive(Clone, Copy, Debug)]
pub struct LogOp<'a> {
    /// The keys that a consumer assigns to itself, if the op is an assignment.
    pub assigned: Option<&'a [i64]>,
    /// The sends and polls of the op, if it is not an assignment.
    pub mops: &'a [LogMop],
    /// Whether offsets and polled messages are known: the op is `ok`.
    pub shown: bool,
}

/// One micro-operation on logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogMop {
    /// Sends a message.
    Send {
        /// The number of the log.
        key: u32,
        /// The message, which differs from every other message of the log.
        value: i64,
        /// The offset at which it was stored, if the store returns it.
        offset: Option<i64>,
    },
    /// Polls messages: for each key their offsets and values.
    Poll(Vec<(u32, Vec<(i64, i64)>)>),
}
