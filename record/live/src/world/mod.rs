//! A world for a cluster: nodes, the network between them, and their daemons.
//!
//! On one machine a node is a network namespace ([`enter`]). The program starts itself again inside new network,
//! process and mount namespaces. Nobody needs to be root for that: where the user is not, a namespace of its own makes
//! him the administrator of these namespaces and of nothing else. The first process in there takes all others along
//! when it ends, and with the last one the network and the mounts are gone, so nothing stays behind, however the run
//! ends.
//!
//! Nodes are then on one bridge, `10.77.0.1` and so on. The hub, `10.77.0.254`, is where the nemesis stands; it reaches
//! every node, whatever the partition.

#[cfg(target_os = "linux")]
mod bridge;
mod clock;
pub(crate) mod cluster;
mod command;
#[cfg(target_os = "linux")]
mod disk;
#[cfg(target_os = "linux")]
mod enter;
mod host;
mod machine;
mod node;
mod nodes;
mod process;
mod proxy;
mod surroundings;

use crate::need::Need;
pub(crate) use command::words;
#[cfg(target_os = "linux")]
pub use enter::{Inside, enter, is_inside, try_to_enter};
pub(crate) use host::{Host, Order};
pub(crate) use machine::{CONTROL, Machine};
pub use node::Node;
pub use nodes::World;
pub(crate) use process::Within;
pub(crate) use surroundings::Surroundings;

/// What must be installed for namespaces.
pub const NAMESPACES: [Need; 3] =
    [Need::new("ip", "iproute2"), Need::new("nft", "nftables"), Need::new("unshare", "util-linux")];
