//! A register whose every version has an id: writes are compare-and-sets on the id of the version they replace.

use super::{Model, Outcome, Want};
use crate::objects::flight::{Ask, Flight};
use crate::objects::values::Values;
use crate::op::Kind;
use crate::rng::{Chance, Rng};

/// A register that is initially 0.
pub(in crate::objects) struct Versioned {
    pub(in crate::objects) values: Values,
    pub(in crate::objects) reads: Chance,
    /// The number of versions that were proposed. The next version has the next number.
    pub(in crate::objects) proposed: u64,
}

/// The content of the register.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::objects) struct Version {
    number: u64,
    value: i64,
    /// The version that some client observed last. All writes replace this version.
    heard_of: u64,
}

impl Model for Versioned {
    type State = Version;

    fn fresh(&self) -> Version {
        Version::default()
    }

    fn draw(&mut self, state: &Version, flight: &mut Flight, want: Want, rng: &mut Rng) {
        (flight.version, flight.prev_version) = (0, 0);
        if want == Want::Read || rng.happens(self.reads) {
            flight.ask = Ask::Read;
            return;
        }
        self.proposed += 1;
        flight.ask = Ask::Write(self.values.draw(rng));
        (flight.version, flight.prev_version) = (self.proposed, state.heard_of);
    }

    fn apply(&mut self, state: &mut Version, flight: &mut Flight) -> Outcome {
        match flight.ask {
            Ask::Write(_) if state.number != flight.prev_version => return Outcome::Refused,
            Ask::Write(value) => (state.number, state.value) = (flight.version, value),
            _ => (flight.version, flight.seen) = (state.number, Some(state.value)),
        }
        Outcome::Done
    }

    fn hear(&mut self, state: &mut Version, flight: &Flight, kind: Kind) {
        if kind == Kind::Ok {
            state.heard_of = flight.version;
        }
    }
}
