//! A priority queue: the least value is removed first.

use super::shared::queue_op::{Names, QueueOp, Removed};
use super::shared::sequence::{Item, Sequence};
use super::spec::{Shows, Spec, bad_value, unknown_op};
use crate::{Collection, Handling, Model, Shortcuts};
use history_core::hash::HashMap;
use history_core::{Budget, Datum, Interner, Op, OpKind, Value};

/// A collection from which the least value is removed. Values are codes of an [`Interner`]: of an integer, which is its
/// own priority, or of a vector that begins with its priority. Of several values with one priority any may be removed
/// first. It is initially empty.
#[derive(Clone, Debug, Default)]
pub struct PriorityQueue {
    values: Interner,
    /// By code, where priority and code differ: for vectors, and for integers so low that they have another code.
    priorities: HashMap<i64, i64>,
    initial: Vec<i64>,
}

/// The content of a [`PriorityQueue`].
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct PriorityState {
    /// The values, ordered by priority and then by code.
    items: Sequence,
}

const INSERT: &str = "insert";
const DELETE: &str = "delete-min";
const NAMES: Names = Names { put: INSERT, take: DELETE };

impl PriorityQueue {
    /// An empty queue in which some values have another priority than themselves.
    #[must_use]
    pub fn with_priorities(priorities: impl IntoIterator<Item = (i64, i64)>) -> PriorityQueue {
        PriorityQueue { priorities: priorities.into_iter().collect(), ..PriorityQueue::default() }
    }

    fn key(&self, value: i64) -> (i64, i64) {
        (Shortcuts::priority(self, value), value)
    }

    /// The number of values of a state that are ordered before this one.
    fn place(&self, state: &PriorityState, value: i64) -> usize {
        let key = self.key(value);
        state.items.prefix(|item| self.key(item.value) < key)
    }

    fn with(&self, state: &PriorityState, value: i64) -> PriorityState {
        let mut after = state.clone();
        after.items.insert(self.place(state, value), Item { value, beside: 0 });
        after
    }

    /// The possible states after a take of a value, or of any value.
    fn take(&self, state: &PriorityState, value: Option<i64>) -> Vec<PriorityState> {
        let Some(first) = state.items.get(0) else { return Vec::new() };
        let least = self.key(first.value).0;
        let without = |at: usize| {
            let mut after = state.clone();
            after.items.remove(at);
            after
        };
        if let Some(value) = value {
            let at = self.place(state, value);
            let is_there = state.items.get(at).is_some_and(|item| item.value == value);
            return (is_there && self.key(value).0 == least).then(|| without(at)).into_iter().collect();
        }
        let alike = |at: &usize| state.items.get(*at).is_some_and(|item| self.key(item.value).0 == least);
        // Equal values are adjacent, and it does not matter which of them is removed.
        let is_first = |at: &usize| *at == 0 || state.items.get(*at - 1) != state.items.get(*at);
        (0..state.items.len()).take_while(alike).filter(is_first).map(without).collect()
    }

    /// The code of a value, if it has a priority.
    fn code(&mut self, value: Value<'_>) -> Option<i64> {
        let priority = match value {
            Value::Int(priority) => priority,
            Value::Vector(parts) | Value::List(parts) => match parts.iter().next() {
                Some(Value::Int(priority)) => priority,
                _ => return None,
            },
            _ => return None,
        };
        let code = self.values.code(value);
        if code != priority {
            self.priorities.insert(code, priority);
        }
        Some(code)
    }
}

impl Model for PriorityQueue {
    type State = PriorityState;
    type Op = QueueOp;
    type Next = Vec<PriorityState>;

    fn init(&self) -> PriorityState {
        self.initial.iter().fold(PriorityState::default(), |state, value| self.with(&state, *value))
    }

    fn step(&self, state: &PriorityState, op: &QueueOp, _: &Budget) -> Vec<PriorityState> {
        match *op {
            QueueOp::Put(value) => vec![self.with(state, value)],
            QueueOp::Take(Removed::Value(value)) => self.take(state, Some(value)),
            QueueOp::Take(Removed::Nothing | Removed::Unknown) if state.items.is_empty() => vec![state.clone()],
            QueueOp::Take(Removed::Nothing) => Vec::new(),
            QueueOp::Take(Removed::Unknown) => self.take(state, None),
        }
    }

    fn shortcuts(&self) -> &dyn Shortcuts<Self::State, Self::Op> {
        self
    }

    fn describe_op(&self, op: &QueueOp) -> String {
        op.describe(NAMES, &self.values)
    }

    fn describe_state(&self, state: &PriorityState) -> String {
        let values: Vec<String> = state.items.iter().map(|item| self.values.datum(item.value).to_string()).collect();
        format!("[{}]", values.join(" "))
    }
}

impl Shortcuts<PriorityState, QueueOp> for PriorityQueue {
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
        op.is_take()
    }

    fn reads_only(&self, op: &QueueOp) -> bool {
        matches!(op, QueueOp::Take(Removed::Nothing))
    }

    fn collection(&self) -> Option<Collection> {
        Some(Collection::Priority)
    }

    fn handling<'a>(&'a self, op: &'a QueueOp) -> Option<Handling<'a>> {
        Some(op.handling())
    }

    fn contents(&self) -> Vec<i64> {
        self.initial.clone()
    }

    fn priority(&self, value: i64) -> i64 {
        self.priorities.get(&value).copied().unwrap_or(value)
    }
}

impl Spec for PriorityQueue {
    const NAME: &'static str = "priority-queue";
    const SUMMARY: &'static str = "Linearizability of a priority queue with insert and delete-min.";
    const OPS: &'static str =
        ":insert of an integer or [priority value], :delete-min of the same (nil if it found nothing)";
    const SHOWN: &'static str = "ok :delete-min together with an :insert";
    const INITIAL: &'static str = "a list; empty if not given";
    const PARTS: history_core::Parts = history_core::Parts::Values;

    fn set_initial(&mut self, value: Value<'_>) -> Result<(), String> {
        let values = value.as_seq().ok_or_else(|| format!("expected a list, found {value}"))?;
        self.initial.clear();
        for value in values {
            let code = self.code(value);
            self.initial.push(code.ok_or_else(|| format!("expected an integer or [priority value], found {value}"))?);
        }
        Ok(())
    }

    fn decode(&mut self, op: &Op<'_>, invoked: Option<&QueueOp>) -> Result<Option<QueueOp>, String> {
        match (op.f, op.kind, op.value) {
            (Some(DELETE), OpKind::Ok, Value::Nil) => Ok(Some(QueueOp::Take(Removed::Nothing))),
            (Some(DELETE), OpKind::Ok, value) => match self.code(value) {
                Some(code) => Ok(Some(QueueOp::Take(Removed::Value(code)))),
                None => Err(bad_value(op, "an integer or [priority value]")),
            },
            (Some(DELETE), ..) => Ok(Some(QueueOp::Take(Removed::Unknown))),
            (Some(INSERT), _, Value::Nil) if invoked.is_some() => Ok(invoked.copied()),
            (Some(INSERT), _, value) => match self.code(value) {
                Some(code) => Ok(Some(QueueOp::Put(code))),
                None => Err(bad_value(op, "an integer or [priority value]")),
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
        op.datum(NAMES, &self.values)
    }
}
