//! A node: its name, and its addresses.

use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// A node of the world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// `n1` and so on, or the name of its machine.
    pub name: String,
    /// The address at which others reach it.
    pub address: Ipv4Addr,
    /// The address at which its own servers listen. It differs if there are proxies between the nodes.
    pub own: Ipv4Addr,
}

impl Node {
    /// The address at which others reach a port of it.
    pub fn at(&self, port: u16) -> SocketAddr {
        (IpAddr::V4(self.address), port).into()
    }
}
