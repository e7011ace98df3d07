//! Additions to a counter, and reads of it. Only the reads at the end of the run are checked: before, a node may lag.

use super::Plan;
use crate::chance::Chance;
use crate::request::Request;

/// The percentage of reads among requests.
const READ_PERCENT: u64 = 30;
/// Amounts are below this; if the counter may shrink, their negatives are used, too.
const AMOUNT_END: u64 = 6;

pub(super) struct Counter {
    /// Whether amounts may be negative.
    pub(super) shrinks: bool,
}

impl Plan for Counter {
    fn next(&mut self, chance: &mut Chance) -> Request {
        if chance.percent(READ_PERCENT) {
            return Request::ReadCounter { is_final: false };
        }
        let amount = i64::try_from(chance.below(AMOUNT_END)).unwrap_or_default();
        let is_negative = self.shrinks && chance.percent(50);
        Request::Count(if is_negative { -amount } else { amount })
    }

    fn last(&mut self) -> Option<Request> {
        Some(Request::ReadCounter { is_final: true })
    }
}
