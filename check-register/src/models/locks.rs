//! Locks: with at most one holder at a time.

use super::spec::{Shows, Spec, bad_value, call, unknown_op};
use crate::Model;
use history_core::{Budget, Datum, Interner, Op, OpKind, Process, Value};

/// A mutex that any client may release. It is initially free.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mutex {
    /// Whether it is initially held.
    pub held: bool,
}

/// An operation on a lock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LockOp {
    /// This owner acquired the lock.
    Acquire(i64),
    /// This owner released the lock.
    Release(i64),
}

impl Model for Mutex {
    type State = bool;
    type Op = LockOp;
    type Next = Option<bool>;

    fn init(&self) -> bool {
        self.held
    }

    fn step(&self, held: &bool, op: &LockOp, _: &Budget) -> Option<bool> {
        match op {
            LockOp::Acquire(_) => (!held).then_some(true),
            LockOp::Release(_) => held.then_some(false),
        }
    }

    fn describe_op(&self, op: &LockOp) -> String {
        match op {
            LockOp::Acquire(_) => "acquire".into(),
            LockOp::Release(_) => "release".into(),
        }
    }

    fn describe_state(&self, held: &bool) -> String {
        if *held { "held" } else { "free" }.into()
    }
}

impl Spec for Mutex {
    const NAME: &'static str = "mutex";
    const SUMMARY: &'static str = "Linearizability of a mutex that any process may release.";
    const OPS: &'static str = ":acquire, :release";
    const SHOWN: &'static str = "ok op";
    const INITIAL: &'static str = "true if it is held, false or nil if it is free; free if not given";
    const PARTS: history_core::Parts = history_core::Parts::Sums;

    fn set_initial(&mut self, value: Value<'_>) -> Result<(), String> {
        self.held = match value {
            Value::Bool(held) => held,
            Value::Nil => false,
            _ => return Err(format!("expected true (held) or false (free), found {value}")),
        };
        Ok(())
    }

    fn decode(&mut self, op: &Op<'_>, _: Option<&LockOp>) -> Result<Option<LockOp>, String> {
        refused(op)?;
        // The owner does not matter, so all acquisitions are one class.
        match op.f {
            Some("acquire") => Ok(Some(LockOp::Acquire(0))),
            Some("release") => Ok(Some(LockOp::Release(0))),
            _ => Err(unknown_op::<Self>(op)),
        }
    }

    fn contradicts(invoked: Option<&LockOp>, done: Option<&LockOp>) -> bool {
        invoked != done
    }

    fn shows(&self, _: &Op<'_>, _: Option<&LockOp>) -> Shows {
        Shows::Something
    }

    fn fills(&self, _: &LockOp) -> bool {
        true
    }

    fn datum(&self, op: &LockOp) -> Datum {
        match op {
            LockOp::Acquire(_) => call("acquire", Datum::Nil),
            LockOp::Release(_) => call("release", Datum::Nil),
        }
    }
}

/// Rejects a result of `false`, which means that nothing was acquired or released.
fn refused(op: &Op<'_>) -> Result<(), String> {
    if op.kind == OpKind::Ok && matches!(op.value, Value::Bool(false)) {
        return Err(bad_value(op, "another answer: an attempt that did not succeed has the type fail"));
    }
    Ok(())
}

/// A mutex that its owner must release before another acquires it.
pub type OwnerMutex = OwnedLock<false>;
/// A mutex that its owner may acquire again, and must release as often.
pub type ReentrantMutex = OwnedLock<true>;

/// A lock that only its owner may release: the process that acquired it, or the owner that the invocations' values
/// name: the value itself, or its `:client`. It is initially free.
///
/// A reader that gives a client further numbers or names adds the original one in a field `original-client`, because
/// the lock has no information about these.
#[derive(Clone, Debug, Default)]
pub struct OwnedLock<const REENTRANT: bool> {
    owners: Interner,
    initial: Option<i64>,
}

impl<const REENTRANT: bool> OwnedLock<REENTRANT> {
    /// The code of an owner. Different spellings of a process's name have one code.
    fn owner(&mut self, value: Value<'_>) -> i64 {
        let value = match value.as_name().map(Process::from) {
            Some(Process::Client(number)) => Value::Int(number),
            Some(Process::Other(name)) => Value::Keyword(name),
            Some(Process::Unknown) | None => value,
        };
        self.owners.code(value)
    }
}

