//! The equivalent of `tokio::net::tcp`: the halves of a connection, which different tasks may own.

use super::socket::{Socket, reads, writes};
use crate::tokio::io::ReadBuf;
use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::panic::Location;
use std::sync::Arc;

/// The halves of a stream that is borrowed.
pub(super) fn borrow(socket: &Socket) -> (ReadHalf<'_>, WriteHalf<'_>) {
    (ReadHalf(socket), WriteHalf(socket))
}

/// The halves of a stream.
pub(super) fn own(socket: Arc<Socket>) -> (OwnedReadHalf, OwnedWriteHalf) {
    (OwnedReadHalf(Arc::clone(&socket)), OwnedWriteHalf { socket, shuts_down: true })
}

/// The equivalent of `tokio::net::tcp::ReadHalf`.
pub struct ReadHalf<'a>(&'a Socket);

/// The equivalent of `tokio::net::tcp::WriteHalf`.
pub struct WriteHalf<'a>(&'a Socket);

/// The equivalent of `tokio::net::tcp::OwnedReadHalf`.
pub struct OwnedReadHalf(Arc<Socket>);

/// The equivalent of `tokio::net::tcp::OwnedWriteHalf`.
pub struct OwnedWriteHalf {
    socket: Arc<Socket>,
    shuts_down: bool,
}

reads!(ReadHalf<'_>, own => own.0);
reads!(OwnedReadHalf, own => own.0);
writes!(WriteHalf<'_>, own => own.0);
writes!(OwnedWriteHalf, own => own.socket);

macro_rules! of_half {
    ($type:ty, $own:ident => $socket:expr) => {
        impl $type {
            /// The address of the other side.
            ///
            /// # Errors
            ///
            /// Never.
            pub fn peer_addr(&self) -> io::Result<SocketAddr> {
                let $own = self;
                Ok($socket.end.peer)
            }

            /// The address of this side.
            ///
            /// # Errors
            ///
            /// Never.
            pub fn local_addr(&self) -> io::Result<SocketAddr> {
                let $own = self;
                Ok($socket.end.local)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $own = self;
                $socket.describe(f, stringify!($type))
            }
        }
    };
}

of_half!(ReadHalf<'_>, own => own.0);
of_half!(WriteHalf<'_>, own => own.0);
of_half!(OwnedReadHalf, own => own.0);
of_half!(OwnedWriteHalf, own => own.socket);

macro_rules! read_half {
    ($type:ty) => {
        impl $type {
            /// Waits until there is data to read, the end, or an error.
            ///
            /// # Errors
            ///
            /// If the host has crashed.
            #[track_caller]
            pub fn readable(&self) -> impl Future<Output = io::Result<()>> {
                let place = Location::caller();
                poll_fn(move |cx| self.0.poll_readable(cx, place))
            }

            /// Reads available data.
            ///
            /// # Errors
            ///
            /// `WouldBlock` if there is none; or the connection is broken.
            #[track_caller]
            pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0.try_read(buffer, Location::caller())
            }

            /// Waits for data to read, without removing it.
            ///
            /// # Errors
            ///
            /// If the connection is broken.
            pub async fn peek(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let mut buffer = ReadBuf::new(buffer);
                poll_fn(|cx| self.0.poll_read(cx, &mut buffer, true)).await
            }
        }
    };
}

read_half!(ReadHalf<'_>);
read_half!(OwnedReadHalf);

macro_rules! write_half {
    ($type:ty, $own:ident => $socket:expr) => {
        impl $type {
            /// Waits until something can be written.
            ///
            /// # Errors
            ///
            /// If the connection is broken.
            #[track_caller]
            pub fn writable(&self) -> impl Future<Output = io::Result<()>> {
                let (place, $own) = (Location::caller(), self);
                poll_fn(move |cx| $socket.poll_writable(cx, place))
            }

            /// Writes as much as there is room for.
            ///
            /// # Errors
            ///
            /// `WouldBlock` if there is no room; or the connection is broken.
            #[track_caller]
            pub fn try_write(&self, data: &[u8]) -> io::Result<usize> {
                let $own = self;
                $socket.try_write(data, Location::caller())
            }
        }
    };
}

write_half!(WriteHalf<'_>, own => own.0);
write_half!(OwnedWriteHalf, own => own.socket);

/// Returns the socket of two halves, if they belong to the same one.
pub(super) fn reunite(own: OwnedReadHalf, mut other: OwnedWriteHalf) -> Result<Arc<Socket>, ReuniteError> {
    if !Arc::ptr_eq(&own.0, &other.socket) {
        return Err(ReuniteError(own, other));
    }
    other.shuts_down = false;
    Ok(own.0)
}

impl OwnedWriteHalf {
    /// Drops it without sending an end to the reader.
    pub fn forget(mut self) {
        self.shuts_down = false;
    }
}

impl Drop for OwnedWriteHalf {
    fn drop(&mut self) {
        if self.shuts_down {
            self.socket.shut_down();
        }
    }
}

/// The equivalent of `tokio::net::tcp::ReuniteError`.
#[derive(Debug)]
pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

impl fmt::Display for ReuniteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tried to reunite halves that are not from the same socket")
    }
}

impl std::error::Error for ReuniteError {}
