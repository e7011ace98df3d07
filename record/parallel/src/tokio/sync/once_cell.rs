//! A value that one task creates, and for which others wait.

use super::semaphore::{Semaphore, TryAcquireError};
use crate::object::Object;
use crate::op::Kind;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::OnceLock;

/// The equivalent of `tokio::sync::OnceCell`.
pub struct OnceCell<T> {
    object: Object,
    value: OnceLock<T>,
    /// The permit to create the value. The semaphore is closed when the value exists.
    turn: Semaphore,
}

/// The equivalent of `tokio::sync::SetError`.
#[derive(Debug, PartialEq, Eq)]
pub enum SetError<T> {
    /// The cell already has a value.
    AlreadyInitializedError(T),
    /// A task is creating a value.
    InitializingError(T),
}

impl<T> SetError<T> {
    /// Returns true if there was a value already.
    pub fn is_already_init_err(&self) -> bool {
        matches!(self, SetError::AlreadyInitializedError(_))
    }

    /// Returns true if a task was creating a value.
    pub fn is_initializing_err(&self) -> bool {
        matches!(self, SetError::InitializingError(_))
    }
}

impl<T> fmt::Display for SetError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SetError::AlreadyInitializedError(_) => "AlreadyInitializedError",
            SetError::InitializingError(_) => "InitializingError",
        })
    }
}

impl<T: fmt::Debug> std::error::Error for SetError<T> {}

impl<T> OnceCell<T> {
    /// Creates a cell without a value.
    #[track_caller]
    pub const fn new() -> OnceCell<T> {
        let object = Object::new("OnceCell", Location::caller());
        OnceCell { object, value: OnceLock::new(), turn: Semaphore::new(1) }
    }

    /// The same as [`OnceCell::new`].
    #[track_caller]
    pub const fn const_new() -> OnceCell<T> {
        OnceCell::new()
    }

    /// Creates a cell, with a value if one is given.
    #[track_caller]
    pub fn new_with(value: Option<T>) -> OnceCell<T> {
        let mut cell = OnceCell::new();
        if let Some(value) = value {
            cell.value = OnceLock::from(value);
        }
        cell
    }

    /// Returns true if there is a value.
    #[track_caller]
    pub fn initialized(&self) -> bool {
        self.get().is_some()
    }

    /// The value, if there is one.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.get_at(Location::caller())
    }

    fn get_at(&self, place: &'static Location<'static>) -> Option<&T> {
        self.object.pause_at(Kind::Load, place, || [true; 2]);
        self.object.acquire(false);
        self.value.get()
    }

    /// The value, if there is one.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut()
    }

    /// Sets the value.
    ///
    /// # Errors
    ///
    /// If there is one, or a task is creating one.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        let place = Location::caller();
        if self.get_at(place).is_some() {
            return Err(SetError::AlreadyInitializedError(value));
        }
        match self.turn.try_acquire() {
            Ok(permit) => {
                self.put(value, place);
                permit.forget();
                Ok(())
            }
            Err(TryAcquireError::NoPermits) => Err(SetError::InitializingError(value)),
            Err(TryAcquireError::Closed) => Err(SetError::AlreadyInitializedError(value)),
        }
    }

    /// Stores the value. Only the task with the permit to create it may call this.
    fn put(&self, value: T, place: &'static Location<'static>) {
        self.object.pause_at(Kind::Store, place, || [true; 2]);
        self.object.release();
        let is_first = self.value.set(value).is_ok();
        debug_assert!(is_first, "only one task has the permit");
        self.turn.close();
    }

    /// The value; creates it if there is none. If the task that creates it is cancelled, the next waiting one creates
    /// it.
    #[track_caller]
    pub fn get_or_init<F, Fut>(&self, make: F) -> impl Future<Output = &T>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = T>,
    {
        let place = Location::caller();
        async move {
            let made = self.make_at(|| async { Ok::<T, Infallible>(make().await) }, place).await;
            made.unwrap_or_else(|never| match never {})
        }
    }

    /// The value; creates it if there is none.
    ///
    /// # Errors
    ///
    /// The error of `make`; there is then no value, and the next waiting task creates it.
    #[track_caller]
    pub fn get_or_try_init<E, F, Fut>(&self, make: F) -> impl Future<Output = Result<&T, E>>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        self.make_at(make, Location::caller())
    }

    async fn make_at<E, F, Fut>(&self, make: F, place: &'static Location<'static>) -> Result<&T, E>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        if let Some(value) = self.get_at(place) {
            return Ok(value);
        }
        if let Ok(permit) = self.turn.acquire().await {
            let value = make().await?;
            self.put(value, place);
            permit.forget();
        }
        Ok(self.get_at(place).expect("the value exists once the semaphore is closed"))
    }

    /// The value, if there is one.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// Takes the value away, if there is one.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }
}

impl<T> Default for OnceCell<T> {
    #[track_caller]
    fn default() -> OnceCell<T> {
        OnceCell::new()
    }
}

impl<T> From<T> for OnceCell<T> {
    #[track_caller]
    fn from(value: T) -> OnceCell<T> {
        OnceCell::new_with(Some(value))
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceCell").field("value", &self.value.get()).finish_non_exhaustive()
    }
}
