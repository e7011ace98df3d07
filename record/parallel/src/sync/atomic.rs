//! Atomics. Under a schedule a load may return an older value, where its ordering and those of the stores allow it; see
//! [`Memory`](crate::Memory).

use crate::execution::Execution;
use crate::ids::{index, wide};
use crate::object::Object;
use crate::op::{Gate, Kind, ObjectId};
use crate::runtime;
use crate::scheduler::Pick;
use std::fmt;
use std::panic::Location;
use std::sync::atomic as std_atomic;

pub use std::sync::atomic::{Ordering, compiler_fence};

/// The equivalent of [`std::sync::atomic::fence`].
///
/// # Panics
///
/// If the ordering is `Relaxed`.
#[track_caller]
pub fn fence(order: Ordering) {
    if runtime::is_active() {
        assert_ne!(order, Ordering::Relaxed, "there is no such thing as a relaxed fence");
        if order == Ordering::SeqCst && runtime::is_managed() {
            runtime::pause_on(None, Kind::Fence, Gate::Free, Location::caller());
        }
        runtime::with(|execution| execution.fence(order));
    } else {
        std_atomic::fence(order);
    }
}

/// A value that messages store as bits.
trait Bits: Copy {
    fn to_bits(self) -> u64;
    fn from_bits(bits: u64) -> Self;
}

macro_rules! bits {
    ($($unsigned:ty, $signed:ty;)*) => {
        $(
            impl Bits for $unsigned {
                fn to_bits(self) -> u64 {
                    wide(self)
                }

                fn from_bits(bits: u64) -> $unsigned {
                    bits.try_into().expect("the bits were stored from this type")
                }
            }

            impl Bits for $signed {
                fn to_bits(self) -> u64 {
                    wide(self.cast_unsigned())
                }

                fn from_bits(bits: u64) -> $signed {
                    <$unsigned>::from_bits(bits).cast_signed()
                }
            }
        )*
    };
}

bits! {
    u8, i8;
    u16, i16;
    u32, i32;
    u64, i64;
    usize, isize;
}

impl Bits for bool {
    fn to_bits(self) -> u64 {
        u64::from(self)
    }

    fn from_bits(bits: u64) -> bool {
        bits != 0
    }
}

impl<T> Bits for *mut T {
    fn to_bits(self) -> u64 {
        wide(self.expose_provenance())
    }

    fn from_bits(bits: u64) -> *mut T {
        std::ptr::with_exposed_provenance_mut(index(bits))
    }
}

impl Object {
    /// Calls `what` with the current execution and the number of this atomic; only in executions.
    fn remember<R>(&self, what: impl FnOnce(&mut Execution, ObjectId) -> R) -> Option<R> {
        runtime::with(|execution| {
            let id = execution.id_of(self, &|| [true; 2]);
            what(execution, id)
        })
    }
}

