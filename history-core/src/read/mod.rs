//! Readers: a stream of bytes becomes batches of ops.
//!
//! The text is read in blocks into a buffer that is reused; an op that a block cuts is moved to the front of the next. So
//! memory does not follow the length of the history, only that of its longest op.

mod decompress;
mod sniff;
mod steps;

pub use sniff::Format;

use crate::batch::Batch;
use crate::error::{ErrorKind, HistoryError};
use crate::pairing::Pairing;
use crate::Op;
use std::io::Read;
use std::ops::ControlFlow;
use steps::{Place, Steps};

/// Bytes read at a time. Tokens of a block fit the second-level cache.
const BLOCK_BYTES: usize = 128 << 10;

/// What a reader will not exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes in one op's text.
    pub op_bytes_max: usize,
    /// Ops in one history.
    pub ops_max: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { op_bytes_max: 1 << 30, ops_max: u64::from(u32::MAX) }
    }
}

/// Reads ops from a source of bytes, and pairs them.
///
/// Formats are told apart by their first bytes: EDN (maps one after another, or in one vector or list), JSON (an array,
/// objects one after another, JSON Lines), Jepsen's `history.txt`; with the features `gzip` and `zstd`, each compressed.
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
    source: Box<dyn Read + Send + 's>,
    /// Whether `source` has been looked at for compression.
    opened: bool,
    format: Option<Format>,
    limits: Limits,
    pairing: Option<Pairing>,
    /// Text behind the last whole op, to be read again with what follows it.
    rest: Vec<u8>,
    /// Where `rest` begins in the whole text.
    rest_place: Place,
    steps: Option<Steps>,
    ended: bool,
    ops: u64,
    has_indices: bool,
    last_index: Option<u64>,
}

impl<'s> Reader<'s> {
    /// A reader of whatever `source` turns out to hold.
    pub fn new(source: impl Read + Send + 's) -> Reader<'s> {
        Reader {
            source: Box::new(source),
            opened: false,
            format: None,
            limits: Limits::default(),
            pairing: Some(Pairing::new()),
            rest: Vec::new(),
            rest_place: Place::default(),
            steps: None,
            ended: false,
            ops: 0,
            has_indices: false,
            last_index: None,
        }
    }

    /// Takes the source for this format, instead of finding it out.
    #[must_use]
    pub fn with_format(mut self, format: Format) -> Reader<'s> {
        self.format = Some(format);
        self
    }

