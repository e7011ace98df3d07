//! A map from integers: an array where keys are small and dense, a hash map for the rest.

use crate::hash::HashMap;
use crate::state::{Damaged, In, Out, State};
use std::collections::BTreeMap;

/// A map from integers. Keys below a small multiple of the number of entries are looked up in an array, without a hash.
#[derive(Clone, Debug)]
pub struct IntMap<V> {
    /// The values of all keys that are valid indices of this array.
    dense: Vec<Option<V>>,
    in_dense: usize,
    sparse: HashMap<i64, V>,
}

impl<V> Default for IntMap<V> {
    fn default() -> IntMap<V> {
        IntMap { dense: Vec::new(), in_dense: 0, sparse: HashMap::default() }
    }
}

impl<V> IntMap<V> {
    /// The index of a key in the array, if it has one.
    #[inline]
    fn at(&self, key: i64) -> Option<usize> {
        usize::try_from(key).ok().filter(|at| *at < self.dense.len())
    }

    /// The value of a key.
    #[inline]
    pub fn get(&self, key: i64) -> Option<&V> {
        match self.at(key) {
            Some(at) => self.dense[at].as_ref(),
            None => self.sparse.get(&key),
        }
    }

    /// Sets the value of a key. Returns the previous value.
    #[inline]
    pub fn insert(&mut self, key: i64, value: V) -> Option<V> {
        let Some(at) = self.at(key).or_else(|| self.make_room(key)) else { return self.sparse.insert(key, value) };
        let before = self.dense[at].replace(value);
        self.in_dense += usize::from(before.is_none());
        before
    }

    /// Removes a key and returns its value.
    #[inline]
    pub fn remove(&mut self, key: i64) -> Option<V> {
        match self.at(key) {
            Some(at) => {
                let taken = self.dense[at].take();
                self.in_dense -= usize::from(taken.is_some());
                taken
            }
            // The map would compute the hash even if it is empty.
            None if self.sparse.is_empty() => None,
            None => self.sparse.remove(&key),
        }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.in_dense + self.sparse.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All values, in an unspecified order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.dense.iter().flatten().chain(self.sparse.values())
    }

    /// Lengthens the array if its unused entries remain at most a small multiple of the used ones. Returns the index of
    /// the key, if it then has one.
    #[cold]
    fn make_room(&mut self, key: i64) -> Option<usize> {
        let dense_max = 64 + 4 * self.len();
        let new = usize::try_from(key).ok().filter(|key| *key < dense_max)?;
        self.dense.resize_with((new + 1).next_power_of_two().max(16), || None);
        let moved: Vec<(i64, usize)> = self.sparse.keys().filter_map(|key| Some((*key, self.at(*key)?))).collect();
        for (key, at) in moved {
            self.dense[at] = self.sparse.remove(&key);
            self.in_dense += 1;
        }
        Some(new)
    }
}

impl<V: State> State for IntMap<V> {
    fn save(&self, out: &mut Out) {
        let dense = (0_i64..).zip(&self.dense).filter_map(|(key, value)| Some((key, value.as_ref()?)));
        let mut entries: Vec<(i64, &V)> = dense.chain(self.sparse.iter().map(|(key, value)| (*key, value))).collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        entries.len().save(out);
        for (key, value) in entries {
            key.save(out);
            value.save(out);
        }
    }

    fn load(from: &mut In<'_>) -> Result<IntMap<V>, Damaged> {
        let mut map = IntMap::default();
        for (key, value) in BTreeMap::<i64, V>::load(from)? {
            map.insert(key, value);
        }
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_does_what_a_map_does(
            steps in prop::collection::vec((any::<bool>(), prop_oneof![0..300_i64, any::<i64>(), -3..3_i64]), 0..400)
        ) {
            let (mut ours, mut plain) = (IntMap::default(), BTreeMap::new());
            for (at, (inserts, key)) in steps.into_iter().enumerate() {
                prop_assert_eq!(ours.get(key), plain.get(&key));
                if inserts {
                    prop_assert_eq!(ours.insert(key, at), plain.insert(key, at));
                } else {
                    prop_assert_eq!(ours.remove(key), plain.remove(&key));
                }
                prop_assert_eq!(ours.len(), plain.len());
            }
            let sorted = |mut values: Vec<usize>| {
                values.sort_unstable();
                values
            };
            let mut out = Out::new(usize::MAX);
            ours.save(&mut out);
            let bytes = out.into_bytes().unwrap();
            let again = IntMap::<usize>::load(&mut In::new(&bytes)).unwrap();
            prop_assert!(plain.iter().all(|(key, value)| again.get(*key) == Some(value)) && again.len() == plain.len());
            prop_assert_eq!(sorted(ours.values().copied().collect()), sorted(plain.into_values().collect()));
        }
    }

    #[test]
    fn the_array_stays_small_beside_what_is_in_it() {
        let mut map = IntMap::default();
        for key in (0..1_000_000).step_by(100) {
            map.insert(key, ());
        }
        assert!(map.dense.len() <= 2 * (64 + 4 * map.len()), "{}", map.dense.len());
    }
}
