//! Channels. A channel that is created in an execution belongs to the execution. Any other channel is std's; a managed
//! thread that waits for it yields until there is a message.

mod managed;

use crate::{runtime, thread};
use managed::Channel;
use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, mpsc as std_mpsc};
use std::time::Duration;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

/// The equivalent of [`std::sync::mpsc::channel`].
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    if runtime::is_active() {
        let channel = Arc::new(Channel::new(None, Location::caller()));
        return (Sender(End::Managed(Arc::clone(&channel))), Receiver(ReceivingEnd::Managed(channel)));
    }
    let (sender, receiver) = std_mpsc::channel();
    (Sender(End::Std(sender)), Receiver(ReceivingEnd::Std(receiver)))
}

/// The equivalent of [`std::sync::mpsc::sync_channel`]. With a bound of 0 each message is passed directly.
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    if runtime::is_active() {
        let channel = Arc::new(Channel::new(Some(bound), Location::caller()));
        return (SyncSender(End::Managed(Arc::clone(&channel))), Receiver(ReceivingEnd::Managed(channel)));
    }
    let (sender, receiver) = std_mpsc::sync_channel(bound);
    (SyncSender(End::Std(sender)), Receiver(ReceivingEnd::Std(receiver)))
}

/// A sender of a channel: of std, or of an execution.
enum End<S, T> {
    Std(S),
    Managed(Arc<Channel<T>>),
}

enum ReceivingEnd<T> {
    Std(std_mpsc::Receiver<T>),
    Managed(Arc<Channel<T>>),
}

/// The equivalent of [`std::sync::mpsc::Sender`].
pub struct Sender<T>(End<std_mpsc::Sender<T>, T>);

/// The equivalent of [`std::sync::mpsc::SyncSender`].
pub struct SyncSender<T>(End<std_mpsc::SyncSender<T>, T>);

/// The equivalent of [`std::sync::mpsc::Receiver`].
pub struct Receiver<T>(ReceivingEnd<T>);

impl<T> Sender<T> {
    /// Sends a message.
    ///
    /// # Errors
    ///
    /// If the receiver was dropped; returns the message.
    #[track_caller]
    #[inline]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match &self.0 {
            End::Std(sender) => sender.send(message),
            End::Managed(channel) => channel.send(message),
        }
    }
}

impl<T> SyncSender<T> {
    /// Sends a message, waiting for room.
    ///
    /// # Errors
    ///
    /// If the receiver was dropped; returns the message.
    #[track_caller]
    pub fn send(&self, mut message: T) -> Result<(), SendError<T>> {
        match &self.0 {
            End::Managed(channel) => channel.send(message),
            End::Std(sender) if runtime::is_managed() => loop {
                message = match sender.try_send(message) {
                    Ok(()) => return Ok(()),
                    Err(TrySendError::Disconnected(message)) => return Err(SendError(message)),
                    Err(TrySendError::Full(message)) => message,
                };
                thread::yield_now();
            },
            End::Std(sender) => sender.send(message),
        }
    }

    /// Sends a message if there is room.
    ///
    /// # Errors
    ///
    /// If there is no room, or the receiver was dropped; returns the message.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match &self.0 {
            End::Std(sender) => sender.try_send(message),
            End::Managed(channel) => channel.try_send(message),
        }
    }
}

macro_rules! sender {
    ($name:ident) => {
        impl<T> Clone for $name<T> {
            fn clone(&self) -> $name<T> {
                $name(match &self.0 {
                    End::Std(sender) => End::Std(sender.clone()),
                    End::Managed(channel) => {
                        channel.add_sender();
                        End::Managed(Arc::clone(channel))
                    }
                })
            }
        }

        impl<T> Drop for $name<T> {
            fn drop(&mut self) {
                if let End::Managed(channel) = &self.0 {
                    channel.drop_sender();
                }
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        impl<T> UnwindSafe for $name<T> {}
        impl<T> RefUnwindSafe for $name<T> {}
    };
}

sender!(Sender);
sender!(SyncSender);

impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

impl<T> Receiver<T> {
    /// Receives a message; waits if there is none.
    ///
    /// # Errors
    ///
    /// If there is none and all senders were dropped.
    #[track_caller]
    #[inline]
    pub fn recv(&self) -> Result<T, RecvError> {
        match &self.0 {
            ReceivingEnd::Managed(channel) => channel.receive().map_err(|_| RecvError),
            ReceivingEnd::Std(receiver) if !runtime::is_active() => receiver.recv(),
            ReceivingEnd::Std(receiver) if runtime::is_managed() => loop {
                match receiver.try_recv() {
                    Ok(message) => return Ok(message),
                    Err(TryRecvError::Disconnected) => return Err(RecvError),
                    Err(TryRecvError::Empty) => thread::yield_now(),
                }
            },
            ReceivingEnd::Std(receiver) => receiver.recv(),
        }
    }

    /// Receives a message if there is one.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match &self.0 {
            ReceivingEnd::Std(receiver) => receiver.try_recv(),
            ReceivingEnd::Managed(channel) => channel.try_receive(),
        }
    }

    /// Receives a message, with a time-out; under a schedule the time-out may end at any moment, and ends when no other
    /// thread can continue.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        let result = match &self.0 {
            ReceivingEnd::Managed(channel) => channel.receive_for(timeout),
            ReceivingEnd::Std(receiver) if runtime::is_managed() => {
                thread::sleep(timeout);
                receiver.try_recv()
            }
            ReceivingEnd::Std(receiver) => return receiver.recv_timeout(timeout),
        };
        result.map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    /// Iterates over messages until all senders are dropped.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// Messages that are there.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter(self)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if let ReceivingEnd::Managed(channel) = &self.0 {
            channel.drop_receiver();
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// The equivalent of [`std::sync::mpsc::Iter`].
#[derive(Debug)]
pub struct Iter<'a, T>(&'a Receiver<T>);

/// The equivalent of [`std::sync::mpsc::TryIter`].
#[derive(Debug)]
pub struct TryIter<'a, T>(&'a Receiver<T>);

/// The equivalent of [`std::sync::mpsc::IntoIter`].
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}
