//! dbcop's JSON: an array of sessions, each an array of transactions. The array is the whole text, or the field `data`
//! of an object.
//!
//! Source: dbcop 0.2 (`docs/history-format.md`). An event is `{"Write": {"variable": 3, "version": 17}}` or
//! `{"Read": ...}`, or short, `["w", 3, 17]`. A version of null is the first state. A transaction that is not
//! `committed` aborted.

use super::json::{self, Step};
use super::txn::{Act, Atom, Event, Events, Out};
use super::{Decode, Decoded, Input};
use crate::OpKind;
use crate::text::syntax::{Fault, FaultKind, Scanner};
use crate::values::tape::{Tag, Tape};
use crate::values::value::Value;

const HISTORY: &str = "an array of sessions, or an object with such an array as data";
const SESSION: &str = "a session: an array of transactions";
const TXN: &str = r#"a transaction: {"events": [...], "committed": true}"#;
const EVENT: &str = r#"{"Read": {"variable": 3, "version": 17}}, {"Write": ...}, ["r", 3, 17] or ["w", 3, 17]"#;

/// The context of the next token.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum At {
    #[default]
    Start,
    /// In the object around the sessions, before a key, or before its end.
    Keys { is_first: bool },
    /// In the array of sessions.
    Sessions { is_first: bool },
    /// In a session.
    Txns { is_first: bool },
    /// After the end.
    End,
}

/// The state of the decoder.
#[derive(Default)]
pub(super) struct DbcopJson {
    at: At,
    /// Whether an object encloses the sessions.
    is_wrapped: bool,
    /// Whether the sessions were read.
    is_read: bool,
    session: i64,
    events: Events,
}

impl DbcopJson {
    /// Reads a token that is not a transaction, or a transaction, whose node is returned with its place. False at the
    /// end.
    fn step(&mut self, scanner: &mut Scanner<'_>) -> Result<Option<(usize, usize)>, Fault> {
        scanner.skip_json_space();
        let Some(b) = scanner.peek() else { return Err(scanner.incomplete()) };
        let mut begun = None;
        self.at = match self.at {
            At::Start if b == b'[' => {
                scanner.pos += 1;
                At::Sessions { is_first: true }
            }
            At::Start if b == b'{' => {
                scanner.pos += 1;
                self.is_wrapped = true;
                At::Keys { is_first: true }
            }
            At::Start => return Err(Fault::syntax(scanner.pos, "not a dbcop history", HISTORY)),
            At::Keys { is_first } => self.key(scanner, is_first)?,
            At::Sessions { is_first } => match json::next(scanner, is_first, SESSION)? {
                Step::Closed => {
                    self.is_read = true;
                    if self.is_wrapped { At::Keys { is_first: false } } else { At::End }
                }
                Step::Element => {
                    json::expect(scanner, b'[', SESSION)?;
                    At::Txns { is_first: true }
                }
            },
            At::Txns { is_first } => match json::next(scanner, is_first, TXN)? {
                Step::Closed => {
                    self.session += 1;
                    At::Sessions { is_first: false }
                }
                Step::Element => {
                    let (node, start) = (scanner.next_node(), scanner.pos);
                    scanner.json_value()?;
                    begun = Some((node, start));
                    At::Txns { is_first: false }
                }
            },
            At::End => {
                return Err(Fault::syntax(scanner.pos, "there is text after the end of the history", "nothing more"));
            }
        };
        Ok(begun)
    }

    /// Reads a key of the object around the sessions, and its value, unless the value is the sessions.
    fn key(&mut self, scanner: &mut Scanner<'_>, is_first: bool) -> Result<At, Fault> {
        if scanner.peek() == Some(b'}') {
            if !self.is_read {
                return Err(Fault::syntax(scanner.pos, "the object has no data", HISTORY));
            }
            scanner.pos += 1;
            return Ok(At::End);
        }
        if !is_first {
            json::expect(scanner, b',', "a comma or }")?;
            scanner.skip_json_space();
        }
        let at = scanner.pos;
        if scanner.peek().is_some_and(|b| b != b'"') {
            return Err(Fault::syntax(at, "found something else than a key", "a key in double quotes"));
        }
        scanner.json_value()?;
        let is_data = scanner.since(at).strip_suffix(b"\"").is_some_and(|key| key == b"\"data");
        json::expect(scanner, b':', "a colon")?;
        if !is_data {
            scanner.skip_json_space();
            scanner.json_value()?;
            return Ok(At::Keys { is_first: false });
        }
        if self.is_read {
            return Err(Fault::syntax(at, "there are two fields named data", "one of each"));
        }
        json::expect(scanner, b'[', HISTORY)?;
        Ok(At::Sessions { is_first: true })
    }

