//! Intervals: one operation per line, with the times of its call and its return. They become ops in order of time.
//!
//! Used in logs of clients and the tests of Porcupine:
//! `{"client": 0, "call": 10, "return": 25, "input": ["write", 3], "output": null}`. Lines may be in any order, so all
//! are read before the first op is returned: memory grows with the history. It is the text, and 64 bytes per operation;
//! half as much again while they are sorted.
//!
//! # What order means
//!
//! An operation precedes another in real time if it returns *before* the other is called (Herlihy and Wing,
//! "Linearizability", TOPLAS 1990, section 2.2). So at equal times calls precede returns, and no false order is
//! created. A client ends one operation before it calls the next, though, and with coarse clocks both may have the same
//! time. Its return and its call are then placed together, after the other calls of that time and before the other
//! returns. If two clients do so at the same time, no sequence is correct (their four operations would be a 2+2, which
//! no interval order is: Fishburn, 1970): such a history is rejected. So is one in which two operations of a client
//! have the same call and the same return, because lines have no order.

mod clock_error;
mod decode;
mod order;

pub(super) use clock_error::refuse as refuse_clock_error;

use super::Place;
use super::steps::{Found, error};
use crate::cast::Cast as _;
use crate::error::{ErrorKind, HistoryError};
use crate::hash::{HashMap, HashSet};

use crate::ops::batch::Batch;
use crate::ops::pairing::Pairing;
use crate::text::syntax::{Fault, FaultKind, Scanner};
use crate::values::tape::Tape;
use crate::values::value::Value;
use crate::{ClientRule, Limits, OpKind, Position, TimeUnit};
use decode::{INTERVAL, Interval};

/// The maximum number of rows: an event is a row and one bit.
const ROWS_MAX: usize = (u32::MAX >> 1) as usize;
/// The maximum length of the text of a batch, in bytes.
const BATCH_BYTES: usize = 64 << 10;

/// All intervals of a history, and how many of them were returned.
#[derive(Default)]
pub(crate) struct Intervals {
    /// The unit of times, if one was given.
    unit: Option<TimeUnit>,
    /// The time by which intervals are widened on both sides.
    clock_error_ns: i64,
    rows: Vec<Row>,
    /// The text of each row, one after another.
    text: String,
    clients: Clients,
    /// The events in order: each is a row, with the lowest bit set if it is the row's return. Sorted once all rows are
    /// read.
    events: Vec<u32>,
    handed_out: usize,
    /// The number of operations that are not ordered after the previous one of the same client.
    dropped_orders: u64,
    /// The rows and clients as they were recorded, if the order of some operations of a client was dropped.
    recorded: Option<(Vec<Row>, Clients)>,
    /// The number of ops in the rows.
    ops: u64,
}

/// An interval whose text is kept.
#[derive(Clone, Copy, Debug)]
struct Row {
    call_ns: i64,
    /// The time of the return; without meaning if the operation never ended.
    return_ns: i64,
    /// The beginning of its text, which ends where the next one begins.
    at: u64,
    offset: u64,
    line: u64,
    column: u32,
    client: ClientId,
    /// Its position when the rows are sorted by client, and for each client by its order.
    turn: u32,
    end: End,
    /// Whether the client returned from another operation at the time of this call.
    takes_over: bool,
    /// Whether the client called another operation at the time of this return.
    hands_over: bool,
}

/// The outcome of an interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// The operation happened, or it failed.
    Returned,
    /// It is unknown whether it happened. Its client continues under another number or name.
    GivenUp,
    /// The same as `GivenUp`, at an unknown time.
    Never,
}

/// A client. Once the rows are in order, a client that continues after an unknown outcome has a new id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
struct ClientId(u32);

