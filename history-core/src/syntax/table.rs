//! Jepsen's `history.txt`: a line an op, `PROCESS TYPE F VALUE`, and sometimes `ERROR`, with tabs or spaces between.
//!
//! Process, type, f and value are EDN. What a logger puts before the process (`INFO  jepsen.util - `) is passed over.
//! The error is printed for people: it is taken as EDN if it is one value, else as text; its further lines are passed
//! over.

use super::edn::Read;
use super::{Fault, FaultKind, Scanner};
use crate::tape::Tag;
use std::ops::Range;

/// A line of the table, for messages.
pub(crate) const LINE: &str = "PROCESS<TAB>TYPE<TAB>F<TAB>VALUE, like 0<TAB>:invoke<TAB>:read<TAB>nil";

/// What a line of the table came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Line {
    /// An op; whether it has an error, which may go on in the next line.
    Op { has_error: bool },
    /// More of the error before it.
    Passed,
}

/// Whether a line, without its end, is one of the table.
pub(crate) fn is_line(line: &[u8]) -> bool {
    head(line).is_some()
}

/// Where the process and the type of a line stand.
fn head(line: &[u8]) -> Option<(Range<usize>, Range<usize>)> {
    let mut process: Option<Range<usize>> = None;
    let mut at = 0;
    loop {
        at += line[at..].iter().position(|b| !is_gap(*b))?;
        let end = line[at..].iter().position(|b| is_gap(*b)).map_or(line.len(), |i| at + i);
        match (process, &line[at..end]) {
            (Some(process), b":invoke" | b":ok" | b":fail" | b":info") => {
                // A process may be a string, with spaces in it.
                let first = line.iter().position(|b| !is_gap(*b))?;
                let start = if line[first] == b'"' { first } else { process.start };
                return Some((start..process.end, at..end));
            }
            _ => process = Some(at..end),
        }
        at = end;
    }
}

fn is_gap(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r')
}

/// Whether a line without a type looks like an op with a wrong one, rather than like a piece of an error.
fn is_broken_op(line: &[u8]) -> bool {
    let mut columns = line.split(|b| *b == b'\t');
    let word = columns.next().and_then(|first| first.rsplit(|b| *b == b' ').next()).unwrap_or_default();
    let named = word.first() == Some(&b':') || (!word.is_empty() && word.iter().all(u8::is_ascii_digit));
    named && columns.count() >= 3
}

impl Scanner<'_> {
    /// Reads the line at `pos` as a map, up to and with its end. `after_error` if the op before it has an error.
    pub(crate) fn table_line(&mut self, after_error: bool) -> Result<Line, Fault> {
        let start = self.pos;
        let Some(len) = memchr::memchr(b'\n', &self.bytes[start..]) else {
            return Err(Fault::incomplete(start, "the text ends inside a line", LINE));
        };
        let line = &self.bytes[start..start + len];
        let Some((process, kind)) = head(line) else {
            if after_error && !is_broken_op(line) {
                self.pos = start + len + 1;
                return Ok(Line::Passed);
            }
            return Err(Fault::syntax(start, "this line has no process and type", LINE));
        };
        let (process, kind) = (start + process.start..start + process.end, start + kind.start..start + kind.end);
        let map = self.tape.open(Tag::Map);
        self.key("process");
        let process_end = self.cell(process.start, process.end, "process")?;
        if process_end != process.end {
            return Err(Fault::syntax(process.start, "the process is not one EDN value", LINE));
        }
        self.key("type");
        self.tape.push_source(Tag::Keyword, kind.start + 1, kind.end);
        let end = start + len;
        self.key("f");
        let mut at = self.cell(kind.end, end, "f")?;
        let mut children = 6;
        // A read in flight may be written without a value.
        if !self.bytes[at..end].trim_ascii().is_empty() {
            self.key("value");
            at = self.cell(at, end, "value")?;
            children += 2;
        }
        let error = self.bytes[at..end].trim_ascii();
        let has_error = !error.is_empty();
        if has_error {
            let from = at + (self.bytes[at..end].len() - self.bytes[at..end].trim_ascii_start().len());
            self.key("error");
            self.error(from, from + error.len());
            children += 2;
        }
        self.tape.close(map, children);
        self.pos = end + 1;
        Ok(Line::Op { has_error })
    }

    fn key(&mut self, name: &str) {
        let start = self.tape.unescaped.len();
        self.tape.unescaped.push_str(name);
        self.tape.push_unescaped(Tag::Keyword, start);
    }

    /// One EDN value between `start` and `end`, where white space or the line ends. Where the value ends.
    fn cell(&mut self, start: usize, end: usize, name: &str) -> Result<usize, Fault> {
        // The gap or newline behind the cell ends its last token.
        let mut inner = Scanner::new(&self.bytes[..=end], start, self.tape);
        inner.skip_edn_space();
        if inner.pos >= end {
            return Err(Fault::syntax(start, format!("this line has no {name}"), LINE));
        }
        match inner.edn_value() {
            Ok(Read::Value) if inner.pos <= end => Ok(inner.pos),
            Ok(_) => Err(Fault::syntax(start, format!("this line has no {name}"), LINE)),
            Err(fault) if fault.kind == FaultKind::Incomplete => {
                let message = fault.message.replacen("the text", "the line", 1);
                Err(Fault { kind: FaultKind::Syntax, message, ..fault })
            }
            Err(fault) => Err(fault),
        }
    }

    /// An error, which fills the text between `start` and `end`.
    fn error(&mut self, start: usize, end: usize) {
        let (mark, node) = (self.tape.mark(), self.tape.nodes.len());
        let read = self.cell(start, end, "error");
        // What looks like a symbol is the first word of a sentence, or a sentence of one word.
        if read != Ok(end) || self.tape.nodes[node].tag == Tag::Symbol {
            self.tape.cut(mark);
            self.tape.push_source(Tag::Str, start, end);
        }
    }
}
