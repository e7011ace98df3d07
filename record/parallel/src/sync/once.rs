//! One-time initialization. The first gate is open unless a thread runs the initialization; the second, when it is
//! complete.

use crate::object::Object;
use crate::op::{Gate, Kind};
use crate::runtime;
use std::fmt;
use std::panic::Location;
use std::sync::OnceState;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The equivalent of [`std::sync::Once`].
pub struct Once {
    object: Object,
    inner: std::sync::Once,
    busy: AtomicBool,
}

/// Closes the first gate while a thread runs the initialization. It opens in the step in which the initialization
/// completes, or in which a panic ends it.
struct Busy<'a, F: Fn() -> bool> {
    object: &'a Object,
    /// Remains set if a failed execution cuts the thread off. Other threads must then not access the initialization of
    /// std, because they would wait forever.
    flag: &'a AtomicBool,
    is_done: F,
}

impl<'a, F: Fn() -> bool> Busy<'a, F> {
    fn new(object: &'a Object, flag: &'a AtomicBool, is_done: F) -> Busy<'a, F> {
        flag.store(true, Relaxed);
        object.set_gates([false, is_done()]);
        runtime::with(|execution| {
            let id = execution.id_of(object, &|| [false, is_done()]);
            execution.hold(id);
        });
        Busy { object, flag, is_done }
    }
}

impl<F: Fn() -> bool> Drop for Busy<'_, F> {
    fn drop(&mut self) {
        self.flag.store(false, Relaxed);
        let is_done = (self.is_done)();
        self.object.touch_too(|| [true, is_done]);
        self.object.set_gates([true, is_done]);
    }
}

/// Runs the initialization, and pauses before other threads can observe that it is complete; they may observe its last
/// effects earlier.
fn make<T>(object: &Object, place: &'static Location<'static>, f: impl FnOnce() -> T) -> T {
    let value = f();
    object.pause_at(Kind::OnceEnd, place, || [false, true]);
    value
}

impl Once {
    /// Creates an initialization that has not run.
    #[track_caller]
    pub const fn new() -> Once {
        let object = Object::new("Once", Location::caller());
        Once { object, inner: std::sync::Once::new(), busy: AtomicBool::new(false) }
    }

    /// Runs the initialization, unless it is complete; waits while another thread runs it.
    #[track_caller]
    #[inline]
    pub fn call_once(&self, f: impl FnOnce()) {
        if !runtime::is_active() {
            return self.inner.call_once(f);
        }
        if self.object.pause(Kind::Once, Gate::First, || self.gates()) && !self.inner.is_completed() {
            let place = Location::caller();
            let _busy = Busy::new(&self.object, &self.busy, || self.inner.is_completed());
            self.inner.call_once(|| make(&self.object, place, f));
        } else {
            runtime::look();
            self.inner.call_once(f);
        }
    }

    /// The same, also if a panic ended an earlier attempt.
    #[track_caller]
    pub fn call_once_force(&self, f: impl FnOnce(&OnceState)) {
        if self.object.pause(Kind::Once, Gate::First, || self.gates()) && !self.inner.is_completed() {
            let place = Location::caller();
            let _busy = Busy::new(&self.object, &self.busy, || self.inner.is_completed());
            self.inner.call_once_force(|state| make(&self.object, place, || f(state)));
        } else {
            runtime::look();
            self.inner.call_once_force(f);
        }
    }

    /// Waits until the initialization is complete.
    ///
    /// # Panics
    ///
    /// If a panic ended the initialization.
    #[track_caller]
    pub fn wait(&self) {
        if self.object.pause(Kind::Await, Gate::Second, || self.gates()) {
            self.object.acquire(false);
        } else {
            let what = || format!("a destructor waits for {self:?} while its thread panics");
            runtime::assert_can_wait(!runtime::is_active(), what);
            self.inner.wait();
        }
    }

