//! A set, with add, and read of all values.

use super::shared::sequence::{Item, Sequence};
use super::spec::{Shows, Spec, bad_value, call, unknown_op};
use crate::{Collection, Handling, Model, Shortcuts};
use history_core::{Budget, Datum, Interner, Op, OpKind, Value};

/// Marks a read that returned one value twice, which no set does. It is the code of no value, so it is never added.
const TWICE: i64 = Interner::NIL - 1;

/// A set of values, which are codes of an [`Interner`]. It is initially empty.
#[derive(Clone, Debug, Default)]
pub struct Set {
    values: Interner,
    initial: Box<[i64]>,
}

/// An operation on a [`Set`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SetOp {
    /// It added this value.
    Add(i64),
    /// It returned these values, sorted; with a code that no value has, if one was returned twice.
    Read(Box<[i64]>),
}

/// The content of a [`Set`].
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct SetState {
    /// The values, sorted.
    items: Sequence,
}

impl SetState {
    /// The values, sorted.
    pub fn values(&self) -> impl Iterator<Item = i64> {
        self.items.iter().map(|item| item.value)
    }

    /// Returns the state with this value.
    fn with(&self, value: i64) -> SetState {
        let mut state = self.clone();
        let at = self.items.below(value);
        if self.items.get(at).is_none_or(|item| item.value != value) {
            state.items.insert(at, Item { value, beside: 0 });
        }
        state
    }
}

impl Model for Set {
    type State = SetState;
    type Op = SetOp;
    type Next = Option<SetState>;

    fn init(&self) -> SetState {
        SetState { items: self.initial.iter().map(|value| Item { value: *value, beside: 0 }).collect() }
    }

    fn step(&self, state: &SetState, op: &SetOp, _: &Budget) -> Option<SetState> {
        match op {
            SetOp::Add(value) => Some(state.with(*value)),
            SetOp::Read(values) => {
                let is_found = values.len() == state.items.len() && state.values().eq(values.iter().copied());
                is_found.then(|| state.clone())
            }
        }
    }

    fn shortcuts(&self) -> &dyn Shortcuts<Self::State, Self::Op> {
        self
    }

    fn describe_op(&self, op: &SetOp) -> String {
        match op {
            SetOp::Add(value) => format!("add of {}", self.values.datum(*value)),
            SetOp::Read(values) => format!("read of {}", self.describe_values(values.iter().copied())),
        }
    }

    fn describe_state(&self, state: &SetState) -> String {
        self.describe_values(state.values())
    }
}

impl Shortcuts<SetState, SetOp> for Set {
    fn reads_only(&self, op: &SetOp) -> bool {
        matches!(op, SetOp::Read(_))
    }

    fn effect(&self, op: &SetOp) -> Option<u64> {
        match op {
            SetOp::Add(value) => Some(value.cast_unsigned()),
            SetOp::Read(_) => None,
        }
    }

    fn sees(&self, op: &SetOp, effects: &mut Vec<u64>) -> bool {
        if let SetOp::Read(values) = op {
            effects.extend(values.iter().map(|value| value.cast_unsigned()));
        }
        false
    }

    fn collection(&self) -> Option<Collection> {
        Some(Collection::Set)
    }

    fn handling<'a>(&'a self, op: &'a SetOp) -> Option<Handling<'a>> {
        Some(match op {
            SetOp::Add(value) => Handling::Put(*value),
            SetOp::Read(values) => Handling::All(values),
        })
    }

    fn contents(&self) -> Vec<i64> {
        self.initial.to_vec()
    }

    fn effect_lasts(&self, _: &SetOp) -> bool {
        // The effect does last. But an add that no read observes so far can be moved later, to just before the first
        // read that observes it.
        false
    }
}

impl Set {
    /// A set that starts with these values.
    #[must_use]
    pub fn starting_with(values: impl IntoIterator<Item = i64>) -> Set {
        let mut initial: Vec<i64> = values.into_iter().collect();
        initial.sort_unstable();
        initial.dedup();
        Set { initial: initial.into(), ..Set::default() }
    }

    fn describe_values(&self, values: impl Iterator<Item = i64>) -> String {
        let (twice, values): (Vec<i64>, Vec<i64>) = values.partition(|value| *value == TWICE);
        let values: Vec<String> = values.iter().map(|value| self.values.datum(*value).to_string()).collect();
        format!("#{{{}}}{}", values.join(" "), if twice.is_empty() { "" } else { ", one of them twice" })
    }

    fn codes(&mut self, value: Value<'_>) -> Option<Box<[i64]>> {
        let (Value::Set(values) | Value::Vector(values) | Value::List(values)) = value else { return None };
        let mut codes: Vec<i64> = values.iter().map(|value| self.values.code(value)).collect();
        codes.sort_unstable();
        let all = codes.len();
        codes.dedup();
        if codes.len() < all {
            codes.insert(codes.partition_point(|code| *code < TWICE), TWICE);
        }
        Some(codes.into())
    }
}

impl Spec for Set {
    const NAME: &'static str = "linearizable-set";
    const SUMMARY: &'static str = "Linearizability of a set with add and reads of the whole set.";
    const OPS: &'static str = ":add value, :read of a set or list";
    const SHOWN: &'static str = "ok :read of a set";
    const INITIAL: &'static str = "a set or list; empty if not given";
    const PARTS: history_core::Parts = history_core::Parts::Values;

    fn set_initial(&mut self, value: Value<'_>) -> Result<(), String> {
        let initial = self.codes(value).ok_or_else(|| format!("expected a set, found {value}"))?;
        self.initial = initial.iter().copied().filter(|code| *code != TWICE).collect();
        Ok(())
    }

    fn decode(&mut self, op: &Op<'_>, invoked: Option<&SetOp>) -> Result<Option<SetOp>, String> {
        if op.value.is_nil()
            && let Some(invoked) = invoked
        {
            return Ok(Some(invoked.clone()));
        }
        match op.f {
            Some("read") if op.kind != OpKind::Ok => Ok(None),
            Some("read") => match self.codes(op.value) {
                Some(values) => Ok(Some(SetOp::Read(values))),
                None => Err(bad_value(op, "a set or list")),
            },
            Some("add") => Ok(Some(SetOp::Add(self.values.code(op.value)))),
            _ => Err(unknown_op::<Self>(op)),
        }
    }

    fn only_reads(&self, op: &Op<'_>) -> bool {
        op.f == Some("read")
    }

    fn hides(&self, invocation: &Op<'_>) -> bool {
        invocation.f == Some("add") && invocation.value.is_nil()
    }

    fn contradicts(invoked: Option<&SetOp>, done: Option<&SetOp>) -> bool {
        let added = |op: Option<&SetOp>| match op {
            Some(SetOp::Add(value)) => Some(*value),
            Some(SetOp::Read(_)) | None => None,
        };
        added(invoked) != added(done)
    }

    fn shows(&self, _: &Op<'_>, done: Option<&SetOp>) -> Shows {
        match done {
            Some(SetOp::Read(_)) => Shows::Something,
            Some(SetOp::Add(_)) | None => Shows::Nothing,
        }
    }

    fn fills(&self, op: &SetOp) -> bool {
        matches!(op, SetOp::Add(value) if *value != Interner::NIL)
    }

    fn datum(&self, op: &SetOp) -> Datum {
        match op {
            SetOp::Add(value) => call("add", self.values.datum(*value)),
            SetOp::Read(values) => {
                let values = values.iter().filter(|value| **value != TWICE);
                call("read", Datum::Set(values.map(|value| self.values.datum(*value)).collect()))
            }
        }
    }
}
