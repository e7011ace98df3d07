//! Keys and their known versions, with the writer of each version.

use crate::ids::{KeyId, TxnId, VersionId};
use history_core::cast::Cast as _;
use history_core::{IntMap, KeyedIds};

/// All keys and versions of a history.
#[derive(Clone, Debug, Default)]
pub(crate) struct Versions {
    keys: IntMap<KeyId>,
    pub(crate) key: Vec<Key>,
    pub(crate) version: Vec<Version>,
    ids: KeyedIds<KeyId>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) code: i64,
    /// The initial version: nil, unless another value is given.
    pub(crate) initial: VersionId,
    /// Whether it is excluded from the check, because of ops that were not understood.
    pub(crate) left_out: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Version {
    pub(crate) code: i64,
    pub(crate) key: KeyId,
    /// The transaction that wrote it: `TxnId::NONE` if unknown.
    pub(crate) writer: TxnId,
    /// The last examined transaction that read it.
    pub(crate) reader: TxnId,
    pub(crate) flags: Flags,
}

/// Facts about a version, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(u8);

impl Flags {
    /// Some completion writes it.
    pub(crate) const COMPLETED: Flags = Flags(1);
    /// Its own transaction overwrote it.
    pub(crate) const INTERMEDIATE: Flags = Flags(2);
    /// It was written by a transaction that failed.
    pub(crate) const FAILED: Flags = Flags(4);
    /// An `ok` transaction read it.
    pub(crate) const SEEN: Flags = Flags(8);
    /// A transaction writes it again after that.
    pub(crate) const RETRIED: Flags = Flags(16);
    /// A completion whose invocation is unknown writes it.
    pub(crate) const ALONE: Flags = Flags(32);
    /// Those that depend on which transaction wrote it.
    const OF_WRITER: Flags = Flags(Flags::INTERMEDIATE.0 | Flags::FAILED.0 | Flags::RETRIED.0);

    #[inline]
    pub(crate) fn has(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }

    #[inline]
    pub(crate) fn add(&mut self, other: Flags) {
        self.0 |= other.0;
    }

    fn remove(&mut self, other: Flags) {
        self.0 &= !other.0;
    }

    /// Removes a fact. Returns true if it was known.
    pub(crate) fn take(&mut self, other: Flags) -> bool {
        let had = self.has(other);
        self.remove(other);
        had
    }
}

impl Versions {
    /// The key with this code, created if it is new. O(1).
    #[inline]
    pub(crate) fn key_id(&mut self, code: i64, initial: i64) -> KeyId {
        if let Some(id) = self.keys.get(code) {
            return *id;
        }
        let id = KeyId::new(self.key.len());
        let initial = self.push(id, initial);
        self.key.push(Key { code, initial, left_out: false });
        self.ids.push_key();
        self.keys.insert(code, id);
        id
    }

    /// The version of a key with the value of this code, created if it is new. O(1).
    #[inline]
    pub(crate) fn version_id(&mut self, key: KeyId, code: i64) -> VersionId {
        match self.ids.get(key, code) {
            Some(id) => VersionId::new(id.to_usize()),
            None => self.new_version(key, code),
        }
    }

    fn new_version(&mut self, key: KeyId, code: i64) -> VersionId {
        let id = self.push(key, code);
        self.ids.insert(key, code, id.at().to_u32());
        id
    }

    /// Another version with the same key and value.
    #[cold]
    pub(crate) fn another(&mut self, version: VersionId) -> VersionId {
        let Version { key, code, .. } = self.version[version.at()];
        self.push(key, code)
    }

    /// Gives a version that a failed transaction wrote, and that is written again, to a later one. What the failed
    /// transaction wrote is another version from now on, with the same value; it is returned.
    #[cold]
    pub(crate) fn part(&mut self, version: VersionId) -> VersionId {
        let own = self.another(version);
        let shared = &mut self.version[version.at()];
        let failed = std::mem::replace(shared, Version { writer: TxnId::NONE, ..*shared });
        shared.flags.remove(Flags::OF_WRITER);
        self.version[own.at()] = Version { reader: TxnId::NONE, ..failed };
        self.version[own.at()].flags.remove(Flags::SEEN);
        own
    }

    /// Returns true if two versions of a key have different values.
    #[inline]
    pub(crate) fn differ(&self, one: VersionId, other: VersionId) -> bool {
        one != other && self.version[one.at()].code != self.version[other.at()].code
    }

    fn push(&mut self, key: KeyId, code: i64) -> VersionId {
        let id = VersionId::new(self.version.len());
        self.version.push(Version { code, key, writer: TxnId::NONE, reader: TxnId::NONE, flags: Flags::default() });
        id
    }

    #[inline]
    pub(crate) fn is_initial(&self, version: VersionId) -> bool {
        self.key[self.version[version.at()].key.at()].initial == version
    }

    /// Records that a transaction read the version. Returns true if another transaction wrote it, as far as is known.
    #[inline]
    pub(crate) fn see(&mut self, version: VersionId, txn: TxnId) -> bool {
        let is_initial = self.is_initial(version);
        let version = &mut self.version[version.at()];
        version.flags.add(Flags::SEEN);
        version.reader = txn;
        !is_initial && version.writer != txn
    }

    /// The writer, if other transactions can read the version: the writer may not have failed nor overwritten it
    /// itself.
    #[inline]
    pub(crate) fn installer(&self, version: VersionId) -> Option<TxnId> {
        let Version { writer, flags, .. } = self.version[version.at()];
        let installed = writer != TxnId::NONE && !flags.has(Flags::FAILED) && !flags.has(Flags::INTERMEDIATE);
        installed.then_some(writer)
    }
}