    /// Sets limits other than the default ones.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Reader<'s> {
        self.limits = limits;
        self
    }

    /// Leaves ops as they are: every [`Op::pair`] is [`Pair::Alone`](crate::Pair::Alone), and whether invocations and
    /// completions fit together is not looked at.
    #[must_use]
    pub fn without_pairing(mut self) -> Reader<'s> {
        self.pairing = None;
        self
    }

    /// The format, once the first batch was read.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// How many ops have been read.
    pub fn ops(&self) -> u64 {
        self.ops
    }

    /// How many bytes of (decompressed) text the ops read so far took.
    pub fn bytes(&self) -> u64 {
        self.rest_place.offset
    }

    /// Reads the next ops into `batch`, in place of those it holds. False, and no ops, at the end of the history.
    ///
    /// # Errors
    ///
    /// If the source cannot be read, or its text is not a history. `batch` then holds the ops before the error.
    pub fn read_batch(&mut self, batch: &mut Batch) -> Result<bool, HistoryError> {
        batch.clear();
        while batch.is_empty() && !self.ended {
            self.read_block(batch)?;
        }
        Ok(!batch.is_empty())
    }

    /// Gives every op to `see`, until that breaks or fails.
    ///
    /// # Errors
    ///
    /// If the text is not a history, or `see` returned an error; that gets the op's position and the text there.
    pub fn for_each(
        &mut self,
        mut see: impl FnMut(&Op<'_>) -> Result<ControlFlow<()>, HistoryError>,
    ) -> Result<(), HistoryError> {
        let mut batch = Batch::new();
        loop {
            let more = self.read_batch(&mut batch);
            if batch.each(&mut see)?.is_break() {
                return Ok(());
            }
            if !more? {
                return Ok(());
            }
        }
    }

    fn read_block(&mut self, batch: &mut Batch) -> Result<(), HistoryError> {
        let at_end = self.fill(batch)?;
        let format = match self.format {
            Some(format) => format,
            None => match sniff::format(&batch.tape.source, at_end) {
                Ok(Some(format)) => format,
                Ok(None) => return self.put_back(batch, 0),
                Err(error) => return Err(self.sited(error, batch)),
            },
        };
        self.format = Some(format);
        let steps = self.steps.get_or_insert_with(|| Steps::new(format));
        let done = steps.run(batch, self.rest_place, at_end);
        let finished = self.finish_records(batch);
        let consumed = match (done, finished) {
            (_, Err(error)) | (Err(error), Ok(())) => return Err(self.sited(error, batch)),
            (Ok(consumed), Ok(())) => consumed,
        };
        if at_end {
            self.ended = true;
            if self.ops == 0 && !self.steps.as_ref().is_some_and(Steps::saw_container) {
                let error = HistoryError::new(ErrorKind::NotAnOp, "there is no op in it").expected(crate::batch::OP);
                return Err(self.sited(error, batch));
            }
        }
        self.put_back(batch, consumed)
    }

    /// Moves `rest` and the next bytes of the source into the batch. Whether the source ended.
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, HistoryError> {
        let io = |e: std::io::Error| HistoryError::new(ErrorKind::Io, format!("reading failed: {e}"));
        if !self.opened {
            let source = std::mem::replace(&mut self.source, Box::new(std::io::empty()));
            self.source = decompress::open(source)?;
            self.opened = true;
        }
        let mut bytes = std::mem::take(&mut batch.tape.source).into_bytes();
        bytes.clear();
        bytes.append(&mut self.rest);
        // An op longer than a block: double what is read, so that it is not scanned more than twice its length in all.
        let want = BLOCK_BYTES.max(bytes.len());
        let before = bytes.len();
        let got = self.source.by_ref().take(want as u64).read_to_end(&mut bytes).map_err(io)?;
        let at_end = got < want;
        batch.starts_at = self.rest_place.offset;
        if at_end {
            // Ends the last token; a scanner never has to ask whether the text is over.
            bytes.push(b'\n');
        }
        if before > self.limits.op_bytes_max {
            let message = format!("an op is longer than {} bytes", self.limits.op_bytes_max);
            return Err(HistoryError::new(ErrorKind::Limit, message).at(self.rest_place.position()));
        }
        match String::from_utf8(bytes) {
            Ok(text) => batch.tape.source = text,
            Err(error) => {
                let utf8 = error.utf8_error();
                let valid = utf8.valid_up_to();
                bytes = error.into_bytes();
                if utf8.error_len().is_some() || at_end {
                    let mut place = self.rest_place;
                    place.advance(&bytes, 0, valid);
                    return Err(HistoryError::new(ErrorKind::Syntax, "these bytes are not UTF-8")
                        .expected("UTF-8 text")
                        .at(place.position())
                        .with_source(&bytes, self.rest_place.offset));
                }
                // The block ends inside a character.
                self.rest = bytes.split_off(valid);
                batch.tape.source = String::from_utf8(bytes).unwrap_or_default();
            }
        }
        Ok(at_end)
    }

    /// Keeps the text from `consumed` on for the next block.
    fn put_back(&mut self, batch: &Batch, consumed: usize) -> Result<(), HistoryError> {
        let text = batch.tape.source.as_bytes();
        self.rest_place.advance(text, 0, consumed);
        let cut_char = std::mem::take(&mut self.rest);
        self.rest.extend_from_slice(&text[consumed..]);
        self.rest.extend_from_slice(&cut_char);
        if self.ended {
            self.rest.clear();
        }
        Ok(())
    }

    /// Gives the new ops of a batch their indices and partners.
    fn finish_records(&mut self, batch: &mut Batch) -> Result<(), HistoryError> {
        for i in 0..batch.len() {
            if let Err(error) = self.finish_record(batch, i) {
                let position = batch.records[i].position;
                batch.records.truncate(i);
                return Err(error.at(position));
            }
        }
        Ok(())
    }

    fn finish_record(&mut self, batch: &mut Batch, i: usize) -> Result<(), HistoryError> {
        let written = batch.records[i].index;
        if self.ops == 0 {
            self.has_indices = written.is_some();
        }
        if self.ops >= self.limits.ops_max {
            return Err(HistoryError::new(ErrorKind::Limit, format!("more than {} ops", self.limits.ops_max)));
        }
        let index = match (self.has_indices, written) {
            (true, Some(index)) => index,
            (false, None) => self.ops,
            (true, None) => {
                return Err(HistoryError::new(ErrorKind::Pairing, "this op has no index, though those before it have one")
                    .expected("an index in every op, or in none"));
            }
            (false, Some(_)) => {
                return Err(HistoryError::new(ErrorKind::Pairing, "this op has an index, though those before it have none")
                    .expected("an index in every op, or in none"));
            }
        };
        if let Some(last) = self.last_index
            && index <= last
        {
            return Err(HistoryError::new(ErrorKind::Pairing, format!("the op's index, {index}, follows {last}"))
                .expected("indices that increase; sort the ops by index, or leave the indices out"));
        }
        self.last_index = Some(index);
        self.ops += 1;
        batch.records[i].index = Some(index);
        if let Some(pairing) = &mut self.pairing {
            let pair = pairing.pair(&batch.op(i))?;
            batch.records[i].pair = pair;
        }
        Ok(())
    }

    fn sited(&mut self, error: HistoryError, batch: &Batch) -> HistoryError {
        self.ended = true;
        error.with_source(batch.tape.source.as_bytes(), batch.starts_at)
    }
}

impl Batch {
    /// Gives every op to `see`; an error gets the op's position and text.
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
}
