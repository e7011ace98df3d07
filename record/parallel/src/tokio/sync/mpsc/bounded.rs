//! Channels with room for a limited number of messages.

use super::channel::Channel;
use super::error::{SendError, SendTimeoutError, TryRecvError, TrySendError};
use crate::time::Duration;
use crate::tokio::executor;
use crate::tokio::sync::batch::{Batch, NoPermit};
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

/// The equivalent of `tokio::sync::mpsc::Sender`.
pub struct Sender<T>(Arc<Channel<T>>);

/// The equivalent of `tokio::sync::mpsc::WeakSender`.
pub struct WeakSender<T>(Weak<Channel<T>>);

/// The equivalent of `tokio::sync::mpsc::Receiver`.
pub struct Receiver<T>(Arc<Channel<T>>);

/// The equivalent of `tokio::sync::mpsc::Permit`: room for one message.
pub struct Permit<'a, T> {
    sender: &'a Sender<T>,
    is_used: bool,
    place: &'static Location<'static>,
}

/// The equivalent of `tokio::sync::mpsc::OwnedPermit`.
pub struct OwnedPermit<T> {
    sender: Option<Sender<T>>,
    place: &'static Location<'static>,
}

/// The equivalent of `tokio::sync::mpsc::channel`.
///
/// # Panics
///
/// If the buffer has no room at all.
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    assert!(buffer > 0, "mpsc bounded channel requires buffer > 0");
    let channel = Arc::new(Channel::new(Some(buffer), Location::caller()));
    (Sender(Arc::clone(&channel)), Receiver(channel))
}

impl<T> Channel<T> {
    fn permits(&self) -> (&Batch, usize) {
        let (room, bound) = self.room.as_ref().expect("the channel has a limit");
        (room, *bound)
    }
}

/// Wakes a receiver when it is dropped, since a wait that failed or was cancelled may have returned permits.
struct Returns<'a, T>(&'a Channel<T>);

impl<T> Drop for Returns<'_, T> {
    fn drop(&mut self) {
        self.0.wake_if_idle();
    }
}

impl<T> Sender<T> {
    fn permits(&self) -> &Batch {
        self.0.permits().0
    }

    async fn permit(&self, place: &'static Location<'static>) -> Result<(), SendError<()>> {
        let returns = Returns(&self.0);
        self.permits().acquire(1, place).await.map_err(|_| SendError(()))?;
        std::mem::forget(returns);
        Ok(())
    }

    /// Waits for room, and sends a message.
    ///
    /// # Errors
    ///
    /// The message, if the receiver was dropped or closed.
    #[track_caller]
    pub fn send(&self, message: T) -> impl Future<Output = Result<(), SendError<T>>> {
        let place = Location::caller();
        async move {
            match self.permit(place).await {
                Ok(()) => self.0.push(message, place).map_err(SendError),
                Err(SendError(())) => Err(SendError(message)),
            }
        }
    }

    /// The same with a time-out.
    ///
    /// # Errors
    ///
    /// The message, after the time-out, or if the receiver was dropped or closed.
    #[track_caller]
    pub fn send_timeout(
        &self,
        message: T,
        duration: Duration,
    ) -> impl Future<Output = Result<(), SendTimeoutError<T>>> {
        let place = Location::caller();
        let waits = crate::tokio::time::timeout(duration, self.permit(place));
        async move {
            match waits.await {
                Ok(Ok(())) => self.0.push(message, place).map_err(SendTimeoutError::Closed),
                Ok(Err(SendError(()))) => Err(SendTimeoutError::Closed(message)),
                Err(_) => Err(SendTimeoutError::Timeout(message)),
            }
        }
    }

    /// Sends a message from a thread that is part of no task.
    ///
    /// # Errors
    ///
    /// The message, if the receiver was dropped or closed.
    ///
    /// # Panics
    ///
    /// In a task.
    #[track_caller]
    pub fn blocking_send(&self, message: T) -> Result<(), SendError<T>> {
        executor::block(self.send(message))
    }

    fn try_permit(&self, place: &'static Location<'static>) -> Result<(), TrySendError<()>> {
        self.permits().try_acquire(1, place).map_err(|why| match why {
            NoPermit::Closed => TrySendError::Closed(()),
            NoPermit::TooFew => TrySendError::Full(()),
        })
    }

