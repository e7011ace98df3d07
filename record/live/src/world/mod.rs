//! A world for a cluster: nodes, the network between them, and their daemons.
//!
//! On one machine a node is a network namespace ([`enter`]). The program starts itself again inside new network,
//! process and mount namespaces. This does not need root: if the user is not root, a user namespace makes them the
//! administrator of these namespaces and of nothing else. When the first process inside ends, all others end with it,
//! and then the network and the mounts are removed, so nothing remains, however the run ends.
//!
//! Nodes are then on one bridge, `10.77.0.1` and so on. The nemesis is at the hub, `10.77.0.254`, which reaches every
//! node in any partition.

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

/// The programs needed for namespaces.
pub const NAMESPACES: [Need; 3] =
    [Need::new("ip", "iproute2"), Need::new("nft", "nftables"), Need::new("unshare", "util-linux")];
