//! Sets of operations in flight, as bits of their slots.
//!
//! `bitvec`'s `BitArray` compares bit by bit, and comparisons dominate a search. Instructions per operation on one word
//! and on four words, of this type and of `BitArray`: equality 12 and 20, against 216 and 739; subset 27 and 46,
//! against 316 and 866; `has` 15 and 21, against 16 and 25.

use crate::engine::ids;
use std::hash::{Hash, Hasher};

/// A set of slots below `64 * W`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mask<const W: usize>([u64; W]);

impl<const W: usize> Mask<W> {
    pub(crate) const EMPTY: Mask<W> = Mask([0; W]);

    /// The number of slots that the set can hold.
    pub(crate) const SLOTS: usize = 64 * W;

    #[inline]
    pub(crate) fn has(self, slot: u32) -> bool {
        self.0[ids::index(slot) / 64] >> (slot % 64) & 1 == 1
    }

    #[inline]
    pub(crate) fn set(&mut self, slot: u32) {
        self.0[ids::index(slot) / 64] |= 1 << (slot % 64);
    }

    #[inline]
    pub(crate) fn clear(&mut self, slot: u32) {
        self.0[ids::index(slot) / 64] &= !(1 << (slot % 64));
    }

    /// The number of slots in the set.
    pub(crate) fn count(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The number of configurations with small masks that a configuration with this mask counts as.
    pub(crate) const WEIGHT: usize = W.div_ceil(8);

    /// Returns true if the set contains all of `others`.
    #[inline]
    pub(crate) fn has_all(self, others: Mask<W>) -> bool {
        self.0.iter().zip(others.0).all(|(mine, theirs)| theirs & !mine == 0)
    }
}

impl<const W: usize> Hash for Mask<W> {
    /// Hashes the words without their number, which is the same for all masks of a search.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.iter().for_each(|word| state.write_u64(*word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::hash::hash_one;

    #[test]
    fn slots_are_set_and_cleared_in_every_word() {
        let mut mask = Mask::<3>::EMPTY;
        for slot in [0, 63, 64, 130, 191] {
            assert!(!mask.has(slot));
            let before = mask;
            mask.set(slot);
            assert!(mask.has(slot) && mask.has_all(before) && !before.has_all(mask));
            assert_ne!(hash_one(&mask), hash_one(&before));
        }
        mask.clear(64);
        assert!(!mask.has(64) && mask.has(63) && mask.has(191));
    }
}
