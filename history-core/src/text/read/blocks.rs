//! Divides the text of a source into blocks. Each begins where the reader stopped in the previous one.

mod pieces;
mod torn;

pub(super) use pieces::Pieces;
pub(super) use torn::Torn;

use super::decompress::{self, Source};
use super::peers::HEAD_BYTES;
use super::place::Place;
use super::unread::Unread;
use crate::cast::Cast as _;
use crate::error::{ErrorKind, HistoryError, Position, Snippet};
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes read at a time. Tokens of a block fit the second-level cache.
const BLOCK_BYTES: usize = 128 << 10;

/// A buffer of at most this many blocks is kept for the next block.
const LONG_BLOCKS: usize = 16;

/// A source of text: decompressed, and verified to be UTF-8.
pub(crate) struct Blocks<'s> {
    source: Unread<'s>,
    /// Whether `source` has been examined for compression.
    opened: bool,
    /// Whether the source was compressed, so that offsets in it differ from those in the text.
    is_compressed: bool,
    /// The first bytes of the source, once it was opened; empty for a source that is being written.
    head: Vec<u8>,
    /// A block that was returned to the source.
    again: Option<(String, Block)>,
    /// Whether a block ends where the source has no more data yet.
    eager: bool,
    /// Whether the source may end within an op; read once the source has ended. Absent if it may not.
    may_be_cut: Option<Arc<AtomicBool>>,
    block_bytes: usize,
    /// The maximum length of an op in bytes: no more text of a longer op is read.
    op_bytes_max: usize,
    /// The end of the last block: first, text that was read and is kept for messages, then unread text.
    rest: Vec<u8>,
    /// The number of bytes of `rest` that were read; at most its length.
    behind: usize,
    /// Where the unread text begins.
    place: Place,
    /// The error that ends the text; reported once all text before it was read.
    fault: Option<HistoryError>,
}

/// The result of a call of [`Blocks::fill`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// Where the text not read yet begins.
    pub(crate) start: usize,
    /// Where the source's text ends; one additional newline follows if the block is the last.
    pub(crate) end: usize,
    /// The length of the incomplete op at the beginning, which was already in the previous block.
    pub(crate) carried: usize,
    /// Whether the source ended.
    pub(crate) over: bool,
    /// Whether the text ends here, and must be complete.
    pub(crate) last: bool,
    /// The place of `start`.
    pub(crate) place: Place,
}

impl Block {
    /// The offset of the block's text in the whole text.
    pub(crate) fn offset(&self) -> u64 {
        self.place.offset - self.start.to_u64()
    }

    /// The place of a byte of the block's text that is not before `start`.
    pub(crate) fn place_of(&self, text: &str, at: usize) -> Place {
        let mut place = self.place;
        place.advance(&text.as_bytes()[self.start..at.min(self.end)]);
        place
    }
}

