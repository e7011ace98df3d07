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
    open: impl Fn() -> [bool; 2],
    attempt: impl FnOnce() -> TryLockResult<G>,
    wait: impl FnOnce() -> LockResult<G>,
) -> LockResult<G> {
    if !object.pause(kind, gate, open) {
        return if runtime::is_active() { at_once(object, attempt) } else { wait() };
    }
    at_once(object, attempt)
}

/// Notes that whoever runs has taken a lock, and which of its gates that leaves open.
pub(crate) fn hold(object: &Object, open: [bool; 2]) {
    runtime::with(|execution| {
        let id = execution.id_of(object, &|| open);
        execution.set_gates(id, open);
        execution.hold(id);
    });
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

/// The same of an operation that changes the lock if it is free, and only then.
pub(crate) fn tried<A, B>(
    object: &Object,
    to_change: bool,
    result: TryLockResult<A>,
    f: impl FnOnce(A) -> B,
) -> TryLockResult<B> {
    if is_free(&result) {
        object.acquire(to_change);
    } else {
        runtime::look();
    }
    try_map(result, f)
}

/// Whether a lock of std could be taken.
pub(crate) fn is_free<G>(result: &TryLockResult<G>) -> bool {
    !matches!(result, Err(TryLockError::WouldBlock))
}

/// What a lock adds to a lock: as std's.
macro_rules! as_value {
    ($lock:ident) => {
        impl<T: ?Sized + std::fmt::Debug> std::fmt::Debug for $lock<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.inner.fmt(f)
            }
        }

        impl<T: Default> Default for $lock<T> {
            #[track_caller]
            fn default() -> $lock<T> {
                $lock::new(T::default())
            }
        }

        impl<T> From<T> for $lock<T> {
            #[track_caller]
            fn from(value: T) -> $lock<T> {
                $lock::new(value)
            }
        }
    };
}

/// What a guard is to who holds it: what it guards.
macro_rules! as_guarded {
    ($guard:ident) => {
        impl<T: ?Sized> std::ops::Deref for $guard<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                self.inner.as_ref().expect("it is there until the guard is dropped")
            }
        }

        impl<T: ?Sized + std::fmt::Debug> std::fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + std::fmt::Display> std::fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }
    };
    (mut $guard:ident) => {
        crate::sync::lock::as_guarded!($guard);

        impl<T: ?Sized> std::ops::DerefMut for $guard<'_, T> {
            fn deref_mut(&mut self) -> &mut T {
                self.is_changed = true;
                self.inner.as_mut().expect("it is there until the guard is dropped")
            }
        }
    };
}

pub(crate) use {as_guarded, as_value};
