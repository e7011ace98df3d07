//! The keys, with the versions of each that still matter, and the values of those that do not.

use crate::txn::online::named::Named;
use crate::txn::online::ranges::Ranges;
use crate::txn::online::time::{Gate, NEVER, NONE};
use history_core::cast::Cast as _;
use history_core::hash::HashMap;

#[derive(Clone, Debug, Default)]
pub(super) struct Registers {
    keys: Vec<Key>,
    free_keys: Vec<u32>,
    key_ids: HashMap<i64, u32>,
    versions: Vec<Version>,
    free_versions: Vec<u32>,
    ids: HashMap<(u32, i64), u32>,
    /// Keys that were dropped.
    dropped: Ranges,
    /// Keys that were named again after they were dropped.
    pub(super) renamed: u64,
    /// Whether some `ok` transaction read a key that some transaction writes.
    pub(super) has_read: bool,
    /// The number of versions and ranges of all keys.
    count: usize,
}

#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub(super) struct Key {
    pub(super) code: i64,
    is_there: bool,
    is_read: bool,
    is_written: bool,
    /// Whether the key was dropped before, so that some of its values are unknown.
    pub(super) is_renamed: bool,
    pub(super) named: Named,
    /// `NONE` once the initial version is dead.
    pub(super) initial: u32,
    /// The versions that matter, including the initial one.
    pub(super) versions: Vec<u32>,
    /// Values of versions that certainly precede another one.
    pub(super) dead: Ranges,
    /// Values that their own transaction overwrote.
    pub(super) overwritten: Ranges,
    /// Values of transactions that failed.
    pub(super) failed: Ranges,
    /// Values that were written more than once, and not read.
    pub(super) repeated: Ranges,
    /// For each process, its last version, and earlier ones that are not known to precede it.
    pub(super) rows: HashMap<i64, Vec<u32>>,
    /// The last-invoked transaction that names the key, by its index, and whether its first micro-op on the key is a
    /// write.
    pub(super) first_touch: (u64, bool),
    /// The last transaction that wrote the key, by its index, and the version.
    pub(super) last_write: (u64, u32),
}

#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub(super) struct Version {
    pub(super) key: u32,
    pub(super) code: i64,
    pub(super) kind: VersionKind,
    /// `NONE` if there is none or it is discarded.
    pub(super) writer: u32,
    /// Those of the writer: see [`crate::txn::online::time::Txn`].
    pub(super) after: Gate,
    pub(super) done: Gate,
    pub(super) index: u64,
    /// Whether its writer wrote the key again.
    pub(super) is_intermediate: bool,
    /// Whether its writer wrote the key before reading it.
    pub(super) is_blind: bool,
    /// Whether another version has the same value, so that a read of the value is ambiguous.
    pub(super) is_repetition: bool,
    pub(super) is_read: bool,
    /// Whether an `ok` transaction read it that had not written the key before.
    pub(super) is_shown: bool,
    /// The first reader, by its index, if the writer was unknown at that time.
    pub(super) seen: Option<u64>,
    /// Whether its writer is `ok`, or some write of the writer was read.
    pub(super) is_known: bool,
    pub(super) since: Gate,
    pub(super) until: Option<Gate>,
    /// Transactions whose external read it is, except discarded ones.
    pub(super) readers: Vec<u32>,
    /// The greatest gate that leads to a discarded reader or writer of it.
    pub(super) floor: Gate,
    /// The versions known to follow it, and those known to precede it.
    pub(super) next: Vec<u32>,
    pub(super) before: Vec<u32>,
    /// The first transaction that read it and then wrote the key, by the index of the invocation.
    pub(super) updater: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VersionKind {
    Initial,
    /// The version was read, and no invocation writes it.
    Unwritten,
    /// The writer may have happened.
    Possible,
}

history_core::state!(
    enum VersionKind {
        Initial,
        Unwritten,
        Possible,
    }
);
history_core::state!(struct Version {
    key, code, kind, writer, after, done, index, is_intermediate, is_blind, is_repetition, is_read, is_shown, seen,
    is_known, since, until, readers, floor, next, before, updater,
});
history_core::state!(struct Key {
    code, is_there, is_read, is_written, is_renamed, named, initial, versions, dead, overwritten, failed, repeated,
    rows, first_touch, last_write,
});
history_core::state!(struct Registers {
    keys, free_keys, key_ids, versions, free_versions, ids, dropped, renamed, has_read, count,
});

impl Version {
    pub(super) fn new(key: u32, code: i64, kind: VersionKind) -> Version {
        Version {
            key,
            code,
            kind,
            writer: NONE,
            after: 0,
            done: NEVER,
            index: u64::MAX,
            is_intermediate: false,
            is_blind: false,
            is_repetition: false,
            is_read: false,
            is_shown: false,
            seen: None,
            is_known: false,
            since: NEVER,
            until: None,
            readers: Vec::new(),
            floor: 0,
            next: Vec::new(),
            before: Vec::new(),
            updater: None,
        }
    }

    /// Returns true if other transactions can read it: its writer may have happened and did not overwrite it.
    pub(super) fn is_installed(&self) -> bool {
        self.kind == VersionKind::Possible && !self.is_intermediate
    }

    /// Returns true if the version certainly existed, so that it has a place among the others.
    pub(super) fn counts(&self) -> bool {
        self.kind != VersionKind::Initial && !self.is_intermediate && (self.is_known || self.is_read)
    }
}

