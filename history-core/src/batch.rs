//! A block of a history's text and the ops it holds: the unit in which readers hand out ops.

use crate::cast::Cast as _;
use crate::columns::Row;
use crate::op::{Fields, OwnField};
use crate::pairing::Placed;
use crate::syntax::Fault;
use crate::tape::{Tag, Tape};
use crate::value::Entries;
use crate::{Op, OpKind, Pair, Position, Process, TimeUnit, Value, time_unit};
use std::borrow::Cow;

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
        let value = |node: u32| Value::at(&self.tape, node.to_usize());
        Op {
            index: row.index().unwrap_or_default(),
            time: row.time_ns(),
            process: match row.process() {
                ProcessRecord::Client(number) => Process::Client(number),
                ProcessRecord::Other(node) => Process::Other(value(node).as_name().unwrap_or_default()),
                ProcessRecord::Unknown => Process::Unknown,
            },
            client_name: self.client_name(i),
            kind: row.kind(),
            f: row.f().and_then(|node| value(node).as_name()),
            value: row.value().map_or(Value::Nil, value),
            pair: row.pair(),
            extra: Fields(row.extra().map(|extra| Entries::at(&self.tape, extra.node.to_usize(), extra.entries))),
            position: row.position(),
        }
    }

    #[inline]
    fn client_name(&self, i: usize) -> Option<&str> {
        let node = self.names.get(i).filter(|node| **node != NO_NAME)?;
        Value::at(&self.tape, node.to_usize()).as_name()
    }

    /// Gives its `i`th op what [`Pairing`](crate::Pairing) found out.
    #[inline]
    pub(crate) fn set_placed(&mut self, i: usize, placed: &Placed) {
        self.records.to_mut()[i].set_pair(placed.pair);
        if let (Some(number), ProcessRecord::Other(node)) = (placed.named, self.records[i].process()) {
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

impl Record {
    /// The op that the value at `node` is.
    pub(crate) fn new(
        tape: &Tape,
        mut node: usize,
        position: Position,
        unit: Option<TimeUnit>,
    ) -> Result<Record, Fault> {
        // A record's tag, #jepsen.history.Op{...}, says nothing that we need.
        while tape.nodes[node].tag == Tag::Tagged {
            node += 1;
        }
        let head = tape.nodes[node];
        if head.tag != Tag::Map {
            return Err(Fault::op(format!("found {} in the place of an op", Value::at(tape, node).kind()), OP));
        }
        let mut found = Found { unit, ..Found::default() };
        let (mut at, end) = (node + 1, head.b.to_usize());
        while at < end {
            // A key is nearly always a name, and so one node long.
            let value = if tape.nodes[at].tag.is_leaf() { at + 1 } else { tape.after(at) };
            found.field(tape, at, value)?;
            at = tape.after(value);
        }
        found.into_record(position)
    }
}

pub(crate) const OP: &str = "an op: a map with :type (invoke, ok, fail or info), :process, :f and :value";

/// The fields of one op, as they are found.
#[derive(Default)]
struct Found {
    /// Of times, if one was given.
    unit: Option<TimeUnit>,
    index: Option<u64>,
    time: Option<i64>,
    process: Option<ProcessRecord>,
    kind: Option<OpKind>,
    f: Option<u32>,
    value: Option<u32>,
    /// One bit for each [`OwnField`].
    seen: u8,
    /// Entries since the first that is none of these.
    since_extra: u32,
    extra: Option<Extra>,
}

impl Found {
    fn field(&mut self, tape: &Tape, key: usize, at: usize) -> Result<(), Fault> {
        self.since_extra += 1;
        let Some(field) = tape.name(key).and_then(OwnField::from_name) else {
            let node = if let Some(extra) = self.extra {
                extra.node
            } else {
                self.since_extra = 1;
                key.to_u32()
            };
            self.extra = Some(Extra { node, entries: self.since_extra });
            return Ok(());
        };
        let bit = 1 << field as u8;
        if self.seen & bit != 0 {
            let name = tape.name(key).unwrap_or_default();
            return Err(Fault::op(format!("the op has two fields named {name}"), "each field once"));
        }
        self.seen |= bit;
        // What nearly every op has, without a detour by way of a `Value`.
        match (field, tape.int(at), tape.name(at)) {
            (OwnField::Index, Some(i @ 0..), _) => self.index = Some(i.cast_unsigned()),
            (OwnField::Type, _, Some(name)) if OpKind::from_name(name).is_some() => self.kind = OpKind::from_name(name),
            (OwnField::Time, Some(ns), _) if self.unit.is_none() => self.time = Some(ns),
            (OwnField::Process, Some(number), _) => self.process = Some(ProcessRecord::Client(number)),
            (OwnField::Value, ..) => self.value = Some(at.to_u32()),
            (OwnField::F, _, name) => self.f = name.map(|_| at.to_u32()),
            _ => self.rare_field(field, tape, at)?,
        }
        Ok(())
    }

    fn rare_field(&mut self, field: OwnField, tape: &Tape, at: usize) -> Result<(), Fault> {
        let value = Value::at(tape, at);
        match field {
            OwnField::Index => self.index = index(value)?,
            OwnField::Time => self.time = time_unit::read(tape, "the op's time", at, self.unit)?,
            OwnField::Process => self.process = Some(process(value, at)?),
            OwnField::Type => self.kind = Some(kind(value)?),
            OwnField::F => self.f = value.as_name().map(|_| at.to_u32()),
            OwnField::Value => self.value = Some(at.to_u32()),
        }
        Ok(())
    }

    fn into_record(self, position: Position) -> Result<Record, Fault> {
        let Some(kind) = self.kind else { return Err(Fault::op("the map has no :type".into(), OP)) };
        Ok(Record {
            index: self.index,
            time: self.time,
            process: self.process.unwrap_or(ProcessRecord::Unknown),
            kind,
            pair: Pair::Alone,
            f: self.f,
            value: self.value,
            extra: self.extra,
            position: Some(position),
        })
    }
}

fn index(value: Value<'_>) -> Result<Option<u64>, Fault> {
    match value {
        Value::Nil => Ok(None),
        Value::Int(i) if i >= 0 => Ok(Some(i.cast_unsigned())),
        _ => Err(Fault::op(format!("the op's index is {value}"), "an integer from 0 on")),
    }
}

fn kind(value: Value<'_>) -> Result<OpKind, Fault> {
    value
        .as_name()
        .and_then(OpKind::from_name)
        .ok_or_else(|| Fault::op(format!("the op's type is {value}"), "invoke, ok, fail or info"))
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