impl<'s> Blocks<'s> {
    pub(crate) fn new(source: Source<'s>) -> Blocks<'s> {
        Blocks {
            source: Unread::new(source),
            opened: false,
            is_compressed: false,
            head: Vec::new(),
            again: None,
            eager: false,
            may_be_cut: None,
            block_bytes: BLOCK_BYTES,
            op_bytes_max: usize::MAX,
            rest: Vec::new(),
            behind: 0,
            place: Place::default(),
            fault: None,
        }
    }

    pub(crate) fn is_compressed(&self) -> bool {
        self.is_compressed
    }

    pub(crate) fn set_eager(&mut self) {
        self.eager = true;
    }

    pub(crate) fn set_may_be_cut(&mut self, may_be_cut: Arc<AtomicBool>) {
        self.may_be_cut = Some(may_be_cut);
    }

    /// Returns true if the source is still being written, so that it may end within an op.
    pub(crate) fn is_growing(&self) -> bool {
        self.may_be_cut.is_some()
    }

    fn may_be_cut(&self) -> bool {
        self.may_be_cut.as_ref().is_some_and(|may_be_cut| may_be_cut.load(Ordering::SeqCst))
    }

    pub(crate) fn set_block_bytes(&mut self, bytes: usize) {
        self.block_bytes = bytes.max(1);
    }

    pub(crate) fn set_op_bytes_max(&mut self, bytes: usize) {
        self.op_bytes_max = bytes;
    }

    /// The offset of the next unread byte.
    pub(crate) fn offset(&self) -> u64 {
        self.place.offset
    }

    /// The place of the next unread text in the source; `None` if that is unknown.
    pub(crate) fn place(&self) -> Option<Place> {
        (!self.is_compressed && self.again.is_none() && self.fault.is_none()).then_some(self.place)
    }

    /// Sets the place of the source's next text.
    pub(crate) fn begin_at(&mut self, place: Place) {
        (self.opened, self.place) = (true, place);
    }

    /// Appends the unread text, and more, to `text`.
    ///
    /// The last block ends in an additional newline. It ends the last token, so a tokenizer need not check whether the
    /// text has ended.
    pub(crate) fn fill(&mut self, text: &mut String) -> Result<Block, HistoryError> {
        if let Some((again, block)) = self.again.take() {
            *text = again;
            return Ok(block);
        }
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        self.open()?;
        let mut bytes = self.joined(std::mem::take(text).into_bytes());
        let unread = bytes.len() - self.behind;
        let (start, place) = (self.behind, self.place);
        let (last, failure) = match self.pull(&mut bytes, unread) {
            Ok(last) => (last, None),
            Err(error) => (false, Some(error)),
        };
        match String::from_utf8(bytes) {
            Ok(valid) => *text = valid,
            Err(error) => {
                self.cut_at_bad_bytes(error, text, last && !self.may_be_cut() || failure.is_some(), failure.is_some());
            }
        }
        if let Some(error) = failure
            && self.fault.is_none()
        {
            let mut end = place;
            end.advance(&text.as_bytes()[start..]);
            let error = HistoryError::io(format!("reading failed: {error}"), error);
            self.fault = Some(if end.offset == 0 { error } else { error.at(end.position()) });
        }
        let end = text.len();
        let over = last && self.fault.is_none();
        let last = over && !self.may_be_cut();
        if last {
            text.push('\n');
        }
        Ok(Block { start, end, carried: unread, over, last, place })
    }

    /// Examines the beginning of the source, when first called.
    fn open(&mut self) -> Result<(), HistoryError> {
        if !self.opened {
            let source = std::mem::replace(&mut self.source, Unread::new(Box::new(io::empty()))).into_source();
            let (source, mark_bytes, is_compressed) = decompress::open(source)?;
            (self.source, self.place.offset, self.is_compressed) = (Unread::new(source), mark_bytes, is_compressed);
            if !self.eager {
                // The error is given back to the source, to be returned again after the bytes before it.
                let looked = self.source.read_up_to(HEAD_BYTES, &mut self.head);
                self.source.give_back(&self.head, looked.err());
            }
            self.opened = true;
        }
        Ok(())
    }

    /// The first unread bytes, decompressed; empty if reading them would have to wait for the source.
    pub(crate) fn head(&mut self) -> Result<&[u8], HistoryError> {
        self.open()?;
        Ok(&self.head)
    }

    /// The same as [`Blocks::fill`] for binary formats. Nothing is added to the last block.
    pub(crate) fn fill_bytes(&mut self, bytes: &mut Vec<u8>) -> Result<Block, HistoryError> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        self.open()?;
        *bytes = self.joined(std::mem::take(bytes));
        let (carried, place) = (bytes.len(), self.place);
        let over = self.pull(bytes, carried).map_err(|error| {
            let at = Position::of_byte(place.offset + bytes.len().to_u64());
            HistoryError::io(format!("reading failed: {error}"), error).at(at)
        })?;
        Ok(Block { start: 0, end: bytes.len(), carried, over, last: over && !self.may_be_cut(), place })
    }

    /// Keeps the bytes of a block from `consumed` on for the next one.
    pub(crate) fn keep_bytes(&mut self, bytes: &[u8], block: &Block, consumed: usize) {
        self.place.offset += (consumed - block.start).to_u64();
        self.behind = 0;
        self.rest.clear();
        if !block.last {
            self.rest.extend_from_slice(&bytes[consumed..]);
        }
    }

    /// Returns a block of text to the source, as if it had not been read.
    pub(crate) fn put_back(&mut self, text: &mut String, block: &Block) {
        self.again = Some((std::mem::take(text), *block));
    }

    /// Returns the end of the last block, in `buffer` if it fits. A buffer that grew for one long op is dropped.
    fn joined(&mut self, mut buffer: Vec<u8>) -> Vec<u8> {
        buffer.clear();
        if self.rest.capacity() > buffer.capacity() {
            std::mem::swap(&mut buffer, &mut self.rest);
        } else {
            buffer.append(&mut self.rest);
        }
        let bytes_max = LONG_BLOCKS * self.block_bytes;
        if self.rest.capacity() > bytes_max {
            self.rest = Vec::new();
        }
        if buffer.len() < self.block_bytes && buffer.capacity() > bytes_max {
            buffer.shrink_to(bytes_max);
        }
        buffer
    }

