//! Assigns numbers to keys and values.

use crate::hash::HashMap;
use crate::{Interner, Value};

/// The numbers given so far, from 1 on.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    codes: Interner,
    keys: HashMap<i64, i64>,
    values: HashMap<(i64, i64), i64>,
}

impl Numbers {
    /// Returns the number of a key.
    pub(super) fn key(&mut self, key: Value<'_>) -> i64 {
        let next = as_number(self.keys.len());
        *self.keys.entry(self.codes.code(key)).or_insert(next)
    }

    /// Returns the number of a value of a key, which is given by its number.
    pub(super) fn value(&mut self, key: i64, value: Value<'_>) -> i64 {
        let next = as_number(self.values.len());
        *self.values.entry((key, self.codes.code(value))).or_insert(next)
    }
}

/// Returns the number after `count` numbers.
fn as_number(count: usize) -> i64 {
    i64::try_from(count).map_or(i64::MAX, |count| count + 1)
}
