//! Some rows of a history: those around a place, or the matches of a search from there on.

use super::filter::Filter;
use super::index::Index;
use super::traits;
use histcheck_draw::text;
use history_core::cast::Cast as _;
use history_core::{Batch, Op, OpKind, Reader};
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, Cursor, Read as _, Seek as _, SeekFrom};
use std::ops::Range;

/// The maximum number of rows shown at a time.
pub(crate) const ROWS_MAX: usize = 500;
/// The number of bytes that a search reads before it reports its progress.
const SEARCHED_BYTES_MAX: u64 = 64 << 20;
/// The maximum number of bytes of a part that are read: a longer part has ops of megabytes, and its last ones are
/// omitted.
const PART_BYTES_MAX: u64 = 16 << 20;
/// The maximum number of characters of a value, of all other fields, and of an op's text.
const VALUE_CHARS_MAX: usize = 300;
const MORE_CHARS_MAX: usize = 200;
const WRITTEN_CHARS_MAX: usize = 64 << 10;

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The number of ops before it.
    pub(crate) at: u64,
    pub(crate) index: u64,
    pub(crate) time_ns: Option<i64>,
    pub(crate) process: String,
    pub(crate) kind: OpKind,
    pub(crate) function: String,
    pub(crate) value: String,
    /// All other fields.
    pub(crate) more: String,
    /// Its line in the history's file, if it was read from there.
    pub(crate) line: Option<u64>,
}

/// Rows, and the range of rows that was examined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) rows: Vec<Row>,
    /// The first row that was examined, and the one after the last.
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// The rows among them that were not examined, because an op there is too long to be read.
    pub(crate) too_long: Vec<Range<u64>>,
}

impl Window {
    fn at(row: u64) -> Window {
        Window { rows: Vec::new(), from: row, to: row, too_long: Vec::new() }
    }

    fn leave_out(&mut self, rows: Range<u64>) {
        if !rows.is_empty() {
            self.too_long.push(rows);
        }
    }
}

/// Receives an op with its row, its text and its line.
type See<'s> = dyn FnMut(u64, &Op<'_>, &str, Option<u64>) + 's;

/// A history that is open for reading.
pub(crate) struct Shelf<'i> {
    pub(crate) index: &'i Index,
    /// The history, or its copy.
    pub(crate) text: File,
}

