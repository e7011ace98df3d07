//! One end of a connection, as a program uses it: polling its streams and halves, single attempts, and shutdown.

use super::connection::Stuck;
use super::host::{End, Node};
use super::timer::Timer;
use crate::op::Kind;
use crate::runtime;
use crate::time::Instant;
use crate::tokio::executor;
use crate::tokio::io::ReadBuf;
use std::fmt;
use std::io::{self, ErrorKind, IoSlice};
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

/// One end of a connection, as a program uses it.
pub(super) struct Socket {
    pub(super) end: End,
    host: Arc<Node>,
    /// The number of starts of the host when the socket was created.
    starts: u32,
    waits: Mutex<Waits>,
    place: &'static Location<'static>,
}

#[derive(Default)]
struct Waits {
    /// The timer of the reader, and that of the writer.
    timers: [Timer; 2],
    /// Whether a thread has looked for data in transit without waiting.
    is_vain: bool,
    is_nodelay: bool,
}

const READ: usize = 0;
const WRITE: usize = 1;

impl Socket {
    pub(super) fn new(end: End, host: Arc<Node>, starts: u32, place: &'static Location<'static>) -> Socket {
        Socket { end, host, starts, waits: Mutex::default(), place }
    }

    fn waits(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Polls an operation, with the timer of the reader or the writer.
    fn poll<T>(
        &self,
        cx: &mut Context<'_>,
        timer: usize,
        place: &'static Location<'static>,
        op: impl FnOnce() -> Result<T, Stuck>,
    ) -> Poll<io::Result<T>> {
        let connection = &self.end.connection;
        connection.pause(if timer == READ { Kind::Receive } else { Kind::Send }, place);
        self.host.is_alive(self.starts)?;
        match op() {
            Ok(value) => {
                self.waits().timers[timer] = Timer::default();
                Poll::Ready(Ok(value))
            }
            Err(Stuck::Fails(error)) => Poll::Ready(Err(error)),
            Err(Stuck::Wait { arrives, gives_up }) => {
                connection.leave(self.end.side, cx.waker());
                self.waits().timers[timer].set(arrives.into_iter().chain(gives_up).min(), cx);
                executor::awaits(Some(&connection.object), place);
                Poll::Pending
            }
        }
    }

    /// Tries an operation once. If the caller tries again while data is in transit, the clock advances.
    fn attempt<T>(
        &self,
        kind: Kind,
        place: &'static Location<'static>,
        op: impl Fn() -> Result<T, Stuck>,
    ) -> io::Result<T> {
        self.end.connection.pause(kind, place);
        self.host.is_alive(self.starts)?;
        let mut result = op();
        if let Err(Stuck::Wait { arrives, .. }) = &result {
            match arrives {
                None => runtime::look(),
                Some(at) if std::mem::replace(&mut self.waits().is_vain, true) => {
                    let left = *at - Instant::unscheduled();
                    runtime::with(|execution| execution.jump(left));
                    result = op();
                }
                Some(_) => {}
            }
        }
        match result {
            Ok(value) => {
                self.waits().is_vain = false;
                Ok(value)
            }
            Err(Stuck::Fails(error)) => Err(error),
            Err(Stuck::Wait { .. }) => Err(ErrorKind::WouldBlock.into()),
        }
    }

    pub(super) fn poll_read(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
        is_peek: bool,
    ) -> Poll<io::Result<usize>> {
        let to = buffer.initialize_unfilled();
        let read = self.poll(cx, READ, self.place, || self.end.connection.read(self.end.side, to, is_peek));
        if let Poll::Ready(Ok(count)) = read {
            buffer.advance(count);
        }
        read
    }

    pub(super) fn poll_write(&self, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        let write = || self.end.connection.write(self.end.side, data.iter(), data.len());
        self.poll(cx, WRITE, self.place, write)
    }

    pub(super) fn poll_write_vectored(&self, cx: &mut Context<'_>, data: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let length = data.iter().map(|slice| slice.len()).sum();
        let bytes = data.iter().flat_map(|slice| slice.iter());
        self.poll(cx, WRITE, self.place, || self.end.connection.write(self.end.side, bytes, length))
    }

    pub(super) fn shut_down(&self) {
        self.end.connection.pause(Kind::Disconnect, self.place);
        self.end.connection.finish(self.end.side);
    }

    pub(super) fn poll_readable(
        &self,
        cx: &mut Context<'_>,
        place: &'static Location<'static>,
    ) -> Poll<io::Result<()>> {
        // An error makes the socket readable: the next read returns it.
        self.poll(cx, READ, place, || match self.end.connection.readable(self.end.side) {
            Err(Stuck::Fails(_)) => Ok(()),
            other => other,
        })
    }

    pub(super) fn poll_writable(
        &self,
        cx: &mut Context<'_>,
        place: &'static Location<'static>,
    ) -> Poll<io::Result<()>> {
        self.poll(cx, WRITE, place, || self.end.connection.writable(self.end.side))
    }

    pub(super) fn try_read(&self, buffer: &mut [u8], place: &'static Location<'static>) -> io::Result<usize> {
        let buffer = std::cell::RefCell::new(buffer);
        self.attempt(Kind::Receive, place, || self.end.connection.read(self.end.side, &mut buffer.borrow_mut(), false))
    }

    pub(super) fn try_write(&self, data: &[u8], place: &'static Location<'static>) -> io::Result<usize> {
        self.attempt(Kind::Send, place, || self.end.connection.write(self.end.side, data.iter(), data.len()))
    }

    pub(super) fn is_nodelay(&self) -> bool {
        self.waits().is_nodelay
    }

    pub(super) fn set_nodelay(&self, is_nodelay: bool) {
        self.waits().is_nodelay = is_nodelay;
    }
}

impl Socket {
    pub(super) fn describe(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        f.debug_struct(name).field("local", &self.end.local).field("peer", &self.end.peer).finish()
    }
}

/// Implements `AsyncRead` for a type, given its socket.
macro_rules! reads {
    ($type:ty, $own:ident => $socket:expr) => {
        impl ::tokio::io::AsyncRead for $type {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buffer: &mut ::tokio::io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                let $own = &*self;
                $socket.poll_read(cx, buffer, false).map_ok(|_| ())
            }
        }
    };
}

/// Implements `AsyncWrite` for a type, given its socket.
macro_rules! writes {
    ($type:ty, $own:ident => $socket:expr) => {
        impl ::tokio::io::AsyncWrite for $type {
            fn poll_write(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                data: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                let $own = &*self;
                $socket.poll_write(cx, data)
            }

            fn poll_flush(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                // Written data is sent immediately, as over TCP.
                std::task::Poll::Ready(Ok(()))
            }

            fn poll_shutdown(
                self: std::pin::Pin<&mut Self>,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                let $own = &*self;
                $socket.shut_down();
                std::task::Poll::Ready(Ok(()))
            }

            fn poll_write_vectored(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                data: &[std::io::IoSlice<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                let $own = &*self;
                $socket.poll_write_vectored(cx, data)
            }

            fn is_write_vectored(&self) -> bool {
                true
            }
        }
    };
}

pub(super) use {reads, writes};
