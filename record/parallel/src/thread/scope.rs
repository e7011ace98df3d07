//! Threads that borrow from the thread that starts them.
//!
//! The stacks of such threads contain borrowed data, so they cannot be stored with those of other threads. Instead, the
//! thread that opens the scope keeps them: from then on its own body runs on an additional stack. The original stack
//! only resumes the stack of the scope whose thread runs next; if a thread outside of the scope is next, it returns to
//! the code that resumed it. It ends when the body is done, which waits for all threads of the scope. So no stack
//! outlives the data that it borrows, and the compiler verifies this.

use super::{Body, Builder, Thread, body, left, managed_handle};
use crate::execution::Host;
use crate::execution::coroutine::{self, Fiber, StackSize};
use crate::op::{Gate, Kind, ObjectId, ThreadId};
use crate::runtime;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The equivalent of [`std::thread::Scope`].
pub struct Scope<'scope, 'env> {
    inner: Inner<'scope, 'env>,
    lifetime: PhantomData<&'scope mut &'scope ()>,
    borrowed: PhantomData<&'env mut &'env ()>,
}

enum Inner<'scope, 'env> {
    Std(&'scope std::thread::Scope<'scope, 'env>),
    Managed {
        owner: ThreadId,
        number: u32,
        /// The body of a thread that is to start now. It is taken out, and never dropped in the scope; this permits
        /// borrowing the scope for its whole lifetime.
        starting: Mutex<Option<ManuallyDrop<(Body<'scope>, StackSize)>>>,
        /// The threads that were started: their objects, and whether each was joined.
        threads: Mutex<Vec<(ObjectId, Arc<AtomicBool>)>>,
    },
}

/// The equivalent of [`std::thread::ScopedJoinHandle`].
pub struct ScopedJoinHandle<'scope, T>(Joining<'scope, T>);

enum Joining<'scope, T> {
    Std { handle: std::thread::ScopedJoinHandle<'scope, ()>, thread: Thread, result: Arc<Mutex<Option<T>>> },
    Managed { thread: Thread, object: ObjectId, result: Arc<Mutex<Option<T>>>, is_joined: Arc<AtomicBool> },
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens a scope for threads that borrow; returns when all of them have finished.
///
/// Outside of executions each call leaks a few bytes.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    if !runtime::is_active() {
        return std::thread::scope(|scope| {
            // The scope must live as long as that of std, which outlives this closure.
            f(Box::leak(Box::new(Scope { inner: Inner::Std(scope), lifetime: PhantomData, borrowed: PhantomData })))
        });
    }
    runtime::assert_can_wait(runtime::is_managed(), || "a destructor opens a scope while its thread panics".into());
    let place = Location::caller();
    let begun = runtime::with(crate::execution::Execution::begin_scope);
    let (owner, number) = begun.expect("the caller is managed");
    let mut result = None;
    let inner = Inner::Managed { owner, number, starting: Mutex::new(None), threads: Mutex::new(Vec::new()) };
    let scope = Scope { inner, lifetime: PhantomData, borrowed: PhantomData };
    run(&scope, owner, number, || {
        let own = catch_unwind(AssertUnwindSafe(|| f(&scope)));
        scope.wait(place);
        result = Some(own);
    });
    match result {
        Some(Ok(value)) => value,
        Some(Err(payload)) => resume_unwind(payload),
        None => unreachable!("the body has run to its end"),
    }
}

/// Resumes the stacks of a scope in turns until its body is done.
fn run<'a>(scope: &'a Scope<'a, '_>, owner: ThreadId, number: u32, body: impl FnOnce() + 'a) {
    let mut stacks = vec![(owner, Fiber::new(StackSize::default(), body))];
    loop {
        let Some(turn) = runtime::with(|execution| execution.turn_in(owner, number)).flatten() else {
            coroutine::suspend();
            continue;
        };
        if let Some((body, size)) = scope.take_starting() {
            stacks.push((turn, Fiber::new(size, body)));
        }
        let at = stacks.iter().position(|(thread, _)| *thread == turn).expect("a thread of the scope has a stack");
        if stacks[at].1.resume() {
            stacks.remove(at);
            if turn == owner {
                return;
            }
        }
    }
}

impl<'scope> Scope<'scope, '_> {
    fn take_starting(&self) -> Option<(Body<'scope>, StackSize)> {
        let Inner::Managed { starting, .. } = &self.inner else { return None };
        lock(starting).take().map(ManuallyDrop::into_inner)
    }

    fn spawn_managed(
        &self,
        builder: Builder,
        place: &'static Location<'static>,
        body: Body<'scope>,
    ) -> (Thread, ObjectId, Arc<AtomicBool>) {
        let Inner::Managed { owner, number, starting, threads } = &self.inner else {
            unreachable!("threads of std's scopes are std's")
        };
        let what = || "a thread of a scope is started by a managed thread that does not panic".into();
        runtime::assert_can_wait(runtime::is_managed(), what);
        let body: Body<'scope> = Box::new(move || super::run(body));
        let (id, object) = runtime::spawn(builder.name.clone(), place, || {
            *lock(starting) = Some(ManuallyDrop::new((body, builder.size())));
            Host::Scope(*owner, *number)
        });
        let is_joined = Arc::new(AtomicBool::new(false));
        lock(threads).push((object, Arc::clone(&is_joined)));
        (managed_handle(id, object, builder.name), object, is_joined)
    }

    /// Waits for the threads that were not joined.
    fn wait(&self, place: &'static Location<'static>) {
        let Inner::Managed { threads, .. } = &self.inner else { return };
        loop {
            let Some((object, is_joined)) = lock(threads).pop() else { return };
            if !is_joined.load(Relaxed) {
                runtime::pause_on(Some(object), Kind::Join, Gate::First, place);
            }
        }
    }

    /// Starts a thread.
    ///
    /// # Panics
    ///
    /// If the system cannot start it, or an execution has [`THREADS_MAX`](crate::THREADS_MAX) of them.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Builder::new().spawn_scoped(self, f).expect("the system cannot start a thread")
    }
}

impl Builder {
    /// Starts a thread of a scope.
    ///
    /// # Errors
    ///
    /// If the system cannot.
    #[track_caller]
    pub fn spawn_scoped<'scope, F, T>(
        self,
        scope: &'scope Scope<'scope, '_>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let result = Arc::new(Mutex::new(None));
        let body = body(f, Arc::clone(&result));
        if let Inner::Std(scope) = &scope.inner {
            let handle = self.to_std().spawn_scoped(scope, body)?;
            let thread = Thread::of_std(handle.thread());
            return Ok(ScopedJoinHandle(Joining::Std { handle, thread, result }));
        }
        let (thread, object, is_joined) = scope.spawn_managed(self, Location::caller(), body);
        Ok(ScopedJoinHandle(Joining::Managed { thread, object, result, is_joined }))
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits until the thread has finished, and returns its result.
    ///
    /// # Errors
    ///
    /// If the thread panicked. Under a schedule this never happens: a panic ends the execution.
    #[track_caller]
    pub fn join(self) -> super::Result<T> {
        match self.0 {
            Joining::Std { handle, result, .. } => handle.join().map(|()| left(&result)),
            Joining::Managed { object, result, is_joined, .. } => {
                let what = || "a managed thread can be joined by a managed thread that does not panic".into();
                runtime::assert_can_wait(runtime::is_managed(), what);
                runtime::pause_on(Some(object), Kind::Join, Gate::First, Location::caller());
                is_joined.store(true, Relaxed);
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
                lock(result).is_some()
            }
        }
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