impl Shelf<'_> {
    /// The first matching rows from a row on, up to a maximum.
    ///
    /// # Errors
    ///
    /// If the text cannot be read.
    pub(crate) fn forward(&mut self, from: u64, count: usize, filter: &Filter) -> io::Result<Window> {
        let from = from.min(self.index.head.ops);
        let mut window = Window::at(from);
        let (wanted, mut budget) = (filter.traits(), SEARCHED_BYTES_MAX);
        let mut part = self.index.part_of_row(from);
        while window.to < self.index.head.ops && window.rows.len() < count && budget > 0 {
            let (end, _) = self.index.end(part);
            let mut to = end;
            if self.index.parts[part].traits.may_hold(&wanted) {
                budget = budget.saturating_sub(self.bytes(part));
                let left_out = self.each(part, &mut |row, op, written, line| {
                    if row >= window.to && window.rows.len() < count && filter.is(op, written) {
                        window.rows.push(Row::new(row, op, line));
                        if window.rows.len() == count {
                            to = row + 1;
                        }
                    }
                })?;
                window.leave_out(left_out.start.max(window.to)..left_out.end.min(to));
            }
            window.to = to;
            part += 1;
        }
        Ok(window)
    }

    /// The last matching rows before a row, up to a maximum.
    ///
    /// # Errors
    ///
    /// If the text cannot be read.
    pub(crate) fn backward(&mut self, before: u64, count: usize, filter: &Filter) -> io::Result<Window> {
        let before = before.min(self.index.head.ops);
        let mut window = Window::at(before);
        let (wanted, mut budget) = (filter.traits(), SEARCHED_BYTES_MAX);
        while window.from > 0 && window.rows.len() < count && budget > 0 {
            let part = self.index.part_of_row(window.from - 1);
            let mut found = Vec::new();
            if self.index.parts[part].traits.may_hold(&wanted) {
                budget = budget.saturating_sub(self.bytes(part));
                let end = window.from;
                let left_out = self.each(part, &mut |row, op, written, line| {
                    if row < end && filter.is(op, written) {
                        found.push(Row::new(row, op, line));
                    }
                })?;
                window.leave_out(left_out.start..left_out.end.min(end));
            }
            window.from = self.index.parts[part].row;
            let left = count - window.rows.len();
            if found.len() >= left {
                found.drain(..found.len() - left);
                window.from = found.first().map_or(window.from, |row| row.at);
            }
            found.append(&mut window.rows);
            window.rows = found;
        }
        window.too_long.reverse();
        Ok(window)
    }

    /// The row of the op with an index, or of the first one after it. The op may be too long to be read.
    ///
    /// # Errors
    ///
    /// If the text cannot be read.
    pub(crate) fn row_of(&mut self, index: u64) -> io::Result<u64> {
        let part = self.index.part_of_index(index);
        let mut found = u64::MAX;
        let left_out = self.each(part, &mut |row, op, _, _| {
            if op.index >= index {
                found = found.min(row);
            }
        })?;
        Ok(found.min(left_out.start).min(self.index.head.ops.saturating_sub(1)))
    }

    /// The first row at a time or after it, if the times of the history increase.
    ///
    /// # Errors
    ///
    /// If the text cannot be read.
    pub(crate) fn row_at(&mut self, time_ns: i64) -> io::Result<u64> {
        // Finds the last part that begins before that time.
        let (mut low, mut high) = (0, self.index.parts.len());
        while high - low > 1 {
            let middle = low.midpoint(high);
            let mut first = None;
            self.each(middle, &mut |_, op, _, _| first = first.or(op.time))?;
            if first.is_some_and(|first| first < time_ns) { low = middle } else { high = middle }
        }
        let mut found = u64::MAX;
        let left_out = self.each(low, &mut |row, op, _, _| {
            if op.time.is_some_and(|time| time >= time_ns) {
                found = found.min(row);
            }
        })?;
        Ok(found.min(left_out.start).min(self.index.head.ops.saturating_sub(1)))
    }

    /// The full text of an op.
    ///
    /// # Errors
    ///
    /// If the text cannot be read.
    pub(crate) fn written(&mut self, row: u64) -> io::Result<String> {
        let mut found = String::new();
        self.each(self.index.part_of_row(row), &mut |at, _, written, _| {
            if at == row {
                found = text::shown(written, WRITTEN_CHARS_MAX);
            }
        })?;
        Ok(found)
    }

    /// The other op of an operation: the completion of an invocation, or the invocation of a completion.
    ///
    /// # Errors
    ///
    /// If the text cannot be read.
    pub(crate) fn other_half(&mut self, row: &Row) -> io::Result<Option<Row>> {
        if row.process.is_empty() {
            return Ok(None);
        }
        let filter = Filter { process: row.process.clone(), ..Filter::default() };
        let is_first = row.kind == OpKind::Invoke;
        let found = if is_first { self.forward(row.at + 1, 1, &filter) } else { self.backward(row.at, 1, &filter) }?;
        // Two consecutive ops of a process are an operation only if one is an invocation and the other is not.
        Ok(found.rows.into_iter().next().filter(|other| (other.kind == OpKind::Invoke) != is_first))
    }

    fn bytes(&self, part: usize) -> u64 {
        self.index.end(part).1.saturating_sub(self.index.parts[part].offset)
    }

    /// Reads a part, and passes each of its ops to `see`, with its row, its text and its line. Returns the rows at its
    /// end that are omitted, because one of them is too long.
    fn each(&mut self, part: usize, see: &mut See<'_>) -> io::Result<Range<u64>> {
        let Some(begin) = self.index.parts.get(part).copied() else { return Ok(u64::MAX..u64::MAX) };
        let (head, (end, _)) = (&self.index.head, self.index.end(part));
        let mut bytes = Vec::new();
        self.text.seek(SeekFrom::Start(begin.offset))?;
        let length = self.bytes(part).min(PART_BYTES_MAX);
        self.text.by_ref().take(length).read_to_end(&mut bytes)?;
        let bracket = head.bracket.map(String::from).unwrap_or_default();
        let source = Cursor::new(bracket.as_bytes()).chain(Cursor::new(&bytes[..]));
        let mut reader = Reader::new(source).with_format(head.format).without_pairing().growing();
        let offset = |op: &Op<'_>| op.position.map_or(0, |at| at.offset.to_usize()).saturating_sub(bracket.len());
        let (mut row, mut shift) = (begin.row, None);
        let mut give = |batch: &Batch, behind: usize| {
            for i in 0..batch.len() {
                let mut op = batch.op(i);
                let next = if i + 1 < batch.len() { offset(&batch.op(i + 1)) } else { behind };
                let written = bytes.get(offset(&op)..next).map(String::from_utf8_lossy).unwrap_or_default();
                // In a history without indices, ops are numbered from the beginning of each part.
                op.index += *shift.get_or_insert(begin.index - op.index.min(begin.index));
                let line = op.position.filter(|_| !head.is_copy).map(|at| at.line + begin.lines);
                if row < end {
                    see(row, &op, trimmed(&written, head.bracket.is_some()), line);
                }
                row += 1;
            }
        };
        let mut before = Batch::new();
        loop {
            let mut batch = Batch::new();
            let read = reader.read_batch(&mut batch);
            let behind = if batch.is_empty() { bytes.len() } else { offset(&batch.op(0)) };
            give(&before, behind);
            // Text after the last op of the history does not matter here, because the index describes it.
            if !matches!(read, Ok(true)) {
                give(&batch, bytes.len());
                return Ok(row.min(end)..end);
            }
            before = batch;
        }
    }
}

