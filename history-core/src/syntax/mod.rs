//! Tokenizers: one interface over EDN, JSON and the table that Jepsen calls `history.txt`.
//!
//! Each reads one value (or line) at a time from a block of text onto a tape, with an explicit stack. A block may end in
//! the middle of a value; then the fault is [`FaultKind::Incomplete`], and the reader comes again with more text.

pub(crate) mod edn;
pub(crate) mod json;
mod number;
pub(crate) mod table;

use crate::tape::{Mark, Tag, Tape};

/// Containers inside containers, at the most.
pub(crate) const DEPTH_MAX: usize = 512;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FaultKind {
    /// The block ends inside a value.
    Incomplete,
    Syntax,
    /// The value is fine, but not an op.
    Op,
    Limit,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    /// In the block. Absent for an op as a whole.
    pub(crate) at: Option<usize>,
    pub(crate) message: String,
    pub(crate) expected: &'static str,
}

impl Fault {
    pub(crate) fn op(message: String, expected: &'static str) -> Fault {
        Fault { kind: FaultKind::Op, at: None, message, expected }
    }

    pub(crate) fn syntax(at: usize, message: impl Into<String>, expected: &'static str) -> Fault {
        Fault { kind: FaultKind::Syntax, at: Some(at), message: message.into(), expected }
    }
}

/// What encloses the value being read.
#[derive(Clone, Copy, Debug)]
enum Frame {
    /// A vector, list, set or map.
    Container { node: u32, count: u32, close: u8, opened_at: usize },
    /// `#tag`, which takes one value.
    Tag { at: usize },
    /// `#_`, which takes one value and forgets it.
    Discard { mark: Mark, at: usize },
}

/// A tokenizer's place in a block.
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    pub(crate) pos: usize,
    tape: &'a mut Tape,
    stack: Vec<Frame>,
}

