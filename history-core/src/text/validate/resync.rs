//! Finds the place to continue at after an op that cannot be read.

use crate::ops::row::Row;
use crate::text::read::{Intervals, Place};
use crate::text::syntax::edn::Read;
use crate::text::syntax::{Scanner, table};
use crate::values::tape::Tape;
use crate::{Format, TimeUnit};

/// The number of lines, after an op that was not closed, that are tested for an op.
const TRIES: usize = 16;

/// The result of a search for a line that begins an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// An op may begin here.
    At(usize),
    /// No line before this one begins an op, and too little of this line's text is available to decide.
    Unclear(usize),
    /// No line begins an op, and the last line continues.
    MidLine,
}

/// Searches for a line that may begin an op, from the beginning of a line. Ops begin at `column` or left of it, in
/// bytes: text further right is a part of an op.
pub(super) fn next(text: &str, format: Format, mut line: usize, column: usize) -> Next {
    let bytes = text.as_bytes();
    loop {
        let rest = &bytes[line..];
        let Some(indent) = rest.iter().position(|b| !matches!(b, b' ' | b'\t' | b'\r')) else {
            return Next::Unclear(line);
        };
        let newline = memchr::memchr(b'\n', rest);
        let begins = match format {
            Format::Edn => matches!(rest[indent], b'{' | b'#') && indent <= column,
            Format::Table => match newline {
                Some(end) => table::is_line(&rest[..end]),
                None => return Next::Unclear(line),
            },
            _ => rest[indent] == b'{' && indent <= column,
        };
        if begins {
            return Next::At(line + indent);
        }
        match newline {
            Some(end) => line += end + 1,
            None => return Next::MidLine,
        }
    }
}

/// Searches for the line after `from` that may begin an op, after an op at `start` with an error at `from`.
pub(super) fn after(text: &str, format: Format, start: usize, from: usize) -> Next {
    match memchr::memchr(b'\n', &text.as_bytes()[from..]) {
        Some(end) => next(text, format, from + end + 1, column(text, start)),
        None => Next::MidLine,
    }
}

/// The first line after `start`, and up to `end`, that contains an op of its own, although the op that begins at
/// `start` continues beyond it: that op was not closed.
pub(super) fn inside(tape: &mut Tape, format: Format, start: usize, end: usize) -> Option<usize> {
    if format == Format::Table {
        return None;
    }
    let column = column(&tape.source, start);
    let mut from = start;
    for _ in 0..TRIES {
        let newline = memchr::memchr(b'\n', tape.source.as_bytes().get(from..end)?)?;
        let Next::At(at) = next(&tape.source, format, from + newline + 1, column) else { return None };
        if at > end {
            return None;
        }
        if holds_op(tape, format, at) {
            return Some(at);
        }
        from = at;
    }
    None
}

/// The number of bytes before `at` in its line.
pub(super) fn column(text: &str, at: usize) -> usize {
    at - memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |newline| newline + 1)
}

fn holds_op(tape: &mut Tape, format: Format, at: usize) -> bool {
    let mark = tape.mark();
    let source = std::mem::take(&mut tape.source);
    let mut scanner = Scanner::new(source.as_bytes(), at, tape);
    let node = scanner.next_node();
    let is_value = match format {
        Format::Edn => scanner.edn_value() == Ok(Read::Value),
        Format::Table => false,
        _ => scanner.json_value().is_ok(),
    };
    tape.source = source;
    let is_op = is_value
        && match format {
            Format::Intervals => Intervals::is_one(tape, node),
            // The time is accepted in any unit.
            _ => Row::read(tape, node, Place::default().position(), Some(TimeUnit::Nanoseconds)).is_ok(),
        };
    tape.cut(mark);
    is_op
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_begins_an_op_is_found_left_of_the_column() {
        let text = "x\n  {:a 1}\n\n {:b 2}\n";
        assert_eq!(next(text, Format::Edn, 0, 9), Next::At(4));
        assert_eq!(next(text, Format::Edn, 0, 1), Next::At(13));
        assert_eq!(next(text, Format::Edn, 0, 0), Next::Unclear(text.len()), "nothing is left but a line not seen yet");
        assert_eq!(next("x\n  ", Format::Edn, 0, 9), Next::Unclear(2));
        assert_eq!(next("x", Format::Edn, 0, 9), Next::MidLine);
        assert_eq!(next("x\n0\t:ok\t:read", Format::Table, 0, 0), Next::Unclear(2), "its end is not there");
        assert_eq!(next("x\n0\t:ok\t:read\n", Format::Table, 0, 0), Next::At(2));
    }

    #[test]
    fn an_op_on_a_line_of_its_own_shows_that_the_one_before_was_not_closed() {
        let open = "{:type :ok, :value [1 2\n{:type :ok}\n";
        let mut tape = Tape { source: open.into(), ..Tape::default() };
        assert_eq!(inside(&mut tape, Format::Edn, 0, open.len()), Some(24));
        let pretty = "{:type :ok,\n :value {:type :ok}\n";
        tape.source = pretty.into();
        assert_eq!(inside(&mut tape, Format::Edn, 0, pretty.len()), None, "a map in a value stands further right");
    }
}
