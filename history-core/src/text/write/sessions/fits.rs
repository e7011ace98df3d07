//! Decides what each format can represent.

use super::{Act, Atom, Converter, Mop, is_list, refusal};
use crate::cast::Cast as _;
use crate::error::HistoryError;
use crate::hash::HashMap;
use crate::text::read::FIRST_OF_COBRA;
use crate::{Format, Op, OpKind, Value};

const RENUMBER: &str = "numbers from 0 on; renumbering makes them";

/// Returns true if a format can represent aborted transactions.
pub(super) fn has_aborted(format: Format) -> bool {
    matches!(format, Format::Plume | Format::Dbcop | Format::DbcopJson | Format::Hist)
}

/// Returns true if a format can represent transactions without reads and writes.
pub(super) fn has_empty(format: Format) -> bool {
    matches!(format, Format::Dbcop | Format::DbcopJson | Format::Cobra | Format::Chronos)
}

/// Returns true if a name is valid as a variable of dbcop's text, and not a number there.
fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

impl Converter {
    /// Collects the micro-ops of an op, and rejects those that the format cannot represent.
    pub(super) fn mops_of(&mut self, op: &Op<'_>, kind: OpKind, into: &mut Vec<Mop>) -> Result<(), HistoryError> {
        let (Value::Vector(mops) | Value::List(mops)) = op.value else {
            if op.value.is_nil() && kind != OpKind::Ok {
                return Ok(());
            }
            return Err(self.refuse(op, "its value is no transaction", "a list of micro-ops"));
        };
        for mop in mops {
            let mop = self.mop(mop, kind).map_err(|(reason, expected)| self.refuse(op, &reason, expected))?;
            into.push(mop);
        }
        Ok(())
    }

    fn mop(&mut self, mop: Value<'_>, kind: OpKind) -> Result<Mop, (String, &'static str)> {
        let wrong = || (format!("a micro-op is {mop}"), "[:r key value] or [:w key value]");
        let (Value::Vector(parts) | Value::List(parts)) = mop else { return Err(wrong()) };
        let mut parts = parts.iter();
        let (Some(name), Some(key), Some(value), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(wrong());
        };
        let act = match name.as_name() {
            Some("r") => Act::Read,
            Some("w") => Act::Write,
            Some("append") if self.format == Format::Chronos => Act::Append,
            Some("append") => {
                return Err((format!("it appends to a list: {mop}"), "registers, or chronos as the format"));
            }
            _ => return Err(wrong()),
        };
        if act != Act::Read && value.is_nil() {
            return Err((format!("it writes nothing: {mop}"), "a value that is not nil"));
        }
        // The result of a read in an op that failed or whose outcome is unknown is ignored.
        let value = if act == Act::Read && kind != OpKind::Ok { Value::Nil } else { value };
        let (key, value) = if self.options.renumber {
            let number = self.numbers.key(key);
            (Atom::Int(number), self.renumbered(number, value)?)
        } else {
            (
                self.key(key).map_err(|reason| (reason, RENUMBER))?,
                self.value(value).map_err(|reason| (reason, RENUMBER))?,
            )
        };
        self.first_state(act, value, kind)?;
        Ok(Mop { act, key, value })
    }

    fn renumbered(&mut self, key: i64, value: Value<'_>) -> Result<Atom, (String, &'static str)> {
        match value {
            Value::Nil => Ok(Atom::Nil),
            Value::Vector(list) | Value::List(list) if self.format == Format::Chronos => {
                let start = self.elements.len().to_u32();
                for element in list {
                    let number = self.numbers.value(key, element);
                    self.elements.push(number);
                }
                Ok(Atom::List(start, self.elements.len().to_u32()))
            }
            list if is_list(list) => Err((format!("it reads a list: {list}"), "registers, or chronos as the format")),
            value => Ok(Atom::Int(self.numbers.value(key, value))),
        }
    }