impl<'a> Scanner<'a> {
    /// Scans `bytes`, which is to be the tape's `source`, from `pos` on.
    pub(crate) fn new(bytes: &'a [u8], pos: usize, tape: &'a mut Tape) -> Scanner<'a> {
        Scanner { bytes, pos, tape, stack: Vec::new() }
    }

    /// The node that the next value will have.
    pub(crate) fn next_node(&self) -> usize {
        self.tape.nodes.len()
    }

    pub(crate) fn mark(&self) -> Mark {
        self.tape.mark()
    }

    /// Forgets the value that was begun after `mark`.
    pub(crate) fn cut(&mut self, mark: Mark) {
        self.tape.cut(mark);
        self.stack.clear();
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    fn incomplete(&self) -> Fault {
        // The innermost thing left open is what a reader of the message looks for.
        let (at, what) = match self.stack.last() {
            Some(Frame::Container { close, opened_at, .. }) => match close {
                b'}' => (*opened_at, "the text ends before this { is closed"),
                b')' => (*opened_at, "the text ends before this ( is closed"),
                _ => (*opened_at, "the text ends before this [ is closed"),
            },
            Some(Frame::Tag { at }) => (*at, "the text ends before the value that this tag is for"),
            Some(Frame::Discard { at, .. }) => (*at, "the text ends before the value that this #_ discards"),
            None => (self.pos.min(self.bytes.len()), "the text ends inside a value"),
        };
        Fault { kind: FaultKind::Incomplete, at: Some(at), message: what.into(), expected: "the rest of it" }
    }

    fn push_frame(&mut self, frame: Frame) -> Result<(), Fault> {
        if self.stack.len() >= DEPTH_MAX {
            return Err(Fault {
                kind: FaultKind::Limit,
                at: Some(self.pos),
                message: format!("more than {DEPTH_MAX} values stand inside one another here"),
                expected: "a value nested less deeply",
            });
        }
        self.stack.push(frame);
        Ok(())
    }

    fn open(&mut self, tag: Tag, close: u8, opened_at: usize, count: u32) -> Result<(), Fault> {
        let node = self.tape.open(tag);
        self.push_frame(Frame::Container { node, count, close, opened_at })
    }

    /// Shows a character as it stands, for messages.
    fn shown(&self, at: usize) -> String {
        match std::str::from_utf8(&self.bytes[at..self.bytes.len().min(at + 4)]) {
            Ok(s) => s.chars().next(),
            Err(e) => {
                std::str::from_utf8(&self.bytes[at..at + e.valid_up_to()]).ok().and_then(|s| s.chars().next())
            }
        }
        .map_or_else(|| "a character".into(), |c| format!("{c:?}"))
    }

    /// A string whose opening quote is behind; `tag` is what it becomes. Escapes are those that EDN and JSON share, and
    /// a few of either's own, which do no harm in the other.
    fn string(&mut self) -> Result<(), Fault> {
        let start = self.pos;
        let rest = &self.bytes[start..];
        let Some(stop) = rest.iter().position(|b| matches!(b, b'"' | b'\\')) else {
            return Err(self.open_string(start));
        };
        if rest[stop] == b'"' {
            self.tape.push_source(Tag::Str, start, start + stop);
            self.pos = start + stop + 1;
            return Ok(());
        }
        let decoded = self.tape.unescaped.len();
        loop {
            let from = self.pos;
            let Some(stop) = memchr::memchr2(b'"', b'\\', &self.bytes[from..]) else {
                return Err(self.open_string(start));
            };
            let to = from + stop;
            // Quotes and backslashes are ASCII, so both ends are boundaries of characters.
            let plain = std::str::from_utf8(&self.bytes[from..to])
                .map_err(|_| Fault::syntax(from, "this string is not UTF-8", "UTF-8"))?;
            self.tape.unescaped.push_str(plain);
            self.pos = to + 1;
            if self.bytes[to] == b'"' {
                break;
            }
            let c = self.escape(to, start)?;
            self.tape.unescaped.push(c);
        }
        self.tape.push_unescaped(Tag::Str, decoded);
        Ok(())
    }

    fn open_string(&self, start: usize) -> Fault {
        Fault {
            kind: FaultKind::Incomplete,
            at: Some(start - 1),
            message: "the text ends before this string is closed".into(),
            expected: "a closing quote",
        }
    }

    /// The character behind the backslash at `at`.
    fn escape(&mut self, at: usize, string_start: usize) -> Result<char, Fault> {
        let Some(b) = self.peek() else { return Err(self.open_string(string_start)) };
        self.pos += 1;
        Ok(match b {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'"' | b'\\' | b'/' | b'\'' => b as char,
            b'u' => {
                let high = self.hex4(at, string_start)?;
                if !(0xd800..0xdc00).contains(&high) {
                    // A lone low surrogate stands for no character.
                    return Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                if self.bytes[self.pos..].len() < 6 && !self.bytes[self.pos..].contains(&b'"') {
                    return Err(self.open_string(string_start));
                }
                if self.bytes[self.pos..].starts_with(b"\\u") {
                    let back = self.pos;
                    self.pos += 2;
                    let low = self.hex4(at, string_start)?;
                    if (0xdc00..0xe000).contains(&low) {
                        let c = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                        return Ok(char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER));
                    }
                    self.pos = back;
                }
                char::REPLACEMENT_CHARACTER
            }
            _ => {
                let shown = self.shown(at + 1);
                return Err(Fault::syntax(
                    at,
                    format!("a backslash before {shown} means nothing"),
                    r#"one of \n \t \r \b \f \" \\ \/ \uXXXX"#,
                ));
            }
        })
    }

    fn hex4(&mut self, at: usize, string_start: usize) -> Result<u32, Fault> {
        let Some(digits) = self.bytes.get(self.pos..self.pos + 4) else { return Err(self.open_string(string_start)) };
        let mut code = 0;
        for &d in digits {
            let Some(digit) = (d as char).to_digit(16) else {
                return Err(Fault::syntax(at, r"\u wants four hexadecimal digits", r"something like \u00e9"));
            };
            code = code * 16 + digit;
        }
        self.pos += 4;
        Ok(code)
    }
}
