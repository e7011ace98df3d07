//! Additions to a set, and reads of the whole set.

use super::Plan;
use super::elements::Unique;
use crate::chance::Chance;
use crate::client::Seat;
use crate::request::Request;

/// The percentage of reads among requests: reads grow with the set.
const READ_PERCENT: u64 = 10;

pub(super) struct Set {
    elements: Unique,
}

impl Set {
    pub(super) fn new(seat: &Seat) -> Set {
        Set { elements: Unique::new(seat) }
    }
}

impl Plan for Set {
    fn next(&mut self, chance: &mut Chance) -> Request {
        if chance.percent(READ_PERCENT) { Request::ReadSet } else { Request::Add(self.elements.next()) }
    }

    /// An element that a lagging server does not show yet is not lost, so the final request is a read.
    fn last(&mut self) -> Option<Request> {
        Some(Request::ReadSet)
    }
}
