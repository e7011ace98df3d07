//! Readers: a stream of bytes becomes batches of ops.
//!
//! The text is read in blocks into a buffer that is reused. An op that the end of a block cuts is moved to the front of
//! the next block. Memory therefore grows with the longest op, not with the history (except for intervals, which must
//! be sorted).

mod ahead;
mod blocks;
mod decompress;
mod handover;
mod intervals;
mod limits;
mod lines;
pub mod part;
mod peers;
mod place;
mod resume;
mod sniff;
mod steps;
mod threads;
mod unread;

pub(crate) use blocks::{Block, Blocks};
#[cfg(feature = "files")]
pub(crate) use decompress::{TO_TEXT, decompressed};
pub(crate) use intervals::Intervals;
pub use limits::Limits;
pub use lines::{Lines, Merge, Misplaced};
pub use peers::FirstValue;
pub(crate) use peers::{END_OF_SESSION, FIRST_OF_COBRA, Peers, STAMPS, binary, no_first_value};
pub(crate) use place::Place;
pub(crate) use resume::Parts;
pub use sniff::Format;
pub(crate) use sniff::{Sniffed, format as sniff};
pub(crate) use steps::{Steps, Stop, error as fault_error, too_long};

use crate::error::{ErrorKind, HistoryError};
use crate::ops::batch::Batch;
use crate::ops::index::Indices;
use crate::ops::pairing::Pairing;
use crate::ops::row::Row;
use crate::values::tape::own;
use crate::{ClientRule, Op, Position, TimeUnit};
use blocks::Torn;
use std::fmt;
use std::io::Read;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Reads ops from a source of bytes, and pairs them.
///
/// Formats are detected from their first bytes: EDN (maps one after another, or in one vector or list), JSON (an array,
/// objects one after another, JSON Lines), intervals (JSON objects with a call and a return), Jepsen's `history.txt`;
/// with the features `gzip` and `zstd`, each may be compressed.
///
/// ```
/// use history_core::{Format, OpKind, Reader};
///
/// let text = r#"
///     {"process": 0, "type": "invoke", "f": "read", "value": null}
///     {"process": 0, "type": "ok", "f": "read", "value": 3}
/// "#;
/// let mut reader = Reader::new(text.as_bytes());
/// let mut kinds = Vec::new();
/// reader.for_each(|op| {
///     kinds.push(op.kind);
///     Ok(std::ops::ControlFlow::Continue(()))
/// })?;
/// assert_eq!(kinds, [OpKind::Invoke, OpKind::Ok]);
/// assert_eq!(reader.format(), Some(Format::Json));
/// # Ok::<(), history_core::HistoryError>(())
/// ```
pub struct Reader<'s> {
    blocks: Blocks<'s>,
    format: Option<Format>,
    limits: Limits,
    /// The unit of times, if one was given.
    unit: Option<TimeUnit>,
    /// The time by which intervals are widened on both sides.
    clock_error_ns: i64,
    pairing: Option<Pairing>,
    indices: Indices,
    steps: Option<Steps>,
    /// The intervals to sort before ops can be returned, in a format that needs it.
    intervals: Option<Box<Intervals>>,
    /// The decoder of the format, if it is another checker's format.
    peers: Option<Box<Peers>>,
    first_value: FirstValue,
    /// The file names of the sessions, if the sessions are files.
    session_names: Vec<String>,
    /// Whether the text was read to its end.
    read_all: bool,
    ended: bool,
    torn: Torn,
    plan: threads::Plan,
    /// The error that ended reading.
    failed: Option<HistoryError>,
}

impl fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("format", &self.format).field("ended", &self.ended).finish_non_exhaustive()
    }
}

impl<'s> Reader<'s> {
    /// A reader that detects the format of `source`.
    pub fn new(source: impl Read + Send + 's) -> Reader<'s> {
        let limits = Limits::default();
        let mut blocks = Blocks::new(Box::new(source));
        blocks.set_op_bytes_max(limits.op_bytes_max);
        Reader {
            blocks,
            format: None,
            limits,
            unit: None,
            clock_error_ns: 0,
            pairing: Some(Pairing::new()),
            indices: Indices::default(),
            steps: None,
            intervals: None,
            peers: None,
            first_value: FirstValue::default(),
            session_names: Vec::new(),
            read_all: false,
            ended: false,
            torn: Torn::default(),
            plan: threads::Plan::default(),
            failed: None,
        }
    }

    /// Sets the format of the source instead of detecting it.
    #[must_use]
    pub fn with_format(mut self, format: Format) -> Reader<'s> {
        self.format = Some(format);
        self
    }

