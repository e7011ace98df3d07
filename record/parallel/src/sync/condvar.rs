//! A condition variable: threads wait in the order in which they came.

use super::{Mutex, MutexGuard};
use crate::object::Object;
use crate::op::{Gate, Kind, ObjectId, Op, ThreadId};
use crate::runtime;
use std::fmt;
use std::panic::Location;
use std::sync::{LockResult, PoisonError};
use std::time::{Duration, Instant};

/// As [`std::sync::Condvar`].
///
/// Under a schedule, threads are woken in the order in which they began to wait, and none without reason.
pub struct Condvar {
    object: Object,
    inner: std::sync::Condvar,
    /// The managed threads that wait, the first one first, and the mutex that each then needs; none if it waits for the
    /// end of some time as well, and continues to the mutex by itself.
    waiting: std::sync::Mutex<Vec<(ThreadId, Option<ObjectId>)>>,
}

/// As [`std::sync::WaitTimeoutResult`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether the wait timed out.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// Nobody waits.
    #[track_caller]
    pub const fn new() -> Condvar {
        Condvar {
            object: Object::new("Condvar", Location::caller()),
            inner: std::sync::Condvar::new(),
            waiting: std::sync::Mutex::new(Vec::new()),
        }
    }

    /// Unlocks the mutex, waits to be notified, and locks it again.
    ///
    /// # Errors
    ///
    /// If a thread panicked while it held the mutex.
    ///
    /// # Panics
    ///
    /// If it is called by a destructor while its thread unwinds: no thread would ever notify it.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let place = Location::caller();
        match self.begin(guard, false, place) {
            Ok(mutex) => {
                let op = |object| Op { kind: Kind::WaitEnd, gate: Gate::Shut, object, also: object, place };
                self.object.pause_op(|| [true; 2], op);
                mutex.relock(place)
            }
            Err(guard) => {
                let (Some(inner), mutex) = guard.take_apart() else { unreachable!("a guard holds its mutex") };
                super::lock::map(self.inner.wait(inner), |guard| mutex.wrap(guard, place))
            }
        }
    }

    /// Waits until `condition` is false of what the mutex holds.
    ///
    /// # Errors
    ///
    /// If a thread panicked while it held the mutex.
    #[track_caller]
    pub fn wait_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// The same as [`Condvar::wait`], but the wait may end for lack of time: under a schedule, whenever it says so.
    ///
    /// # Errors
    ///
    /// If a thread panicked while it held the mutex.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        duration: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let place = Location::caller();
        match self.begin(guard, true, place) {
            Ok(mutex) => {
                let op = |object| Op { kind: Kind::WaitEnd, gate: Gate::Free, object, also: object, place };
                self.object.pause_op(|| [true; 2], op);
                let me = runtime::with(|execution| execution.current());
                let mut waiting = self.waiting();
                // Whoever was notified is not among those that wait any more.
                let position = waiting.iter().position(|(thread, _)| Some(*thread) == me);
                if let Some(position) = position {
                    waiting.remove(position);
                }
                drop(waiting);
                super::lock::map(mutex.lock(), |guard| (guard, WaitTimeoutResult(position.is_some())))
            }
            Err(guard) => {
                let (Some(inner), mutex) = guard.take_apart() else { unreachable!("a guard holds its mutex") };
                super::lock::map(self.inner.wait_timeout(inner, duration), |(guard, result)| {
                    (mutex.wrap(guard, place), WaitTimeoutResult(result.timed_out()))
                })
            }
        }
    }

    /// The same as [`Condvar::wait_while`], but the wait may end for lack of time: under a schedule, whenever it says
    /// so.
    ///
    /// # Errors
    ///
    /// If a thread panicked while it held the mutex.
    #[track_caller]
    pub fn wait_timeout_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        duration: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let start = Instant::now();
        while condition(&mut guard) {
            // Time does not pass under a schedule.
            let left = if runtime::is_active() { duration } else { duration.saturating_sub(start.elapsed()) };
            let result;
            (guard, result) = self.wait_timeout(guard, left)?;
            if result.timed_out() {
                let is_out = condition(&mut guard);
                return Ok((guard, WaitTimeoutResult(is_out)));
            }
        }
        Ok((guard, WaitTimeoutResult(false)))
    }

    /// Lets one thread continue, the one that has waited longest.
    #[track_caller]
    pub fn notify_one(&self) {
        self.object.touch(Kind::NotifyOne);
        if runtime::is_active() {
            let mut waiting = self.waiting();
            if !waiting.is_empty() {
                let (thread, mutex) = waiting.remove(0);
                self.wake(thread, mutex);
            }
        } else {
            self.inner.notify_one();
        }
    }

    /// Lets all threads continue.
    #[track_caller]
    pub fn notify_all(&self) {
        self.object.touch(Kind::NotifyAll);
        if runtime::is_active() {
            for (thread, mutex) in self.waiting().drain(..) {
                self.wake(thread, mutex);
            }
        } else {
            self.inner.notify_all();
        }
    }

    /// Begins a wait: the mutex is free, and this thread is among those that wait. Gives the guard back where there is
    /// no schedule.
    fn begin<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        is_timed: bool,
        place: &'static Location<'static>,
    ) -> Result<&'a Mutex<T>, MutexGuard<'a, T>> {
        if !runtime::is_active() {
            return Err(guard);
        }
        let about = runtime::with(|execution| (execution.current(), execution.id_of(guard.object(), || [false, true])));
        let (me, mutex) = about.expect("this is a managed thread");
        let op = |object| Op { kind: Kind::Wait, gate: Gate::Free, object, also: mutex, place };
        let paused = self.object.pause_op(|| [true; 2], op);
        assert!(paused, "a destructor waits for {self:?} while its thread panics");
        let unlocked = guard.release();
        self.waiting().push((me, (!is_timed).then_some(mutex)));
        Ok(unlocked)
    }

    /// Makes a thread that waits be before its mutex.
    fn wake(&self, thread: ThreadId, mutex: Option<ObjectId>) {
        let Some(mutex) = mutex else { return };
        runtime::with(|execution| {
            let condvar = execution.id_of(&self.object, || [true; 2]);
            execution.redirect(thread, |op| {
                *op = Op { kind: Kind::Relock, gate: Gate::First, object: mutex, also: condvar, place: op.place };
            });
        });
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<(ThreadId, Option<ObjectId>)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