    /// Waits until the initialization is complete, also if a panic ended an earlier attempt.
    #[track_caller]
    pub fn wait_force(&self) {
        if self.object.pause(Kind::Await, Gate::Second, || self.gates()) {
            self.object.acquire(false);
        } else {
            let what = || format!("a destructor waits for {self:?} while its thread panics");
            runtime::assert_can_wait(!runtime::is_active(), what);
            self.inner.wait_force();
        }
    }

    /// Returns true if the initialization is complete.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.object.pause(Kind::Load, Gate::Free, || self.gates());
        let is_completed = self.inner.is_completed();
        if is_completed {
            self.object.acquire(false);
        }
        is_completed
    }

    fn gates(&self) -> [bool; 2] {
        [!self.busy.load(Relaxed), self.inner.is_completed()]
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

/// The equivalent of [`std::sync::OnceLock`].
pub struct OnceLock<T> {
    object: Object,
    inner: std::sync::OnceLock<T>,
    busy: AtomicBool,
}

impl<T> OnceLock<T> {
    /// Creates a cell without a value.
    #[track_caller]
    pub const fn new() -> OnceLock<T> {
        let object = Object::new("OnceLock", Location::caller());
        OnceLock { object, inner: std::sync::OnceLock::new(), busy: AtomicBool::new(false) }
    }

    /// The value, if there is one.
    #[track_caller]
    #[inline]
    pub fn get(&self) -> Option<&T> {
        if !runtime::is_active() {
            return self.inner.get();
        }
        self.object.pause(Kind::Load, Gate::Free, || self.gates());
        self.inner.get().inspect(|_| self.object.acquire(false))
    }

    /// Sets the value, unless there is one; waits while another thread sets it.
    ///
    /// # Errors
    ///
    /// The new value, if there already is one.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        self.object.pause(Kind::Once, Gate::First, || self.gates());
        let result = self.inner.set(value);
        match result {
            Ok(()) => {
                self.object.release();
                self.object.set_gates([true; 2]);
            }
            Err(_) => runtime::look(),
        }
        result
    }

    /// The value; `f` creates it if there is none. Waits while another thread creates it.
    #[track_caller]
    #[inline]
    pub fn get_or_init(&self, f: impl FnOnce() -> T) -> &T {
        if !runtime::is_active() {
            return self.inner.get_or_init(f);
        }
        if self.object.pause(Kind::Once, Gate::First, || self.gates()) && self.inner.get().is_none() {
            let place = Location::caller();
            let _busy = Busy::new(&self.object, &self.busy, || self.inner.get().is_some());
            self.inner.get_or_init(|| make(&self.object, place, f))
        } else {
            runtime::look();
            self.inner.get_or_init(f)
        }
    }

    /// The value; waits until there is one.
    #[track_caller]
    pub fn wait(&self) -> &T {
        if self.object.pause(Kind::Await, Gate::Second, || self.gates()) {
            self.object.acquire(false);
        } else {
            let what = || "a destructor waits for a OnceLock while its thread panics".into();
            runtime::assert_can_wait(!runtime::is_active(), what);
        }
        self.inner.wait()
    }

    /// The value of a cell that is exclusively borrowed.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.inner.get_mut()
    }

    /// The value of a cell that is consumed.
    pub fn into_inner(self) -> Option<T> {
        self.inner.into_inner()
    }

    /// Takes the value out of a cell that is exclusively borrowed.
    pub fn take(&mut self) -> Option<T> {
        self.inner.take()
    }

    fn gates(&self) -> [bool; 2] {
        [!self.busy.load(Relaxed), self.inner.get().is_some()]
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

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> OnceLock<T> {
        match self.get() {
            Some(value) => OnceLock::from(value.clone()),
            None => OnceLock::new(),
        }
    }
}

impl<T> From<T> for OnceLock<T> {
    #[track_caller]
    fn from(value: T) -> OnceLock<T> {
        let object = Object::new("OnceLock", Location::caller());
        OnceLock { object, inner: std::sync::OnceLock::from(value), busy: AtomicBool::new(false) }
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[track_caller]
    fn eq(&self, other: &OnceLock<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}
