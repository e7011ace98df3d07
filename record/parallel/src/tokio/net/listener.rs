//! The equivalent of `tokio::net::TcpListener`.

use super::address::{self, ToSocketAddrs};
use super::host::{self, Node, Queue};
use super::stream::TcpStream;
use crate::op::Kind;
use std::fmt;
use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The equivalent of `tokio::net::TcpListener`, on a simulated network.
pub struct TcpListener {
    local: SocketAddr,
    host: Arc<Node>,
    starts: u32,
    queue: Arc<Queue>,
    made: &'static Location<'static>,
}

impl TcpListener {
    /// Listens at the first address that is free; at any port if it is 0.
    ///
    /// # Errors
    ///
    /// If the port is in use, or the address is not one of the host's.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(address: A) -> impl Future<Output = io::Result<TcpListener>> {
        let made = Location::caller();
        async move {
            let host = host::current();
            let starts = host.state().starts;
            let mut last = io::Error::new(ErrorKind::InvalidInput, "could not resolve to any address");
            for address in address::resolve(&host, &address)? {
                host.pause(Kind::Bind, made);
                host.is_alive(starts)?;
                match host.listen(address) {
                    Ok((local, queue)) => return Ok(TcpListener { local, host, starts, queue, made }),
                    Err(error) => last = error,
                }
            }
            Err(last)
        }
    }

    /// The next connection, and the address of its other side.
    ///
    /// # Errors
    ///
    /// If the host has crashed.
    #[track_caller]
    pub fn accept(&self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> {
        let place = Location::caller();
        poll_fn(move |cx| self.poll_at(cx, place))
    }

    /// The same, for manually implemented futures.
    ///
    /// # Errors
    ///
    /// If the host has crashed.
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        self.poll_at(cx, self.made)
    }

    fn poll_at(
        &self,
        cx: &mut Context<'_>,
        place: &'static Location<'static>,
    ) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        self.host.pause(Kind::Accept, place);
        self.host.is_alive(self.starts)?;
        let Some(end) = self.queue.accept(self.host.world(), cx.waker()) else {
            self.host.awaits(place);
            return Poll::Pending;
        };
        let peer = end.peer;
        Poll::Ready(Ok((TcpStream::new(end, Arc::clone(&self.host), self.starts, place), peer)))
    }

    /// The address at which the listener listens.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.local)
    }
}

impl Drop for TcpListener {
    fn drop(&mut self) {
        self.host.pause(Kind::Disconnect, self.made);
        self.host.close(self.local.port(), &self.queue);
    }
}

impl fmt::Debug for TcpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpListener").field("local", &self.local).finish_non_exhaustive()
    }
}
