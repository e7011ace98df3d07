//! Sets of configurations: each a state of the object, and which operations in flight have taken effect.
//!
//! The operations are rows of words in one vector, not `bitvec`'s: check-register's `search::mask` has the figures.

use check_register::engine::ids;
use check_register::engine::ids::StateId;
use check_register::engine::index::{Configurations, Index};
use check_register::engine::paths::PathId;
use check_register::engine::uses::{Uses, UsesId};
use history_core::hash::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};

/// A configuration without its mask, and its linearization, which does not distinguish configurations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) state: StateId,
    /// Its uses of crashed operations.
    pub(crate) uses: UsesId,
    pub(crate) path: PathId,
}

/// Which configurations are kept of those that have the same state and mask but use crashed operations differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Detail {
    /// All that no other one covers: both admissions and refusals are final.
    All,
    /// The first few of these: admissions are final.
    Few,
    /// One, which uses no crashed operations as long as returns are admitted without them: admissions are final.
    Least,
    /// One, by the total number of its uses: refusals are final.
    Sum,
}

impl Detail {
    /// Returns true if an omitted configuration may admit what is refused.
    pub(crate) fn leaves_out(self) -> bool {
        matches!(self, Detail::Few | Detail::Least)
    }
}

/// The factor by which fewer configurations of one state and mask are kept if not all are.
const FEWER: usize = 4;

/// What was done with a configuration that was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    New,
    /// Another one covers it.
    Covered,
    /// The limit of configurations of its state and mask is reached.
    TooMany,
}

impl Found {
    /// The combined result of both.
    #[inline]
    #[must_use]
    pub(crate) fn or(self, other: Found) -> Found {
        if self == Found::TooMany { self } else { other }
    }
}

/// Configurations in the order in which they were found.
#[derive(Debug)]
pub(crate) struct Set {
    pub(crate) heads: Vec<Head>,
    /// The operations in flight that took effect, as bits of their slots: `words` for each head.
    masks: Vec<u64>,
    words: usize,
    pub(crate) detail: Detail,
    /// The maximum number of configurations of one state and mask while all are kept.
    pub(crate) width: usize,
}

impl Clone for Set {
    fn clone(&self) -> Set {
        let Set { words, detail, width, .. } = *self;
        Set { heads: self.heads.clone(), masks: self.masks.clone(), words, detail, width }
    }

    /// Reuses memory.
    fn clone_from(&mut self, from: &Set) {
        self.heads.clone_from(&from.heads);
        self.masks.clone_from(&from.masks);
        (self.words, self.detail, self.width) = (from.words, from.detail, from.width);
    }
}

impl Set {
    /// A single configuration with this state, when nothing is in flight.
    pub(crate) fn at(state: StateId, width: usize) -> Set {
        let heads = vec![Head { state, uses: Uses::NONE, path: PathId::ROOT }];
        Set { heads, masks: vec![0], words: 1, detail: Detail::All, width }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.heads.len()
    }

    #[inline]
    pub(crate) fn mask(&self, at: usize) -> &[u64] {
        &self.masks[at * self.words..][..self.words]
    }

    #[inline]
    pub(crate) fn has(&self, at: usize, slot: u32) -> bool {
        self.masks[at * self.words + ids::index(slot) / 64] >> (slot % 64) & 1 == 1
    }

    #[inline]
    pub(crate) fn mark(&mut self, at: usize, slot: u32) {
        self.masks[at * self.words + ids::index(slot) / 64] |= 1 << (slot % 64);
    }

    /// Makes room for a slot in all masks.
    pub(crate) fn reserve(&mut self, slot: u32) {
        let words = ids::index(slot) / 64 + 1;
        if words <= self.words {
            return;
        }
        // The number of words doubles, because slots are added one after another.
        let words = words.next_power_of_two();
        let mut masks = Vec::with_capacity(words * self.len());
        for at in 0..self.len() {
            masks.extend_from_slice(self.mask(at));
            masks.resize((at + 1) * words, 0);
        }
        self.masks = masks;
        self.words = words;
    }

    /// The number of words of all configurations, which bounds memory.
    pub(crate) fn weight(&self) -> usize {
        self.heads.len() * self.words.div_ceil(8)
    }

    /// The maximum number of configurations from which steps with operations that may have happened are taken: a
    /// `crowd` for each that may be kept of one state and mask. At the maximum width, only memory bounds them.
    pub(crate) fn crowd_max(&self, width_max: usize, crowd: usize) -> usize {
        match self.detail {
            Detail::Sum => usize::MAX,
            Detail::All if self.width >= width_max => usize::MAX,
            Detail::All | Detail::Least => self.width.saturating_mul(crowd),
            Detail::Few => self.width.saturating_mul(crowd) / FEWER,
        }
    }

    /// Appends a copy of one configuration with another state and other uses.
    #[inline]
    pub(crate) fn push_like(&mut self, from: usize, state: StateId, uses: UsesId) -> usize {
        let head = self.heads[from];
        self.heads.push(Head { state, uses, ..head });
        if self.words == 1 {
            self.masks.push(self.masks[from]);
        } else {
            self.masks.extend_from_within(from * self.words..(from + 1) * self.words);
        }
        self.heads.len() - 1
    }

