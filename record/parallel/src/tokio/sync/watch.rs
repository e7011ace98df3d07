//! A value for all receivers. They get only the newest one.

use super::waiters::Waiters;
use crate::object::Object;
use crate::op::Kind;
use crate::sync::{RwLock, RwLockReadGuard};
use crate::tokio::executor;
use std::fmt;
use std::future::{Future, poll_fn};
use std::ops::Deref;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

const OPEN: [bool; 2] = [true; 2];

/// Errors of this module.
pub mod error {
    /// The equivalent of `tokio::sync::watch::error::SendError`: there is no receiver. Contains the value.
    #[derive(PartialEq, Eq, Clone, Copy)]
    pub struct SendError<T>(pub T);

    /// The equivalent of `tokio::sync::watch::error::RecvError`: all senders were dropped.
    #[derive(Debug, Clone)]
    pub struct RecvError(pub(super) ());
}

impl<T> fmt::Debug for error::SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendError").finish_non_exhaustive()
    }
}

impl<T> fmt::Display for error::SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("channel closed")
    }
}

impl<T> std::error::Error for error::SendError<T> {}

impl fmt::Display for error::RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("channel closed")
    }
}

impl std::error::Error for error::RecvError {}

/// The state shared by senders and receivers. The value is in a blocking lock, as in tokio: a receiver that borrows it
/// blocks senders.
struct Shared<T> {
    value: RwLock<T>,
    object: Object,
    made: &'static Location<'static>,
    state: Mutex<State>,
}

struct State {
    version: u64,
    senders: usize,
    receivers: usize,
    changed: Waiters,
    closed: Waiters,
}

impl<T> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self, place: &'static Location<'static>) -> MutexGuard<'_, State> {
        self.object.pause_at(Kind::Load, place, || OPEN);
        self.state()
    }

    #[track_caller]
    fn borrow(&self) -> RwLockReadGuard<'_, T> {
        self.value.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// The equivalent of `tokio::sync::watch::Sender`.
pub struct Sender<T>(Arc<Shared<T>>);

/// The equivalent of `tokio::sync::watch::Receiver`.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    seen: u64,
}

/// The equivalent of `tokio::sync::watch::Ref`: the value, which no sender changes meanwhile.
pub struct Ref<'a, T> {
    inner: RwLockReadGuard<'a, T>,
    has_changed: bool,
}

impl<T> Ref<'_, T> {
    /// Returns true if the value was new to the receiver that borrows it.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

/// The equivalent of `tokio::sync::watch::channel`. The initial value counts as seen by the receiver.
#[track_caller]
pub fn channel<T>(init: T) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::new(init);
    sender.0.state().receivers = 1;
    let receiver = Receiver { shared: Arc::clone(&sender.0), seen: 0 };
    (sender, receiver)
}

impl<T> Sender<T> {
    /// Creates a sender without receivers.
    #[track_caller]
    pub fn new(init: T) -> Sender<T> {
        let made = Location::caller();
        let state = State { version: 0, senders: 1, receivers: 0, changed: Waiters::new(), closed: Waiters::new() };
        let object = Object::new("watch", made);
        Sender(Arc::new(Shared { value: RwLock::new(init), object, made, state: Mutex::new(state) }))
    }

