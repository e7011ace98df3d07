//! The equivalent of `tokio::net::UdpSocket`: datagrams that may be lost, arrive twice, or overtake each other.

use super::address::{self, ToSocketAddrs};
use super::host::{self, Node};
use super::mailbox::{BYTES_MAX, Datagram, Mailbox};
use super::timer::Timer;
use crate::op::Kind;
use crate::runtime;
use crate::time::Instant;
use crate::tokio::executor;
use std::fmt;
use std::future::{Future, poll_fn, ready};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

/// The equivalent of `tokio::net::UdpSocket`, on a simulated network. Datagrams to an unused port are lost without an
/// error.
pub struct UdpSocket {
    local: SocketAddr,
    host: Arc<Node>,
    starts: u32,
    mailbox: Arc<Mailbox>,
    waits: Mutex<Waits>,
    made: &'static Location<'static>,
}

#[derive(Default)]
struct Waits {
    peer: Option<SocketAddr>,
    timer: Timer,
    /// Whether a thread has looked for datagrams in transit without waiting.
    is_vain: bool,
}

impl UdpSocket {
    /// Opens a port; any free port if it is 0.
    ///
    /// # Errors
    ///
    /// If the port is in use, or the address is not one of the host's.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(address: A) -> impl Future<Output = io::Result<UdpSocket>> {
        let made = Location::caller();
        async move {
            let host = host::current();
            let starts = host.state().starts;
            let mut last = io::Error::new(ErrorKind::InvalidInput, "could not resolve to any address");
            for address in address::resolve(&host, &address)? {
                host.pause(Kind::Bind, made);
                host.is_alive(starts)?;
                match host.receive(address) {
                    Ok((local, mailbox)) => {
                        return Ok(UdpSocket { local, host, starts, mailbox, waits: Mutex::default(), made });
                    }
                    Err(error) => last = error,
                }
            }
            Err(last)
        }
    }

    fn waits(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends to an address from now on, and receives from there only.
    ///
    /// # Errors
    ///
    /// If there is no such host.
    pub fn connect<A: ToSocketAddrs>(&self, address: A) -> impl Future<Output = io::Result<()>> {
        ready(address::resolve(&self.host, &address).and_then(|all| {
            let peer = all.first().copied();
            self.waits().peer = peer;
            peer.map(drop).ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "could not resolve to any address"))
        }))
    }

    /// The address at which the socket receives.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.local)
    }

    /// The address to which the socket sends.
    ///
    /// # Errors
    ///
    /// If it was not connected.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.waits().peer.ok_or_else(|| ErrorKind::NotConnected.into())
    }

    fn send_at(&self, data: &[u8], to: SocketAddr, place: &'static Location<'static>) -> io::Result<usize> {
        let node = self.host.at(to.ip());
        let ports = node.as_ref().unwrap_or(&self.host);
        ports.pause(Kind::Send, place);
        self.host.is_alive(self.starts)?;
        if data.len() > BYTES_MAX {
            return Err(io::Error::new(
                ErrorKind::InvalidInput,
                "Message too long: a datagram has 65507 bytes at most",
            ));
        }
        let mailbox = node.as_ref().and_then(|node| Some((node, node.mailbox(to.port())?)));
        if let Some((node, mailbox)) = mailbox {
            let ip = if to.ip().is_loopback() { to.ip() } else { self.host.ip() };
            let from = SocketAddr::new(ip, self.local.port());
            executor::wake_all(mailbox.push((self.host.number, node.number), from, data));
        }
        Ok(data.len())
    }

    /// Sends a datagram to the first of the addresses.
    ///
    /// # Errors
    ///
    /// If there is no such host, or the datagram is too large.
    #[track_caller]
    pub fn send_to<'a, A: ToSocketAddrs + 'a>(
        &'a self,
        data: &'a [u8],
        target: A,
    ) -> impl Future<Output = io::Result<usize>> + 'a {
        let place = Location::caller();
        async move {
            let first = address::resolve(&self.host, &target)?.into_iter().next();
            let to = first.ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "no addresses to send data to"))?;
            self.send_at(data, to, place)
        }
    }

    /// The same without waiting, which is never necessary here.
    ///
    /// # Errors
    ///
    /// If the datagram is too large.
    #[track_caller]
    pub fn try_send_to(&self, data: &[u8], target: SocketAddr) -> io::Result<usize> {
        self.send_at(data, target, Location::caller())
    }

    /// Sends a datagram to the connected address.
    ///
    /// # Errors
    ///
    /// If it is not, or the datagram is too large.
    #[track_caller]
    pub fn send<'a>(&'a self, data: &'a [u8]) -> impl Future<Output = io::Result<usize>> + 'a {
        let place = Location::caller();
        async move { self.send_at(data, self.destination()?, place) }
    }

    /// The same without waiting, which is never necessary here.
    ///
    /// # Errors
    ///
    /// The same as [`UdpSocket::send`].
    #[track_caller]
    pub fn try_send(&self, data: &[u8]) -> io::Result<usize> {
        self.send_at(data, self.destination()?, Location::caller())
    }

    fn destination(&self) -> io::Result<SocketAddr> {
        self.waits().peer.ok_or_else(|| io::Error::new(ErrorKind::NotConnected, "Destination address required"))
    }

    /// Takes a datagram that has arrived. If there is none, returns when one will arrive, if known.
    fn take(&self, is_peek: bool) -> Result<Datagram, Option<Instant>> {
        let peer = self.waits().peer;
        self.mailbox.take(|from| peer.is_none_or(|peer| peer == from), is_peek)
    }

    fn poll(
        &self,
        cx: &mut Context<'_>,
        is_peek: bool,
        place: &'static Location<'static>,
    ) -> Poll<io::Result<Datagram>> {
        self.host.pause(Kind::Receive, place);
        self.host.is_alive(self.starts)?;
        match self.take(is_peek) {
            Ok(datagram) => {
                self.waits().timer = Timer::default();
                Poll::Ready(Ok(datagram))
            }
            Err(arrives) => {
                self.mailbox.leave(cx.waker());
                self.waits().timer.set(arrives, cx);
                self.host.awaits(place);
                Poll::Pending
            }
        }
    }

    /// Takes a datagram if there is one. If the caller tries again while one is in transit, the clock advances.
    fn attempt(&self, place: &'static Location<'static>) -> io::Result<Datagram> {
        self.host.pause(Kind::Receive, place);
        self.host.is_alive(self.starts)?;
        let mut taken = self.take(false);
        match taken {
            Err(None) => runtime::look(),
            Err(Some(at)) if std::mem::replace(&mut self.waits().is_vain, true) => {
                let left = at - Instant::unscheduled();
                runtime::with(|execution| execution.jump(left));
                taken = self.take(false);
            }
            _ => {}
        }
        let datagram = taken.map_err(|_| ErrorKind::WouldBlock)?;
        self.waits().is_vain = false;
        Ok(datagram)
    }

    /// Receives a datagram, and returns its sender. Bytes that do not fit in the buffer are lost.
    ///
    /// # Errors
    ///
    /// If the host has crashed.
    #[track_caller]
    pub fn recv_from<'a>(&'a self, buffer: &'a mut [u8]) -> impl Future<Output = io::Result<(usize, SocketAddr)>> + 'a {
        let place = Location::caller();
        poll_fn(move |cx| self.poll(cx, false, place).map_ok(|datagram| datagram.copy(buffer)))
    }

    /// The same without removing it.
    ///
    /// # Errors
    ///
    /// If the host has crashed.
    #[track_caller]
    pub fn peek_from<'a>(&'a self, buffer: &'a mut [u8]) -> impl Future<Output = io::Result<(usize, SocketAddr)>> + 'a {
        let place = Location::caller();
        poll_fn(move |cx| self.poll(cx, true, place).map_ok(|datagram| datagram.copy(buffer)))
    }

    /// Receives a datagram. Bytes that do not fit in the buffer are lost.
    ///
    /// # Errors
    ///
    /// If the host has crashed.
    #[track_caller]
    pub fn recv<'a>(&'a self, buffer: &'a mut [u8]) -> impl Future<Output = io::Result<usize>> + 'a {
        let place = Location::caller();
        poll_fn(move |cx| self.poll(cx, false, place).map_ok(|datagram| datagram.copy(buffer).0))
    }

    /// Receives a datagram that has arrived.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is none.
    #[track_caller]
    pub fn try_recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        Ok(self.attempt(Location::caller())?.copy(buffer))
    }

    /// Receives a datagram that has arrived.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is none.
    #[track_caller]
    pub fn try_recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(self.attempt(Location::caller())?.copy(buffer).0)
    }

    /// Waits until there is a datagram.
    ///
    /// # Errors
    ///
    /// If the host has crashed.
    #[track_caller]
    pub fn readable(&self) -> impl Future<Output = io::Result<()>> {
        let place = Location::caller();
        poll_fn(move |cx| self.poll(cx, true, place).map_ok(drop))
    }

    /// Waits until a datagram can be sent, which is always possible here.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn writable(&self) -> impl Future<Output = io::Result<()>> {
        ready(Ok(()))
    }
}

impl Datagram {
    /// Copies the datagram into a buffer, as far as it fits. Returns the number of bytes, and the sender's address.
    fn copy(&self, buffer: &mut [u8]) -> (usize, SocketAddr) {
        let length = self.data.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.data[..length]);
        (length, self.from)
    }
}

impl Drop for UdpSocket {
    fn drop(&mut self) {
        self.host.pause(Kind::Disconnect, self.made);
        self.host.stop_receiving(self.local.port(), &self.mailbox);
    }
}

impl fmt::Debug for UdpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UdpSocket").field("local", &self.local).finish_non_exhaustive()
    }
}