    fn txn(&mut self, tape: &Tape, node: usize, at: usize) -> Result<OpKind, Fault> {
        let [events, committed] = json::fields(tape, node, ["events", "committed"], TXN)?;
        self.events.clear();
        let events = events.map(|node| Value::at(tape, node));
        let (Some(Value::Vector(_)), Some(events)) = (events, events_of(tape, node)) else {
            return Err(Fault::op("the transaction has no array of events".to_owned(), TXN));
        };
        for event in events {
            self.events.push(event_of(tape, event)?, at)?;
        }
        match committed.map(|node| Value::at(tape, node)) {
            Some(Value::Bool(true)) => Ok(OpKind::Ok),
            Some(Value::Bool(false)) => Ok(OpKind::Fail),
            _ => Err(Fault::op("the transaction does not say whether it was committed".to_owned(), TXN)),
        }
    }
}

/// The nodes of the events of a transaction.
fn events_of(tape: &Tape, node: usize) -> Option<impl Iterator<Item = usize>> {
    let [events] = json::fields(tape, node, ["events"], TXN).ok()?;
    let events = events?;
    let end = tape.after(events);
    // An array without elements, or one of integers, takes one node.
    let is_plain = tape.nodes[events].tag == Tag::Vector;
    let is_empty = matches!(Value::at(tape, events), Value::Vector(all) if all.is_empty());
    let mut at = events + 1;
    (is_plain || is_empty).then(|| {
        std::iter::from_fn(move || {
            let this = at;
            (this < end).then(|| {
                at = tape.after(this);
                this
            })
        })
    })
}

fn event_of(tape: &Tape, node: usize) -> Result<Event, Fault> {
    let wrong = || Fault::op(format!("an event is {}", Value::at(tape, node)), EVENT);
    let (act, key, value) = match Value::at(tape, node) {
        Value::Map(fields) if fields.len() == 1 => {
            let act = match tape.name(node + 1) {
                Some("Read") => Act::Read,
                Some("Write") => Act::Write,
                _ => return Err(wrong()),
            };
            let [key, value] = json::fields(tape, node + 2, ["variable", "version"], EVENT)?;
            (act, key.ok_or_else(wrong)?, value)
        }
        Value::Vector(parts) if parts.len() == 3 && tape.nodes[node].tag == Tag::Vector => {
            let act = match tape.name(node + 1) {
                Some("r") => Act::Read,
                Some("w") => Act::Write,
                _ => return Err(wrong()),
            };
            let key = tape.after(node + 1);
            (act, key, Some(tape.after(key)))
        }
        _ => return Err(wrong()),
    };
    let is_key = |value| matches!(value, Value::Int(0..) | Value::Big(_) | Value::Str(_));
    let is_version = |value: Value<'_>| match value {
        Value::Int(0..) | Value::Big(_) => true,
        _ => act == Act::Read && value.is_nil(),
    };
    match value {
        Some(value) if is_key(Value::at(tape, key)) && is_version(Value::at(tape, value)) => {
            // The value may be the number that represents the first state.
            let value =
                if let Value::Int(number) = Value::at(tape, value) { Atom::Int(number) } else { Atom::Node(value) };
            Ok(Event { act, key: Atom::Node(key), value })
        }
        None if act == Act::Read && is_key(Value::at(tape, key)) => {
            Ok(Event { act, key: Atom::Node(key), value: Atom::Nil })
        }
        _ => Err(wrong()),
    }
}

impl Decode for DbcopJson {
    fn decode(&mut self, input: &Input<'_>, out: &mut Out<'_>) -> Decoded {
        let mut consumed = input.block.start;
        loop {
            let before = (self.at, self.is_read, self.session, self.is_wrapped);
            let stepped = json::scan(&mut out.batch.tape, input.bytes, consumed, |scanner| {
                scanner.skip_json_space();
                if self.at == At::End && scanner.peek().is_none() { Ok(None) } else { self.step(scanner).map(Some) }
            });
            match stepped {
                Ok((None, end)) => return Ok(end),
                Ok((Some(txn), end)) => {
                    if let Some((node, start)) = txn {
                        let sited = |fault: Fault| Fault { at: fault.at.or(Some(start)), ..fault };
                        let kind = self.txn(&out.batch.tape, node, start).map_err(sited)?;
                        let position = input.position(start);
                        out.push(Atom::Int(self.session), kind, self.events.all(), None, position);
                    }
                    consumed = end;
                }
                Err(fault) if fault.kind == FaultKind::Incomplete && !input.block.last => {
                    (self.at, self.is_read, self.session, self.is_wrapped) = before;
                    return Ok(consumed);
                }
                Err(fault) => return Err(fault),
            }
        }
    }
}
