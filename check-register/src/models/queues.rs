//! Queues and the stack: what is put in comes out once.

use super::spec::{Spec, bad_value, call, unknown_op};
use crate::Model;
use history_core::{Budget, Datum, Interner, Op, OpKind, Value};

/// In which order values leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Discipline {
    /// The oldest first.
    Fifo,
    /// Any.
    Unordered,
    /// The youngest first: a stack.
    Lifo,
}

/// A first-in-first-out queue.
pub type FifoQueue = Queue<0>;
/// A queue that gives back values in any order: a bag.
pub type UnorderedQueue = Queue<1>;
/// A stack.
pub type Stack = Queue<2>;

/// A collection that values are put into and taken out of. Values are codes of an [`Interner`]. It is empty at first.
#[derive(Clone, Debug)]
pub struct Queue<const DISCIPLINE: u8> {
    values: Interner,
    initial: Vec<i64>,
}

/// An operation on a [`Queue`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum QueueOp {
    /// It put this value in.
    Put(i64),
    /// It took something out.
    Take(Removed),
}

/// What a [`QueueOp::Take`] returned.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Removed {
    /// This value.
    Value(i64),
    /// Nothing was there.
    Nothing,
    /// It is not known: any value, or nothing.
    Unknown,
}

impl<const DISCIPLINE: u8> Default for Queue<DISCIPLINE> {
    fn default() -> Queue<DISCIPLINE> {
        Queue { values: Interner::default(), initial: Vec::new() }
    }
}

impl<const DISCIPLINE: u8> Queue<DISCIPLINE> {
    /// The order in which values leave.
    pub const DISCIPLINE: Discipline = match DISCIPLINE {
        0 => Discipline::Fifo,
        1 => Discipline::Unordered,
        _ => Discipline::Lifo,
    };

    const PUT: &'static str = if DISCIPLINE == 2 { "push" } else { "enqueue" };
    const TAKE: &'static str = if DISCIPLINE == 2 { "pop" } else { "dequeue" };

    /// The values that may leave first, as positions.
    fn exits(state: &[i64]) -> std::ops::Range<usize> {
        match (Self::DISCIPLINE, state.len()) {
            (_, 0) => 0..0,
            (Discipline::Fifo, _) => 0..1,
            (Discipline::Unordered, len) => 0..len,
            (Discipline::Lifo, len) => len - 1..len,
        }
    }

    fn without(state: &[i64], at: usize) -> Box<[i64]> {
        [&state[..at], &state[at + 1..]].concat().into()
    }
}

impl<const DISCIPLINE: u8> Model for Queue<DISCIPLINE> {
    /// The oldest first; sorted if the order does not matter.
    type State = Box<[i64]>;
    type Op = QueueOp;
    type Next = Vec<Box<[i64]>>;

    fn init(&self) -> Box<[i64]> {
        self.initial.clone().into()
    }

    fn step(&self, state: &Box<[i64]>, op: &QueueOp, _: &Budget) -> Vec<Box<[i64]>> {
        match *op {
            QueueOp::Put(value) => {
                let at = match Self::DISCIPLINE {
                    Discipline::Unordered => state.partition_point(|other| *other < value),
                    Discipline::Fifo | Discipline::Lifo => state.len(),
                };
                vec![[&state[..at], &[value], &state[at..]].concat().into()]
            }
            QueueOp::Take(Removed::Value(value)) => {
                let exits = Self::exits(state);
                let at = exits.clone().find(|at| state[*at] == value);
                at.map(|at| Self::without(state, at)).into_iter().collect()
            }
            QueueOp::Take(Removed::Nothing | Removed::Unknown) if state.is_empty() => vec![state.clone()],
            QueueOp::Take(Removed::Nothing) => Vec::new(),
            QueueOp::Take(Removed::Unknown) => {
                let different = |at: &usize| *at == 0 || state[*at] != state[*at - 1];
                let exits = Self::exits(state);
                let single = exits.len() == 1;
                exits.filter(|at| single || different(at)).map(|at| Self::without(state, at)).collect()
            }
        }
    }

    fn effect(&self, op: &QueueOp) -> Option<u64> {
        match *op {
            QueueOp::Put(value) => Some(value.cast_unsigned()),
            QueueOp::Take(_) => None,
        }
    }

