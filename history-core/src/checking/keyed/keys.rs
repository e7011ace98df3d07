//! The keys of a history, numbered in order of first occurrence.

use crate::cast::Cast as _;
use crate::error::{ErrorKind, HistoryError};
use crate::hash::HashMap;
use crate::{Datum, IntMap, Value};

/// The maximum number of keys of one history.
const KEYS_MAX: usize = 1 << 26;

/// The number of characters of a key in a sentence.
const SHOWN_CHARS_MAX: usize = 60;

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyId(u32);

impl KeyId {
    /// The `at`th key; there are at most [`KEYS_MAX`].
    pub(super) fn new(at: usize) -> KeyId {
        KeyId(at.to_u32())
    }

    pub(super) fn at(self) -> usize {
        self.0.to_usize()
    }
}

#[derive(Default)]
pub(super) struct Keys {
    ints: IntMap<KeyId>,
    /// The numbers of all other keys, by a text that is the same for equal keys.
    others: HashMap<String, KeyId>,
    datums: Vec<Datum>,
}

impl Keys {
    /// Returns the number of a key, and assigns a new one at its first occurrence.
    #[inline]
    pub(super) fn id(&mut self, key: Value<'_>) -> Result<KeyId, HistoryError> {
        let next = KeyId::new(self.datums.len());
        if next.at() >= KEYS_MAX && self.find(key).is_none() {
            return Err(HistoryError::new(ErrorKind::Limit, format!("more than {KEYS_MAX} keys")));
        }
        let id = match key {
            Value::Int(key) => self.ints.get(key).copied().unwrap_or_else(|| {
                self.ints.insert(key, next);
                next
            }),
            key => *self.others.entry(key.canonical()).or_insert(next),
        };
        if id == next {
            self.datums.push(key.to_datum());
        }
        Ok(id)
    }

    /// Returns the number of a key that has occurred before.
    #[inline]
    pub(super) fn find(&self, key: Value<'_>) -> Option<KeyId> {
        match key {
            Value::Int(key) => self.ints.get(key).copied(),
            key => self.others.get(&key.canonical()).copied(),
        }
    }

    pub(super) fn datum(&self, key: KeyId) -> &Datum {
        &self.datums[key.at()]
    }
}

/// A key as shown in sentences: shortened if it is long.
pub(super) fn shown(key: &Datum) -> String {
    let text = key.to_string();
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
