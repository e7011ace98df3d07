//! Threads: in a managed thread, those that are spawned are managed as well; anywhere else they are std's.
//!
//! Without the feature `scheduled` this module is `std::thread`. All managed threads run on one thread of the system
//! and share the variables of `std::thread_local!`; each thread has its own variables of
//! [`thread_local!`](crate::thread_local). Time is that of the execution: see [`time`](crate::time).

pub(crate) mod hint;
mod local;
mod scope;

#[doc(hidden)]
pub use local::Slots;
pub(crate) use local::end_locals;
pub use local::{AccessError, LocalKey};
pub use scope::{Scope, ScopedJoinHandle, scope};

use crate::execution::Host;
use crate::execution::coroutine::StackSize;
use crate::op::{Gate, Kind, ObjectId, ThreadId as Managed};
use crate::runtime;
use crate::scheduler::Pick;
use std::fmt;
use std::io;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use std::thread::{Result, available_parallelism, panicking};

/// The equivalent of [`std::thread::ThreadId`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ThreadId(Id);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Id {
    Managed(Managed),
    Std(std::thread::ThreadId),
}

/// The equivalent of [`std::thread::Thread`].
#[derive(Clone)]
pub struct Thread(Handle);

#[derive(Clone)]
enum Handle {
    Managed { thread: Managed, object: ObjectId, name: Option<Arc<str>> },
    Std(std::thread::Thread),
}

impl Thread {
    fn of_std(thread: &std::thread::Thread) -> Thread {
        Thread(Handle::Std(thread.clone()))
    }

    /// Gives the thread the token that [`park`] waits for.
    #[track_caller]
    pub fn unpark(&self) {
        match &self.0 {
            Handle::Std(thread) => thread.unpark(),
            Handle::Managed { thread, object, .. } => {
                runtime::pause_or_touch(*object, Kind::Unpark, Location::caller());
                runtime::with(|execution| execution.set_token(*thread, true));
            }
        }
    }

    /// The thread of the execution that this handle refers to.
    pub(crate) fn managed(&self) -> Option<Managed> {
        match self.0 {
            Handle::Managed { thread, .. } => Some(thread),
            Handle::Std(_) => None,
        }
    }

    /// The id of the thread.
    pub fn id(&self) -> ThreadId {
        ThreadId(match &self.0 {
            Handle::Std(thread) => Id::Std(thread.id()),
            Handle::Managed { thread, .. } => Id::Managed(*thread),
        })
    }

    /// The name of the thread, if it has one.
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Handle::Std(thread) => thread.name(),
            Handle::Managed { name, .. } => name.as_deref(),
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("id", &self.id()).field("name", &self.name()).finish()
    }
}

/// The equivalent of [`std::thread::JoinHandle`].
pub struct JoinHandle<T>(Joining<T>);

enum Joining<T> {
    Managed { thread: Thread, object: ObjectId, result: Arc<Mutex<Option<T>>> },
    Std { handle: std::thread::JoinHandle<()>, thread: Thread, result: Arc<Mutex<Option<T>>> },
}

/// The body of a thread. It is boxed, so that the code that starts and runs threads is compiled only once, and not for
/// each thread of a program.
type Body<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Calls a function and stores its result.
fn body<'a, F, T>(f: F, result: Arc<Mutex<Option<T>>>) -> Body<'a>
where
    F: FnOnce() -> T + Send + 'a,
    T: Send + 'a,
{
    Box::new(move || {
        let value = f();
        *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    })
}

/// Takes the result of a thread that has finished.
fn left<T>(result: &Mutex<Option<T>>) -> T {
    let left = result.lock().unwrap_or_else(PoisonError::into_inner).take();
    left.expect("a thread that has finished has stored its result")
}

