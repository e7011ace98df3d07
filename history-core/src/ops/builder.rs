//! Histories built by a program, op by op, with the same checks as histories that are read: as a whole, or a batch at a
//! time.

use super::batch::Batch;
use super::history::Collector;
use super::index::Indices;
use super::row::{Extra, ProcessRecord, Record, Row};
use crate::cast::Cast as _;
use crate::error::{ErrorKind, HistoryError};
use crate::text::syntax::DEPTH_MAX;
use crate::text::syntax::field::OwnField;
use crate::values::tape::{RUN_INT_END, Tag, Tape};
use crate::{ClientRule, Datum, History, Op, OpKind, Pair, Pairing, Process, Value};

/// The maximum number of ops in a batch.
const BATCH_OPS: usize = 4096;

/// The maximum number of bytes in one string.
const STRING_BYTES_MAX: usize = 1 << 30;

/// An op to be added to a [`HistoryBuilder`].
///
/// ```
/// use history_core::{HistoryBuilder, NewOp, OpKind};
///
/// let mut builder = HistoryBuilder::new();
/// builder.push_op(&NewOp::new(OpKind::Info, "nemesis").f("kill").value("n1").time_ns(1_500).with("host", "db1"))?;
/// let op = builder.build();
/// assert_eq!(op.op(0).extra.get("host").unwrap().as_name(), Some("db1"));
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NewOp<'a> {
    /// The op's kind.
    pub kind: OpKind,
    /// The process of the op.
    pub process: Process<'a>,
    /// The name of the function that was called.
    pub f: Option<&'a str>,
    /// Its argument, or its result.
    pub value: Datum,
    /// The position in the order of the history. Either all ops have an index, or none.
    pub index: Option<u64>,
    /// In nanoseconds since the test began.
    pub time_ns: Option<i64>,
    /// All other fields.
    pub extra: Vec<(&'a str, Datum)>,
}

impl<'a> NewOp<'a> {
    /// An op without function and value.
    pub fn new(kind: OpKind, process: impl Into<Process<'a>>) -> NewOp<'a> {
        let process = process.into();
        NewOp { kind, process, f: None, value: Datum::Nil, index: None, time_ns: None, extra: Vec::new() }
    }

    /// With a function.
    #[must_use]
    pub fn f(mut self, f: &'a str) -> NewOp<'a> {
        self.f = Some(f);
        self
    }

    /// With a value.
    #[must_use]
    pub fn value(mut self, value: impl Into<Datum>) -> NewOp<'a> {
        self.value = value.into();
        self
    }

    /// With an index.
    #[must_use]
    pub fn index(mut self, index: u64) -> NewOp<'a> {
        self.index = Some(index);
        self
    }

    /// With a time.
    #[must_use]
    pub fn time_ns(mut self, time_ns: i64) -> NewOp<'a> {
        self.time_ns = Some(time_ns);
        self
    }

    /// With a further field.
    #[must_use]
    pub fn with(mut self, name: &'a str, value: impl Into<Datum>) -> NewOp<'a> {
        self.extra.push((name, value.into()));
        self
    }
}

impl<'a> From<&Op<'a>> for NewOp<'a> {
    /// A copy of an op of another history, including its index. The new history determines again whether a name is a
    /// client's.
    fn from(op: &Op<'a>) -> NewOp<'a> {
        let extra = op.extra.iter().filter_map(|(key, value)| Some((key.as_name()?, value.to_datum())));
        NewOp {
            kind: op.kind,
            // A client's number represents its name in the other history only.
            process: op.client_name.map_or(op.process, Process::Other),
            f: op.f,
            value: op.value.to_datum(),
            index: Some(op.index),
            time_ns: op.time,
            extra: extra.collect(),
        }
    }
}

/// Builds a history without text.
///
/// ```
/// use history_core::{Datum, HistoryBuilder, OpKind::*};
///
/// let mut builder = HistoryBuilder::new();
/// builder.push(Invoke, 0, "write", 3)?.push(Invoke, 1, "read", Datum::Nil)?;
/// builder.push(Ok, 0, "write", 3)?.push(Ok, 1, "read", 3)?;
/// assert!(builder.push(Fail, 1, "read", Datum::Nil).is_err(), "nothing is in flight");
/// let history = builder.build();
/// assert_eq!(history.len(), 4);
/// assert_eq!(history.partner(3), Some(1));
/// # std::result::Result::<(), history_core::HistoryError>::Ok(())
/// ```
#[derive(Debug, Default)]
pub struct HistoryBuilder {
    whole: Collector,
    ops: BatchBuilder,
}

impl HistoryBuilder {
    /// Creates a builder for a history without ops.
    pub fn new() -> HistoryBuilder {
        HistoryBuilder::default()
    }

