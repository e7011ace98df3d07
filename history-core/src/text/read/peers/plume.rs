//! Plume's and PolySI's text: each line is a read or write, `r(KEY,VALUE,SESSION,TRANSACTION)` or `w(...)`.
//!
//! Source: Plume's and PolySI's `TextHistoryLoader`, AWDIT 0.2.1 (`parse_plume_history`). The lines of a transaction
//! need not be adjacent, so all are read before the first op is returned; a transaction has the place of its first
//! line. Transaction −1 is an aborted one; consecutive lines of it in a session are treated as one transaction. Value 0
//! is the first state.

use super::cursor::{Cursor, lines};
use super::txn::{Act, Atom, EVENTS_MAX, Event, Out};
use super::{Decode, Decoded, Input};
use crate::cast::Cast as _;
use crate::error::{ErrorKind, HistoryError};
use crate::hash::{HashMap, HashSet};
use crate::text::syntax::{Fault, FaultKind};
use crate::{OpKind, Position};

pub(super) const LINE: &str = "r(KEY,VALUE,SESSION,TRANSACTION) or w(...), as in w(3,17,0,5)";

/// The transaction number of reads and writes that were aborted.
const ABORTED: i64 = -1;
/// The number of ops returned at a time.
const BATCH_OPS: usize = 2048;

/// A transaction.
struct Txn {
    session: i64,
    is_aborted: bool,
    position: Position,
    /// The number of its reads and writes; once the lines are in order, the end of its lines in `order`.
    events: u32,
}

/// A read or write.
#[derive(Clone, Copy)]
struct Line {
    txn: u32,
    is_write: bool,
    key: u64,
    value: u64,
}

/// All transactions of a history, and how many of them were returned.
pub(super) struct Plume {
    held_bytes_max: u64,
    txns: Vec<Txn>,
    lines: Vec<Line>,
    by_number: HashMap<i64, u32>,
    /// The number and the session of the last line.
    last: Option<(i64, i64)>,
    /// The lines in the order of their transactions, once all are read.
    order: Option<Vec<u32>>,
    /// The sessions with exactly one transaction.
    alone: HashSet<i64>,
    /// Whether the transaction of such a session was treated as the first state. At most one is.
    had_first_state: bool,
    handed_out: usize,
    /// A buffer, reused for each transaction.
    events: Vec<Event>,
}

impl Plume {
    pub(super) fn new(held_bytes_max: u64) -> Plume {
        Plume {
            held_bytes_max,
            txns: Vec::new(),
            lines: Vec::new(),
            by_number: HashMap::default(),
            last: None,
            order: None,
            alone: HashSet::default(),
            had_first_state: false,
            handed_out: 0,
            events: Vec::new(),
        }
    }

    fn line(&mut self, input: &Input<'_>, start: usize, end: usize) -> Result<(), Fault> {
        let mut line = Cursor::new(input.bytes, start, end);
        if line.is_at_end() {
            return Ok(());
        }
        let at = line.pos;
        let Parsed { is_write, key, value, session, number } = parse(&mut line)?;
        let txn = match self.last {
            Some(last) if last == (number, session) => self.txns.len() - 1,
            _ => self.txn(input, at, session, number)?,
        };
        // The transaction of the last line may be an earlier one that continues here.
        self.last = (txn + 1 == self.txns.len()).then_some((number, session));
        self.txns[txn].events += 1;
        self.lines.push(Line { txn: txn.to_u32(), is_write, key, value });
        let held =
            (self.lines.len() * (size_of::<Line>() + size_of::<u32>()) + self.txns.len() * size_of::<Txn>()).to_u64();
        if held > self.held_bytes_max || self.lines.len() >= (u32::MAX >> 1).to_usize() {
            let message =
                format!("more than {} bytes of reads and writes, which are sorted in memory", self.held_bytes_max);
            let fault = Fault::syntax(at, message, "a shorter history, or one in another format");
            return Err(Fault { kind: FaultKind::Limit, ..fault });
        }
        Ok(())
    }

