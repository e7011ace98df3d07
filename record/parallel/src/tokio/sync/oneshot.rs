//! A channel for one message.

use crate::object::Object;
use crate::op::Kind;
use crate::runtime;
use crate::tokio::executor;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

const OPEN: [bool; 2] = [true; 2];

/// Errors of this module.
pub mod error {
    /// The equivalent of `tokio::sync::oneshot::error::RecvError`: the sender was dropped.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RecvError(pub(super) ());

    /// The equivalent of `tokio::sync::oneshot::error::TryRecvError`.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum TryRecvError {
        /// There is no message yet.
        Empty,
        /// The sender was dropped.
        Closed,
    }
}

impl fmt::Display for error::RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("channel closed")
    }
}

impl std::error::Error for error::RecvError {}

impl fmt::Display for error::TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            error::TryRecvError::Empty => "channel empty",
            error::TryRecvError::Closed => "channel closed",
        })
    }
}

impl std::error::Error for error::TryRecvError {}

/// The state shared by the sender and the receiver.
struct Channel<T> {
    object: Object,
    made: &'static Location<'static>,
    state: Mutex<State<T>>,
}

struct State<T> {
    message: Option<T>,
    /// Whether the sender has sent a message or was dropped.
    is_sent: bool,
    /// Whether the receiver accepts no more messages.
    is_closed: bool,
    receiver: Option<Waker>,
    sender: Option<Waker>,
}

impl<T> Channel<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The equivalent of `tokio::sync::oneshot::Sender`.
pub struct Sender<T> {
    channel: Arc<Channel<T>>,
    is_done: bool,
}

/// The equivalent of `tokio::sync::oneshot::Receiver`.
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
    is_done: bool,
}

/// The equivalent of `tokio::sync::oneshot::channel`.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let made = Location::caller();
    let state = State { message: None, is_sent: false, is_closed: false, receiver: None, sender: None };
    let channel = Arc::new(Channel { object: Object::new("oneshot", made), made, state: Mutex::new(state) });
    (Sender { channel: Arc::clone(&channel), is_done: false }, Receiver { channel, is_done: false })
}

impl<T> Sender<T> {
    /// Sends the message.
    ///
    /// # Errors
    ///
    /// The message, if the receiver was dropped or closed.
    #[track_caller]
    pub fn send(mut self, message: T) -> Result<(), T> {
        self.channel.object.touch(Kind::Send);
        self.is_done = true;
        let mut state = self.channel.state();
        if state.is_closed {
            drop(state);
            runtime::look();
            return Err(message);
        }
        self.channel.object.release();
        (state.message, state.is_sent) = (Some(message), true);
        let waker = state.receiver.take();
        drop(state);
        executor::wake_all(waker);
        Ok(())
    }

    /// Returns true if the receiver was dropped or closed.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.channel.object.touch(Kind::Load);
        self.channel.state().is_closed
    }

    /// Waits until the receiver is dropped or closed.
    #[track_caller]
    pub fn closed(&mut self) -> impl Future<Output = ()> + '_ {
        let place = Location::caller();
        poll_fn(move |cx| self.poll_closed_at(cx, place))
    }

    /// The same, for manually implemented futures.
    #[track_caller]
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_closed_at(cx, Location::caller())
    }

    fn poll_closed_at(&mut self, cx: &Context<'_>, place: &'static Location<'static>) -> Poll<()> {
        self.channel.object.pause_at(Kind::Poll, place, || OPEN);
        let waker = cx.waker().clone();
        let mut state = self.channel.state();
        if state.is_closed {
            return Poll::Ready(());
        }
        let before = state.sender.replace(waker);
        drop(state);
        drop(before);
        executor::awaits(Some(&self.channel.object), place);
        Poll::Pending
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        self.channel.object.pause_at(Kind::Disconnect, self.channel.made, || OPEN);
        let mut state = self.channel.state();
        if state.is_closed {
            // A receiver that has closed the channel does not wait.
            return;
        }
        state.is_sent = true;
        let (receiver, sender) = (state.receiver.take(), state.sender.take());
        drop(state);
        executor::wake_all(receiver);
        drop(sender);
    }
}

impl<T> Receiver<T> {
    /// Receives the message, if there is one.
    ///
    /// # Errors
    ///
    /// If it is not.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, error::TryRecvError> {
        self.channel.object.touch(Kind::Receive);
        let mut state = self.channel.state();
        if let Some(message) = state.message.take() {
            self.is_done = true;
            self.channel.object.acquire(true);
            return Ok(message);
        }
        runtime::look();
        let is_over = state.is_sent || state.is_closed;
        if state.is_sent {
            self.channel.object.acquire(false);
        }
        // As in tokio, nothing more can be received after this result.
        self.is_done |= is_over;
        Err(if is_over { error::TryRecvError::Closed } else { error::TryRecvError::Empty })
    }

    /// Prevents the sender from sending; a message that was sent before can still be received.
    #[track_caller]
    pub fn close(&mut self) {
        self.channel.object.touch(Kind::Disconnect);
        self.close_now();
    }

    fn close_now(&self) {
        let mut state = self.channel.state();
        state.is_closed = true;
        // As in tokio, the sender is woken again if the receiver is dropped after it was closed.
        let waker = if state.is_sent { None } else { state.sender.clone() };
        drop(state);
        executor::wake_all(waker);
    }

    /// Waits for the message on a thread that is part of no task.
    ///
    /// # Errors
    ///
    /// If the sender was dropped.
    ///
    /// # Panics
    ///
    /// In a task.
    #[track_caller]
    pub fn blocking_recv(self) -> Result<T, error::RecvError> {
        executor::block(self)
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, error::RecvError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        assert!(!self.is_done, "called after complete");
        let channel = Arc::clone(&self.channel);
        channel.object.pause_at(Kind::Receive, channel.made, || OPEN);
        let waker = cx.waker().clone();
        let mut state = channel.state();
        if let Some(message) = state.message.take() {
            self.is_done = true;
            channel.object.acquire(true);
            return Poll::Ready(Ok(message));
        }
        if state.is_sent || state.is_closed {
            self.is_done = true;
            channel.object.acquire(true);
            return Poll::Ready(Err(error::RecvError(())));
        }
        let before = state.receiver.replace(waker);
        drop(state);
        drop(before);
        executor::awaits(Some(&channel.object), channel.made);
        Poll::Pending
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        self.channel.object.pause_at(Kind::Disconnect, self.channel.made, || OPEN);
        self.close_now();
        let mut state = self.channel.state();
        let left = (state.message.take(), state.receiver.take());
        drop(state);
        drop(left);
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
