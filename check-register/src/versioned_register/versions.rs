//! Versions: a row for each, and a table that finds them by key and id. Versions can be removed.

use super::packed::Packed;
use history_core::{ErrorKind, HistoryError};

/// A version of a register: a row of [`Versions`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct VersionId(u32);

impl VersionId {
    /// Represents no version.
    pub(crate) const NONE: VersionId = VersionId(u32::MAX);

    /// The number of the row.
    #[inline]
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

/// A register: the only one of the history, or that of a key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct KeyId(pub(crate) u32);

impl KeyId {
    /// Represents a key that is not known yet.
    pub(crate) const NONE: KeyId = KeyId(u32::MAX);
}

/// A client, by the order of appearance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ClientId(pub(crate) u32);

impl ClientId {
    /// Represents a client that the history does not name.
    pub(crate) const NONE: ClientId = ClientId(u32::MAX);
}

/// Represents an unknown time.
pub(crate) const NO_TIME: i64 = i64::MIN;

/// The moment at which an op was recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct At {
    pub(crate) index: u64,
    /// [`NO_TIME`] if the op has no time.
    pub(crate) time_ns: i64,
}

impl At {
    /// Before all moments, for ops that are not known to follow any other.
    pub(crate) const EVER: At = At { index: 0, time_ns: NO_TIME };
}

/// The state of a version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// No op has observed it.
    Idle,
    /// It is on the path of the current walk.
    OnPath,
    /// In the chain, at its `place`.
    Accepted,
    /// It was observed and cannot have been in the chain, or follows such a version. That was reported.
    Condemned,
    /// It was in the chain, and is removed as soon as its write is no longer in flight.
    Old,
}

/// Properties of a version, one bit each.
pub(crate) mod flag {
    /// A write with this id was invoked.
    pub(crate) const PROPOSED: u8 = 1;
    /// That write is in flight.
    pub(crate) const OPEN: u8 = 1 << 1;
    /// It completed `ok`.
    pub(crate) const ACKED: u8 = 1 << 2;
    /// It completed `fail`.
    pub(crate) const FAILED: u8 = 1 << 3;
    /// Its invocation is not in the history, or belongs to an unnamed client.
    pub(crate) const NAMELESS: u8 = 1 << 4;
    /// Some op that shows it completed: `first` is set.
    pub(crate) const OBSERVED: u8 = 1 << 5;
    /// The first op that shows it is a read, and not its write.
    pub(crate) const READ_FIRST: u8 = 1 << 6;
    /// Its value is known: from its write, the options, or a read.
    pub(crate) const VALUED: u8 = 1 << 7;
}

/// A version and the ops that show it.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) id: Packed,
    /// The version that it replaces. Set only if it was proposed.
    pub(crate) prev: Packed,
    pub(crate) value: Packed,
    /// The invocation of its write.
    pub(crate) written: At,
    /// The first completion that shows it.
    pub(crate) first: At,
    /// The latest invocation of a read that shows it; with `last_read_index`, that read's completion.
    pub(crate) last_read: At,
    pub(crate) last_read_index: u64,
    pub(crate) writer: ClientId,
    pub(crate) observer: ClientId,
    pub(crate) reader: ClientId,
    pub(crate) key: KeyId,
    /// The version that replaced it. Set only for accepted versions; `NONE` for the head.
    pub(crate) next: VersionId,
    /// The number of versions before it. Set only for accepted and old versions.
    pub(crate) place: u32,
    pub(crate) state: State,
    pub(crate) flags: u8,
}

/// Represents no read.
pub(crate) const NO_READ: u64 = u64::MAX;

impl Version {
    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// An empty entry of the table. Other entries contain the number of a row and, above it, half of the hash, so that few
/// rows are compared in vain.
const EMPTY: u64 = u64::MAX;

/// All versions in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Versions {
    rows: Vec<Version>,
    /// Rows that can be reused.
    free: Vec<VersionId>,
    /// Open addressing with linear probing. Its length is a power of two or 0; at least a quarter of it is `EMPTY`.
    table: Vec<u64>,
}

impl std::ops::Index<VersionId> for Versions {
    type Output = Version;

    #[inline]
    fn index(&self, version: VersionId) -> &Version {
        &self.rows[version.at()]
    }
}

impl std::ops::IndexMut<VersionId> for Versions {
    #[inline]
    fn index_mut(&mut self, version: VersionId) -> &mut Version {
        &mut self.rows[version.at()]
    }
}

impl Versions {
    /// The number of versions.
    pub(crate) fn len(&self) -> usize {
        self.rows.len() - self.free.len()
    }

