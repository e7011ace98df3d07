//! A reader-writer lock that serves tasks in the order of their requests: a waiting writer delays later readers.

use super::batch::{Batch, NoPermit};
use super::mutex::TryLockError;
use std::fmt;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{Arc, PoisonError};

/// The maximum number of concurrent readers, as in tokio.
const READERS_MAX: usize = 536_870_911;

/// The equivalent of `tokio::sync::RwLock`.
pub struct RwLock<T> {
    permits: Batch,
    readers_max: usize,
    value: std::sync::Mutex<Slot<T>>,
}

/// The location of the value.
enum Slot<T> {
    /// The lock was never acquired.
    Fresh(T),
    /// The value is in the lock; guards of readers may share it.
    Shared(Arc<T>),
    /// The guard of a writer contains the value.
    Taken,
}

impl<T> Slot<T> {
    fn take(&mut self) -> Arc<T> {
        match std::mem::replace(self, Slot::Taken) {
            Slot::Fresh(value) => Arc::new(value),
            Slot::Shared(value) => value,
            Slot::Taken => unreachable!("a writer holds the lock exclusively"),
        }
    }

    fn share(&mut self) -> Arc<T> {
        let value = self.take();
        *self = Slot::Shared(Arc::clone(&value));
        value
    }
}

/// The guard of an acquired lock.
struct Held<T, L: Deref<Target = RwLock<T>>> {
    /// `None` only while the guard is dropped.
    value: Option<Arc<T>>,
    lock: Option<L>,
    /// The number of permits that the guard holds: one, or all.
    permits: usize,
    place: &'static Location<'static>,
}

impl<T, L: Deref<Target = RwLock<T>>> Held<T, L> {
    fn new(lock: L, permits: usize, is_writer: bool, place: &'static Location<'static>) -> Held<T, L> {
        let value = {
            let mut slot = lock.slot();
            if is_writer { slot.take() } else { slot.share() }
        };
        Held { value: Some(value), lock: Some(lock), permits, place }
    }

    fn get(&self) -> &T {
        self.value.as_ref().expect("the value is present until the guard is dropped")
    }

    fn get_mut(&mut self) -> &mut T {
        let value = self.value.as_mut().and_then(Arc::get_mut);
        value.expect("a writer holds the value exclusively")
    }

    /// Turns the guard of a writer into that of a reader.
    fn downgrade(mut self) -> Held<T, L> {
        let lock = self.lock.take().expect("the value is present until the guard is dropped");
        let value = self.value.take().expect("the value is present until the guard is dropped");
        *lock.slot() = Slot::Shared(Arc::clone(&value));
        lock.permits.release(self.permits - 1, self.place);
        Held { value: Some(value), lock: Some(lock), permits: 1, place: self.place }
    }
}

impl<T, L: Deref<Target = RwLock<T>>> Drop for Held<T, L> {
    fn drop(&mut self) {
        let Some(lock) = self.lock.take() else { return };
        let Some(value) = self.value.take() else { return };
        let mut slot = lock.slot();
        if matches!(*slot, Slot::Taken) {
            *slot = Slot::Shared(value);
        } else {
            // The next writer needs the only pointer to the value.
            drop(value);
        }
        drop(slot);
        lock.permits.release(self.permits, self.place);
    }
}

/// The equivalent of `tokio::sync::RwLockReadGuard`.
#[must_use = "the lock is released at once if nobody holds this"]
pub struct RwLockReadGuard<'a, T>(Held<T, &'a RwLock<T>>);

/// The equivalent of `tokio::sync::RwLockWriteGuard`.
#[must_use = "the lock is released at once if nobody holds this"]
pub struct RwLockWriteGuard<'a, T>(Held<T, &'a RwLock<T>>);

/// The equivalent of `tokio::sync::OwnedRwLockReadGuard`.
#[must_use = "the lock is released at once if nobody holds this"]
pub struct OwnedRwLockReadGuard<T>(Held<T, Arc<RwLock<T>>>);

/// The equivalent of `tokio::sync::OwnedRwLockWriteGuard`.
#[must_use = "the lock is released at once if nobody holds this"]
pub struct OwnedRwLockWriteGuard<T>(Held<T, Arc<RwLock<T>>>);

impl<T> RwLock<T> {
    /// Creates a free lock with this value.
    #[track_caller]
    pub const fn new(value: T) -> RwLock<T> {
        let permits = Batch::lock(READERS_MAX, "RwLock", Location::caller());
        RwLock { permits, readers_max: READERS_MAX, value: std::sync::Mutex::new(Slot::Fresh(value)) }
    }

    /// The same as [`RwLock::new`].
    #[track_caller]
    pub const fn const_new(value: T) -> RwLock<T> {
        RwLock::new(value)
    }

