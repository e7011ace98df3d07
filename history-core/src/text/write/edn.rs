//! EDN text. Its strings contain no character for which [`visible::is_hidden`] is true: each has an escape.
//!
//! Names have no escapes. A [`Datum`], the type of values in reports, shows a name with such a character as a string; a
//! history that is written keeps it unchanged, because a keyword and a string are not the same value.

use crate::text::syntax::is_name;
use crate::visible::{self, is_hidden};
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
        Value::Keyword(s) => keyword(out, s),
        Value::Symbol(s) => symbol(out, s),
        Value::Vector(s) => all(out, "[", s.iter(), value, "]"),
        Value::List(s) => all(out, "(", s.iter(), value, ")"),
        Value::Set(s) => all(out, "#{", s.iter(), value, "}"),
        Value::Map(m) => all(out, "{", m, |out, (k, v)| pair(out, k, v, value), "}"),
        Value::Tagged(name, inner) => {
            tag(out, name)?;
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
        Datum::Char(c) => shown_char(out, *c),
        Datum::Str(s) => string(out, s),
        Datum::Keyword(s) => shown_keyword(out, s),
        Datum::Symbol(s) if s.contains(is_hidden) => string(out, s),
        Datum::Symbol(s) => symbol(out, s),
        Datum::Vector(s) => all(out, "[", s, datum, "]"),
        Datum::List(s) => all(out, "(", s, datum, ")"),
        Datum::Set(s) => all(out, "#{", s, datum, "}"),
        Datum::Map(m) => all(out, "{", m, |out, (k, v)| pair(out, k, v, datum), "}"),
        Datum::Tagged(name, inner) => {
            shown_tag(out, name)?;
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

/// Writes a keyword if the name looks like one, else a string.
pub(crate) fn name(out: &mut impl Write, name: &str) -> Result {
    let plain = |c: char| c.is_alphanumeric() && !is_hidden(c) || ".*+!-_?$%&=<>/".contains(c);
    if !name.is_empty() && name.chars().all(plain) { write!(out, ":{name}") } else { string(out, name) }
}

/// Writes a keyword, or a string if no keyword can have this name.
fn keyword(out: &mut impl Write, name: &str) -> Result {
    if is_name(name) { write!(out, ":{name}") } else { string(out, name) }
}

/// The same as [`keyword`], or a string if the name contains hidden characters.
pub(crate) fn shown_keyword(out: &mut impl Write, name: &str) -> Result {
    if name.contains(is_hidden) { string(out, name) } else { keyword(out, name) }
}

/// Writes a symbol, or a string if no symbol can have this name.
fn symbol(out: &mut impl Write, name: &str) -> Result {
    // A number begins with a digit, or with one sign and a digit: `--1` is a symbol.
    let first = name.strip_prefix(['-', '+']).unwrap_or(name).bytes().next();
    let other = first.is_some_and(|b| b.is_ascii_digit()) || name.starts_with([':', '#', '\\', '^', '`', '~', '@']);
    if is_name(name) && !other && !matches!(name, "nil" | "true" | "false") {
        out.write_str(name)
    } else {
        string(out, name)
    }
}

/// Writes the tag before a value, or nothing if no tag can have this name.
fn tag(out: &mut impl Write, name: &str) -> Result {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == ':' || !c.is_ascii());
    if begins && is_name(name) { write!(out, "#{name} ") } else { Ok(()) }
}

/// The same as [`tag`], or nothing if the name contains hidden characters.
pub(crate) fn shown_tag(out: &mut impl Write, name: &str) -> Result {
    if name.contains(is_hidden) { Ok(()) } else { tag(out, name) }
}

/// Writes a string; JSON has the same escapes.
pub(crate) fn string(out: &mut impl Write, s: &str) -> Result {
    out.write_char('"')?;
    let mut rest = s;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '\\' || is_hidden(c)) {
        out.write_str(&rest[..at])?;
        let mut chars = rest[at..].chars();
        match chars.next() {
            Some('\n') => out.write_str("\\n")?,
            Some('\t') => out.write_str("\\t")?,
            Some('\r') => out.write_str("\\r")?,
            Some(c) if is_hidden(c) => visible::write_utf16(out, c)?,
            Some(c) => write!(out, "\\{c}")?,
            None => {}
        }
        rest = chars.as_str();
    }
    out.write_str(rest)?;
    out.write_char('"')
}

/// Writes a large number: an integer beyond `i64` gets EDN's `N`; decimals and ratios are unchanged.
pub(crate) fn big(out: &mut impl Write, text: &str) -> Result {
    out.write_str(text)?;
    if text.bytes().all(|b| b.is_ascii_digit() || b == b'-') { out.write_char('N') } else { Ok(()) }
}

pub(crate) fn float(out: &mut impl Write, x: f64) -> Result {
    if x.is_nan() {
        out.write_str("##NaN")
    } else if x.is_infinite() {
        out.write_str(if x > 0.0 { "##Inf" } else { "##-Inf" })
    } else {
        // Debug, unlike Display, writes 1.0 as a float.
        write!(out, "{x:?}")
    }
}

/// Writes a character, or a string if it is hidden: only characters of one unit of UTF-16 have an escape.
pub(crate) fn shown_char(out: &mut impl Write, c: char) -> Result {
    if is_hidden(c) && c.len_utf16() > 1 { string(out, c.encode_utf8(&mut [0; 4])) } else { char(out, c) }
}

fn char(out: &mut impl Write, c: char) -> Result {
    match c {
        '\n' => out.write_str("\\newline"),
        '\r' => out.write_str("\\return"),
        ' ' => out.write_str("\\space"),
        '\t' => out.write_str("\\tab"),
        c if (is_hidden(c) || c.is_whitespace()) && c.len_utf16() == 1 => write!(out, "\\u{:04x}", u32::from(c)),
        c => write!(out, "\\{c}"),
    }
}