impl<const REENTRANT: bool> Model for OwnedLock<REENTRANT> {
    /// The holder, and how often it has acquired the lock; never 0 times.
    type State = Option<(i64, u32)>;
    type Op = LockOp;
    type Next = Option<Option<(i64, u32)>>;

    fn init(&self) -> Self::State {
        self.initial.map(|owner| (owner, 1))
    }

    fn step(&self, state: &Self::State, op: &LockOp, _: &Budget) -> Self::Next {
        match (*op, *state) {
            (LockOp::Acquire(by), None) => Some(Some((by, 1))),
            (LockOp::Acquire(by), Some((owner, times))) if REENTRANT && owner == by => Some(Some((owner, times + 1))),
            (LockOp::Release(by), Some((owner, times))) if owner == by => {
                Some((times > 1).then_some((owner, times - 1)))
            }
            _ => None,
        }
    }

    fn describe_op(&self, op: &LockOp) -> String {
        match op {
            LockOp::Acquire(by) => format!("acquire by {}", self.owners.datum(*by)),
            LockOp::Release(by) => format!("release by {}", self.owners.datum(*by)),
        }
    }

    fn describe_state(&self, state: &Self::State) -> String {
        match state {
            None => "free".into(),
            Some((owner, 1)) => format!("held by {}", self.owners.datum(*owner)),
            Some((owner, times)) => format!("held {times} times by {}", self.owners.datum(*owner)),
        }
    }
}

impl<const REENTRANT: bool> Spec for OwnedLock<REENTRANT> {
    const NAME: &'static str = if REENTRANT { "reentrant-mutex" } else { "owner-mutex" };
    const SUMMARY: &'static str = if REENTRANT {
        "Linearizability of a mutex that its owner may acquire again, and must release equally often."
    } else {
        "Linearizability of a mutex that only its owner may release."
    };
    const OPS: &'static str = ":acquire, :release; the owner is the op's process, or the value of its invocation";
    const SHOWN: &'static str = "ok op";
    const INITIAL: &'static str = "the owner; free if not given";
    const PARTS: history_core::Parts = history_core::Parts::Sums;

    fn set_initial(&mut self, value: Value<'_>) -> Result<(), String> {
        self.initial = (!value.is_nil()).then(|| self.owner(value));
        Ok(())
    }

    fn decode(&mut self, op: &Op<'_>, invoked: Option<&LockOp>) -> Result<Option<LockOp>, String> {
        refused(op)?;
        // The value of a completion is the answer of the lock, such as a fencing token, or the reason why there is
        // none.
        if let Some(invoked) = invoked {
            return Ok(Some(*invoked));
        }
        let named = match op.value {
            Value::Map(entries) => entries.get("client").unwrap_or(op.value),
            value => value,
        };
        let origin = op.extra.get("original-client").and_then(Value::as_name);
        let (name, process) = match origin.map(Process::from) {
            Some(Process::Other(name)) => (Some(name), op.process),
            Some(number) => (None, number),
            None => (op.client_name, op.process),
        };
        let owner = match (named, name, process) {
            (Value::Nil, Some(name), _) => self.owner(Value::Str(name)),
            (Value::Nil, None, Process::Client(process)) => self.owner(Value::Int(process)),
            (Value::Nil, ..) => return Err("the op has neither a process nor a value: its owner is unknown".into()),
            (owner, ..) => self.owner(owner),
        };
        match op.f {
            Some("acquire") => Ok(Some(LockOp::Acquire(owner))),
            Some("release") => Ok(Some(LockOp::Release(owner))),
            _ => Err(unknown_op::<Self>(op)),
        }
    }

    fn contradicts(invoked: Option<&LockOp>, done: Option<&LockOp>) -> bool {
        invoked != done
    }

    fn shows(&self, _: &Op<'_>, _: Option<&LockOp>) -> Shows {
        Shows::Something
    }

    fn fills(&self, _: &LockOp) -> bool {
        true
    }

    fn datum(&self, op: &LockOp) -> Datum {
        match *op {
            LockOp::Acquire(by) => call("acquire", self.owners.datum(by)),
            LockOp::Release(by) => call("release", self.owners.datum(by)),
        }
    }
}
