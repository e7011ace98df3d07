//! A node: its name, and where it is.

use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// A node of the world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// `n1` and so on, or the name of its machine.
    pub name: String,
    /// The address at which others reach it.
    pub address: Ipv4Addr,
    /// The address that its own servers listen at. It is another one where proxies stand between the nodes.
    pub own: Ipv4Addr,
}

impl Node {
    /// Where others reach a port of it.
    pub fn at(&self, port: u16) -> SocketAddr {
        (IpAddr::V4(self.address), port).into()
    }
}
