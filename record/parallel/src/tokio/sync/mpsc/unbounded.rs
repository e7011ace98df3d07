//! Channels with room for any number of messages.

use super::channel::Channel;
use super::error::{SendError, TryRecvError};
use crate::tokio::executor;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

/// The equivalent of `tokio::sync::mpsc::UnboundedSender`.
pub struct UnboundedSender<T>(Arc<Channel<T>>);

/// The equivalent of `tokio::sync::mpsc::WeakUnboundedSender`.
pub struct WeakUnboundedSender<T>(Weak<Channel<T>>);

/// The equivalent of `tokio::sync::mpsc::UnboundedReceiver`.
pub struct UnboundedReceiver<T>(Arc<Channel<T>>);

/// The equivalent of `tokio::sync::mpsc::unbounded_channel`.
#[track_caller]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let channel = Arc::new(Channel::new(None, Location::caller()));
    (UnboundedSender(Arc::clone(&channel)), UnboundedReceiver(channel))
}

impl<T> UnboundedSender<T> {
    /// Sends a message.
    ///
    /// # Errors
    ///
    /// The message, if the receiver was dropped or closed.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.0.push(message, Location::caller()).map_err(SendError)
    }

    /// Waits until the receiver is dropped or closed.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        self.0.closed(Location::caller())
    }

    /// Returns true if the receiver was dropped or closed.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.0.is_closed(Location::caller())
    }

    /// Returns true if two senders belong to the same channel.
    pub fn same_channel(&self, other: &UnboundedSender<T>) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A sender that does not keep the channel open.
    pub fn downgrade(&self) -> WeakUnboundedSender<T> {
        WeakUnboundedSender(Arc::downgrade(&self.0))
    }
}

impl<T> WeakUnboundedSender<T> {
    /// A sender, if one still exists.
    #[track_caller]
    pub fn upgrade(&self) -> Option<UnboundedSender<T>> {
        let channel = self.0.upgrade()?;
        channel.revive(Location::caller()).then(|| UnboundedSender(channel))
    }
}

impl<T> Clone for UnboundedSender<T> {
    fn clone(&self) -> UnboundedSender<T> {
        self.0.add_sender();
        UnboundedSender(Arc::clone(&self.0))
    }
}

impl<T> Drop for UnboundedSender<T> {
    fn drop(&mut self) {
        self.0.drop_sender();
    }
}

impl<T> Clone for WeakUnboundedSender<T> {
    fn clone(&self) -> WeakUnboundedSender<T> {
        WeakUnboundedSender(Weak::clone(&self.0))
    }
}

impl<T> UnboundedReceiver<T> {
    /// Waits for a message; `None` if no more will follow.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Option<T>> {
        let place = Location::caller();
        poll_fn(move |cx| self.0.poll_recv(cx, place))
    }

    /// Waits for messages and puts up to `limit` of them into the buffer; returns their number.
    #[track_caller]
    pub fn recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> impl Future<Output = usize> {
        self.0.recv_many(buffer, limit, Location::caller())
    }

    /// Receives a message if there is one.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[track_caller]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.0.try_recv(Location::caller())
    }

    /// Waits for a message on a thread that is part of no task.
    ///
    /// # Panics
    ///
    /// In a task.
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Option<T> {
        executor::block(self.recv())
    }

    /// The same as [`UnboundedReceiver::recv`], for manually implemented futures.
    #[track_caller]
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.0.poll_recv(cx, Location::caller())
    }

    /// Prevents senders from sending; messages that they have sent can still be received.
    #[track_caller]
    pub fn close(&mut self) {
        self.0.close(Location::caller());
    }

    /// Returns true if it is closed, or all senders were dropped.
    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.0.is_over(Location::caller())
    }

    /// The number of messages that can be received now.
    #[track_caller]
    pub fn len(&self) -> usize {
        self.0.len(Location::caller())
    }

    /// Returns true if there is no message.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.0.len(Location::caller()) == 0
    }
}

impl<T> Drop for UnboundedReceiver<T> {
    fn drop(&mut self) {
        self.0.drop_receiver();
    }
}

impl<T> fmt::Debug for UnboundedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnboundedSender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for WeakUnboundedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakUnboundedSender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for UnboundedReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnboundedReceiver").finish_non_exhaustive()
    }
}
