//! Atomics. Under a schedule they are sequentially consistent, whatever ordering is asked for.

use crate::execution::Pick;
use crate::object::Object;
use crate::op::Kind;
use crate::runtime;
use std::fmt;
use std::panic::Location;
use std::sync::atomic as std_atomic;

pub use std::sync::atomic::{Ordering, compiler_fence, fence};

macro_rules! atomic {
    ($name:ident $(<$param:ident>)?, $value:ty, $what:literal, [$($method:ident),*]) => {
        #[doc = concat!("As [`std::sync::atomic::", stringify!($name), "`].")]
        pub struct $name $(<$param>)? {
            inner: std_atomic::$name $(<$param>)?,
            object: Object,
        }

        impl $(<$param>)? $name $(<$param>)? {
            /// With this value.
            #[track_caller]
            pub const fn new(value: $value) -> Self {
                $name { inner: std_atomic::$name::new(value), object: Object::new($what, Location::caller()) }
            }

            /// The value.
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                self.object.touch(Kind::Load);
                self.inner.load(order)
            }

            /// Sets the value.
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                if self.object.touch(Kind::Store) {
                    // Whoever stores what is there already only looks.
                    self.changing(|inner| inner.swap(value, Ordering::SeqCst));
                } else {
                    self.inner.store(value, order);
                }
            }

            /// Sets the value, and returns the one before.
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.object.touch(Kind::Update);
                self.changing(|inner| inner.swap(value, order))
            }

            $(
                #[doc = concat!("As in std: `", stringify!($method), "`. Returns the value before.")]
                #[track_caller]
                pub fn $method(&self, value: $value, order: Ordering) -> $value {
                    self.object.touch(Kind::Update);
                    self.changing(|inner| inner.$method(value, order))
                }
            )*

            /// Sets the value if it is `current`.
            ///
            /// # Errors
            ///
            /// The value, if it is another.
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.object.touch(Kind::Update);
                self.exchanging(|inner| inner.compare_exchange(current, new, success, failure))
            }

            /// The same, but it may fail without reason: under a schedule, if it says so.
            ///
            /// # Errors
            ///
            /// The value, if it is another.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                if self.object.touch(Kind::Update) {
                    let fails = self.inner.load(Ordering::SeqCst) == current && runtime::pick(Pick::Fail, 2) == 1;
                    self.exchanging(|inner| match fails {
                        true => Err(current),
                        false => inner.compare_exchange(current, new, success, failure),
                    })
                } else {
                    self.inner.compare_exchange_weak(current, new, success, failure)
                }
            }

            /// Sets the value to what `f` makes of it, trying again while others change it.
            ///
            /// # Errors
            ///
            /// The value, if `f` makes nothing of it.
            #[track_caller]
            pub fn fetch_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut value = self.load(fetch_order);
                while let Some(next) = f(value) {
                    // That a weak exchange fails without reason and is tried again is seen by nobody.
                    match self.compare_exchange(value, next, set_order, fetch_order) {
                        Ok(before) => return Ok(before),
                        Err(now) => value = now,
                    }
                }
                Err(value)
            }

            /// Changes the value, and notes whether it is another one then. Returns the one before.
            fn changing(&self, change: impl FnOnce(&std_atomic::$name $(<$param>)?) -> $value) -> $value {
                let before = change(&self.inner);
                if runtime::is_active() && self.inner.load(Ordering::SeqCst) == before {
                    runtime::look();
                }
                before
            }

            /// The same of a change that may fail.
            fn exchanging(
                &self,
                change: impl FnOnce(&std_atomic::$name $(<$param>)?) -> Result<$value, $value>,
            ) -> Result<$value, $value> {
                let result = change(&self.inner);
                if result.is_err() {
                    runtime::look();
                }
                result
            }

            /// The value of an atomic that nobody else has.
            pub fn get_mut(&mut self) -> &mut $value {
                self.inner.get_mut()
            }

            /// The value of an atomic that is given away.
            pub fn into_inner(self) -> $value {
                self.inner.into_inner()
            }
        }

        impl $(<$param>)? fmt::Debug for $name $(<$param>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.inner.fmt(f)
            }
        }

        impl $(<$param>)? From<$value> for $name $(<$param>)? {
            #[track_caller]
            fn from(value: $value) -> Self {
                $name::new(value)
            }
        }
    };
}

macro_rules! integers {
    ($($name:ident $value:ty, $what:literal;)*) => {
        $(
            atomic!(
                $name, $value, $what,
                [fetch_add, fetch_sub, fetch_and, fetch_nand, fetch_or, fetch_xor, fetch_max, fetch_min]
            );

            impl Default for $name {
                #[track_caller]
                fn default() -> $name {
                    $name::new(0)
                }
            }
        )*
    };
}

integers! {
    AtomicU8 u8, "AtomicU8";
    AtomicU16 u16, "AtomicU16";
    AtomicU32 u32, "AtomicU32";
    AtomicU64 u64, "AtomicU64";
    AtomicUsize usize, "AtomicUsize";
    AtomicI8 i8, "AtomicI8";
    AtomicI16 i16, "AtomicI16";
    AtomicI32 i32, "AtomicI32";
    AtomicI64 i64, "AtomicI64";
    AtomicIsize isize, "AtomicIsize";
}

atomic!(AtomicBool, bool, "AtomicBool", [fetch_and, fetch_nand, fetch_or, fetch_xor]);
atomic!(AtomicPtr<T>, *mut T, "AtomicPtr", []);

impl Default for AtomicBool {
    #[track_caller]
    fn default() -> AtomicBool {
        AtomicBool::new(false)
    }
}

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> AtomicPtr<T> {
        AtomicPtr::new(std::ptr::null_mut())
    }
}
