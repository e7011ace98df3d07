//! What stores with daemons in a world have in common: faults at nodes, and waiting until all is well.

use crate::error::LiveError;
use crate::fault::Fault;
use crate::world::{Daemon, Node, World};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks at a cluster that comes up.
const LOOK: Duration = Duration::from_millis(50);

/// A world and the daemons in it.
pub(super) struct Cluster {
    pub(super) world: World,
    /// Each with its node.
    daemons: Mutex<Vec<(u32, Daemon)>>,
}

impl Cluster {
    /// A world in which nothing runs.
    pub(super) fn new(world: World) -> Cluster {
        Cluster { world, daemons: Mutex::default() }
    }

    /// Starts a daemon on a node.
    pub(super) fn start(&self, node: u32, name: &str, command: Vec<String>) -> Result<(), LiveError> {
        let daemon = Daemon::start(&self.world, node, name, command)?;
        self.lock().push((node, daemon));
        Ok(())
    }

    /// The nodes.
    pub(super) fn nodes(&self) -> &[Node] {
        self.world.nodes()
    }

    /// Waits until it is so, while all daemons run.
    pub(super) fn until(&self, most: Duration, otherwise: &str, is_so: impl Fn() -> bool) -> Result<(), LiveError> {
        let began = Instant::now();
        while !is_so() {
            self.lock().iter_mut().try_for_each(|(_, daemon)| daemon.is_running())?;
            if began.elapsed() >= most {
                let what = format!("runs, but {otherwise} within {} s", most.as_secs());
                return Err(self.lock()[0].1.error(&what));
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Begins a fault at these nodes.
    pub(super) fn begin(&self, fault: Fault, nodes: &[u32]) -> Result<(), LiveError> {
        let each = |what: fn(&mut Daemon) -> Result<(), LiveError>| {
            let mut daemons = self.lock();
            daemons.iter_mut().filter(|(node, _)| nodes.contains(node)).try_for_each(|(_, daemon)| what(daemon))
        };
        match fault {
            Fault::Isolate => self.world.isolate(nodes),
            Fault::Kill => each(Daemon::kill),
            Fault::Pause => each(Daemon::pause),
            Fault::Command => Err(LiveError::Unsupported(format!("a cluster has no fault {fault}"))),
        }
    }

    /// Ends all faults.
    pub(super) fn heal(&self) -> Result<(), LiveError> {
        self.world.heal()?;
        self.lock().iter_mut().try_for_each(|(_, daemon)| daemon.resume().and_then(|()| daemon.restart()))
    }

    /// The last lines of the first daemon's log.
    pub(super) fn log(&self) -> String {
        self.lock().first().map(|(_, daemon)| daemon.last_lines()).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(u32, Daemon)>> {
        self.daemons.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The faults of a cluster.
pub(super) const FAULTS: &[Fault] = &[Fault::Isolate, Fault::Kill, Fault::Pause];

/// A command without spaces in its words.
pub(super) fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