    /// The transaction of a line, if it is not that of the previous line.
    fn txn(&mut self, input: &Input<'_>, at: usize, session: i64, number: i64) -> Result<usize, Fault> {
        let next = self.txns.len().to_u32();
        if number != ABORTED {
            let txn = *self.by_number.entry(number).or_insert(next);
            if txn != next {
                let known = &self.txns[txn.to_usize()];
                if known.session == session {
                    return Ok(txn.to_usize());
                }
                let message = format!(
                    "transaction {number} is of session {} (line {}), and of session {session} here",
                    known.session, known.position.line
                );
                return Err(Fault {
                    at: Some(at),
                    ..Fault::op(message, "numbers of transactions that are unique in the file")
                });
            }
        }
        let position = input.position(at);
        self.txns.push(Txn { session, is_aborted: number == ABORTED, position, events: 0 });
        Ok(next.to_usize())
    }

    /// Puts the lines in the order of their transactions. O(n).
    fn sort(&mut self) -> Vec<u32> {
        let mut several = HashSet::default();
        for txn in &self.txns {
            if !self.alone.insert(txn.session) {
                several.insert(txn.session);
            }
        }
        self.alone.retain(|session| !several.contains(session));
        let mut end = 0;
        for txn in &mut self.txns {
            end += txn.events;
            txn.events = end - txn.events;
        }
        let mut order = vec![0; self.lines.len()];
        for (i, line) in self.lines.iter().enumerate() {
            let txn = &mut self.txns[line.txn.to_usize()];
            order[txn.events.to_usize()] = i.to_u32();
            txn.events += 1;
        }
        order
    }
}

struct Parsed {
    is_write: bool,
    key: u64,
    value: u64,
    session: i64,
    number: i64,
}

fn parse(line: &mut Cursor<'_>) -> Result<Parsed, Fault> {
    let is_write = line.peek() == Some(b'w');
    if !line.eat(b"r(") && !line.eat(b"w(") {
        return Err(line.fault(LINE));
    }
    let comma = |line: &mut Cursor<'_>| if line.eat(b",") { Ok(()) } else { Err(line.fault("a comma")) };
    let key = line.number("the key, a number from 0 on")?;
    comma(line)?;
    let value = line.number("the value, a number from 0 on")?;
    comma(line)?;
    let session = line.signed("the session, a number")?;
    comma(line)?;
    let at = line.pos;
    let number = line.signed("the transaction, a number from 0 on, or -1")?;
    if number < ABORTED {
        let message = format!("the transaction is {number}");
        return Err(Fault::syntax(at, message, "a number from 0 on, or -1 for an aborted transaction"));
    }
    if !line.eat(b")") || !line.is_at_end() {
        return Err(line.fault(") and the end of the line"));
    }
    Ok(Parsed { is_write, key, value, session, number })
}

/// Returns true if a line is one of this format's.
pub(super) fn is_line(line: &[u8]) -> bool {
    parse(&mut Cursor::new(line, 0, line.len())).is_ok()
}

impl Decode for Plume {
    fn decode(&mut self, input: &Input<'_>, _: &mut Out<'_>) -> Decoded {
        let mut consumed = input.block.start;
        for (start, end) in lines(input.bytes, input.block.start) {
            self.line(input, start, end)?;
            consumed = end + 1;
        }
        Ok(consumed)
    }

    fn hand_out(&mut self, out: &mut Out<'_>) -> Result<bool, HistoryError> {
        if self.order.is_none() {
            self.order = Some(self.sort());
        }
        let order = self.order.as_deref().unwrap_or_default();
        while self.handed_out < self.txns.len() && out.len() < BATCH_OPS {
            let start = match self.handed_out {
                0 => 0,
                next => self.txns[next - 1].events,
            };
            let txn = &self.txns[self.handed_out];
            if (txn.events - start).to_usize() > EVENTS_MAX {
                let message = format!("a transaction has more than {EVENTS_MAX} reads and writes");
                return Err(HistoryError::new(ErrorKind::Limit, message).at(txn.position));
            }
            self.events.clear();
            self.events.extend(order[start.to_usize()..txn.events.to_usize()].iter().map(|line| {
                let Line { is_write, key, value, .. } = self.lines[line.to_usize()];
                Event { act: if is_write { Act::Write } else { Act::Read }, key: key.into(), value: value.into() }
            }));
            let kind = if txn.is_aborted { OpKind::Fail } else { OpKind::Ok };
            self.handed_out += 1;
            if !self.had_first_state
                && kind == OpKind::Ok
                && self.alone.contains(&txn.session)
                && out.is_first_state(&self.events)
            {
                self.had_first_state = true;
                continue;
            }
            out.push(Atom::Int(txn.session), kind, &self.events, None, txn.position);
        }
        Ok(out.len() > 0)
    }
}
