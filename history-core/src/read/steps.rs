//! From op to op through a block of text, whatever encloses them.

use super::Format;
use crate::Position;
use crate::batch::Batch;
use crate::error::{ErrorKind, HistoryError};
use crate::syntax::edn::Read;
use crate::syntax::{Fault, FaultKind, Scanner};

/// A place in the whole text, counted from 0.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Place {
    pub(super) offset: u64,
    pub(super) line: u64,
    /// In characters.
    pub(super) column: u64,
}

impl Place {
    pub(super) fn position(self) -> Position {
        Position { offset: self.offset, line: self.line + 1, column: self.column + 1 }
    }

    /// Moves over `text[from..to]`.
    pub(super) fn advance(&mut self, text: &[u8], from: usize, to: usize) {
        let passed = &text[from..to];
        self.offset += passed.len() as u64;
        let mut rest = passed;
        if let Some(last) = memchr::memrchr(b'\n', passed) {
            self.line += memchr::memchr_iter(b'\n', passed).count() as u64;
            self.column = 0;
            rest = &passed[last + 1..];
        }
        // Bytes that begin a character.
        self.column += rest.iter().filter(|b| **b & 0xc0 != 0x80).count() as u64;
    }
}

/// What encloses the ops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Within {
    /// Nothing: one op after another.
    Bare,
    /// A vector, list or array, closed by this byte.
    Container(u8),
    /// Such a one, and it was closed.
    Closed,
}

/// Where a reader stands between two ops.
pub(super) struct Steps {
    format: Format,
    within: Within,
    /// Whether anything but white space was read yet.
    started: bool,
    /// JSON, in an array: what was read last.
    last: Last,
    /// The ops of the block at hand: their nodes, and where they begin.
    found: Vec<(usize, usize)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Last {
    Opening,
    Op,
    Comma,
}

/// What [`Steps::step`] came to.
enum Step {
    /// An op that begins here.
    Op(usize),
    /// Something between ops.
    Passed,
    /// The end of the block.
    Out,
}

impl Steps {
    pub(super) fn new(format: Format) -> Steps {
        Steps { format, within: Within::Bare, started: false, last: Last::Opening, found: Vec::new() }
    }

    /// Whether the ops stand in a container, which may then be empty.
    pub(super) fn saw_container(&self) -> bool {
        self.within != Within::Bare
    }

    /// Reads all ops that end in the block, which begins at `place`. How many bytes they took.
    pub(super) fn run(&mut self, batch: &mut Batch, mut place: Place, at_end: bool) -> Result<usize, HistoryError> {
        let source = std::mem::take(&mut batch.tape.source);
        let mut scanner = Scanner::new(source.as_bytes(), 0, &mut batch.tape);
        let scanned = self.scan(&mut scanner, at_end);
        batch.tape.source = source;
        // The ops before a fault are good.
        let mut counted = 0;
        for &(node, start) in &self.found {
            place.advance(batch.tape.source.as_bytes(), counted, start);
            counted = start;
            batch.push_op(node, place.position()).map_err(|fault| error(fault, place.position()))?;
        }
        scanned.map_err(|fault| {
            let at = fault.at.unwrap_or(counted);
            // Brackets left open may stand before the last op: the history's own.
            if at >= counted {
                place.advance(batch.tape.source.as_bytes(), counted, at);
            }
            error(fault, place.position())
        })
    }

    fn scan(&mut self, scanner: &mut Scanner<'_>, at_end: bool) -> Result<usize, Fault> {
        self.found.clear();
        loop {
            let (start, mark) = (scanner.pos, scanner.mark());
            let node = scanner.next_node();
            match self.step(scanner) {
                Ok(Step::Op(begins_at)) => self.found.push((node, begins_at)),
                Ok(Step::Passed) => {}
                Ok(Step::Out) if at_end => return self.end(scanner),
                Ok(Step::Out) => return Ok(scanner.pos),
                Err(fault) if fault.kind == FaultKind::Incomplete && !at_end => {
                    scanner.cut(mark);
                    return Ok(start);
                }
                Err(fault) => return Err(fault),
            }
        }
    }

    fn end(&self, scanner: &Scanner<'_>) -> Result<usize, Fault> {
        match self.within {
            Within::Container(close) => Err(Fault::syntax(
                scanner.pos,
                "the text ends before the history does",
                if close == b')' { ") after the last op" } else { "] after the last op" },
            )),
            Within::Bare | Within::Closed => Ok(scanner.pos),
        }
    }

    fn step(&mut self, scanner: &mut Scanner<'_>) -> Result<Step, Fault> {
        match self.format {
            Format::Edn => scanner.skip_edn_space(),
            Format::Json | Format::Table => scanner.skip_json_space(),
        }
        let at = scanner.pos;
        let Some(b) = scanner.peek() else { return Ok(Step::Out) };
        if self.format != Format::Table {
            match (self.within, b) {
                (Within::Closed, _) => {
                    return Err(Fault::syntax(at, "there is text after the end of the history", "nothing more"));
                }
                (Within::Container(close), b) if b == close => {
                    if self.last == Last::Comma {
                        return Err(Fault::syntax(at, "found ] after a comma", "an op"));
                    }
                    scanner.pos += 1;
                    self.within = Within::Closed;
                    return Ok(Step::Passed);
                }
                (Within::Container(_), b',') if self.format == Format::Json && self.last == Last::Op => {
                    scanner.pos += 1;
                    self.last = Last::Comma;
                    return Ok(Step::Passed);
                }
                (Within::Container(_), _) if self.format == Format::Json && self.last == Last::Op => {
                    return Err(Fault::syntax(at, "two ops of an array stand side by side", "a comma between them"));
                }
                (Within::Bare, b'[' | b'(') if !self.started && (b == b'[' || self.format == Format::Edn) => {
                    scanner.pos += 1;
                    self.started = true;
                    self.within = Within::Container(if b == b'(' { b')' } else { b']' });
                    return Ok(Step::Passed);
                }
                _ => {}
            }
        }
        let read = match self.format {
            Format::Edn => scanner.edn_value()?,
            Format::Json => scanner.json_value().map(|()| Read::Value)?,
            Format::Table => scanner.table_line().map(|()| Read::Value)?,
        };
        if read == Read::Nothing {
            return Ok(Step::Passed);
        }
        self.started = true;
        if self.format == Format::Json {
            self.last = Last::Op;
        }
        Ok(Step::Op(at))
    }
}

fn error(fault: Fault, position: Position) -> HistoryError {
    let kind = match fault.kind {
        FaultKind::Op => ErrorKind::NotAnOp,
        FaultKind::Limit => ErrorKind::Limit,
        FaultKind::Incomplete | FaultKind::Syntax => ErrorKind::Syntax,
    };
    HistoryError::new(kind, fault.message).expected(fault.expected).at(position)
}
