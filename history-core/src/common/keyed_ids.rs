//! Ids of the values of each key: an array by value where values are small and dense, a hash map for the rest.

use crate::cast::Cast as _;
use crate::common::Id;
use crate::hash::HashMap;
use std::hash::Hash;

/// The id that represents none.
const NONE: u32 = u32::MAX;

/// For each key, the ids of its values. Values are given by their codes: those of an [`Interner`](crate::Interner).
///
/// ```
/// use history_core::KeyedIds;
///
/// history_core::id! { KeyId }
/// let mut ids = KeyedIds::default();
/// ids.push_key();
/// ids.insert(KeyId::new(0), 17, 3);
/// assert_eq!((ids.get(KeyId::new(0), 17), ids.get(KeyId::new(0), 18)), (Some(3), None));
/// ```
#[derive(Clone, Debug)]
pub struct KeyedIds<K> {
    keys: Vec<Values>,
    sparse: HashMap<(K, i64), u32>,
}

impl<K> Default for KeyedIds<K> {
    fn default() -> KeyedIds<K> {
        KeyedIds { keys: Vec::new(), sparse: HashMap::default() }
    }
}

#[derive(Clone, Debug, Default)]
struct Values {
    /// The ids of small values, indexed by code.
    dense: Vec<u32>,
    count: u32,
    /// Whether some ids of the key are in `sparse`.
    has_sparse: bool,
}

impl<K: Id + Eq + Hash> KeyedIds<K> {
    /// Adds one more key, the next one.
    pub fn push_key(&mut self) {
        self.keys.push(Values::default());
    }

    /// The id of a value, if it has one. O(1).
    #[inline]
    pub fn get(&self, key: K, code: i64) -> Option<u32> {
        // No branch depends on the id. Loading it may be slow, so the loads of many values can overlap.
        let values = &self.keys[key.at()];
        let dense = match usize::try_from(code) {
            Ok(code) if code < values.dense.len() => values.dense[code],
            _ => NONE,
        };
        let is_sparse = values.has_sparse && dense == NONE;
        if is_sparse { self.sparse.get(&(key, code)).copied() } else { (dense != NONE).then_some(dense) }
    }

    /// Sets the id of a value that has none.
    pub fn insert(&mut self, key: K, code: i64, id: u32) {
        let values = &mut self.keys[key.at()];
        values.count += 1;
        // A code is used as an index only if the array stays within a small multiple of its used entries.
        let dense_max = 64 + 4 * values.count.to_usize();
        if let Ok(code) = usize::try_from(code)
            && code < dense_max
        {
            if code >= values.dense.len() {
                values.dense.resize((code + 1).next_power_of_two().max(32), NONE);
            }
            values.dense[code] = id;
        } else {
            values.has_sparse = true;
            self.sparse.insert((key, code), id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::id! {
        KeyId
    }

    #[test]
    fn every_value_keeps_its_id_wherever_it_is_kept() {
        let mut ids = KeyedIds::default();
        let codes: Vec<i64> = (0..200).map(|i| i * i - 50).chain([i64::MIN, i64::MAX, 3_000]).collect();
        for key in 0..2 {
            ids.push_key();
            for (at, code) in codes.iter().enumerate() {
                assert_eq!(ids.get(KeyId::new(key), *code), None, "{code}");
                ids.insert(KeyId::new(key), *code, (1000 * key + at).to_u32());
            }
        }
        for key in 0..2 {
            for (at, code) in codes.iter().enumerate() {
                assert_eq!(ids.get(KeyId::new(key), *code), Some((1000 * key + at).to_u32()), "{code}");
            }
            assert_eq!(ids.get(KeyId::new(key), 1), None);
        }
    }
}
