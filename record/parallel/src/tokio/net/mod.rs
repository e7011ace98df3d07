//! The equivalent of `tokio::net`, over a simulated network: TCP and UDP between the hosts of a
//! [`Network`](crate::net::Network).
//!
//! Tasks that run on no host of a network run on a separate host, `localhost`, which all of them share in an execution.
//! So a test of a server over the loopback address needs no `Network`. Outside of executions, all tasks of the process
//! share one `localhost`.
//!
//! Possible events:
//!
//! - Over TCP, bytes arrive in order and without loss until the connection breaks: it is reset when the other side
//!   crashes, or is dropped with unread data; and it times out when a partition does not end. A read may return fewer
//!   bytes than were written at once, and a write may accept fewer than it was given.
//! - Datagrams may be lost, arrive twice, and overtake each other.
//! - Anything may arrive late: after all else that can happen until then.
//!
//! Each of these is a choice of the schedule, so it is replayed and shrunk with it.
//! [`Settings::surprises_max`](crate::Settings::surprises_max) limits how many of them a thread encounters in an
//! execution; [`NetworkSettings::faults`](crate::net::NetworkSettings::faults) determines which. No search covers
//! behaviour that needs more of them.
//!
//! Not simulated: bandwidth, TCP's windows and keep-alive, corrupted data, IPv6, broadcast, multicast, Unix sockets.

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

/// Items that tokio does not have, exported as [`crate::net`].
#[doc(hidden)]
pub mod simulation {
    pub use super::link::{Fault, NetworkSettings};
    pub use super::network::{Host, Network};
}

/// The equivalent of `tokio::net::tcp`: halves of connections.
pub mod tcp {
    pub use super::half::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
}