impl<T> JoinHandle<T> {
    /// Waits until the thread has finished, and returns its result.
    ///
    /// # Errors
    ///
    /// If the thread panicked. Under a schedule this never happens: a panic ends the execution.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        self.join_at(Location::caller())
    }

    /// Waits for the thread to finish; the step is recorded at `place`.
    pub(crate) fn join_at(self, place: &'static Location<'static>) -> Result<T> {
        match self.0 {
            Joining::Std { handle, result, .. } => handle.join().map(|()| left(&result)),
            Joining::Managed { object, result, .. } => {
                let what = || "a managed thread can be joined by a managed thread that does not panic".into();
                runtime::assert_can_wait(runtime::is_managed(), what);
                runtime::pause_on(Some(object), Kind::Join, Gate::First, place);
                Ok(left(&result))
            }
        }
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            Joining::Std { thread, .. } | Joining::Managed { thread, .. } => thread,
        }
    }

    /// Returns true if the thread has finished.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Joining::Std { handle, .. } => handle.is_finished(),
            Joining::Managed { object, result, .. } => {
                runtime::pause_or_touch(*object, Kind::Load, Location::caller());
                result.lock().unwrap_or_else(PoisonError::into_inner).is_some()
            }
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// The equivalent of [`std::thread::Builder`].
#[derive(Debug, Default)]
#[must_use = "a builder makes a thread only when `spawn` is called"]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// Creates a builder without a name.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Sets the name.
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// Sets the stack size in bytes, at least 64 KiB for managed threads. Their default is 1 MiB.
    pub fn stack_size(mut self, bytes: usize) -> Builder {
        self.stack_size = Some(bytes);
        self
    }

    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// If the system cannot.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let result = Arc::new(Mutex::new(None));
        let body = body(f, Arc::clone(&result));
        if runtime::is_managed() {
            let (thread, object) = self.spawn_managed(Location::caller(), body);
            return Ok(JoinHandle(Joining::Managed { thread, object, result }));
        }
        let (thread, handle) = self.spawn_std(body)?;
        Ok(JoinHandle(Joining::Std { handle, thread, result }))
    }

    fn spawn_managed(self, place: &'static Location<'static>, body: Body<'static>) -> (Thread, ObjectId) {
        let host = Host::Own(Box::new(move || run(body)), self.size());
        let (thread, object) = runtime::spawn(self.name.clone(), place, || host);
        (managed_handle(thread, object, self.name), object)
    }

    fn spawn_std(&self, body: Body<'static>) -> io::Result<(Thread, std::thread::JoinHandle<()>)> {
        let handle = self.to_std().spawn(body)?;
        Ok((Thread::of_std(handle.thread()), handle))
    }

    fn to_std(&self) -> std::thread::Builder {
        let mut builder = std::thread::Builder::new();
        if let Some(name) = &self.name {
            builder = builder.name(name.clone());
        }
        if let Some(bytes) = self.stack_size {
            builder = builder.stack_size(bytes);
        }
        builder
    }

    fn size(&self) -> StackSize {
        self.stack_size.map(StackSize::of).unwrap_or_default()
    }
}

/// Starts a thread.
///
/// # Panics
///
/// If the system cannot start it, or an execution has [`THREADS_MAX`](crate::THREADS_MAX) of them.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(f).expect("the system cannot start a thread")
}

fn managed_handle(thread: Managed, object: ObjectId, name: Option<String>) -> Thread {
    Thread(Handle::Managed { thread, object, name: name.map(Arc::from) })
}

/// Runs the body of a managed thread and drops the thread's own variables. All of this happens before the thread has
/// finished, so a thread that is not joined drops its values itself.
fn run(body: Body<'_>) {
    runtime::run_thread(Box::new(move || {
        body();
        end_locals();
    }));
}

/// The running thread.
pub fn current() -> Thread {
    let managed = runtime::with(|execution| {
        let thread = execution.current();
        let record = execution.thread(thread);
        Handle::Managed { thread, object: record.object, name: record.name.as_deref().map(Arc::from) }
    });
    Thread(managed.unwrap_or_else(|| Handle::Std(std::thread::current())))
}

/// Waits until [`Thread::unpark`] of this thread is called, unless that already happened. As in std, it may return
/// without a reason, if the schedule chooses so.
#[track_caller]
pub fn park() {
    if let Handle::Managed { thread, object, .. } = current().0 {
        runtime::assert_can_wait(runtime::is_managed(), || "a destructor parks while its thread panics".into());
        let wakes = runtime::pick(Pick::Wake, 2) == 1;
        let gate = if wakes { Gate::Free } else { Gate::Second };
        runtime::pause_on(Some(object), Kind::Park, gate, Location::caller());
        runtime::with(|execution| execution.set_token(thread, false));
    } else {
        std::thread::park();
    }
}

/// The same with a time-out; under a schedule the time-out may end at any moment, and ends when no other thread can
/// continue.
#[track_caller]
pub fn park_timeout(duration: Duration) {
    if let Handle::Managed { thread, object, .. } = current().0 {
        if runtime::is_managed() && !runtime::times_out(duration) {
            runtime::with(|execution| execution.set_deadline(duration));
            runtime::pause_on(Some(object), Kind::Park, Gate::Second, Location::caller());
        } else {
            runtime::pause_or_touch(object, Kind::Park, Location::caller());
        }
        runtime::with(|execution| execution.set_token(thread, false));
    } else {
        std::thread::park_timeout(duration);
    }
}

/// Yields to other threads, or continues immediately, as the schedule chooses.
#[track_caller]
pub fn yield_now() {
    if runtime::is_managed() {
        runtime::pause_on(None, Kind::Yield, Gate::Free, Location::caller());
    } else if !runtime::is_active() {
        std::thread::yield_now();
    }
}

/// Sleeps for a time; under a schedule, on the clock of the execution: until no other thread can continue, or not at
/// all if the schedule chooses so.
#[track_caller]
pub fn sleep(duration: Duration) {
    if runtime::is_managed() {
        let gate = if runtime::times_out(duration) {
            Gate::Free
        } else {
            runtime::with(|execution| execution.set_deadline(duration));
            Gate::Shut
        };
        runtime::pause_on(None, Kind::Sleep, gate, Location::caller());
    } else if !runtime::is_active() {
        std::thread::sleep(duration);
    }
}
