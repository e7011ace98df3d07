//! Counted pointers: threads can observe the number of pointers, and which pointer is dropped last.

mod counts;

use crate::op::Kind;
use crate::runtime;
use counts::{Counts, Met};
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::panic::Location;
use std::sync as std_sync;

/// The equivalent of [`std::sync::Arc`], with pause points where the number of pointers changes or is read.
///
/// Two features that the compiler supports only for std's pointer are missing: methods with `self: Arc<Self>`, and the
/// conversion of an `Arc<T>` to an `Arc<dyn Trait>`. For the second, use std's:
/// `Arc::from(std::sync::Arc::new(value) as std::sync::Arc<dyn Trait>)`. It cannot be created from a raw pointer
/// either. If no thread can observe which one drops a value last, std's pointer is sufficient and takes fewer steps.
pub struct Arc<T: ?Sized> {
    /// `None` only while the pointer is consumed.
    inner: Option<std_sync::Arc<T>>,
    counts: Counts,
    place: &'static Location<'static>,
}

/// The equivalent of [`std::sync::Weak`].
pub struct Weak<T: ?Sized> {
    inner: std_sync::Weak<T>,
    counts: Counts,
    place: &'static Location<'static>,
}

impl<T> Arc<T> {
    /// Creates the first pointer to a value.
    #[track_caller]
    pub fn new(value: T) -> Arc<T> {
        Arc::of(value, Location::caller())
    }

    fn of(value: T, place: &'static Location<'static>) -> Arc<T> {
        let (inner, counts) = (std_sync::Arc::new(value), Counts::new(place));
        counts.meet(std_sync::Arc::as_ptr(&inner)).set_live(true);
        Arc { inner: Some(inner), counts, place }
    }

    /// Creates the first pointer to a value that contains a weak pointer to itself.
    #[track_caller]
    pub fn new_cyclic(make: impl FnOnce(&Weak<T>) -> T) -> Arc<T> {
        let place = Location::caller();
        let counts = Counts::new(place);
        let inner =
            std_sync::Arc::new_cyclic(|weak| make(&Weak { inner: weak.clone(), counts: counts.clone(), place }));
        counts.meet(std_sync::Arc::as_ptr(&inner)).set_live(true);
        Arc { inner: Some(inner), counts, place }
    }

    /// The value, if this is the only pointer to it.
    ///
    /// # Errors
    ///
    /// The pointer, if there are others.
    #[track_caller]
    pub fn try_unwrap(this: Arc<T>) -> Result<T, Arc<T>> {
        let met = this.meet();
        met.touch(Kind::Count);
        let (counts, place) = (this.counts.clone(), this.place);
        let result = std_sync::Arc::try_unwrap(this.take());
        if result.is_ok() {
            met.acquire();
            met.set_live(false);
        }
        result.map_err(|inner| Arc { inner: Some(inner), counts, place })
    }

    /// The value, if this is the last pointer to it. If several threads call this, one of them gets the value.
    #[track_caller]
    pub fn into_inner(this: Arc<T>) -> Option<T> {
        let met = this.meet();
        met.touch(Kind::Count);
        let value = std_sync::Arc::into_inner(this.take());
        if value.is_some() {
            met.acquire();
            met.set_live(false);
        } else {
            // This counts as the drop of a pointer.
            met.release();
        }
        value
    }
}

impl<T: Clone> Arc<T> {
    /// The value, or a clone of it if there are other pointers to it.
    #[track_caller]
    pub fn unwrap_or_clone(this: Arc<T>) -> T {
        Arc::try_unwrap(this).unwrap_or_else(|shared| (*shared).clone())
    }

    /// The value, to be changed: a clone of it if there are other pointers to it.
    #[track_caller]
    pub fn make_mut(this: &mut Arc<T>) -> &mut T {
        let place = Location::caller();
        let met = this.meet();
        met.touch(Kind::Count);
        let inner = this.inner.as_mut().expect("the pointer is present until it is consumed");
        if std_sync::Arc::strong_count(inner) > 1 {
            *this = Arc::of((**inner).clone(), place);
        } else {
            met.acquire();
            if std_sync::Arc::get_mut(inner).is_none() {
                // Weak pointers lose the value and keep the object of its counts.
                met.set_live(false);
                this.counts = Counts::new(place);
                std_sync::Arc::make_mut(inner);
                this.meet().set_live(true);
            }
        }
        std_sync::Arc::make_mut(this.inner.as_mut().expect("the pointer is present until it is consumed"))
    }
}

impl<T: ?Sized> Arc<T> {
    /// A weak pointer to the value.
    #[track_caller]
    pub fn downgrade(this: &Arc<T>) -> Weak<T> {
        this.meet().touch(Kind::Clone);
        let counts = this.counts.clone();
        Weak { inner: std_sync::Arc::downgrade(this.inner()), counts, place: Location::caller() }
    }

    /// The number of pointers.
    #[track_caller]
    pub fn strong_count(this: &Arc<T>) -> usize {
        this.meet().touch(Kind::Count);
        std_sync::Arc::strong_count(this.inner())
    }

    /// The number of weak pointers.
    #[track_caller]
    pub fn weak_count(this: &Arc<T>) -> usize {
        this.meet().touch(Kind::Count);
        std_sync::Arc::weak_count(this.inner())
    }