    /// Reads more bytes. Returns whether the source has ended.
    fn pull(&mut self, bytes: &mut Vec<u8>, unread: usize) -> io::Result<bool> {
        // For an op longer than a block, the text read is doubled, so that it is scanned at most twice in all. One byte
        // more than the limit is enough to detect that an op is too long.
        let room = self.op_bytes_max.saturating_add(1).saturating_sub(unread);
        let want = self.block_bytes.max(unread.min(room));
        if want > self.block_bytes {
            // Reserves exactly this much, where a vector would double its capacity.
            bytes.reserve_exact(want + 1);
        }
        if !self.eager {
            let got = self.source.read_up_to(want, bytes)?;
            return Ok(got < want);
        }
        let end = bytes.len() + want;
        loop {
            let before = bytes.len();
            bytes.resize(end.min(before + self.block_bytes), 0);
            let got = self.source.read(&mut bytes[before..]);
            bytes.truncate(before + *got.as_ref().unwrap_or(&0));
            match got {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(0) => return Ok(true),
                // Scanning half of a long op again is not worthwhile. Text that ends with a line may be all that the
                // source has now.
                Ok(_) if unread <= self.block_bytes || bytes.len() == end || bytes.ends_with(b"\n") => {
                    return Ok(false);
                }
                Ok(_) => {}
            }
        }
    }

    /// Removes invalid bytes and all bytes after them from the text. They are an error, unless they may be a character
    /// that the end of the block cut off.
    fn cut_at_bad_bytes(&mut self, error: std::string::FromUtf8Error, text: &mut String, ended: bool, failed: bool) {
        let utf8 = error.utf8_error();
        let mut bytes = error.into_bytes();
        let valid = utf8.valid_up_to();
        let cut = utf8.error_len().is_none();
        let may_go_on = cut && (!ended || failed);
        if !may_go_on {
            let mut place = self.place;
            place.advance(&bytes[self.behind..valid]);
            if !self.eager {
                // The bytes after the invalid ones are read only to show them. A growing source does not wait for them.
                let _ = self.source.read_up_to(Snippet::SIDE_BYTES_MAX, &mut bytes);
            }
            let error = HistoryError::new(ErrorKind::Syntax, "these bytes are not UTF-8").expected("UTF-8 text");
            let starts_at = self.place.offset - self.behind.to_u64();
            self.fault = Some(error.at(place.position()).with_source(&bytes, starts_at));
        }
        // The invalid bytes may also be shown in the message of an error before them.
        self.rest = bytes.split_off(valid);
        *text = String::from_utf8(bytes).unwrap_or_default();
    }

    /// Keeps the text of a block from `consumed` on for the next one.
    pub(crate) fn keep(&mut self, text: &str, block: &Block, consumed: usize) {
        self.keep_behind(block.place, text, block, consumed);
    }

    /// The same, if lines were counted up to a place of the block that is not after `consumed`.
    pub(crate) fn keep_behind(&mut self, counted: Place, text: &str, block: &Block, consumed: usize) {
        let consumed = consumed.min(block.end);
        let from = block.start + (counted.offset - block.place.offset).to_usize();
        self.place = counted;
        self.place.advance(&text.as_bytes()[from..consumed]);
        if block.last {
            return;
        }
        let cut_char = std::mem::take(&mut self.rest);
        let shown_from = Snippet::start(text, consumed);
        self.behind = consumed - shown_from;
        self.rest.extend_from_slice(&text.as_bytes()[shown_from..]);
        self.rest.extend_from_slice(&cut_char);
    }

    /// The same, if the text is not needed any more: a long op is moved, not copied.
    pub(crate) fn keep_all(&mut self, text: &mut String, block: &Block, consumed: usize) {
        let consumed = consumed.min(block.end);
        self.place.advance(&text.as_bytes()[block.start..consumed]);
        if block.last {
            return;
        }
        let shown_from = Snippet::start(text, consumed);
        self.behind = consumed - shown_from;
        let mut bytes = std::mem::take(text).into_bytes();
        bytes.drain(..shown_from);
        bytes.append(&mut self.rest);
        self.rest = bytes;
    }

    /// Adds the text at an error's position. Reads on to show what follows it, so no block comes after this.
    pub(crate) fn sited(&mut self, error: HistoryError, text: &str, block: &Block) -> HistoryError {
        let Some(position) = error.position else { return error };
        let at = position.offset.saturating_sub(block.offset()).to_usize();
        // Only the text near the position is copied, because an op may be long.
        let (low, high) = (at.saturating_sub(Snippet::SIDE_BYTES_MAX).min(block.end), at + Snippet::SIDE_BYTES_MAX);
        let mut bytes = text.as_bytes()[low..high.clamp(low, block.end)].to_vec();
        let shown = memchr::memchr(b'\n', bytes.get(at - low..).unwrap_or_default()).is_some();
        if high > block.end {
            let missing = high - block.end;
            bytes.append(&mut self.rest);
            if !shown && !block.last {
                let _ = self.source.read_up_to(missing, &mut bytes);
            }
        }
        error.with_source(&bytes, block.offset() + low.to_u64())
    }
}
