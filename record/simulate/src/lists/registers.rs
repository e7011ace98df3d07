//! Transactions over registers: of each list, only the last value is shown.

use super::mops::{Mop, Mops};
use std::fmt;

/// One micro-operation of a transaction over registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterMop {
    /// Writes a value to a register.
    Write {
        /// The key of the register.
        key: i64,
        /// The value, which differs from every other value written to the register.
        value: i64,
    },
    /// Reads a register.
    Read {
        /// The key of the register.
        key: i64,
        /// The result; `None` if nothing was written yet, and always unless the op is `ok`.
        value: Option<i64>,
    },
}

/// The micro-operations of a transaction over registers, in order.
///
/// A view of the simulation, resolved as it is walked: nothing is copied.
#[derive(Clone, Copy)]
pub struct RegisterMops<'a>(pub(crate) Mops<'a>);

impl<'a> RegisterMops<'a> {
    /// The number of micro-operations; at least one.
    #[expect(clippy::len_without_is_empty, reason = "a transaction is never empty")]
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// All micro-operations, in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = RegisterMop> + Clone + use<'a> {
        self.0.iter().map(|mop| match mop {
            Mop::Append { key, value } => RegisterMop::Write { key, value },
            Mop::Read { key, list } => RegisterMop::Read { key, value: list.and_then(|list| list.last().copied()) },
        })
    }
}

impl fmt::Debug for RegisterMops<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
