//! A channel whose messages go to all receivers. A receiver that is too slow misses the oldest messages; it then gets
//! the number of messages missed.

use super::waiters::Waiters;
use crate::ids::{index, wide};
use crate::object::Object;
use crate::op::Kind;
use crate::runtime;
use crate::tokio::executor;
use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

const OPEN: [bool; 2] = [true; 2];

/// Errors of this module.
pub mod error {
    /// The equivalent of `tokio::sync::broadcast::error::SendError`: there is no receiver. Contains the message.
    #[derive(Debug)]
    pub struct SendError<T>(pub T);

    /// The equivalent of `tokio::sync::broadcast::error::RecvError`.
    #[derive(Debug, PartialEq, Eq, Clone)]
    pub enum RecvError {
        /// There are no more messages, and all senders were dropped.
        Closed,
        /// The number of messages that were missed. The next one to be received is the oldest that is kept.
        Lagged(u64),
    }

    /// The equivalent of `tokio::sync::broadcast::error::TryRecvError`.
    #[derive(Debug, PartialEq, Eq, Clone)]
    pub enum TryRecvError {
        /// There is no message now.
        Empty,
        /// There are no more messages, and all senders were dropped.
        Closed,
        /// The number of messages that were missed. The next one to be received is the oldest that is kept.
        Lagged(u64),
    }
}

impl<T> fmt::Display for error::SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("channel closed")
    }
}

impl<T: fmt::Debug> std::error::Error for error::SendError<T> {}

impl fmt::Display for error::RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            error::RecvError::Closed => f.write_str("channel closed"),
            error::RecvError::Lagged(missed) => write!(f, "channel lagged by {missed}"),
        }
    }
}

impl std::error::Error for error::RecvError {}

impl fmt::Display for error::TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            error::TryRecvError::Empty => f.write_str("channel empty"),
            error::TryRecvError::Closed => f.write_str("channel closed"),
            error::TryRecvError::Lagged(missed) => write!(f, "channel lagged by {missed}"),
        }
    }
}

impl std::error::Error for error::TryRecvError {}

struct Channel<T> {
    object: Object,
    made: &'static Location<'static>,
    capacity: usize,
    state: Mutex<State<T>>,
}

struct State<T> {
    /// The last messages; `None` for a message that all receivers have received.
    slots: VecDeque<Slot<T>>,
    /// The number of the next message.
    next: u64,
    senders: usize,
    receivers: usize,
    received: Waiters,
    closed: Waiters,
}

struct Slot<T> {
    message: Option<Arc<T>>,
    /// The number of receivers that have not received the message.
    left: usize,
}

impl<T> State<T> {
    fn oldest(&self) -> u64 {
        self.next - wide(self.slots.len())
    }
}

impl<T> Channel<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self, place: &'static Location<'static>) -> MutexGuard<'_, State<T>> {
        self.object.pause_at(Kind::Load, place, || OPEN);
        self.state()
    }
}

/// The equivalent of `tokio::sync::broadcast::Sender`.
pub struct Sender<T>(Arc<Channel<T>>);

/// The equivalent of `tokio::sync::broadcast::Receiver`.
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
    next: u64,
}

/// The equivalent of `tokio::sync::broadcast::channel`: keeps this number of messages, rounded up to a power of two.
///
/// # Panics
///
/// If the number is 0, or more than half of `usize::MAX`.
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::new(capacity);
    sender.0.state().receivers = 1;
    let receiver = Receiver { channel: Arc::clone(&sender.0), next: 0 };
    (sender, receiver)
}

impl<T> Sender<T> {
    /// Creates a sender without receivers.
    ///
    /// # Panics
    ///
    /// The same as [`channel`].
    #[track_caller]
    pub fn new(capacity: usize) -> Sender<T> {
        assert!(capacity > 0, "broadcast channel capacity cannot be zero");
        assert!(capacity <= usize::MAX >> 1, "broadcast channel capacity exceeded `usize::MAX / 2`");
        let made = Location::caller();
        let state = State {
            slots: VecDeque::new(),
            next: 0,
            senders: 1,
            receivers: 0,
            received: Waiters::new(),
            closed: Waiters::new(),
        };
        let object = Object::new("broadcast", made);
        Sender(Arc::new(Channel { object, made, capacity: capacity.next_power_of_two(), state: Mutex::new(state) }))
    }

