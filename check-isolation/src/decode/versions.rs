//! Keys and the values that were written to them or read: who wrote each, and whether it was there for others to see.

use crate::decode::Row;
use crate::ids::KeyId;
use history_core::cast::Cast as _;
use history_core::{IntMap, KeyedIds};

history_core::id! {
    /// A value of a key.
    pub(crate) VersionId
}

/// All keys and their values.
#[derive(Debug, Default)]
pub(crate) struct Versions {
    keys: IntMap<KeyId>,
    /// The code of each key.
    pub(crate) key_codes: Vec<i64>,
    pub(crate) all: Vec<Version>,
    ids: KeyedIds<KeyId>,
}

/// A value of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version {
    pub(crate) key: KeyId,
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

    /// The version of a key and the code of its value. O(1).
    #[inline]
    pub(crate) fn version(&mut self, key: KeyId, code: i64) -> VersionId {
        if let Some(id) = self.ids.get(key, code) {
            return VersionId::from(id);
        }
        let id = VersionId::new(self.all.len());
        let (writer, again) = (Row::NONE, Row::NONE);
        self.all.push(Version { key, code, writer, again, is_intermediate: false });
        self.ids.insert(key, code, id.at().to_u32());
        id
    }

    #[inline]
    pub(crate) fn get(&self, version: VersionId) -> &Version {
        &self.all[version.at()]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, version: VersionId) -> &mut Version {
        &mut self.all[version.at()]
    }
}
