//! The equivalent of `tokio::net::TcpStream`.

use super::address::{self, ToSocketAddrs};
use super::half::{self, OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
use super::host::{self, End, Node};
use super::socket::{Socket, reads, writes};
use super::timer::Timer;
use crate::op::Kind;
use crate::runtime;
use crate::time::Instant;
use crate::tokio::io::ReadBuf;
use crate::tokio::time::{Duration, sleep};
use std::fmt;
use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::panic::Location;
use std::sync::Arc;
use std::task::Poll;

/// The equivalent of `tokio::net::TcpStream`, over a simulated network.
///
/// ```
/// use record_parallel::tokio::io::{AsyncReadExt, AsyncWriteExt};
/// use record_parallel::tokio::net::{TcpListener, TcpStream};
/// use record_parallel::tokio::{self, runtime::block_on};
///
/// record_parallel::check(|| {
///     block_on(async {
///         let listener = TcpListener::bind("localhost:80").await.unwrap();
///         let server = tokio::spawn(async move {
///             let (mut stream, _) = listener.accept().await.unwrap();
///             stream.write_all(b"hello").await.unwrap();
///         });
///         let mut stream = TcpStream::connect("localhost:80").await.unwrap();
///         let mut text = String::new();
///         stream.read_to_string(&mut text).await.unwrap();
///         assert_eq!(text, "hello");
///         server.await.unwrap();
///     });
/// });
/// ```
pub struct TcpStream(Arc<Socket>);

impl TcpStream {
    pub(super) fn new(end: End, host: Arc<Node>, starts: u32, place: &'static Location<'static>) -> TcpStream {
        TcpStream(Arc::new(Socket::new(end, host, starts, place)))
    }

    /// Opens a connection.
    ///
    /// # Errors
    ///
    /// If there is no listener, the host is not reached within the network's time-out, or there is no such host.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(address: A) -> impl Future<Output = io::Result<TcpStream>> {
        let place = Location::caller();
        async move {
            let host = host::current();
            let mut last = io::Error::new(ErrorKind::InvalidInput, "could not resolve to any address");
            for address in address::resolve(&host, &address)? {
                match connect(&host, address, place).await {
                    Ok(stream) => return Ok(stream),
                    Err(error) => last = error,
                }
            }
            Err(last)
        }
    }

    /// The address of the other side.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.0.end.peer)
    }

    /// The address of this side.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.0.end.local)
    }

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

    /// Waits until something can be written.
    ///
    /// # Errors
    ///
    /// If the connection is broken.
    #[track_caller]
    pub fn writable(&self) -> impl Future<Output = io::Result<()>> {
        let place = Location::caller();
        poll_fn(move |cx| self.0.poll_writable(cx, place))
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

    /// Writes as much as there is room for.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is no room; or the connection is broken.
    #[track_caller]
    pub fn try_write(&self, data: &[u8]) -> io::Result<usize> {
        self.0.try_write(data, Location::caller())
    }

    /// Waits for data to read, without removing it.
    ///
    /// # Errors
    ///
    /// If the connection is broken.
    pub async fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(buffer);
        poll_fn(|cx| self.0.poll_read(cx, &mut buffer, true)).await
    }

    /// Whether small writes are sent at once. Here they always are.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn nodelay(&self) -> io::Result<bool> {
        Ok(self.0.is_nodelay())
    }

    /// Sets whether small writes are sent immediately. Here they always are.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.0.set_nodelay(nodelay);
        Ok(())
    }

    /// Splits the stream into two halves, which borrow it.
    pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        half::borrow(&self.0)
    }

    /// Splits the stream into two halves. The connection is shut down for writing when the second one is dropped.
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        half::own(self.0)
    }
}

/// Opens a connection to one address.
async fn connect(host: &Arc<Node>, address: SocketAddr, place: &'static Location<'static>) -> io::Result<TcpStream> {
    let starts = host.state().starts;
    let world = Arc::clone(host.world());
    let to = host.at(address.ip()).ok_or(ErrorKind::HostUnreachable)?;
    let (mut timer, mut gives_up) = (Timer::default(), None);
    let links = [(host.number, to.number), (to.number, host.number)];
    let end = poll_fn(|cx| {
        to.pause(Kind::Connect, place);
        host.is_alive(starts)?;
        let is_stopped = links.iter().any(|link| world.wires.is_stopped(*link));
        let opened = if is_stopped { Ok(None) } else { host.open(&to, address, place) };
        // An attempt that is refused changes nothing.
        let opened = opened.inspect_err(|_| runtime::look())?;
        if let Some(end) = opened {
            return Poll::Ready(Ok(end));
        }
        let now = Instant::unscheduled();
        let until = *gives_up.get_or_insert(now + world.wires.settings.connect_timeout);
        if until <= now {
            return Poll::Ready(Err(io::Error::from(ErrorKind::TimedOut)));
        }
        world.leave(cx.waker());
        timer.set(Some(until), cx);
        to.awaits(place);
        Poll::Pending
    })
    .await?;
    drop(timer);
    let stream = TcpStream::new(end, Arc::clone(host), starts, place);
    let latency = world.wires.settings.latency;
    if host.number != to.number && latency > Duration::ZERO {
        sleep(latency * 2).await;
    }
    Ok(stream)
}

impl OwnedReadHalf {
    /// Joins two halves, if both belong to the same stream.
    ///
    /// # Errors
    ///
    /// Both halves, if they belong to different streams.
    pub fn reunite(self, other: OwnedWriteHalf) -> Result<TcpStream, ReuniteError> {
        half::reunite(self, other).map(TcpStream)
    }
}

impl OwnedWriteHalf {
    /// Joins two halves, if both belong to the same stream.
    ///
    /// # Errors
    ///
    /// Both halves, if they belong to different streams.
    pub fn reunite(self, other: OwnedReadHalf) -> Result<TcpStream, ReuniteError> {
        half::reunite(other, self).map(TcpStream)
    }
}

reads!(TcpStream, own => own.0);
writes!(TcpStream, own => own.0);

impl fmt::Debug for TcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.describe(f, "TcpStream")
    }
}
