//! As `tokio::net`, over a simulated network: TCP and UDP between hosts that a [`Network`](crate::net::Network) has.
//!
//! Tasks that run on no host of a network are on one of their own, `localhost`, which all of them share in an
//! execution. So a server that is tested over the loopback address needs no `Network`. Outside of executions the same
//! holds for the process.
//!
//! What can happen:
//!
//! - Over TCP, bytes arrive in order and without loss until the connection breaks: it is reset when the other side
//!   crashes, or is dropped with data that was not read; and it times out when a partition does not end. A read may
//!   return fewer bytes than were written at once, and a write may take fewer than it was given.
//! - Datagrams may be lost, arrive twice, and overtake each other.
//! - Anything may arrive late: after all else that can happen until then.
//!
//! Each of these is a choice of the schedule, so it is replayed and shrunk with it. How many of them a thread meets in
//! an execution is limited by [`Settings::surprises_max`](crate::Settings::surprises_max); which of them it can meet is
//! said by [`NetworkSettings::faults`](crate::net::NetworkSettings::faults). No search covers what takes more of them.
//!
//! What is not simulated: bandwidth, TCP's windows and keep-alive, corrupted data, IPv6, broadcast, multicast, sockets
//! of Unix.

mod address;
mod connection;
mod half;
mod host;
mod link;
mod listener;
mod mailbox;
mod network;
mod program;
mod socket;
mod stream;
mod timer;
mod udp;

pub use address::{ToSocketAddrs, lookup_host};
pub use listener::TcpListener;
pub use stream::TcpStream;
pub use udp::UdpSocket;

/// What is not tokio's, and is found as [`crate::net`].
#[doc(hidden)]
pub mod simulation {
    pub use super::link::{Fault, NetworkSettings};
    pub use super::network::{Host, Network};
}

/// As `tokio::net::tcp`: halves of connections.
pub mod tcp {
    pub use super::half::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
}
