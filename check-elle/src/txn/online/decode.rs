//! Decodes ops into micro-ops, with codes for values.

use history_core::{Interner, MopParts, Op, OpKind, Value};
use std::ops::Range;

/// The names and the kind of a workload's micro-ops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Vocabulary {
    pub(crate) write: &'static str,
    /// Whether a read returns one value, and not a list.
    pub(crate) is_register: bool,
}

/// A micro-op, with codes for values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mop {
    Write {
        key: i64,
        value: i64,
    },
    /// The values read are a range of the codes that come with the micro-ops: a list, or one value. The range is empty
    /// if they are unknown.
    Read {
        key: i64,
        seen: Range<usize>,
    },
}

impl Mop {
    /// The code of the key.
    pub(crate) fn key(&self) -> i64 {
        match self {
            Mop::Write { key, .. } | Mop::Read { key, .. } => *key,
        }
    }
}

/// The micro-ops of one op, in buffers that are reused.
#[derive(Debug)]
pub(crate) struct Decoder {
    vocabulary: Vocabulary,
    pub(crate) interner: Interner,
    pub(crate) mops: Vec<Mop>,
    /// The codes of all values read, in the order of the reads.
    pub(crate) codes: Vec<i64>,
    scratch: Vec<i64>,
}

impl Decoder {
    pub(crate) fn new(vocabulary: Vocabulary) -> Decoder {
        let (mops, codes, scratch) = (Vec::new(), Vec::new(), Vec::new());
        Decoder { vocabulary, interner: Interner::default(), mops, codes, scratch }
    }

    /// Decodes an op. Returns `None` if it is not an op of the workload; then the contents are unspecified.
    pub(crate) fn decode(&mut self, op: &Op<'_>) -> Option<()> {
        self.mops.clear();
        self.codes.clear();
        let items = match op.value {
            Value::Nil => return Some(()),
            Value::Vector(items) | Value::List(items) => items,
            _ => return None,
        };
        for parts in items.mops() {
            match parts {
                MopParts::Ints { name, key, value } => {
                    self.push(op.kind, name, Value::Int(key), value.map_or(Value::Nil, Value::Int))?;
                }
                MopParts::List { name, key, list } => {
                    self.push(op.kind, name, Value::Int(key), Value::Vector(list))?;
                }
                MopParts::Other(item) => {
                    let [f, key, value] = item.as_seq()?.as_array()?;
                    self.push(op.kind, f.as_name()?.as_bytes(), key, value)?;
                }
            }
        }
        Some(())
    }

    /// Adds a micro-op. Omits a read of an op that failed or may have failed. Returns `None` if it is malformed.
    #[inline]
    fn push(&mut self, kind: OpKind, name: &[u8], key: Value<'_>, value: Value<'_>) -> Option<()> {
        let key = self.interner.code(key);
        match name {
            // In a register, nil means that there is no value, so it cannot be written.
            write if write == self.vocabulary.write.as_bytes() => match value {
                Value::Nil if self.vocabulary.is_register => return None,
                value => self.mops.push(Mop::Write { key, value: self.interner.code(value) }),
            },
            b"r" => {
                let list = match value {
                    _ if self.vocabulary.is_register => None,
                    Value::Nil => None,
                    Value::Vector(list) | Value::List(list) => Some(list),
                    _ => return None,
                };
                if matches!(kind, OpKind::Fail | OpKind::Info) {
                    return Some(());
                }
                let start = self.codes.len();
                if self.vocabulary.is_register && kind == OpKind::Ok {
                    self.codes.push(self.interner.code(value));
                } else if let Some(list) = list.filter(|_| kind == OpKind::Ok) {
                    let list = self.interner.codes(list, &mut self.scratch);
                    self.codes.extend_from_slice(list);
                }
                self.mops.push(Mop::Read { key, seen: start..self.codes.len() });
            }
            _ => return None,
        }
        Some(())
    }
}

/// The writes among micro-ops, in their order.
pub(crate) fn writes(mops: &[Mop]) -> impl Iterator<Item = (i64, i64)> + Clone {
    mops.iter().filter_map(|mop| match mop {
        Mop::Write { key, value } => Some((*key, *value)),
        Mop::Read { .. } => None,
    })
}
