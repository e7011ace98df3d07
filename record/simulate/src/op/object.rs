//! The content of an op on an object, borrowed from the simulation.

use crate::lists::registers::RegisterMop;
use std::fmt;

/// The request to an object, or its result.
#[derive(Clone, Copy, Debug)]
pub struct ObjectOp<'a> {
    /// The key of the object; `None` if there is only one object, or if the value contains the key.
    pub key: Option<ObjectKey>,
    /// The argument, or the result.
    pub value: ObjectValue<'a>,
    /// The version written or read, of registers that have versions.
    pub write_id: Option<WriteId>,
    /// The version that a write is to replace.
    pub prev_write_id: Option<WriteId>,
}

/// The name of an object, and its place in an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKey {
    /// Before the value: `[key value]`, as Jepsen's independent tests do.
    InValue(i64),
    /// In a field of the op, as a number.
    Field(i64),
    /// In a field of the op, as a string.
    NamedField(i64),
}

/// An argument or a result.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ObjectValue<'a> {
    /// No value.
    Nil,
    /// A number.
    Int(i64),
    /// The expected value, and its replacement.
    Cas(i64, i64),
    /// The elements of a set, in increasing order.
    Set(&'a [i64]),
    /// A string.
    Text(&'a str),
    /// The text that is put or appended to a string: the number, and a comma.
    Piece(i64),
    /// The micro-operations of a transaction. Their reads have values only if the op is `ok`.
    Mops {
        /// The micro-operations in order.
        mops: &'a [RegisterMop],
        /// Whether the results of reads are known.
        shown: bool,
    },
    /// Elements in the order in which they were found, some perhaps twice.
    List(&'a [i64]),
    /// The balance of each account of a bank, in the order of accounts from 0.
    Balances(&'a [i64]),
    /// A transfer between two accounts of a bank.
    Transfer {
        /// The account from which the amount is taken.
        from: u32,
        /// The account to which the amount is added.
        to: u32,
        /// The amount, above 0.
        amount: i64,
    },
    /// Micro-operations on keys of one group, all reads or one write. Reads have values only if the op is `ok`.
    Group {
        /// The micro-operations in any order.
        mops: &'a [RegisterMop],
        /// Whether the results of reads are known.
        shown: bool,
    },
    /// A key, and the number of one of its subkeys.
    Subkey(i64, u32),
    /// A key, and the numbers of its subkeys that were found, the last one first. A negative number represents a subkey
    /// that was not found.
    Subkeys(i64, &'a [i64]),
    /// An id.
    Id(WriteId),
    /// The owner that acquires or releases, by number of the client: it stays the same when the process changes.
    Owner(u32),
}

/// The id of a version. Written as a UUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WriteId(pub u128);

impl WriteId {
    /// Before every write.
    pub const INITIAL: WriteId = WriteId(0);

    /// The 36 characters of the id.
    pub(crate) fn text(self) -> [u8; 36] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [b'-'; 36];
        let mut at = 0;
        for nibble in 0..32 {
            if matches!(nibble, 8 | 12 | 16 | 20) {
                at += 1;
            }
            text[at] = DIGITS[(self.0 >> (124 - 4 * nibble)) as usize & 15];
            at += 1;
        }
        text
    }
}

impl fmt::Display for WriteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text();
        f.pad(std::str::from_utf8(&text).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_form_of_uuids() {
        assert_eq!(WriteId::INITIAL.to_string(), "00000000-0000-0000-0000-000000000000");
        let id = WriteId(0x0123_4567_89ab_cdef_fedc_ba98_7654_3210);
        assert_eq!(id.to_string(), "01234567-89ab-cdef-fedc-ba9876543210");
    }
}
