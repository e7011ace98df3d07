//! Jepsen's `history.txt`: one op per line, `PROCESS TYPE F VALUE`, and sometimes `ERROR`, separated by tabs or spaces.
//!
//! Process, type, f and value are EDN. A logger's prefix before the process (`INFO  jepsen.util - `) is ignored. The
//! error is printed for people: it is read as EDN if it is one value, else as text; its further lines are skipped. A
//! logger's lines about other things, with what follows them, are also skipped, unless they begin as an op does.
//!
//! Older clients write `:timed-out` in place of the value of an op that failed or whose outcome is unknown. That is not
//! a value but an error: the op's value is the one that was invoked.

use super::edn::Read;
use super::{Fault, FaultKind, Scanner};
use crate::cast::Cast as _;
use crate::values::tape::Tag;
use std::ops::Range;

/// A line of the table, for messages.
pub(crate) const LINE: &str = "PROCESS<TAB>TYPE<TAB>F<TAB>VALUE, such as 0<TAB>:invoke<TAB>:read<TAB>nil";

/// The text that older clients write as the value of an op that timed out.
const TIMED_OUT: &[u8] = b":timed-out";

/// The content of a line of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Line {
    /// An op, and whether it has an error, which may continue in the next line.
    Op { has_error: bool },
    /// A logger's message about something else, perhaps of several lines.
    Log,
    /// A continuation of the previous lines.
    Passed,
}

/// Returns true if a line, without its end, belongs to the table.
pub(crate) fn is_line(line: &[u8]) -> bool {
    head(line).is_some()
}

/// Returns true if a text with this first line may be a table: the line contains an op, or a logger's message about
/// something else.
pub(crate) fn begins(line: &[u8]) -> bool {
    is_line(line) || is_log(line)
}

/// The positions of the process and the type in a line.
fn head(line: &[u8]) -> Option<(Range<usize>, Range<usize>)> {
    let mut process: Option<Range<usize>> = None;
    for word in words(line) {
        match (process, &line[word.clone()]) {
            (Some(process), b":invoke" | b":ok" | b":fail" | b":info") => {
                // The process may be a string that contains spaces.
                let first = line.iter().position(|b| !is_gap(*b))?;
                let start = if line[first] == b'"' { first } else { process.start };
                return Some((start..process.end, word));
            }
            _ => process = Some(word),
        }
    }
    None
}

fn is_gap(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r')
}

/// The names of log levels.
const LEVELS: [&[u8]; 6] = [b"INFO", b"WARN", b"DEBUG", b"ERROR", b"TRACE", b"FATAL"];

/// The maximum number of words before the level in a logger's prefix: the date, the time, the thread's name.
const LEVEL_WORDS_MAX: usize = 4;

/// The message after a logger's prefix: `LEVEL LOGGER - message`, or `DATE LEVEL [THREAD] LOGGER: message`.
fn message(line: &[u8]) -> Option<&[u8]> {
    let level = words(line).take(LEVEL_WORDS_MAX).find(|word| LEVELS.contains(&&line[word.clone()]))?;
    let behind = &line[level.end..];
    let at = behind.windows(2).position(|two| two == b": " || two == b"- ")?;
    Some(&behind[at + 2..])
}

/// The positions of the words of a line.
fn words(line: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + line[at..].iter().position(|b| !is_gap(*b))?;
        at = line[start..].iter().position(|b| is_gap(*b)).map_or(line.len(), |i| start + i);
        Some(start..at)
    })
}

/// Returns true if a line without a type is a logger's message about something other than an op.
pub(crate) fn is_log(line: &[u8]) -> bool {
    message(line).is_some_and(|message| !is_broken_op(message))
}

/// Returns true if a line without a type looks like an op with a wrong or incomplete type, rather than like text.
fn is_broken_op(line: &[u8]) -> bool {
    let line = message(line).unwrap_or(line);
    let mut columns = line.split(|b| *b == b'\t');
    let word = columns.next().and_then(|first| first.rsplit(|b| *b == b' ').next()).unwrap_or_default();
    if (is_number(word) || is_keyword(word)) && columns.count() >= 3 {
        return true;
    }
    let mut last_two: [&[u8]; 2] = [b"", b""];
    for (i, word) in words(line).enumerate() {
        let word = &line[word];
        if is_number(last_two[0]) && is_keyword(last_two[1]) && is_keyword(word) {
            return true;
        }
        // The op is cut after its process or within its type.
        let cut = if i == 0 { is_number(word) } else { i == 1 && is_number(last_two[1]) && is_keyword(word) };
        if cut && line.trim_ascii_end().ends_with(word) {
            return true;
        }
        last_two = [last_two[1], word];
    }
    false
}

