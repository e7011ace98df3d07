//! A map from integers to ids: an array for keys that are close together, at any offset, and a hash map for the others.
//!
//! The offsets of a log are such keys, and so are messages that count up: four bytes each. A log that has run for a
//! year may begin at an offset of billions, so the array begins at the first keys.

use history_core::cast::Cast as _;
use history_core::hash::HashMap;

/// Represents no id.
const NONE: u32 = u32::MAX;

/// The array begins at a multiple of this number.
const ALIGNED: i64 = 64;

/// A map from integers to ids. Keys that a small multiple of the number of entries spans are looked up in an array,
/// without a hash.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdMap {
    /// The key of the first entry of the array.
    base: i64,
    /// Contains every key that is in its range, and no other.
    dense: Vec<u32>,
    in_dense: usize,
    sparse: HashMap<i64, u32>,
}

impl IdMap {
    #[inline]
    fn at(&self, key: i64) -> Option<usize> {
        let at = usize::try_from(key.wrapping_sub(self.base).cast_unsigned()).ok()?;
        (key >= self.base && at < self.dense.len()).then_some(at)
    }

    /// The id of a key.
    #[inline]
    pub(crate) fn get<Id: From<u32>>(&self, key: i64) -> Option<Id> {
        let id = match self.at(key) {
            Some(at) => self.dense[at],
            None if self.sparse.is_empty() => NONE,
            None => self.sparse.get(&key).copied().unwrap_or(NONE),
        };
        (id != NONE).then(|| Id::from(id))
    }

    /// Inserts the id of a key that has none.
    #[inline]
    pub(crate) fn insert(&mut self, key: i64, id: u32) {
        match self.at(key).or_else(|| self.make_room(key)) {
            Some(at) => {
                self.dense[at] = id;
                self.in_dense += 1;
            }
            None => _ = self.sparse.insert(key, id),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.in_dense + self.sparse.len()
    }

    /// Calls `call` for all entries by key, ascending. Sorts the entries that are not in the array.
    pub(crate) fn each<Id: From<u32>>(&self, mut call: impl FnMut(i64, Id)) {
        let mut sparse: Vec<(i64, u32)> = self.sparse.iter().map(|(key, id)| (*key, *id)).collect();
        sparse.sort_unstable();
        let (before, after) = sparse.split_at(sparse.partition_point(|(key, _)| *key < self.base));
        for (key, id) in before {
            call(*key, Id::from(*id));
        }
        for (at, id) in self.dense.iter().enumerate().filter(|(_, id)| **id != NONE) {
            call(self.base.saturating_add_unsigned(at.to_u64()), Id::from(*id));
        }
        for (key, id) in after {
            call(*key, Id::from(*id));
        }
    }

    /// Extends the array, if its size then remains within a small multiple of the entries. Returns the index of the
    /// key.
    #[cold]
    fn make_room(&mut self, key: i64) -> Option<usize> {
        if self.len() == 0 {
            self.base = if (0..ALIGNED).contains(&key) { 0 } else { key.saturating_sub(key.rem_euclid(ALIGNED)) };
        }
        let dense_max = 64 + 4 * self.len();
        let len = self.dense.len();
        if key < self.base {
            let missing = usize::try_from(self.base.abs_diff(key)).ok()?;
            // The array at least doubles, so that a log that is read backwards is not moved for every key.
            let front = missing.max(len);
            let base = self.base.checked_sub_unsigned(front.to_u64())?;
            if len + missing > dense_max {
                return None;
            }
            self.dense.splice(0..0, std::iter::repeat_n(NONE, front));
            self.base = base;
        } else {
            let needed = usize::try_from(key.abs_diff(self.base)).ok()?.checked_add(1)?;
            if needed > dense_max {
                return None;
            }
            // The array doubles while the hash map has entries, because these are examined at each extension.
            let new = if self.sparse.is_empty() { needed } else { needed.max(2 * len) };
            self.dense.resize(new, NONE);
        }
        let moved: Vec<(i64, usize)> = self.sparse.keys().filter_map(|key| Some((*key, self.at(*key)?))).collect();
        for (key, at) in moved {
            self.dense[at] = self.sparse.remove(&key).unwrap_or(NONE);
            self.in_dense += 1;
        }
        self.at(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Inserts these keys, and compares with an ordinary map.
    fn check(keys: impl Iterator<Item = i64>) -> IdMap {
        let (mut ours, mut plain) = (IdMap::default(), BTreeMap::new());
        for (id, key) in (0..).zip(keys) {
            assert_eq!(ours.get::<u32>(key), plain.get(&key).copied());
            if plain.insert(key, id).is_none() {
                ours.insert(key, id);
            } else {
                plain.insert(key, ours.get(key).unwrap());
            }
            assert_eq!(ours.len(), plain.len());
        }
        let mut all = Vec::new();
        ours.each(|key, id: u32| all.push((key, id)));
        assert_eq!(all, plain.into_iter().collect::<Vec<_>>());
        ours
    }

    #[test]
    fn keys_are_found_at_any_distance() {
        let far = (1_i64 << 62) - 3;
        let mut state = 1_u64;
        let mut chance = move |end: i64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            i64::try_from(state >> 33).unwrap() % end
        };
        check(0..500);
        check((0..500).rev());
        check((far - 200..far + 200).chain([0, i64::MAX, i64::MIN, -1, 63]));
        check([i64::MIN, i64::MIN + 1, i64::MAX, i64::MAX - 1, 0].into_iter());
        check([i64::MAX, i64::MAX - 1, i64::MAX - 70].into_iter());
        check((0..3000).map(|_| chance(400) - 200));
        check((0..3000).map(|at| if at % 3 == 0 { chance(i64::MAX) } else { at }));
    }

    #[test]
    fn the_array_size_is_limited_by_its_entries() {
        let first = 9_000_000_000;
        let map = check((first..first + 100_000).rev());
        assert!(map.sparse.is_empty() && map.dense.len() < 300_000, "{}", map.dense.len());
        let map = check((0..1_000_000).step_by(100));
        assert!(map.dense.len() <= 64 + 8 * map.len(), "{}", map.dense.len());
    }
}
