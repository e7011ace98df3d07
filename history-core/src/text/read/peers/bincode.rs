//! dbcop's histories of 2019, `history.bincode`: bincode 1 with numbers of a fixed width, little-endian.
//!
//! Source: dbcop (`src/db/history.rs`), which PolySI and AWDIT read as well. Five u64 (id, sessions, keys,
//! transactions, events), three strings (info, start, end), then sessions, each with a count before it: of
//! transactions, of events `{write: bool, key: u64, value: u64, success: bool}`, and after a transaction's events
//! `success: bool`. Value 0 is the first state. A transaction without success aborted. In a transaction with success, a
//! read without success is ignored, and a write without success is an aborted transaction of its own.

use super::txn::{Act, Atom, Event, Events, Out};
use super::{Decode, Decoded, Input};
use crate::OpKind;
use crate::cast::Cast as _;
use crate::text::syntax::{Fault, FaultKind};

/// The maximum number of bytes of a string in the header.
const STRING_BYTES_MAX: u64 = 1 << 20;
/// The number of bytes of an event.
const EVENT_BYTES: usize = 18;

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Next {
    #[default]
    Head,
    /// This number of sessions.
    Sessions(u64),
    /// This number of transactions of the current session, then this number of sessions.
    Txns(u64, u64),
}

/// The state of the decoder.
#[derive(Default)]
pub(super) struct Bincode {
    next: Next,
    session: i64,
    /// Whether the session has exactly one transaction.
    is_alone: bool,
    /// Whether a transaction was treated as the first state. At most one is.
    had_first_state: bool,
    events: Events,
    failed: Events,
}

/// A position in the bytes of a block.
struct Bytes<'i, 'b> {
    input: &'i Input<'b>,
    pos: usize,
}

impl Bytes<'_, '_> {
    fn take(&mut self, count: usize, within: &'static str) -> Result<&[u8], Fault> {
        let bytes = self.input.bytes.get(self.pos..).and_then(|rest| rest.get(..count));
        let bytes = bytes.ok_or_else(|| self.input.ends_early(self.pos, within))?;
        self.pos += count;
        Ok(bytes)
    }

    fn number(&mut self, within: &'static str) -> Result<u64, Fault> {
        let bytes = self.take(8, within)?;
        Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn bool(&mut self, within: &'static str) -> Result<bool, Fault> {
        let at = self.pos;
        match self.take(1, within)?[0] {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Fault::syntax(at, format!("found the byte {other} in {within}"), "0 or 1")),
        }
    }

    /// A string in the header, whose content is ignored.
    fn string(&mut self) -> Result<(), Fault> {
        let at = self.pos;
        let len = self.number("the head")?;
        if len > STRING_BYTES_MAX {
            let fault = Fault::syntax(at, format!("a string of the head has {len} bytes"), "a short text");
            return Err(Fault { kind: FaultKind::Limit, ..fault });
        }
        let text = self.take(len.to_usize(), "the head")?;
        if std::str::from_utf8(text).is_err() {
            return Err(Fault::syntax(at, "a string of the head is not UTF-8", "UTF-8 text"));
        }
        Ok(())
    }
}

impl Bincode {
    /// Reads the next item; false after the last.
    fn step(&mut self, bytes: &mut Bytes<'_, '_>, out: &mut Out<'_>) -> Result<bool, Fault> {
        self.next = match self.next {
            Next::Head => {
                for _ in 0..5 {
                    bytes.number("the head")?;
                }
                for _ in 0..3 {
                    bytes.string()?;
                }
                Next::Sessions(bytes.number("the head")?)
            }
            Next::Sessions(0) => return Ok(false),
            Next::Sessions(left) => {
                let txns = bytes.number("a session")?;
                self.is_alone = txns == 1;
                Next::Txns(txns, left - 1)
            }
            Next::Txns(0, left) => {
                self.session += 1;
                Next::Sessions(left)
            }
            Next::Txns(txns, left) => {
                self.txn(bytes, out)?;
                Next::Txns(txns - 1, left)
            }
        };
        Ok(true)
    }

    fn txn(&mut self, bytes: &mut Bytes<'_, '_>, out: &mut Out<'_>) -> Result<(), Fault> {
        const WITHIN: &str = "a transaction";
        let at = bytes.pos;
        let count = bytes.number(WITHIN)?;
        // Waits until all events are in the block, before it stores any.
        let there = (bytes.input.bytes.len() - bytes.pos) / EVENT_BYTES;
        if count > there.to_u64() {
            return Err(bytes.input.ends_early(at, WITHIN));
        }
        self.events.clear();
        self.failed.clear();
        for _ in 0..count {
            let event_at = bytes.pos;
            let act = if bytes.bool(WITHIN)? { Act::Write } else { Act::Read };
            let (key, value) = (bytes.number(WITHIN)?, bytes.number(WITHIN)?);
            let event = Event { act, key: key.into(), value: value.into() };
            let succeeded = bytes.bool(WITHIN)?;
            if succeeded { &mut self.events } else { &mut self.failed }.push(event, event_at)?;
        }
        let succeeded = bytes.bool(WITHIN)?;
        let position = bytes.input.position(at);
        let session = Atom::Int(self.session);
        let may_be_first = self.is_alone && !self.had_first_state && succeeded && self.failed.is_empty();
        if may_be_first && out.is_first_state(self.events.all()) {
            self.had_first_state = true;
            return Ok(());
        }
        let writes = |events: &Events| events.all().iter().any(|event| event.act == Act::Write);
        if succeeded {
            if writes(&self.failed) {
                out.push(session, OpKind::Fail, self.failed.all(), None, position);
            }
            out.push(session, OpKind::Ok, self.events.all(), None, position);
        } else {
            // Only the writes of an aborted transaction matter, and their order does not.
            for event in self.failed.all() {
                self.events.push(*event, at)?;
            }
            out.push(session, OpKind::Fail, self.events.all(), None, position);
        }
        Ok(())
    }
}

impl Decode for Bincode {
    fn decode(&mut self, input: &Input<'_>, out: &mut Out<'_>) -> Decoded {
        let mut bytes = Bytes { input, pos: input.block.start };
        loop {
            let from = bytes.pos;
            match self.step(&mut bytes, out) {
                Ok(true) => {}
                Ok(false) if from < input.bytes.len() => {
                    return Err(Fault::syntax(from, "there are bytes after the end of the history", "nothing more"));
                }
                Ok(false) => return Ok(from),
                Err(fault) if fault.kind == FaultKind::Incomplete && !input.block.last => return Ok(from),
                Err(fault) => return Err(fault),
            }
        }
    }
}

/// Returns true if a file with this beginning has this format: small numbers of eight bytes, the sixth of which is the
/// length of a text that follows.
pub(super) fn begins(head: &[u8]) -> bool {
    let number = |i: usize| {
        let bytes = head.get(8 * i..8 * i + 8)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    };
    // Text contains no zero bytes, so it has no such numbers.
    (1..5).all(|i| number(i).is_some_and(|count: u64| count < 1 << 48))
        && number(5).is_some_and(|len| len <= STRING_BYTES_MAX)
        && head[8..16].contains(&0)
        && number(1) > Some(0)
}
