//! Queues and the stack: each inserted value is removed once.

use super::queue_state::{Discipline, QueueState};
use super::shared::queue_op::{Names, QueueOp, Removed};
use super::spec::{Shows, Spec, bad_value, unknown_op};
use crate::{Collection, Handling, Model, Settlement, Shortcuts};
use history_core::{Budget, Datum, Interner, Op, OpKind, Value};

/// A first-in-first-out queue.
pub type FifoQueue = Queue<0>;
/// A queue that returns values in any order: a bag.
pub type UnorderedQueue = Queue<1>;
/// A stack.
pub type Stack = Queue<2>;

/// A collection into which values are inserted, and from which they are removed. Values are codes of an [`Interner`].
/// It is initially empty.
#[derive(Clone, Debug)]
pub struct Queue<const DISCIPLINE: u8> {
    values: Interner,
    initial: Vec<i64>,
}

impl<const DISCIPLINE: u8> Default for Queue<DISCIPLINE> {
    fn default() -> Queue<DISCIPLINE> {
        Queue { values: Interner::default(), initial: Vec::new() }
    }
}

impl<const DISCIPLINE: u8> Queue<DISCIPLINE> {
    /// The order in which values are removed.
    pub const DISCIPLINE: Discipline = match DISCIPLINE {
        0 => Discipline::Fifo,
        1 => Discipline::Unordered,
        _ => Discipline::Lifo,
    };

    const NAMES: Names = match Self::DISCIPLINE {
        Discipline::Fifo | Discipline::Unordered => Names { put: "enqueue", take: "dequeue" },
        Discipline::Lifo => Names { put: "push", take: "pop" },
    };
}

impl<const DISCIPLINE: u8> Model for Queue<DISCIPLINE> {
    type State = QueueState;
    type Op = QueueOp;
    type Next = Vec<QueueState>;

    fn init(&self) -> QueueState {
        QueueState::new(&self.initial)
    }

    fn step(&self, state: &QueueState, op: &QueueOp, _: &Budget) -> Vec<QueueState> {
        let ways = match *op {
            QueueOp::Put(value) => return vec![state.put(Self::DISCIPLINE, value)],
            QueueOp::Take(Removed::Value(value)) => state.take(Self::DISCIPLINE, value),
            QueueOp::Take(Removed::Nothing) => state.take_nothing(Self::DISCIPLINE).into_iter().collect(),
            QueueOp::Take(Removed::Unknown) => state.take_any(Self::DISCIPLINE),
        };
        ways.into_iter().map(|way| way.state).collect()
    }

    fn shortcuts(&self) -> &dyn Shortcuts<Self::State, Self::Op> {
        self
    }

    fn describe_part(&self, part: u64) -> String {
        format!("value {}", self.values.datum(part.cast_signed()))
    }

    fn describe_op(&self, op: &QueueOp) -> String {
        op.describe(Self::NAMES, &self.values)
    }

    fn describe_state(&self, state: &QueueState) -> String {
        let values: Vec<String> = state.values().map(|value| self.values.datum(value).to_string()).collect();
        format!("[{}]", values.join(" "))
    }
}

impl<const DISCIPLINE: u8> Shortcuts<QueueState, QueueOp> for Queue<DISCIPLINE> {
    fn pend(&self, state: &QueueState, op: &QueueOp) -> Option<QueueState> {
        match *op {
            QueueOp::Put(value) => Some(state.pend_put(Self::DISCIPLINE, value)),
            QueueOp::Take(Removed::Unknown) => Some(state.pend_take()),
            QueueOp::Take(Removed::Value(_) | Removed::Nothing) => None,
        }
    }

    fn begin(&self, state: &QueueState, op: &QueueOp, flight: u32) -> Option<QueueState> {
        match *op {
            QueueOp::Put(value) if Self::DISCIPLINE != Discipline::Lifo => {
                Some(state.begin_put(Self::DISCIPLINE, value, flight))
            }
            _ => None,
        }
    }

    fn end(&self, state: &QueueState, _: &QueueOp, flight: u32) -> QueueState {
        state.end_put(Self::DISCIPLINE, flight)
    }

