//! Ops as micro-ops, with codes for values.

use history_core::{Interner, Op, OpKind, Value};
use std::ops::Range;

/// A micro-op, with codes for values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mop {
    Append {
        key: i64,
        value: i64,
    },
    /// The list is a range of the codes that come with the micro-ops.
    Read {
        key: i64,
        list: Range<usize>,
    },
}

/// The micro-ops of one op, in memory that is used again.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    pub(super) interner: Interner,
    pub(super) mops: Vec<Mop>,
    /// The lists that were read, one after another.
    pub(super) codes: Vec<i64>,
    scratch: Vec<i64>,
}

impl Decoder {
    /// Decodes an op. `None` if it is not one of list-append; then nothing is said of it.
    pub(super) fn decode(&mut self, op: &Op<'_>) -> Option<()> {
        self.mops.clear();
        self.codes.clear();
        let items = match op.value {
            Value::Nil => return Some(()),
            Value::Vector(items) | Value::List(items) => items,
            _ => return None,
        };
        for item in items {
            self.push(op.kind, item)?;
        }
        Some(())
    }

    /// Adds a micro-op, unless it is a read that shows nothing.
    fn push(&mut self, kind: OpKind, item: Value<'_>) -> Option<()> {
        let mut parts = item.as_seq()?.iter();
        let (Some(f), Some(key), Some(value), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
            return None;
        };
        let key = self.interner.code(key);
        match f.as_name()? {
            "append" => self.mops.push(Mop::Append { key, value: self.interner.code(value) }),
            "r" => {
                let list = match value {
                    Value::Nil => None,
                    Value::Vector(list) | Value::List(list) => Some(list),
                    _ => return None,
                };
                if matches!(kind, OpKind::Fail | OpKind::Info) {
                    return Some(());
                }
                let start = self.codes.len();
                if let Some(list) = list.filter(|_| kind == OpKind::Ok) {
                    let list = self.interner.codes(list, &mut self.scratch);
                    self.codes.extend_from_slice(list);
                }
                self.mops.push(Mop::Read { key, list: start..self.codes.len() });
            }
            _ => return None,
        }
        Some(())
    }
}

/// What micro-ops append, in their order.
pub(super) fn appends(mops: &[Mop]) -> impl Iterator<Item = (i64, i64)> {
    mops.iter().filter_map(|mop| match mop {
        Mop::Append { key, value } => Some((*key, *value)),
        Mop::Read { .. } => None,
    })
}