    /// Sets which names of processes are clients', before any op is added.
    #[must_use]
    pub fn with_client_rule(mut self, rule: ClientRule) -> HistoryBuilder {
        self.ops = self.ops.with_client_rule(rule);
        self
    }

    /// Adds an op that has neither index nor time.
    ///
    /// # Errors
    ///
    /// As [`HistoryBuilder::push_op`].
    pub fn push<'a>(
        &mut self,
        kind: OpKind,
        process: impl Into<Process<'a>>,
        f: &'a str,
        value: impl Into<Datum>,
    ) -> Result<&mut HistoryBuilder, HistoryError> {
        self.push_op(&NewOp::new(kind, process).f(f).value(value))
    }

    /// Adds an op.
    ///
    /// # Errors
    ///
    /// If the op does not fit the previous ops (see [`Pairing`]), its index does not increase, its value is too long or
    /// nested too deeply, or a further field has the name of one that all ops have. The history then ends before this
    /// op, and adding more ops returns the same error again.
    pub fn push_op(&mut self, op: &NewOp<'_>) -> Result<&mut HistoryBuilder, HistoryError> {
        if self.ops.len() == BATCH_OPS {
            self.whole.push(self.ops.take())?;
        }
        if self.ops.indices.ops() >= u64::from(u32::MAX) {
            return Err(limit(format!("more than {} ops, too many to hold in memory", u32::MAX)));
        }
        self.ops.push_op(op)?;
        Ok(self)
    }

    /// The history of all ops added. Operations without completion are in flight.
    pub fn build(mut self) -> History {
        // This cannot fail: the limit was checked when the ops were added.
        let _ = self.whole.push(self.ops.take());
        self.whole.history
    }
}

/// Builds a history without text, some ops at a time: for a [`Run`](crate::Run) that checks while the history is built.
/// Memory: the ops that were added since the last [`BatchBuilder::take`], and the ops in flight.
///
/// ```
/// use history_core::{BatchBuilder, NewOp, OpKind};
///
/// let mut ops = BatchBuilder::new();
/// ops.push_op(&NewOp::new(OpKind::Invoke, 0).f("read"))?;
/// assert_eq!(ops.take().len(), 1);
/// ops.push_op(&NewOp::new(OpKind::Ok, 0).f("read").value(3))?;
/// let batch = ops.take();
/// assert_eq!((batch.len(), batch.op(0).index), (1, 1));
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Debug, Default)]
pub struct BatchBuilder {
    batch: Batch,
    /// The number of ops of `batch` that passed every check: its length, except for the op being added.
    added: usize,
    indices: Indices,
    pairing: Pairing,
    failed: Option<HistoryError>,
}

impl BatchBuilder {
    /// Creates a builder for a history without ops.
    pub fn new() -> BatchBuilder {
        BatchBuilder::default()
    }

    /// Sets which names of processes are clients', before any op is added.
    #[must_use]
    pub fn with_client_rule(mut self, rule: ClientRule) -> BatchBuilder {
        self.pairing = self.pairing.with_client_rule(rule);
        self
    }

    /// Adds an op.
    ///
    /// # Errors
    ///
    /// As [`HistoryBuilder::push_op`].
    pub fn push_op(&mut self, op: &NewOp<'_>) -> Result<(), HistoryError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.add(op).inspect_err(|error| {
            self.batch.truncate(self.added);
            self.failed = Some(error.clone());
        })
    }

    /// The number of ops that [`BatchBuilder::take`] would return.
    pub fn len(&self) -> usize {
        self.added
    }

    /// Whether no op was added since the last [`BatchBuilder::take`].
    pub fn is_empty(&self) -> bool {
        self.added == 0
    }

    /// How many operations are in flight.
    pub fn in_flight(&self) -> usize {
        self.pairing.open()
    }

    /// The names in the client rule that no process has had so far.
    pub fn unmatched(&self) -> impl Iterator<Item = &str> {
        self.pairing.unmatched()
    }

    /// The ops added since the last call.
    pub fn take(&mut self) -> Batch {
        self.added = 0;
        std::mem::take(&mut self.batch)
    }

    fn add(&mut self, op: &NewOp<'_>) -> Result<(), HistoryError> {
        let index = self.indices.next(op.index)?;
        let record = self.record(op, index)?;
        self.batch.records.to_mut().push(Row::of(&record));
        let placed = self.pairing.place(&self.batch.head(self.added))?;
        self.batch.set_placed(self.added, &placed);
        self.added += 1;
        Ok(())
    }

    fn record(&mut self, op: &NewOp<'_>, index: u64) -> Result<Record, HistoryError> {
        let tape = &mut self.batch.tape;
        let process = match op.process {
            Process::Client(number) => ProcessRecord::Client(number),
            Process::Unknown => ProcessRecord::Unknown,
            Process::Other(name) => ProcessRecord::Other(put_text(tape, Tag::Keyword, name)?),
        };
        Ok(Record {
            index: Some(index),
            time: op.time_ns,
            process,
            kind: op.kind,
            pair: Pair::Alone,
            f: op.f.map(|f| put_text(tape, Tag::Keyword, f)).transpose()?,
            value: Some(put(tape, &op.value, 0)?),
            extra: put_extra(tape, &op.extra)?,
            position: None,
        })
    }
}

