//! What is done once. The first gate is open unless someone is at it.

use crate::object::Object;
use crate::op::{Gate, Kind};
use crate::runtime;
use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// As [`std::sync::Once`].
pub struct Once {
    object: Object,
    inner: std::sync::Once,
    busy: AtomicBool,
}

/// Closes the gate while someone is at it. It opens in the step in which it is done, or in which a panic ends it.
struct Busy<'a> {
    object: &'a Object,
    /// Stays set if a failed execution cuts the thread off: nobody else may then come to std's, which would wait for
    /// ever.
    busy: &'a AtomicBool,
}

impl<'a> Busy<'a> {
    fn new(object: &'a Object, busy: &'a AtomicBool) -> Busy<'a> {
        busy.store(true, Relaxed);
        object.set_gates([false, true]);
        runtime::with(|execution| {
            let id = execution.id_of(object, || [false, true]);
            execution.hold(id);
        });
        Busy { object, busy }
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.busy.store(false, Relaxed);
        self.object.touch_too(|| [true; 2]);
        self.object.set_gates([true, true]);
    }
}

/// Does what is to be done once, and comes to a pause point before others see that it is done: they may see the last of
/// what it did earlier.
fn make<T>(object: &Object, place: &'static Location<'static>, f: impl FnOnce() -> T) -> T {
    let value = f();
    object.pause_at(Kind::OnceEnd, place, || [false, true]);
    value
}

impl Once {
    /// Nothing was done yet.
    #[track_caller]
    pub const fn new() -> Once {
        let object = Object::new("Once", Location::caller());
        Once { object, inner: std::sync::Once::new(), busy: AtomicBool::new(false) }
    }

    /// Does it, unless it was done; waits while someone else is at it.
    #[track_caller]
    pub fn call_once(&self, f: impl FnOnce()) {
        if self.object.pause(Kind::Once, Gate::First, || self.gates()) && !self.inner.is_completed() {
            let place = Location::caller();
            let _busy = Busy::new(&self.object, &self.busy);
            self.inner.call_once(|| make(&self.object, place, f));
        } else {
            runtime::look();
            self.inner.call_once(f);
        }
    }

    /// Whether it was done.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.object.pause(Kind::Load, Gate::Free, || self.gates());
        self.inner.is_completed()
    }

    fn gates(&self) -> [bool; 2] {
        [!self.busy.load(Relaxed), true]
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
    busy: AtomicBool,
}

impl<T> OnceLock<T> {
    /// Without a value.
    #[track_caller]
    pub const fn new() -> OnceLock<T> {
        let object = Object::new("OnceLock", Location::caller());
        OnceLock { object, inner: std::sync::OnceLock::new(), busy: AtomicBool::new(false) }
    }

    /// The value, if there is one.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.object.pause(Kind::Load, Gate::Free, || self.gates());
        self.inner.get()
    }

    /// Sets the value, unless there is one; waits while someone else is at it.
    ///
    /// # Errors
    ///
    /// The new value, if there is one already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        self.object.pause(Kind::Once, Gate::First, || self.gates());
        self.inner.set(value).inspect(|()| self.object.release()).inspect_err(|_| runtime::look())
    }

    /// The value; it is made by `f` if there is none. Waits while someone else is at it.
    #[track_caller]
    pub fn get_or_init(&self, f: impl FnOnce() -> T) -> &T {
        if self.object.pause(Kind::Once, Gate::First, || self.gates()) && self.inner.get().is_none() {
            let place = Location::caller();
            let _busy = Busy::new(&self.object, &self.busy);
            self.inner.get_or_init(|| make(&self.object, place, f))
        } else {
            runtime::look();
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

    fn gates(&self) -> [bool; 2] {
        [!self.busy.load(Relaxed), true]
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
