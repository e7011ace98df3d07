//! A store that is a cluster of daemons in a world: a [`System`] is the store's own part, and this module is the common
//! part.

use crate::client::{Client, Seat, Store};
use crate::error::LiveError;
use crate::fault::Fault;
use crate::world::{Node, World};

/// The part specific to a store: how to set it up, when it is ready, and how its clients connect to it.
pub(crate) trait System: Send + Sync {
    /// Starts its daemons and waits until clients may begin.
    fn set_up(&self, world: &World) -> Result<(), LiveError>;

    /// A client for this seat, at its node or outside. It opens its connections itself.
    fn connect(&self, nodes: &[Node], seat: &Seat) -> Box<dyn Client>;

    /// The node that is currently the primary, if known.
    fn primary(&self, world: &World) -> Option<u32> {
        let _ = world;
        None
    }

    /// Returns true if the cluster works as without a fault.
    fn is_settled(&self, world: &World) -> bool;

    /// Begins a fault at these nodes.
    fn begin(&self, world: &World, fault: Fault, nodes: &[u32]) -> Result<(), LiveError> {
        world.begin(fault, nodes)
    }

    /// Ends all faults.
    fn heal(&self, world: &World) -> Result<(), LiveError> {
        world.heal()
    }
}

/// A cluster that is up.
pub(crate) struct Cluster {
    name: &'static str,
    workloads: &'static [&'static str],
    faults: Vec<Fault>,
    world: World,
    system: Box<dyn System>,
}

impl Cluster {
    /// Sets up a system in this world. `faults` are the world's faults that it supports.
    pub(crate) fn start(
        (name, workloads, faults): (&'static str, &'static [&'static str], &[Fault]),
        world: World,
        system: Box<dyn System>,
    ) -> Result<Cluster, LiveError> {
        let possible = world.faults();
        let faults = faults.iter().copied().filter(|fault| possible.contains(fault)).collect();
        system.set_up(&world)?;
        Ok(Cluster { name, workloads, faults, world, system })
    }
}

impl Store for Cluster {
    fn name(&self) -> &str {
        self.name
    }

    fn workloads(&self) -> &[&'static str] {
        self.workloads
    }

    fn nodes(&self) -> &[String] {
        self.world.names()
    }

    fn client(&self, seat: &Seat) -> Result<Box<dyn Client>, LiveError> {
        let elsewhere = self.world.seat(seat)?;
        Ok(elsewhere.unwrap_or_else(|| self.system.connect(self.world.nodes(), seat)))
    }

    fn faults(&self) -> &[Fault] {
        &self.faults
    }

    fn begin(&self, fault: Fault, nodes: &[u32]) -> Result<(), LiveError> {
        if !self.faults.contains(&fault) {
            return Err(LiveError::Unsupported(format!("{} has no fault {fault} here", self.name)));
        }
        self.system.begin(&self.world, fault, nodes)
    }

    fn heal(&self) -> Result<(), LiveError> {
        self.system.heal(&self.world)
    }

    /// Its servers end with the run, so their faults need not be ended.
    fn heal_at_end(&self) -> Result<(), LiveError> {
        Ok(())
    }

    fn primary(&self) -> Option<u32> {
        self.system.primary(&self.world)
    }

    fn is_settled(&self) -> bool {
        self.system.is_settled(&self.world)
    }

    fn log(&self) -> String {
        self.world.log()
    }
}
