//! The equivalent of `tokio::io`: tokio's own traits and helpers, which work with any stream; and `split`, whose lock
//! is under the schedule.
//!
//! There is no `stdin`, `duplex` or `simplex`: those of tokio use threads or locks that are not under the schedule.

pub use ::tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncSeek, AsyncSeekExt, AsyncWrite, AsyncWriteExt,
    BufReader, BufStream, BufWriter, Chain, Empty, Join, Lines, ReadBuf, Repeat, Sink, Split, Take, copy,
    copy_bidirectional, copy_bidirectional_with_sizes, copy_buf, empty, join, repeat, sink,
};
pub use std::io::{Error, ErrorKind, Result, SeekFrom};

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// A stream that two halves share. Only one of them polls it at a time.
struct Shared<T>(Mutex<Turns<T>>);

struct Turns<T> {
    /// `None` while a half polls it.
    stream: Option<Pin<Box<T>>>,
    /// The wakers of the half that waits.
    wakers: Vec<Waker>,
}

/// The equivalent of `tokio::io::ReadHalf`.
pub struct ReadHalf<T>(Arc<Shared<T>>, PhantomData<T>);

/// The equivalent of `tokio::io::WriteHalf`.
pub struct WriteHalf<T>(Arc<Shared<T>>, PhantomData<T>);

/// Two halves of a stream, for two tasks.
pub fn split<T: AsyncRead + AsyncWrite>(stream: T) -> (ReadHalf<T>, WriteHalf<T>) {
    let turns = Turns { stream: Some(Box::pin(stream)), wakers: Vec::new() };
    let shared = Arc::new(Shared(Mutex::new(turns)));
    (ReadHalf(Arc::clone(&shared), PhantomData), WriteHalf(shared, PhantomData))
}

impl<T> Shared<T> {
    /// Polls the stream, unless the other half is polling it.
    fn poll<R>(&self, cx: &mut Context<'_>, poll: impl FnOnce(Pin<&mut T>, &mut Context<'_>) -> Poll<R>) -> Poll<R> {
        let own = cx.waker().clone();
        let mut stream = {
            let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(stream) = turns.stream.take() else {
                turns.wakers.push(own);
                return Poll::Pending;
            };
            stream
        };
        let polled = poll(stream.as_mut(), cx);
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        turns.stream = Some(stream);
        let wakers = std::mem::take(&mut turns.wakers);
        drop(turns);
        wakers.into_iter().for_each(Waker::wake);
        polled
    }
}

impl<T> ReadHalf<T> {
    /// Returns true if both halves belong to the same stream.
    pub fn is_pair_of(&self, other: &WriteHalf<T>) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Joins the halves to the stream.
    ///
    /// # Panics
    ///
    /// If the halves belong to different streams.
    #[track_caller]
    pub fn unsplit(self, other: WriteHalf<T>) -> T
    where
        T: Unpin,
    {
        assert!(self.is_pair_of(&other), "Unrelated `split::Write` passed to `split::Read::unsplit`.");
        drop(other);
        let shared = Arc::into_inner(self.0).expect("there are two halves");
        let stream = shared.0.into_inner().unwrap_or_else(PoisonError::into_inner).stream;
        *Pin::into_inner(stream.expect("no half polls the stream"))
    }
}

impl<T> WriteHalf<T> {
    /// Returns true if both halves belong to the same stream.
    pub fn is_pair_of(&self, other: &ReadHalf<T>) -> bool {
        other.is_pair_of(self)
    }
}

impl<T: AsyncRead> AsyncRead for ReadHalf<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        self.0.poll(cx, |stream, cx| stream.poll_read(cx, buffer))
    }
}

impl<T: AsyncWrite> AsyncWrite for WriteHalf<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<Result<usize>> {
        self.0.poll(cx, |stream, cx| stream.poll_write(cx, data))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.0.poll(cx, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.0.poll(cx, AsyncWrite::poll_shutdown)
    }
}

impl<T> fmt::Debug for ReadHalf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("split::ReadHalf").finish()
    }
}

impl<T> fmt::Debug for WriteHalf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("split::WriteHalf").finish()
    }
}
