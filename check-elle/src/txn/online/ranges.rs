//! A set of integers as ranges, for numbers that arrive roughly in order.

use std::collections::BTreeMap;

/// The maximum number of ranges. Beyond it, each second range is merged with the one before: the set then contains more
/// numbers than were inserted, never fewer.
const RANGES_MAX: usize = 100_000;

#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    /// The first and last number of each range. No two ranges are adjacent.
    ranges: BTreeMap<i64, i64>,
    /// Whether the set may contain numbers that were not inserted.
    is_merged: bool,
}

history_core::state!(struct Ranges { ranges, is_merged });

impl Ranges {
    /// The number of ranges.
    pub(crate) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Returns true if the set contains only inserted numbers.
    pub(crate) fn is_exact(&self) -> bool {
        !self.is_merged
    }

    pub(crate) fn contains(&self, number: i64) -> bool {
        self.ranges.range(..=number).next_back().is_some_and(|(_, last)| number <= *last)
    }

    /// O(log n), amortized.
    pub(crate) fn insert(&mut self, number: i64) {
        if self.contains(number) {
            return;
        }
        let (mut first, mut last) = (number, number);
        if let Some((before, end)) = self.ranges.range(..number).next_back().map(|(before, end)| (*before, *end))
            && end.checked_add(1) == Some(number)
        {
            self.ranges.remove(&before);
            first = before;
        }
        if let Some(end) = number.checked_add(1).and_then(|next| self.ranges.remove(&next)) {
            last = end;
        }
        self.ranges.insert(first, last);
        if self.ranges.len() > RANGES_MAX {
            self.merge();
        }
    }

    /// Merges each second range with the one before it.
    fn merge(&mut self) {
        self.is_merged = true;
        let old = std::mem::take(&mut self.ranges);
        let mut old = old.into_iter();
        while let Some((first, last)) = old.next() {
            let last = old.next().map_or(last, |(_, last)| last);
            self.ranges.insert(first, last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_again_whatever_their_order() {
        for step in [1, 7, 11] {
            let mut set = Ranges::default();
            for at in 0..100 {
                let number = at * step % 101;
                assert!(!set.contains(number));
                set.insert(number);
                assert!(set.contains(number) && !set.contains(-1) && !set.contains(200));
            }
            assert!(set.ranges.len() <= 2, "{set:?}");
        }
        let mut set = Ranges::default();
        set.insert(i64::MAX);
        set.insert(i64::MIN);
        assert!(set.contains(i64::MAX) && set.contains(i64::MIN) && !set.contains(0));
    }

    #[test]
    fn too_many_ranges_are_merged() {
        let mut set = Ranges::default();
        let numbers = 0..i64::try_from(3 * RANGES_MAX).unwrap();
        for number in numbers.clone() {
            set.insert(3 * number);
        }
        assert!(set.ranges.len() <= RANGES_MAX);
        assert!(numbers.into_iter().all(|number| set.contains(3 * number)));
    }
}
