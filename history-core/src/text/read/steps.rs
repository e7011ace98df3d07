//! Iterates over the ops of a block of text, inside any container.

use super::Format;
use super::blocks::Block;
use super::place::Place;
use crate::cast::Cast as _;
use crate::error::{ErrorKind, HistoryError, Position, Snippet};
use crate::ops::batch::Batch;
use crate::state::{Damaged, In, Out, State};
use crate::text::syntax::edn::Read;
use crate::text::syntax::plain::Plain;
use crate::text::syntax::table::Line;
use crate::text::syntax::{Fault, FaultKind, Scanner};
use crate::values::tape::Tape;

/// What encloses the ops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Within {
    /// Nothing: the ops follow each other.
    Bare,
    /// A vector, list or array, closed by this byte.
    Container(u8),
    /// A container that has ended.
    Closed,
}

/// The position of a reader between two ops.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Steps {
    format: Format,
    /// Whether plain ops need not be values on the tape.
    takes_plain: bool,
    within: Within,
    /// Whether an op or an opening bracket was already read.
    started: bool,
    /// In a JSON array: the token that was read last.
    last: Last,
    /// In EDN: whether the last block ended inside a comment.
    in_comment: bool,
    /// For the table: whether the last op has an error, or the last line is a logger's, which may continue.
    after_error: bool,
    /// The values of the current block.
    found: Vec<Found>,
    /// The end of the last value of the block, or of the bracket before the first value.
    end: Option<usize>,
    /// The place after the last value, and the end of the line up to there.
    ended: (Place, String),
}

/// A value at a place where an op is expected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) node: usize,
    /// Its content, if it is a plain op. Then the node is not that of a map.
    pub(crate) plain: Option<Plain>,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Why a scan stopped before the end of a block.
pub(crate) struct Stop {
    pub(crate) fault: Fault,
    /// The beginning of the value that cannot be read.
    pub(crate) start: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Last {
    Opening,
    Op,
    Comma,
}

/// The result of [`Steps::step`].
enum Step {
    /// An op that begins here.
    Op(usize),
    /// A plain op that begins here.
    Plain(usize, Plain),
    /// Text between ops.
    Passed,
    /// The end of the block.
    Out,
}

crate::state!(
    enum Last {
        Opening,
        Op,
        Comma,
    }
);

impl State for Within {
    fn save(&self, out: &mut Out) {
        match self {
            Within::Bare => 0_u8.save(out),
            Within::Closed => 1_u8.save(out),
            Within::Container(close) => close.save(out),
        }
    }

    fn load(from: &mut In<'_>) -> Result<Within, Damaged> {
        match u8::load(from)? {
            0 => Ok(Within::Bare),
            1 => Ok(Within::Closed),
            close @ (b')' | b']') => Ok(Within::Container(close)),
            _ => Err(Damaged),
        }
    }
}

// `found` and `end` are not saved: between two blocks they are empty.
crate::state!(parts Steps {
    within, started, last, in_comment, after_error, ended; parts: ; same: format, takes_plain, found, end
});

impl Steps {
    pub(crate) fn new(format: Format) -> Steps {
        Steps {
            format,
            takes_plain: false,
            within: Within::Bare,
            started: false,
            last: Last::Opening,
            in_comment: false,
            after_error: false,
            found: Vec::new(),
            end: None,
            ended: (Place::default(), String::new()),
        }
    }

    /// Sets whether plain ops need not be values on the tape.
    pub(super) fn take_plain(&mut self, takes_plain: bool) {
        self.takes_plain = takes_plain;
    }

    /// Returns true if the ops are in a container, which may then be empty.
    pub(crate) fn saw_container(&self) -> bool {
        self.within != Within::Bare
    }

    /// Returns true if the next op may follow here directly, if the format shows that.
    pub(super) fn is_between_ops(&self) -> bool {
        matches!(self.format, Format::Edn | Format::Json)
            && self.started
            && !self.in_comment
            && self.within != Within::Closed
    }