    fn key(&mut self, key: Value<'_>) -> Result<Atom, String> {
        match (self.format, number(key)) {
            (Format::Cobra | Format::Chronos, Some(number @ Atom::Int(_))) => Ok(number),
            (Format::Cobra | Format::Chronos, _) => Err(format!("expected a 64-bit integer as the key, found {key}")),
            (_, Some(number @ (Atom::Int(0..) | Atom::Big(_)))) => Ok(number),
            (Format::Hist, _) if key.as_name().is_some_and(is_variable) => {
                self.name(key.as_name().unwrap_or_default(), key.kind())
            }
            (Format::Hist, _) => {
                Err(format!("the key {key} is neither a number from 0 on nor a name of letters, digits and _"))
            }
            _ => Err(format!("expected a number from 0 on as the key, found {key}")),
        }
    }

    fn value(&mut self, value: Value<'_>) -> Result<Atom, String> {
        if value.is_nil() {
            return Ok(Atom::Nil);
        }
        match (self.format, number(value), value) {
            (Format::Cobra | Format::Chronos, Some(number @ Atom::Int(_)), _) => Ok(number),
            (Format::Chronos, None, Value::Vector(list) | Value::List(list)) => {
                let start = self.elements.len().to_u32();
                for element in list {
                    let Value::Int(number) = element else {
                        return Err(format!("expected 64-bit integers as elements, found {element}"));
                    };
                    self.elements.push(number);
                }
                Ok(Atom::List(start, self.elements.len().to_u32()))
            }
            (Format::Cobra | Format::Chronos, ..) => {
                Err(format!("expected a 64-bit integer as the value, found {value}"))
            }
            (_, Some(number @ (Atom::Int(0..) | Atom::Big(_))), _) => Ok(number),
            _ => Err(format!("expected a number from 0 on as the value, found {value}")),
        }
    }

    /// Rejects values that have another meaning in the format.
    fn first_state(&self, act: Act, value: Atom, kind: OpKind) -> Result<(), (String, &'static str)> {
        let format = self.format;
        match (format, value) {
            (Format::Plume | Format::Dbcop, Atom::Int(0)) => {
                let verb = if act == Act::Read { "reads" } else { "writes" };
                Err((
                    format!("it {verb} 0, which is the first state in {format}"),
                    "other numbers; renumbering makes them",
                ))
            }
            (Format::Awdit, Atom::Nil) if kind == OpKind::Ok && act == Act::Read => {
                Err(("it reads the first state, which awdit does not have".into(), "another format, such as plume"))
            }
            (Format::Cobra, Atom::Int(number)) if FIRST_OF_COBRA.contains(&number) => Err((
                format!("the value {number} is the first state in cobra"),
                "other numbers; renumbering makes them",
            )),
            _ => Ok(()),
        }
    }

    /// Adds a key that is a name. The format does not contain its type.
    fn name(&mut self, name: &str, kind: &'static str) -> Result<Atom, String> {
        let known = self.names.get_full(name).map(|(at, _, before)| (at, *before));
        let (at, before) = known.unwrap_or_else(|| (self.names.insert_full(name.to_owned(), kind).0, kind));
        if before != kind {
            return Err(format!("the key {name} is {kind} here, and {before} before"));
        }
        Ok(Atom::Name(at.to_u32()))
    }

    /// Rejects what only the whole history shows: in Cobra's logs each value belongs to one key.
    pub(super) fn verify(&self) -> Result<(), HistoryError> {
        if self.format != Format::Cobra {
            return Ok(());
        }
        let mut keys: HashMap<Atom, Atom> = HashMap::default();
        for (i, txn) in self.txns.iter().enumerate() {
            for mop in self.mops(i).iter().filter(|mop| mop.act == Act::Write) {
                let known = *keys.entry(mop.value).or_insert(mop.key);
                if let (true, Atom::Int(value)) = (known != mop.key, mop.value) {
                    let reason = format!("{value} is written to another key as well, and is to be unique");
                    return Err(refusal(
                        txn.index,
                        txn.position,
                        self.format,
                        &reason,
                        "values unique in the history; renumbering makes them",
                    ));
                }
            }
        }
        Ok(())
    }
}

/// A value as a number, if some format can represent it.
fn number(value: Value<'_>) -> Option<Atom> {
    match value {
        Value::Int(number) => Some(Atom::Int(number)),
        Value::Big(text) => text.parse().ok().map(Atom::Big),
        _ => None,
    }
}
