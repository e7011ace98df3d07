//! A value that is created on first use.

use super::OnceLock;
use std::fmt;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Mutex, PoisonError};

/// The equivalent of [`std::sync::LazyLock`].
///
/// A `static` one is initialized once per process, and not again in each execution: initialize it before the first one.
pub struct LazyLock<T, F = fn() -> T> {
    cell: OnceLock<T>,
    /// The function that creates the value, until it is called.
    make: Mutex<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Creates a cell with a function that returns the value.
    #[track_caller]
    pub const fn new(make: F) -> LazyLock<T, F> {
        LazyLock { cell: OnceLock::new(), make: Mutex::new(Some(make)) }
    }

    /// The value, which is created if necessary. Waits while another thread creates it.
    ///
    /// # Panics
    ///
    /// If the function panicked before.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.cell.get_or_init(|| {
            let make = this.make.lock().unwrap_or_else(PoisonError::into_inner).take();
            make.expect("LazyLock instance has previously been poisoned")()
        })
    }

    /// The value, which is exclusively borrowed.
    ///
    /// # Panics
    ///
    /// If the function panicked before.
    #[track_caller]
    pub fn force_mut(this: &mut LazyLock<T, F>) -> &mut T {
        LazyLock::force(this);
        this.cell.get_mut().expect("the value was created")
    }
}

impl<T, F> LazyLock<T, F> {
    /// The value, if it was created.
    #[track_caller]
    pub fn get(this: &LazyLock<T, F>) -> Option<&T> {
        this.cell.get()
    }

    /// The value, if it was created, which is exclusively borrowed.
    pub fn get_mut(this: &mut LazyLock<T, F>) -> Option<&mut T> {
        this.cell.get_mut()
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    #[track_caller]
    fn default() -> LazyLock<T> {
        LazyLock::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LazyLock").field(&self.cell).finish()
    }
}

impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}
impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}