    /// A mutable reference to the value, if there is no other pointer to it.
    #[track_caller]
    pub fn get_mut(this: &mut Arc<T>) -> Option<&mut T> {
        let met = this.meet();
        met.touch(Kind::Count);
        let value = std_sync::Arc::get_mut(this.inner.as_mut()?)?;
        met.acquire_all();
        Some(value)
    }

    /// Returns true if two pointers refer to the same value.
    pub fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
        std_sync::Arc::ptr_eq(this.inner(), other.inner())
    }

    /// The address of the value.
    pub fn as_ptr(this: &Arc<T>) -> *const T {
        std_sync::Arc::as_ptr(this.inner())
    }

    #[inline]
    fn meet(&self) -> Met {
        self.counts.meet(Arc::as_ptr(self))
    }

    #[inline]
    fn inner(&self) -> &std_sync::Arc<T> {
        self.inner.as_ref().expect("the pointer is present until it is consumed")
    }

    /// Returns the pointer of std without dropping it.
    fn take(mut self) -> std_sync::Arc<T> {
        self.inner.take().expect("the pointer is present until it is consumed")
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    #[inline]
    fn drop(&mut self) {
        if runtime::is_active() {
            self.drop_active();
        }
    }
}

impl<T: ?Sized> Arc<T> {
    #[cold]
    fn drop_active(&self) {
        let Some(inner) = &self.inner else { return };
        let met = self.meet();
        let is_managed = met.pause_at(Kind::Drop, self.place);
        met.release();
        // The order of two drops is significant only if one pointer is then the last, and a thread can observe that it
        // is.
        let count = std_sync::Arc::strong_count(inner);
        if is_managed && (count > 2 || !std::mem::needs_drop::<T>()) {
            runtime::look();
        }
        if count == 1 {
            // All other drops happen before the value is dropped.
            met.acquire();
            met.set_live(false);
        }
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    #[inline]
    fn clone(&self) -> Arc<T> {
        self.meet().touch(Kind::Clone);
        let inner = Some(std_sync::Arc::clone(self.inner()));
        Arc { inner, counts: self.counts.clone(), place: Location::caller() }
    }
}

/// Pointers of std that were cloned before are not counted under a schedule.
impl<T: ?Sized> From<std_sync::Arc<T>> for Arc<T> {
    #[track_caller]
    fn from(inner: std_sync::Arc<T>) -> Arc<T> {
        let place = Location::caller();
        let counts = Counts::new(place);
        // Other pointers of std may keep the value alive.
        counts.meet(std_sync::Arc::as_ptr(&inner)).set_live(std_sync::Arc::strong_count(&inner) == 1);
        Arc { inner: Some(inner), counts, place }
    }
}

macro_rules! from {
    ($([$($param:tt)*] $from:ty => $to:ty;)*) => {
        $(impl<$($param)*> From<$from> for Arc<$to> {
            #[track_caller]
            fn from(value: $from) -> Arc<$to> {
                Arc::from(std_sync::Arc::<$to>::from(value))
            }
        })*
    };
}

from! {
    [T] T => T;
    [T: ?Sized] Box<T> => T;
    [T] Vec<T> => [T];
    [T: Clone] &[T] => [T];
    [] String => str;
    [] &str => str;
}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Arc<T> {
        Arc::new(T::default())
    }
}

impl<T> FromIterator<T> for Arc<[T]> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Arc<[T]> {
        Arc::from(std_sync::Arc::from_iter(values))
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner()
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
    fn eq(&self, other: &Arc<T>) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Arc<T> {}

impl<T: ?Sized + PartialOrd> PartialOrd for Arc<T> {
    fn partial_cmp(&self, other: &Arc<T>) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: ?Sized + Ord> Ord for Arc<T> {
    fn cmp(&self, other: &Arc<T>) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: ?Sized + Hash> Hash for Arc<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> fmt::Pointer for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(self.inner(), f)
    }
}

impl<T> Weak<T> {
    /// A pointer without a value.
    #[track_caller]
    pub fn new() -> Weak<T> {
        let place = Location::caller();
        Weak { inner: std_sync::Weak::new(), counts: Counts::new(place), place }
    }
}

impl<T> Default for Weak<T> {
    #[track_caller]
    fn default() -> Weak<T> {
        Weak::new()
    }
}

impl<T: ?Sized> Weak<T> {
    /// A pointer to the value, if it still exists.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let met = self.meet();
        met.touch(Kind::Count);
        let inner = Some(self.inner.upgrade()?);
        met.acquire();
        Some(Arc { inner, counts: self.counts.clone(), place: Location::caller() })
    }

    /// The number of pointers to the value that are not weak.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.meet().touch(Kind::Count);
        self.inner.strong_count()
    }

    /// The number of weak pointers to the value; 0 if there is no value.
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        self.meet().touch(Kind::Count);
        self.inner.weak_count()
    }

    #[inline]
    fn meet(&self) -> Met {
        self.counts.meet(self.inner.as_ptr())
    }

    /// Returns true if two pointers refer to the same value.
    pub fn ptr_eq(&self, other: &Weak<T>) -> bool {
        self.inner.ptr_eq(&other.inner)
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    fn drop(&mut self) {
        let met = self.meet();
        let is_managed = met.pause_at(Kind::Drop, self.place);
        met.release_weak();
        if is_managed {
            // The value is not dropped; only an operation that counts the pointers can observe this.
            runtime::look();
        }
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Weak<T> {
        self.meet().touch(Kind::Clone);
        Weak { inner: self.inner.clone(), counts: self.counts.clone(), place: Location::caller() }
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
