//! Detects different values that would become equal: JSON has strings where EDN has keywords, symbols, characters and
//! more, and it has no tags.

use history_core::{ErrorKind, HistoryError, Op, Seq, Value};
use std::borrow::Cow;
use std::collections::HashMap;

/// The kinds of the values so far that become strings in JSON, by their text.
#[derive(Default)]
pub(super) struct Names {
    values: Kinds,
    /// The kinds of keys of maps, which all become strings.
    keys: Kinds,
}

/// The kind of value for each text.
type Kinds = HashMap<String, Cow<'static, str>>;

/// The functions of micro-ops, whose names may be of any kind.
const MICRO_OPS: [&str; 12] =
    ["r", "w", "append", "read", "write", "insert", "delete", "rp", "send", "poll", "assign", "subscribe"];

impl Names {
    /// Rejects an op with a value that would become equal to a different one.
    pub(super) fn verify(&mut self, op: &Op<'_>) -> Result<(), HistoryError> {
        if op.process.is_client() {
            verify_keys(op)?;
        }
        let mut open = vec![op.value];
        open.extend(op.extra.iter().map(|(_, value)| value));
        while let Some(value) = open.pop() {
            match value {
                Value::Str(_) | Value::Keyword(_) | Value::Symbol(_) | Value::Char(_) | Value::Big(_) => {
                    if let Some(text) = as_string(value) {
                        note(&mut self.values, text, value.kind().into(), op)?;
                    }
                }
                Value::Vector(items) | Value::List(items) | Value::Set(items) => {
                    for item in items {
                        match item {
                            Value::Vector(mop) | Value::List(mop) if is_micro_op(mop) => {
                                open.extend(mop.iter().skip(1));
                            }
                            item => open.push(item),
                        }
                    }
                }
                Value::Map(entries) => {
                    for (key, value) in entries {
                        let text = as_string(key).unwrap_or_else(|| key.to_string().into());
                        note(&mut self.keys, text, key.kind().into(), op)?;
                        open.extend([key, value]);
                    }
                }
                Value::Tagged(tag, inner) => match inner.value() {
                    // Tuples and records: different ones have different parts.
                    parts @ (Value::Vector(_) | Value::List(_) | Value::Set(_) | Value::Map(_)) => {
                        open.push(parts);
                    }
                    inner => match as_string(inner) {
                        Some(text) => note(&mut self.values, text, format!("a #{tag}").into(), op)?,
                        None => return Err(refused(op, &format!("JSON has no tags, and {value} would be {inner}"))),
                    },
                },
                Value::Nil | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
            }
        }
        Ok(())
    }
}

/// Rejects a map with a key that is neither an integer nor a string in JSON: as a key, it would become a string.
fn verify_keys(op: &Op<'_>) -> Result<(), HistoryError> {
    let mut open = vec![op.value];
    while let Some(value) = open.pop() {
        match value {
            Value::Vector(items) | Value::List(items) | Value::Set(items) => open.extend(items),
            Value::Map(entries) => {
                for (key, value) in entries {
                    if !matches!(key, Value::Int(_)) && as_string(key).is_none() {
                        let why = format!("{key} is a key of a map, and JSON has only strings as keys");
                        return Err(refused(op, &why));
                    }
                    open.push(value);
                }
            }
            Value::Tagged(_, inner) => open.push(inner.value()),
            _ => {}
        }
    }
    Ok(())
}

/// Returns true if this is a micro-op such as `[name key value]`. A pair may also be an element of a list.
fn is_micro_op(parts: Seq<'_>) -> bool {
    parts.len() > 2 && parts.iter().next().and_then(Value::as_name).is_some_and(|name| MICRO_OPS.contains(&name))
}

/// The string that a value becomes in JSON, if it becomes one.
fn as_string(value: Value<'_>) -> Option<Cow<'_, str>> {
    match value {
        Value::Char(c) => Some(c.to_string().into()),
        Value::Big(text) if value.as_wide_int().is_none() => Some(text.into()),
        _ => value.as_name().map(Cow::Borrowed),
    }
}

/// Rejects an op with a text that was a value of another kind before: in JSON both would be the same string.
fn note(kinds: &mut Kinds, text: Cow<'_, str>, kind: Cow<'static, str>, op: &Op<'_>) -> Result<(), HistoryError> {
    match kinds.get(&*text) {
        Some(known) if *known == kind => Ok(()),
        Some(known) => {
            Err(refused(op, &format!("{text} is {kind} here and {known} before; JSON cannot distinguish them")))
        }
        None => {
            kinds.insert(text.into_owned(), kind);
            Ok(())
        }
    }
}

fn refused(op: &Op<'_>, why: &str) -> HistoryError {
    let message = format!("the op with index {} cannot be written: {why}", op.index);
    let error = HistoryError::new(ErrorKind::Unexpected, message).expected("edn as the format");
    match op.position {
        Some(position) => error.at(position),
        None => error,
    }
}
