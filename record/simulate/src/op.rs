//! One op of a simulated history, borrowed from the simulation.

use crate::objects::ObjectOp;
use crate::registers::RegisterMops;
use crate::store::Mops;

/// An op, as a client would have recorded it.
#[derive(Clone, Copy, Debug)]
pub struct SimOp<'a> {
    /// Its position in the history, from 0.
    pub index: u64,
    /// Who did it.
    pub process: Process,
    /// What it says of the operation.
    pub kind: Kind,
    /// The name of the function called.
    pub f: &'static str,
    /// Its argument, or its result.
    pub payload: Payload<'a>,
    /// In nanoseconds since the test began; never less than that of the op before.
    pub time_ns: u64,
}

/// Who did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Process {
    /// A client. One that gave up waiting continues under its number plus the number of clients.
    Client(i64),
    /// What disturbs the store. Its ops are all `info`.
    Nemesis,
}

/// What an op says of the operation it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A client began it.
    Invoke,
    /// It happened.
    Ok,
    /// The store says that it did not happen.
    Fail,
    /// The client gave up waiting.
    Info,
}

impl Kind {
    /// As histories spell it: `"invoke"`, `"ok"`, `"fail"`, `"info"`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Invoke => "invoke",
            Kind::Ok => "ok",
            Kind::Fail => "fail",
            Kind::Info => "info",
        }
    }
}

/// The value of an op. Other workloads will bring other kinds.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Payload<'a> {
    /// No value.
    Nothing,
    /// The micro-operations of a transaction over lists.
    Lists(Mops<'a>),
    /// The micro-operations of a transaction over registers.
    Registers(RegisterMops<'a>),
    /// What was asked of an object, or what it answered.
    Object(ObjectOp<'a>),
    /// What was asked of logs, or what they answered.
    Log(LogOp<'a>),
}

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

/// One micro-operation of a transaction over lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mop<'a> {
    /// Adds a value to the end of a key's list.
    Append {
        /// Whose list.
        key: i64,
        /// Unlike every other value appended to that key.
        value: i64,
    },
    /// Reads a key's list.
    Read {
        /// Whose list.
        key: i64,
        /// What was read; `None` unless the op is `ok`.
        list: Option<&'a [i64]>,
    },
}