    /// Sends a message if there is room.
    ///
    /// # Errors
    ///
    /// The message, if there is none, or the receiver was dropped or closed.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let place = Location::caller();
        match self.try_permit(place) {
            Ok(()) => self.0.push(message, place).map_err(TrySendError::Closed),
            Err(TrySendError::Full(())) => Err(TrySendError::Full(message)),
            Err(TrySendError::Closed(())) => Err(TrySendError::Closed(message)),
        }
    }

    /// Waits for room for a message.
    ///
    /// # Errors
    ///
    /// If the receiver was dropped or closed.
    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> {
        let place = Location::caller();
        async move {
            self.permit(place).await?;
            Ok(Permit { sender: self, is_used: false, place })
        }
    }

    /// The same, with the sender in the permit.
    ///
    /// # Errors
    ///
    /// If the receiver was dropped or closed.
    #[track_caller]
    pub fn reserve_owned(self) -> impl Future<Output = Result<OwnedPermit<T>, SendError<()>>> {
        let place = Location::caller();
        async move {
            self.permit(place).await?;
            Ok(OwnedPermit { sender: Some(self), place })
        }
    }

    /// Reserves room for a message, if there is any.
    ///
    /// # Errors
    ///
    /// If there is none, or the receiver was dropped or closed.
    #[track_caller]
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        let place = Location::caller();
        self.try_permit(place)?;
        Ok(Permit { sender: self, is_used: false, place })
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

    /// The number of messages for which there is room now.
    #[track_caller]
    pub fn capacity(&self) -> usize {
        self.permits().available(Location::caller())
    }

    /// The number of messages for which there was room at the beginning.
    pub fn max_capacity(&self) -> usize {
        self.0.permits().1
    }

    /// Returns true if two senders belong to the same channel.
    pub fn same_channel(&self, other: &Sender<T>) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A sender that does not keep the channel open.
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender(Arc::downgrade(&self.0))
    }
}

impl<T> WeakSender<T> {
    /// A sender, if one still exists.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        let channel = self.0.upgrade()?;
        channel.revive(Location::caller()).then(|| Sender(channel))
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        self.0.add_sender();
        Sender(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.drop_sender();
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> WeakSender<T> {
        WeakSender(Weak::clone(&self.0))
    }
}

impl<T> Permit<'_, T> {
    /// Sends a message.
    #[track_caller]
    pub fn send(mut self, message: T) {
        self.is_used = true;
        _ = self.sender.0.push(message, Location::caller());
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        if !self.is_used {
            self.sender.0.give_up(self.place);
        }
    }
}

impl<T> OwnedPermit<T> {
    /// Sends a message.
    #[track_caller]
    pub fn send(mut self, message: T) -> Sender<T> {
        let sender = self.sender.take().expect("the sender is present until the permit is used");
        _ = sender.0.push(message, Location::caller());
        sender
    }

    /// Returns the room.
    pub fn release(mut self) -> Sender<T> {
        let sender = self.sender.take().expect("the sender is present until the permit is used");
        sender.0.give_up(self.place);
        sender
    }
}

impl<T> Drop for OwnedPermit<T> {
    fn drop(&mut self) {
        if let Some(sender) = &self.sender {
            sender.0.give_up(self.place);
        }
    }
}

impl<T> Receiver<T> {
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

    /// The same as [`Receiver::recv`], for manually implemented futures.
    #[track_caller]
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.0.poll_recv(cx, Location::caller())
    }

    /// Prevents senders from sending; messages that they have sent, or have room for, can still be received.
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

    /// The number of messages for which there is room now.
    #[track_caller]
    pub fn capacity(&self) -> usize {
        self.0.permits().0.available(Location::caller())
    }

    /// The number of messages for which there was room at the beginning.
    pub fn max_capacity(&self) -> usize {
        self.0.permits().1
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.0.drop_receiver();
    }
}

macro_rules! debug {
    ($($name:literal $type:ty;)*) => {
        $(impl<T> fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct($name).finish_non_exhaustive()
            }
        })*
    };
}

debug! {
    "Sender" Sender<T>;
    "WeakSender" WeakSender<T>;
    "Receiver" Receiver<T>;
    "Permit" Permit<'_, T>;
    "OwnedPermit" OwnedPermit<T>;
}