    /// The position of a reader before a text that was cut out of the middle, on the assumption that it begins between
    /// two ops.
    pub(super) fn before(&self, text: &[u8]) -> Steps {
        let first = text.iter().find(|b| !b.is_ascii_whitespace());
        let last = if matches!(first, Some(b',' | b']')) { Last::Op } else { Last::Comma };
        Steps { within: self.within, started: true, last, takes_plain: self.takes_plain, ..Steps::new(self.format) }
    }

    /// Returns true if the following text is read in the same way from both positions.
    pub(super) fn is_alike(&self, other: &Steps) -> bool {
        let is_array = self.format == Format::Json && self.within != Within::Bare;
        self.is_between_ops()
            && other.is_between_ops()
            && self.within == other.within
            && (self.last == other.last || !is_array)
    }

    /// Moves to the position of another reader in the following text, which begins at `begins`.
    pub(super) fn follow(&mut self, other: Steps, begins: Place) {
        let (place, line) = if other.end.is_some() { other.ended } else { std::mem::take(&mut self.ended) };
        let place = if other.end.is_some() { place.within(begins) } else { place };
        *self = Steps { ended: (place, line), ..other };
    }

    /// Reads all ops that end in the block, and passes each to `take` with the place where it begins. Returns the
    /// position after them.
    pub(super) fn run(
        &mut self,
        batch: &mut Batch,
        block: &Block,
        op_bytes_max: usize,
        mut take: impl FnMut(&mut Batch, Found, Place) -> Result<(), HistoryError>,
    ) -> Result<usize, HistoryError> {
        let scanned = self.scan(&mut batch.tape, block, block.start);
        let (mut place, mut counted) = (block.place, block.start);
        // Ops before a fault are taken.
        for found in &self.found {
            place.advance(&batch.tape.source.as_bytes()[counted..found.start]);
            counted = found.start;
            if found.end - found.start > op_bytes_max {
                return Err(too_long(op_bytes_max, Some(self.format), &batch.tape.source, found.start, place));
            }
            take(batch, *found, place)?;
        }
        self.note_end(&batch.tape.source, block, counted, place);
        scanned.map_err(|stop| self.sited(stop.fault, &batch.tape.source, block))
    }

    /// The place up to which [`Steps::run`] counted lines in a block.
    pub(crate) fn counted(&self, block: &Block) -> Place {
        if self.end.is_some() { self.ended.0 } else { block.place }
    }

    /// Stores where the last value of the block ended; `place` is that of `counted`, before it.
    pub(crate) fn note_end(&mut self, text: &str, block: &Block, counted: usize, mut place: Place) {
        if let Some(end) = self.end.map(|end| end.min(block.end)) {
            place.advance(&text.as_bytes()[counted..end]);
            self.ended.0 = place;
            self.ended.1.clear();
            self.ended.1.push_str(&text[Snippet::start(text, end)..end]);
        }
    }

    /// Converts a fault of [`Steps::scan`] to an error.
    pub(crate) fn sited(&self, mut fault: Fault, text: &str, block: &Block) -> HistoryError {
        if let Some(opened_at) = fault.opened_at {
            let opened = block.place_of(text, opened_at).position();
            let message = fault.message;
            fault.message = format!("{message} (opened at line {}, column {})", opened.line, opened.column);
        }
        if let Some(at) = fault.at {
            return error(fault, block.place_of(text, at));
        }
        let (place, line) = &self.ended;
        error(fault, *place).with_source(line.as_bytes(), place.offset - line.len().to_u64())
    }

    /// The values found by the last [`Steps::scan`].
    pub(crate) fn found(&self) -> &[Found] {
        &self.found
    }

    /// Reads all values of the block where ops are expected, from `from` on. Returns the position after them; or the
    /// fault after them.
    pub(crate) fn scan(&mut self, tape: &mut Tape, block: &Block, from: usize) -> Result<usize, Stop> {
        self.found.clear();
        self.end = None;
        let source = std::mem::take(&mut tape.source);
        let mut scanner = Scanner::new(source.as_bytes(), from, tape);
        let scanned = self.scan_all(&mut scanner, block);
        tape.source = source;
        scanned
    }

