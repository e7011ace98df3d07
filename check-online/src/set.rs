//! Sets of possibilities: each a state of the object, and which operations in flight have taken effect.

use crate::paths::{PathId, Paths};
use crate::table::StateId;
use crate::uses::{Uses, UsesId};
use history_core::hash::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};

/// A possibility, but for its mask; and how it came about, which does not tell possibilities apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) state: StateId,
    /// What use it made of crashed operations.
    pub(crate) uses: UsesId,
    pub(crate) path: PathId,
}

/// Possibilities in the order in which they were found.
#[derive(Debug)]
pub(crate) struct Set {
    pub(crate) heads: Vec<Head>,
    /// The operations in flight that took effect, as bits of their slots: `words` for each head.
    masks: Vec<u64>,
    words: usize,
}

impl Clone for Set {
    fn clone(&self) -> Set {
        Set { heads: self.heads.clone(), masks: self.masks.clone(), words: self.words }
    }

    /// Without taking memory anew.
    fn clone_from(&mut self, from: &Set) {
        self.heads.clone_from(&from.heads);
        self.masks.clone_from(&from.masks);
        self.words = from.words;
    }
}

impl Set {
    /// Just this state, when nothing is in flight.
    pub(crate) fn at(state: StateId) -> Set {
        Set { heads: vec![Head { state, uses: Uses::NONE, path: Paths::ROOT }], masks: vec![0], words: 1 }
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
        self.masks[at * self.words + slot as usize / 64] >> (slot % 64) & 1 == 1
    }

    #[inline]
    pub(crate) fn mark(&mut self, at: usize, slot: u32) {
        self.masks[at * self.words + slot as usize / 64] |= 1 << (slot % 64);
    }

    /// Makes room for a slot in all masks.
    pub(crate) fn reserve(&mut self, slot: u32) {
        let words = slot as usize / 64 + 1;
        if words <= self.words {
            return;
        }
        // Twice as many, for they come one after another.
        let words = words.next_power_of_two();
        let mut masks = Vec::with_capacity(words * self.len());
        for at in 0..self.len() {
            masks.extend_from_slice(self.mask(at));
            masks.resize((at + 1) * words, 0);
        }
        self.masks = masks;
        self.words = words;
    }

    /// How many words stand for the possibilities: what bounds memory.
    pub(crate) fn weight(&self) -> usize {
        self.heads.len() * self.words.div_ceil(8)
    }

    /// Adds a copy of one possibility with another state and other uses, behind all.
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

    /// Removes the last one.
    #[inline]
    pub(crate) fn pop(&mut self) {
        self.heads.pop();
        self.masks.truncate(self.heads.len() * self.words);
    }

    /// Keeps those that have this slot, and clears it.
    pub(crate) fn keep(&mut self, slot: u32) {
        let (word, bit) = (slot as usize / 64, 1 << (slot % 64));
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

    /// The same possibilities, those with the fewest uses first, without those that another covers.
    pub(crate) fn without_covered(&mut self, index: &mut Index, uses: &Uses) {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_by_key(|at| uses.total(self.heads[*at as usize].uses));
        let mut left = Set { heads: Vec::with_capacity(self.len()), masks: Vec::new(), words: self.words };
        index.start();
        for at in order {
            left.heads.push(self.heads[at as usize]);
            left.masks.extend_from_slice(self.mask(at as usize));
            if !index.insert_last(&left, uses) {
                left.pop();
            }
        }
        *self = left;
    }

    #[inline]
    fn is_like(&self, at: usize, other: usize) -> bool {
        self.heads[at].state == self.heads[other].state && self.mask(at) == self.mask(other)
    }

    #[inline]
    fn hash(&self, at: usize) -> u64 {
        let mut hasher = RandomState::default().build_hasher();
        self.heads[at].state.hash(&mut hasher);
        // All masks of a set have as many words.
        self.mask(at).iter().for_each(|word| hasher.write_u64(*word));
        hasher.finish()
    }
}

/// Finds possibilities of a set by what they are. It is emptied in O(1), and below a handful it is a list.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// The next possibility of the same state and mask; `NONE` if there is none. As long as what was entered.
    next: Vec<u32>,
    /// The first one of its state and mask, by hash; with the generation in which it was put there.
    table: Vec<(u32, u32)>,
    generation: u32,
}

const NONE: u32 = u32::MAX;

/// With so few a list is searched faster than a table.
const LIST_MAX: usize = 12;

impl Index {
    /// For another set, or one that was changed.
    pub(crate) fn start(&mut self) {
        self.next.clear();
    }

    /// Whether no possibility of the state and mask of the last one makes at most as much use of crashed operations as it does.
    /// If there is one the caller takes the last one away again.
    #[inline]
    pub(crate) fn insert_last(&mut self, set: &Set, uses: &Uses) -> bool {
        let last = set.len() - 1;
        if last < LIST_MAX {
            return !(0..last)
                .any(|at| set.is_like(at, last) && uses.at_most(set.heads[at].uses, set.heads[last].uses));
        }
        self.insert_large(set, uses)
    }

    fn insert_large(&mut self, set: &Set, uses: &Uses) -> bool {
        let last = set.len() - 1;
        if self.next.len() != last || self.table.len() < 2 * set.len() {
            self.rebuild(set);
        }
        let place = self.find(set, last);
        let (mut at, generation) = self.table[place];
        if generation == self.generation {
            while at != NONE {
                if uses.at_most(set.heads[at as usize].uses, set.heads[last].uses) {
                    return false;
                }
                at = self.next[at as usize];
            }
        }
        self.link(place);
        true
    }

    /// Where in the table the group of a possibility is, or belongs.
    #[inline]
    fn find(&self, set: &Set, of: usize) -> usize {
        let last = self.table.len() - 1;
        let mut at = set.hash(of) as usize & last;
        loop {
            let (first, generation) = self.table[at];
            if generation != self.generation || set.is_like(first as usize, of) {
                return at;
            }
            at = (at + 1) & last;
        }
    }

    /// Makes the next possibility the first of its group, which is at `place` of the table.
    #[inline]
    fn link(&mut self, place: usize) {
        let (first, generation) = self.table[place];
        self.next.push(if generation == self.generation { first } else { NONE });
        self.table[place] = (self.next.len() as u32 - 1, self.generation);
    }

    /// Enters all but the last one.
    fn rebuild(&mut self, set: &Set) {
        let wanted = (4 * set.len()).next_power_of_two();
        if wanted > self.table.len() || self.generation == u32::MAX {
            self.table = vec![(0, 0); wanted.max(self.table.len())];
            self.generation = 0;
        }
        self.generation += 1;
        self.next.clear();
        for at in 0..set.len() - 1 {
            let place = self.find(set, at);
            self.link(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_the_last_slots_do_not_share_buckets() {
        // All that differs is in the upper bits of the word, which a multiplication does not carry down.
        let count = 1 << 14;
        let state = StateId::FIRST;
        let mut set = Set::at(state);
        for subset in 1..count {
            let at = set.push_like(0, state, Uses::NONE);
            (0..14).filter(|bit| subset >> bit & 1 == 1).for_each(|bit| set.mark(at, 50 + bit));
        }
        let buckets: std::collections::BTreeSet<u64> = (0..set.len()).map(|at| set.hash(at) % (2 * count)).collect();
        // As many as of random numbers, up to chance: 1 - e^(-1/2) of 32,768 is 12,893.
        assert!(buckets.len() > 12_000, "{} buckets", buckets.len());
    }
}
