//! A counter, with add and read.

use super::spec::{Shows, Spec, bad_value, call, unknown_op};
use crate::{Model, Shortcuts};
use history_core::{Budget, Datum, Op, OpKind, Value};

/// A counter. It starts with 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counter {
    /// Its initial value.
    pub initial: i64,
}

/// An operation on a [`Counter`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CounterOp {
    /// It added this number, which may be negative.
    Add(i64),
    /// It returned this.
    Read(i128),
}

impl Model for Counter {
    /// Wider than the added numbers, so that nothing overflows.
    type State = i128;
    type Op = CounterOp;
    type Next = Option<i128>;

    fn init(&self) -> i128 {
        self.initial.into()
    }

    fn step(&self, state: &i128, op: &CounterOp, _: &Budget) -> Option<i128> {
        match *op {
            CounterOp::Add(amount) => Some(state + i128::from(amount)),
            CounterOp::Read(value) => (*state == value).then_some(*state),
        }
    }

    fn shortcuts(&self) -> &dyn Shortcuts<Self::State, Self::Op> {
        self
    }

    fn describe_op(&self, op: &CounterOp) -> String {
        match op {
            CounterOp::Add(amount) => format!("add of {amount}"),
            CounterOp::Read(value) => format!("read of {value}"),
        }
    }
}

impl Shortcuts<i128, CounterOp> for Counter {
    fn reads_only(&self, op: &CounterOp) -> bool {
        matches!(op, CounterOp::Read(_))
    }

    fn may_see(&self, op: &CounterOp, _: &CounterOp) -> bool {
        matches!(op, CounterOp::Read(_))
    }
}

impl Spec for Counter {
    const NAME: &'static str = "linearizable-counter";
    const SUMMARY: &'static str = "Linearizability of a counter with add and read.";
    const OPS: &'static str = ":add integer, :read integer";
    const SHOWN: &'static str = "ok :read of a number";
    const INITIAL: &'static str = "an integer; 0 if not given";
    const PARTS: history_core::Parts = history_core::Parts::Sums;

    fn set_initial(&mut self, value: Value<'_>) -> Result<(), String> {
        self.initial = value.as_int().ok_or_else(|| format!("expected an integer, found {value}"))?;
        Ok(())
    }

    fn decode(&mut self, op: &Op<'_>, invoked: Option<&CounterOp>) -> Result<Option<CounterOp>, String> {
        if op.value.is_nil()
            && let Some(invoked) = invoked
        {
            return Ok(Some(*invoked));
        }
        match op.f {
            Some("read") if op.kind != OpKind::Ok => Ok(None),
            Some("read") => {
                Ok(Some(CounterOp::Read(op.value.as_wide_int().ok_or_else(|| bad_value(op, "an integer"))?)))
            }
            Some("add") => Ok(Some(CounterOp::Add(
                op.value.as_int().ok_or_else(|| bad_value(op, "an integer of at most 64 bits"))?,
            ))),
            _ => Err(unknown_op::<Self>(op)),
        }
    }

    fn only_reads(&self, op: &Op<'_>) -> bool {
        op.f == Some("read")
    }

    fn contradicts(invoked: Option<&CounterOp>, done: Option<&CounterOp>) -> bool {
        let change = |op: Option<&CounterOp>| op.filter(|op| !matches!(op, CounterOp::Read(_))).copied();
        change(invoked) != change(done)
    }

    fn shows(&self, _: &Op<'_>, done: Option<&CounterOp>) -> Shows {
        match done {
            Some(CounterOp::Read(_)) => Shows::Something,
            Some(CounterOp::Add(_)) | None => Shows::Nothing,
        }
    }

    fn fills(&self, op: &CounterOp) -> bool {
        matches!(op, CounterOp::Add(_))
    }

    fn datum(&self, op: &CounterOp) -> Datum {
        match *op {
            CounterOp::Add(amount) => call("add", amount.into()),
            CounterOp::Read(value) => call("read", value.into()),
        }
    }
}
