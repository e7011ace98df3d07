//! A fair counter of permits, the basis of locks, semaphores and bounded channels.
//!
//! A task that requests more permits than are available takes the available ones and waits for the rest. Released
//! permits go to the waiting tasks in the order of their requests, so no task overtakes another. tokio guarantees this
//! for its semaphore.

use crate::object::Object;
use crate::op::{Kind, ThreadId};
use crate::runtime;
use crate::tokio::executor;
use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

const OPEN: [bool; 2] = [true; 2];

/// Permits, and the tasks that wait for them.
pub(super) struct Batch {
    object: Object,
    /// Whether the report on a deadlock names the holder.
    is_lock: bool,
    state: Mutex<State>,
}

struct State {
    permits: usize,
    is_closed: bool,
    queue: VecDeque<Waiter>,
    /// Tasks whose request was granted, and which were not polled since then.
    granted: Vec<u64>,
    tickets: u64,
}

struct Waiter {
    ticket: u64,
    /// The number of permits that the task still needs.
    needs: usize,
    /// `None` if the waker was called.
    waker: Option<Waker>,
    thread: Option<ThreadId>,
}

/// The reason why there was no permit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoPermit {
    Closed,
    TooFew,
}

impl Batch {
    pub(super) const fn new(permits: usize, what: &'static str, made: &'static Location<'static>) -> Batch {
        Batch::with(permits, Object::new(what, made), false)
    }

    /// The permits of a lock.
    pub(super) const fn lock(permits: usize, what: &'static str, made: &'static Location<'static>) -> Batch {
        Batch::with(permits, Object::new(what, made), true)
    }

    const fn with(permits: usize, object: Object, is_lock: bool) -> Batch {
        let state = State { permits, is_closed: false, queue: VecDeque::new(), granted: Vec::new(), tickets: 0 };
        Batch { object, is_lock, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a thread holds a lock.
    fn hold(&self, thread: Option<ThreadId>) {
        if !self.is_lock {
            return;
        }
        runtime::with(|execution| {
            let id = execution.id_of(&self.object, &|| OPEN);
            execution.hold_for(id, thread);
        });
    }

    /// Acquires this number of permits, as soon as they are available.
    pub(super) fn acquire(&self, permits: usize, place: &'static Location<'static>) -> Acquire<'_> {
        Acquire { batch: self, permits, ticket: None, place }
    }

    /// Acquires this number of permits, if they are available now.
    pub(super) fn try_acquire(&self, permits: usize, place: &'static Location<'static>) -> Result<(), NoPermit> {
        self.object.pause_at(Kind::TryAcquire, place, || OPEN);
        let mut state = self.state();
        if state.is_closed || state.permits < permits {
            let why = if state.is_closed { NoPermit::Closed } else { NoPermit::TooFew };
            drop(state);
            if why == NoPermit::Closed {
                self.object.acquire(false);
            }
            runtime::look();
            return Err(why);
        }
        state.permits -= permits;
        drop(state);
        self.object.acquire(true);
        self.hold(None);
        Ok(())
    }

    /// Returns permits, or adds new ones.
    pub(super) fn release(&self, permits: usize, place: &'static Location<'static>) {
        if permits > 0 {
            self.object.pause_at(Kind::Release, place, || OPEN);
            self.add(permits);
        }
    }

    /// The same as [`Batch::release`], but within the current step.
    pub(super) fn release_within(&self, permits: usize) {
        if permits > 0 {
            self.object.touch_too(|| OPEN);
            self.add(permits);
        }
    }

    fn add(&self, permits: usize) {
        self.object.release();
        let wakers = self.state().add(permits);
        for (_, thread) in &wakers {
            self.hold(*thread);
        }
        executor::wake_all(wakers.into_iter().filter_map(|(waker, _)| waker));
    }

    /// Removes permits permanently. Returns the number removed.
    pub(super) fn forget(&self, permits: usize, place: &'static Location<'static>) -> usize {
        self.object.pause_at(Kind::TryAcquire, place, || OPEN);
        let mut state = self.state();
        let taken = state.permits.min(permits);
        state.permits -= taken;
        taken
    }

    /// The number of available permits.
    pub(super) fn available(&self, place: &'static Location<'static>) -> usize {
        self.object.pause_at(Kind::Load, place, || OPEN);
        self.state().permits
    }

    /// The same as [`Batch::available`], but without a pause point.
    pub(super) fn available_within(&self) -> usize {
        self.object.touch_too(|| OPEN);
        self.state().permits
    }

    pub(super) fn is_closed(&self, place: &'static Location<'static>) -> bool {
        self.object.pause_at(Kind::Load, place, || OPEN);
        let is_closed = self.state().is_closed;
        if is_closed {
            self.object.acquire(false);
        }
        is_closed
    }

    /// Ends all waits, and makes every later request fail.
    pub(super) fn close(&self, place: &'static Location<'static>) {
        self.object.pause_at(Kind::Release, place, || OPEN);
        self.close_now();
    }

    /// The same as [`Batch::close`], but within the current step.
    pub(super) fn close_within(&self) {
        self.object.touch_too(|| OPEN);
        self.close_now();
    }

    fn close_now(&self) {
        self.object.release();
        let mut state = self.state();
        state.is_closed = true;
        // Tasks that wait keep their tickets, and find that the semaphore is closed.
        let wakers: Vec<Waker> = state.queue.iter_mut().filter_map(|waiter| waiter.waker.take()).collect();
        drop(state);
        executor::wake_all(wakers);
    }
}

impl State {
    /// Distributes permits. Returns the tasks to wake.
    fn add(&mut self, mut permits: usize) -> Vec<(Option<Waker>, Option<ThreadId>)> {
        let mut wakers = Vec::new();
        while permits > 0 && !self.is_closed {
            let Some(first) = self.queue.front_mut() else { break };
            let given = first.needs.min(permits);
            first.needs -= given;
            permits -= given;
            if first.needs > 0 {
                break;
            }
            if let Some(done) = self.queue.pop_front() {
                self.granted.push(done.ticket);
                wakers.push((done.waker, done.thread));
            }
        }
        self.permits += permits;
        wakers
    }
}

/// A wait for permits. If it is dropped, it returns the permits that it has taken.
#[must_use = "futures do nothing unless they are polled"]
pub(super) struct Acquire<'a> {
    batch: &'a Batch,
    permits: usize,
    ticket: Option<u64>,
    place: &'static Location<'static>,
}

