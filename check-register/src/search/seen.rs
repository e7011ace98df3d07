//! Configurations by what they are: which ones a search has met already.

use super::mask::Mask;
use super::paths::PathId;
use super::uses::UsesId;
use crate::ids::StateId;
use history_core::hash::hash_one;

/// Where a search stands: the state, which operations in flight were placed, what use was made of crashed ones; and how it got
/// there, which does not tell configurations apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Config<const W: usize> {
    pub(crate) mask: Mask<W>,
    pub(crate) state: StateId,
    pub(crate) uses: UsesId,
    pub(crate) path: PathId,
}

impl<const W: usize> Config<W> {
    #[inline]
    fn is_at(&self, other: &Config<W>) -> bool {
        self.state == other.state && self.mask == other.mask
    }

    #[inline]
    fn hash(&self) -> u64 {
        hash_one(&(self.state, self.mask))
    }
}

/// A set of configurations in the order in which they were found, grouped by state and mask.
///
/// It is emptied at every event, most often of a handful; so it is emptied in O(1), and below a handful it is a list.
#[derive(Debug)]
pub(crate) struct Seen<const W: usize> {
    pub(crate) configs: Vec<Config<W>>,
    /// The next one of the same state and mask; `NONE` if there is none. Only as long as `configs` in large sets.
    next: Vec<u32>,
    /// The first one of its state and mask, by hash; with the generation in which it was put there.
    table: Vec<(u32, u32)>,
    generation: u32,
}

const NONE: u32 = u32::MAX;

/// With so few a list is searched faster than a table.
const LIST_MAX: usize = 8;

impl<const W: usize> Seen<W> {
    pub(crate) fn new() -> Seen<W> {
        Seen { configs: Vec::new(), next: Vec::new(), table: Vec::new(), generation: 1 }
    }

    /// Configurations were changed or removed from outside: how they hash is found out anew when it matters.
    pub(crate) fn forget_order(&mut self) {
        self.next.clear();
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.table.fill((0, 0));
            self.generation = 1;
        }
    }

    /// Adds a configuration unless one of its state and mask is there for which `covers(there)` holds. Whether it was
    /// added.
    #[inline]
    pub(crate) fn insert(&mut self, config: Config<W>, mut covers: impl FnMut(&Config<W>) -> bool) -> bool {
        if self.configs.len() < LIST_MAX {
            if self.configs.iter().any(|other| other.is_at(&config) && covers(other)) {
                return false;
            }
            self.configs.push(config);
            return true;
        }
        self.insert_large(config, covers)
    }

    fn insert_large(&mut self, config: Config<W>, mut covers: impl FnMut(&Config<W>) -> bool) -> bool {
        if self.next.is_empty() || self.table.len() < 2 * self.configs.len() {
            self.rebuild();
        }
        let first = self.find(&config);
        let mut at = self.table[first];
        while at.1 == self.generation && at.0 != NONE {
            if covers(&self.configs[at.0 as usize]) {
                return false;
            }
            at.0 = self.next[at.0 as usize];
        }
        self.configs.push(config);
        self.link(first);
        true
    }

    /// Where in the table the group of a configuration is, or belongs.
    #[inline]
    fn find(&self, config: &Config<W>) -> usize {
        let last = self.table.len() - 1;
        let mut at = config.hash() as usize & last;
        loop {
            let (first, generation) = self.table[at];
            if generation != self.generation || self.configs[first as usize].is_at(config) {
                return at;
            }
            at = (at + 1) & last;
        }
    }

    /// Makes the last configuration the first of its group, which is at `at` of the table.
    #[inline]
    fn link(&mut self, at: usize) {
        let (first, generation) = self.table[at];
        self.next.push(if generation == self.generation { first } else { NONE });
        self.table[at] = (self.next.len() as u32 - 1, self.generation);
    }

    fn rebuild(&mut self) {
        let wanted = (4 * self.configs.len()).next_power_of_two();
        if wanted > self.table.len() {
            self.table = vec![(0, 0); wanted];
            self.generation = 1;
        }
        self.next.clear();
        for at in 0..self.configs.len() {
            let place = self.find(&self.configs[at]);
            self.link(place);
        }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.configs.capacity() * size_of::<Config<W>>() + self.next.capacity() * 4 + self.table.capacity() * 8
    }
}

#[cfg(test)]
mod tests {
    use super::super::paths::Paths;
    use super::super::uses::Uses;
    use super::*;

    #[test]
    fn sets_of_the_last_slots_do_not_share_buckets() {
        // All that differs is in the upper bits of the word, which a multiplication does not carry down.
        let count = 1 << 14;
        let buckets: std::collections::BTreeSet<u64> = (0..count)
            .map(|subset: u64| {
                let mut mask = Mask::<1>::EMPTY;
                (0..14).filter(|bit| subset >> bit & 1 == 1).for_each(|bit| mask.set(50 + bit));
                let config = Config { mask, state: StateId::new(3), uses: Uses::NONE, path: Paths::ROOT };
                config.hash() % (2 * count)
            })
            .collect();
        // As many as of random numbers, up to chance: 1 - e^(-1/2) of 32,768 is 12,893.
        assert!(buckets.len() > 12_000, "{} buckets", buckets.len());
    }
}
