//! The environment of nodes: a network that can be cut, and disks.

use super::node::Node;
use crate::client::{Client, Seat};
use crate::error::LiveError;
use crate::fault::Fault;

/// The environment of nodes.
pub(crate) trait Surroundings: Send + Sync {
    /// Prepares for these faults, before anything is started.
    ///
    /// # Errors
    ///
    /// If one of them is not possible here; the error is the reason.
    fn prepare(&mut self, faults: &[Fault], nodes: &[Node]) -> Result<(), LiveError>;

    /// The faults of network and disks that are possible now.
    fn faults(&self) -> Vec<Fault>;

    /// Moves the calling thread to a node, or outside: sockets that it opens later belong to the node.
    ///
    /// # Errors
    ///
    /// If this is not permitted.
    fn stand_at(&self, node: Option<u32>) -> Result<(), LiveError>;

    /// Opens the client of a seat at its node, if that is not on this computer.
    ///
    /// # Errors
    ///
    /// If the node cannot be reached.
    fn client(&self, seat: &Seat) -> Option<Result<Box<dyn Client>, LiveError>> {
        let _ = seat;
        None
    }

    /// The address ranges from which servers are called, as `ADDRESS/BITS`.
    fn callers(&self) -> Vec<String>;

    /// Begins a fault of network or disks at these nodes, by their numbers.
    ///
    /// # Errors
    ///
    /// If it is not possible.
    fn begin(&self, fault: Fault, nodes: &[u32]) -> Result<(), LiveError>;

    /// Ends all these faults.
    ///
    /// # Errors
    ///
    /// If that fails.
    fn heal(&self) -> Result<(), LiveError>;
}
