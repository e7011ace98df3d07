//! Trees over positions: the least of numbers that are raised by ranges, the first number above another, and the
//! nearest member of a set.

use history_core::cast::Cast as _;

/// Numbers by position, raised by ranges, with a query for the least. Each step takes O(log n).
///
/// A node stores the least number below it without the amounts added at the nodes above, so no amount is ever pushed
/// down.
#[derive(Debug)]
pub(super) struct LeastOf {
    leaves: usize,
    /// By node, with the root at 1: the least number below it, including the amount added to the node itself.
    least: Vec<i32>,
    /// By inner node: the amount added to all numbers below it.
    added: Vec<i32>,
}

/// Added to a number that must never be the least.
pub(super) const OUT: i32 = 1 << 30;

impl LeastOf {
    /// Creates the tree from these numbers.
    pub(super) fn new(numbers: &[i32]) -> LeastOf {
        let leaves = numbers.len().next_power_of_two();
        let mut least = vec![OUT; 2 * leaves];
        least[leaves..leaves + numbers.len()].copy_from_slice(numbers);
        for at in (1..leaves).rev() {
            least[at] = least[2 * at].min(least[2 * at + 1]);
        }
        LeastOf { leaves, least, added: vec![0; leaves] }
    }

    /// Adds to the numbers from `start` up to but excluding `end`.
    pub(super) fn add(&mut self, start: usize, end: usize, amount: i32) {
        if start >= end {
            return;
        }
        let (mut left, mut right) = (start + self.leaves, end + self.leaves);
        while left < right {
            if left & 1 == 1 {
                self.add_to(left, amount);
                left += 1;
            }
            if right & 1 == 1 {
                right -= 1;
                self.add_to(right, amount);
            }
            (left, right) = (left / 2, right / 2);
        }
        self.mend(start + self.leaves);
        self.mend(end - 1 + self.leaves);
    }

    fn add_to(&mut self, node: usize, amount: i32) {
        self.least[node] += amount;
        if let Some(added) = self.added.get_mut(node) {
            *added += amount;
        }
    }

    /// Recomputes the nodes above one.
    fn mend(&mut self, mut node: usize) {
        while node > 1 {
            node /= 2;
            self.least[node] = self.least[2 * node].min(self.least[2 * node + 1]) + self.added[node];
        }
    }

    /// The least number.
    pub(super) fn least(&self) -> i32 {
        self.least[1]
    }

    /// The position of the least number.
    pub(super) fn place(&self) -> usize {
        let mut node = 1;
        while node < self.leaves {
            node *= 2;
            if self.least[node + 1] < self.least[node] {
                node += 1;
            }
        }
        node - self.leaves
    }
}

/// Numbers by position, with a query for the first one above another. Each step takes O(log n).
#[derive(Debug)]
pub(super) struct GreatestOf {
    leaves: usize,
    greatest: Vec<u32>,
}

impl GreatestOf {
    /// Creates the tree from these numbers.
    pub(super) fn new(numbers: impl ExactSizeIterator<Item = u32>) -> GreatestOf {
        let leaves = numbers.len().next_power_of_two();
        let mut greatest = vec![0; 2 * leaves];
        for (at, number) in numbers.enumerate() {
            greatest[leaves + at] = number;
        }
        for at in (1..leaves).rev() {
            greatest[at] = greatest[2 * at].max(greatest[2 * at + 1]);
        }
        GreatestOf { leaves, greatest }
    }

    /// The first position whose number is above this one.
    pub(super) fn first_above(&self, number: u32) -> Option<usize> {
        if self.greatest[1] <= number {
            return None;
        }
        let mut node = 1;
        while node < self.leaves {
            node *= 2;
            if self.greatest[node] <= number {
                node += 1;
            }
        }
        Some(node - self.leaves)
    }

    /// Removes a number.
    pub(super) fn clear(&mut self, at: usize) {
        let mut node = at + self.leaves;
        self.greatest[node] = 0;
        while node > 1 {
            node /= 2;
            self.greatest[node] = self.greatest[2 * node].max(self.greatest[2 * node + 1]);
        }
    }
}