    /// Keeps the first `len`.
    #[inline]
    pub(crate) fn truncate(&mut self, len: usize) {
        self.heads.truncate(len);
        self.masks.truncate(len * self.words);
    }

    /// Keeps those that have this slot, and clears it.
    pub(crate) fn keep(&mut self, slot: u32) {
        let (word, bit) = (ids::index(slot) / 64, 1 << (slot % 64));
        let mut kept = 0;
        for at in 0..self.heads.len() {
            if self.masks[at * self.words + word] & bit == 0 {
                continue;
            }
            self.masks[at * self.words + word] &= !bit;
            if at != kept {
                self.heads[kept] = self.heads[at];
                self.masks.copy_within(at * self.words..(at + 1) * self.words, kept * self.words);
            }
            kept += 1;
        }
        self.heads.truncate(kept);
        self.masks.truncate(kept * self.words);
    }

    /// The same configurations, sorted by the `price` of their uses, without those that another covers.
    pub(crate) fn without_covered(&mut self, index: &mut Index, uses: &Uses, price: impl Fn(UsesId) -> (u32, u64)) {
        let mut order: Vec<u32> = (0..ids::number(self.len())).collect();
        order.sort_by_cached_key(|at| price(self.heads[ids::index(*at)].uses));
        let Set { words, detail, width, .. } = *self;
        let mut left = Set { heads: Vec::with_capacity(self.len()), masks: Vec::new(), words, detail, width };
        index.start();
        for at in order {
            left.heads.push(self.heads[ids::index(at)]);
            left.masks.extend_from_slice(self.mask(ids::index(at)));
            left.keep_last(index, uses);
        }
        *self = left;
    }

    /// From now on counts the uses of each configuration together.
    pub(crate) fn sum_up(&mut self, index: &mut Index, uses: &Uses) {
        self.detail = Detail::Sum;
        for head in &mut self.heads {
            *head = Head { uses: uses.as_sum(head.uses), path: PathId::ROOT, ..*head };
        }
        self.without_covered(index, uses, |sum| (sum.number(), 0));
    }

    /// Removes the last configuration if another one with its state and mask uses at most as many crashed operations,
    /// or if the limit of these is reached.
    #[inline]
    pub(crate) fn keep_last(&mut self, index: &mut Index, uses: &Uses) -> Found {
        let last = self.heads.len() - 1;
        let used = |at: usize| self.heads[at].uses;
        let (mut alike, mut found) = (0, Found::New);
        let alike_max = match self.detail {
            Detail::All => self.width,
            Detail::Few => (self.width / FEWER).max(1),
            Detail::Least | Detail::Sum => 1,
        };
        let is_left = |at: usize| {
            let is_covered = match self.detail {
                Detail::Sum => used(at).number() <= used(last).number(),
                Detail::All | Detail::Few | Detail::Least => uses.at_most(used(at), used(last)),
            };
            // If few configurations are kept, these are the ones with the fewest uses, not the ones found first.
            alike += usize::from(!self.detail.leaves_out() || uses.total(used(at)) <= uses.total(used(last)));
            if is_covered {
                found = Found::Covered;
            } else if alike >= alike_max && self.detail != Detail::Sum {
                found = Found::TooMany;
            }
            found != Found::New
        };
        if !index.insert_last(self, is_left) {
            self.truncate(last);
        }
        found
    }
}

impl Configurations for Set {
    #[inline]
    fn count(&self) -> usize {
        self.heads.len()
    }

    #[inline]
    fn is_like(&self, at: usize, other: usize) -> bool {
        self.heads[at].state == self.heads[other].state && self.mask(at) == self.mask(other)
    }

    #[inline]
    fn hash(&self, at: usize) -> u64 {
        let mut hasher = RandomState::default().build_hasher();
        self.heads[at].state.hash(&mut hasher);
        // All masks of a set have the same number of words.
        self.mask(at).iter().for_each(|word| hasher.write_u64(*word));
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_the_last_slots_do_not_share_buckets() {
        // The masks differ only in the upper bits of the word, which a multiplication does not carry down.
        let count = 1 << 14;
        let state = StateId::new(0);
        let mut set = Set::at(state, 1);
        for subset in 1..count {
            let at = set.push_like(0, state, Uses::NONE);
            (0..14).filter(|bit| subset >> bit & 1 == 1).for_each(|bit| set.mark(at, 50 + bit));
        }
        let buckets: std::collections::BTreeSet<u64> = (0..set.len()).map(|at| set.hash(at) % (2 * count)).collect();
        // Random numbers would fill 12,893 buckets: 1 - e^(-1/2) of 32,768. Of 300 hash keys the worst filled 10,142; a
        // hash that loses these bits fills 1.
        assert!(buckets.len() > 8_192, "{} buckets", buckets.len());
    }
}
