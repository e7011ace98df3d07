//! What the locks have in common: one of std, and the gates that say in an execution whether it is free.

use crate::object::Object;
use crate::op::{Gate, Kind};
use crate::runtime;
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

/// Takes a lock of std in whatever way `attempt` does: by waiting for it under a schedule, or as std does.
#[track_caller]
pub(crate) fn acquire<G>(
    object: &Object,
    kind: Kind,
    gate: Gate,
    open: impl FnOnce() -> [bool; 2],
    attempt: impl FnOnce() -> TryLockResult<G>,
    wait: impl FnOnce() -> LockResult<G>,
) -> LockResult<G> {
    if !object.pause(kind, gate, open) {
        return if runtime::is_active() { at_once(object, attempt) } else { wait() };
    }
    at_once(object, attempt)
}

/// Takes a lock that is free.
pub(crate) fn at_once<G>(object: &Object, attempt: impl FnOnce() -> TryLockResult<G>) -> LockResult<G> {
    match attempt() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(guard)) => Err(guard),
        // Waiting would stop all managed threads.
        Err(TryLockError::WouldBlock) => panic!(
            "{object:?} is held by a thread that cannot run: one outside of this execution, or, if this is a destructor of a \
             thread that panics, another of this execution"
        ),
    }
}

/// A guard around a guard, poisoned or not.
pub(crate) fn map<A, B>(result: LockResult<A>, f: impl FnOnce(A) -> B) -> LockResult<B> {
    match result {
        Ok(guard) => Ok(f(guard)),
        Err(poisoned) => Err(PoisonError::new(f(poisoned.into_inner()))),
    }
}

/// The same where the lock may have been taken.
pub(crate) fn try_map<A, B>(result: TryLockResult<A>, f: impl FnOnce(A) -> B) -> TryLockResult<B> {
    match result {
        Ok(guard) => Ok(f(guard)),
        Err(TryLockError::Poisoned(poisoned)) => Err(PoisonError::new(f(poisoned.into_inner())).into()),
        Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
    }
}

/// Whether a lock of std could be taken.
pub(crate) fn is_free<G>(result: &TryLockResult<G>) -> bool {
    !matches!(result, Err(TryLockError::WouldBlock))
}
