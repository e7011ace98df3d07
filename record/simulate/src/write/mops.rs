//! Micro-operations as text: the same lists in EDN and in JSON, but for a few signs.

use super::Text;
use crate::op::Mop;
use crate::registers::{RegisterMop, RegisterMops};
use crate::store::Mops;

/// What differs between the notations.
pub(super) struct Notation {
    /// How an append begins.
    append: &'static [u8],
    /// How a write begins.
    write: &'static [u8],
    /// How a read begins.
    read: &'static [u8],
    /// Between the items of a list.
    between: u8,
    nil: &'static [u8],
}

pub(super) const EDN: Notation =
    Notation { append: b"[:append ", write: b"[:w ", read: b"[:r ", between: b' ', nil: b"nil" };

pub(super) const JSON: Notation =
    Notation { append: b"[\"append\",", write: b"[\"w\",", read: b"[\"r\",", between: b',', nil: b"null" };

pub(super) fn list_mops(text: &mut Text, notation: &Notation, mops: Mops<'_>) {
    all(text, notation, mops.iter(), |text, mop| match mop {
        Mop::Append { key, value } => change(text, notation, notation.append, key, value),
        Mop::Read { key, list } => {
            read(text, notation, key);
            match list {
                None => text.put(notation.nil),
                Some(list) => {
                    text.put(b"[");
                    text.ints(list, notation.between);
                    text.put(b"]");
                }
            }
        }
    });
}

pub(super) fn register_mops(text: &mut Text, notation: &Notation, mops: RegisterMops<'_>) {
    all(text, notation, mops.iter(), |text, mop| match mop {
        RegisterMop::Write { key, value } => change(text, notation, notation.write, key, value),
        RegisterMop::Read { key, value } => {
            read(text, notation, key);
            match value {
                None => text.put(notation.nil),
                Some(value) => text.int(value),
            }
        }
    });
}

/// A list of what `one` writes; it leaves the closing bracket to be written here.
fn all<M>(text: &mut Text, notation: &Notation, mops: impl Iterator<Item = M>, one: impl Fn(&mut Text, M)) {
    text.put(b"[");
    for (i, mop) in mops.enumerate() {
        if i > 0 {
            text.put(&[notation.between]);
        }
        one(text, mop);
        text.put(b"]");
    }
    text.put(b"]");
}

fn change(text: &mut Text, notation: &Notation, begin: &[u8], key: i64, value: i64) {
    text.put(begin);
    text.ints(&[key, value], notation.between);
}

fn read(text: &mut Text, notation: &Notation, key: i64) {
    text.put(notation.read);
    text.int(key);
    text.put(&[notation.between]);
}
