//! Cells whose accesses are checked for data races.
//!
//! An [`UnsafeCell`] is that of std, but accesses are functions of the pointer, so that they can be observed. Under a
//! schedule, an access that is not ordered by happens-before with an access of another thread ends the execution as a
//! [data race](crate::Cause::Race), if one of the two writes. The happens-before order follows from the orderings of
//! atomics, and from locks, channels, threads and everything else in [`sync`](crate::sync) and
//! [`thread`](crate::thread); not from the order in which the schedule runs the two. So one schedule may show a race
//! that others hide, and an access is not a pause point.
//!
//! Synchronization by std, without this crate, is not observed: memory that is shared through `std::sync::Arc`, and
//! freed or taken back by the thread that drops the last pointer, is ordered only through
//! [`sync::Arc`](crate::sync::Arc).
//!
//! Without the feature `scheduled` the cell is std's with these functions, and nothing is checked. All other cells are
//! those of `std::cell`.
//!
//! ```
//! # #[cfg(feature = "scheduled")] {
//! use record_parallel::cell::UnsafeCell;
//! use record_parallel::scheduler::Reduced;
//! use record_parallel::sync::atomic::{AtomicBool, Ordering::Relaxed};
//! use record_parallel::{Cause, Settings, explore, thread};
//! use std::sync::Arc;
//!
//! struct Slot {
//!     value: UnsafeCell<u32>,
//!     is_full: AtomicBool,
//! }
//! // SAFETY: `value` is not accessed before `is_full` is set; but setting it must be a release.
//! unsafe impl Sync for Slot {}
//!
//! let failure = explore(&Settings::default(), Reduced::new(), || {
//!     let slot = Arc::new(Slot { value: UnsafeCell::new(0), is_full: AtomicBool::new(false) });
//!     let other = Arc::clone(&slot);
//!     thread::spawn(move || {
//!         other.value.with_mut(|value| unsafe { *value = 1 });
//!         other.is_full.store(true, Relaxed);
//!     });
//!     if slot.is_full.load(Relaxed) {
//!         slot.value.with(|value| unsafe { *value });
//!     }
//! });
//! assert!(matches!(failure.unwrap_err().cause, Cause::Race(_)));
//! # }
//! ```

#[cfg(feature = "scheduled")]
use crate::execution::cause::AccessKind;
#[cfg(feature = "scheduled")]
use crate::{execution::coroutine, object::Object, runtime};
use std::fmt;
#[cfg(feature = "scheduled")]
use std::panic::Location;

pub use std::cell::*;

/// The equivalent of [`std::cell::UnsafeCell`], but its value is accessed in functions.
#[cfg_attr(not(feature = "scheduled"), repr(transparent))]
pub struct UnsafeCell<T: ?Sized> {
    #[cfg(feature = "scheduled")]
    object: Object,
    inner: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// Creates a cell with this value. Under a schedule, its creation is the first write.
    #[track_caller]
    pub fn new(value: T) -> UnsafeCell<T> {
        let cell = UnsafeCell::constant(value);
        #[cfg(feature = "scheduled")]
        cell.access(AccessKind::Make, Location::caller());
        cell
    }

    /// The same for a `static` or a `const`: its creation is assumed to happen before everything else.
    #[track_caller]
    pub const fn constant(value: T) -> UnsafeCell<T> {
        UnsafeCell {
            #[cfg(feature = "scheduled")]
            object: Object::new("UnsafeCell", Location::caller()),
            inner: std::cell::UnsafeCell::new(value),
        }
    }

    /// The value of a cell that is consumed. This is not checked: the caller has exclusive access, and how it got that
    /// may not be observable.
    pub fn into_inner(self) -> T {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads the value. Every read through the pointer must be done when `f` returns, because the access is
    /// checked until then.
    #[track_caller]
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        let access = || f(self.inner.get().cast_const());
        #[cfg(feature = "scheduled")]
        return self.during(AccessKind::Read, access);
        #[cfg(not(feature = "scheduled"))]
        access()
    }

    /// Writes the value, or reads and writes it. Every access through the pointer must be done when `f` returns.
    #[track_caller]
    #[inline]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        let access = || f(self.inner.get());
        #[cfg(feature = "scheduled")]
        return self.during(AccessKind::Write, access);
        #[cfg(not(feature = "scheduled"))]
        access()
    }

    /// The value of a cell that is exclusively borrowed. This is not checked: the caller has exclusive access, and how
    /// it got that may not be observable.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }

    /// If `f` reaches a pause point, the access is not instantaneous, so it counts as one access at the beginning and
    /// another at the end.
    #[cfg(feature = "scheduled")]
    #[track_caller]
    #[inline]
    fn during<R>(&self, kind: AccessKind, f: impl FnOnce() -> R) -> R {
        if !runtime::is_active() {
            return f();
        }
        let place = Location::caller();
        let begun = self.access(kind, place);
        let result = f();
        if runtime::with(|execution| execution.steps_taken()) != begun {
            self.access(kind, place);
        }
        result
    }

    /// Records an access to the value. Does not return if the access is a data race. Returns the number of steps taken
    /// before.
    #[cfg(feature = "scheduled")]
    fn access(&self, kind: AccessKind, place: &'static Location<'static>) -> Option<usize> {
        let (is_race, steps) = runtime::with(|execution| {
            let id = execution.id_of(&self.object, &|| [true; 2]);
            (execution.access(id, kind, place), execution.steps_taken())
        })?;
        // While a thread unwinds, no other thread may run, so the thread ends at its next pause point.
        if is_race && runtime::is_managed() {
            coroutine::suspend();
        }
        Some(steps)
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    #[track_caller]
    fn default() -> UnsafeCell<T> {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    #[track_caller]
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}
