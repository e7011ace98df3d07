//! dbcop's text: `[x:=1 y==2 z==?]`, one or more transactions a line, `!` after one that did not commit, a line of
//! dashes between sessions, `//` before a comment.
//!
//! Source: dbcop 0.2 (`docs/history-format.md` and its parser, which accepts any letters and digits as a variable). A
//! variable that consists of digits is a number. `?` is the first state.

use super::cursor::{Cursor, lines};
use super::txn::{Act, Atom, Event, Events, Out};
use super::{Decode, Decoded, Input};
use crate::OpKind;
use crate::text::syntax::Fault;

const LINE: &str = "transactions like [x:=1 y==2 z==?], a line of dashes, or a comment after //";
const VARIABLE: &str = "a variable: letters, digits and _";

/// The state of the decoder.
#[derive(Default)]
pub(super) struct Hist {
    session: i64,
    events: Events,
}

impl Hist {
    fn line(&mut self, input: &Input<'_>, start: usize, end: usize, out: &mut Out<'_>) -> Result<(), Fault> {
        let mut line = Cursor::new(input.bytes, start, end);
        if line.is_at_end() || line.rest().starts_with(b"//") {
            return Ok(());
        }
        if line.rest().iter().all(|b| *b == b'-') {
            self.session += 1;
            return Ok(());
        }
        while !line.is_at_end() {
            let at = line.pos;
            if !line.eat(b"[") {
                return Err(line.fault(LINE));
            }
            self.events.clear();
            while !line.eat(b"]") {
                if !self.events.is_empty() && !line.skip_blanks() {
                    return Err(line.fault("a space or ]"));
                }
                line.skip_blanks();
                if line.peek() == Some(b']') {
                    continue;
                }
                let event_at = line.pos;
                let event = event(&mut line)?;
                self.events.push(event, event_at)?;
            }
            let kind = if line.eat(b"!") { OpKind::Fail } else { OpKind::Ok };
            if kind == OpKind::Ok && line.pos == end && input.is_cut(end) {
                let message = "the last line has no line end, so a ! may be cut off";
                return Err(Fault::syntax(at, message, "a line end after it"));
            }
            out.push(Atom::Int(self.session), kind, self.events.all(), None, input.position(at));
            line.skip_blanks();
        }
        Ok(())
    }
}

fn event(line: &mut Cursor<'_>) -> Result<Event, Fault> {
    let from = line.pos;
    let name_bytes = line.rest().iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_' || !b.is_ascii());
    let len = name_bytes.count();
    let name = std::str::from_utf8(&line.rest()[..len]).unwrap_or_default();
    if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return Err(line.fault(VARIABLE));
    }
    let key = match name.parse::<u64>() {
        // A number that would not be written in the same way is a name.
        Ok(number) if name == "0" || !name.starts_with('0') => number.into(),
        _ => Atom::Text(from, from + len),
    };
    line.pos += len;
    if line.eat(b":=") {
        let value = line.number("a number from 0 on")?;
        return Ok(Event { act: Act::Write, key, value: value.into() });
    }
    if !line.eat(b"==") {
        return Err(line.fault(":= before what was written, or == before what was read"));
    }
    let value = if line.eat(b"?") { Atom::Nil } else { line.number("a number from 0 on, or ?")?.into() };
    Ok(Event { act: Act::Read, key, value })
}

/// Returns true if a line begins with a transaction of this format, or is a comment.
pub(super) fn is_line(line: &[u8]) -> bool {
    let mut line = Cursor::new(line, 0, line.len());
    if line.eat(b"//") {
        return true;
    }
    let is_open = line.eat(b"[");
    line.skip_blanks();
    is_open && event(&mut line).is_ok()
}

impl Decode for Hist {
    fn decode(&mut self, input: &Input<'_>, out: &mut Out<'_>) -> Decoded {
        let mut consumed = input.block.start;
        for (start, end) in lines(input.bytes, input.block.start) {
            self.line(input, start, end, out)?;
            consumed = end + 1;
        }
        Ok(consumed)
    }
}