/// A growing set of positions with a query for the nearest member: a tree of words, in which each bit of a level is set
/// if a word of the level below has a member. O(log n) to the base of 64.
#[derive(Debug)]
pub(super) struct Members {
    levels: Vec<Vec<u64>>,
}

impl Members {
    /// Creates a set without members for positions below `len`.
    pub(super) fn new(len: usize) -> Members {
        let mut levels = Vec::new();
        let mut words = len.div_ceil(64).max(1);
        loop {
            levels.push(vec![0; words]);
            if words == 1 {
                return Members { levels };
            }
            words = words.div_ceil(64);
        }
    }

    pub(super) fn insert(&mut self, mut at: usize) {
        for level in &mut self.levels {
            level[at / 64] |= 1 << (at % 64);
            at /= 64;
        }
    }

    /// The first member from `at` on.
    pub(super) fn next(&self, mut at: usize) -> Option<usize> {
        for (height, level) in self.levels.iter().enumerate() {
            let word = level.get(at / 64)? & (u64::MAX << (at % 64));
            if word != 0 {
                let found = at / 64 * 64 + word.trailing_zeros().to_usize();
                return Some(self.descend(found, height, |word| word.trailing_zeros().to_usize()));
            }
            at = at / 64 + 1;
        }
        None
    }

    /// The last member before `at`.
    pub(super) fn before(&self, mut at: usize) -> Option<usize> {
        for (height, level) in self.levels.iter().enumerate() {
            if at == 0 {
                return None;
            }
            let last = at - 1;
            let word = level.get(last / 64)? & (u64::MAX >> (63 - last % 64));
            if word != 0 {
                let found = last / 64 * 64 + 63 - word.leading_zeros().to_usize();
                return Some(self.descend(found, height, |word| 63 - word.leading_zeros().to_usize()));
            }
            at = last / 64;
        }
        None
    }

    /// The member below the bit at `at` of a level; `choose` selects a bit of each word.
    fn descend(&self, mut at: usize, height: usize, choose: impl Fn(u64) -> usize) -> usize {
        for level in self.levels[..height].iter().rev() {
            at = at * 64 + choose(level[at]);
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::{GreatestOf, LeastOf, Members, OUT};
    use history_core::cast::Cast as _;
    use std::collections::BTreeSet;

    /// A pseudo-random number below `end`, from two rounds of a linear generator; its upper bits are the best ones.
    fn random(seed: u64, end: usize) -> usize {
        let step = |x: u64| x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((step(step(seed) ^ 0x5EED) >> 33) % end as u64) as usize
    }

    #[test]
    fn trees_equal_plain_columns() {
        for len in [1, 2, 3, 64, 65, 200] {
            let (mut plain, mut members) = (vec![0_i32; len], BTreeSet::new());
            let (mut least, mut set) = (LeastOf::new(&plain), Members::new(len));
            for round in 0..400 {
                let (one, other) = (random(round * 3, len + 1), random(round * 3 + 1, len + 1));
                let (start, end) = (one.min(other), one.max(other));
                let amount = random(round * 3 + 2, 7).to_u32().cast_signed() - 3;
                least.add(start, end, amount);
                plain[start..end].iter_mut().for_each(|number| *number += amount);
                assert_eq!(least.least(), *plain.iter().min().unwrap());
                assert_eq!(plain[least.place()], least.least());
                if round % 3 == 0 {
                    let at = random(round * 7, len);
                    set.insert(at);
                    members.insert(at);
                }
                assert_eq!(set.next(one), members.range(one..).next().copied());
                assert_eq!(set.before(one), members.range(..one).next_back().copied());
            }
            least.add(0, len, OUT);
            assert!(least.least() > OUT / 2);
        }
    }

    #[test]
    fn the_first_above_is_found_until_it_is_cleared() {
        let mut tree = GreatestOf::new([3, 9, 1, 9, 4].into_iter());
        assert_eq!(tree.first_above(3), Some(1));
        tree.clear(1);
        assert_eq!(tree.first_above(3), Some(3));
        tree.clear(3);
        assert_eq!(tree.first_above(3), Some(4));
        assert_eq!(tree.first_above(4), None);
    }
}
