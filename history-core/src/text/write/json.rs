//! JSON text: values of EDN without a JSON form become the most similar JSON value.

use super::edn;
use crate::{Seq, Value};
use std::fmt::{Result, Write};

pub(crate) fn value(out: &mut String, v: Value<'_>) -> Result {
    match v {
        Value::Nil => out.push_str("null"),
        Value::Bool(b) => write!(out, "{b}")?,
        Value::Int(i) => write!(out, "{i}")?,
        // Ratios and decimals are not JSON numbers.
        Value::Big(text) if text.bytes().all(|b| b.is_ascii_digit() || b == b'-') => out.push_str(text),
        Value::Big(text) => string(out, text)?,
        Value::Float(x) if x.is_finite() => write!(out, "{x:?}")?,
        Value::Float(x) => {
            // The same words as Python's `json` writes and the reader accepts.
            out.push_str(if x.is_nan() {
                "NaN"
            } else if x > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            });
        }
        Value::Char(c) => string(out, c.encode_utf8(&mut [0; 4]))?,
        Value::Str(s) | Value::Keyword(s) | Value::Symbol(s) => string(out, s)?,
        Value::Set(s) => set(out, s)?,
        Value::Vector(s) | Value::List(s) => {
            out.push('[');
            for (i, item) in s.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                value(out, item)?;
            }
            out.push(']');
        }
        Value::Map(m) => {
            out.push('{');
            for (i, (k, v)) in m.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                key(out, k)?;
                out.push(':');
                value(out, v)?;
            }
            out.push('}');
        }
        Value::Tagged(_, inner) => value(out, inner.value())?,
    }
    Ok(())
}

/// A set as an array, in an order that is the same for all equal sets: numbers, then other values.
fn set(out: &mut String, items: Seq<'_>) -> Result {
    let mut texts = Vec::with_capacity(items.len());
    for item in items {
        let mut text = String::new();
        value(&mut text, item)?;
        let number = if let Value::Int(number) = item { Some(number) } else { None };
        texts.push((number.is_none(), number, text));
    }
    texts.sort_unstable();
    out.push('[');
    for (i, (_, _, text)) in texts.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        out.push_str(text);
    }
    out.push(']');
    Ok(())
}

/// Writes a key, which must be a string in JSON.
pub(crate) fn key(out: &mut String, k: Value<'_>) -> Result {
    match k.as_name() {
        Some(name) => string(out, name),
        None => string(out, &k.to_string()),
    }
}

/// Writes a string with the same escapes as EDN.
pub(crate) fn string(out: &mut String, s: &str) -> Result {
    edn::string(out, s)
}
