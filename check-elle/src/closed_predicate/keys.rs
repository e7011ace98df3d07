//! The versions of each key: its first version, and all mutations.

use crate::ids::{KeyId, TxnId};
use history_core::cast::Cast as _;
use history_core::hash::HashMap;
use history_core::{Interner, KeySpelling};

/// The status of a mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Other transactions may have observed it: its transaction happened or may have happened.
    External,
    /// Its transaction mutated the key again.
    Intermediate,
    /// Its transaction failed.
    Failed,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Mutation {
    pub(crate) txn: TxnId,
    /// The position of the micro-op.
    pub(crate) mop: u32,
    /// Nil for a deletion.
    pub(crate) code: i64,
    pub(crate) fate: Fate,
}

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) code: i64,
    pub(super) spelling: KeySpelling,
    /// Whether it is excluded from the check.
    pub(crate) left_out: bool,
    /// The mutation that created the key with the universe; `None` if the key is initially absent.
    pub(crate) base: Option<Mutation>,
    /// All other mutations, in the order of the history.
    pub(crate) mutations: Vec<Mutation>,
}

impl Key {
    /// The first value; nil if the key was absent.
    pub(crate) fn base_code(&self) -> i64 {
        self.base.map_or(Interner::NIL, |base| base.code)
    }

    /// The mutations that other transactions may have observed.
    pub(crate) fn external(&self) -> impl Iterator<Item = &Mutation> + Clone {
        self.mutations.iter().filter(|mutation| mutation.fate == Fate::External)
    }

    /// Returns true if the order of the versions is known: there is a first one, and at most one other.
    pub(crate) fn is_ordered(&self) -> bool {
        self.external().nth(1).is_none()
    }

    /// Returns true if the key was ever written.
    pub(crate) fn is_written(&self) -> bool {
        self.base.is_some() || !self.mutations.is_empty()
    }
}

/// All keys.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    pub(crate) keys: Vec<Key>,
    by_code: HashMap<i64, KeyId>,
}

impl Keys {
    /// The key with this code, created if it is new.
    pub(super) fn id(&mut self, code: i64) -> KeyId {
        *self.by_code.entry(code).or_insert_with(|| {
            let spelling = KeySpelling::default();
            self.keys.push(Key { code, spelling, left_out: false, base: None, mutations: Vec::new() });
            KeyId::new(self.keys.len() - 1)
        })
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = KeyId> + use<> {
        (0..self.keys.len()).map(KeyId::new)
    }

    pub(crate) fn of(&self, key: KeyId) -> &Key {
        &self.keys[key.at()]
    }

    /// Adds a mutation by the current transaction.
    pub(super) fn mutate(&mut self, key: KeyId, (txn, mop): (TxnId, usize), code: i64, failed: bool) {
        let mutations = &mut self.keys[key.at()].mutations;
        if let Some(last) = mutations.last_mut().filter(|last| last.txn == txn && last.fate == Fate::External) {
            last.fate = Fate::Intermediate;
        }
        let fate = if failed { Fate::Failed } else { Fate::External };
        mutations.push(Mutation { txn, mop: mop.to_u32(), code, fate });
    }

    /// Makes the mutations of a transaction the first versions: it created the universe.
    pub(super) fn found_universe(&mut self, txn: TxnId) {
        for key in &mut self.keys {
            if let Some(at) = key.mutations.iter().position(|mutation| mutation.txn == txn) {
                key.base = Some(key.mutations.remove(at));
            }
        }
    }
}
