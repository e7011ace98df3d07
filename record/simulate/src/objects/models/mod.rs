//! Models: what an object does, one operation after another. One a file.

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

/// What came of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It happened.
    Done,
    /// It cannot happen now, and the object says so.
    Refused,
    /// It cannot happen now, but may a little later.
    Busy,
}

/// What a client is to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// Whatever comes to mind.
    Anything,
    /// Something with a result that depends on the object.
    Read,
}

/// What an object does.
pub(super) trait Model {
    /// What it remembers.
    type State: Clone;

    /// The state at the start.
    fn fresh(&self) -> Self::State;

    /// Draws what a client asks for next: the ask of a flight that has just begun.
    fn draw(&mut self, state: &Self::State, flight: &mut Flight, want: Want, rng: &mut Rng);

    /// Does what is asked, at one instant. The state stays as it is unless it is done.
    fn apply(&mut self, state: &mut Self::State, flight: &mut Flight) -> Outcome;

    /// Makes a result that cannot be: nothing like it was ever written.
    fn distort(&self, flight: &mut Flight) {
        flight.seen = Some(UNWRITTEN);
    }

    /// The client learns how an operation ended.
    fn hear(&mut self, state: &mut Self::State, flight: &Flight, kind: Kind) {
        let _ = (state, flight, kind);
    }

    /// Whether a client's next operation must be on the same object.
    fn is_bound(&self, client: u32) -> bool {
        let _ = client;
        false
    }

    /// Whether the operation is to be refused as one that comes too late.
    fn is_late(&mut self, flight: &Flight) -> bool {
        let _ = flight;
        false
    }

    /// Does what is asked, though the object should refuse.
    fn force(&mut self, state: &mut Self::State, flight: &mut Flight) {
        let _ = (state, flight);
    }

    /// Shows parts of what was read as they were in a past state, each as chance has it.
    fn skew(&self, past: &Self::State, flight: &mut Flight, rng: &mut Rng) {
        let _ = (past, flight, rng);
    }

    /// Does once more what was just done.
    fn double(&mut self, state: &mut Self::State, flight: &mut Flight) {
        self.apply(state, flight);
    }

    /// Undoes a part of what was just done.
    fn halve(&self, state: &mut Self::State, flight: &Flight) {
        let _ = (state, flight);
    }

    /// What is asked of each object when all else is over, if anything is.
    fn last(&self) -> Option<Ask> {
        None
    }

    /// Whether the operation must be answered: clients could not know the state of the object if it were not.
    fn is_sure(&self, flight: &Flight) -> bool {
        let _ = flight;
        false
    }

    /// Exchanges what came last with what came before that.
    fn disorder(&mut self, state: &mut Self::State) {
        let _ = state;
    }
}
