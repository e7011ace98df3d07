//! A mutex for which tasks wait in the order of their requests.

use super::batch::{Batch, NoPermit};
use crate::tokio::executor;
use std::fmt;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{Arc, PoisonError};

/// The equivalent of `tokio::sync::Mutex`.
pub struct Mutex<T> {
    permits: Batch,
    /// `None` while the mutex is locked: its guard contains the value.
    value: std::sync::Mutex<Option<T>>,
}

/// The equivalent of `tokio::sync::TryLockError`: the mutex is locked.
#[derive(Debug, PartialEq, Eq)]
pub struct TryLockError(());

impl TryLockError {
    pub(super) fn new() -> TryLockError {
        TryLockError(())
    }
}

impl fmt::Display for TryLockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("operation would block")
    }
}

impl std::error::Error for TryLockError {}

/// A value that was taken out of its mutex.
struct Taken<T, M: Deref<Target = Mutex<T>>> {
    mutex: M,
    value: Option<T>,
    place: &'static Location<'static>,
}

impl<T, M: Deref<Target = Mutex<T>>> Taken<T, M> {
    fn new(mutex: M, place: &'static Location<'static>) -> Taken<T, M> {
        let value = mutex.value.lock().unwrap_or_else(PoisonError::into_inner).take();
        Taken { mutex, value, place }
    }

    fn get(&self) -> &T {
        self.value.as_ref().expect("the value is present until the guard is dropped")
    }

    fn get_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("the value is present until the guard is dropped")
    }
}

impl<T, M: Deref<Target = Mutex<T>>> Drop for Taken<T, M> {
    fn drop(&mut self) {
        *self.mutex.value.lock().unwrap_or_else(PoisonError::into_inner) = self.value.take();
        self.mutex.permits.release(1, self.place);
    }
}

/// The equivalent of `tokio::sync::MutexGuard`.
#[must_use = "the mutex is unlocked at once if nobody holds this"]
pub struct MutexGuard<'a, T>(Taken<T, &'a Mutex<T>>);

/// The equivalent of `tokio::sync::OwnedMutexGuard`.
#[must_use = "the mutex is unlocked at once if nobody holds this"]
pub struct OwnedMutexGuard<T>(Taken<T, Arc<Mutex<T>>>);

impl<T> Mutex<T> {
    /// Creates a free mutex with this value.
    #[track_caller]
    pub const fn new(value: T) -> Mutex<T> {
        let permits = Batch::lock(1, "Mutex", Location::caller());
        Mutex { permits, value: std::sync::Mutex::new(Some(value)) }
    }

    /// The same as [`Mutex::new`].
    #[track_caller]
    pub const fn const_new(value: T) -> Mutex<T> {
        Mutex::new(value)
    }

    /// Waits until the mutex is free, and locks it.
    #[track_caller]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> {
        let place = Location::caller();
        async move {
            self.permits.acquire(1, place).await.expect("the semaphore is never closed");
            MutexGuard(Taken::new(self, place))
        }
    }

    /// The same with a guard that keeps the mutex alive.
    #[track_caller]
    pub fn lock_owned(self: Arc<Self>) -> impl Future<Output = OwnedMutexGuard<T>> {
        let place = Location::caller();
        async move {
            self.permits.acquire(1, place).await.expect("the semaphore is never closed");
            OwnedMutexGuard(Taken::new(self, place))
        }
    }

    /// Locks the mutex from a thread that is part of no task.
    ///
    /// # Panics
    ///
    /// In a task.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        executor::block(self.lock())
    }

    /// Locks the mutex if it is free.
    ///
    /// # Errors
    ///
    /// If it is not.
    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        let place = Location::caller();
        self.permits.try_acquire(1, place).map_err(|_: NoPermit| TryLockError(()))?;
        Ok(MutexGuard(Taken::new(self, place)))
    }

    /// The same with a guard that keeps the mutex alive.
    ///
    /// # Errors
    ///
    /// If it is not free.
    #[track_caller]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        let place = Location::caller();
        self.permits.try_acquire(1, place).map_err(|_: NoPermit| TryLockError(()))?;
        Ok(OwnedMutexGuard(Taken::new(self, place)))
    }

    /// The value of a mutex that is exclusively borrowed.
    ///
    /// # Panics
    ///
    /// If a guard was leaked.
    pub fn get_mut(&mut self) -> &mut T {
        let value = self.value.get_mut().unwrap_or_else(PoisonError::into_inner);
        value.as_mut().expect("a guard of this mutex was leaked")
    }

    /// The value of a mutex that is consumed.
    ///
    /// # Panics
    ///
    /// If a guard was leaked.
    pub fn into_inner(self) -> T {
        let value = self.value.into_inner().unwrap_or_else(PoisonError::into_inner);
        value.expect("a guard of this mutex was leaked")
    }
}

impl<'a, T> MutexGuard<'a, T> {
    /// The mutex.
    pub fn mutex(this: &MutexGuard<'a, T>) -> &'a Mutex<T> {
        this.0.mutex
    }
}

impl<T> OwnedMutexGuard<T> {
    /// The mutex.
    pub fn mutex(this: &OwnedMutexGuard<T>) -> &Arc<Mutex<T>> {
        &this.0.mutex
    }
}

macro_rules! guard {
    ([$($param:tt)*] $guard:ty) => {
        impl<$($param)*> Deref for $guard {
            type Target = T;

            fn deref(&self) -> &T {
                self.0.get()
            }
        }

        impl<$($param)*> DerefMut for $guard {
            fn deref_mut(&mut self) -> &mut T {
                self.0.get_mut()
            }
        }

        impl<$($param)*: fmt::Debug> fmt::Debug for $guard {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<$($param)*: fmt::Display> fmt::Display for $guard {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

guard!([T] MutexGuard<'_, T>);
guard!([T] OwnedMutexGuard<T>);

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}

impl<T: fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        match &*value {
            Some(value) => f.debug_struct("Mutex").field("data", value).finish_non_exhaustive(),
            None => f.debug_struct("Mutex").field("data", &format_args!("<locked>")).finish_non_exhaustive(),
        }
    }
}