    fn scan_all(&mut self, scanner: &mut Scanner<'_>, block: &Block) -> Result<usize, Stop> {
        loop {
            self.skip_space(scanner);
            let (from, mark) = (scanner.pos, scanner.mark());
            let node = scanner.next_node();
            match self.step(scanner).and_then(|step| self.verify_line_end(step, scanner, block)) {
                Ok(Step::Op(start)) => {
                    self.end = Some(scanner.pos);
                    self.found.push(Found { node, plain: None, start, end: scanner.pos });
                }
                Ok(Step::Plain(start, plain)) => {
                    self.end = Some(scanner.pos);
                    self.found.push(Found { node, plain: Some(plain), start, end: scanner.pos });
                }
                Ok(Step::Passed) => {}
                Ok(Step::Out) => {
                    let ended = if block.last { self.end() } else { Ok(()) };
                    return ended.map(|()| scanner.pos).map_err(|fault| Stop { fault, start: scanner.pos });
                }
                Err(fault) => {
                    scanner.cut(mark);
                    if fault.kind == FaultKind::Incomplete && !block.last {
                        return Ok(from);
                    }
                    return Err(Stop { fault, start: from });
                }
            }
        }
    }

    fn end(&self) -> Result<(), Fault> {
        let Within::Container(close) = self.within else { return Ok(()) };
        let expected = if close == b')' { ") after the last op" } else { "] after the last op" };
        Err(Fault { at: None, ..Fault::syntax(0, "the text ends before the history does", expected) })
    }

    fn step(&mut self, scanner: &mut Scanner<'_>) -> Result<Step, Fault> {
        let at = scanner.pos;
        let Some(b) = scanner.peek() else { return Ok(Step::Out) };
        if self.format != Format::Table && self.bracket(scanner, b)? {
            return Ok(Step::Passed);
        }
        if self.takes_plain
            && let Some(plain) = self.plain(scanner)
        {
            self.started = true;
            self.last = Last::Op;
            return Ok(Step::Plain(at, plain));
        }
        let read = match self.format {
            Format::Edn => scanner.edn_value()?,
            Format::Table => self.table_line(scanner)?,
            _ => scanner.json_value().map(|()| Read::Value)?,
        };
        if read == Read::Nothing {
            return Ok(Step::Passed);
        }
        self.started = true;
        self.last = Last::Op;
        Ok(Step::Op(at))
    }

    #[inline]
    fn plain(&self, scanner: &mut Scanner<'_>) -> Option<Plain> {
        match self.format {
            Format::Json => scanner.plain_op::<true>(),
            Format::Edn => scanner.plain_op::<false>(),
            _ => None,
        }
    }

    /// Rejects an op of the table in a last line that may be incomplete, because its last word may be too.
    fn verify_line_end(&self, step: Step, scanner: &Scanner<'_>, block: &Block) -> Result<Step, Fault> {
        let Step::Op(start) = step else { return Ok(step) };
        // The reader added the newline at the end of the text.
        let is_open = self.format == Format::Table && block.last && scanner.pos > block.end;
        if is_open && !is_whole(&scanner.bytes[start..block.end]) {
            let message = "the last line has no line end, so it may be cut";
            return Err(Fault::syntax(start, message, "a line end after the last op"));
        }
        Ok(step)
    }

    fn skip_space(&mut self, scanner: &mut Scanner<'_>) {
        if self.format == Format::Edn {
            self.in_comment = self.in_comment && scanner.skip_line() || scanner.skip_edn_space();
        } else {
            scanner.skip_json_space();
        }
    }

    fn table_line(&mut self, scanner: &mut Scanner<'_>) -> Result<Read, Fault> {
        Ok(match scanner.table_line(self.after_error)? {
            Line::Op { has_error } => {
                self.after_error = has_error;
                Read::Value
            }
            Line::Log => {
                self.after_error = true;
                Read::Nothing
            }
            Line::Passed => Read::Nothing,
        })
    }