    /// Sends a value.
    ///
    /// # Errors
    ///
    /// The value, if there is no receiver.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), error::SendError<T>> {
        if self.receiver_count() == 0 {
            return Err(error::SendError(value));
        }
        self.send_replace(value);
        Ok(())
    }

    /// Changes the value.
    #[track_caller]
    pub fn send_modify(&self, modify: impl FnOnce(&mut T)) {
        self.send_if_modified(|value| {
            modify(value);
            true
        });
    }

    /// Changes the value, if `modify` returns true.
    #[track_caller]
    pub fn send_if_modified(&self, modify: impl FnOnce(&mut T) -> bool) -> bool {
        let shared = &self.0;
        {
            let mut value = shared.value.write().unwrap_or_else(std::sync::PoisonError::into_inner);
            if !modify(&mut value) {
                return false;
            }
            // Receivers may observe that there is a new value while it is still locked.
            shared.object.touch_too(|| OPEN);
            shared.state().version += 1;
        }
        shared.object.pause_at(Kind::NotifyAll, Location::caller(), || OPEN);
        shared.object.release();
        let wakers = shared.state().changed.take();
        executor::wake_all(wakers);
        true
    }

    /// Sends a value even if there is no receiver, and returns the previous one.
    #[track_caller]
    pub fn send_replace(&self, mut value: T) -> T {
        self.send_modify(|own| std::mem::swap(own, &mut value));
        value
    }

    /// The value.
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        Ref { inner: self.0.borrow(), has_changed: false }
    }

    /// Creates another receiver, for which the current value counts as seen.
    #[track_caller]
    pub fn subscribe(&self) -> Receiver<T> {
        self.0.object.pause_at(Kind::Count, Location::caller(), || OPEN);
        let mut state = self.0.state();
        state.receivers += 1;
        Receiver { shared: Arc::clone(&self.0), seen: state.version }
    }

    /// The number of receivers.
    #[track_caller]
    pub fn receiver_count(&self) -> usize {
        self.0.look(Location::caller()).receivers
    }

    /// Returns true if there is no receiver.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.0.look(Location::caller()).receivers == 0
    }

    /// Waits until there is no receiver.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let place = Location::caller();
        let mut wait = Waiting { shared: &self.0, number: None, is_closed: true };
        poll_fn(move |cx| wait.poll(cx, place, |state| (state.receivers == 0).then_some(())))
    }

    /// Returns true if two senders belong to the same channel.
    pub fn same_channel(&self, other: &Sender<T>) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Receiver<T> {
    /// The value, without marking it as seen.
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        let inner = self.shared.borrow();
        self.shared.object.touch_too(|| OPEN);
        let has_changed = self.shared.state().version != self.seen;
        Ref { inner, has_changed }
    }

    /// The value, which is then marked as seen.
    #[track_caller]
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let inner = self.shared.borrow();
        self.shared.object.touch_too(|| OPEN);
        let version = self.shared.state().version;
        let has_changed = std::mem::replace(&mut self.seen, version) != version;
        Ref { inner, has_changed }
    }

    /// Whether there is a value that was not seen.
    ///
    /// # Errors
    ///
    /// If all senders were dropped.
    #[track_caller]
    pub fn has_changed(&self) -> Result<bool, error::RecvError> {
        let state = self.shared.look(Location::caller());
        if state.senders == 0 { Err(error::RecvError(())) } else { Ok(state.version != self.seen) }
    }

    /// Marks the value as not seen.
    pub fn mark_changed(&mut self) {
        self.seen = self.seen.wrapping_sub(1);
    }

    /// Marks the value as seen.
    #[track_caller]
    pub fn mark_unchanged(&mut self) {
        self.seen = self.shared.look(Location::caller()).version;
    }

    /// Waits for a value that was not seen, and marks it as seen.
    ///
    /// # Errors
    ///
    /// If all senders were dropped, and the last value was seen.
    #[track_caller]
    pub fn changed(&mut self) -> impl Future<Output = Result<(), error::RecvError>> {
        let place = Location::caller();
        let Receiver { shared, seen } = self;
        let mut wait = Waiting { shared, number: None, is_closed: false };
        poll_fn(move |cx| {
            wait.poll(cx, place, |state| {
                if std::mem::replace(seen, state.version) != state.version {
                    return Some(Ok(()));
                }
                (state.senders == 0).then_some(Err(error::RecvError(())))
            })
        })
    }

    /// Waits for a value for which this returns true.
    ///
    /// # Errors
    ///
    /// If all senders are dropped before.
    #[track_caller]
    pub fn wait_for(
        &mut self,
        mut is_wanted: impl FnMut(&T) -> bool,
    ) -> impl Future<Output = Result<Ref<'_, T>, error::RecvError>> {
        let place = Location::caller();
        let Receiver { shared, seen } = self;
        async move {
            let mut is_over = false;
            loop {
                {
                    let inner = shared.borrow();
                    shared.object.touch_too(|| OPEN);
                    let version = shared.state().version;
                    let has_changed = std::mem::replace(seen, version) != version;
                    if (!is_over || has_changed) && is_wanted(&inner) {
                        return Ok(Ref { inner, has_changed });
                    }
                }
                if is_over {
                    return Err(error::RecvError(()));
                }
                let mut wait = Waiting { shared, number: None, is_closed: false };
                let changed = poll_fn(|cx| {
                    wait.poll(cx, place, |state| {
                        if *seen == state.version { (state.senders == 0).then_some(false) } else { Some(true) }
                    })
                });
                is_over = !changed.await;
            }
        }
    }

    /// Returns true if two receivers belong to the same channel.
    pub fn same_channel(&self, other: &Receiver<T>) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

/// A wait for a change, or for the end of the channel.
struct Waiting<'a, T> {
    shared: &'a Shared<T>,
    number: Option<u64>,
    is_closed: bool,
}

impl<T> Waiting<'_, T> {
    fn poll<R>(
        &mut self,
        cx: &Context<'_>,
        place: &'static Location<'static>,
        done: impl FnOnce(&State) -> Option<R>,
    ) -> Poll<R> {
        self.shared.object.pause_at(Kind::Poll, place, || OPEN);
        let waker = cx.waker().clone();
        let mut state = self.shared.state();
        if let Some(result) = done(&state) {
            drop(state);
            self.shared.object.acquire(true);
            return Poll::Ready(result);
        }
        let waiters = if self.is_closed { &mut state.closed } else { &mut state.changed };
        let (number, before) = waiters.leave(self.number, waker);
        drop(state);
        drop(before);
        self.number = Some(number);
        executor::awaits(Some(&self.shared.object), place);
        Poll::Pending
    }
}

impl<T> Drop for Waiting<'_, T> {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut state = self.shared.state();
        let left = if self.is_closed { state.closed.remove(number) } else { state.changed.remove(number) };
        drop(state);
        drop(left);
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        self.0.state().senders += 1;
        Sender(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.object.pause_at(Kind::Disconnect, self.0.made, || OPEN);
        let mut state = self.0.state();
        state.senders -= 1;
        let wakers = if state.senders == 0 { state.changed.take() } else { Vec::new() };
        drop(state);
        executor::wake_all(wakers);
    }
}

impl<T> Clone for Receiver<T> {
    #[track_caller]
    fn clone(&self) -> Receiver<T> {
        self.shared.object.pause_at(Kind::Count, Location::caller(), || OPEN);
        self.shared.state().receivers += 1;
        Receiver { shared: Arc::clone(&self.shared), seen: self.seen }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.object.pause_at(Kind::Disconnect, self.shared.made, || OPEN);
        let mut state = self.shared.state();
        state.receivers -= 1;
        let wakers = if state.receivers == 0 { state.closed.take() } else { Vec::new() };
        drop(state);
        executor::wake_all(wakers);
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

impl<T: fmt::Debug> fmt::Debug for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
