//! A source in pieces that end at line ends, for several threads to read.
//!
//! A piece may nevertheless end anywhere in the history: within a string, or an op of several lines. The threads that
//! read the pieces detect this, and return the pieces.

use super::{Block, Blocks};
use crate::cast::Cast as _;
use crate::text::read::place::Place;
use std::io;

/// The length of a piece in blocks. A piece is cut before the last line in it that may begin with an op. If there is
/// none, the piece is extended, again by this length. If it becomes more than `LONG_PIECES` times as long, no more
/// pieces are cut.
const PIECE_BLOCKS: usize = 2;
const LONG_PIECES: usize = 16;

/// The maximum amount of white space before the first op of a line.
const INDENT_MAX: usize = 16;

/// The pieces of a source.
pub(in crate::text::read) struct Pieces {
    /// The beginning of the next piece.
    carried: Vec<u8>,
    /// How many bytes of it were read before.
    behind: usize,
    /// The indentation of lines that begin an op, if known: pieces end before such lines.
    indent: Vec<u8>,
    piece_bytes: usize,
    /// Whether no piece was cut yet.
    pub(in crate::text::read) is_first: bool,
    /// Whether there are no more pieces.
    pub(in crate::text::read) ended: bool,
    /// Whether the pieces ended because a long text contains no end of a line.
    pub(in crate::text::read) is_long: bool,
    failure: Option<io::Error>,
}

impl Pieces {
    /// Begins with the text that was not read yet; for blocks that [can be cut](Blocks::can_be_cut).
    pub(in crate::text::read) fn of(blocks: &mut Blocks<'_>) -> Pieces {
        let carried = std::mem::take(&mut blocks.rest);
        let behind = std::mem::take(&mut blocks.behind);
        let is_indent = |b: &u8| b.is_ascii_whitespace() || *b == b',';
        let begins = carried.get(..=behind).unwrap_or_default();
        let indent = if begins.len() <= INDENT_MAX && begins[..begins.len().saturating_sub(1)].iter().all(is_indent) {
            begins.to_vec()
        } else {
            Vec::new()
        };
        let piece_bytes = PIECE_BLOCKS * blocks.block_bytes;
        Pieces { carried, behind, indent, piece_bytes, is_first: true, ended: false, is_long: false, failure: None }
    }

    /// Replaces the content of `bytes` by the next piece. Returns how much of it was read before and is there for
    /// messages only. `None` if there is no further piece: one thread then reads the rest of the source.
    pub(in crate::text::read) fn next(&mut self, blocks: &mut Blocks<'_>, bytes: &mut Vec<u8>) -> Option<usize> {
        let mut len = self.carried.len();
        lengthen(bytes, len)[..len].copy_from_slice(&self.carried);
        self.carried.clear();
        let mut searched = self.behind;
        while !self.ended {
            let (got, failure) =
                blocks.source.read_over(&mut lengthen(bytes, len + self.piece_bytes)[len..][..self.piece_bytes]);
            len += got;
            self.ended = got < self.piece_bytes;
            self.failure = failure.err();
            if !self.ended
                && let Some(end) = self.end_in(&bytes[..len], searched)
            {
                self.carried.extend_from_slice(&bytes[end..len]);
                bytes.truncate(end);
                self.is_first = false;
                return Some(std::mem::take(&mut self.behind));
            }
            searched = len.saturating_sub(self.indent.len() + 1).max(searched);
            self.is_long = !self.ended && len > LONG_PIECES * self.piece_bytes;
            self.ended |= self.is_long;
        }
        bytes.truncate(len);
        std::mem::swap(bytes, &mut self.carried);
        None
    }

    /// Returns true if the source is read to its end, or as far as it can be.
    pub(in crate::text::read) fn is_over(&self) -> bool {
        self.ended && !self.is_long
    }

    /// The number of bytes that were read from the source and are in no piece.
    pub(in crate::text::read) fn carried_bytes(&self) -> usize {
        self.carried.len() - self.behind
    }

    /// The beginning of the last line that may begin with an op, if it is after `from`.
    fn end_in(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut high = bytes.len();
        while let Some(at) = memchr::memrchr(b'\n', &bytes[from..high]) {
            if bytes[from + at + 1..].starts_with(&self.indent) {
                return Some(from + at + 1);
            }
            high = from + at;
        }
        None
    }
}

/// Returns the buffer with at least this length. It is not shortened: its content is overwritten anyway, and clearing
/// it would take as long.
fn lengthen(bytes: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if bytes.len() < len {
        bytes.resize(len, 0);
    }
    bytes
}

impl Blocks<'_> {
    /// The maximum length of a piece in bytes.
    pub(in crate::text::read) fn piece_bytes_max(&self) -> usize {
        (LONG_PIECES + 2) * PIECE_BLOCKS * self.block_bytes
    }

    /// Returns true if the following text may be read in pieces: reading need not wait for the source, and there was no
    /// error so far.
    pub(in crate::text::read) fn can_be_cut(&self) -> bool {
        let is_simple = self.opened && !self.eager && self.may_be_cut.is_none();
        is_simple && self.again.is_none() && self.fault.is_none() && self.rest.len() <= self.block_bytes
    }

    /// Returns true if at least this number of blocks was read.
    pub(in crate::text::read) fn has_read(&self, blocks: usize) -> bool {
        self.place.offset >= (blocks * self.block_bytes).to_u64()
    }

    /// A piece as a block; its places are counted from its beginning.
    pub(in crate::text::read) fn block_of(bytes: &[u8], start: usize) -> Block {
        let place = Place { offset: start.to_u64(), ..Place::default() };
        Block { start, end: bytes.len(), carried: 0, over: false, last: false, place }
    }

    /// The place where a piece begins, given how many of its bytes were read before.
    pub(in crate::text::read) fn begins(&self, start: usize) -> Place {
        Place { offset: self.place.offset - start.to_u64(), ..self.place }
    }

    /// Continues after a piece that was read.
    pub(in crate::text::read) fn pass(&mut self, end: Place) {
        self.place = end;
    }

    /// Takes back the text of pieces that did not count: `bytes`, with the number of them that were read before, and
    /// the text that was not cut yet.
    pub(in crate::text::read) fn take_back(&mut self, pieces: Pieces, bytes: Option<(Vec<u8>, usize)>) {
        let Pieces { mut carried, behind, failure, .. } = pieces;
        let (mut all, behind) = bytes.unwrap_or((Vec::new(), behind));
        all.append(&mut carried);
        self.source.give_back(&all[behind..], failure);
        all.truncate(behind);
        (self.rest, self.behind) = (all, behind);
    }
}
