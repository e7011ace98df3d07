//! Chronos's and Aion's JSON: an array of transactions, each with the start and commit timestamps that its store gave
//! it.
//!
//! Source: TimeKiller (Chronos and Aion, ICDE 2025), its README and `SIKVFastReader`:
//! `{"tid", "sid", "sts": {"p", "l"}, "cts", "ops": [{"t": "w", "k": 7, "v": 2}]}`. `t` is `r`, `w`, `read`, `write`,
//! or for lists `a`, `append`, in any case; `v` may be null or absent; `p` and `l` are integers, or such as strings.
//! The timestamps become the fields `start-ts` and `commit-ts` of the op, each a pair of the physical and the logical
//! part; transactions may also follow one another without an array.

use super::json::{self, Step};
use super::txn::{Act, Atom, Event, Events, Out, Stamps};
use super::{Decode, Decoded, Input};
use crate::OpKind;
use crate::text::syntax::{Fault, FaultKind, Scanner};
use crate::values::tape::{Tag, Tape};
use crate::values::value::Value;

const TXN: &str =
    r#"a transaction: {"tid": 67, "sid": 19, "sts": {"p": 16, "l": 0}, "cts": {"p": 17, "l": 0}, "ops": [...]}"#;
const OP: &str = r#"an operation: {"t": "w", "k": 7, "v": 2}, where t is r or w, or for lists a"#;
const STAMP: &str = r#"a timestamp: {"p": 1691420095436341, "l": 61}"#;

/// What encloses the transactions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Within {
    #[default]
    Start,
    Array {
        is_first: bool,
    },
    /// Nothing: they follow one another.
    Bare,
    /// An array that was closed.
    Closed,
}

/// The state of the decoder.
#[derive(Default)]
pub(super) struct Chronos {
    within: Within,
    events: Events,
}

impl Chronos {
    /// Reads the next transaction; returns its node and its place. Nothing at the end of the text or of the array.
    fn step(&mut self, scanner: &mut Scanner<'_>) -> Result<Option<(usize, usize)>, Fault> {
        scanner.skip_json_space();
        if self.within == Within::Start {
            let Some(b) = scanner.peek() else { return Err(scanner.incomplete()) };
            scanner.pos += usize::from(b == b'[');
            self.within = if b == b'[' { Within::Array { is_first: true } } else { Within::Bare };
        }
        match self.within {
            Within::Array { is_first } => {
                let step = json::next(scanner, is_first, TXN)?;
                self.within = if step == Step::Closed { Within::Closed } else { Within::Array { is_first: false } };
                if step == Step::Closed {
                    return Ok(None);
                }
            }
            _ if scanner.peek().is_none() => return Ok(None),
            Within::Closed => {
                return Err(Fault::syntax(scanner.pos, "there is text after the end of the history", "nothing more"));
            }
            Within::Start | Within::Bare => {}
        }
        let (node, start) = (scanner.next_node(), scanner.pos);
        scanner.json_value()?;
        Ok(Some((node, start)))
    }

    /// The session of a transaction, and its timestamps.
    fn txn(&mut self, tape: &Tape, node: usize, at: usize) -> Result<(Atom, Stamps), Fault> {
        let names = ["tid", "sid", "sts", "cts", "ops"];
        let [_, session, start, commit, ops] = json::fields(tape, node, names, TXN)?;
        let session = session.map(|node| (node, Value::at(tape, node)));
        let session = match session {
            Some((_, Value::Int(number))) => Atom::Int(number),
            Some((node, Value::Str(name))) if !name.is_empty() => name.parse().map_or(Atom::Node(node), Atom::Int),
            _ => return Err(Fault::op("the transaction has no session, sid".to_owned(), TXN)),
        };
        let stamp = |node: Option<usize>, name: &str| {
            stamp(tape, node).ok_or_else(|| Fault::op(format!("the transaction has no timestamp {name}"), STAMP))
        };
        let stamps = Stamps { start: stamp(start, "sts")?, commit: stamp(commit, "cts")? };
        self.events.clear();
        let Some(Value::Vector(_)) = ops.map(|node| Value::at(tape, node)) else {
            return Err(Fault::op("the transaction has no array of operations, ops".to_owned(), TXN));
        };
        let ops = ops.unwrap_or_default();
        let (mut next, end) = (ops + 1, tape.after(ops));
        if tape.nodes[ops].tag == Tag::IntVector && tape.nodes[ops].a > 0 {
            return Err(Fault::op("an operation is an integer".to_owned(), OP));
        }
        while next < end {
            self.events.push(event(tape, next)?, at)?;
            next = tape.after(next);
        }
        Ok((session, stamps))
    }
}

/// A part of a timestamp, which some write as a string.
fn part(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Int(number) => Some(number),
        Value::Str(text) => text.parse().ok(),
        _ => None,
    }
}

fn stamp(tape: &Tape, node: Option<usize>) -> Option<[i64; 2]> {
    let [physical, logical] = json::fields(tape, node?, ["p", "l"], STAMP).ok()?;
    Some([part(Value::at(tape, physical?))?, part(Value::at(tape, logical?))?])
}

fn event(tape: &Tape, node: usize) -> Result<Event, Fault> {
    let [kind, key, value] = json::fields(tape, node, ["t", "k", "v"], OP)?;
    let wrong = || Fault::op(format!("an operation is {}", Value::at(tape, node)), OP);
    let kind = kind.and_then(|node| tape.name(node)).ok_or_else(wrong)?;
    let act = match kind.to_ascii_lowercase().as_str() {
        "r" | "read" => Act::Read,
        "w" | "write" => Act::Write,
        "a" | "append" => Act::Append,
        _ => return Err(wrong()),
    };
    let key = key.ok_or_else(wrong)?;
    if !matches!(Value::at(tape, key), Value::Int(_) | Value::Big(_) | Value::Str(_)) {
        return Err(wrong());
    }
    let value = match value.map(|node| (node, Value::at(tape, node))) {
        None | Some((_, Value::Nil)) => Atom::Nil,
        Some((_, Value::Int(number))) => Atom::Int(number),
        Some((node, Value::Str(_) | Value::Big(_))) => Atom::Node(node),
        Some((node, Value::Vector(_))) if act == Act::Read => Atom::Node(node),
        Some(_) => return Err(wrong()),
    };
    Ok(Event { act, key: Atom::Node(key), value })
}

impl Decode for Chronos {
    fn decode(&mut self, input: &Input<'_>, out: &mut Out<'_>) -> Decoded {
        let mut consumed = input.block.start;
        loop {
            let before = self.within;
            let stepped = json::scan(&mut out.batch.tape, input.bytes, consumed, |scanner| self.step(scanner));
            match stepped {
                Ok((None, end)) if self.within != Within::Closed || before == Within::Closed => return Ok(end),
                Ok((None, end)) => consumed = end,
                Ok((Some((node, start)), end)) => {
                    // A number may continue in the next block, but a transaction is not a number.
                    let sited = |fault: Fault| Fault { at: fault.at.or(Some(start)), ..fault };
                    let (session, stamps) = self.txn(&out.batch.tape, node, start).map_err(sited)?;
                    out.push(session, OpKind::Ok, self.events.all(), Some(stamps), input.position(start));
                    consumed = end;
                }
                Err(fault) if fault.kind == FaultKind::Incomplete && !input.block.last => {
                    self.within = before;
                    return Ok(consumed);
                }
                Err(fault) => return Err(fault),
            }
        }
    }
}