    fn may_wait(&self, op: &QueueOp) -> bool {
        // The value can also be removed after others were inserted after it.
        matches!(op, QueueOp::Take(Removed::Value(_)))
    }

    fn settle(&self, settlement: &mut Settlement<'_, QueueState, QueueOp>) {
        super::queue_notes::settle(Self::DISCIPLINE, settlement);
    }

    fn effect(&self, op: &QueueOp) -> Option<u64> {
        op.effect()
    }

    fn sees(&self, op: &QueueOp, effects: &mut Vec<u64>) -> bool {
        op.sees(effects)
    }

    fn needs(&self, op: &QueueOp) -> Option<u64> {
        op.needs(&self.initial)
    }

    fn may_see(&self, op: &QueueOp, _: &QueueOp) -> bool {
        // An insertion does not show that another value is missing.
        op.is_take()
    }

    fn part(&self, op: &QueueOp) -> Option<u64> {
        // If order does not matter, operations on different values do not observe each other.
        match *op {
            QueueOp::Put(value) | QueueOp::Take(Removed::Value(value)) if Self::DISCIPLINE == Discipline::Unordered => {
                Some(value.cast_unsigned())
            }
            _ => None,
        }
    }

    fn reads_only(&self, op: &QueueOp) -> bool {
        matches!(op, QueueOp::Take(Removed::Nothing))
    }

    fn collection(&self) -> Option<Collection> {
        Some(match Self::DISCIPLINE {
            Discipline::Fifo => Collection::Fifo,
            Discipline::Unordered => Collection::Bag,
            Discipline::Lifo => Collection::Stack,
        })
    }

    fn handling<'a>(&'a self, op: &'a QueueOp) -> Option<Handling<'a>> {
        Some(op.handling())
    }

    fn contents(&self) -> Vec<i64> {
        self.initial.clone()
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
    const SHOWN: &'static str =
        if DISCIPLINE == 2 { "ok :pop together with a :push" } else { "ok :dequeue together with an :enqueue" };
    const INITIAL: &'static str = "a list, the oldest value first; empty if not given";
    const PARTS: history_core::Parts = history_core::Parts::Values;

    fn set_initial(&mut self, value: Value<'_>) -> Result<(), String> {
        let values = value.as_seq().ok_or_else(|| format!("expected a list, found {value}"))?;
        self.initial = values.iter().map(|value| self.values.code(value)).collect();
        if Self::DISCIPLINE == Discipline::Unordered {
            self.initial.sort_unstable();
        }
        Ok(())
    }

    fn decode(&mut self, op: &Op<'_>, invoked: Option<&QueueOp>) -> Result<Option<QueueOp>, String> {
        match (op.f, op.kind, op.value) {
            (Some(f), OpKind::Ok, Value::Nil) if f == Self::NAMES.take => Ok(Some(QueueOp::Take(Removed::Nothing))),
            (Some(f), OpKind::Ok, value) if f == Self::NAMES.take => {
                Ok(Some(QueueOp::Take(Removed::Value(self.values.code(value)))))
            }
            (Some(f), ..) if f == Self::NAMES.take => Ok(Some(QueueOp::Take(Removed::Unknown))),
            (Some(f), _, value) if f == Self::NAMES.put => match (value, invoked) {
                (Value::Nil, Some(invoked)) => Ok(Some(*invoked)),
                (Value::Nil, None) => {
                    Err(bad_value(op, "a value other than nil, which means that the queue was empty"))
                }
                (value, _) => Ok(Some(QueueOp::Put(self.values.code(value)))),
            },
            (None, _, Value::Nil) => Ok(invoked.copied()),
            _ => Err(unknown_op::<Self>(op)),
        }
    }

    fn contradicts(invoked: Option<&QueueOp>, done: Option<&QueueOp>) -> bool {
        QueueOp::contradicts(invoked, done)
    }

    fn shows(&self, _: &Op<'_>, done: Option<&QueueOp>) -> Shows {
        QueueOp::shows(done, &self.initial)
    }

    fn fills(&self, op: &QueueOp) -> bool {
        !op.is_take()
    }

    fn datum(&self, op: &QueueOp) -> Datum {
        op.datum(Self::NAMES, &self.values)
    }
}
