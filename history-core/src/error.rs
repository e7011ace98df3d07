//! Why a history cannot be checked, and the position in its text.

use crate::cast::Cast as _;
use std::fmt;
use std::sync::Arc;

/// A place in the text of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Position {
    /// The number of bytes before it, in the decompressed text.
    pub offset: u64,
    /// Counted from 1; 0 in a format that has no lines.
    pub line: u64,
    /// In characters, counted from 1; 0 in a format that has no lines.
    pub column: u64,
}

impl Position {
    /// The position of a byte in a format that has no lines.
    pub fn of_byte(offset: u64) -> Position {
        Position { offset, line: 0, column: 0 }
    }

    /// Line and column; absent in a format that has no lines, where the [offset](Position::offset) is the position.
    pub fn line_and_column(self) -> Option<(u64, u64)> {
        (self.line > 0).then_some((self.line, self.column))
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line_and_column() {
            Some((line, column)) => write!(f, "line {line}, column {column}"),
            None => write!(f, "byte {}", self.offset),
        }
    }
}

/// The line around a [`Position`], cut to a readable length.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Snippet {
    /// Part of one line, without its end; control characters are replaced.
    pub text: String,
    /// How many characters of `text` are before the position.
    pub caret: usize,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes are not available: reading or decompressing failed.
    Io,
    /// The text is not EDN, JSON or the table of a history.
    Syntax,
    /// The text is well-formed, but contains something other than ops.
    NotAnOp,
    /// The ops do not fit together: a completion without an invocation, or decreasing indices.
    Pairing,
    /// A checker does not understand an op.
    Unexpected,
    /// A limit was exceeded.
    Limit,
}

/// An error for a history that cannot be checked. It is never a verdict.
///
/// It displays as `line 3, column 7: what is wrong; expected what would be right`; in a binary format, as
/// `byte 40: ...`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryError {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// What was found, as a clause: `"this completion has no invocation"`.
    pub message: String,
    /// What was expected, as a phrase: `"an op, like {:type :ok ...}"`.
    pub expected: Option<String>,
    /// The position; absent if the error concerns the whole input.
    pub position: Option<Position>,
    /// The text at the position.
    pub snippet: Option<Box<Snippet>>,
    cause: Cause,
}

/// The cause of a [`HistoryError`]. Comparisons ignore it, because errors of the system cannot be compared.
#[derive(Clone, Debug, Default)]
struct Cause(Option<Arc<std::io::Error>>);

impl PartialEq for Cause {
    fn eq(&self, _: &Cause) -> bool {
        true
    }
}

impl Eq for Cause {}

impl HistoryError {
    /// An error without a position.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> HistoryError {
        HistoryError {
            kind,
            message: message.into(),
            expected: None,
            position: None,
            snippet: None,
            cause: Cause::default(),
        }
    }

    /// The error of a source that could not be read; [`source`](std::error::Error::source) returns the cause.
    pub(crate) fn io(message: impl Into<String>, cause: std::io::Error) -> HistoryError {
        HistoryError { cause: Cause(Some(Arc::new(cause))), ..HistoryError::new(ErrorKind::Io, message) }
    }

    /// The same error, with what was expected.
    #[must_use]
    pub fn expected(mut self, what: impl Into<String>) -> HistoryError {
        self.expected = Some(what.into());
        self
    }

    /// The same error with a position, unless it already has one.
    #[must_use]
    pub fn at(mut self, position: Position) -> HistoryError {
        self.position.get_or_insert(position);
        self
    }

    /// Adds the text around the error's position, given a part of the source and the offset of its beginning.
    #[must_use]
    pub(crate) fn with_source(mut self, source: &[u8], starts_at: u64) -> HistoryError {
        if let (None, Some(position)) = (&self.snippet, self.position.filter(|position| position.line > 0)) {
            self.snippet = Snippet::of(source, starts_at, position).map(Box::new);
        }
        self
    }
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = self.position {
            write!(f, "{position}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(expected) = &self.expected {
            write!(f, "; expected {expected}")?;
        }
        Ok(())
    }
}

impl std::error::Error for HistoryError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.0.as_deref().map(|cause| cause as _)
    }
}

impl Snippet {
    /// The maximum number of characters shown on either side of the position.
    const SIDE_CHARS_MAX: usize = 60;

    /// The maximum number of bytes of these characters.
    pub(crate) const SIDE_BYTES_MAX: usize = 4 * Self::SIDE_CHARS_MAX;

    /// The start of the text to show of the line before `at`.
    pub(crate) fn start(text: &str, at: usize) -> usize {
        let low = text.ceil_char_boundary(at.saturating_sub(Self::SIDE_BYTES_MAX));
        memchr::memrchr(b'\n', &text.as_bytes()[low..at]).map_or(low, |i| low + i + 1)
    }

    /// The text at a position, given a part of the source and the offset of its beginning.
    pub(crate) fn of(source: &[u8], starts_at: u64, position: Position) -> Option<Snippet> {
        let at = position.offset.checked_sub(starts_at)?;
        (at <= source.len().to_u64()).then(|| Snippet::cut(source, at.to_usize()))
    }

    fn cut(source: &[u8], at: usize) -> Snippet {
        let start = memchr::memrchr(b'\n', &source[..at]).map_or(0, |i| i + 1);
        let end = memchr::memchr(b'\n', &source[at..]).map_or(source.len(), |i| at + i);
        // A character has at most four bytes. The parts that are not shown are not decoded.
        let before = String::from_utf8_lossy(&source[start.max(at.saturating_sub(Self::SIDE_BYTES_MAX))..at]);
        let after = String::from_utf8_lossy(&source[at..end.min(at + Self::SIDE_BYTES_MAX)]);
        let clean = |c: char| if c.is_control() { ' ' } else { c };
        let skip = before.chars().count().saturating_sub(Self::SIDE_CHARS_MAX);
        let mut text: String = before.chars().skip(skip).map(clean).collect();
        let caret = text.chars().count();
        text.extend(after.chars().take(Self::SIDE_CHARS_MAX).map(clean));
        Snippet { text: text.trim_end().to_owned(), caret }
    }
}