impl Registers {
    /// The key with this code, and whether it is new; a new key is created with its initial version.
    pub(super) fn key_id(&mut self, code: i64, initial: i64, op: u64) -> (u32, bool) {
        if let Some(key) = self.key_ids.get(&code) {
            self.keys[key.to_usize()].named.again(op);
            return (*key, false);
        }
        let is_renamed = self.dropped.contains(code);
        self.renamed += u64::from(is_renamed);
        let none = (u64::MAX, NONE);
        let new = Key { code, is_there: true, is_renamed, named: Named::at(op), last_write: none, ..Key::default() };
        let key = self.free_keys.pop().unwrap_or_else(|| {
            self.keys.push(Key::default());
            (self.keys.len() - 1).to_u32()
        });
        self.keys[key.to_usize()] = Key { first_touch: (u64::MAX, false), ..new };
        self.key_ids.insert(code, key);
        let initial = self.insert(Version::new(key, initial, VersionKind::Initial));
        self.keys[key.to_usize()].initial = initial;
        (key, true)
    }

    /// The key with this code, if it exists.
    pub(super) fn find_key(&self, code: i64) -> Option<u32> {
        self.key_ids.get(&code).copied()
    }

    pub(super) fn key(&self, key: u32) -> &Key {
        &self.keys[key.to_usize()]
    }

    pub(super) fn key_mut(&mut self, key: u32) -> &mut Key {
        &mut self.keys[key.to_usize()]
    }

    pub(super) fn version(&self, version: u32) -> &Version {
        &self.versions[version.to_usize()]
    }

    pub(super) fn version_mut(&mut self, version: u32) -> &mut Version {
        &mut self.versions[version.to_usize()]
    }

    /// The version of a key with this value, other than the initial one.
    pub(super) fn version_id(&self, key: u32, code: i64) -> Option<u32> {
        self.ids.get(&(key, code)).copied()
    }

    /// Adds a version. Reads find it by its value unless it is the initial one, or a repetition.
    pub(super) fn insert(&mut self, version: Version) -> u32 {
        let (key, code) = (version.key, version.code);
        let is_found = version.kind != VersionKind::Initial && !version.is_repetition;
        let id = if let Some(id) = self.free_versions.pop() {
            self.versions[id.to_usize()] = version;
            id
        } else {
            self.versions.push(version);
            (self.versions.len() - 1).to_u32()
        };
        if is_found {
            self.ids.insert((key, code), id);
        }
        self.keys[key.to_usize()].versions.push(id);
        self.count += 1;
        id
    }

    /// Removes a version from its key and from the relations of other versions.
    pub(super) fn remove(&mut self, version: u32) {
        let next = std::mem::take(&mut self.version_mut(version).next);
        let before = std::mem::take(&mut self.version_mut(version).before);
        for other in next {
            self.version_mut(other).before.retain(|at| *at != version);
        }
        for other in before {
            self.version_mut(other).next.retain(|at| *at != version);
        }
        let Version { key, code, kind, is_repetition, .. } = *self.version(version);
        self.version_mut(version).readers = Vec::new();
        if kind != VersionKind::Initial && !is_repetition {
            self.ids.remove(&(key, code));
        }
        let key = self.key_mut(key);
        key.versions.retain(|other| *other != version);
        key.rows.values_mut().for_each(|row| row.retain(|other| *other != version));
        if key.initial == version {
            key.initial = NONE;
        }
        self.free_versions.push(version);
        self.count -= 1;
    }

    pub(super) fn note_read(&mut self, key: u32) {
        let key = &mut self.keys[key.to_usize()];
        key.is_read = true;
        self.has_read |= key.is_written;
    }

    pub(super) fn note_write(&mut self, key: u32) {
        let key = &mut self.keys[key.to_usize()];
        key.is_written = true;
        self.has_read |= key.is_read;
    }

    pub(super) fn keys(&self) -> usize {
        self.key_ids.len()
    }

    pub(super) fn all_keys(&self) -> impl Iterator<Item = u32> {
        (0..self.keys.len().to_u32()).filter(|key| self.keys[key.to_usize()].is_there)
    }

    /// The number of versions and ranges of all keys.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Adds a value to one of a key's sets.
    pub(super) fn keep_value(&mut self, key: u32, code: i64, set: impl Fn(&mut Key) -> &mut Ranges) {
        let set = set(&mut self.keys[key.to_usize()]);
        let before = set.len();
        set.insert(code);
        self.count = self.count + set.len() - before;
    }

    /// Discards a key except for its name. All its versions are removed by now, except the initial one.
    pub(super) fn drop_key(&mut self, key: u32) {
        let gone = std::mem::take(&mut self.keys[key.to_usize()]);
        debug_assert!(gone.versions.is_empty());
        self.count -= gone.dead.len() + gone.overwritten.len() + gone.failed.len() + gone.repeated.len();
        self.key_ids.remove(&gone.code);
        self.dropped.insert(gone.code);
        self.free_keys.push(key);
    }

    /// The code of a key, and a value of it that was read although no invocation writes it.
    pub(super) fn garbage(&self) -> Option<(i64, i64)> {
        let keys = self.all_keys().map(|key| self.key(key)).filter(|key| !key.is_renamed);
        let mut versions =
            keys.flat_map(|key| key.versions.iter().map(move |version| (key.code, self.version(*version))));
        versions.find(|(_, version)| version.kind == VersionKind::Unwritten).map(|(key, version)| (key, version.code))
    }
}
