//! One connection, with limits on time and memory. A client that sends or receives nothing for long is disconnected.

use crate::route;
use crate::state::State;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

/// The maximum time for all headers of a request, and between two requests.
const HEADER_TIME: Duration = Duration::from_secs(15);
/// The maximum time in which the client accepts no data.
const WRITE_TIME: Duration = Duration::from_mins(1);
/// The maximum length of the headers of a request, including its address, in bytes.
const HEADER_BYTES_MAX: usize = 32 << 10;
const HEADERS_MAX: usize = 64;

/// Serves all requests of a connection.
pub(crate) async fn serve(stream: TcpStream, state: Arc<State>) {
    // A client that has already disconnected has no address.
    let Ok(peer) = stream.peer_addr() else { return };
    // Small events are sent without delay.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let state = Arc::clone(&state);
        async move { Ok::<_, Infallible>(route::answer(state, peer.ip(), request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(HEADER_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(Patient::new(stream)), service);
    // The reason of the disconnection does not matter.
    let _ = connection.await;
}

/// A stream that fails if its other side accepts no data, or never sends any.
struct Patient {
    stream: TcpStream,
    /// The time limit until the first data is received: hyper's timeout begins only then.
    first: Option<Pin<Box<Sleep>>>,
    /// The time limit since the other side last accepted data.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    fn new(stream: TcpStream) -> Patient {
        Patient { stream, first: Some(Box::pin(sleep(HEADER_TIME))), stalled: None }
    }

    fn after_write<T>(&mut self, done: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.stalled = None;
            return done;
        }
        let sleep = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + WRITE_TIME)));
        sleep.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Patient {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buf);
        if read.is_ready() {
            self.first = None;
            return read;
        }
        match &mut self.first {
            Some(first) => first.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into())),
            None => Poll::Pending,
        }
    }
}

impl AsyncWrite for Patient {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.after_write(written, context)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