    /// Sends a message. Returns the number of receivers.
    ///
    /// # Errors
    ///
    /// The message, if there is no receiver.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<usize, error::SendError<T>> {
        self.0.object.touch(Kind::Send);
        self.0.object.release();
        let mut state = self.0.state();
        let left = state.receivers;
        if left == 0 {
            drop(state);
            self.0.object.acquire(false);
            runtime::look();
            return Err(error::SendError(message));
        }
        state.next += 1;
        state.slots.push_back(Slot { message: Some(Arc::new(message)), left });
        let oldest = if state.slots.len() > self.0.capacity { state.slots.pop_front() } else { None };
        let wakers = state.received.take();
        drop(state);
        executor::wake_all(wakers);
        drop(oldest);
        Ok(left)
    }

    /// Creates another receiver, for messages that are sent from now on.
    #[track_caller]
    pub fn subscribe(&self) -> Receiver<T> {
        subscribe(&self.0, Location::caller())
    }

    /// The number of messages that some receiver has not received.
    #[track_caller]
    pub fn len(&self) -> usize {
        let state = self.0.look(Location::caller());
        state.slots.iter().filter(|slot| slot.left > 0).count()
    }

    /// Returns true if all receivers have received all messages.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of receivers.
    #[track_caller]
    pub fn receiver_count(&self) -> usize {
        self.0.look(Location::caller()).receivers
    }

    /// Waits until there is no receiver.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let place = Location::caller();
        let mut wait = Waiting { channel: &self.0, number: None, is_closed: true };
        poll_fn(move |cx| wait.poll(cx, place, |state| (state.receivers == 0).then_some(())))
    }

    /// Returns true if two senders belong to the same channel.
    pub fn same_channel(&self, other: &Sender<T>) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

fn subscribe<T>(channel: &Arc<Channel<T>>, place: &'static Location<'static>) -> Receiver<T> {
    channel.object.pause_at(Kind::Count, place, || OPEN);
    let mut state = channel.state();
    state.receivers += 1;
    Receiver { channel: Arc::clone(channel), next: state.next }
}

impl<T> State<T> {
    /// Takes the message with the number `next`. Returns it with the number of the message after it.
    fn take(&mut self, next: u64) -> Result<(Arc<T>, u64), error::TryRecvError> {
        let oldest = self.oldest();
        if next < oldest {
            return Err(error::TryRecvError::Lagged(oldest - next));
        }
        let Some(slot) = self.slots.get_mut(index(next - oldest)) else {
            let is_over = self.senders == 0;
            return Err(if is_over { error::TryRecvError::Closed } else { error::TryRecvError::Empty });
        };
        slot.left -= 1;
        let message = if slot.left == 0 { slot.message.take() } else { slot.message.clone() };
        Ok((message.expect("some receiver has not received the message"), next + 1))
    }
}

impl<T> Receiver<T> {
    /// The number of messages that were not received, including missed ones.
    #[track_caller]
    pub fn len(&self) -> usize {
        index(self.channel.look(Location::caller()).next - self.next)
    }

    /// Returns true if all messages were received.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if two receivers belong to the same channel.
    pub fn same_channel(&self, other: &Receiver<T>) -> bool {
        Arc::ptr_eq(&self.channel, &other.channel)
    }

    /// Creates another receiver, for messages that are sent from now on.
    #[track_caller]
    #[must_use]
    pub fn resubscribe(&self) -> Receiver<T> {
        subscribe(&self.channel, Location::caller())
    }

