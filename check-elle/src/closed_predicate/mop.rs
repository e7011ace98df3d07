//! Micro-ops, and the results of predicate reads, as columns.

use super::predicate::Predicate;
use crate::ids::KeyId;
use history_core::cast::Cast as _;

/// How a key was mutated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// By the op that created the universe.
    Init,
    Insert,
    Write,
    Delete,
}

/// A micro-op. Contents are codes; the code of nil represents absence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mop {
    Mutate {
        key: KeyId,
        code: i64,
        how: How,
    },
    Read {
        key: KeyId,
        code: i64,
    },
    /// A read whose result is unknown.
    Unseen {
        key: KeyId,
    },
    /// A predicate read: a row of [`Selects`].
    Select(u32),
}

impl Mop {
    /// The key; `None` for a predicate read.
    pub(super) fn key(self) -> Option<KeyId> {
        match self {
            Mop::Mutate { key, .. } | Mop::Read { key, .. } | Mop::Unseen { key } => Some(key),
            Mop::Select(_) => None,
        }
    }
}

/// All predicate reads.
#[derive(Debug, Default)]
pub(crate) struct Selects {
    predicates: Vec<Predicate>,
    /// The end of each result in `shown`, and whether the result is known. The ends are nondecreasing.
    ends: Vec<(u32, bool)>,
    /// The keys and codes of all results; those of one predicate read are in ascending order of keys.
    shown: Vec<(KeyId, i64)>,
}

impl Selects {
    /// Adds a row for a predicate read with this result.
    pub(super) fn push(&mut self, predicate: Predicate, shown: Option<&[(KeyId, i64)]>) -> Mop {
        self.shown.extend_from_slice(shown.unwrap_or_default());
        self.predicates.push(predicate);
        self.ends.push((self.shown.len().to_u32(), shown.is_some()));
        Mop::Select((self.predicates.len() - 1).to_u32())
    }

    pub(super) fn len(&self) -> usize {
        self.predicates.len() + self.shown.len()
    }

    pub(super) fn predicate(&self, row: u32) -> Predicate {
        self.predicates[row.to_usize()]
    }

    /// The result of a predicate read, if it is known.
    pub(super) fn shown(&self, row: u32) -> Option<&[(KeyId, i64)]> {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before.to_usize()].0);
        let (end, is_known) = self.ends[row.to_usize()];
        is_known.then(|| &self.shown[start.to_usize()..end.to_usize()])
    }

    /// Returns true if some predicate can only be evaluated for integers.
    pub(super) fn take_integers(&self) -> bool {
        self.predicates.iter().any(|predicate| predicate.takes_integers())
    }
}
