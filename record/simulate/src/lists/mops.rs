//! The micro-operations of a transaction: its requests, and the results of its reads.

use super::{ListId, Lists};
use crate::ids::index;
use std::fmt;

/// A micro-operation in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) list: ListId,
    pub(crate) action: Action,
}

/// The effect of a micro-operation on its list.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    Append(i64),
    Read(Seen),
}

/// The result of a read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seen {
    /// This number of items of the current list.
    Prefix(u32),
    /// These items of the transaction's copies, because the list may have changed since.
    Copy { from: u32, to: u32 },
}

impl Asked {
    pub(crate) fn is_append(self) -> bool {
        matches!(self.action, Action::Append(_))
    }
}

/// One micro-operation of a transaction over lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mop<'a> {
    /// Adds a value to the end of a key's list.
    Append {
        /// The key of the list.
        key: i64,
        /// The value, which differs from every other value appended to the key.
        value: i64,
    },
    /// Reads a key's list.
    Read {
        /// The key of the list.
        key: i64,
        /// The result; `None` unless the op is `ok`.
        list: Option<&'a [i64]>,
    },
}

/// The micro-operations of a transaction over lists, in order.
///
/// A view of the simulation, resolved as it is walked: nothing is copied.
#[derive(Clone, Copy)]
pub struct Mops<'a> {
    pub(crate) asked: &'a [Asked],
    pub(crate) lists: &'a Lists,
    pub(crate) copies: &'a [i64],
    /// Whether to show the results of reads.
    pub(crate) shown: bool,
}

impl<'a> Mops<'a> {
    /// The number of micro-operations; at least one.
    #[expect(clippy::len_without_is_empty, reason = "a transaction is never empty")]
    pub fn len(self) -> usize {
        self.asked.len()
    }

    /// All micro-operations, in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Mop<'a>> + Clone {
        self.asked.iter().map(move |asked| self.resolve(*asked))
    }

    fn resolve(self, asked: Asked) -> Mop<'a> {
        let list = self.lists.get(asked.list);
        let key = list.key;
        match asked.action {
            Action::Append(value) => Mop::Append { key, value },
            Action::Read(_) if !self.shown => Mop::Read { key, list: None },
            Action::Read(Seen::Prefix(len)) => Mop::Read { key, list: Some(&list.items[..index(len)]) },
            Action::Read(Seen::Copy { from, to }) => {
                Mop::Read { key, list: Some(&self.copies[index(from)..index(to)]) }
            }
        }
    }
}

impl fmt::Debug for Mops<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
