//! A copy of one op in a batch of its own, for code that has single ops and passes on batches.

use super::batch::Batch;
use super::row::{Extra, ProcessRecord, Record, Row};
use crate::cast::Cast as _;
use crate::values::tape::{Tag, Tape};
use crate::{Op, Process, Value};

impl Batch {
    /// Replaces the content by a copy of this op. O(size of the op); it reuses memory.
    ///
    /// ```
    /// use history_core::{Batch, History};
    ///
    /// let history = History::parse("{:process 1, :type :ok, :f :read, :value [:x 3], :node \"n1\"}")?;
    /// let mut batch = Batch::new();
    /// batch.assign(&history.op(0));
    /// assert_eq!(format!("{:?}", batch.op(0)), format!("{:?}", history.op(0)));
    /// # Ok::<(), history_core::HistoryError>(())
    /// ```
    pub fn assign(&mut self, op: &Op<'_>) {
        self.clear();
        self.tape.source.to_mut().clear();
        // The tape's source is not a piece of a text.
        self.starts_at = u64::MAX;
        let tape = &mut self.tape;
        let record = Record {
            index: Some(op.index),
            time: op.time,
            process: match op.process {
                Process::Client(number) => ProcessRecord::Client(number),
                Process::Other(name) => ProcessRecord::Other(tape.put(Value::Keyword(name))),
                Process::Unknown => ProcessRecord::Unknown,
            },
            kind: op.kind,
            pair: op.pair,
            f: op.f.map(|f| tape.put(Value::Keyword(f))),
            value: Some(tape.put(op.value)),
            extra: {
                let (node, mut entries) = (tape.nodes.len().to_u32(), 0);
                for (key, value) in op.extra.iter() {
                    tape.put(key);
                    tape.put(value);
                    entries += 1;
                }
                (entries > 0).then_some(Extra { node, entries })
            },
            position: op.position,
        };
        self.records.to_mut().push(Row::of(&record));
        if let (Some(name), Process::Client(number)) = (op.client_name, op.process) {
            let node = self.tape.put(Value::Keyword(name));
            self.set_client(0, number, node);
        }
    }
}

impl Tape {
    /// Appends a copy of another tape's value, and returns its node. The recursion is as deep as values nest, which
    /// readers limit.
    fn put(&mut self, value: Value<'_>) -> u32 {
        let node = self.nodes.len().to_u32();
        match value {
            Value::Nil => self.push(Tag::Nil),
            Value::Bool(b) => self.push(if b { Tag::True } else { Tag::False }),
            Value::Int(i) => self.push_bits(Tag::Int, i.cast_unsigned()),
            Value::Float(x) => self.push_bits(Tag::Float, x.to_bits()),
            Value::Char(c) => self.push_bits(Tag::Char, u32::from(c).into()),
            Value::Big(text) => self.put_text(Tag::Big, text),
            Value::Str(text) => self.put_text(Tag::Str, text),
            Value::Keyword(text) => self.put_text(Tag::Keyword, text),
            Value::Symbol(text) => self.put_text(Tag::Symbol, text),
            Value::Vector(items) => self.put_all(Tag::Vector, Tag::IntVector, items),
            Value::List(items) => self.put_all(Tag::List, Tag::IntList, items),
            Value::Set(items) => self.put_all(Tag::Set, Tag::IntSet, items),
            Value::Map(entries) => {
                let map = self.open(Tag::Map);
                for (key, value) in entries {
                    self.put(key);
                    self.put(value);
                }
                self.close(map, 2 * entries.len().to_u32());
            }
            Value::Tagged(tag, inner) => {
                self.put_text(Tag::Tagged, tag);
                self.put(inner.value());
            }
        }
        node
    }

    fn put_text(&mut self, tag: Tag, text: &str) {
        let start = self.unescaped.len();
        self.unescaped.to_mut().push_str(text);
        self.push_unescaped(tag, start);
    }

    fn put_all(&mut self, tag: Tag, run: Tag, items: crate::Seq<'_>) {
        if let Some(ints) = items.as_ints() {
            let start = self.ints.len();
            self.ints.to_mut().extend_from_slice(ints);
            return self.push_run(run, start);
        }
        let seq = self.open(tag);
        for item in items {
            self.put(item);
        }
        self.close(seq, items.len().to_u32());
    }
}
