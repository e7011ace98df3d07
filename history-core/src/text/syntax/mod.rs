//! Tokenizers: one interface over EDN, JSON and the table that Jepsen calls `history.txt`.
//!
//! Each reads one value (or line) at a time from a block of text onto a tape, with an explicit stack. If a block ends
//! in the middle of a value, the fault is [`FaultKind::Incomplete`], and the reader calls again with more text. The
//! result of a tokenizer does not depend on where blocks end: it waits until it has all the text that it needs to
//! decide.

pub(crate) mod edn;
mod edn_token;
pub(crate) mod field;
pub(crate) mod json;
mod keys;
mod luck;
pub(crate) mod memo;
mod mop;
mod number;
pub(crate) mod plain;
mod string;
pub(crate) mod table;

pub(crate) use edn_token::is_name;

use crate::values::tape::{Mark, Tag, Tape};

/// The maximum nesting depth of containers.
pub(crate) const DEPTH_MAX: usize = 512;

/// The maximum number of values in one op; a list that contains only integers counts as one. Each takes 16 bytes, and
/// may take only three bytes of text.
pub(crate) const VALUES_MAX: usize = 1 << 24;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FaultKind {
    /// The block ends inside a value.
    Incomplete,
    Syntax,
    /// The value is valid, but not an op.
    Op,
    Limit,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    /// The position in the block. Absent if the fault concerns an op as a whole.
    pub(crate) at: Option<usize>,
    /// The opening bracket that the fault concerns, if it is elsewhere.
    pub(crate) opened_at: Option<usize>,
    pub(crate) message: String,
    pub(crate) expected: &'static str,
}

impl Fault {
    pub(crate) fn op(message: String, expected: &'static str) -> Fault {
        Fault { kind: FaultKind::Op, at: None, opened_at: None, message, expected }
    }

    pub(crate) fn syntax(at: usize, message: impl Into<String>, expected: &'static str) -> Fault {
        Fault { kind: FaultKind::Syntax, at: Some(at), opened_at: None, message: message.into(), expected }
    }

    fn incomplete(at: usize, message: impl Into<String>, expected: &'static str) -> Fault {
        Fault { kind: FaultKind::Incomplete, ..Fault::syntax(at, message, expected) }
    }
}

/// What encloses the value being read.
#[derive(Clone, Copy, Debug)]
enum Frame {
    /// A vector, list, set or map.
    Container { node: u32, count: u32, close: u8, opened_at: usize },
    /// `#tag`, which takes one value.
    Tag { at: usize },
    /// `#_`, which takes one value and discards it.
    Discard { mark: Mark, at: usize },
}

/// The position of a tokenizer in a block.
pub(crate) struct Scanner<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) pos: usize,
    tape: &'a mut Tape,
    stack: Vec<Frame>,
    /// The number of frames around the value that is read as if it were the outermost.
    floor: usize,
}

impl<'a> Scanner<'a> {
    /// Scans `bytes`, which must be the tape's `source`, from `pos` on.
    pub(crate) fn new(bytes: &'a [u8], pos: usize, tape: &'a mut Tape) -> Scanner<'a> {
        Scanner { bytes, pos, tape, stack: Vec::new(), floor: 0 }
    }

    /// The node that the next value will have.
    pub(crate) fn next_node(&self) -> usize {
        self.tape.nodes.len()
    }

    pub(crate) fn mark(&self) -> Mark {
        self.tape.mark()
    }

    /// Discards the value that was begun after `mark`.
    pub(crate) fn cut(&mut self, mark: Mark) {
        self.tape.cut(mark);
        self.stack.clear();
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    /// The byte at this distance after `pos`.
    pub(crate) fn byte(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.pos + ahead).copied()
    }

    /// The text read since `at`.
    pub(crate) fn since(&self, at: usize) -> &'a [u8] {
        &self.bytes[at..self.pos]
    }

    /// The fault of a block that ends here.
    #[cold]
    pub(crate) fn incomplete(&self) -> Fault {
        // The message shows the innermost open container, because that is what a user looks for.
        let (at, what) = match self.stack.last() {
            Some(Frame::Container { opened_at, .. }) => {
                (*opened_at, format!("the text ends before this {} is closed", self.bracket(*opened_at)))
            }
            Some(Frame::Tag { at }) => (*at, "the text ends before the value of this tag".into()),
            Some(Frame::Discard { at, .. }) => (*at, "the text ends before the value that this #_ discards".into()),
            None => (self.pos.min(self.bytes.len()), "the text ends inside a value".into()),
        };
        Fault::incomplete(at, what, "the rest of it")
    }

    /// The opening bracket of the container at `at`, as it is written.
    fn bracket(&self, at: usize) -> &'static str {
        match self.bytes[at] {
            b'#' => "#{",
            b'{' => "{",
            b'(' => "(",
            _ => "[",
        }
    }

    /// Rejects a value, read from `from` on, if it contains too many values. `nodes` is the number of nodes before it.
    #[inline]
    fn count_values(&self, from: usize, nodes: usize) -> Result<(), Fault> {
        // A value takes at least one byte, so fewer bytes cannot contain more values.
        if self.pos - from > VALUES_MAX && self.tape.nodes.len() - nodes > VALUES_MAX {
            return Err(self.too_many_values());
        }
        Ok(())
    }

    #[cold]
    fn too_many_values(&self) -> Fault {
        let message = format!("this op contains more than {VALUES_MAX} values");
        Fault { kind: FaultKind::Limit, ..Fault::syntax(self.pos, message, "an op with fewer values") }
    }

    #[inline]
    fn push_frame(&mut self, frame: Frame) -> Result<(), Fault> {
        if self.stack.len() >= DEPTH_MAX {
            return Err(Fault {
                kind: FaultKind::Limit,
                ..Fault::syntax(
                    self.pos,
                    format!("values are nested more than {DEPTH_MAX} deep here"),
                    "a value nested less deeply",
                )
            });
        }
        self.stack.push(frame);
        Ok(())
    }

    #[inline]
    fn open(&mut self, tag: Tag, close: u8, opened_at: usize, count: u32) -> Result<(), Fault> {
        let node = self.tape.open(tag);
        self.push_frame(Frame::Container { node, count, close, opened_at })
    }

    /// The character at a position, as messages show it.
    fn shown(&self, at: usize) -> String {
        let some = &self.bytes[at..self.bytes.len().min(at + 4)];
        let valid = match std::str::from_utf8(some) {
            Ok(text) => text,
            Err(e) => std::str::from_utf8(&some[..e.valid_up_to()]).unwrap_or_default(),
        };
        valid.chars().next().map_or_else(|| "a character".into(), |c| format!("{c:?}"))
    }
}
