//! A double-ended queue: values are pushed and popped at either end.

use super::shared::queue_op::Removed;
use super::shared::sequence::{Item, Sequence};
use super::spec::{Shows, Spec, bad_value, call, unknown_op};
use crate::{Collection, Handling, Model, Shortcuts};
use history_core::{Budget, Datum, Interner, Op, OpKind, Value};

/// A double-ended queue. Values are codes of an [`Interner`]. It is empty at first.
#[derive(Clone, Debug, Default)]
pub struct Deque {
    values: Interner,
    /// The initial content, from front to back.
    initial: Vec<i64>,
}

/// The content of a [`Deque`], from front to back.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct DequeState {
    items: Sequence,
}

/// An end of a [`Deque`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum End {
    /// The first value.
    Front,
    /// The last value.
    Back,
}

/// An operation on a [`Deque`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DequeOp {
    /// It inserted this value at an end.
    Push(End, i64),
    /// It took something out at an end.
    Pop(End, Removed),
}

impl End {
    const ALL: [End; 2] = [End::Front, End::Back];

    fn other(self) -> End {
        match self {
            End::Front => End::Back,
            End::Back => End::Front,
        }
    }

    fn push_name(self) -> &'static str {
        match self {
            End::Front => "push-front",
            End::Back => "push-back",
        }
    }

    fn pop_name(self) -> &'static str {
        match self {
            End::Front => "pop-front",
            End::Back => "pop-back",
        }
    }
}

/// The ends at which some operations act.
#[derive(Clone, Copy, Default)]
struct Used {
    front: bool,
    back: bool,
}

impl Used {
    fn add(&mut self, end: End) {
        match end {
            End::Front => self.front = true,
            End::Back => self.back = true,
        }
    }

    /// The only end that is used; `otherwise` if none is, and `None` if both are.
    fn only(self, otherwise: End) -> Option<End> {
        match (self.front, self.back) {
            (true, true) => None,
            (true, false) => Some(End::Front),
            (false, true) => Some(End::Back),
            (false, false) => Some(otherwise),
        }
    }
}

impl Deque {
    fn push(state: &DequeState, end: End, value: i64) -> DequeState {
        let mut after = state.clone();
        let at = if end == End::Front { 0 } else { after.items.len() };
        after.items.insert(at, Item { value, beside: 0 });
        after
    }

    /// The state after a pop at an end, of `value` or of any value; `None` if that is not possible.
    fn pop(state: &DequeState, end: End, value: Option<i64>) -> Option<DequeState> {
        let last = state.items.len().checked_sub(1)?;
        let at = if end == End::Front { 0 } else { last };
        let is_it = state.items.get(at).is_some_and(|item| value.is_none_or(|value| item.value == value));
        is_it.then(|| {
            let mut after = state.clone();
            after.items.remove(at);
            after
        })
    }
}

impl Model for Deque {
    type State = DequeState;
    type Op = DequeOp;
    type Next = Option<DequeState>;

    fn init(&self) -> DequeState {
        DequeState { items: self.initial.iter().map(|value| Item { value: *value, beside: 0 }).collect() }
    }

    fn step(&self, state: &DequeState, op: &DequeOp, _: &Budget) -> Option<DequeState> {
        match *op {
            DequeOp::Push(end, value) => Some(Deque::push(state, end, value)),
            DequeOp::Pop(end, Removed::Value(value)) => Deque::pop(state, end, Some(value)),
            DequeOp::Pop(_, Removed::Nothing | Removed::Unknown) if state.items.is_empty() => Some(state.clone()),
            DequeOp::Pop(_, Removed::Nothing) => None,
            DequeOp::Pop(end, Removed::Unknown) => Deque::pop(state, end, None),
        }
    }

    fn shortcuts(&self) -> &dyn Shortcuts<Self::State, Self::Op> {
        self
    }

    fn describe_op(&self, op: &DequeOp) -> String {
        match *op {
            DequeOp::Push(end, value) => format!("{} of {}", end.push_name(), self.values.datum(value)),
            DequeOp::Pop(end, Removed::Value(value)) => format!("{} of {}", end.pop_name(), self.values.datum(value)),
            DequeOp::Pop(end, Removed::Nothing) => format!("{} that found nothing", end.pop_name()),
            DequeOp::Pop(end, Removed::Unknown) => format!("{} of something", end.pop_name()),
        }
    }

    fn describe_state(&self, state: &DequeState) -> String {
        let values: Vec<String> = state.items.iter().map(|item| self.values.datum(item.value).to_string()).collect();
        format!("[{}]", values.join(" "))
    }
}

impl Shortcuts<DequeState, DequeOp> for Deque {
    fn effect(&self, op: &DequeOp) -> Option<u64> {
        match *op {
            DequeOp::Push(_, value) => Some(value.cast_unsigned()),
            DequeOp::Pop(..) => None,
        }
    }

    fn sees(&self, op: &DequeOp, effects: &mut Vec<u64>) -> bool {
        match *op {
            // A value that is never removed hinders only operations that find nothing, or that remove a value behind
            // it.
            DequeOp::Push(..) | DequeOp::Pop(_, Removed::Nothing) => false,
            DequeOp::Pop(_, Removed::Value(value)) => {
                effects.push(value.cast_unsigned());
                false
            }
            DequeOp::Pop(_, Removed::Unknown) => true,
        }
    }

    fn needs(&self, op: &DequeOp) -> Option<u64> {
        match *op {
            DequeOp::Pop(_, Removed::Value(value)) if !self.initial.contains(&value) => Some(value.cast_unsigned()),
            _ => None,
        }
    }

