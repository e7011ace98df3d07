//! The formats of other checkers of transactions: sessions of transactions that read and write registers.
//!
//! None of them has invocations. A transaction becomes one completion, `f` txn, with micro-ops `r` and `w` (and
//! `append`, where a format has lists) and its session as the process; so the order within a session is the order of
//! ops, and there is no real time. A transaction that aborted becomes a `fail`. The value of a read before any write is
//! nil here, whatever the format uses ([`FirstValue`]). Some histories contain a transaction that writes this value and
//! is the only one of its session: if the format has a number for the value, that transaction is the first state, and
//! not an op.
//!
//! A format is a [`Decode`]: it decodes the transactions that end in a block of bytes, and returns how far it read, as
//! the tokenizers of the other formats do. Lengths in binary formats are never trusted: data is read piece by piece, up
//! to its stated length.

mod awdit;
mod bincode;
mod chronos;
mod cobra;
mod cursor;
mod dbcop_json;
mod detect;
mod hist;
mod json;
mod plume;
mod txn;

pub(crate) use cobra::{END as END_OF_SESSION, FIRST as FIRST_OF_COBRA};
pub(crate) use detect::{Guess, binary, line, nested, object, wrapper};
use txn::Out;
pub(crate) use txn::STAMPS;

use super::{Block, Blocks, Format, Limits, Place};
use crate::Position;
use crate::cast::Cast as _;
use crate::error::{ErrorKind, HistoryError};
use crate::ops::batch::Batch;
use crate::text::syntax::{Fault, FaultKind};
use std::cell::Cell;

/// The number of bytes from which a binary format is detected.
pub(crate) const HEAD_BYTES: usize = 64;

/// The value of reads before any write, in the formats of other checkers. Reads and writes of it become nil.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FirstValue {
    /// The format's own value: 0 for [`Format::Plume`] and [`Format::Dbcop`], none for formats with null or a similar
    /// value.
    #[default]
    OfFormat,
    /// No number: every number that is read was written.
    Null,
    /// This number.
    Number(i64),
}

impl FirstValue {
    /// The number that represents the first value in this format, if it is a number.
    fn of(self, format: Format) -> Option<i64> {
        match self {
            FirstValue::OfFormat => matches!(format, Format::Plume | Format::Dbcop).then_some(0),
            FirstValue::Null => None,
            FirstValue::Number(number) => Some(number),
        }
    }
}

/// The bytes of a block, and their position.
struct Input<'b> {
    /// The bytes. For the last block of a text, they end with one additional newline.
    bytes: &'b [u8],
    block: &'b Block,
    is_binary: bool,
    /// The last byte whose position was requested, and its place: most are requested in order.
    known: Cell<(usize, Place)>,
}

impl<'b> Input<'b> {
    fn new(bytes: &'b [u8], block: &'b Block, is_binary: bool) -> Input<'b> {
        Input { bytes, block, is_binary, known: Cell::new((block.start, block.place)) }
    }

    /// The position of a byte that is not before the block's start.
    fn position(&self, at: usize) -> Position {
        let at = at.min(self.block.end);
        if self.is_binary {
            return Position::of_byte(self.block.place.offset + (at - self.block.start).to_u64());
        }
        let (mut from, mut place) = self.known.get();
        if at < from {
            (from, place) = (self.block.start, self.block.place);
        }
        place.advance(&self.bytes[from..at]);
        self.known.set((at, place));
        place.position()
    }

    /// Returns true if a line that ends at `end` is the last one, without a newline of its own.
    fn is_cut(&self, end: usize) -> bool {
        self.block.last && end == self.block.end
    }

    /// The fault for bytes that end too early at `at`.
    fn ends_early(&self, at: usize, within: &'static str) -> Fault {
        let fault = Fault::syntax(at.min(self.block.end), format!("the file ends within {within}"), "the rest of it");
        Fault { kind: FaultKind::Incomplete, ..fault }
    }
}

/// The position up to which a decoder read, or the fault that stopped it.
type Decoded = Result<usize, Fault>;

/// A decoder of one format.
trait Decode: Send {
    /// Adds the transactions that end in a block to `out`. Returns how far it read.
    fn decode(&mut self, input: &Input<'_>, out: &mut Out<'_>) -> Decoded;

    /// Continues after the last block: adds some of the transactions that were held back to `out`. Returns whether
    /// there were any.
    fn hand_out(&mut self, _out: &mut Out<'_>) -> Result<bool, HistoryError> {
        Ok(false)
    }

    /// The session being read, for messages, if each session is a file.
    fn session(&self) -> Option<usize> {
        None
    }

    /// The number of bytes before the file of that session.
    fn session_starts(&self) -> u64 {
        0
    }
}

/// A reader of one of the formats.
pub(crate) struct Peers {
    format: Format,
    first: Option<i64>,
    decoder: Box<dyn Decode>,
    /// A copy of the current block.
    bytes: Vec<u8>,
    /// The names of the session files, if the sessions are files.
    names: Vec<String>,
    read_all: bool,
}