impl Datum {
    /// Passes the value to `take`, in the form in which histories store it.
    ///
    /// # Errors
    ///
    /// If the value is too long or nested too deeply for a history.
    ///
    /// ```
    /// use history_core::{Datum, Interner};
    ///
    /// let mut interner = Interner::default();
    /// assert_eq!(Datum::Int(3).with_value(|value| interner.code(value)), Ok(3));
    /// ```
    pub fn with_value<R>(&self, take: impl FnOnce(Value<'_>) -> R) -> Result<R, HistoryError> {
        let mut tape = Tape::default();
        let node = put(&mut tape, self, 0)?;
        Ok(take(Value::at(&tape, node.to_usize())))
    }
}

fn limit(message: String) -> HistoryError {
    HistoryError::new(ErrorKind::Limit, message)
}

/// Appends further fields to a tape.
fn put_extra(tape: &mut Tape, extra: &[(&str, Datum)]) -> Result<Option<Extra>, HistoryError> {
    let node = tape.nodes.len().to_u32();
    for (name, value) in extra {
        if OwnField::from_name(name).is_some() {
            let message = format!("{name} is not an extra field");
            return Err(HistoryError::new(ErrorKind::NotAnOp, message).expected("the method with this name"));
        }
        put_text(tape, Tag::Keyword, name)?;
        put(tape, value, 1)?;
    }
    Ok((!extra.is_empty()).then_some(Extra { node, entries: extra.len().to_u32() }))
}

/// Appends text to a tape and returns its node.
fn put_text(tape: &mut Tape, tag: Tag, text: &str) -> Result<u32, HistoryError> {
    if text.len() > STRING_BYTES_MAX {
        return Err(limit(format!("a string is longer than {STRING_BYTES_MAX} bytes")));
    }
    let start = tape.unescaped.len();
    tape.unescaped.to_mut().push_str(text);
    tape.push_unescaped(tag, start);
    Ok((tape.nodes.len() - 1).to_u32())
}

/// Appends a value to a tape, `depth` containers deep, and returns its node.
fn put(tape: &mut Tape, datum: &Datum, depth: usize) -> Result<u32, HistoryError> {
    if depth > DEPTH_MAX {
        return Err(limit(format!("values are nested more than {DEPTH_MAX} deep")));
    }
    let node = tape.nodes.len().to_u32();
    match datum {
        Datum::Nil => tape.push(Tag::Nil),
        Datum::Bool(b) => tape.push(if *b { Tag::True } else { Tag::False }),
        Datum::Int(i) => tape.push_bits(Tag::Int, i.cast_unsigned()),
        Datum::Float(x) => tape.push_bits(Tag::Float, x.to_bits()),
        Datum::Char(c) => tape.push_bits(Tag::Char, u32::from(*c).into()),
        Datum::Big(s) => return put_text(tape, Tag::Big, s),
        Datum::Str(s) => return put_text(tape, Tag::Str, s),
        Datum::Keyword(s) => return put_text(tape, Tag::Keyword, s),
        Datum::Symbol(s) => return put_text(tape, Tag::Symbol, s),
        Datum::Vector(items) => put_all(tape, items, Tag::Vector, Tag::IntVector, depth)?,
        Datum::List(items) => put_all(tape, items, Tag::List, Tag::IntList, depth)?,
        Datum::Set(items) => put_all(tape, items, Tag::Set, Tag::IntSet, depth)?,
        Datum::Map(entries) => {
            let map = tape.open(Tag::Map);
            for (key, value) in entries {
                put(tape, key, depth + 1)?;
                put(tape, value, depth + 1)?;
            }
            tape.close(map, 2 * entries.len().to_u32());
        }
        Datum::Tagged(tag, value) => {
            put_text(tape, Tag::Tagged, tag)?;
            put(tape, value, depth + 1)?;
        }
    }
    Ok(node)
}

fn put_all(tape: &mut Tape, items: &[Datum], tag: Tag, run: Tag, depth: usize) -> Result<(), HistoryError> {
    let ints = tape.ints.to_mut();
    let start = ints.len();
    for item in items {
        match item {
            Datum::Int(i) if i.unsigned_abs() < RUN_INT_END => ints.push(*i),
            _ => {
                ints.truncate(start);
                let seq = tape.open(tag);
                for item in items {
                    put(tape, item, depth + 1)?;
                }
                tape.close(seq, items.len().to_u32());
                return Ok(());
            }
        }
    }
    tape.push_run(run, start);
    Ok(())
}
