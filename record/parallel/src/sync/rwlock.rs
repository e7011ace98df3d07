//! A reader-writer lock. Readers wait for its first gate, writers for the second. Neither has priority.

use super::lock;
use crate::object::Object;
use crate::op::{Gate, Kind};
use crate::runtime;
use std::panic::Location;
use std::sync::{LockResult, TryLockResult};

/// The gates of a lock held by readers, and of a lock held by a writer.
const READ: [bool; 2] = [true, false];
const WRITTEN: [bool; 2] = [false, false];

/// The equivalent of [`std::sync::RwLock`].
pub struct RwLock<T: ?Sized> {
    object: Object,
    inner: std::sync::RwLock<T>,
}

/// The equivalent of [`std::sync::RwLockReadGuard`].
#[must_use = "the lock is released at once if nobody holds this"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    /// `None` only while the guard is dropped.
    inner: Option<std::sync::RwLockReadGuard<'a, T>>,
    lock: &'a RwLock<T>,
    place: &'static Location<'static>,
}

/// The equivalent of [`std::sync::RwLockWriteGuard`].
#[must_use = "the lock is released at once if nobody holds this"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    /// `None` only while the guard is dropped.
    inner: Option<std::sync::RwLockWriteGuard<'a, T>>,
    lock: &'a RwLock<T>,
    /// Whether the value was borrowed mutably.
    is_changed: bool,
    place: &'static Location<'static>,
}

impl<T> RwLock<T> {
    /// Creates a free lock with this value.
    #[track_caller]
    pub const fn new(value: T) -> RwLock<T> {
        RwLock { object: Object::new("RwLock", Location::caller()), inner: std::sync::RwLock::new(value) }
    }

    /// The value of a lock that is consumed.
    ///
    /// # Errors
    ///
    /// If a thread panicked while it held the lock for writing.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until there is no writer, and locks for reading.
    ///
    /// # Errors
    ///
    /// If a thread panicked while it held the lock for writing.
    #[track_caller]
    #[inline]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        if runtime::is_active() {
            self.await_read();
        }
        let place = Location::caller();
        lock::map(self.inner.read(), |inner| RwLockReadGuard { inner: Some(inner), lock: self, place })
    }

    #[track_caller]
    #[cold]
    fn await_read(&self) {
        let (op, gates) = ((Kind::ReadLock, Gate::First), || self.gates());
        lock::await_turn(&self.object, op, gates, || self.gates()[0], READ);
    }

    /// Waits until there are no readers and no writer, and locks for writing.
    ///
    /// # Errors
    ///
    /// If a thread panicked while it held the lock for writing.
    #[track_caller]
    #[inline]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        if runtime::is_active() {
            self.await_write();
        }
        let (place, lock) = (Location::caller(), self);
        let guard = |inner| RwLockWriteGuard { inner: Some(inner), lock, is_changed: false, place };
        lock::map(self.inner.write(), guard)
    }

    #[track_caller]
    #[cold]
    fn await_write(&self) {
        let (op, gates) = ((Kind::Lock, Gate::Second), || self.gates());
        lock::await_turn(&self.object, op, gates, || self.gates()[1], WRITTEN);
    }

    /// Locks for reading if there is no writer.
    ///
    /// # Errors
    ///
    /// If there is one, or a thread panicked while it held the lock for writing.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        self.object.pause(Kind::TryReadLock, Gate::Free, || self.gates());
        let place = Location::caller();
        lock::tried(&self.object, false, self.inner.try_read(), |guard| self.read_guard(guard, place))
    }

    /// Locks for writing if there are no readers and no writer.
    ///
    /// # Errors
    ///
    /// If there are some, or a thread panicked while it held the lock for writing.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        self.object.pause(Kind::TryLock, Gate::Free, || self.gates());
        let place = Location::caller();
        lock::tried(&self.object, true, self.inner.try_write(), |guard| self.write_guard(guard, place))
    }

    /// Returns true if a thread panicked while it held the lock for writing.
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

    /// The value of a lock that is exclusively borrowed.
    ///
    /// # Errors
    ///
    /// If a thread panicked while it held the lock for writing.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.inner.get_mut()
    }

    /// The gates, determined from the lock of std, which counts the readers.
    fn gates(&self) -> [bool; 2] {
        let is_readable = lock::is_free(&self.inner.try_read());
        let is_writable = lock::is_free(&self.inner.try_write());
        [is_readable, is_writable]
    }

    fn read_guard<'a>(
        &'a self,
        inner: std::sync::RwLockReadGuard<'a, T>,
        place: &'static Location<'static>,
    ) -> RwLockReadGuard<'a, T> {
        lock::hold(&self.object, READ);
        RwLockReadGuard { inner: Some(inner), lock: self, place }
    }

    fn write_guard<'a>(
        &'a self,
        inner: std::sync::RwLockWriteGuard<'a, T>,
        place: &'static Location<'static>,
    ) -> RwLockWriteGuard<'a, T> {
        lock::hold(&self.object, WRITTEN);
        RwLockWriteGuard { inner: Some(inner), lock: self, is_changed: false, place }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Converts the lock to one for reading, and admits other readers.
    #[track_caller]
    pub fn downgrade(mut this: RwLockWriteGuard<'a, T>) -> RwLockReadGuard<'a, T> {
        let (lock, place) = (this.lock, Location::caller());
        lock.object.pause(Kind::Unlock, Gate::Free, || WRITTEN);
        let inner = this.inner.take().expect("the value is present until the guard is dropped");
        lock.read_guard(std::sync::RwLockWriteGuard::downgrade(inner), place)
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if runtime::is_active() {
            self.drop_active();
        }
    }
}

impl<T: ?Sized> RwLockReadGuard<'_, T> {
    #[cold]
    fn drop_active(&mut self) {
        self.lock.object.pause_at(Kind::ReadUnlock, self.place, || READ);
        self.inner = None;
        self.lock.object.set_gates(self.lock.gates());
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if runtime::is_active() && self.inner.is_some() {
            self.drop_active();
        }
    }
}

impl<T: ?Sized> RwLockWriteGuard<'_, T> {
    #[cold]
    fn drop_active(&mut self) {
        if self.lock.object.pause_at(Kind::Unlock, self.place, || WRITTEN) && !self.is_changed {
            self.lock.object.keep();
        }
        self.inner = None;
        self.lock.object.set_gates([true, true]);
    }
}

lock::as_guarded!(RwLockReadGuard);
lock::as_guarded!(mut RwLockWriteGuard);
lock::as_value!(RwLock);
