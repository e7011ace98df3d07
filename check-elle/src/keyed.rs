//! Ids of the values of each key: an array by value where values are small and dense, a hash map for the rest.

use crate::ids::KeyId;
use history_core::cast::Cast as _;
use history_core::hash::HashMap;

/// Stands for no id.
const NONE: u32 = u32::MAX;

/// For each key, the ids of its values, which are given by their codes.
#[derive(Debug, Default)]
pub(crate) struct KeyedIds {
    keys: Vec<Values>,
    sparse: HashMap<(KeyId, i64), u32>,
}

#[derive(Debug, Default)]
struct Values {
    /// By code.
    dense: Vec<u32>,
    count: u32,
    /// Whether some are in `sparse`.
    has_sparse: bool,
}

impl KeyedIds {
    /// Makes room for one more key, the next one.
    pub(crate) fn push_key(&mut self) {
        self.keys.push(Values::default());
    }

    /// The id of a value, if it has one. O(1).
    #[inline]
    pub(crate) fn get(&self, key: KeyId, code: i64) -> Option<u32> {
        let values = &self.keys[key.at()];
        let dense = usize::try_from(code).ok().and_then(|code| values.dense.get(code));
        match dense {
            Some(id) if *id != NONE => Some(*id),
            _ if values.has_sparse => self.sparse.get(&(key, code)).copied(),
            _ => None,
        }
    }

    /// Gives a value that has none its id.
    pub(crate) fn insert(&mut self, key: KeyId, code: i64, id: u32) {
        let values = &mut self.keys[key.at()];
        values.count += 1;
        // As an index a code may waste no more than a small multiple of what is used.
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
