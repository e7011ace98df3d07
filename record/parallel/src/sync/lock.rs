//! The common part of the locks: a lock of std, and the gates that determine in an execution whether it is free.

use crate::object::Object;
use crate::op::{Gate, Kind};
use crate::runtime;
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

/// Waits for a lock under a schedule, until it can be acquired immediately, and records that the running thread
/// acquires it. `gates` returns the state of its gates before that, `held` is their state afterwards, and `is_free`
/// returns true if std's lock can be acquired.
#[track_caller]
pub(crate) fn await_turn(
    object: &Object,
    (kind, gate): (Kind, Gate),
    gates: impl Fn() -> [bool; 2],
    is_free: impl FnOnce() -> bool,
    held: [bool; 2],
) {
    object.pause(kind, gate, gates);
    take(object, is_free(), held);
}

/// Records that the running thread acquires a lock, and fails if the lock is not free.
#[track_caller]
pub(crate) fn take(object: &Object, is_free: bool, held: [bool; 2]) {
    // A wait would stop all managed threads.
    runtime::assert_can_wait(is_free, || {
        format!(
            "{object:?} is held by a thread that cannot run: one outside of this execution, or, if this is a destructor \
             of a thread that panics, another of this execution"
        )
    });
    hold(object, held);
}

/// Records that the running thread has acquired a lock, and which of its gates remain open.
pub(crate) fn hold(object: &Object, open: [bool; 2]) {
    runtime::with(|execution| {
        let id = execution.id_of(object, &|| open);
        execution.set_gates(id, open);
        execution.hold(id);
    });
}

/// Converts a guard, poisoned or not, to another guard.
pub(crate) fn map<A, B>(result: LockResult<A>, f: impl FnOnce(A) -> B) -> LockResult<B> {
    match result {
        Ok(guard) => Ok(f(guard)),
        Err(poisoned) => Err(PoisonError::new(f(poisoned.into_inner()))),
    }
}

/// The same as [`map`], for a lock that may be held already.
pub(crate) fn try_map<A, B>(result: TryLockResult<A>, f: impl FnOnce(A) -> B) -> TryLockResult<B> {
    match result {
        Ok(guard) => Ok(f(guard)),
        Err(TryLockError::Poisoned(poisoned)) => Err(PoisonError::new(f(poisoned.into_inner())).into()),
        Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
    }
}

/// The same as [`try_map`], and records the attempt: a change of the lock if it was free, a read otherwise.
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

/// Returns true if a lock of std was free.
pub(crate) fn is_free<G>(result: &TryLockResult<G>) -> bool {
    !matches!(result, Err(TryLockError::WouldBlock))
}

/// Implements for a lock the traits that the lock of std has.
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

/// Implements access to the guarded value for a guard.
macro_rules! as_guarded {
    ($guard:ident) => {
        impl<T: ?Sized> std::ops::Deref for $guard<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                self.inner.as_ref().expect("the value is present until the guard is dropped")
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
                self.inner.as_mut().expect("the value is present until the guard is dropped")
            }
        }
    };
}

pub(crate) use {as_guarded, as_value};
