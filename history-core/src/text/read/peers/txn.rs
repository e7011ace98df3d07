//! A transaction in a format, and the op that it becomes.

use crate::cast::Cast as _;
use crate::ops::batch::Batch;
use crate::ops::row::{Extra, ProcessRecord, Record, Row};
use crate::text::syntax::{Fault, FaultKind, VALUES_MAX};
use crate::values::tape::{RUN_INT_END, Tag, Tape};
use crate::{OpKind, Pair, Position};

/// What a micro-op does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Act {
    Read,
    Write,
    Append,
}

/// A key or a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Atom {
    Nil,
    Int(i64),
    /// A number larger than an `i64`.
    Big(u64),
    /// Text between two places of the block.
    Text(usize, usize),
    /// The value at a node of the batch's tape.
    Node(usize),
}

impl From<u64> for Atom {
    fn from(number: u64) -> Atom {
        i64::try_from(number).map_or(Atom::Big(number), Atom::Int)
    }
}

/// A micro-op.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) act: Act,
    pub(super) key: Atom,
    pub(super) value: Atom,
}

/// The maximum number of micro-ops of a transaction: each takes four values.
pub(super) const EVENTS_MAX: usize = VALUES_MAX / 4;

/// The micro-ops of the transaction being read.
#[derive(Default, Debug)]
pub(super) struct Events(Vec<Event>);

impl Events {
    /// Adds a micro-op that is at `at` in the text.
    pub(super) fn push(&mut self, event: Event, at: usize) -> Result<(), Fault> {
        if self.0.len() >= EVENTS_MAX {
            let message = format!("a transaction has more than {EVENTS_MAX} reads and writes");
            let fault = Fault::syntax(at, message, "a shorter transaction");
            return Err(Fault { kind: FaultKind::Limit, ..fault });
        }
        self.0.push(event);
        Ok(())
    }

    pub(super) fn all(&self) -> &[Event] {
        &self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The start and commit timestamps that the store gave a transaction: each a physical and a logical part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamps {
    pub(super) start: [i64; 2],
    pub(super) commit: [i64; 2],
}

/// The names of the fields that contain them.
pub(crate) const STAMPS: [&str; 2] = ["start-ts", "commit-ts"];

/// The destination of transactions: the ops of a batch.
pub(super) struct Out<'b> {
    pub(super) batch: &'b mut Batch,
    /// The number of the first state, which becomes nil.
    first: Option<i64>,
    /// The node of each name, once it is on the tape.
    names: [Option<usize>; 4],
}

const NAMES: [&str; 4] = ["txn", "r", "w", "append"];

impl<'b> Out<'b> {
    /// Adds ops to `batch`. Reads and writes of the value `first` become reads and writes of nil.
    pub(super) fn new(batch: &'b mut Batch, first: Option<i64>) -> Out<'b> {
        Out { batch, first, names: [None; 4] }
    }

    /// The number of ops so far.
    pub(super) fn len(&self) -> usize {
        self.batch.len()
    }

    /// Returns true if a transaction writes the first state and nothing else. If it is the only one of its session, it
    /// is that state.
    pub(super) fn is_first_state(&self, events: &[Event]) -> bool {
        let is_first = |event: &Event| {
            event.act == Act::Write && matches!(event.value, Atom::Int(number) if self.first == Some(number))
        };
        !events.is_empty() && events.iter().all(is_first)
    }

    /// Adds a transaction of a session, which is a number or a name.
    pub(super) fn push(
        &mut self,
        session: Atom,
        kind: OpKind,
        events: &[Event],
        stamps: Option<Stamps>,
        position: Position,
    ) {
        let f = self.name(0);
        let names = [self.name(1), self.name(2), self.name(3)];
        let tape = &mut self.batch.tape;
        let process = match session {
            Atom::Int(number) => ProcessRecord::Client(number),
            name => {
                let node = tape.nodes.len().to_u32();
                put(tape, name);
                ProcessRecord::Other(node)
            }
        };
        let value = tape.open(Tag::Vector);
        for event in events {
            let mop = tape.open(Tag::Vector);
            let name = match event.act {
                Act::Read => names[0],
                Act::Write => names[1],
                Act::Append => names[2],
            };
            tape.copy(name);
            put(tape, event.key);
            let is_first = matches!(event.value, Atom::Int(number) if self.first == Some(number));
            put(tape, if is_first { Atom::Nil } else { event.value });
            tape.close(mop, 3);
        }
        tape.close(value, events.len().to_u32());
        let extra = stamps.map(|stamps| put_stamps(tape, stamps));
        let record = Record {
            index: None,
            time: None,
            process,
            kind,
            pair: Pair::Alone,
            f: Some(f.to_u32()),
            value: Some(value),
            extra,
            position: Some(position),
        };
        self.batch.records.to_mut().push(Row::of(&record));
    }

    /// The node of one of [`NAMES`].
    fn name(&mut self, which: usize) -> usize {
        if let Some(node) = self.names[which] {
            return node;
        }
        let node = self.batch.tape.nodes.len();
        put_name(&mut self.batch.tape, NAMES[which]);
        self.names[which] = Some(node);
        node
    }
}

fn put_name(tape: &mut Tape, name: &str) {
    let start = tape.unescaped.len();
    tape.unescaped.to_mut().push_str(name);
    tape.push_unescaped(Tag::Keyword, start);
}

fn put(tape: &mut Tape, atom: Atom) {
    match atom {
        Atom::Nil => tape.push(Tag::Nil),
        Atom::Int(number) => tape.push_bits(Tag::Int, number.cast_unsigned()),
        Atom::Big(number) => {
            let start = tape.unescaped.len();
            tape.unescaped.to_mut().push_str(&number.to_string());
            tape.push_unescaped(Tag::Big, start);
        }
        Atom::Text(start, end) => tape.push_source(Tag::Str, start, end),
        Atom::Node(at) => tape.copy(at),
    }
}

/// Puts timestamps as fields of an op, each a pair of a physical and a logical part.
fn put_stamps(tape: &mut Tape, stamps: Stamps) -> Extra {
    let node = tape.nodes.len().to_u32();
    for (name, parts) in STAMPS.into_iter().zip([stamps.start, stamps.commit]) {
        put_name(tape, name);
        if parts.iter().all(|part| part.unsigned_abs() < RUN_INT_END) {
            let start = tape.ints.len();
            tape.ints.to_mut().extend(parts);
            tape.push_run(Tag::IntVector, start);
        } else {
            let pair = tape.open(Tag::Vector);
            for part in parts {
                put(tape, Atom::Int(part));
            }
            tape.close(pair, 2);
        }
    }
    Extra { node, entries: 2 }
}