    fn sees(&self, op: &QueueOp, effects: &mut Vec<u64>) -> bool {
        match *op {
            // What nobody takes out hinders only those who find nothing, or something that was put in before.
            QueueOp::Put(_) | QueueOp::Take(Removed::Nothing) => false,
            QueueOp::Take(Removed::Value(value)) => {
                effects.push(value.cast_unsigned());
                false
            }
            QueueOp::Take(Removed::Unknown) => true,
        }
    }

    fn part(&self, op: &QueueOp) -> Option<u64> {
        // Where the order does not matter, values do not see each other.
        match *op {
            QueueOp::Put(value) | QueueOp::Take(Removed::Value(value)) if Self::DISCIPLINE == Discipline::Unordered => {
                Some(value.cast_unsigned())
            }
            _ => None,
        }
    }

    fn describe_part(&self, part: u64) -> String {
        format!("value {}", self.values.datum(part.cast_signed()))
    }

    fn reads_only(&self, op: &QueueOp) -> bool {
        matches!(op, QueueOp::Take(Removed::Nothing))
    }

    fn describe_op(&self, op: &QueueOp) -> String {
        match *op {
            QueueOp::Put(value) => format!("{} of {}", Self::PUT, self.values.datum(value)),
            QueueOp::Take(Removed::Value(value)) => format!("{} of {}", Self::TAKE, self.values.datum(value)),
            QueueOp::Take(Removed::Nothing) => format!("{} that found nothing", Self::TAKE),
            QueueOp::Take(Removed::Unknown) => format!("{} of something", Self::TAKE),
        }
    }

    fn describe_state(&self, state: &Box<[i64]>) -> String {
        let values: Vec<String> = state.iter().map(|value| self.values.datum(*value).to_string()).collect();
        format!("[{}]", values.join(" "))
    }
}

impl<const DISCIPLINE: u8> Spec for Queue<DISCIPLINE> {
    const NAME: &'static str = match DISCIPLINE {
        0 => "fifo-queue",
        1 => "unordered-queue",
        _ => "stack",
    };
    const SUMMARY: &'static str = match DISCIPLINE {
        0 => "Linearizability of a first-in-first-out queue with enqueue and dequeue.",
        1 => "Linearizability of a queue that gives back values in any order.",
        _ => "Linearizability of a stack with push and pop.",
    };
    const OPS: &'static str = if DISCIPLINE == 2 {
        ":push value, :pop value (nil if it found nothing)"
    } else {
        ":enqueue value, :dequeue value (nil if it found nothing)"
    };
    const INITIAL: &'static str = "a list, the oldest value first; empty if not given";

    fn set_initial(&mut self, value: Value<'_>) -> Result<(), String> {
        let values = value.as_seq().ok_or_else(|| format!("{value} is no list"))?;
        self.initial = values.iter().map(|value| self.values.code(value)).collect();
        if Self::DISCIPLINE == Discipline::Unordered {
            self.initial.sort_unstable();
        }
        Ok(())
    }

    fn decode(&mut self, op: &Op<'_>, invoked: Option<&QueueOp>) -> Result<Option<QueueOp>, String> {
        match (op.f, op.kind, op.value) {
            (Some(f), OpKind::Ok, Value::Nil) if f == Self::TAKE => Ok(Some(QueueOp::Take(Removed::Nothing))),
            (Some(f), OpKind::Ok, value) if f == Self::TAKE => {
                Ok(Some(QueueOp::Take(Removed::Value(self.values.code(value)))))
            }
            (Some(f), ..) if f == Self::TAKE => Ok(Some(QueueOp::Take(Removed::Unknown))),
            (Some(f), _, value) if f == Self::PUT => match (value, invoked) {
                (Value::Nil, Some(invoked)) => Ok(Some(*invoked)),
                (Value::Nil, None) => Err(bad_value(op, "a value: nil cannot be told from nothing")),
                (value, _) => Ok(Some(QueueOp::Put(self.values.code(value)))),
            },
            (None, _, Value::Nil) => Ok(invoked.copied()),
            _ => Err(unknown_op::<Self>(op)),
        }
    }

    fn datum(&self, op: &QueueOp) -> Datum {
        match *op {
            QueueOp::Put(value) => call(Self::PUT, self.values.datum(value)),
            QueueOp::Take(Removed::Value(value)) => call(Self::TAKE, self.values.datum(value)),
            QueueOp::Take(Removed::Nothing | Removed::Unknown) => call(Self::TAKE, Datum::Nil),
        }
    }
}
