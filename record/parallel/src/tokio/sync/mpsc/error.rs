//! Errors of channels, as in `tokio::sync::mpsc::error`.

use std::fmt;

/// The receiver was dropped or closed. Contains the message.
#[derive(PartialEq, Eq, Clone, Copy)]
pub struct SendError<T>(pub T);

/// Why a message was not sent at once.
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum TrySendError<T> {
    /// There is no room.
    Full(T),
    /// The receiver was dropped or closed.
    Closed(T),
}

/// Why a message was not sent within the time.
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum SendTimeoutError<T> {
    /// The time-out ended.
    Timeout(T),
    /// The receiver was dropped or closed.
    Closed(T),
}

/// Why no message was received at once.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum TryRecvError {
    /// There is no message now.
    Empty,
    /// All senders were dropped, or the channel is closed.
    Disconnected,
}

impl<T> TrySendError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        match self {
            TrySendError::Full(message) | TrySendError::Closed(message) => message,
        }
    }
}

impl<T> SendTimeoutError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        match self {
            SendTimeoutError::Timeout(message) | SendTimeoutError::Closed(message) => message,
        }
    }
}

macro_rules! error {
    ([$($param:tt)*] $error:ty, |$own:ident| $text:expr) => {
        impl $($param)* fmt::Display for $error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $own = self;
                f.write_str($text)
            }
        }

        impl $($param)* std::error::Error for $error {}
    };
}

error!([<T>] SendError<T>, |_own| "channel closed");
error!([<T>] TrySendError<T>, |own| match own {
    TrySendError::Full(_) => "no available capacity",
    TrySendError::Closed(_) => "channel closed",
});
error!([<T>] SendTimeoutError<T>, |own| match own {
    SendTimeoutError::Timeout(_) => "timed out waiting on send operation",
    SendTimeoutError::Closed(_) => "channel closed",
});
error!([] TryRecvError, |own| match own {
    TryRecvError::Empty => "receiving on an empty channel",
    TryRecvError::Disconnected => "receiving on a closed channel",
});

// Does not show the message, which need not implement `Debug`.
impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendError").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySendError::Full(_) => "Full(..)",
            TrySendError::Closed(_) => "Closed(..)",
        })
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendTimeoutError::Timeout(_) => "Timeout(..)",
            SendTimeoutError::Closed(_) => "Closed(..)",
        })
    }
}
