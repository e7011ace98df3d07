//! Micro-ops: whether the completion of a transaction has those of its invocation.

use super::findings::{Findings, Remark};
use super::rule::Rule;
use crate::hash::HashMap;
use crate::{Datum, Position, Value};
use std::collections::hash_map::Entry;
use std::fmt;
use std::hash::Hash;

/// The function of a micro-op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MopF {
    Read,
    Write,
    Append,
}

/// A micro-op. A read has no value: the value that an invocation expects to read is ignored.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mop {
    f: MopF,
    key: Datum,
    value: Datum,
}

impl fmt::Display for Mop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.f {
            MopF::Read => write!(f, "[:r {} ...]", self.key),
            MopF::Write => write!(f, "[:w {} {}]", self.key, self.value),
            MopF::Append => write!(f, "[:append {} {}]", self.key, self.value),
        }
    }
}

/// Puts the micro-ops of a transaction's value into `mops`. Returns false if the value is not a list of micro-ops.
pub(super) fn read(value: Value<'_>, mops: &mut Vec<Mop>) -> bool {
    mops.clear();
    let Some(items) = value.as_seq() else { return false };
    mops.extend(items.iter().map_while(mop));
    mops.len() == items.len()
}

fn mop(value: Value<'_>) -> Option<Mop> {
    let mut parts = value.as_seq()?.iter();
    let (f, key, value) = (parts.next()?, parts.next()?, parts.next()?);
    let f = match f.as_name()? {
        "r" | "read" => MopF::Read,
        "w" | "write" => MopF::Write,
        "append" => MopF::Append,
        _ => return None,
    };
    let value = if f == MopF::Read { Datum::Nil } else { value.to_datum() };
    parts.next().is_none().then(|| Mop { f, key: key.to_datum(), value })
}

/// How a completion's micro-ops differ from its invocation's, if they do.
pub(super) fn difference(invoked: &[Mop], completed: &[Mop]) -> Option<String> {
    if invoked.len() != completed.len() {
        return Some(format!("this completion has {} micro-ops, its invocation {}", completed.len(), invoked.len()));
    }
    let at = invoked.iter().zip(completed).position(|(invoked, completed)| invoked != completed)?;
    Some(format!("micro-op {} of this completion is {}, of its invocation {}", at + 1, completed[at], invoked[at]))
}

/// The writes of each key, and the types of keys.
#[derive(Default)]
pub(super) struct Written {
    /// For each key and value that are integers, the line of the write.
    ints: HashMap<(i64, i64), u64>,
    /// The same for all other keys and values, by their text.
    others: HashMap<Box<str>, u64>,
    /// The type of the first key, and its line.
    key_kind: Option<(&'static str, u64)>,
}

impl Written {
    /// Records what an op's micro-ops wrote, and reports writes that must not occur.
    pub(super) fn add(&mut self, mops: &[Mop], position: Position, text: (&str, u64), findings: &mut Findings) {
        for mop in mops {
            self.key(&mop.key, position, text, findings);
            if mop.f == MopF::Read {
                continue;
            }
            let before = match (&mop.key, &mop.value) {
                (Datum::Int(key), Datum::Int(value)) => note(&mut self.ints, (*key, *value), position.line),
                (key, value) => note(&mut self.others, format!("{key} {value}").into_boxed_str(), position.line),
            };
            if let Some(line) = before {
                findings.add(Rule::DuplicateWrite, Some(position), text, || {
                    Remark::new(format!(
                        "{mop} was already written in line {line}: which of the two a read saw is ambiguous"
                    ))
                    .expected("each value at most once per key")
                });
            }
        }
    }

    fn key(&mut self, key: &Datum, position: Position, text: (&str, u64), findings: &mut Findings) {
        let kind = kind(key);
        let (first, line) = *self.key_kind.get_or_insert((kind, position.line));
        // This problem is reported once: neither of the two types is the wrong one.
        if first != kind && findings.of(Rule::MixedKeys) == 0 {
            findings.add(Rule::MixedKeys, Some(position), text, || {
                Remark::new(format!("the key {key} is {kind}, but a key in line {line} is {first}"))
                    .expected("keys of one type; 1 and \"1\" are different keys")
            });
        }
    }
}

/// Records the line of a write. Returns the line of the same write before it, if there was one.
fn note<K: Hash + Eq>(written: &mut HashMap<K, u64>, write: K, line: u64) -> Option<u64> {
    match written.entry(write) {
        Entry::Occupied(before) => Some(*before.get()),
        Entry::Vacant(first) => {
            first.insert(line);
            None
        }
    }
}

fn kind(key: &Datum) -> &'static str {
    match key {
        Datum::Nil => "nil",
        Datum::Int(_) | Datum::Big(_) => "an integer",
        Datum::Str(_) => "a string",
        Datum::Keyword(_) => "a keyword",
        Datum::Symbol(_) => "a symbol",
        Datum::Bool(_) => "a boolean",
        Datum::Float(_) => "a float",
        Datum::Char(_) => "a character",
        Datum::Vector(_) | Datum::List(_) | Datum::Set(_) | Datum::Map(_) | Datum::Tagged(..) => "a collection",
    }
}