impl Future for Acquire<'_> {
    type Output = Result<(), NoPermit>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let batch = self.batch;
        batch.object.pause_at(Kind::Acquire, self.place, || OPEN);
        let waker = cx.waker().clone();
        let thread = runtime::with(|execution| execution.current());
        let mut state = batch.state();
        if state.is_closed {
            // The permits taken so far are returned when this future is dropped.
            drop(state);
            batch.object.acquire(false);
            return Poll::Ready(Err(NoPermit::Closed));
        }
        let is_got = match self.ticket {
            Some(ticket) => state.granted.extract_if(.., |granted| *granted == ticket).count() > 0,
            None => state.permits >= self.permits,
        };
        if is_got {
            if self.ticket.take().is_none() {
                state.permits -= self.permits;
            }
            drop(state);
            batch.object.acquire(true);
            batch.hold(None);
            return Poll::Ready(Ok(()));
        }
        let before = if let Some(ticket) = self.ticket {
            let own = state.queue.iter_mut().find(|waiter| waiter.ticket == ticket);
            own.and_then(|own| {
                own.thread = thread;
                own.waker.replace(waker)
            })
        } else {
            let needs = self.permits - state.permits;
            state.permits = 0;
            state.tickets += 1;
            let ticket = state.tickets;
            self.ticket = Some(ticket);
            state.queue.push_back(Waiter { ticket, needs, waker: Some(waker), thread });
            None
        };
        drop(state);
        drop(before);
        executor::awaits(Some(&batch.object), self.place);
        Poll::Pending
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket else { return };
        let batch = self.batch;
        batch.object.pause_at(Kind::Release, self.place, || OPEN);
        let mut state = batch.state();
        let position = state.queue.iter().position(|waiter| waiter.ticket == ticket);
        let waiter = position.and_then(|position| state.queue.remove(position));
        let is_granted = state.granted.extract_if(.., |granted| *granted == ticket).count() > 0;
        drop(state);
        match waiter {
            Some(waiter) => batch.add(self.permits - waiter.needs),
            None if is_granted => batch.add(self.permits),
            None => {}
        }
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("Semaphore").field("permits", &state.permits).field("is_closed", &state.is_closed).finish()
    }
}
