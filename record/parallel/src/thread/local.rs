//! Variables of managed threads: each thread of each execution has its own, and they are dropped when it ends.
//!
//! All managed threads run on one OS thread, so they would share the variables of std. A key is a variable of std that
//! contains the values of all managed threads.

use crate::runtime;
use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::rc::Rc;

/// The owner of a value: the execution and the thread.
type Owner = (u64, crate::ThreadId);

/// The owner of a value, and the function that drops the owner's value of a key.
type End = (Owner, fn(Owner));

thread_local! {
    /// The destructors to run when managed threads end, in the order of creation. They run in reverse order.
    static ENDS: RefCell<Vec<End>> = const { RefCell::new(Vec::new()) };
}

/// The equivalent of [`std::thread::LocalKey`].
pub struct LocalKey<T: 'static> {
    slots: &'static std::thread::LocalKey<Slots<T>>,
    init: fn() -> T,
    end: fn(Owner),
}

/// The values of a key, as created by [`thread_local!`](crate::thread_local).
#[doc(hidden)]
pub struct Slots<T> {
    /// The value of the OS thread, outside of executions.
    own: OnceCell<T>,
    managed: RefCell<Vec<(Owner, Slot<T>)>>,
}

enum Slot<T> {
    Alive(Rc<T>),
    Ended,
}

impl<T> fmt::Debug for Slots<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots").finish_non_exhaustive()
    }
}

impl<T> Slots<T> {
    #[doc(hidden)]
    pub const fn new() -> Slots<T> {
        Slots { own: OnceCell::new(), managed: RefCell::new(Vec::new()) }
    }

    /// The value of a managed thread, if it was created and not dropped.
    fn find(&self, owner: Owner) -> Option<Result<Rc<T>, AccessError>> {
        let managed = self.managed.borrow();
        let slot = managed.iter().find_map(|(of, slot)| (*of == owner).then_some(slot))?;
        Some(match slot {
            Slot::Alive(value) => Ok(Rc::clone(value)),
            Slot::Ended => Err(AccessError),
        })
    }

    fn add(&self, owner: Owner, value: Rc<T>) {
        let mut managed = self.managed.borrow_mut();
        // Threads that a failure cut off are not unwound, and their values are not dropped.
        let (kept, old) = managed.drain(..).partition(|((serial, _), _)| *serial == owner.0);
        *managed = kept;
        std::mem::forget::<Vec<_>>(old);
        managed.push((owner, Slot::Alive(value)));
    }

    /// Takes the value of a thread that ends.
    #[doc(hidden)]
    pub fn end(&self, owner: Owner) -> Option<Rc<T>> {
        let mut managed = self.managed.borrow_mut();
        let (_, slot) = managed.iter_mut().find(|(of, _)| *of == owner)?;
        match std::mem::replace(slot, Slot::Ended) {
            Slot::Alive(value) => Some(value),
            Slot::Ended => None,
        }
    }
}

/// The equivalent of [`std::thread::AccessError`].
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessError;

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessError").finish()
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl std::error::Error for AccessError {}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn of(slots: &'static std::thread::LocalKey<Slots<T>>, init: fn() -> T, end: fn(Owner)) -> LocalKey<T> {
        LocalKey { slots, init, end }
    }

    /// Uses this thread's value, which is created if there is none.
    ///
    /// # Panics
    ///
    /// If it was dropped because its thread ends.
    #[track_caller]
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        let value = self.try_with(f);
        value.expect("cannot access a Thread Local Storage value during or after destruction")
    }

    /// The same, unless the value was dropped.
    ///
    /// # Errors
    ///
    /// If it was dropped because its thread ends.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        if !runtime::is_active() {
            return self.slots.try_with(|slots| f(slots.own.get_or_init(self.init))).map_err(|_| AccessError);
        }
        let owner = runtime::with(|execution| (execution.serial(), execution.current())).ok_or(AccessError)?;
        if let Some(value) = self.slots.with(|slots| slots.find(owner)) {
            return Ok(f(&*value?));
        }
        // The initialization may reach a pause point, so nothing is borrowed.
        let value = Rc::new((self.init)());
        self.slots.with(|slots| slots.add(owner, Rc::clone(&value)));
        ENDS.with_borrow_mut(|ends| ends.push((owner, self.end)));
        Ok(f(&value))
    }
}

/// Drops the values of the running thread, which ends.
pub(crate) fn end_locals() {
    let Some(owner) = runtime::with(|execution| (execution.serial(), execution.current())) else { return };
    loop {
        let end = ENDS.with_borrow_mut(|ends| {
            // The values of threads from executions that are over are not dropped.
            ends.retain(|((serial, _), _)| *serial == owner.0);
            let last = ends.iter().rposition(|(of, _)| *of == owner)?;
            Some(ends.remove(last).1)
        });
        let Some(end) = end else { return };
        end(owner);
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Sets the value.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// The value.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// Takes the value, and replaces it by the default.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// Sets the value, and returns the one before.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Borrows the value.
    pub fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Borrows the value to change it.
    pub fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// Sets the value.
    pub fn set(&'static self, value: T) {
        self.with(|cell| _ = cell.replace(value));
    }

    /// Takes the value, and replaces it by the default.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// Sets the value, and returns the one before.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// The equivalent of [`std::thread_local!`]: each managed thread has its own value.
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = const $init:block; $($rest:tt)*) => {
        $crate::thread_local!(@key $(#[$attribute])* $vis $name: $type = $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = const $init:block) => {
        $crate::thread_local!(@key $(#[$attribute])* $vis $name: $type = $init);
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::thread_local!(@key $(#[$attribute])* $vis $name: $type = $init);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty = $init:expr) => {
        $crate::thread_local!(@key $(#[$attribute])* $vis $name: $type = $init);
    };
    (@key $(#[$attribute:meta])* $vis:vis $name:ident: $type:ty = $init:expr) => {
        $(#[$attribute])* $vis const $name: $crate::thread::LocalKey<$type> = {
            ::std::thread_local! {
                static SLOTS: $crate::thread::Slots<$type> = const { $crate::thread::Slots::new() };
            }
            fn init() -> $type {
                $init
            }
            $crate::thread::LocalKey::of(&SLOTS, init, |owner| {
                // The value is dropped when the slots are no longer borrowed.
                let value = SLOTS.with(|slots| slots.end(owner));
                ::std::mem::drop(value);
            })
        };
    };
}
