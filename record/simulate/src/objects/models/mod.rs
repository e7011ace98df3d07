//! Models: the sequential behaviour of objects. One per file.

pub(super) mod bank;
pub(super) mod counter;
pub(super) mod ids;
pub(super) mod kv;
pub(super) mod locks;
pub(super) mod long_fork;
pub(super) mod multi_register;
pub(super) mod register;
pub(super) mod sequences;
pub(super) mod sequential;
pub(super) mod set;
pub(super) mod versioned;

use super::flight::{Ask, Flight};
use super::values::UNWRITTEN;
use crate::op::Kind;
use crate::rng::Rng;

/// The result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It happened.
    Done,
    /// It cannot happen now, and the object reports that.
    Refused,
    /// It cannot happen now, but may a little later.
    Busy,
}

/// The kind of request that a client is to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// Any operation.
    Anything,
    /// An operation with a result that depends on the object.
    Read,
}

/// The behaviour of an object.
pub(super) trait Model {
    /// The state of the object.
    type State: Clone;

    /// The initial state.
    fn fresh(&self) -> Self::State;

    /// Draws the next request of a client: the `ask` of a flight that has just begun.
    fn draw(&mut self, state: &Self::State, flight: &mut Flight, want: Want, rng: &mut Rng);

    /// Performs an operation at one instant. The state does not change unless the operation is done.
    fn apply(&mut self, state: &mut Self::State, flight: &mut Flight) -> Outcome;

    /// Replaces the result by an impossible one: a value that was never written.
    fn distort(&self, flight: &mut Flight) {
        flight.seen = Some(UNWRITTEN);
    }

    /// Called when the client gets the outcome of an operation.
    fn hear(&mut self, state: &mut Self::State, flight: &Flight, kind: Kind) {
        let _ = (state, flight, kind);
    }

    /// Returns true if a client's next operation must be on the same object.
    fn is_bound(&self, client: u32) -> bool {
        let _ = client;
        false
    }

    /// Returns true if the operation must be refused because it arrives too late.
    fn is_late(&mut self, flight: &Flight) -> bool {
        let _ = flight;
        false
    }

    /// Performs an operation although the object should refuse it.
    fn force(&mut self, state: &mut Self::State, flight: &mut Flight) {
        let _ = (state, flight);
    }

    /// Replaces random parts of a result by those of a past state.
    fn skew(&self, past: &Self::State, flight: &mut Flight, rng: &mut Rng) {
        let _ = (past, flight, rng);
    }

    /// Performs the last operation again.
    fn double(&mut self, state: &mut Self::State, flight: &mut Flight) {
        self.apply(state, flight);
    }

    /// Undoes a part of the last operation.
    fn halve(&self, state: &mut Self::State, flight: &Flight) {
        let _ = (state, flight);
    }

    /// The operation that is requested of each object after all others, if there is one.
    fn last(&self) -> Option<Ask> {
        None
    }

    /// Returns true if the operation must be answered, because clients could not determine the object's state
    /// otherwise.
    fn is_sure(&self, flight: &Flight) -> bool {
        let _ = flight;
        false
    }

    /// Exchanges the last element with the one before it.
    fn disorder(&mut self, state: &mut Self::State) {
        let _ = state;
    }
}
