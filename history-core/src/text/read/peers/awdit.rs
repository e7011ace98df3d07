//! AWDIT's `test` format: `r K V` and `w K V`, a line of `-` after a transaction, a line of `=` after a session.
//!
//! Source: AWDIT 0.2.1 (`parse_test_history`). As there, two such lines with nothing between them are not a
//! transaction. There is no implied first state: every value that is read was written.

use super::cursor::{Cursor, lines};
use super::txn::{Act, Atom, Event, Events, Out};
use super::{Decode, Decoded, Input};
use crate::text::syntax::Fault;
use crate::{OpKind, Position};

const LINE: &str = "r KEY VALUE, w KEY VALUE, or a line of - (end of a transaction) or = (end of a session)";
const NUMBER: &str = "a number from 0 on";

/// The state of the decoder.
#[derive(Default)]
pub(super) struct Awdit {
    session: i64,
    /// Whether the session has a transaction.
    has_txn: bool,
    events: Events,
    /// Where the transaction being read begins.
    begins: Option<Position>,
}

impl Awdit {
    fn end_txn(&mut self, out: &mut Out<'_>) {
        if let Some(position) = self.begins.take() {
            out.push(Atom::Int(self.session), OpKind::Ok, self.events.all(), None, position);
            self.events.clear();
            self.has_txn = true;
        }
    }

    fn line(&mut self, input: &Input<'_>, start: usize, end: usize, out: &mut Out<'_>) -> Result<(), Fault> {
        let mut line = Cursor::new(input.bytes, start, end);
        let act = match line.peek() {
            None => return Ok(()),
            Some(b'r') => Act::Read,
            Some(b'w') => Act::Write,
            Some(b @ (b'-' | b'=')) if line.rest().iter().all(|other| *other == b) => {
                self.end_txn(out);
                if b == b'=' && std::mem::take(&mut self.has_txn) {
                    self.session += 1;
                }
                return Ok(());
            }
            Some(_) => return Err(line.fault(LINE)),
        };
        let at = line.pos;
        line.pos += 1;
        let event = event(&mut line, act)?;
        if input.is_cut(end) {
            return Err(Fault::syntax(at, "the last line has no line end, so it may be cut", "a line end after it"));
        }
        if self.begins.is_none() {
            self.begins = Some(input.position(at));
        }
        self.events.push(event, at)
    }
}

/// Parses the rest of a line, after its letter.
fn event(line: &mut Cursor<'_>, act: Act) -> Result<Event, Fault> {
    let mut number = || {
        if line.skip_blanks() { line.number(NUMBER) } else { Err(line.fault(LINE)) }
    };
    let (key, value) = (number()?, number()?);
    if !line.is_at_end() {
        return Err(line.fault("the end of the line"));
    }
    Ok(Event { act, key: key.into(), value: value.into() })
}

/// Returns true if a line belongs to this format and to no other.
pub(super) fn is_line(line: &[u8]) -> bool {
    let mut line = Cursor::new(line, 0, line.len());
    (line.eat(b"r") || line.eat(b"w")) && event(&mut line, Act::Read).is_ok()
}

impl Decode for Awdit {
    fn decode(&mut self, input: &Input<'_>, out: &mut Out<'_>) -> Decoded {
        let mut consumed = input.block.start;
        for (start, end) in lines(input.bytes, input.block.start) {
            self.line(input, start, end, out)?;
            consumed = end + 1;
        }
        if input.block.last {
            self.end_txn(out);
        }
        Ok(consumed)
    }
}