    /// Creates a lock with this maximum number of readers.
    ///
    /// # Panics
    ///
    /// If they are more than `u32::MAX >> 3`.
    #[track_caller]
    pub fn with_max_readers(value: T, readers_max: u32) -> RwLock<T> {
        let readers_max = crate::ids::index(readers_max);
        assert!(readers_max <= READERS_MAX, "a RwLock may not be created with more than {READERS_MAX} readers");
        let permits = Batch::lock(readers_max, "RwLock", Location::caller());
        RwLock { permits, readers_max, value: std::sync::Mutex::new(Slot::Fresh(value)) }
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Slot<T>> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn take(&self, permits: usize, place: &'static Location<'static>) {
        self.permits.acquire(permits, place).await.expect("the semaphore is never closed");
    }

    fn try_take(&self, permits: usize, place: &'static Location<'static>) -> Result<(), TryLockError> {
        let taken = self.permits.try_acquire(permits, place);
        taken.map_err(|_: NoPermit| TryLockError::new())
    }

    /// Waits until there is no writer, and locks for reading.
    #[track_caller]
    pub fn read(&self) -> impl Future<Output = RwLockReadGuard<'_, T>> {
        let place = Location::caller();
        async move {
            self.take(1, place).await;
            RwLockReadGuard(Held::new(self, 1, false, place))
        }
    }

    /// Waits until there are no readers and no writer, and locks for writing.
    #[track_caller]
    pub fn write(&self) -> impl Future<Output = RwLockWriteGuard<'_, T>> {
        let place = Location::caller();
        async move {
            self.take(self.readers_max, place).await;
            RwLockWriteGuard(Held::new(self, self.readers_max, true, place))
        }
    }

    /// The same as [`RwLock::read`], with a guard that keeps the lock alive.
    #[track_caller]
    pub fn read_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockReadGuard<T>> {
        let place = Location::caller();
        async move {
            self.take(1, place).await;
            OwnedRwLockReadGuard(Held::new(self, 1, false, place))
        }
    }

    /// The same as [`RwLock::write`], with a guard that keeps the lock alive.
    #[track_caller]
    pub fn write_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockWriteGuard<T>> {
        let place = Location::caller();
        async move {
            let all = self.readers_max;
            self.take(all, place).await;
            OwnedRwLockWriteGuard(Held::new(self, all, true, place))
        }
    }

    /// Locks for reading if there is no writer and none waits.
    ///
    /// # Errors
    ///
    /// If another task holds the lock, or waits for it.
    #[track_caller]
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        let place = Location::caller();
        self.try_take(1, place)?;
        Ok(RwLockReadGuard(Held::new(self, 1, false, place)))
    }

    /// Locks for writing if there are no readers and no writer.
    ///
    /// # Errors
    ///
    /// If another task holds the lock, or waits for it.
    #[track_caller]
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        let place = Location::caller();
        self.try_take(self.readers_max, place)?;
        Ok(RwLockWriteGuard(Held::new(self, self.readers_max, true, place)))
    }

    /// The value of a lock that is exclusively borrowed.
    ///
    /// # Panics
    ///
    /// If a guard was leaked.
    pub fn get_mut(&mut self) -> &mut T {
        match self.value.get_mut().unwrap_or_else(PoisonError::into_inner) {
            Slot::Fresh(value) => value,
            Slot::Shared(value) => Arc::get_mut(value).expect("a guard of this lock was leaked"),
            Slot::Taken => panic!("a guard of this lock was leaked"),
        }
    }

    /// The value of a lock that is consumed.
    ///
    /// # Panics
    ///
    /// If a guard was leaked.
    pub fn into_inner(self) -> T {
        let value = self.value.into_inner().unwrap_or_else(PoisonError::into_inner).take();
        Arc::into_inner(value).expect("a guard of this lock was leaked")
    }
}

impl<'a, T> RwLockWriteGuard<'a, T> {
    /// Converts the lock to one for reading, and admits other readers.
    pub fn downgrade(self) -> RwLockReadGuard<'a, T> {
        RwLockReadGuard(self.0.downgrade())
    }
}

impl<T> OwnedRwLockWriteGuard<T> {
    /// Converts the lock to one for reading, and admits other readers.
    pub fn downgrade(self) -> OwnedRwLockReadGuard<T> {
        OwnedRwLockReadGuard(self.0.downgrade())
    }
}

macro_rules! guard {
    ($guard:ty) => {
        impl<T> Deref for $guard {
            type Target = T;

            fn deref(&self) -> &T {
                self.0.get()
            }
        }

        impl<T: fmt::Debug> fmt::Debug for $guard {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: fmt::Display> fmt::Display for $guard {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
    (mut $guard:ty) => {
        guard!($guard);

        impl<T> DerefMut for $guard {
            fn deref_mut(&mut self) -> &mut T {
                self.0.get_mut()
            }
        }
    };
}

guard!(RwLockReadGuard<'_, T>);
guard!(mut RwLockWriteGuard<'_, T>);
guard!(OwnedRwLockReadGuard<T>);
guard!(mut OwnedRwLockWriteGuard<T>);

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> RwLock<T> {
        RwLock::new(value)
    }
}

impl<T: fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match &*self.slot() {
            Slot::Fresh(value) => shown.field("data", value),
            Slot::Shared(value) => shown.field("data", value),
            Slot::Taken => shown.field("data", &format_args!("<locked>")),
        };
        shown.finish()
    }
}