fn is_keyword(word: &[u8]) -> bool {
    word.first() == Some(&b':')
}

fn is_number(word: &[u8]) -> bool {
    !word.is_empty() && word.iter().all(u8::is_ascii_digit)
}

impl Scanner<'_> {
    /// Reads the line at `pos` as a map, including its end. `after_error`: whether the op before it has an error.
    pub(crate) fn table_line(&mut self, after_error: bool) -> Result<Line, Fault> {
        let start = self.pos;
        let Some(len) = memchr::memchr(b'\n', &self.bytes[start..]) else {
            return Err(Fault::incomplete(start, "the text ends inside a line", LINE));
        };
        let line = &self.bytes[start..start + len];
        let Some((process, kind)) = head(line) else {
            let passed = if is_log(line) { Line::Log } else { Line::Passed };
            if passed == Line::Log || after_error && !is_broken_op(line) {
                self.pos = start + len + 1;
                return Ok(passed);
            }
            return Err(Fault::syntax(start, "this line has no process and type", LINE));
        };
        let (process, kind) = (start + process.start..start + process.end, start + kind.start..start + kind.end);
        let map = self.tape.open(Tag::Map);
        self.key("process");
        let process_node = self.next_node();
        let process_end = self.cell(process.start, process.end, "process")?;
        if process_end != process.end {
            return Err(Fault::syntax(process.start, "the process is not an EDN value", LINE));
        }
        self.key("type");
        self.tape.push_source(Tag::Keyword, kind.start + 1, kind.end);
        let end = start + len;
        self.key("f");
        let mut at = self.cell(kind.end, end, "f")?;
        let mut children = 6;
        // The value of a read's invocation may be missing.
        if !self.bytes[at..end].trim_ascii().is_empty() {
            let mark = self.mark();
            self.key("value");
            let node = self.next_node();
            at = self.cell(at, end, "value")?;
            children += 2;
            if self.tape.int(process_node).is_some() && self.is_timeout(kind, node, at) {
                self.tape.cut(mark);
                children -= 2;
                if self.bytes[at..end].trim_ascii().is_empty() {
                    self.key("error");
                    self.tape.push_source(Tag::Keyword, at - TIMED_OUT.len() + 1, at);
                    children += 2;
                }
            }
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

    /// Returns true if the value at `node`, which ends at `end`, represents a missing value in an op of this kind.
    fn is_timeout(&self, kind: Range<usize>, node: usize, end: usize) -> bool {
        let node = self.tape.nodes[node];
        matches!(&self.bytes[kind], b":fail" | b":info")
            && node.tag == Tag::Keyword
            && node.a.to_usize() + 1 == TIMED_OUT.len()
            && self.bytes[..end].ends_with(TIMED_OUT)
    }

    fn key(&mut self, name: &str) {
        let start = self.tape.unescaped.len();
        self.tape.unescaped.to_mut().push_str(name);
        self.tape.push_unescaped(Tag::Keyword, start);
    }

    /// Reads one EDN value between `start` and `end`, where white space or the line ends. Returns where the value ends.
    fn cell(&mut self, start: usize, end: usize, name: &str) -> Result<usize, Fault> {
        // The gap or newline after the cell shows where its last token ends.
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

    /// Reads an error, which is all the text between `start` and `end`.
    fn error(&mut self, start: usize, end: usize) {
        let (mark, node) = (self.tape.mark(), self.tape.nodes.len());
        let read = self.cell(start, end, "error");
        // A symbol is the first word of a sentence, or a sentence of one word, so the error is text.
        if read != Ok(end) || self.tape.nodes[node].tag == Tag::Symbol {
            self.tape.cut(mark);
            self.tape.push_source(Tag::Str, start, end);
        }
    }
}