impl Peers {
    /// A reader; none if `format` is not one of these formats.
    pub(crate) fn new(format: Format, first: FirstValue, names: Vec<String>, limits: &Limits) -> Option<Peers> {
        let decoder: Box<dyn Decode> = match format {
            Format::Plume => Box::new(plume::Plume::new(limits.held_bytes_max)),
            Format::Awdit => Box::new(awdit::Awdit::default()),
            Format::Hist => Box::new(hist::Hist::default()),
            Format::DbcopJson => Box::new(dbcop_json::DbcopJson::default()),
            Format::Dbcop => Box::new(bincode::Bincode::default()),
            Format::Cobra => Box::new(cobra::Cobra::default()),
            Format::Chronos => Box::new(chronos::Chronos::default()),
            Format::Edn | Format::Json | Format::Intervals | Format::Table => return None,
        };
        Some(Peers { format, first: first.of(format), decoder, bytes: Vec::new(), names, read_all: false })
    }

    /// Reads a block, or returns transactions that were held back, into an empty batch. Returns whether there may be
    /// more.
    pub(crate) fn read(
        &mut self,
        blocks: &mut Blocks<'_>,
        batch: &mut Batch,
        limits: &Limits,
    ) -> Result<bool, HistoryError> {
        if self.read_all {
            batch.tape.source.to_mut().clear();
            batch.starts_at = u64::MAX;
            return self.decoder.hand_out(&mut Out::new(batch, self.first));
        }
        if self.format.is_binary() {
            self.read_bytes(blocks, batch, limits)
        } else {
            self.read_text(blocks, batch, limits)
        }
    }

    fn read_text(&mut self, blocks: &mut Blocks<'_>, batch: &mut Batch, limits: &Limits) -> Result<bool, HistoryError> {
        let block = blocks.fill(batch.tape.source.to_mut())?;
        batch.starts_at = block.offset();
        // Both the tape, while ops are added to it, and the decoder need the text.
        let mut text = std::mem::take(&mut self.bytes);
        text.clear();
        text.extend_from_slice(batch.tape.source.as_bytes());
        // Where the source ends, the text must be complete: the rest of a transaction that was begun would otherwise be
        // lost without an error.
        let whole = Block { last: block.over, ..block };
        if whole.last && !block.last {
            text.push(b'\n');
        }
        let taken = self.take(&Input::new(&text, &whole, false), batch, limits);
        self.bytes = text;
        let consumed = taken.map_err(|error| blocks.sited(error, &batch.tape.source, &block))?;
        if batch.is_empty() {
            blocks.keep_all(batch.tape.source.to_mut(), &block, consumed);
        } else {
            blocks.keep(&batch.tape.source, &block, consumed);
        }
        self.read_all = block.over;
        Ok(true)
    }

    fn read_bytes(
        &mut self,
        blocks: &mut Blocks<'_>,
        batch: &mut Batch,
        limits: &Limits,
    ) -> Result<bool, HistoryError> {
        batch.tape.source.to_mut().clear();
        batch.starts_at = u64::MAX;
        let mut bytes = std::mem::take(&mut self.bytes);
        let block = blocks.fill_bytes(&mut bytes)?;
        let whole = Block { last: block.over, ..block };
        let taken = self.take(&Input::new(&bytes, &whole, true), batch, limits);
        self.bytes = bytes;
        let consumed = taken?;
        blocks.keep_bytes(&self.bytes, &block, consumed);
        self.read_all = block.over;
        Ok(true)
    }

    fn take(&mut self, input: &Input<'_>, batch: &mut Batch, limits: &Limits) -> Result<usize, HistoryError> {
        if input.block.carried > limits.op_bytes_max {
            let message = format!("a transaction is longer than {} bytes", limits.op_bytes_max);
            return Err(HistoryError::new(ErrorKind::Limit, message).at(input.position(input.block.start)));
        }
        let decoded = self.decoder.decode(input, &mut Out::new(batch, self.first));
        decoded.map_err(|fault| {
            let mut position = input.position(fault.at.unwrap_or(input.block.start));
            position.offset = position.offset.saturating_sub(self.decoder.session_starts());
            let kind = match fault.kind {
                FaultKind::Op => ErrorKind::NotAnOp,
                FaultKind::Limit => ErrorKind::Limit,
                FaultKind::Incomplete | FaultKind::Syntax => ErrorKind::Syntax,
            };
            let named = self.decoder.session().and_then(|session| self.names.get(session));
            let message = match named {
                Some(name) => format!("{name}: {}", fault.message),
                None => fault.message,
            };
            HistoryError::new(kind, message).expected(fault.expected).at(position)
        })
    }
}

#[cold]
pub(super) fn no_txn() -> HistoryError {
    HistoryError::new(ErrorKind::NotAnOp, "there is no transaction in it").expected("one transaction at least")
}

/// The error if a first value is given for a format in which the first value is nil.
#[cold]
pub(crate) fn no_first_value(format: Format) -> HistoryError {
    let message = format!("a first value was given for a history in {format}, which has nil for it");
    HistoryError::new(ErrorKind::NotAnOp, message).expected("no such option, or a format of another checker")
}
