//! Cobra's logs: one file per session, of records that begin with a letter, followed by big-endian numbers of eight
//! bytes.
//!
//! Source: CobraVerifier (`ExtractClientLogFromStream`) and PolySI's `CobraHistoryLoader`. `S` txn; `W` write-id, key
//! hash, value hash; `R` writer's txn, write-id, key hash, value hash; `C` txn. The write-id is used as the value,
//! because Cobra makes it unique. A read is of the first state if its writer and its write-id are each 0xbebeebee or
//! 0xdeadbeef. A read with the writer 0xbebeebee and another id that Cobra's garbage collection uses is omitted. A byte
//! 255 may end a file: after it, another session begins, so logs can be concatenated. Aborted transactions are not
//! logged.

use super::txn::{Act, Atom, Event, Events, Out};
use super::{Decode, Decoded, Input};
use crate::cast::Cast as _;
use crate::text::syntax::{Fault, FaultKind};
use crate::{OpKind, Position};

/// The numbers that Cobra uses for the first state, both as a transaction and as a write-id.
pub(crate) const FIRST: [i64; 2] = [0xbebe_ebee, 0xdead_beef];
/// Write-ids that reads of Cobra's garbage collection have.
const COLLECTOR: [i64; 2] = [0x2333_2333, 0x6666_6666];
/// The end of a session.
pub(crate) const END: u8 = 255;

const RECORD: &str = "S, R, W or C (a record of Cobra's logs, without timestamps), or the byte 255 at the end";

/// The state of the decoder.
#[derive(Default)]
pub(super) struct Cobra {
    session: usize,
    /// The number of bytes before the file of this session.
    session_starts: u64,
    /// The transaction being read, and where it begins.
    txn: Option<(i64, Position)>,
    events: Events,
}

impl Cobra {
    /// Reads a record; returns its length in bytes.
    fn record(&mut self, input: &Input<'_>, at: usize, out: &mut Out<'_>) -> Result<usize, Fault> {
        let letter = input.bytes[at];
        let fields: usize = match letter {
            b'S' | b'C' => 1,
            b'W' => 3,
            b'R' => 4,
            END => 0,
            _ => return Err(Fault::syntax(at, format!("found the byte {letter}"), RECORD)),
        };
        let Some(bytes) = input.bytes.get(at + 1..at + 1 + 8 * fields) else {
            return Err(input.ends_early(input.block.end, "a record"));
        };
        let number = |i: usize| {
            let number = bytes[8 * i..8 * i + 8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
            number.cast_signed()
        };
        let wrong = |message: &str, expected: &'static str| Fault::syntax(at, message, expected);
        match (letter, self.txn) {
            (b'S', None) => {
                let offset = input.position(at).offset - self.session_starts;
                self.txn = Some((number(0), Position::of_byte(offset)));
                self.events.clear();
            }
            (b'S', Some(_)) => return Err(wrong("a transaction begins before the one before it ended", "C")),
            (END, None) => {
                self.session += 1;
                self.session_starts = input.position(at).offset + 1;
            }
            (END, Some(_)) => return Err(input.ends_early(at, "a transaction")),
            (_, None) => return Err(wrong("there is no transaction that this belongs to", "S")),
            (b'C', Some((begun, position))) => {
                if number(0) != begun {
                    let message = format!("transaction {begun} ends as {}", number(0));
                    return Err(Fault::syntax(at, message, "the same number as at its beginning"));
                }
                self.txn = None;
                let session = Atom::Int(self.session.to_i64());
                out.push(session, OpKind::Ok, self.events.all(), None, position);
            }
            (b'W', Some(_)) => {
                self.events
                    .push(Event { act: Act::Write, key: Atom::Int(number(1)), value: Atom::Int(number(0)) }, at)?;
            }
            (_, Some(_)) => self.read(number(0), number(1), number(2), at)?,
        }
        Ok(1 + 8 * fields)
    }

    fn read(&mut self, writer: i64, id: i64, key: i64, at: usize) -> Result<(), Fault> {
        let value = match (FIRST.contains(&writer), FIRST.contains(&id)) {
            (true, true) => Atom::Nil,
            (true, false) if COLLECTOR.contains(&id) => return Ok(()),
            (false, false) => Atom::Int(id),
            _ => {
                let message = "of the writer and the write-id of this read, one is the first state's";
                return Err(Fault::syntax(at, message, "both (0xbebeebee or 0xdeadbeef) or neither"));
            }
        };
        self.events.push(Event { act: Act::Read, key: Atom::Int(key), value }, at)
    }
}

impl Decode for Cobra {
    fn decode(&mut self, input: &Input<'_>, out: &mut Out<'_>) -> Decoded {
        let mut at = input.block.start;
        while at < input.block.end {
            match self.record(input, at, out) {
                Ok(bytes) => at += bytes,
                Err(fault) if fault.kind == FaultKind::Incomplete && !input.block.last => return Ok(at),
                Err(fault) => return Err(fault),
            }
        }
        if input.block.last && self.txn.is_some() {
            return Err(input.ends_early(at, "a transaction"));
        }
        Ok(at)
    }

    fn session(&self) -> Option<usize> {
        Some(self.session)
    }

    fn session_starts(&self) -> u64 {
        self.session_starts
    }
}

/// Returns true if a file with this beginning has this format.
pub(super) fn begins(head: &[u8]) -> bool {
    // In a log, the high byte of a number is zero or not ASCII. In a text, the second byte is an ASCII character.
    let is_record = |at: usize| matches!(head.get(at), Some(b'R' | b'W' | b'C'));
    head.first() == Some(&b'S') && is_record(9) && (head[1] == 0 || !head[1].is_ascii())
}
