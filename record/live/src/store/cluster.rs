//! What stores with daemons in a world have in common: faults at nodes, and waiting until all is well.

use crate::error::LiveError;
use crate::fault::Fault;
use crate::world::{Daemon, Node, World};
use history_core::cast::Cast as _;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks at a cluster that comes up.
const LOOK: Duration = Duration::from_millis(50);

/// A world and the daemons in it.
pub(super) struct Cluster {
    pub(super) world: World,
    faults: Vec<Fault>,
    /// Each with its node.
    daemons: Mutex<Vec<(u32, Daemon)>>,
    /// Nodes whose disks have a fault.
    disks: Mutex<Vec<u32>>,
}

impl Cluster {
    /// A world in which nothing runs.
    pub(super) fn new(world: World) -> Cluster {
        let mut faults = vec![Fault::Kill, Fault::Pause];
        if world.nodes().len() > 1 {
            faults.extend(NETWORK);
        }
        faults.extend(world.disks().fault());
        Cluster { world, faults, daemons: Mutex::default(), disks: Mutex::default() }
    }

    /// The same, whose programs accept a clock of the world.
    pub(super) fn with_clocks(mut self) -> Cluster {
        self.faults.extend(self.world.clocks().map(|_| Fault::Clock));
        self
    }

    /// The faults that it can be given.
    pub(super) fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Starts a daemon on a node.
    pub(super) fn start(&self, node: u32, name: &str, command: Vec<String>) -> Result<(), LiveError> {
        self.start_as("", node, name, command)
    }

    /// Starts a daemon on a node. This user runs it, if the rig is root.
    pub(super) fn start_as(&self, user: &str, node: u32, name: &str, command: Vec<String>) -> Result<(), LiveError> {
        let clocks = self.world.clocks().filter(|_| self.faults.contains(&Fault::Clock));
        // What the library that sets the clock makes in memory must belong to the user who needs it.
        let mut whole = as_user(user);
        whole.extend(clocks.map(|clocks| clocks.before(node.to_usize())).unwrap_or_default());
        whole.extend(command);
        let daemon = Daemon::start(&self.world, node, name, whole)?;
        self.lock().push((node, daemon));
        Ok(())
    }

    /// Kills the daemons of a node, which are not started again, and forgets them.
    pub(super) fn remove(&self, node: u32) -> Result<(), LiveError> {
        let mut daemons = self.lock();
        daemons.iter_mut().filter(|(at, _)| *at == node).try_for_each(|(_, daemon)| daemon.kill())?;
        daemons.retain(|(at, _)| *at != node);
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
        if !self.faults.contains(&fault) {
            return Err(LiveError::Unsupported(format!("this store has no fault {fault} here")));
        }
        let each = |what: fn(&mut Daemon) -> Result<(), LiveError>| {
            let mut daemons = self.lock();
            daemons.iter_mut().filter(|(node, _)| nodes.contains(node)).try_for_each(|(_, daemon)| what(daemon))
        };
        let name = |node: u32| &self.world.names()[node.to_usize()];
        match fault {
            Fault::Kill => each(Daemon::kill),
            Fault::Pause => each(Daemon::pause),
            Fault::LinkDown => World::take_down(nodes),
            Fault::PowerCut | Fault::FullDisk => {
                for node in nodes {
                    match fault {
                        Fault::PowerCut => self.world.disks().cut_power(name(*node))?,
                        _ => self.world.disks().fill(name(*node))?,
                    }
                    self.disks.lock().unwrap_or_else(PoisonError::into_inner).push(*node);
                }
                if fault == Fault::PowerCut { each(Daemon::kill) } else { Ok(()) }
            }
            Fault::Clock => match self.world.clocks() {
                Some(clocks) => nodes.iter().try_for_each(|node| clocks.set_late(node.to_usize())),
                None => Ok(()),
            },
            _ => self.world.cut(fault, nodes),
        }
    }

    /// Ends all faults. Daemons that were killed are started again.
    pub(super) fn heal(&self) -> Result<(), LiveError> {
        self.world.heal()?;
        self.world.clocks().map_or(Ok(()), crate::world::Clocks::heal)?;
        for node in self.disks.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let (disks, name) = (self.world.disks(), &self.world.names()[node.to_usize()]);
            if disks.fault() == Some(Fault::PowerCut) { disks.restore_power(name)? } else { disks.make_room(name)? }
        }
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

/// The faults of a network.
const NETWORK: &[Fault] = FAULTS_AND_CLOCK.split_at(8).0;
/// The faults of a cluster whose programs go by the system's clock.
pub(super) const FAULTS: &[Fault] = FAULTS_AND_CLOCK.split_at(12).0;
/// The faults of a single server whose programs go by the system's clock.
pub(super) const SINGLE_FAULTS: &[Fault] = FAULTS.split_at(8).1;
/// The faults of a single server whose programs accept a clock of the world.
pub(super) const SINGLE_FAULTS_AND_CLOCK: &[Fault] = FAULTS_AND_CLOCK.split_at(8).1;
/// The faults of a cluster whose programs accept a clock of the world.
pub(super) const FAULTS_AND_CLOCK: &[Fault] = &[
    Fault::Isolate,
    Fault::Split,
    Fault::Bridge,
    Fault::Ring,
    Fault::DropOutgoing,
    Fault::DropIncoming,
    Fault::Loss,
    Fault::LinkDown,
    Fault::Kill,
    Fault::Pause,
    Fault::PowerCut,
    Fault::FullDisk,
    Fault::Clock,
];

/// What to put before a command so that this user runs it, if the rig is root: some servers refuse to be.
pub(super) fn as_user(user: &str) -> Vec<String> {
    if user.is_empty() || !rustix::process::getuid().is_root() {
        return Vec::new();
    }
    let mut words = words("setpriv --init-groups");
    words.extend([format!("--reuid={user}"), format!("--regid={user}"), "--".to_owned()]);
    words
}

/// Makes this user the owner of a directory, if the rig is root.
pub(super) fn give_to(user: &str, directory: &Path) -> Result<(), LiveError> {
    if !rustix::process::getuid().is_root() {
        return Ok(());
    }
    crate::world::run(Command::new("chown").arg(format!("{user}:")).arg(directory), "")
}

/// Flushes what is on the disk of this directory: it was there before the first operation, whatever the power does.
pub(super) fn flush(directory: &Path) -> Result<(), LiveError> {
    crate::world::run(Command::new("sync").arg("-f").arg(directory), "")
}

/// Runs a command to its end.
pub(super) fn run(command: &[String]) -> Result<(), LiveError> {
    let Some((program, arguments)) = command.split_first() else { return Ok(()) };
    // The directory of the rig may be closed to the user who runs it.
    crate::world::run(Command::new(program).args(arguments).current_dir("/"), "")
}

/// A command without spaces in its words.
pub(super) fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
