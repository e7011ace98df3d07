//! What clients talk to: a store together with the operations that are asked of it.

use crate::op::{Kind, Payload};
use crate::slot::Slot;

/// A store under simulation, and the workload that is put on it.
pub(crate) trait System {
    /// The name of the function that an operation calls.
    fn f(&self, slot: Slot) -> &'static str;

    /// Decides what the next operation asks for. Its slot is new or was released. Whether it must succeed, come what
    /// may.
    fn plan(&mut self, slot: Slot, client: u32) -> bool;

    /// Nothing is in flight any more, and clients have asked for all they wanted. How many operations are still to be
    /// asked for.
    fn end(&mut self) -> u64 {
        0
    }

    /// Goes on with an operation, all at one instant.
    fn step(&mut self, slot: Slot, intent: Intent) -> Progress;

    /// The operation's argument, or, for `Ok`, its result.
    fn payload(&self, slot: Slot, kind: Kind) -> Payload<'_>;

    /// The client learns how an operation ended; it is recorded next. `Info` if it gave up waiting, recorded or not.
    fn hear(&mut self, slot: Slot, kind: Kind) {
        let _ = (slot, kind);
    }

    /// Forgets an operation: its client was answered or went away, and it takes no more steps.
    fn release(&mut self, slot: Slot);
}

/// How an operation is to end, if the store can help it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    /// It happens.
    Commit,
    /// It does not.
    Abort,
}

/// How far a step got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// More steps are needed before the client can be answered.
    Again,
    /// The client can be answered.
    Answer {
        /// Whether the answer is that it happened.
        ok: bool,
        /// Whether the store has more to do for this operation.
        more: bool,
    },
    /// What was left to do after the answer is done.
    End,
}