    /// Processes the result of an attempt: the receiver advances, also if it has missed messages.
    fn advance(&mut self, taken: Result<(Arc<T>, u64), error::TryRecvError>) -> Result<Arc<T>, error::TryRecvError> {
        match taken {
            Ok((message, next)) => {
                self.next = next;
                self.channel.object.acquire(true);
                Ok(message)
            }
            Err(error) => {
                if let error::TryRecvError::Lagged(missed) = error {
                    self.next += missed;
                }
                if error != error::TryRecvError::Empty {
                    self.channel.object.acquire(false);
                }
                Err(error)
            }
        }
    }
}

impl<T: Clone> Receiver<T> {
    /// Receives a message, if there is one.
    ///
    /// # Errors
    ///
    /// If there is none, or some were missed.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, error::TryRecvError> {
        self.channel.object.touch(Kind::Receive);
        let taken = self.channel.state().take(self.next);
        if taken.is_err() {
            runtime::look();
        }
        self.advance(taken).map(Arc::unwrap_or_clone)
    }

    /// Waits for a message.
    ///
    /// # Errors
    ///
    /// If no more messages will follow, or some were missed.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Result<T, error::RecvError>> {
        let place = Location::caller();
        async move {
            let taken = {
                let next = self.next;
                let mut wait = Waiting { channel: &self.channel, number: None, is_closed: false };
                poll_fn(|cx| {
                    wait.poll(cx, place, |state| match state.take(next) {
                        Err(error::TryRecvError::Empty) => None,
                        taken => Some(taken),
                    })
                })
                .await
            };
            self.advance(taken).map(Arc::unwrap_or_clone).map_err(|error| match error {
                error::TryRecvError::Lagged(missed) => error::RecvError::Lagged(missed),
                error::TryRecvError::Closed | error::TryRecvError::Empty => error::RecvError::Closed,
            })
        }
    }

    /// Waits for a message on a thread that is part of no task.
    ///
    /// # Errors
    ///
    /// The same as [`Receiver::recv`].
    ///
    /// # Panics
    ///
    /// In a task.
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, error::RecvError> {
        executor::block(self.recv())
    }
}

/// A wait for a message, or for the end of the channel.
struct Waiting<'a, T> {
    channel: &'a Channel<T>,
    number: Option<u64>,
    is_closed: bool,
}

impl<T> Waiting<'_, T> {
    fn poll<R>(
        &mut self,
        cx: &Context<'_>,
        place: &'static Location<'static>,
        done: impl FnOnce(&mut State<T>) -> Option<R>,
    ) -> Poll<R> {
        self.channel.object.pause_at(if self.is_closed { Kind::Poll } else { Kind::Receive }, place, || OPEN);
        let waker = cx.waker().clone();
        let mut state = self.channel.state();
        if let Some(result) = done(&mut state) {
            drop(state);
            if self.is_closed {
                self.channel.object.acquire(false);
            }
            return Poll::Ready(result);
        }
        let waiters = if self.is_closed { &mut state.closed } else { &mut state.received };
        let (number, before) = waiters.leave(self.number, waker);
        drop(state);
        drop(before);
        self.number = Some(number);
        executor::awaits(Some(&self.channel.object), place);
        Poll::Pending
    }
}

impl<T> Drop for Waiting<'_, T> {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut state = self.channel.state();
        let left = if self.is_closed { state.closed.remove(number) } else { state.received.remove(number) };
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
        let wakers = if state.senders == 0 { state.received.take() } else { Vec::new() };
        drop(state);
        executor::wake_all(wakers);
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.channel.object.pause_at(Kind::Disconnect, self.channel.made, || OPEN);
        let mut state = self.channel.state();
        state.receivers -= 1;
        let wakers = if state.receivers == 0 { state.closed.take() } else { Vec::new() };
        let first = index(self.next.max(state.oldest()) - state.oldest());
        let mut dropped = Vec::new();
        for slot in state.slots.iter_mut().skip(first) {
            slot.left -= 1;
            if slot.left == 0 {
                dropped.extend(slot.message.take());
            }
        }
        drop(state);
        executor::wake_all(wakers);
        drop(dropped);
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
