//! Finds configurations of a set by their content: state and mask.
//!
//! A set is cleared at every event, and usually contains only a few configurations. So the index is cleared in O(1),
//! and a small set is searched as a list.

use super::ids::{index, low_bits, number};

/// A set of configurations, in the order in which they were found.
pub trait Configurations {
    /// The number of configurations.
    fn count(&self) -> usize;

    /// A hash of the state and mask of a configuration.
    fn hash(&self, at: usize) -> u64;

    /// Returns true if two configurations have the same state and mask.
    fn is_like(&self, at: usize, other: usize) -> bool;
}

/// The index of one set at a time.
#[derive(Debug, Default)]
pub struct Index {
    /// For each configuration that was entered, the next one with the same state and mask; `NONE` if there is none.
    next: Vec<u32>,
    /// By hash: the first configuration with its state and mask, and the generation in which it was entered. The length
    /// is a power of two, and at most half of the entries are used.
    table: Vec<(u32, u32)>,
    /// The generation of the valid entries. All other entries are empty.
    generation: u32,
}

const NONE: u32 = u32::MAX;

/// Up to this number of configurations, a list is searched faster than a table.
const LIST_MAX: usize = 12;

impl Index {
    /// Starts the index of another set, or of a set that was changed in other ways than by adding to it.
    #[inline]
    pub fn start(&mut self) {
        self.next.clear();
    }

    /// Enters the last configuration of the set unless the set contains one with its state and mask that `covers` it.
    /// Returns true if the configuration was entered; otherwise the caller removes it again.
    #[inline]
    pub fn insert_last(&mut self, set: &impl Configurations, mut covers: impl FnMut(usize) -> bool) -> bool {
        let last = set.count() - 1;
        if last < LIST_MAX {
            return !(0..last).any(|at| set.is_like(at, last) && covers(at));
        }
        self.insert_large(set, covers)
    }

    fn insert_large(&mut self, set: &impl Configurations, mut covers: impl FnMut(usize) -> bool) -> bool {
        let last = set.count() - 1;
        if self.next.len() != last || self.table.len() < 2 * set.count() {
            self.rebuild(set);
        }
        let place = self.find(set, last);
        let (mut at, generation) = self.table[place];
        if generation == self.generation {
            while at != NONE {
                if covers(index(at)) {
                    return false;
                }
                at = self.next[index(at)];
            }
        }
        self.link(place);
        debug_assert_eq!(self.next.len(), set.count(), "all were entered");
        true
    }

    /// The position in the table at which the group of a configuration is or would be entered.
    #[inline]
    fn find(&self, set: &impl Configurations, of: usize) -> usize {
        let last = self.table.len() - 1;
        let mut at = low_bits(set.hash(of), self.table.len());
        loop {
            let (first, generation) = self.table[at];
            if generation != self.generation || set.is_like(index(first), of) {
                return at;
            }
            at = (at + 1) & last;
        }
    }

    /// Makes the next configuration the first of its group, which is at position `place` of the table.
    #[inline]
    fn link(&mut self, place: usize) {
        let (first, generation) = self.table[place];
        self.next.push(if generation == self.generation { first } else { NONE });
        self.table[place] = (number(self.next.len() - 1), self.generation);
    }

    /// Enters all configurations except the last one.
    fn rebuild(&mut self, set: &impl Configurations) {
        let wanted = (4 * set.count()).next_power_of_two();
        if wanted > self.table.len() || self.generation == u32::MAX {
            self.table = vec![(0, 0); wanted.max(self.table.len())];
            self.generation = 0;
        }
        self.generation += 1;
        self.next.clear();
        for at in 0..set.count() - 1 {
            let place = self.find(set, at);
            self.link(place);
        }
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        self.next.capacity() * 4 + self.table.capacity() * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Configurations with state `.0` and uses `.1`, of which many have the same hash.
    struct Few(Vec<(u32, u32)>);

    impl Configurations for Few {
        fn count(&self) -> usize {
            self.0.len()
        }

        fn hash(&self, at: usize) -> u64 {
            u64::from(self.0[at].0 % 3)
        }

        fn is_like(&self, at: usize, other: usize) -> bool {
            self.0[at].0 == self.0[other].0
        }
    }

    #[test]
    fn lists_and_tables_refuse_covered_configurations() {
        let (mut index, mut set) = (Index::default(), Few(Vec::new()));
        for round in 0..3 {
            set.0.clear();
            index.start();
            for at in 0..200_u32 {
                // Each state with decreasing uses, and then with the last ones again, which are covered.
                let (state, uses) = (at / 4, [3, 2, 1, 1][index_of(at)]);
                set.0.push((state, uses));
                let last = set.0.len() - 1;
                if !index.insert_last(&set, |there| set.0[there].1 <= set.0[last].1) {
                    set.0.pop();
                }
            }
            assert_eq!(set.0.len(), 150, "round {round}");
            assert_eq!(set.0[..4], [(0, 3), (0, 2), (0, 1), (1, 3)]);
        }
    }

    fn index_of(at: u32) -> usize {
        super::index(at % 4)
    }
}
