//! Places in a text, and moving from one to another.

use crate::Position;
use crate::cast::Cast as _;

/// A place in the whole text, counted from 0.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) offset: u64,
    pub(crate) line: u64,
    /// The column in characters.
    pub(crate) column: u64,
}

crate::state!(struct Place { offset, line, column });

impl Place {
    pub(crate) fn position(self) -> Position {
        Position { offset: self.offset, line: self.line + 1, column: self.column + 1 }
    }

    /// Converts a place in a part of a text to a place in the whole, given where the part begins.
    pub(crate) fn within(self, begins: Place) -> Place {
        let column = if self.line == 0 { begins.column + self.column } else { self.column };
        Place { offset: begins.offset + self.offset, line: begins.line + self.line, column }
    }

    /// Moves over the rest of a line and its end; or over several lines, if the text contains newlines.
    pub(crate) fn end_line(&mut self, line: &[u8]) {
        self.offset += line.len().to_u64() + 1;
        self.line += memchr::memchr_iter(b'\n', line).count().to_u64() + 1;
        self.column = 0;
    }

    /// Moves over `passed`, the text that follows.
    #[inline]
    pub(crate) fn advance(&mut self, passed: &[u8]) {
        self.offset += passed.len().to_u64();
        let mut rest = passed;
        // Most often this is an op and the end of its line: one newline, and nothing after it.
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.line += 1;
            self.column = 0;
            rest = &rest[end + 1..];
            if rest.is_empty() {
                return;
            }
        }
        // Counts the bytes that begin a character.
        self.column += rest.iter().filter(|b| **b & 0xc0 != 0x80).count().to_u64();
    }
}
