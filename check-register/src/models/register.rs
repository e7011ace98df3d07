//! A register, with read, write and compare-and-set.

use super::spec::{Shows, Spec, bad_value, call, unknown_op};
use crate::{Access, Model, Shortcuts};
use history_core::{Budget, Datum, Interner, Op, OpKind, Value};

/// A register with reads and writes.
pub type PlainRegister = Register<false>;
/// A register with reads, writes and compare-and-set.
pub type CasRegister = Register<true>;

/// A register with one value. Values are codes of an [`Interner`]; the initial value is nil.
///
/// `CAS`: whether it also supports compare-and-set.
#[derive(Clone, Debug)]
pub struct Register<const CAS: bool> {
    values: Interner,
    initial: i64,
}

/// An operation on a [`Register`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RegisterOp {
    /// It returned this value.
    Read(i64),
    /// It wrote this value.
    Write(i64),
    /// It found the first value and replaced it by the second.
    Cas(i64, i64),
}

impl<const CAS: bool> Default for Register<CAS> {
    fn default() -> Register<CAS> {
        Register { values: Interner::default(), initial: Interner::NIL }
    }
}

impl<const CAS: bool> Register<CAS> {
    /// A register that starts with an integer.
    #[must_use]
    pub fn starting_with(value: i64) -> Register<CAS> {
        let mut register = Register::default();
        register.initial = register.values.code(Value::Int(value));
        register
    }
}

impl<const CAS: bool> Model for Register<CAS> {
    type State = i64;
    type Op = RegisterOp;
    type Next = Option<i64>;

    fn init(&self) -> i64 {
        self.initial
    }

    fn step(&self, state: &i64, op: &RegisterOp, _: &Budget) -> Option<i64> {
        match *op {
            RegisterOp::Read(value) => (value == *state).then_some(value),
            RegisterOp::Write(value) => Some(value),
            RegisterOp::Cas(old, new) => (old == *state).then_some(new),
        }
    }

    fn shortcuts(&self) -> &dyn Shortcuts<Self::State, Self::Op> {
        self
    }

    fn describe_op(&self, op: &RegisterOp) -> String {
        let datum = |code| self.values.datum(code);
        match *op {
            RegisterOp::Read(value) => format!("read of {}", datum(value)),
            RegisterOp::Write(value) => format!("write of {}", datum(value)),
            RegisterOp::Cas(old, new) => format!("cas from {} to {}", datum(old), datum(new)),
        }
    }

    fn describe_state(&self, state: &i64) -> String {
        self.values.datum(*state).to_string()
    }
}

impl<const CAS: bool> Shortcuts<i64, RegisterOp> for Register<CAS> {
    fn reads_only(&self, op: &RegisterOp) -> bool {
        matches!(op, RegisterOp::Read(_))
    }

    fn effect(&self, op: &RegisterOp) -> Option<u64> {
        match *op {
            RegisterOp::Read(value) | RegisterOp::Write(value) | RegisterOp::Cas(_, value) => {
                Some(value.cast_unsigned())
            }
        }
    }

    fn effect_lasts(&self, _: &RegisterOp) -> bool {
        false
    }

    fn sees(&self, op: &RegisterOp, effects: &mut Vec<u64>) -> bool {
        if let RegisterOp::Read(value) | RegisterOp::Cas(value, _) = *op {
            effects.push(value.cast_unsigned());
        }
        false
    }

    fn needs(&self, op: &RegisterOp) -> Option<u64> {
        match *op {
            RegisterOp::Read(value) | RegisterOp::Cas(value, _) if value != self.initial => Some(value.cast_unsigned()),
            _ => None,
        }
    }

    fn access(&self, op: &RegisterOp) -> Option<Access> {
        match *op {
            RegisterOp::Read(value) => Some(Access::Read(value)),
            RegisterOp::Write(value) => Some(Access::Write(value)),
            RegisterOp::Cas(..) => None,
        }
    }

    fn initial_access(&self) -> Option<i64> {
        Some(self.initial)
    }
}

impl<const CAS: bool> Spec for Register<CAS> {
    const NAME: &'static str = if CAS { "cas-register" } else { "register" };
    const SUMMARY: &'static str = if CAS {
        "Linearizability of a register with reads, writes and compare-and-set."
    } else {
        "Linearizability of a register with reads and writes."
    };
    const OPS: &'static str =
        if CAS { ":read value, :write value, :cas [old new]" } else { ":read value, :write value" };
    const SHOWN: &'static str = if CAS { "ok :read of a value, nor ok :cas" } else { "ok :read of a value" };
    const INITIAL: &'static str = "any value; nil if not given";
    const PARTS: history_core::Parts = history_core::Parts::Registers;

    fn set_initial(&mut self, value: Value<'_>) -> Result<(), String> {
        self.initial = self.values.code(value);
        Ok(())
    }

    fn decode(&mut self, op: &Op<'_>, invoked: Option<&RegisterOp>) -> Result<Option<RegisterOp>, String> {
        if op.value.is_nil()
            && let Some(invoked) = invoked
        {
            return Ok(Some(*invoked));
        }
        match op.f {
            // The value of an invocation is not a result.
            Some("read") if op.kind != OpKind::Ok || op.value.is_nil() => Ok(None),
            Some("read") => Ok(Some(RegisterOp::Read(self.values.code(op.value)))),
            Some("write") => Ok(Some(RegisterOp::Write(self.values.code(op.value)))),
            Some("cas") if CAS => {
                let mut values = op.value.as_seq().into_iter().flat_map(history_core::Seq::iter);
                match (values.next(), values.next(), values.next()) {
                    (Some(old), Some(new), None) => {
                        Ok(Some(RegisterOp::Cas(self.values.code(old), self.values.code(new))))
                    }
                    _ => Err(bad_value(op, "a vector [old new]")),
                }
            }
            _ => Err(unknown_op::<Self>(op)),
        }
    }

    fn hides(&self, invocation: &Op<'_>) -> bool {
        invocation.f == Some("write") && invocation.value.is_nil()
    }

    fn contradicts(invoked: Option<&RegisterOp>, done: Option<&RegisterOp>) -> bool {
        let change = |op: Option<&RegisterOp>| op.filter(|op| !matches!(op, RegisterOp::Read(_))).copied();
        change(invoked) != change(done)
    }

    fn shows(&self, _: &Op<'_>, done: Option<&RegisterOp>) -> Shows {
        match done {
            None | Some(RegisterOp::Read(Interner::NIL)) if self.initial == Interner::NIL => Shows::Nil,
            None | Some(RegisterOp::Read(Interner::NIL)) => Shows::Unknown,
            Some(RegisterOp::Write(_) | RegisterOp::Cas(Interner::NIL, Interner::NIL)) => Shows::Nothing,
            Some(RegisterOp::Read(_) | RegisterOp::Cas(..)) => Shows::Something,
        }
    }

    fn fills(&self, op: &RegisterOp) -> bool {
        matches!(op, RegisterOp::Write(value) | RegisterOp::Cas(_, value) if *value != Interner::NIL)
    }

    fn datum(&self, op: &RegisterOp) -> Datum {
        let datum = |code| self.values.datum(code);
        match *op {
            RegisterOp::Read(value) => call("read", datum(value)),
            RegisterOp::Write(value) => call("write", datum(value)),
            RegisterOp::Cas(old, new) => call("cas", Datum::Vector(vec![datum(old), datum(new)])),
        }
    }
}