    /// Skips `b`, the next byte, if it belongs to the container of the ops. Returns whether it does.
    fn bracket(&mut self, scanner: &mut Scanner<'_>, b: u8) -> Result<bool, Fault> {
        let at = scanner.pos;
        let json = self.format != Format::Edn;
        match self.within {
            Within::Closed => match scanner.byte(1) {
                None if b == b'#' => Err(scanner.incomplete()),
                Some(b'_') if b == b'#' && !json => Ok(false),
                _ => Err(Fault::syntax(at, "found text after the end of the history", "nothing more")),
            },
            Within::Container(close) if b == close => {
                if json && self.last == Last::Comma {
                    return Err(Fault::syntax(at, "found ] after a comma", "an op"));
                }
                scanner.pos += 1;
                self.within = Within::Closed;
                Ok(true)
            }
            Within::Container(_) if json && self.last == Last::Op => {
                if b != b',' {
                    return Err(Fault::syntax(at, "missing comma between two ops of an array", "a comma or ]"));
                }
                scanner.pos += 1;
                self.last = Last::Comma;
                Ok(true)
            }
            Within::Bare if !self.started && (b == b'[' || b == b'(' && !json) => {
                scanner.pos += 1;
                self.end = Some(scanner.pos);
                self.started = true;
                self.within = Within::Container(if b == b'(' { b')' } else { b']' });
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Continues after a fault as if an op could follow.
    pub(crate) fn resume(&mut self) {
        if self.within == Within::Closed {
            self.within = Within::Bare;
        }
        self.last = Last::Opening;
        self.in_comment = false;
        self.started = true;
    }
}

/// Returns true if a line of the table is certainly complete: it ends in a bracket, a quotation mark, or a word that is
/// not the beginning of another one.
fn is_whole(line: &[u8]) -> bool {
    let last = line.rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
    line.ends_with(b"]")
        || line.ends_with(b"}")
        || line.ends_with(b")")
        || line.ends_with(b"\"")
        || matches!(last, b"nil" | b"true" | b"false")
}

/// The error for an op that begins at `at` and is too long, with what may not have been closed.
#[cold]
pub(crate) fn too_long(
    op_bytes_max: usize,
    format: Option<Format>,
    text: &str,
    at: usize,
    place: Place,
) -> HistoryError {
    let message = format!("an op is longer than {op_bytes_max} bytes");
    let mut error = HistoryError::new(ErrorKind::Limit, message).at(place.position());
    // Only the allowed length is scanned again, so that the message does not depend on the length of the text.
    let bytes = &text.as_bytes()[..text.len().min(at + op_bytes_max)];
    let mut tape = Tape::default();
    let mut scanner = Scanner::new(bytes, at, &mut tape);
    let read = match format {
        Some(Format::Edn) => scanner.edn_value().map(drop),
        Some(Format::Json | Format::Intervals) => scanner.json_value(),
        // EDN is recognized early; an object may be an op or an interval.
        None if text[at..].starts_with(['{', '[']) => scanner.json_value(),
        _ => Ok(()),
    };
    let Err(Fault { kind: FaultKind::Incomplete, at: Some(open), .. }) = read else { return error };
    let what = match bytes.get(open) {
        Some(b'"') => "string",
        Some(b'[') => "[",
        Some(b'(') => "(",
        Some(b'{') => "{",
        _ => return error,
    };
    if open > at {
        let mut begins = place;
        begins.advance(&bytes[at..open]);
        let Position { line, column, .. } = begins.position();
        let opened = format!(": the {what} that begins at line {line}, column {column} is not closed");
        error.message.push_str(&opened);
    }
    error
}

pub(crate) fn error(fault: Fault, place: Place) -> HistoryError {
    let kind = match fault.kind {
        FaultKind::Op => ErrorKind::NotAnOp,
        FaultKind::Limit => ErrorKind::Limit,
        FaultKind::Incomplete | FaultKind::Syntax => ErrorKind::Syntax,
    };
    HistoryError::new(kind, fault.message).expected(fault.expected).at(place.position())
}

#[cfg(test)]
mod tests;
