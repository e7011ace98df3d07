//! A semaphore: a number of permits.

use super::spec::{Shows, Spec, bad_value, call, unknown_op};
use crate::Model;
use history_core::{Budget, Datum, Op, OpKind, Value};

/// A counting semaphore. It initially has one permit; a release adds permits, whether or not the client held them.
#[derive(Clone, Copy, Debug)]
pub struct Semaphore {
    /// Permits at the start.
    pub permits: u64,
}

impl Default for Semaphore {
    fn default() -> Semaphore {
        Semaphore { permits: 1 }
    }
}

/// An operation on a [`Semaphore`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SemaphoreOp {
    /// This number of permits was acquired.
    Acquire(u64),
    /// This number of permits was released.
    Release(u64),
}

impl Model for Semaphore {
    type State = u128;
    type Op = SemaphoreOp;
    type Next = Option<u128>;

    fn init(&self) -> u128 {
        self.permits.into()
    }

    fn step(&self, free: &u128, op: &SemaphoreOp, _: &Budget) -> Option<u128> {
        match *op {
            SemaphoreOp::Acquire(permits) => free.checked_sub(permits.into()),
            SemaphoreOp::Release(permits) => Some(free + u128::from(permits)),
        }
    }

    fn describe_op(&self, op: &SemaphoreOp) -> String {
        match op {
            SemaphoreOp::Acquire(permits) => format!("acquire of {permits}"),
            SemaphoreOp::Release(permits) => format!("release of {permits}"),
        }
    }

    fn describe_state(&self, free: &u128) -> String {
        format!("{free} free")
    }
}

impl Spec for Semaphore {
    const NAME: &'static str = "semaphore";
    const SUMMARY: &'static str = "Linearizability of a counting semaphore with acquire and release.";
    const OPS: &'static str = ":acquire permits, :release permits (1 if it has no value)";
    const SHOWN: &'static str = "ok :acquire of a permit";
    const INITIAL: &'static str = "the number of permits; 1 if not given";
    const PARTS: history_core::Parts = history_core::Parts::Sums;

    fn assumes(&self) -> Option<String> {
        let were = if self.permits == 1 { "1 permit".into() } else { format!("{} permits", self.permits) };
        Some(format!(
            "The semaphore was assumed to have {were} at first: if this is wrong, pass the number with \
            --initial."
        ))
    }

    fn set_initial(&mut self, value: Value<'_>) -> Result<(), String> {
        let permits = value.as_int().and_then(|permits| u64::try_from(permits).ok());
        self.permits = permits.ok_or_else(|| format!("expected a number of permits, found {value}"))?;
        Ok(())
    }

    fn decode(&mut self, op: &Op<'_>, invoked: Option<&SemaphoreOp>) -> Result<Option<SemaphoreOp>, String> {
        // The value of an `info` is the reason for the unknown outcome, and not a number of permits.
        if (op.value.is_nil() || op.kind == OpKind::Info)
            && let Some(invoked) = invoked
        {
            return Ok(Some(*invoked));
        }
        let permits = match op.value {
            Value::Nil => 1,
            Value::Int(permits) if permits >= 0 => permits.unsigned_abs(),
            _ => return Err(bad_value(op, "a number of permits")),
        };
        match op.f {
            Some("acquire") => Ok(Some(SemaphoreOp::Acquire(permits))),
            Some("release") => Ok(Some(SemaphoreOp::Release(permits))),
            _ => Err(unknown_op::<Self>(op)),
        }
    }

    fn contradicts(invoked: Option<&SemaphoreOp>, done: Option<&SemaphoreOp>) -> bool {
        invoked != done
    }

    fn shows(&self, _: &Op<'_>, done: Option<&SemaphoreOp>) -> Shows {
        match done {
            Some(SemaphoreOp::Acquire(1..)) => Shows::Something,
            Some(SemaphoreOp::Acquire(0) | SemaphoreOp::Release(_)) | None => Shows::Nothing,
        }
    }

    fn fills(&self, op: &SemaphoreOp) -> bool {
        matches!(op, SemaphoreOp::Release(1..))
    }

    fn datum(&self, op: &SemaphoreOp) -> Datum {
        match *op {
            SemaphoreOp::Acquire(permits) => call("acquire", permits.into()),
            SemaphoreOp::Release(permits) => call("release", permits.into()),
        }
    }
}
