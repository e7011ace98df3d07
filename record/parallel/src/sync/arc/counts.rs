//! The object that represents the counts of a pointer in executions.
//!
//! Outside of executions, a pointer costs the same as that of std. So a pointer created there has no object, which
//! would have to be counted as well. An execution that uses the pointer identifies it by the address of its value,
//! which is unique while the value exists.

use crate::object::Object;
use crate::op::Kind;
use crate::runtime;
use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::Location;
use std::sync::Arc;

thread_local! {
    /// The serial number of an execution, and the objects of the pointers that it uses and that were created outside,
    /// by the addresses of their values.
    static MADE_OUTSIDE: RefCell<(u64, HashMap<usize, Arc<Object>>)> = RefCell::default();
}

/// The part of a pointer that identifies its counts.
#[derive(Clone)]
pub(super) struct Counts {
    /// `None` if the pointer was created outside of executions.
    object: Option<Arc<Object>>,
    made: &'static Location<'static>,
}

/// The object of a pointer; `None` outside of executions, where it is not used.
pub(super) struct Met(Option<Arc<Object>>);

impl Counts {
    #[inline]
    pub(super) fn new(made: &'static Location<'static>) -> Counts {
        Counts { object: runtime::is_active().then(|| object(made)), made }
    }

    /// The object of the pointers to the value at this address.
    #[inline]
    pub(super) fn meet<T: ?Sized>(&self, value: *const T) -> Met {
        Met(if runtime::is_active() { self.meet_active(value.addr()) } else { None })
    }

    #[cold]
    fn meet_active(&self, address: usize) -> Option<Arc<Object>> {
        if self.object.is_some() {
            return self.object.clone();
        }
        let serial = runtime::with(|execution| execution.serial())?;
        Some(MADE_OUTSIDE.with_borrow_mut(|(of, objects)| {
            if std::mem::replace(of, serial) != serial {
                objects.clear();
            }
            Arc::clone(objects.entry(address).or_insert_with(|| object(self.made)))
        }))
    }
}

fn object(made: &'static Location<'static>) -> Arc<Object> {
    Arc::new(Object::new("Arc", made))
}

impl Met {
    #[track_caller]
    #[inline]
    pub(super) fn touch(&self, kind: Kind) {
        self.pause_at(kind, Location::caller());
    }

    /// A pause point. Returns true if this is a managed thread.
    #[inline]
    pub(super) fn pause_at(&self, kind: Kind, place: &'static Location<'static>) -> bool {
        self.0.as_ref().is_some_and(|object| object.pause_at(kind, place, || [true; 2]))
    }

    /// Adds the views of other threads when they dropped their pointers.
    #[inline]
    pub(super) fn acquire(&self) {
        if let Some(object) = &self.0 {
            object.acquire(false);
        }
    }

    /// Adds these views, and those of threads that dropped weak pointers.
    #[inline]
    pub(super) fn acquire_all(&self) {
        if let Some(object) = &self.0 {
            object.acquire(true);
        }
    }

    /// Stores the view of a thread that drops a weak pointer: only a thread with exclusive access gets it.
    #[inline]
    pub(super) fn release_weak(&self) {
        if let Some(object) = &self.0 {
            object.release_apart();
        }
    }

    #[inline]
    pub(super) fn release(&self) {
        if let Some(object) = &self.0 {
            object.release();
        }
    }

    #[inline]
    pub(super) fn set_live(&self, is_live: bool) {
        if let Some(object) = &self.0 {
            object.set_live(is_live);
        }
    }
}