    /// A number above that of every row.
    pub(crate) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Returns true if a version is in memory.
    fn is_there(&self, version: VersionId) -> bool {
        self.find(self[version].key, self[version].id) == Some(version)
    }

    /// All versions in memory, in the order of their rows.
    pub(crate) fn ids(&self) -> impl Iterator<Item = VersionId> {
        (0..self.rows.len() as u32).map(VersionId).filter(|version| self.is_there(*version))
    }

    #[inline]
    pub(crate) fn find(&self, key: KeyId, id: Packed) -> Option<VersionId> {
        if self.table.is_empty() {
            return None;
        }
        let hash = id.hash(key.0);
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let entry = self.table[at];
            if entry == EMPTY {
                return None;
            }
            if entry >> 32 == hash >> 32 {
                let version = VersionId(entry as u32);
                let row = &self.rows[version.at()];
                if row.id == id && row.key == key {
                    return Some(version);
                }
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds a version that is not in the table.
    pub(crate) fn insert(&mut self, key: KeyId, id: Packed) -> Result<VersionId, HistoryError> {
        // Row numbers must be below the lower half of `EMPTY`, which is that of `NONE`.
        if self.rows.len() >= (u32::MAX - 1) as usize {
            return Err(HistoryError::new(ErrorKind::Limit, "more than 2^32 - 2 versions"));
        }
        if self.len() >= self.table.len() / 4 * 3 {
            self.grow();
        }
        let row = Version {
            id,
            prev: Packed::NIL,
            value: Packed::NIL,
            written: At::EVER,
            first: At::EVER,
            last_read: At::EVER,
            last_read_index: NO_READ,
            writer: ClientId::NONE,
            observer: ClientId::NONE,
            reader: ClientId::NONE,
            key,
            next: VersionId::NONE,
            place: 0,
            state: State::Idle,
            flags: 0,
        };
        let version = if let Some(version) = self.free.pop() {
            self.rows[version.at()] = row;
            version
        } else {
            self.rows.push(row);
            VersionId((self.rows.len() - 1) as u32)
        };
        put(&mut self.table, id.hash(key.0), version);
        Ok(version)
    }

    /// Removes a version. Its number may then represent another one.
    pub(crate) fn remove(&mut self, version: VersionId) {
        let mask = self.table.len() - 1;
        let Version { id, key, .. } = self.rows[version.at()];
        let mut hole = id.hash(key.0) as usize & mask;
        while self.table[hole] as u32 != version.0 {
            hole = (hole + 1) & mask;
        }
        // Later entries move up if their probe sequence passes the hole, so that no search ends at a gap.
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let entry = self.table[at];
            if entry == EMPTY {
                break;
            }
            let row = &self.rows[(entry as u32) as usize];
            let home = row.id.hash(row.key.0) as usize & mask;
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                self.table[hole] = entry;
                hole = at;
            }
        }
        self.table[hole] = EMPTY;
        self.free.push(version);
    }

    fn grow(&mut self) {
        let mut table = vec![EMPTY; (2 * self.table.len()).max(16)];
        for entry in self.table.iter().filter(|entry| **entry != EMPTY) {
            let version = VersionId(*entry as u32);
            let row = &self.rows[version.at()];
            put(&mut table, row.id.hash(row.key.0), version);
        }
        self.table = table;
    }
}

fn put(table: &mut [u64], hash: u64, version: VersionId) {
    let mask = table.len() - 1;
    let mut at = hash as usize & mask;
    while table[at] != EMPTY {
        at = (at + 1) & mask;
    }
    table[at] = hash >> 32 << 32 | u64::from(version.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::versioned_register::packed::Interner;
    use history_core::Value;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// The table is a map, whatever is added and removed.
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((0..2_u32, 0..40_i64, any::<bool>()), 0..400)) {
            let mut interner = Interner::default();
            let (mut versions, mut model) = (Versions::default(), BTreeMap::new());
            for (key, id, add) in steps {
                let packed = interner.pack(Value::Int(id));
                let found = versions.find(KeyId(key), packed);
                prop_assert_eq!(found, model.get(&(key, id)).copied());
                match found {
                    None if add => {
                        model.insert((key, id), versions.insert(KeyId(key), packed).unwrap());
                    }
                    Some(version) if !add => {
                        versions.remove(version);
                        model.remove(&(key, id));
                    }
                    _ => {}
                }
                prop_assert_eq!(versions.len(), model.len());
            }
            let ids: Vec<VersionId> = versions.ids().collect();
            let mut expected: Vec<VersionId> = model.into_values().collect();
            expected.sort_unstable();
            prop_assert_eq!(ids, expected);
        }
    }
}
