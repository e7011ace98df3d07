//! Builds a row from the map on a tape that represents an op.

use super::{Extra, ProcessRecord, Row};
use crate::cast::Cast as _;
use crate::text::syntax::Fault;
use crate::text::syntax::field::OwnField;
use crate::text::syntax::plain::Plain;
use crate::text::time_unit;
use crate::values::tape::{Tag, Tape};
use crate::{OpKind, Position, TimeUnit, Value};

impl Row {
    /// Builds the row of a plain op.
    #[inline]
    pub(crate) fn of_plain(plain: &Plain, position: Position) -> Row {
        let mut row = Row::at(position);
        row.set_kind(plain.kind);
        plain.index().into_iter().for_each(|index| row.set_index(index));
        plain.time().into_iter().for_each(|ns| row.set_time_ns(ns));
        plain.process().into_iter().for_each(|number| row.set_process(ProcessRecord::Client(number)));
        plain.f().into_iter().for_each(|node| row.set_f(node));
        plain.value().into_iter().for_each(|node| row.set_value(node));
        row
    }

    /// Builds the row of the op at `node`.
    pub(crate) fn read(tape: &Tape, mut node: usize, position: Position, unit: Option<TimeUnit>) -> Result<Row, Fault> {
        // A record's tag, such as #jepsen.history.Op, is not needed.
        while tape.nodes[node].tag == Tag::Tagged {
            node += 1;
        }
        let head = tape.nodes[node];
        if head.tag != Tag::Map {
            return Err(Fault::op(format!("found {} in the place of an op", Value::at(tape, node).kind()), OP));
        }
        let mut found = Found { row: Row::at(position), unit, seen: 0, since_extra: 0, extra: None };
        let (mut at, end) = (node + 1, head.b.to_usize());
        while at < end {
            // Nearly every key is a name, which takes one node.
            let value = if tape.nodes[at].tag.is_leaf() { at + 1 } else { tape.after(at) };
            found.field(tape, at, value)?;
            at = tape.after(value);
        }
        found.into_row()
    }
}

pub(crate) const OP: &str = "an op: a map with :type (invoke, ok, fail or info), :process, :f and :value";

/// The fields of one op, as they are found.
struct Found {
    row: Row,
    /// The unit of times, if one was given.
    unit: Option<TimeUnit>,
    /// The fields seen so far: one bit for each [`OwnField`].
    seen: u8,
    /// The number of entries since the first one that is not an [`OwnField`].
    since_extra: u32,
    extra: Option<Extra>,
}

impl Found {
    #[inline]
    fn field(&mut self, tape: &Tape, key: usize, at: usize) -> Result<(), Fault> {
        self.since_extra += 1;
        let Some(field) = tape.name_bytes(key).and_then(OwnField::from_bytes) else {
            self.further_field(key);
            return Ok(());
        };
        if self.seen & field.bit() != 0 {
            return Err(twice(tape, key));
        }
        self.seen |= field.bit();
        // The fields that nearly every op has are read without a `Value`.
        match (field, tape.int(at)) {
            (OwnField::Value, _) => self.row.set_value(at.to_u32()),
            (OwnField::F, _) if tape.is_name(at) => self.row.set_f(at.to_u32()),
            (OwnField::F, _) => {}
            (OwnField::Type, _) => match tape.name_bytes(at).and_then(OpKind::from_bytes) {
                Some(kind) => self.row.set_kind(kind),
                None => return Err(no_kind(tape, at)),
            },
            (OwnField::Process, Some(number)) => self.row.set_process(ProcessRecord::Client(number)),
            (OwnField::Index, Some(i @ 0..)) => self.row.set_index(i.cast_unsigned()),
            (OwnField::Time, Some(ns)) if self.unit.is_none() => self.row.set_time_ns(ns),
            (OwnField::Process | OwnField::Index | OwnField::Time, _) => self.rare_field(field, tape, at)?,
        }
        Ok(())
    }

    /// Records a field that is not an [`OwnField`].
    fn further_field(&mut self, key: usize) {
        let node = if let Some(extra) = self.extra {
            extra.node
        } else {
            self.since_extra = 1;
            key.to_u32()
        };
        self.extra = Some(Extra { node, entries: self.since_extra });
    }

    #[cold]
    fn rare_field(&mut self, field: OwnField, tape: &Tape, at: usize) -> Result<(), Fault> {
        let row = &mut self.row;
        match field {
            OwnField::Index => {
                if let Some(index) = index(Value::at(tape, at))? {
                    row.set_index(index);
                }
            }
            OwnField::Process => row.set_process(process(Value::at(tape, at), at)?),
            _ => {
                if let Some(time_ns) = time_unit::read(tape, "the op's time", at, self.unit)? {
                    row.set_time_ns(time_ns);
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn into_row(mut self) -> Result<Row, Fault> {
        if self.seen & OwnField::Type.bit() == 0 {
            return Err(Fault::op("the map has no :type".into(), OP));
        }
        if let Some(extra) = self.extra {
            self.row.set_extra(extra);
        }
        Ok(self.row)
    }
}

#[cold]
fn twice(tape: &Tape, key: usize) -> Fault {
    let name = tape.name(key).unwrap_or_default();
    Fault::op(format!("the op has two fields named {name}"), "each field once")
}

#[cold]
fn no_kind(tape: &Tape, at: usize) -> Fault {
    Fault::op(format!("the op's type is {}", Value::at(tape, at)), "invoke, ok, fail or info")
}

fn index(value: Value<'_>) -> Result<Option<u64>, Fault> {
    match value {
        Value::Nil => Ok(None),
        Value::Int(i) if i >= 0 => Ok(Some(i.cast_unsigned())),
        _ => Err(Fault::op(format!("the op's index is {value}"), "an integer from 0 on")),
    }
}

fn process(value: Value<'_>, at: usize) -> Result<ProcessRecord, Fault> {
    match value {
        Value::Nil => Ok(ProcessRecord::Unknown),
        Value::Int(number) => Ok(ProcessRecord::Client(number)),
        Value::Str(name) | Value::Keyword(name) | Value::Symbol(name) => {
            Ok(name.parse().map_or(ProcessRecord::Other(at.to_u32()), ProcessRecord::Client))
        }
        _ => Err(Fault::op(format!("the op's process is {value}"), "an integer, or a name such as :nemesis")),
    }
}
