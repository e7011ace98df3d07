//! The micro-ops of an op as codes, before keys and values are looked up.
//!
//! Lookups of keys and values miss the cache, so they are done for many operations together ([`super::block`]), and for
//! an invocation only if it has no completion.

use super::Holds;
use history_core::cast::Cast as _;
use history_core::{Interner, MopParts, Op, OpKind, Seq, Value};

/// A micro-op with the codes of its key and value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawMop {
    pub(super) key: i64,
    pub(super) act: Act,
}

/// What a micro-op does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Writes or appends the value with this code.
    Write(i64),
    /// Reads the value with this code; nil may also be the value of a list.
    Read(i64),
    /// Reads a list with this number of elements, which are the next ones in [`RawOp::elements`].
    List(u32),
    /// Reads an unknown value.
    Unseen,
}

impl RawMop {
    pub(super) fn is_write(self) -> bool {
        matches!(self.act, Act::Write(_))
    }
}

/// The micro-ops of one op.
#[derive(Clone, Debug, Default)]
pub(super) struct RawOp {
    pub(super) mops: Vec<RawMop>,
    /// The elements of lists that were read.
    pub(super) elements: Vec<i64>,
}

/// Why an op cannot be decoded.
#[derive(Clone, Debug)]
pub(super) struct Undecoded {
    pub(super) reason: String,
    /// Whether the part that could not be decoded may be a write.
    pub(super) may_write: bool,
    /// Whether it may be something other than an append, which may empty a list.
    pub(super) may_reset: bool,
    /// Whether the op is not a list of micro-ops at all, so that none is known.
    pub(super) is_whole: bool,
}

impl Undecoded {
    /// The fault of an op whose micro-ops are all known.
    pub(super) fn known(reason: String) -> Undecoded {
        Undecoded { reason, may_write: false, may_reset: false, is_whole: false }
    }
}

/// The forms of micro-ops, for messages.
const MOPS: &str = "[:r key value], [:w key value] of a value other than nil, or [:append key value]";

/// Decodes micro-ops, given the initial value of registers.
#[derive(Clone, Debug)]
pub(super) struct RawReader {
    /// The code of the initial value of registers.
    pub(super) initial: i64,
}

impl RawReader {
    /// Adds the micro-ops of an op to `into`. Those that can be decoded are added even if others cannot.
    pub(super) fn read(
        &self,
        op: &Op<'_>,
        interner: &mut Interner,
        holds: &mut Option<Holds>,
        into: &mut RawOp,
    ) -> Result<(), Undecoded> {
        let items = match op.value {
            Value::Nil => return Ok(()),
            Value::Vector(items) | Value::List(items) => items,
            other => {
                let reason = format!("the op's value is not a list of micro-ops, but {other}; expected {MOPS}");
                return Err(Undecoded { reason, may_write: true, may_reset: true, is_whole: true });
            }
        };
        let mut wrong = Ok(());
        for (at, parts) in items.mops().enumerate() {
            let mop = match parts {
                MopParts::Ints { name, key, value } => {
                    let value = value.map_or(Value::Nil, Value::Int);
                    self.mop(op.kind, (name, Value::Int(key), value), interner, holds, &mut into.elements)
                }
                MopParts::List { name, key, list } => {
                    let parts = (name, Value::Int(key), Value::Vector(list));
                    self.mop(op.kind, parts, interner, holds, &mut into.elements)
                }
                MopParts::Other(item) => item.as_seq().and_then(Seq::as_array).and_then(|[name, key, value]| {
                    let parts = (name.as_name()?.as_bytes(), key, value);
                    self.mop(op.kind, parts, interner, holds, &mut into.elements)
                }),
            };
            match mop {
                Some(mop) => into.mops.push(mop),
                None => no_mop(items.iter().nth(at).unwrap_or(Value::Nil), *holds, &mut wrong),
            }
        }
        wrong
    }

    /// The micro-op of a name, a key and a value.
    #[inline]
    fn mop(
        &self,
        kind: OpKind,
        (name, key, value): (&[u8], Value<'_>, Value<'_>),
        interner: &mut Interner,
        holds: &mut Option<Holds>,
        elements: &mut Vec<i64>,
    ) -> Option<RawMop> {
        let act = match (name, value) {
            (b"r", _) if kind != OpKind::Ok => Act::Unseen,
            (b"r", Value::Nil) => Act::Read(Interner::NIL),
            (b"r", Value::Vector(items) | Value::List(items)) if *holds != Some(Holds::Registers) => {
                *holds = Some(Holds::Lists);
                let from = elements.len();
                elements.extend(items.iter().map(|item| interner.code(item)));
                Act::List((elements.len() - from).to_u32())
            }
            (b"r", value) if *holds.get_or_insert(Holds::Registers) == Holds::Registers => {
                Act::Read(interner.code(value))
            }
            // Nil means that there is no value.
            (b"w", Value::Nil) => return None,
            (b"w", value) if *holds.get_or_insert(Holds::Registers) == Holds::Registers => {
                Act::Write(Some(interner.code(value)).filter(|code| *code != self.initial)?)
            }
            (b"append", value) if *holds.get_or_insert(Holds::Lists) == Holds::Lists => {
                Act::Write(interner.code(value))
            }
            _ => return None,
        };
        Some(RawMop { key: interner.code(key), act })
    }
}

/// Records that an item is not a micro-op. An item whose name is that of a read writes nothing.
#[cold]
fn no_mop(item: Value<'_>, holds: Option<Holds>, wrong: &mut Result<(), Undecoded>) {
    let name = item.as_seq().and_then(|parts| parts.iter().next()).and_then(Value::as_name);
    let may_write = name != Some("r");
    let may_reset = may_write && name != Some("append");
    match wrong {
        Ok(()) => *wrong = Err(Undecoded { reason: why_no_mop(item, holds), may_write, may_reset, is_whole: false }),
        Err(undecoded) => {
            undecoded.may_write |= may_write;
            undecoded.may_reset |= may_reset;
        }
    }
}

fn why_no_mop(item: Value<'_>, holds: Option<Holds>) -> String {
    let f = item.as_seq().and_then(|parts| parts.iter().next()).and_then(|f| f.as_name().map(str::to_owned));
    match (holds, f.as_deref()) {
        (Some(Holds::Registers), Some("w")) => {
            format!("{item} writes the initial value, or is not a micro-op; expected {MOPS}")
        }
        (Some(Holds::Registers), Some("append")) => {
            format!("{item} appends to a list, but other ops, or --initial, are about registers")
        }
        (Some(Holds::Lists), Some("w")) => format!("{item} writes a register, but other ops use lists"),
        (Some(Holds::Lists), Some("r")) => format!("expected a list in {item}, as in other ops"),
        _ => format!("{item} is not a micro-op; expected {MOPS}"),
    }
}
