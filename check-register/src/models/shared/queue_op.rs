//! Operations on a collection from which each value is removed once: the common part of queues, stacks and priority
//! queues.

use crate::Handling;
use crate::models::spec::{Shows, call};
use history_core::{Datum, Interner};

/// An operation on a [`Queue`](crate::models::Queue) or a [`PriorityQueue`](crate::models::PriorityQueue).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum QueueOp {
    /// It inserted this value.
    Put(i64),
    /// It took something out.
    Take(Removed),
}

/// The result of a [`QueueOp::Take`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Removed {
    /// This value.
    Value(i64),
    /// The collection was empty.
    Nothing,
    /// Unknown: any value, or nothing.
    Unknown,
}

/// The names of the two operations in histories.
#[derive(Clone, Copy)]
pub(in crate::models) struct Names {
    pub(in crate::models) put: &'static str,
    pub(in crate::models) take: &'static str,
}

impl QueueOp {
    pub(in crate::models) fn is_take(self) -> bool {
        matches!(self, QueueOp::Take(_))
    }

    /// See [`Shortcuts::effect`](crate::Shortcuts::effect).
    pub(in crate::models) fn effect(self) -> Option<u64> {
        match self {
            QueueOp::Put(value) => Some(value.cast_unsigned()),
            QueueOp::Take(_) => None,
        }
    }

    /// See [`Shortcuts::sees`](crate::Shortcuts::sees).
    pub(in crate::models) fn sees(self, effects: &mut Vec<u64>) -> bool {
        match self {
            // A value that is never removed hinders only operations that find nothing, or that remove a later value.
            QueueOp::Put(_) | QueueOp::Take(Removed::Nothing) => false,
            QueueOp::Take(Removed::Value(value)) => {
                effects.push(value.cast_unsigned());
                false
            }
            QueueOp::Take(Removed::Unknown) => true,
        }
    }

    /// See [`Shortcuts::needs`](crate::Shortcuts::needs).
    pub(in crate::models) fn needs(self, initial: &[i64]) -> Option<u64> {
        match self {
            QueueOp::Take(Removed::Value(value)) if !initial.contains(&value) => Some(value.cast_unsigned()),
            _ => None,
        }
    }

    /// See [`Shortcuts::handling`](crate::Shortcuts::handling).
    pub(in crate::models) fn handling(self) -> Handling<'static> {
        match self {
            QueueOp::Put(value) => Handling::Put(value),
            QueueOp::Take(Removed::Value(value)) => Handling::Take(value),
            QueueOp::Take(Removed::Nothing) => Handling::Nothing,
            QueueOp::Take(Removed::Unknown) => Handling::Any,
        }
    }

    /// See [`Model::describe_op`](crate::Model::describe_op).
    pub(in crate::models) fn describe(self, Names { put, take }: Names, values: &Interner) -> String {
        match self {
            QueueOp::Put(value) => format!("{put} of {}", values.datum(value)),
            QueueOp::Take(Removed::Value(value)) => format!("{take} of {}", values.datum(value)),
            QueueOp::Take(Removed::Nothing) => format!("{take} that found nothing"),
            QueueOp::Take(Removed::Unknown) => format!("{take} of something"),
        }
    }

    /// See [`Spec::datum`](crate::models::Spec::datum).
    pub(in crate::models) fn datum(self, Names { put, take }: Names, values: &Interner) -> Datum {
        match self {
            QueueOp::Put(value) => call(put, values.datum(value)),
            QueueOp::Take(Removed::Value(value)) => call(take, values.datum(value)),
            QueueOp::Take(Removed::Nothing | Removed::Unknown) => call(take, Datum::Nil),
        }
    }

    /// See [`Spec::contradicts`](crate::models::Spec::contradicts).
    pub(in crate::models) fn contradicts(invoked: Option<&QueueOp>, done: Option<&QueueOp>) -> bool {
        let change = |op: Option<&QueueOp>| op.filter(|op| !op.is_take()).copied();
        change(invoked) != change(done)
    }

    /// See [`Spec::shows`](crate::models::Spec::shows).
    pub(in crate::models) fn shows(done: Option<&QueueOp>, initial: &[i64]) -> Shows {
        match done {
            Some(QueueOp::Take(Removed::Nothing)) if initial.is_empty() => Shows::Absence,
            Some(QueueOp::Take(Removed::Value(_) | Removed::Nothing)) => Shows::Something,
            Some(QueueOp::Take(Removed::Unknown) | QueueOp::Put(_)) | None => Shows::Nothing,
        }
    }
}
