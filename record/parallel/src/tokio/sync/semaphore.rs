//! A semaphore that serves tasks in the order of their requests.

use super::batch::{Batch, NoPermit};
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

/// The equivalent of `tokio::sync::Semaphore`.
#[derive(Debug)]
pub struct Semaphore {
    permits: Batch,
}

/// The equivalent of `tokio::sync::AcquireError`: the semaphore is closed.
#[derive(Debug)]
pub struct AcquireError(());

/// The equivalent of `tokio::sync::TryAcquireError`.
#[derive(Debug, PartialEq, Eq)]
pub enum TryAcquireError {
    /// The semaphore is closed.
    Closed,
    /// There are too few permits.
    NoPermits,
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("semaphore closed")
    }
}

impl std::error::Error for AcquireError {}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryAcquireError::Closed => "semaphore closed",
            TryAcquireError::NoPermits => "no permits available",
        })
    }
}

impl std::error::Error for TryAcquireError {}

impl From<NoPermit> for TryAcquireError {
    fn from(why: NoPermit) -> TryAcquireError {
        match why {
            NoPermit::Closed => TryAcquireError::Closed,
            NoPermit::TooFew => TryAcquireError::NoPermits,
        }
    }
}

/// The equivalent of `tokio::sync::SemaphorePermit`.
#[must_use = "the permits are released at once if nobody holds this"]
#[derive(Debug)]
pub struct SemaphorePermit<'a> {
    semaphore: &'a Semaphore,
    permits: u32,
    place: &'static Location<'static>,
}

/// The equivalent of `tokio::sync::OwnedSemaphorePermit`.
#[must_use = "the permits are released at once if nobody holds this"]
#[derive(Debug)]
pub struct OwnedSemaphorePermit {
    semaphore: Arc<Semaphore>,
    permits: u32,
    place: &'static Location<'static>,
}

impl Semaphore {
    /// The maximum number of permits of one semaphore.
    pub const MAX_PERMITS: usize = usize::MAX >> 3;

    /// Creates a semaphore with this number of permits.
    ///
    /// # Panics
    ///
    /// If they are more than [`Semaphore::MAX_PERMITS`].
    #[track_caller]
    pub const fn new(permits: usize) -> Semaphore {
        assert!(permits <= Semaphore::MAX_PERMITS, "a semaphore may not have more than MAX_PERMITS permits");
        Semaphore { permits: Batch::new(permits, "Semaphore", Location::caller()) }
    }

    /// The same as [`Semaphore::new`].
    #[track_caller]
    pub const fn const_new(permits: usize) -> Semaphore {
        Semaphore::new(permits)
    }

    /// The number of available permits.
    #[track_caller]
    pub fn available_permits(&self) -> usize {
        self.permits.available(Location::caller())
    }

    /// Adds permits.
    #[track_caller]
    pub fn add_permits(&self, permits: usize) {
        self.permits.release(permits, Location::caller());
    }

    /// Removes this number of permits permanently, or all that are available. Returns the number removed.
    #[track_caller]
    pub fn forget_permits(&self, permits: usize) -> usize {
        self.permits.forget(permits, Location::caller())
    }

    /// Waits for a permit.
    ///
    /// # Errors
    ///
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        self.acquire_many(1)
    }

    /// Waits for this number of permits.
    ///
    /// # Errors
    ///
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire_many(&self, permits: u32) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        let place = Location::caller();
        async move {
            self.permits.acquire(count(permits), place).await.map_err(|_| AcquireError(()))?;
            Ok(SemaphorePermit { semaphore: self, permits, place })
        }
    }

    /// Takes a permit if there is one.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[track_caller]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// Takes this number of permits if they are available.
    ///
    /// # Errors
    ///
    /// If there are fewer.
    #[track_caller]
    pub fn try_acquire_many(&self, permits: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        let place = Location::caller();
        self.permits.try_acquire(count(permits), place)?;
        Ok(SemaphorePermit { semaphore: self, permits, place })
    }

    /// Waits for a permit that keeps the semaphore alive.
    ///
    /// # Errors
    ///
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire_owned(self: Arc<Self>) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_many_owned(1)
    }

    /// Waits for this number of permits that keep the semaphore alive.
    ///
    /// # Errors
    ///
    /// If the semaphore is closed.
    #[track_caller]
    pub fn acquire_many_owned(
        self: Arc<Self>,
        permits: u32,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        let place = Location::caller();
        async move {
            self.permits.acquire(count(permits), place).await.map_err(|_| AcquireError(()))?;
            Ok(OwnedSemaphorePermit { semaphore: self, permits, place })
        }
    }

    /// Takes a permit that keeps the semaphore alive, if there is one.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[track_caller]
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// Takes this number of permits that keep the semaphore alive, if they are available.
    ///
    /// # Errors
    ///
    /// If there are fewer.
    #[track_caller]
    pub fn try_acquire_many_owned(self: Arc<Self>, permits: u32) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        let place = Location::caller();
        self.permits.try_acquire(count(permits), place)?;
        Ok(OwnedSemaphorePermit { semaphore: self, permits, place })
    }

    /// Closes the semaphore: no permit can be acquired any more, and all waits for permits end.
    #[track_caller]
    pub fn close(&self) {
        self.permits.close(Location::caller());
    }

    /// Returns true if the semaphore was closed.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.permits.is_closed(Location::caller())
    }
}

fn count(permits: u32) -> usize {
    crate::ids::index(permits)
}

impl OwnedSemaphorePermit {
    /// The semaphore.
    pub fn semaphore(&self) -> &Arc<Semaphore> {
        &self.semaphore
    }
}

macro_rules! permit {
    ([$($life:tt)*] $permit:ident) => {
        impl $permit $($life)* {
            /// Removes the permits permanently.
            pub fn forget(mut self) {
                self.permits = 0;
            }

            /// The number of permits.
            pub fn num_permits(&self) -> usize {
                count(self.permits)
            }

            /// Takes over the permits of another one.
            ///
            /// # Panics
            ///
            /// If they are of another semaphore.
            #[track_caller]
            pub fn merge(&mut self, mut other: Self) {
                let is_same = std::ptr::eq::<Semaphore>(&*self.semaphore, &*other.semaphore);
                assert!(is_same, "merging permits from different semaphore instances");
                self.permits += std::mem::take(&mut other.permits);
            }

            /// Splits off this number of permits, if it has as many.
            pub fn split(&mut self, permits: usize) -> Option<Self> {
                let permits = u32::try_from(permits).ok()?;
                self.permits = self.permits.checked_sub(permits)?;
                Some($permit { semaphore: self.semaphore.clone(), permits, place: self.place })
            }
        }

        impl Drop for $permit $($life)* {
            fn drop(&mut self) {
                self.semaphore.permits.release(count(self.permits), self.place);
            }
        }
    };
}

permit!([<'_>] SemaphorePermit);
permit!([] OwnedSemaphorePermit);
