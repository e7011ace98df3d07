//! The reason why a task has no result.

use super::Id;
use std::any::Any;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The equivalent of `tokio::task::JoinError`.
pub struct JoinError {
    id: Id,
    /// The panic payload; `None` if the task was cancelled. The mutex makes the error `Sync` even if the payload is
    /// not.
    payload: Option<Mutex<Box<dyn Any + Send>>>,
}

impl JoinError {
    pub(super) fn cancelled(id: Id) -> JoinError {
        JoinError { id, payload: None }
    }

    pub(super) fn panicked(id: Id, payload: Box<dyn Any + Send>) -> JoinError {
        JoinError { id, payload: Some(Mutex::new(payload)) }
    }

    /// Returns true if the task was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.payload.is_none()
    }

    /// Returns true if the task panicked.
    pub fn is_panic(&self) -> bool {
        self.payload.is_some()
    }

    /// The panic payload of the task.
    ///
    /// # Panics
    ///
    /// If it was cancelled.
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        self.try_into_panic().expect("the task has panicked")
    }

    /// The panic payload of the task.
    ///
    /// # Errors
    ///
    /// The same error, if it was cancelled.
    pub fn try_into_panic(mut self) -> Result<Box<dyn Any + Send>, JoinError> {
        match self.payload.take() {
            Some(payload) => Ok(payload.into_inner().unwrap_or_else(PoisonError::into_inner)),
            None => Err(self),
        }
    }

    /// The id of the task.
    pub fn id(&self) -> Id {
        self.id
    }

    fn message(&self) -> Option<String> {
        let payload = self.payload.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        Some(crate::runtime::describe(&**payload))
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message() {
            None => write!(f, "task {} was cancelled", self.id),
            Some(message) => write!(f, "task {} panicked with message {message:?}", self.id),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message() {
            None => write!(f, "JoinError::Cancelled({:?})", self.id),
            Some(message) => write!(f, "JoinError::Panic({:?}, {message:?}, ...)", self.id),
        }
    }
}

impl std::error::Error for JoinError {}

impl From<JoinError> for std::io::Error {
    fn from(error: JoinError) -> std::io::Error {
        std::io::Error::other(error.to_string())
    }
}