/// Clients by their names.
#[derive(Clone, Default)]
struct Clients {
    by_number: HashMap<i64, ClientId>,
    by_name: HashMap<String, ClientId>,
    /// The name of each client in ops, in order of first occurrence.
    called: Vec<Called>,
    /// For each client, the client in the history.
    origins: Vec<ClientId>,
    /// The clients of the history that have ops under further numbers or names.
    continued: HashSet<ClientId>,
    /// The names of the history's clients, for messages.
    names: Vec<String>,
    /// Which names and numbers of the history are clients.
    rule: ClientRule,
    /// The clients of the history that the rule excludes.
    left_out: HashSet<ClientId>,
    /// Numbers from this one on do not occur in the history, if the history has numbers.
    invented_from: Option<i64>,
}

/// The name of a client in its ops.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Called {
    Number(i64),
    Name(String),
    /// The history has no name or number for the client. It gets a number once all clients are known.
    Nothing,
}

impl Clients {
    /// The client whose name is at a node. An interval without a client is a client of its own: its order is unknown.
    fn id(&mut self, tape: &Tape, node: Option<usize>) -> Result<ClientId, Fault> {
        let next = ClientId(self.called.len().to_u32());
        let value = node.map_or(Value::Nil, |at| Value::at(tape, at));
        let called = match value {
            Value::Nil => Called::Nothing,
            Value::Int(number) => Called::Number(number),
            // As in the ops of other formats, a name of digits is a number.
            Value::Str(name) => {
                if let Ok(number) = name.parse() {
                    Called::Number(number)
                } else {
                    if let Some(id) = self.by_name.get(name) {
                        return Ok(*id);
                    }
                    self.by_name.insert(name.to_owned(), next);
                    Called::Name(name.to_owned())
                }
            }
            other => {
                return Err(Fault::op(format!("the interval's client is {other}"), "an integer or a name"));
            }
        };
        if let Called::Number(number) = called {
            let id = *self.by_number.entry(number).or_insert(next);
            if id != next {
                return Ok(id);
            }
        }
        self.called.push(called);
        self.origins.push(next);
        self.names.push(if value.is_nil() { String::new() } else { value.to_string() });
        Ok(next)
    }

    /// Creates a further client that continues another, with this name in ops.
    fn go_on(&mut self, client: ClientId, called: Called) -> ClientId {
        let (next, origin) = (ClientId(self.called.len().to_u32()), self.origins[client.0.to_usize()]);
        self.called.push(called);
        self.origins.push(origin);
        self.continued.insert(origin);
        next
    }

    /// Records which clients the rule excludes. The rule applies to the clients' names in the history, not to further
    /// numbers and names.
    fn leave_out(&mut self, rule: &ClientRule) {
        self.rule = rule.clone();
        for (client, called) in self.called.iter().enumerate() {
            let is_left_out = match called {
                Called::Number(number) => rule.decides(&number.to_string()) == Some(false),
                Called::Name(name) => rule.decides(name) == Some(false),
                Called::Nothing => false,
            };
            if is_left_out {
                self.left_out.insert(ClientId(client.to_u32()));
            }
        }
    }

    /// The name of a client in ops. A client that the rule excludes has only one name.
    fn shown(&self, client: ClientId) -> &Called {
        let origin = self.origins[client.0.to_usize()];
        let shown = if self.left_out.contains(&origin) { origin } else { client };
        &self.called[shown.0.to_usize()]
    }

    /// The client's name in the history, if its ops are under several numbers or names.
    fn origin(&self, client: ClientId) -> Option<&Called> {
        let origin = self.origins[client.0.to_usize()];
        self.continued.contains(&origin).then(|| &self.called[origin.0.to_usize()])
    }

    /// The name of a client that continues after an operation with an unknown outcome, for the `times`th time: `w1.2`,
    /// unless that name is in use; nothing if the rule would exclude that name.
    fn next_name(&mut self, name: &str, times: &mut u32) -> Called {
        loop {
            *times += 1;
            let next = format!("{name}.{}", *times + 1);
            if !self.by_name.contains_key(&next) {
                let is_client = self.rule.decides(&next) != Some(false);
                return if is_client { Called::Name(next) } else { Called::Nothing };
            }
        }
    }
}