    /// Sets limits other than the default ones.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Reader<'s> {
        // A tape counts the content of an op with 32 bits.
        let op_bytes_max = limits.op_bytes_max.min(1 << 30);
        self.limits = Limits { op_bytes_max, ..limits };
        self.blocks.set_op_bytes_max(op_bytes_max);
        self
    }

    /// Returns ops as soon as the source has them, not a block at a time: for a source that is still being written.
    #[must_use]
    pub fn eager(mut self) -> Reader<'s> {
        self.blocks.set_eager();
        self
    }

    /// Reads a history that is still being written: returns ops as soon as the source has them, and accepts an end
    /// anywhere. If the source ends within an op, [`Reader::cut_off`] returns the op's position.
    #[must_use]
    pub fn growing(self) -> Reader<'s> {
        self.growing_if(Arc::new(AtomicBool::new(true)))
    }

    /// Reads a history that is still being written, and that either ends by itself and must then be complete, or is cut
    /// off: the same as [`Reader::growing`] if `is_cut` is set when the source ends, else as [`Reader::eager`].
    #[must_use]
    pub fn growing_if(mut self, is_cut: Arc<AtomicBool>) -> Reader<'s> {
        self.blocks.set_may_be_cut(is_cut);
        self.eager()
    }

    /// Reads ops without pairing them: every [`Op::pair`] is [`Pair::Alone`](crate::Pair::Alone), and every process
    /// with a name is [`Process::Other`](crate::Process::Other). It is not verified that invocations and completions
    /// fit together.
    #[must_use]
    pub fn without_pairing(mut self) -> Reader<'s> {
        self.pairing = None;
        self
    }

    /// Sets which names of processes are clients', before the history is read.
    #[must_use]
    pub fn with_client_rule(mut self, rule: ClientRule) -> Reader<'s> {
        self.pairing = self.pairing.map(|pairing| pairing.with_client_rule(rule));
        self
    }

    /// Sets the unit of times, which may have fractions.
    #[must_use]
    pub fn with_time_unit(mut self, unit: TimeUnit) -> Reader<'s> {
        self.unit = Some(unit);
        self
    }

    /// Sets the value of reads before any write, in formats of other checkers ([`Format::is_of_sessions`]). Other
    /// formats are then rejected: in those, this value is nil.
    #[must_use]
    pub fn with_first_value(mut self, first: FirstValue) -> Reader<'s> {
        self.first_value = first;
        self
    }

    /// Sets the file names of the source's sessions, for messages.
    #[cfg(feature = "files")]
    pub(crate) fn with_session_names(mut self, names: Vec<String>) -> Reader<'s> {
        self.session_names = names;
        self
    }

    /// Sets the number of threads that tokenize the text in [`Reader::for_each_ahead`] and
    /// [`Reader::for_each_batch_ahead`]; 1 by default. More than one is used for EDN and JSON whose ops begin lines,
    /// once 512 KiB were read, unless the text is [still being written](Reader::eager). Ops and errors do not depend on
    /// it. Memory: two pieces of text of 256 KiB per thread, with their values; longer pieces if ops are long.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Reader<'s> {
        self.plan.threads = threads;
        self
    }

    /// The number of pieces of the text that several threads have read. For tests.
    #[doc(hidden)]
    pub fn pieces(&self) -> u64 {
        self.plan.pieces
    }

    /// Sets the number of bytes read at a time. For tests: only speed may depend on it.
    #[doc(hidden)]
    #[must_use]
    pub fn with_block_bytes(mut self, bytes: usize) -> Reader<'s> {
        self.blocks.set_block_bytes(bytes);
        self
    }

    /// The format, once the first batch was read.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// The position of the op that the end of a [growing](Reader::growing) source cut off, once the source was read to
    /// its end.
    pub fn cut_off(&self) -> Option<Position> {
        self.torn.cut_off
    }

    /// The names in the [`ClientRule`] that no process has had so far.
    pub fn unmatched(&self) -> impl Iterator<Item = &str> {
        self.pairing.iter().flat_map(Pairing::unmatched)
    }

    /// Whether each op so far has an index, and no number between the first and the last is missing.
    pub fn is_consecutive(&self) -> bool {
        self.indices.are_consecutive()
    }

    /// Whether the source is compressed, so that an op's position is not its position in the source; known once the
    /// first batch was read.
    pub fn is_compressed(&self) -> bool {
        self.blocks.is_compressed()
    }

    /// How many operations are in flight.
    pub fn in_flight(&self) -> usize {
        self.pairing.as_ref().map_or(0, Pairing::open)
    }

    /// How many ops have been read.
    pub fn ops(&self) -> u64 {
        self.indices.ops()
    }

    /// The number of bytes of (decompressed) text of the ops read so far; for a format that is sorted in memory, the
    /// number of bytes read.
    pub fn bytes(&self) -> u64 {
        self.blocks.offset()
    }

    /// Replaces the content of `batch` by the next ops. Returns false, and no ops, at the end of the history.
    ///
    /// # Errors
    ///
    /// If the source cannot be read, or its text is not a history. `batch` then contains the ops before the error.
    /// Further calls return the same error.
    pub fn read_batch(&mut self, batch: &mut Batch) -> Result<bool, HistoryError> {
        batch.clear();
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        while batch.is_empty() && !self.ended {
            let read = if self.read_all { self.hand_out(batch) } else { self.read_block(batch) };
            if let Err(error) = read {
                self.failed = Some(error.clone());
                return Err(error);
            }
        }
        Ok(!batch.is_empty())
    }

    /// Passes every op to `see`, until it breaks or fails.
    ///
    /// # Errors
    ///
    /// If the text is not a history, or `see` returned an error, which gets the op's position and the text there.
    pub fn for_each(
        &mut self,
        mut see: impl FnMut(&Op<'_>) -> Result<ControlFlow<()>, HistoryError>,
    ) -> Result<(), HistoryError> {
        self.for_each_batch(|batch| batch.each(&mut see))
    }

    /// Passes all ops to `see`, a batch at a time, until it breaks or fails. No batch is empty.
    ///
    /// # Errors
    ///
    /// If the text is not a history, after the ops before the error; or the error of `see`.
    pub fn for_each_batch(
        &mut self,
        mut see: impl FnMut(&Batch) -> Result<ControlFlow<()>, HistoryError>,
    ) -> Result<(), HistoryError> {
        let mut batch = Batch::new();
        loop {
            let more = self.read_batch(&mut batch);
            if !batch.is_empty() && see(&batch)?.is_break() {
                return Ok(());
            }
            if !more? {
                return Ok(());
            }
        }
    }

    fn read_block(&mut self, batch: &mut Batch) -> Result<(), HistoryError> {
        let text_bytes_max = self.limits.text_bytes_max;
        if self.blocks.offset() > text_bytes_max {
            return Err(HistoryError::new(ErrorKind::Limit, format!("the text is longer than {text_bytes_max} bytes")));
        }
        if self.peers.is_some() || self.is_of_peers()? {
            return self.read_peers(batch);
        }
        let block = self.blocks.fill(batch.tape.source.to_mut())?;
        batch.starts_at = block.offset();
        if block.carried > self.limits.op_bytes_max {
            let text = &batch.tape.source;
            let error = too_long(self.limits.op_bytes_max, self.format, text, block.start, block.place);
            return Err(self.blocks.sited(error, &batch.tape.source, &block));
        }
        let format = match self.format {
            Some(format) => format,
            None => match sniff(&batch.tape.source, &block) {
                Ok(Sniffed::Known(format)) => format,
                Ok(Sniffed::More(space)) => {
                    self.blocks.keep_all(batch.tape.source.to_mut(), &block, block.start + space);
                    return if block.over { Err(no_op()) } else { Ok(()) };
                }
                Err(error) => return Err(self.blocks.sited(error, &batch.tape.source, &block)),
            },
        };
        self.format = Some(format);
        intervals::refuse_clock_error(format, self.clock_error_ns)?;
        if format.is_of_sessions() {
            self.blocks.put_back(batch.tape.source.to_mut(), &block);
            return Ok(());
        }
        if self.first_value != FirstValue::OfFormat {
            return Err(no_first_value(format));
        }
        let scanned = if format == Format::Intervals { self.collect(batch, &block) } else { self.scan(batch, &block) };
        let consumed = match scanned {
            Ok(consumed) => consumed,
            Err(error) => return Err(self.blocks.sited(error, &batch.tape.source, &block)),
        };
        self.read_all = block.over;
        if self.blocks.is_growing() && !block.last {
            let checked = self.torn.check(format, (&batch.tape.source, &block), consumed);
            checked.map_err(|error| self.blocks.sited(error, &batch.tape.source, &block))?;
        }
        if batch.records.is_empty() {
            self.blocks.keep_all(batch.tape.source.to_mut(), &block, consumed);
        } else {
            let counted = self.steps.as_ref().map_or(block.place, |steps| steps.counted(&block));
            self.blocks.keep_behind(counted, &batch.tape.source, &block, consumed);
        }
        if self.read_all {
            match &mut self.intervals {
                Some(intervals) if intervals.ops() > 0 => intervals.sort(self.pairing.as_mut())?,
                _ => self.ended = true,
            }
        }
        if self.ended && self.ops() == 0 && !self.steps.as_ref().is_some_and(Steps::saw_container) {
            return Err(no_op());
        }
        Ok(())
    }

    /// Returns true if the format is known to be another checker's, or can be detected from the first bytes.
    fn is_of_peers(&mut self) -> Result<bool, HistoryError> {
        if self.format.is_none() && self.steps.is_none() {
            self.format = binary(self.blocks.head()?);
        }
        let Some(format) = self.format else { return Ok(false) };
        intervals::refuse_clock_error(format, self.clock_error_ns)?;
        let names = std::mem::take(&mut self.session_names);
        self.peers = Peers::new(format, self.first_value, names, &self.limits).map(Box::new);
        Ok(self.peers.is_some())
    }

    /// Reads the next transactions of another checker's format.
    fn read_peers(&mut self, batch: &mut Batch) -> Result<(), HistoryError> {
        let Some(peers) = &mut self.peers else { return Ok(()) };
        let read = peers.read(&mut self.blocks, batch, &self.limits);
        let finished = self.finish_records(batch);
        self.ended = !finished.and(read)?;
        if self.ended && self.ops() == 0 {
            return Err(peers::no_txn());
        }
        Ok(())
    }

    /// Converts the values of a block to ops. Returns the position after them.
    fn scan(&mut self, batch: &mut Batch, block: &Block) -> Result<usize, HistoryError> {
        let format = self.format.unwrap_or(Format::Edn);
        let steps = self.steps.get_or_insert_with(|| Steps::new(format));
        let unit = self.unit;
        steps.take_plain(unit.is_none());
        let op_bytes_max = self.limits.op_bytes_max;
        let scanned = steps.run(batch, block, op_bytes_max, |batch, found, place| read_row(batch, found, place, unit));
        self.finish_records(batch).and(scanned)
    }

    /// Stores the intervals of a block. Returns the position after them.
    fn collect(&mut self, batch: &mut Batch, block: &Block) -> Result<usize, HistoryError> {
        let steps = self.steps.get_or_insert_with(|| Steps::new(Format::Intervals));
        let intervals = self.intervals.get_or_insert_with(|| Box::new(Intervals::new(self.unit, self.clock_error_ns)));
        let Limits { op_bytes_max, .. } = self.limits;
        steps.run(batch, block, op_bytes_max, |batch, found, place| {
            intervals.push(&batch.tape, found, place, &self.limits)
        })
    }

    /// Returns ops that were sorted.
    fn hand_out(&mut self, batch: &mut Batch) -> Result<(), HistoryError> {
        let more = self.intervals.as_mut().map(|intervals| intervals.hand_out(batch));
        self.ended = !more.transpose()?.unwrap_or_default();
        self.finish_records(batch)
    }

    /// Sets the indices and partners of the new ops of a batch.
    fn finish_records(&mut self, batch: &mut Batch) -> Result<(), HistoryError> {
        for i in 0..batch.len() {
            if let Err(error) = self.finish_record(batch, i) {
                let position = batch.records[i].position();
                batch.truncate(i);
                return Err(if let Some(position) = position { error.at(position) } else { error });
            }
        }
        Ok(())
    }

    fn finish_record(&mut self, batch: &mut Batch, i: usize) -> Result<(), HistoryError> {
        if self.ops() >= self.limits.ops_max {
            return Err(HistoryError::new(ErrorKind::Limit, format!("more than {} ops", self.limits.ops_max)));
        }
        let row = &mut own(&mut batch.records)[i];
        let index = self.indices.next(row.index())?;
        row.set_index(index);
        if let Some(pairing) = &mut self.pairing {
            let placed = pairing.place(&batch.head(i))?;
            batch.set_placed(i, &placed);
        }
        Ok(())
    }
}

/// Adds the op that a value represents.
#[inline]
fn read_row(batch: &mut Batch, found: steps::Found, place: Place, unit: Option<TimeUnit>) -> Result<(), HistoryError> {
    let row = match found.plain {
        Some(plain) => Row::of_plain(&plain, place.position()),
        None => {
            Row::read(&batch.tape, found.node, place.position(), unit).map_err(|fault| fault_error(fault, place))?
        }
    };
    own(&mut batch.records).push(row);
    Ok(())
}

#[cold]
fn no_op() -> HistoryError {
    HistoryError::new(ErrorKind::NotAnOp, "it contains no op").expected(crate::ops::row::OP)
}
