//! Jepsen's `history.txt`: a line an op, `PROCESS<TAB>TYPE<TAB>F<TAB>VALUE`, and sometimes `<TAB>ERROR`.
//!
//! The first three and the value are EDN. What a logger puts before the process (`INFO  jepsen.util - `) is passed over.

use super::edn::Read;
use super::{Fault, FaultKind, Scanner};
use crate::tape::Tag;

/// A line of the table, for messages.
pub(crate) const LINE: &str = "PROCESS<TAB>TYPE<TAB>F<TAB>VALUE, like 0<TAB>:invoke<TAB>:read<TAB>nil";

const COLUMNS: [&str; 4] = ["process", "type", "f", "value"];

impl Scanner<'_> {
    /// Reads the line at `pos` as a map, up to and with its end.
    pub(crate) fn table_line(&mut self) -> Result<(), Fault> {
        let rest = &self.bytes[self.pos..];
        let Some(len) = memchr::memchr(b'\n', rest) else { return Err(self.incomplete()) };
        let end = self.pos + len;
        let map = self.tape.open(Tag::Map);
        let mut children = 0;
        let mut at = self.pos;
        for (column, name) in COLUMNS.iter().enumerate() {
            if at > end {
                // A read in flight may be written without a value.
                if column == 3 {
                    break;
                }
                return Err(Fault::syntax(self.pos, format!("this line has no {name}"), LINE));
            }
            let cell_end = memchr::memchr(b'\t', &self.bytes[at..end]).map_or(end, |i| at + i);
            if column == 0 && cell_end == end {
                return Err(Fault::syntax(self.pos, "this line is not in columns", LINE));
            }
            let mut start = at;
            if column == 0 {
                start += self.bytes[at..cell_end].iter().rposition(|b| *b == b' ').map_or(0, |i| i + 1);
            }
            self.key(name);
            self.cell(start, cell_end)?;
            children += 2;
            at = cell_end + 1;
        }
        let line_end = end - usize::from(self.bytes[..end].ends_with(b"\r"));
        if at < line_end {
            self.key("error");
            self.tape.push_source(Tag::Str, at, line_end);
            children += 2;
        }
        self.tape.close(map, children);
        self.pos = end + 1;
        Ok(())
    }

    fn key(&mut self, name: &str) {
        let start = self.tape.unescaped.len();
        self.tape.unescaped.push_str(name);
        self.tape.push_unescaped(Tag::Keyword, start);
    }

    /// One EDN value between `start` and `end`, and nothing else.
    fn cell(&mut self, start: usize, end: usize) -> Result<(), Fault> {
        // The tab or newline behind the cell ends its last token.
        let mut inner = Scanner::new(&self.bytes[..=end], start, self.tape);
        inner.skip_edn_space();
        let read = match inner.edn_value() {
            Err(fault) if fault.kind == FaultKind::Incomplete => {
                return Err(Fault { kind: FaultKind::Syntax, ..fault });
            }
            other => other?,
        };
        inner.skip_edn_space();
        if read == Read::Nothing || inner.pos <= end && inner.pos < self.bytes.len() && inner.pos != end {
            return Err(Fault::syntax(start, "this column does not hold one EDN value", LINE));
        }
        Ok(())
    }
}
