//! Pause points for objects outside this crate: files, memory maps, rings, code in other languages.

#[cfg(feature = "scheduled")]
use crate::object::Object;
#[cfg(feature = "scheduled")]
use crate::op::Kind;
#[cfg(feature = "scheduled")]
use std::panic::Location;

/// An object shared by threads that does not consist of the types of [`sync`](crate::sync): a file, a part of a memory
/// map, a device.
///
/// Call [`Resource::touch`] before each access to it: there the schedule may let other threads continue. Code between
/// two such calls is not interrupted. `Reduced` treats two reads, and accesses to different resources, as independent,
/// so one resource for each part that is accessed separately reduces the number of executions.
///
/// An access that writes passes on the view of its thread, and every access acquires the views that were passed on, as
/// with a lock around each: the system does this for files. For data shared as plain memory, atomics and
/// [`UnsafeCell`](crate::cell::UnsafeCell) are better, because their orderings are checked.
///
/// Without the feature `scheduled`, this type is empty and does nothing.
///
/// ```
/// # #[cfg(feature = "scheduled")] {
/// use record_parallel::scheduler::Reduced;
/// use record_parallel::{Resource, Settings, Touch, explore, thread};
/// use std::sync::{Arc, Mutex};
///
/// /// A counter in a file, here in a buffer.
/// struct Counter {
///     bytes: Mutex<[u8; 1]>,
///     file: Resource,
/// }
///
/// impl Counter {
///     fn read(&self) -> u8 {
///         self.file.touch(Touch::Read);
///         self.bytes.lock().unwrap()[0]
///     }
///
///     fn write(&self, value: u8) {
///         self.file.touch(Touch::Write);
///         self.bytes.lock().unwrap()[0] = value;
///     }
/// }
///
/// let failure = explore(&Settings::default(), Reduced::new(), || {
///     let counter = Arc::new(Counter { bytes: Mutex::new([0]), file: Resource::new("counter file") });
///     let other = Arc::clone(&counter);
///     let adder = thread::spawn(move || other.write(other.read() + 1));
///     counter.write(counter.read() + 1);
///     adder.join().unwrap();
///     assert_eq!(counter.read(), 2);
/// });
/// assert!(failure.unwrap_err().table().contains("write counter file 1"));
/// # }
/// ```
#[derive(Debug)]
pub struct Resource {
    #[cfg(feature = "scheduled")]
    object: Object,
}

/// The kind of an access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Touch {
    /// The access does not change the resource.
    Read,
    /// The access may change the resource.
    Write,
}

impl Resource {
    /// Creates a resource, called `what` in reports.
    #[track_caller]
    #[cfg_attr(not(feature = "scheduled"), expect(unused_variables, reason = "nothing is reported"))]
    pub const fn new(what: &'static str) -> Resource {
        Resource {
            #[cfg(feature = "scheduled")]
            object: Object::new(what, Location::caller()),
        }
    }

    /// A pause point before an access.
    #[track_caller]
    #[inline]
    pub fn touch(&self, touch: Touch) {
        #[cfg(feature = "scheduled")]
        match touch {
            Touch::Read => {
                self.object.touch(Kind::Read);
                self.object.acquire(false);
            }
            Touch::Write => {
                self.object.touch(Kind::Write);
                self.object.acquire(true);
                self.object.release();
            }
        }
        #[cfg(not(feature = "scheduled"))]
        let _ = (self, touch);
    }
}