impl Row {
    fn position(&self) -> Position {
        Position { offset: self.offset, line: self.line, column: self.column.into() }
    }
}

impl Intervals {
    /// Creates an empty collection of intervals. Times will have this unit, if it is given, and this maximum error.
    pub(crate) fn new(unit: Option<TimeUnit>, clock_error_ns: i64) -> Intervals {
        Intervals { unit, clock_error_ns, ..Intervals::default() }
    }

    /// The number of ops of all intervals.
    pub(crate) fn ops(&self) -> u64 {
        self.ops
    }

    /// Returns true if the value at a node is an interval, with times in any unit.
    pub(crate) fn is_one(tape: &Tape, node: usize) -> bool {
        Interval::new(tape, node, Some(TimeUnit::Nanoseconds)).is_ok()
    }

    /// Stores an interval.
    pub(crate) fn push(
        &mut self,
        tape: &Tape,
        found: Found,
        place: Place,
        limits: &Limits,
    ) -> Result<(), HistoryError> {
        let read = Interval::new(tape, found.node, self.unit);
        let interval = read.map_err(|fault| error(fault, place))?;
        let limit = |message: String| HistoryError::new(ErrorKind::Limit, message).at(place.position());
        self.ops += 1 + u64::from(interval.return_ns.is_some());
        if self.ops > limits.ops_max || self.rows.len() >= ROWS_MAX {
            return Err(limit(format!("more than {} ops", limits.ops_max.min(2 * ROWS_MAX.to_u64()))));
        }
        let bytes_max = limits.held_bytes_max;
        let at = self.text.len().to_u64();
        if at + (found.end - found.start).to_u64() > bytes_max {
            let message = format!("more than {bytes_max} bytes of intervals, which are sorted in memory");
            return Err(limit(message).expected("a shorter history, or one in another format"));
        }
        let client = self.clients.id(tape, interval.client).map_err(|fault| error(fault, place))?;
        self.text.push_str(&tape.source[found.start..found.end]);
        let position = place.position();
        self.rows.push(Row {
            call_ns: interval.call_ns,
            return_ns: interval.return_ns.unwrap_or_default(),
            at,
            offset: position.offset,
            line: position.line,
            column: u32::try_from(position.column).unwrap_or(u32::MAX),
            client,
            turn: 0,
            end: match (interval.return_ns, interval.end) {
                (None, _) => End::Never,
                (Some(_), OpKind::Info) => End::GivenUp,
                (Some(_), _) => End::Returned,
            },
            takes_over: false,
            hands_over: false,
        });
        Ok(())
    }

    /// Sorts all rows once they are read. Passes to `pairing` the first number that does not occur in the history. O(n
    /// log n).
    pub(crate) fn sort(&mut self, pairing: Option<&mut Pairing>) -> Result<(), HistoryError> {
        let Some(pairing) = pairing else { return self.put_in_order() };
        self.clients.leave_out(pairing.rule());
        self.put_in_order()?;
        pairing.invent_from(self.clients.invented_from);
        Ok(())
    }

    fn put_in_order(&mut self) -> Result<(), HistoryError> {
        let recorded = (self.clock_error_ns > 0).then(|| (self.rows.clone(), self.clients.clone()));
        let sorted = order::sort(&mut self.rows, &mut self.clients, self.clock_error_ns);
        (self.events, self.dropped_orders) = sorted.map_err(|error| {
            let offset = error.position.map_or(0, |position| position.offset);
            // The rows are in the order of the text.
            match self.rows.binary_search_by_key(&offset, |row| row.offset) {
                Ok(row) => error.with_source(self.text_of(row).as_bytes(), offset),
                Err(_) => error,
            }
        })?;
        self.recorded = recorded.filter(|_| self.dropped_orders > 0);
        Ok(())
    }

