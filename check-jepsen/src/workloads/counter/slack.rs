//! The minimum of a list of numbers: numbers are appended, and all from some position on are decreased.
//!
//! A number that is not less than a later one never matters again: whatever decreases it decreases the later one by the
//! same amount. So only numbers that are less than all later ones are kept. They increase, and each is stored as its
//! distance from the previous one. Decreasing all from some position on then changes a single distance, and if that
//! becomes zero, the number before it is dropped. O(log n) per step, amortized.

use std::collections::BTreeMap;

/// The numbers that are kept, by position.
#[derive(Clone, Debug, Default)]
pub(super) struct Slack {
    /// By position: the difference from the previous number, for the first one from 0. All but the first are positive.
    steps: BTreeMap<u64, i128>,
    /// The sum of the steps: the last number.
    last: i128,
}

impl Slack {
    /// Appends a number, at a position after all others.
    pub(super) fn push(&mut self, place: u64, number: i128) {
        while self.last >= number
            && let Some((_, step)) = self.steps.pop_last()
        {
            self.last -= step;
        }
        self.steps.insert(place, number - self.last);
        self.last = number;
    }

    /// Decreases the numbers from a position on.
    pub(super) fn lower(&mut self, from: u64, by: i128) {
        let Some((place, step)) = self.steps.range_mut(from..).next() else { return };
        *step -= by;
        let (place, mut left) = (*place, *step);
        self.last -= by;
        while left <= 0
            && let Some((before, step)) = self.steps.range(..place).next_back().map(|(before, step)| (*before, *step))
        {
            self.steps.remove(&before);
            left += step;
            self.steps.insert(place, left);
        }
    }

    /// Drops the numbers before a position.
    pub(super) fn forget(&mut self, before: u64) {
        let mut gone = 0;
        while let Some(first) = self.steps.first_entry().filter(|first| *first.key() < before) {
            gone += first.remove();
        }
        match self.steps.first_entry() {
            Some(mut first) => *first.get_mut() += gone,
            None => self.last = 0,
        }
    }

    /// Returns true if a number is below 0.
    pub(super) fn is_below_zero(&self) -> bool {
        self.steps.first_key_value().is_some_and(|(_, first)| *first < 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::cast::Cast as _;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn it_is_below_zero_when_a_number_is(steps in prop::collection::vec((0..4u8, 0..8u64, 0..12i128), 1..60)) {
            let (mut slack, mut numbers, mut first) = (Slack::default(), Vec::new(), 0);
            for (what, place, number) in steps {
                match what {
                    0 | 1 => {
                        slack.push(numbers.len().to_u64(), number);
                        numbers.push(number);
                    }
                    2 => {
                        let from = (numbers.len().to_u64()).saturating_sub(place).max(first);
                        slack.lower(from, number);
                        numbers[from.to_usize()..].iter_mut().for_each(|each| *each -= number);
                    }
                    _ => {
                        first = (first + place / 2).min(numbers.len().to_u64());
                        slack.forget(first);
                    }
                }
                prop_assert_eq!(slack.is_below_zero(), numbers[first.to_usize()..].iter().any(|each| *each < 0));
            }
        }
    }
}
