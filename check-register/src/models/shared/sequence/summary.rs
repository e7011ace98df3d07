//! A summary of consecutive items: their number, their hash, and the least number of earlier items that one of them
//! waits for.

use super::super::polynomial::{PRIME, base, plus, times};
use super::Item;
use history_core::hash::hash_one;

#[derive(Clone, Copy)]
pub(super) struct Summary {
    /// The number of items.
    pub(super) len: u32,
    /// The least number of items that must be removed before an item, counted from the first item here: negative if the
    /// item waits for fewer than precede that one.
    pub(super) least_behind: i32,
    /// A polynomial of the hashes of the items.
    pub(super) hash: u64,
    /// The base of the hash to the power of `len`.
    power: u64,
}

impl Summary {
    pub(super) const EMPTY: Summary = Summary { len: 0, least_behind: i32::MAX, hash: 0, power: 1 };

    pub(super) fn of(item: Item) -> Summary {
        let hash = hash_one(&item) % PRIME;
        Summary { len: 1, least_behind: -item.beside.cast_signed(), hash, power: base() }
    }

    /// The summary of these items followed by others.
    pub(super) fn then(self, next: Summary) -> Summary {
        Summary {
            len: self.len + next.len,
            least_behind: self.least_behind.min(next.least_behind.saturating_add(self.len.cast_signed())),
            hash: plus(times(self.hash, next.power), next.hash),
            power: times(self.power, next.power),
        }
    }

    /// Returns true if some item waits for at most `most` others, if `before` items precede the first one here.
    pub(super) fn has_behind(self, before: usize, most: usize) -> bool {
        let before = i64::try_from(before).unwrap_or(i64::MAX);
        i64::try_from(most).map_or(true, |most| i64::from(self.least_behind).saturating_add(before) <= most)
    }
}
