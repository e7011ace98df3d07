//! A mutex. Its first gate is open while it is free.

use super::lock;
use crate::object::Object;
use crate::op::{Gate, Kind};
use crate::runtime;
use std::panic::Location;
use std::sync::{LockResult, TryLockResult};

/// The gates of a locked mutex.
const HELD: [bool; 2] = [false, true];

/// The equivalent of [`std::sync::Mutex`].
pub struct Mutex<T: ?Sized> {
    object: Object,
    inner: std::sync::Mutex<T>,
}

/// The equivalent of [`std::sync::MutexGuard`].
#[must_use = "the mutex is unlocked at once if nobody holds this"]
pub struct MutexGuard<'a, T: ?Sized> {
    /// `None` only while the guard is dropped, or waits for a condition variable.
    inner: Option<std::sync::MutexGuard<'a, T>>,
    mutex: &'a Mutex<T>,
    /// Whether the value was borrowed mutably.
    is_changed: bool,
    place: &'static Location<'static>,
}

impl<T> Mutex<T> {
    /// Creates a free mutex with this value.
    #[track_caller]
    pub const fn new(value: T) -> Mutex<T> {
        Mutex { object: Object::new("Mutex", Location::caller()), inner: std::sync::Mutex::new(value) }
    }

    /// The value of a mutex that is consumed.
    ///
    /// # Errors
    ///
    /// If a thread panicked while it held the mutex.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until the mutex is free, and locks it.
    ///
    /// # Errors
    ///
    /// If a thread panicked while it held the mutex.
    ///
    /// # Panics
    ///
    /// In a managed thread, if a thread that is not managed holds it.
    #[track_caller]
    #[inline]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        if runtime::is_active() {
            self.await_turn();
        }
        let place = Location::caller();
        lock::map(self.inner.lock(), |guard| self.wrap(guard, place))
    }

    /// Separate from `lock`, so that a guard stays in registers outside of executions.
    #[track_caller]
    #[cold]
    fn await_turn(&self) {
        let (op, gates) = ((Kind::Lock, Gate::First), || self.gates());
        lock::await_turn(&self.object, op, gates, || self.is_free(), HELD);
    }

    /// Locks the mutex if it is free.
    ///
    /// # Errors
    ///
    /// If it is not free, or a thread panicked while it held the mutex.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        self.object.pause(Kind::TryLock, Gate::Free, || self.gates());
        let place = Location::caller();
        lock::tried(&self.object, true, self.inner.try_lock(), |guard| self.guard(guard, place))
    }

    /// Returns true if a thread panicked while it held the mutex.
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        self.object.pause(Kind::Load, Gate::Free, || self.gates());
        self.inner.is_poisoned()
    }

    /// Clears the record that a thread panicked.
    #[track_caller]
    pub fn clear_poison(&self) {
        self.object.pause(Kind::Store, Gate::Free, || self.gates());
        self.inner.clear_poison();
    }

    /// The value of a mutex that is exclusively borrowed.
    ///
    /// # Errors
    ///
    /// If a thread panicked while it held the mutex.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.inner.get_mut()
    }

    fn is_free(&self) -> bool {
        lock::is_free(&self.inner.try_lock())
    }

    fn gates(&self) -> [bool; 2] {
        [self.is_free(), true]
    }

    fn guard<'a>(
        &'a self,
        inner: std::sync::MutexGuard<'a, T>,
        place: &'static Location<'static>,
    ) -> MutexGuard<'a, T> {
        lock::hold(&self.object, HELD);
        MutexGuard { inner: Some(inner), mutex: self, is_changed: false, place }
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Unlocks the mutex without a separate pause point, and returns it.
    pub(super) fn release(mut self) -> &'a Mutex<T> {
        self.unlock();
        self.mutex
    }

    /// The mutex as an object of executions.
    pub(super) fn object(&self) -> &Object {
        &self.mutex.object
    }

    /// The guard of std, and the mutex.
    pub(super) fn take_apart(mut self) -> (Option<std::sync::MutexGuard<'a, T>>, &'a Mutex<T>) {
        (self.inner.take(), self.mutex)
    }

    fn unlock(&mut self) {
        if let Some(guard) = self.inner.take() {
            drop(guard);
            self.mutex.object.set_gates([true, true]);
        }
    }
}

impl<T: ?Sized> Mutex<T> {
    pub(super) fn object(&self) -> &Object {
        &self.object
    }

    /// Returns a guard of a mutex that the schedule has assigned to this thread.
    pub(super) fn relock(&self, place: &'static Location<'static>) -> LockResult<MutexGuard<'_, T>> {
        lock::take(&self.object, self.is_free(), HELD);
        lock::map(self.inner.lock(), |guard| self.wrap(guard, place))
    }

    /// Wraps a guard of std, for executions.
    pub(super) fn wrap<'a>(
        &'a self,
        inner: std::sync::MutexGuard<'a, T>,
        place: &'static Location<'static>,
    ) -> MutexGuard<'a, T> {
        MutexGuard { inner: Some(inner), mutex: self, is_changed: false, place }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if runtime::is_active() {
            self.drop_active();
        }
    }
}

impl<T: ?Sized> MutexGuard<'_, T> {
    #[cold]
    fn drop_active(&mut self) {
        if self.inner.is_some() {
            if self.mutex.object.pause_at(Kind::Unlock, self.place, || HELD) && !self.is_changed {
                self.mutex.object.keep();
            }
            self.unlock();
        }
    }
}

lock::as_guarded!(mut MutexGuard);
lock::as_value!(Mutex);
