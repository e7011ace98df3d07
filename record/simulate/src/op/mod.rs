//! One op of a simulated history, borrowed from the simulation.

pub(crate) mod log;
pub(crate) mod object;

use crate::lists::mops::Mops;
use crate::lists::registers::RegisterMops;
use log::LogOp;
use object::ObjectOp;

/// An op, as a client would have recorded it.
#[derive(Clone, Copy, Debug)]
pub struct SimOp<'a> {
    /// Its position in the history, from 0.
    pub index: u64,
    /// The process of the op.
    pub process: Process,
    /// The kind of the op.
    pub kind: Kind,
    /// The name of the function called.
    pub f: &'static str,
    /// The argument or the result.
    pub payload: Payload<'a>,
    /// The time in nanoseconds since the test began, not before that of the previous op.
    pub time_ns: u64,
}

/// The origin of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Process {
    /// A client. A client that gave up waiting continues as another process: its number plus the number of clients.
    Client(i64),
    /// The process that disturbs the store. Its ops are all `info`.
    Nemesis,
}

/// The kind of an op: its relation to its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A client began the operation.
    Invoke,
    /// The operation happened.
    Ok,
    /// The store reports that the operation did not happen.
    Fail,
    /// The client gave up waiting.
    Info,
}

impl Kind {
    /// The names in histories: `"invoke"`, `"ok"`, `"fail"`, `"info"`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Invoke => "invoke",
            Kind::Ok => "ok",
            Kind::Fail => "fail",
            Kind::Info => "info",
        }
    }
}

/// The value of an op. Other workloads will add other kinds.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Payload<'a> {
    /// No value.
    Nothing,
    /// The micro-operations of a transaction over lists.
    Lists(Mops<'a>),
    /// The micro-operations of a transaction over registers.
    Registers(RegisterMops<'a>),
    /// The argument or the result of an operation on an object.
    Object(ObjectOp<'a>),
    /// The argument or the result of an operation on logs.
    Log(LogOp<'a>),
}
