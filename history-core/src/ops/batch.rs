//! A block of a history's text and the ops in it: the unit in which readers return ops.

use super::op::Fields;
use super::pairing::{OpHead, Placed};
use super::row::{ProcessRecord, Row};
use crate::cast::Cast as _;
use crate::values::tape::{Tag, Tape, own};
use crate::values::value::Entries;
use crate::{HistoryError, Op, Process, Value};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// Some consecutive ops and the text they were read from.
///
/// Readers refill the same few batches, so a history streams through memory of a constant size.
#[derive(Default, Debug)]
pub struct Batch {
    pub(crate) tape: Tape,
    pub(crate) records: Cow<'static, [Row]>,
    /// For each op, the node of its client's name, or [`NO_NAME`]. The column ends with the last op that has a name.
    pub(crate) names: Cow<'static, [u32]>,
    /// The offset of `tape.source` in the whole text.
    pub(crate) starts_at: u64,
}

/// Represents an absent node of a name.
const NO_NAME: u32 = u32::MAX;

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
    #[inline]
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

    /// The fields of its `i`th op other than function, value and further fields.
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

    /// Stores the result of [`Pairing`](crate::Pairing) for its `i`th op.
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

    /// Marks the process of its `i`th op, which has a number, as one that is not a client.
    #[cold]
    fn set_other(&mut self, i: usize) {
        let ProcessRecord::Client(number) = self.records[i].process() else { return };
        let (node, start) = (self.tape.nodes.len().to_u32(), self.tape.unescaped.len());
        self.tape.unescaped.to_mut().push_str(&number.to_string());
        self.tape.push_unescaped(Tag::Symbol, start);
        self.records.to_mut()[i].set_other(node);
    }

    /// Sets the client of its `i`th op, whose name is at a node.
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

    /// Passes every op to `see`, until it breaks or fails.
    ///
    /// # Errors
    ///
    /// The error of `see`, with the op's position and the text there.
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

    /// Shrinks this batch to its content, and returns an empty one for further reading.
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
