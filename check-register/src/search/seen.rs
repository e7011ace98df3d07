//! The set of configurations that a search has reached, by state and mask.

use super::mask::Mask;
use crate::engine::ids::StateId;
use crate::engine::index::{Configurations, Index};
use crate::engine::paths::PathId;
use crate::engine::uses::UsesId;
use history_core::hash::hash_one;

/// A configuration: the state, the operations in flight that were placed, and the uses of crashed operations; and the
/// path that led to it, which does not distinguish configurations.
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

/// A set of configurations in the order in which they were found.
#[derive(Debug)]
pub(crate) struct Seen<const W: usize> {
    pub(crate) configs: Vec<Config<W>>,
    index: Index,
}

impl<const W: usize> Configurations for Vec<Config<W>> {
    #[inline]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline]
    fn hash(&self, at: usize) -> u64 {
        self[at].hash()
    }

    #[inline]
    fn is_like(&self, at: usize, other: usize) -> bool {
        self[at].is_at(&self[other])
    }
}

impl<const W: usize> Seen<W> {
    pub(crate) fn new() -> Seen<W> {
        Seen { configs: Vec::new(), index: Index::default() }
    }

    /// Must be called after configurations were changed or removed from outside: the index is then rebuilt when it is
    /// needed.
    pub(crate) fn invalidate_index(&mut self) {
        self.index.start();
    }

    /// Adds a configuration unless `covers` returns true for one with the same state and mask. Returns true if it was
    /// added.
    #[inline]
    pub(crate) fn insert(&mut self, config: Config<W>, mut covers: impl FnMut(&Config<W>) -> bool) -> bool {
        self.configs.push(config);
        let configs = &self.configs;
        let is_new = self.index.insert_last(configs, |at| covers(&configs[at]));
        if !is_new {
            self.configs.pop();
        }
        is_new
    }

    /// Memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.configs.capacity() * size_of::<Config<W>>() + self.index.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::uses::Uses;

    #[test]
    fn sets_of_the_last_slots_do_not_share_buckets() {
        // The masks differ only in the upper bits of the word, which a multiplication does not carry down.
        let count = 1 << 14;
        let buckets: std::collections::BTreeSet<u64> = (0..count)
            .map(|subset: u64| {
                let mut mask = Mask::<1>::EMPTY;
                (0..14).filter(|bit| subset >> bit & 1 == 1).for_each(|bit| mask.set(50 + bit));
                let config = Config { mask, state: StateId::new(3), uses: Uses::NONE, path: PathId::ROOT };
                config.hash() % (2 * count)
            })
            .collect();
        // Random numbers would fill 12,893 buckets: 1 - e^(-1/2) of 32,768. Of 300 hash keys the worst filled 10,142; a
        // hash that loses these bits fills 1.
        assert!(buckets.len() > 8_192, "{} buckets", buckets.len());
    }
}
