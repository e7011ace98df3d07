//! Additions to a set, and reads of all of it.

use super::Plan;
use super::elements::Unique;
use crate::chance::Chance;
use crate::client::Seat;
use crate::request::Request;

/// How often a request is a read: reads grow with the set.
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

    /// An element that only a lagging server has not shown yet is not lost.
    fn last(&mut self) -> Option<Request> {
        Some(Request::ReadSet)
    }
}