    fn may_see(&self, op: &DequeOp, _: &DequeOp) -> bool {
        matches!(op, DequeOp::Pop(..))
    }

    fn reads_only(&self, op: &DequeOp) -> bool {
        matches!(op, DequeOp::Pop(_, Removed::Nothing))
    }

    fn collection(&self) -> Option<Collection> {
        Some(Collection::Deque)
    }

    /// The initial content, from front to back.
    fn contents(&self) -> Vec<i64> {
        self.initial.clone()
    }

    /// If all operations push at one end, and all pop at one end, it is a queue or a stack.
    fn collection_of(&self, ops: &mut dyn Iterator<Item = &DequeOp>) -> Option<(Collection, Vec<i64>)> {
        let (mut push, mut pop) = (Used::default(), Used::default());
        for op in ops {
            match *op {
                DequeOp::Push(end, _) => push.add(end),
                DequeOp::Pop(end, _) => pop.add(end),
            }
        }
        // If nothing is pushed or nothing is popped, the deque is both a queue and a stack. Queues are decided more
        // often.
        let ends = pop.only(End::Front).and_then(|pop| Some((push.only(pop.other())?, pop)));
        let Some((push, pop)) = ends else { return Some((Collection::Deque, self.initial.clone())) };
        let collection = if push == pop { Collection::Stack } else { Collection::Fifo };
        let mut oldest_first = self.initial.clone();
        // The value that is removed first is the oldest one of a queue, and the youngest one of a stack.
        if (collection == Collection::Fifo) == (pop == End::Back) {
            oldest_first.reverse();
        }
        Some((collection, oldest_first))
    }

    fn is_at_front(&self, op: &DequeOp) -> bool {
        matches!(op, DequeOp::Push(End::Front, _) | DequeOp::Pop(End::Front, _))
    }

    fn handling<'a>(&'a self, op: &'a DequeOp) -> Option<Handling<'a>> {
        Some(match *op {
            DequeOp::Push(_, value) => Handling::Put(value),
            DequeOp::Pop(_, Removed::Value(value)) => Handling::Take(value),
            DequeOp::Pop(_, Removed::Nothing) => Handling::Nothing,
            DequeOp::Pop(_, Removed::Unknown) => Handling::Any,
        })
    }
}

impl Spec for Deque {
    const NAME: &'static str = "deque";
    const SUMMARY: &'static str = "Linearizability of a double-ended queue with push and pop at both ends.";
    const OPS: &'static str =
        ":push-front and :push-back of a value, :pop-front and :pop-back (nil if it found nothing)";
    const SHOWN: &'static str = "ok :pop-front or :pop-back together with a :push-front or :push-back";
    const INITIAL: &'static str = "a list, from front to back; empty if not given";
    const PARTS: history_core::Parts = history_core::Parts::Values;

    fn set_initial(&mut self, value: Value<'_>) -> Result<(), String> {
        let values = value.as_seq().ok_or_else(|| format!("expected a list, found {value}"))?;
        self.initial = values.iter().map(|value| self.values.code(value)).collect();
        Ok(())
    }

    fn decode(&mut self, op: &Op<'_>, invoked: Option<&DequeOp>) -> Result<Option<DequeOp>, String> {
        let Some(f) = op.f else {
            return if op.value.is_nil() { Ok(invoked.copied()) } else { Err(unknown_op::<Self>(op)) };
        };
        if let Some(end) = End::ALL.into_iter().find(|end| f == end.pop_name()) {
            return Ok(Some(DequeOp::Pop(
                end,
                match (op.kind, op.value) {
                    (OpKind::Ok, Value::Nil) => Removed::Nothing,
                    (OpKind::Ok, value) => Removed::Value(self.values.code(value)),
                    _ => Removed::Unknown,
                },
            )));
        }
        let Some(end) = End::ALL.into_iter().find(|end| f == end.push_name()) else {
            return Err(unknown_op::<Self>(op));
        };
        match (op.value, invoked) {
            (Value::Nil, Some(invoked)) => Ok(Some(*invoked)),
            (Value::Nil, None) => Err(bad_value(op, "a value other than nil, which means that the deque was empty")),
            (value, _) => Ok(Some(DequeOp::Push(end, self.values.code(value)))),
        }
    }

    fn contradicts(invoked: Option<&DequeOp>, done: Option<&DequeOp>) -> bool {
        /// The request of an operation: its end, and the value that it pushes.
        fn asked(op: &DequeOp) -> (End, Option<i64>) {
            match *op {
                DequeOp::Push(end, value) => (end, Some(value)),
                DequeOp::Pop(end, _) => (end, None),
            }
        }
        invoked.map(asked) != done.map(asked)
    }

    fn shows(&self, _: &Op<'_>, done: Option<&DequeOp>) -> Shows {
        match done {
            Some(DequeOp::Pop(_, Removed::Nothing)) if self.initial.is_empty() => Shows::Absence,
            Some(DequeOp::Pop(_, Removed::Value(_) | Removed::Nothing)) => Shows::Something,
            Some(DequeOp::Pop(_, Removed::Unknown) | DequeOp::Push(..)) | None => Shows::Nothing,
        }
    }

    fn fills(&self, op: &DequeOp) -> bool {
        matches!(op, DequeOp::Push(..))
    }

    fn datum(&self, op: &DequeOp) -> Datum {
        match *op {
            DequeOp::Push(end, value) => call(end.push_name(), self.values.datum(value)),
            DequeOp::Pop(end, Removed::Value(value)) => call(end.pop_name(), self.values.datum(value)),
            DequeOp::Pop(end, Removed::Nothing | Removed::Unknown) => call(end.pop_name(), Datum::Nil),
        }
    }
}
