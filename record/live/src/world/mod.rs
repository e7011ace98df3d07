//! A world for a cluster on one machine: namespaces with nodes, a network between them, and processes in them.
//!
//! [`enter`] starts this program again inside new network, process and mount namespaces. Nobody needs to be root for
//! that: where the user is not, a
//! namespace of its own makes him the administrator of these namespaces and of nothing else. The first process in there
//! takes all others
//! along when it ends, and with the last one the network and the mounts are gone, so nothing stays behind, however the
//! run ends.
//!
//! Nodes are network namespaces on one bridge, `10.77.0.1` and so on. The hub, `10.77.0.254`, is where the nemesis
//! stands; it reaches every
//! node, whatever the partition.

mod clock;
mod command;
mod disk;
mod enter;
mod network;
mod process;

pub(crate) use clock::Clocks;
pub(crate) use command::run;
pub use enter::{Inside, enter, is_inside, try_to_enter};
pub use network::{Node, World};
pub use process::Daemon;
