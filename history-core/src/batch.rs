//! A block of a history's text and the ops it holds: the unit in which readers hand out ops.

use crate::cast::Cast as _;
use crate::columns::Row;
use crate::op::{Fields, OwnField};
use crate::pairing::{OpHead, Placed};
use crate::syntax::Fault;
use crate::tape::{Tag, Tape, own};
use crate::value::Entries;
use crate::{HistoryError, Op, OpKind, Pair, Position, Process, TimeUnit, Value, time_unit};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// Some consecutive ops and the text they were read from.
///
/// Readers fill the same few batches over and over, so a history streams through memory of a constant size.
#[derive(Default, Debug)]
pub struct Batch {
    pub(crate) tape: Tape,
    pub(crate) records: Cow<'static, [Row]>,
    /// By op, the node of its client's name, or [`NO_NAME`]; ends with the last name.
    pub(crate) names: Cow<'static, [u32]>,
    /// The offset of `tape.source` in the whole text.
    pub(crate) starts_at: u64,
}

/// Stands for the node of a name where there is none.
const NO_NAME: u32 = u32::MAX;

/// An op whose values are on the batch's tape, before it becomes a [`Row`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) index: Option<u64>,
    pub(crate) time: Option<i64>,
    pub(crate) process: ProcessRecord,
    pub(crate) kind: OpKind,
    pub(crate) pair: Pair,
    /// The node of `f`, where that is a name.
    pub(crate) f: Option<u32>,
    pub(crate) value: Option<u32>,
    /// Where the other fields are; absent where there are none.
    pub(crate) extra: Option<Extra>,
    /// Absent for ops that were built, not read.
    pub(crate) position: Option<Position>,
}

/// Entries of an op's map, from the first to the last that has no place of its own in a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extra {
    /// The node of the first one's key.
    pub(crate) node: u32,
    /// Others may stand among them.
    pub(crate) entries: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcessRecord {
    Client(i64),
    /// The node of its name.
    Other(u32),
    Unknown,
}

impl Batch {
    /// An empty batch.
    pub fn new() -> Batch {
        Batch::default()
    }

    /// How many ops it holds.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Its `i`th op. O(1).
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn op(&self, i: usize) -> Op<'_> {
        let row = &self.records[i];
        let OpHead { index, time, process, client_name, kind, position } = self.head(i);
        let value = |node: u32| Value::at(&self.tape, node.to_usize());
        Op {
            index,
            time,
            process,
            client_name,
            kind,
            f: row.f().and_then(|node| self.tape.name(node.to_usize())),
            value: row.value().map_or(Value::Nil, value),
            pair: row.pair(),
            extra: Fields(row.extra().map(|extra| Entries::at(&self.tape, extra.node.to_usize(), extra.entries))),
            position,
        }
    }

    /// What its `i`th op says of itself besides function, value and further fields.
    #[inline]
    pub(crate) fn head(&self, i: usize) -> OpHead<'_> {
        let row = &self.records[i];
        let name = |node: u32| self.tape.name(node.to_usize()).unwrap_or_default();
        OpHead {
            index: row.index().unwrap_or_default(),
            time: row.time_ns(),
            process: match row.process() {
                ProcessRecord::Client(number) => Process::Client(number),
                ProcessRecord::Other(node) => Process::Other(name(node)),
                ProcessRecord::Unknown => Process::Unknown,
            },
            client_name: self.client_name(i),
            kind: row.kind(),
            position: row.position(),
        }
    }

    #[inline]
    fn client_name(&self, i: usize) -> Option<&str> {
        let node = self.names.get(i).filter(|node| **node != NO_NAME)?;
        self.tape.name(node.to_usize())
    }

    /// Gives its `i`th op what [`Pairing`](crate::Pairing) found out.
    #[inline]
    pub(crate) fn set_placed(&mut self, i: usize, placed: &Placed) {
        let row = &mut own(&mut self.records)[i];
        row.set_pair(placed.pair);
        if let Some(number) = placed.named
            && let ProcessRecord::Other(node) = row.process()
        {
            self.set_client(i, number, node);
        }
        if placed.is_left_out {
            self.set_other(i);
        }
    }

    /// Makes the process of its `i`th op, which has a number, one that is not a client.
    #[cold]
    fn set_other(&mut self, i: usize) {
        let ProcessRecord::Client(number) = self.records[i].process() else { return };
        let (node, start) = (self.tape.nodes.len().to_u32(), self.tape.unescaped.len());
        self.tape.unescaped.to_mut().push_str(&number.to_string());
        self.tape.push_unescaped(Tag::Symbol, start);
        self.records.to_mut()[i].set_other(node);
    }

    /// Says which client did its `i`th op, whose name is at a node.
    pub(crate) fn set_client(&mut self, i: usize, number: i64, node: u32) {
        let names = self.names.to_mut();
        names.resize(i, NO_NAME);
        names.push(node);
        self.records.to_mut()[i].set_client(number);
    }

    /// Keeps its first `len` ops.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.records.to_mut().truncate(len);
        self.names.to_mut().truncate(len);
    }

    /// Its ops, in order.
    pub fn ops(&self) -> impl Iterator<Item = Op<'_>> {
        (0..self.len()).map(|i| self.op(i))
    }

    /// Gives every op to `see`, until that breaks or fails.
    ///
    /// # Errors
    ///
    /// What `see` returned, with the op's position and the text there.
    pub fn each(
        &self,
        see: &mut impl FnMut(&Op<'_>) -> Result<ControlFlow<()>, HistoryError>,
    ) -> Result<ControlFlow<()>, HistoryError> {
        for op in self.ops() {
            match see(&op) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => return Ok(ControlFlow::Break(())),
                Err(mut error) => {
                    if let Some(position) = op.position {
                        error = error.at(position);
                    }
                    return Err(error.with_source(self.tape.source.as_bytes(), self.starts_at));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Makes this batch as small as it can be, and an empty one to read on with.
    pub(crate) fn successor(&mut self) -> Batch {
        let memo = std::mem::take(&mut self.tape.memo);
        self.tape.source.to_mut().shrink_to_fit();
        self.tape.unescaped.to_mut().shrink_to_fit();
        self.tape.nodes.to_mut().shrink_to_fit();
        self.tape.ints.to_mut().shrink_to_fit();
        self.records.to_mut().shrink_to_fit();
        self.names.to_mut().shrink_to_fit();
        Batch { tape: Tape { memo, ..Tape::default() }, ..Batch::default() }
    }

    pub(crate) fn clear(&mut self) {
        self.tape.clear();
        self.records.to_mut().clear();
        self.names.to_mut().clear();
    }
}

impl Row {
    /// The op that the value at `node` is.
    pub(crate) fn read(tape: &Tape, mut node: usize, position: Position, unit: Option<TimeUnit>) -> Result<Row, Fault> {
        // A record's tag, #jepsen.history.Op{...}, says nothing that we need.
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
            // A key is nearly always a name, and so one node long.
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
    /// Of times, if one was given.
    unit: Option<TimeUnit>,
    /// One bit for each [`OwnField`].
    seen: u8,
    /// Entries since the first that is none of these.
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
        // What nearly every op has, without a detour by way of a `Value`.
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

    /// A field without a place of its own.
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
