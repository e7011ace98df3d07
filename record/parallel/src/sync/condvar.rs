//! A condition variable.
//!
//! A wait that ends before a notification, by a time-out or without a reason, may as well end immediately: the wait
//! makes a difference only if its thread is the one that is notified. So the scheduler picks at the beginning of a wait
//! whether it ends.

use super::{Mutex, MutexGuard};
use crate::ids::{index, small};
use crate::object::Object;
use crate::op::{Gate, Kind, ObjectId, Op, ThreadId};
use crate::runtime;
use crate::scheduler::Pick;
use crate::time::Instant;
use std::fmt;
use std::panic::Location;
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

/// The equivalent of [`std::sync::Condvar`].
///
/// Under a schedule, a notification wakes any of the waiting threads, and a thread may wake without a notification.
pub struct Condvar {
    object: Object,
    inner: std::sync::Condvar,
    /// The managed threads that wait, in the order of arrival, and the mutex that each needs afterwards.
    waiting: std::sync::Mutex<Vec<(ThreadId, ObjectId)>>,
}

/// The equivalent of [`std::sync::WaitTimeoutResult`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns true if the wait timed out.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// Creates a condition variable for which no thread waits.
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
        match self.begin(guard, place) {
            Ok((mutex, locks)) => {
                self.end(mutex, locks, None, place);
                mutex.relock(place)
            }
            Err(guard) => {
                let (Some(inner), mutex) = guard.take_apart() else { unreachable!("a guard holds its mutex") };
                super::lock::map(self.inner.wait(inner), |guard| mutex.wrap(guard, place))
            }
        }
    }

    /// Waits until `condition` is false for the value in the mutex.
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

    /// The same as [`Condvar::wait`], but with a time-out: under a schedule, the wait may end whenever the schedule
    /// chooses so, and it ends when no other thread can continue.
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
        match self.begin(guard, place) {
            Ok((mutex, locks)) => {
                let timed_out = self.end(mutex, locks, Some(duration), place);
                super::lock::map(mutex.relock(place), |guard| (guard, WaitTimeoutResult(timed_out)))
            }
            Err(guard) => {
                let (Some(inner), mutex) = guard.take_apart() else { unreachable!("a guard holds its mutex") };
                super::lock::map(self.inner.wait_timeout(inner, duration), |(guard, result)| {
                    (mutex.wrap(guard, place), WaitTimeoutResult(result.timed_out()))
                })
            }
        }
    }

    /// The same as [`Condvar::wait_while`], but with a time-out: under a schedule, the wait may end whenever the
    /// schedule chooses so.
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
        let start = Instant::unscheduled();
        while condition(&mut guard) {
            let left = duration.saturating_sub(Instant::unscheduled() - start);
            let result;
            (guard, result) = self.wait_timeout(guard, left)?;
            if result.timed_out() {
                let is_out = condition(&mut guard);
                return Ok((guard, WaitTimeoutResult(is_out)));
            }
        }
        Ok((guard, WaitTimeoutResult(false)))
    }

    /// Notifies one waiting thread; under a schedule, the one that the schedule chooses.
    #[track_caller]
    pub fn notify_one(&self) {
        self.object.touch(Kind::NotifyOne);
        if runtime::is_active() {
            let mut waiting = self.waiting();
            let picked = index(runtime::pick(Pick::Waiter, small(waiting.len())));
            if picked < waiting.len() {
                let (thread, mutex) = waiting.remove(picked);
                self.wake(thread, mutex);
            }
        } else {
            self.inner.notify_one();
        }
    }

    /// Notifies all waiting threads.
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

    /// Begins a wait and unlocks the mutex. Returns the guard if there is no schedule.
    fn begin<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        place: &'static Location<'static>,
    ) -> Result<(&'a Mutex<T>, ObjectId), MutexGuard<'a, T>> {
        if !runtime::is_active() {
            return Err(guard);
        }
        let locks = runtime::with(|execution| execution.id_of(guard.object(), &|| [false, true]));
        let locks = locks.expect("this is a managed thread");
        let op = |object| Op { kind: Kind::Wait, gate: Gate::Free, object, also: locks, place };
        let paused = self.object.pause_op(|| [true; 2], op);
        runtime::assert_can_wait(paused, || format!("a destructor waits for {self:?} while its thread panics"));
        Ok((guard.release(), locks))
    }

    /// Waits until another thread notifies this one, or the wait ends by itself, and then locks the mutex. Returns true
    /// if the wait timed out.
    fn end<T>(
        &self,
        mutex: &Mutex<T>,
        locks: ObjectId,
        time: Option<Duration>,
        place: &'static Location<'static>,
    ) -> bool {
        let relock = |object| Op { kind: Kind::Relock, gate: Gate::First, object, also: ObjectId::NONE, place };
        let is_out = time.is_some_and(runtime::times_out);
        if is_out || runtime::pick(Pick::Wake, 2) == 1 {
            mutex.object().pause_op(|| [true; 2], relock);
            return is_out;
        }
        let me = runtime::with(|execution| {
            if let Some(time) = time {
                execution.set_deadline(time);
            }
            execution.current()
        });
        let me = me.expect("this is a managed thread");
        self.waiting().push((me, locks));
        let op = |object| Op { kind: Kind::WaitEnd, gate: Gate::Shut, object, also: object, place };
        self.object.pause_op(|| [true; 2], op);
        let mut waiting = self.waiting();
        // A notified thread was removed from the list, and has already waited for the mutex.
        let Some(position) = waiting.iter().position(|(thread, _)| *thread == me) else { return false };
        waiting.remove(position);
        drop(waiting);
        mutex.object().pause_op(|| [true; 2], relock);
        true
    }

    /// Ends the wait of a thread: the thread then waits for its mutex.
    fn wake(&self, thread: ThreadId, mutex: ObjectId) {
        runtime::with(|execution| {
            let condvar = execution.id_of(&self.object, &|| [true; 2]);
            execution.redirect(thread, |op| {
                *op = Op { kind: Kind::Relock, gate: Gate::First, object: mutex, also: condvar, place: op.place };
            });
        });
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<(ThreadId, ObjectId)>> {
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
