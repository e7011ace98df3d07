//! What is done once. The first gate is open unless somebody is at it.

use crate::object::Object;
use crate::op::{Gate, Kind};
use crate::runtime;
use std::fmt;
use std::panic::Location;

/// As [`std::sync::Once`].
pub struct Once {
    object: Object,
    inner: std::sync::Once,
}

/// Closes the gate while somebody is at it.
struct Busy<'a>(&'a Object);

impl<'a> Busy<'a> {
    fn new(object: &'a Object) -> Busy<'a> {
        object.set_gates([false, true]);
        runtime::with(|execution| {
            let id = execution.id_of(object, || [false, true]);
            execution.hold(id);
        });
        Busy(object)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.set_gates([true, true]);
    }
}

impl Once {
    /// Nothing was done yet.
    #[track_caller]
    pub const fn new() -> Once {
        Once { object: Object::new("Once", Location::caller()), inner: std::sync::Once::new() }
    }

    /// Does it, unless it was done; waits while somebody else is at it.
    #[track_caller]
    pub fn call_once(&self, f: impl FnOnce()) {
        if self.object.pause(Kind::Once, Gate::First, || [true, true]) && !self.inner.is_completed() {
            let _busy = Busy::new(&self.object);
            self.inner.call_once(f);
        } else {
            self.inner.call_once(f);
        }
    }

    /// Whether it was done.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.object.touch(Kind::Load);
        self.inner.is_completed()
    }
}

impl Default for Once {
    #[track_caller]
    fn default() -> Once {
        Once::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// As [`std::sync::OnceLock`].
pub struct OnceLock<T> {
    object: Object,
    inner: std::sync::OnceLock<T>,
}

impl<T> OnceLock<T> {
    /// Without a value.
    #[track_caller]
    pub const fn new() -> OnceLock<T> {
        OnceLock { object: Object::new("OnceLock", Location::caller()), inner: std::sync::OnceLock::new() }
    }

    /// The value, if there is one.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.object.touch(Kind::Load);
        self.inner.get()
    }

    /// Sets the value, unless there is one; waits while somebody else is at it.
    ///
    /// # Errors
    ///
    /// The new value, if there is one already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        self.object.pause(Kind::Once, Gate::First, || [true, true]);
        self.inner.set(value)
    }

    /// The value; it is made by `f` if there is none. Waits while somebody else is at it.
    #[track_caller]
    pub fn get_or_init(&self, f: impl FnOnce() -> T) -> &T {
        if self.object.pause(Kind::Once, Gate::First, || [true, true]) && self.inner.get().is_none() {
            let _busy = Busy::new(&self.object);
            self.inner.get_or_init(f)
        } else {
            self.inner.get_or_init(f)
        }
    }

    /// The value of a cell that nobody else has.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.inner.get_mut()
    }

    /// The value of a cell that is given away.
    pub fn into_inner(self) -> Option<T> {
        self.inner.into_inner()
    }

    /// Takes the value out of a cell that nobody else has.
    pub fn take(&mut self) -> Option<T> {
        self.inner.take()
    }
}

impl<T> Default for OnceLock<T> {
    #[track_caller]
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
