//! The interface between clients and a store, with the operations that they request.

use crate::op::{Kind, Payload};
use crate::slot::Slot;

/// A simulated store, with its workload.
pub(crate) trait System {
    /// The name of the function that an operation calls.
    fn f(&self, slot: Slot) -> &'static str;

    /// Decides what the next operation requests. Its slot is new or was released. Returns true if the operation must
    /// succeed.
    fn plan(&mut self, slot: Slot, client: u32) -> bool;

    /// Called when no operation is in flight and all requests were sent. Returns the number of further operations to be
    /// requested.
    fn end(&mut self) -> u64 {
        0
    }

    /// Continues an operation by one step, at one instant.
    fn step(&mut self, slot: Slot, intent: Intent) -> Progress;

    /// The argument of the operation or, for `Ok`, its result.
    fn payload(&self, slot: Slot, kind: Kind) -> Payload<'_>;

    /// Called when the client gets the outcome of an operation, which is recorded next. `Info` if it gave up waiting,
    /// whether or not that is recorded.
    fn hear(&mut self, slot: Slot, kind: Kind) {
        let _ = (slot, kind);
    }

    /// Discards an operation: its client got the answer or gave up, and the operation takes no more steps.
    fn release(&mut self, slot: Slot);
}

/// The intended outcome of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    /// It takes effect.
    Commit,
    /// It does not take effect.
    Abort,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// More steps are needed before the client can be answered.
    Again,
    /// The client can be answered.
    Answer {
        /// Whether the answer is that the operation happened.
        ok: bool,
        /// Whether the store still has steps to take for this operation.
        more: bool,
    },
    /// The steps after the answer are finished.
    End,
}
