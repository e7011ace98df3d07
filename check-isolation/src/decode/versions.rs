//! Keys and the values that were written to them or read: who wrote each, and whether it was there for others to see.

use crate::decode::Row;
use crate::ids::KeyId;
use history_core::{IntMap, KeyedIds};

history_core::id! {
    /// A value of a key.
    pub(crate) VersionId
}

/// All keys and their values: columns, since who wrote a value is looked up far more often than the rest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Versions {
    keys: IntMap<KeyId>,
    /// The code of each key.
    pub(crate) key_codes: Vec<i64>,
    codes: Vec<i64>,
    /// Who wrote each first; `Row::NONE` if nobody did.
    writers: Vec<Row>,
    /// Whether the first writer overwrote it.
    is_intermediate: Vec<bool>,
    /// Who wrote a value after that, if it was written twice.
    again: IntMap<Row>,
    ids: KeyedIds<KeyId>,
}

/// A value of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version {
    /// The code of the value.
    pub(crate) code: i64,
    /// Who wrote it first; `Row::NONE` if nobody did.
    pub(crate) writer: Row,
    /// Who wrote it after that, if it was written twice.
    pub(crate) again: Row,
    /// Whether the first writer overwrote it.
    pub(crate) is_intermediate: bool,
}

impl Versions {
    /// The key of a code. O(1).
    #[inline]
    pub(crate) fn key(&mut self, code: i64) -> KeyId {
        if let Some(key) = self.keys.get(code) {
            return *key;
        }
        let key = KeyId::new(self.key_codes.len());
        self.key_codes.push(code);
        self.keys.insert(code, key);
        self.ids.push_key();
        key
    }

    /// The version of a key and the code of its value, if there is one by now. O(1).
    #[inline]
    pub(crate) fn find(&self, key: KeyId, code: i64) -> Option<u32> {
        self.ids.get(key, code)
    }

    /// The version of a key and the code of its value. O(1).
    #[inline]
    pub(crate) fn version(&mut self, key: KeyId, code: i64) -> VersionId {
        if let Some(id) = self.ids.get(key, code) {
            return VersionId::from(id);
        }
        let id = VersionId::new(self.len());
        self.codes.push(code);
        self.writers.push(Row::NONE);
        self.is_intermediate.push(false);
        self.ids.insert(key, code, id.number());
        id
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    /// Notes that a row wrote a value, and whether it overwrote it.
    #[inline]
    pub(crate) fn write(&mut self, version: VersionId, row: Row, is_overwritten: bool) {
        let at = version.at();
        if self.writers[at] == Row::NONE {
            self.writers[at] = row;
            self.is_intermediate[at] = is_overwritten;
        } else {
            self.again.insert(version.number().into(), row);
        }
    }

    /// Whether some value was written twice to a key.
    pub(crate) fn has_repeated(&self) -> bool {
        !self.again.is_empty()
    }

    /// Whether the first writer overwrote a value.
    #[inline]
    pub(crate) fn is_intermediate(&self, version: VersionId) -> bool {
        self.is_intermediate[version.at()]
    }

    /// Who wrote a value first; `Row::NONE` if nobody did.
    #[inline]
    pub(crate) fn writer(&self, version: VersionId) -> Row {
        self.writers[version.at()]
    }

    /// The code of a value.
    pub(crate) fn code(&self, version: VersionId) -> i64 {
        self.codes[version.at()]
    }

    #[inline]
    pub(crate) fn get(&self, version: VersionId) -> Version {
        let at = version.at();
        let again = if self.again.is_empty() { None } else { self.again.get(version.number().into()) }
            .copied()
            .unwrap_or(Row::NONE);
        Version { code: self.codes[at], writer: self.writers[at], again, is_intermediate: self.is_intermediate[at] }
    }
}