macro_rules! atomic {
    ($name:ident $(<$param:ident>)?, $value:ty, $what:literal, [$($method:ident),*]) => {
        #[doc = concat!("As [`std::sync::atomic::", stringify!($name), "`].")]
        pub struct $name $(<$param>)? {
            inner: std_atomic::$name $(<$param>)?,
            object: Object,
        }

        impl $(<$param>)? $name $(<$param>)? {
            /// Creates an atomic with this value.
            #[track_caller]
            pub const fn new(value: $value) -> Self {
                $name { inner: std_atomic::$name::new(value), object: Object::new($what, Location::caller()) }
            }

            /// The value.
            #[track_caller]
            #[inline]
            pub fn load(&self, order: Ordering) -> $value {
                if !runtime::is_active() {
                    return self.inner.load(order);
                }
                self.object.touch(Kind::Load);
                let latest = self.inner.load(order);
                let read = self.object.remember(|execution, id| execution.load(id, order, latest.to_bits()));
                read.map_or(latest, Bits::from_bits)
            }

            /// Sets the value.
            #[track_caller]
            #[inline]
            pub fn store(&self, value: $value, order: Ordering) {
                if !runtime::is_active() {
                    return self.inner.store(value, order);
                }
                self.object.touch(Kind::Store);
                assert!(
                    !matches!(order, Ordering::Acquire | Ordering::AcqRel),
                    "there is no such thing as an acquire store"
                );
                let before = self.inner.swap(value, Ordering::SeqCst).to_bits();
                let is_new = self.object.remember(|execution, id| execution.store(id, order, before, value.to_bits()));
                if is_new == Some(false) {
                    // A store of the present value counts as a read.
                    runtime::look();
                }
            }

            /// Sets the value, and returns the previous one.
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.changing(order, |inner| inner.swap(value, order))
            }

            $(
                #[doc = concat!("As in std: `", stringify!($method), "`. Returns the value before.")]
                #[track_caller]
                pub fn $method(&self, value: $value, order: Ordering) -> $value {
                    self.changing(order, |inner| inner.$method(value, order))
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
                if !runtime::is_active() {
                    return self.inner.compare_exchange(current, new, success, failure);
                }
                self.object.touch(Kind::Update);
                self.exchanging(current, new, success, failure)
            }

            /// The same, but it may fail without reason if the schedule chooses so.
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
                if !runtime::is_active() {
                    return self.inner.compare_exchange_weak(current, new, success, failure);
                }
                self.object.touch(Kind::Update);
                if self.inner.load(Ordering::SeqCst) == current && runtime::pick(Pick::Fail, 2) == 1 {
                    self.object.remember(|execution, id| execution.load_latest(id, failure, current.to_bits()));
                    runtime::look();
                    return Err(current);
                }
                self.exchanging(current, new, success, failure)
            }

            /// Sets the value to the result of `f`, and tries again while other threads change it.
            ///
            /// # Errors
            ///
            /// The value, if `f` returns nothing.
            #[track_caller]
            pub fn fetch_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut value = self.load(fetch_order);
                while let Some(next) = f(value) {
                    // A weak exchange may also fail without a reason and be repeated, which no thread can observe.
                    match self.compare_exchange(value, next, set_order, fetch_order) {
                        Ok(before) => return Ok(before),
                        Err(now) => value = now,
                    }
                }
                Err(value)
            }

            /// The same as [`Self::fetch_update`].
            ///
            /// # Errors
            ///
            /// The value, if `f` returns nothing.
            #[track_caller]
            pub fn try_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                self.fetch_update(set_order, fetch_order, f)
            }

            /// Sets the value to the result of `f`, and tries again while other threads change it. Returns the previous
            /// value.
            #[track_caller]
            pub fn update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: impl FnMut($value) -> $value,
            ) -> $value {
                match self.fetch_update(set_order, fetch_order, |value| Some(f(value))) {
                    Ok(before) | Err(before) => before,
                }
            }

            /// The address of the value. Accesses through the pointer are not observed.
            pub const fn as_ptr(&self) -> *mut $value {
                self.inner.as_ptr()
            }

            /// Changes the value, and records whether it differs then. Returns the previous value.
            #[track_caller]
            #[inline]
            fn changing(
                &self,
                order: Ordering,
                change: impl FnOnce(&std_atomic::$name $(<$param>)?) -> $value,
            ) -> $value {
                if !runtime::is_active() {
                    return change(&self.inner);
                }
                self.object.touch(Kind::Update);
                let before = change(&self.inner);
                let is_new = self.object.remember(|execution, id| {
                    let after = self.inner.load(Ordering::SeqCst);
                    execution.update(id, order, before.to_bits(), after.to_bits())
                });
                if is_new == Some(false) {
                    runtime::look();
                }
                before
            }

            /// Exchanges the value if it is the expected one, and records whether it differs then.
            fn exchanging(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let latest = self.inner.load(Ordering::SeqCst).to_bits();
                let old = self.object.remember(|execution, id| execution.fails(id, failure, latest, current.to_bits()));
                if let Some(old) = old.flatten() {
                    runtime::look();
                    return Err(Bits::from_bits(old));
                }
                let result = self.inner.compare_exchange(current, new, success, failure);
                let is_new = self.object.remember(|execution, id| match result {
                    Ok(before) => execution.update(id, success, before.to_bits(), new.to_bits()),
                    Err(now) => {
                        execution.load_latest(id, failure, now.to_bits());
                        false
                    }
                });
                // An exchange of a value for the same value counts as a change.
                if is_new == Some(false) && result.is_err() {
                    runtime::look();
                }
                result
            }

            /// The value of an atomic that is exclusively borrowed.
            pub fn get_mut(&mut self) -> &mut $value {
                self.inner.get_mut()
            }

            /// The value of an atomic that is consumed.
            pub const fn into_inner(self) -> $value {
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

impl AtomicBool {
    /// Sets the value to the other one, and returns the one before.
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.changing(order, |inner| inner.fetch_not(order))
    }
}

macro_rules! pointer {
    ($($method:ident)*) => {
        impl<T> AtomicPtr<T> {
            $(
                #[doc = concat!("As in std: `", stringify!($method), "`. Returns the pointer before.")]
                #[track_caller]
                pub fn $method(&self, value: usize, order: Ordering) -> *mut T {
                    self.changing(order, |inner| inner.$method(value, order))
                }
            )*
        }
    };
}

pointer!(fetch_ptr_add fetch_ptr_sub fetch_byte_add fetch_byte_sub fetch_and fetch_or fetch_xor);

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