/// The text of an op without the separator before the next one.
fn trimmed(written: &str, is_enclosed: bool) -> &str {
    let space = |c: char| c.is_whitespace() || c == ',';
    let text = written.trim_end_matches(space);
    // The last op is followed by the bracket of the container; an op ends with another bracket.
    let closed = text.strip_suffix([']', ')']).filter(|_| is_enclosed);
    closed.unwrap_or(text).trim_end_matches(space)
}

impl Row {
    fn new(row: u64, op: &Op<'_>, line: Option<u64>) -> Row {
        let shown = |value: &str, most| text::shown(value, most).replace('\n', " ");
        Row {
            at: row,
            index: op.index,
            time_ns: op.time,
            process: traits::process(op).unwrap_or_default().into_owned(),
            kind: op.kind,
            function: op.f.unwrap_or_default().to_owned(),
            value: shown(&op.value.to_string(), VALUE_CHARS_MAX),
            more: more(op).replace('\n', " "),
            line,
        }
    }
}

/// All other fields of an op, as far as they fit: an op may have hundreds of thousands.
fn more(op: &Op<'_>) -> String {
    let mut room = Room { text: String::new(), chars: 0, is_full: false };
    for (key, value) in op.extra.iter() {
        let gap = if room.text.is_empty() { "" } else { ", " };
        // An error means that the limit was reached, which `room` records.
        _ = match key.as_name() {
            Some(name) => write!(room, "{gap}{name} {value}"),
            None => write!(room, "{gap}{key} {value}"),
        };
        if room.is_full {
            return text::clipped(&room.text, MORE_CHARS_MAX);
        }
    }
    text::shown(&room.text, MORE_CHARS_MAX)
}

/// Accepts a maximum number of characters.
struct Room {
    text: String,
    chars: usize,
    is_full: bool,
}

impl fmt::Write for Room {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        for c in more.chars() {
            if self.chars == 8 * MORE_CHARS_MAX {
                self.is_full = true;
                return Err(fmt::Error);
            }
            self.text.push(c);
            self.chars += 1;
        }
        Ok(())
    }
}