    /// Starts again with the recorded times, if orders of clients were dropped. Returns whether it did.
    pub(crate) fn begin_as_recorded(&mut self) -> Result<bool, HistoryError> {
        let Some((rows, clients)) = self.recorded.take() else { return Ok(false) };
        (self.rows, self.clients, self.clock_error_ns, self.handed_out) = (rows, clients, 0, 0);
        self.put_in_order().map(|()| true)
    }

    /// Adds the next ops to an empty batch. Returns whether there were any.
    pub(crate) fn hand_out(&mut self, batch: &mut Batch) -> Result<bool, HistoryError> {
        batch.tape.source.to_mut().clear();
        // The text after the ops of a batch is not a piece of the whole text, so no message may show it.
        batch.starts_at = u64::MAX;
        while let Some(event) = self.events.get(self.handed_out)
            && batch.tape.source.len() < BATCH_BYTES
        {
            let (row, ends) = ((event >> 1).to_usize(), event & 1 == 1);
            let at = batch.tape.source.len();
            batch.tape.source.to_mut().push_str(self.text_of(row));
            let node = scan(&mut batch.tape, at).map_err(|fault| misread(&fault, &self.rows[row]))?;
            let mut interval =
                Interval::new(&batch.tape, node, self.unit).map_err(|fault| misread(&fault, &self.rows[row]))?;
            let Row { client, call_ns, return_ns, .. } = self.rows[row];
            (interval.call_ns, interval.return_ns) = (call_ns, interval.return_ns.map(|_| return_ns));
            let process = interval.process(&mut batch.tape, self.clients.shown(client));
            interval.origin = self.clients.origin(client).map(|origin| origin.put(&mut batch.tape));
            let record = interval.op(&mut batch.tape, ends, process, self.rows[row].position());
            batch.records.to_mut().push(crate::ops::row::Row::of(&record));
            self.handed_out += 1;
        }
        Ok(!batch.is_empty())
    }

    fn text_of(&self, row: usize) -> &str {
        let end = self.rows.get(row + 1).map_or(self.text.len(), |next| next.at.to_usize());
        &self.text[self.rows[row].at.to_usize()..end]
    }
}

/// Passes the first value of a text to `see`, or `None` if the value cannot be read, and returns the result. Returns
/// `None` if the text ends within the value.
pub(crate) fn first<R>(text: &str, see: impl FnOnce(Option<Value<'_>>) -> R) -> Option<R> {
    let mut tape = Tape { source: text.to_owned().into(), ..Tape::default() };
    match scan(&mut tape, 0) {
        Ok(node) => Some(see(Some(Value::at(&tape, node)))),
        Err(fault) => (fault.kind != FaultKind::Incomplete).then(|| see(None)),
    }
}

/// Returns true if a value is an interval: an object with a call, and without the fields that only ops have.
pub(crate) fn is_one(value: Value<'_>) -> bool {
    let Value::Map(fields) = value else { return false };
    let has = |name: &str| fields.get(name).is_some();
    let is_op = ["process", "f", "value", "index", "time"].into_iter().any(has);
    has("call") && ["client", "return", "input"].into_iter().any(has) && !is_op
}

/// Reads the JSON value at `at` of the tape's source; its node.
fn scan(tape: &mut Tape, at: usize) -> Result<usize, Fault> {
    let source = std::mem::take(&mut tape.source);
    let mut scanner = Scanner::new(source.as_bytes(), at, tape);
    let node = scanner.next_node();
    let scanned = scanner.json_value();
    tape.source = source;
    scanned.map(|()| node)
}

/// An interval that was read once can be read again. If not, this internal error is not a verdict.
#[cold]
fn misread(fault: &Fault, row: &Row) -> HistoryError {
    HistoryError::new(ErrorKind::NotAnOp, fault.message.clone()).expected(INTERVAL).at(row.position())
}
