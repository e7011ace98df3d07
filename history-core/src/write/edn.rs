//! EDN text.

use crate::{Datum, Value};
use std::fmt::{Result, Write};

pub(crate) fn value(out: &mut impl Write, v: Value<'_>) -> Result {
    match v {
        Value::Nil => out.write_str("nil"),
        Value::Bool(b) => write!(out, "{b}"),
        Value::Int(i) => write!(out, "{i}"),
        Value::Big(text) => big(out, text),
        Value::Float(x) => float(out, x),
        Value::Char(c) => char(out, c),
        Value::Str(s) => string(out, s),
        Value::Keyword(s) => write!(out, ":{s}"),
        Value::Symbol(s) => out.write_str(s),
        Value::Vector(s) => all(out, "[", s.iter(), value, "]"),
        Value::List(s) => all(out, "(", s.iter(), value, ")"),
        Value::Set(s) => all(out, "#{", s.iter(), value, "}"),
        Value::Map(m) => all(out, "{", m, |out, (k, v)| pair(out, k, v, value), "}"),
        Value::Tagged(tag, inner) => {
            write!(out, "#{tag} ")?;
            value(out, inner.value())
        }
    }
}

pub(crate) fn datum(out: &mut impl Write, d: &Datum) -> Result {
    match d {
        Datum::Nil => out.write_str("nil"),
        Datum::Bool(b) => write!(out, "{b}"),
        Datum::Int(i) => write!(out, "{i}"),
        Datum::Big(text) => big(out, text),
        Datum::Float(x) => float(out, *x),
        Datum::Char(c) => char(out, *c),
        Datum::Str(s) => string(out, s),
        Datum::Keyword(s) => write!(out, ":{s}"),
        Datum::Symbol(s) => out.write_str(s),
        Datum::Vector(s) => all(out, "[", s, datum, "]"),
        Datum::List(s) => all(out, "(", s, datum, ")"),
        Datum::Set(s) => all(out, "#{", s, datum, "}"),
        Datum::Map(m) => all(out, "{", m, |out, (k, v)| pair(out, k, v, datum), "}"),
        Datum::Tagged(tag, inner) => {
            write!(out, "#{tag} ")?;
            datum(out, inner)
        }
    }
}

fn all<W: Write, T>(
    out: &mut W,
    open: &str,
    items: impl IntoIterator<Item = T>,
    each: impl Fn(&mut W, T) -> Result,
    close: &str,
) -> Result {
    out.write_str(open)?;
    let comma = open == "{";
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.write_str(if comma { ", " } else { " " })?;
        }
        each(out, item)?;
    }
    out.write_str(close)
}

fn pair<W: Write, T>(out: &mut W, key: T, value: T, each: impl Fn(&mut W, T) -> Result) -> Result {
    each(out, key)?;
    out.write_char(' ')?;
    each(out, value)
}

/// A keyword if it can be one, else a string.
pub(crate) fn name(out: &mut impl Write, name: &str) -> Result {
    let plain = |c: char| c.is_alphanumeric() || ".*+!-_?$%&=<>/".contains(c);
    if !name.is_empty() && name.chars().all(plain) { write!(out, ":{name}") } else { string(out, name) }
}

pub(crate) fn string(out: &mut impl Write, s: &str) -> Result {
    out.write_char('"')?;
    for c in s.chars() {
        match c {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\t' => out.write_str("\\t")?,
            '\r' => out.write_str("\\r")?,
            c if c.is_control() => write!(out, "\\u{:04x}", u32::from(c))?,
            c => out.write_char(c)?,
        }
    }
    out.write_char('"')
}

/// An integer too large for `i64` gets EDN's `N`; decimals and ratios stand as they were written.
fn big(out: &mut impl Write, text: &str) -> Result {
    out.write_str(text)?;
    if text.bytes().all(|b| b.is_ascii_digit() || b == b'-') { out.write_char('N') } else { Ok(()) }
}

pub(crate) fn float(out: &mut impl Write, x: f64) -> Result {
    if x.is_nan() {
        out.write_str("##NaN")
    } else if x.is_infinite() {
        out.write_str(if x > 0.0 { "##Inf" } else { "##-Inf" })
    } else {
        // Debug, unlike Display, keeps 1.0 a float.
        write!(out, "{x:?}")
    }
}

pub(crate) fn char(out: &mut impl Write, c: char) -> Result {
    match c {
        '\n' => out.write_str("\\newline"),
        '\r' => out.write_str("\\return"),
        ' ' => out.write_str("\\space"),
        '\t' => out.write_str("\\tab"),
        c if c.is_control() || c.is_whitespace() => write!(out, "\\u{:04x}", u32::from(c)),
        c => write!(out, "\\{c}"),
    }
}
