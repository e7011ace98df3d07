//! The nodes of a world: machines, and the network between them.

use super::host::{Host, Order};
use super::node::Node;
use super::surroundings::Surroundings;
use crate::client::{Client, Seat, Stands};
use crate::error::LiveError;
use crate::fault::Fault;
use crate::need::Need;
use crate::run::patience::{self, Patience};
use history_core::cast::Cast as _;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Nodes with servers, and faults.
pub struct World {
    nodes: Vec<Node>,
    names: Vec<String>,
    /// The machine of each node.
    hosts: Vec<Box<dyn Host>>,
    surroundings: Box<dyn Surroundings>,
    has_clocks: bool,
}

/// The time between two checks of a cluster that is starting.
const LOOK: Duration = Duration::from_millis(50);

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("nodes", &self.names).finish_non_exhaustive()
    }
}

impl World {
    /// A world of these nodes on these machines.
    pub(crate) fn of(nodes: Vec<Node>, hosts: Vec<Box<dyn Host>>, surroundings: Box<dyn Surroundings>) -> World {
        assert_eq!(nodes.len(), hosts.len(), "each node is on a machine");
        let names = nodes.iter().map(|node| node.name.clone()).collect();
        World { nodes, names, hosts, surroundings, has_clocks: false }
    }

    /// The nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Their names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.nodes.len().to_u32()
    }

    /// Verifies that these programs are installed on all nodes.
    pub(crate) fn check(&self, needs: &[Need]) -> Result<(), LiveError> {
        for (node, name) in (0..).zip(&self.names) {
            for need in needs {
                if self.find(node, need.program)?.is_none() {
                    let Need { program, package } = need;
                    return Err(LiveError::Unsupported(format!(
                        "{program} was not found on {name}\non Debian: apt-get install {package}"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Prepares for faults that require more than a network and processes: [`Fault::PowerCut`], [`Fault::FullDisk`],
    /// [`Fault::Clock`]. Must be called before anything is started.
    pub(crate) fn prepare(&mut self, faults: &[Fault]) -> Result<(), LiveError> {
        self.surroundings.prepare(faults, &self.nodes)?;
        if faults.contains(&Fault::Clock) {
            (0..self.count()).try_for_each(|node| self.order(node, &Order::MakeClock).map(drop))?;
            self.has_clocks = true;
        }
        Ok(())
    }

    /// The faults that are possible now.
    pub(crate) fn faults(&self) -> Vec<Fault> {
        let mut faults = self.surroundings.faults();
        faults.extend([Fault::Kill, Fault::Pause]);
        if self.has_clocks {
            faults.push(Fault::Clock);
        }
        faults
    }

    /// Moves the calling thread to the place of a seat's client: its node, or the hub. If the node is not on this
    /// computer, opens its client there.
    pub(crate) fn seat(&self, seat: &Seat) -> Result<Option<Box<dyn Client>>, LiveError> {
        if seat.stands == Stands::InHub {
            return self.surroundings.stand_at(None).map(|()| None);
        }
        match self.surroundings.client(seat) {
            Some(client) => client.map(Some),
            None => self.surroundings.stand_at(Some(seat.node)).map(|()| None),
        }
    }

    /// The address ranges from which servers are called, as `ADDRESS/BITS`.
    pub(crate) fn callers(&self) -> Vec<String> {
        self.surroundings.callers()
    }

    fn order(&self, node: u32, order: &Order) -> Result<String, LiveError> {
        self.hosts[node.to_usize()].obey(order)
    }

    fn order_all(&self, order: &Order) -> Result<(), LiveError> {
        (0..self.count()).try_for_each(|node| self.order(node, order).map(drop))
    }

    /// The path of a program on a node.
    pub(crate) fn find(&self, node: u32, program: &str) -> Result<Option<PathBuf>, LiveError> {
        let path = self.order(node, &Order::Find { program: program.to_owned() })?;
        Ok((!path.is_empty()).then(|| path.into()))
    }

    /// A directory for data on a node's disk, which belongs to this user. It is removed when the run ends.
    pub(crate) fn data(&self, node: u32, name: &str, user: &str) -> Result<PathBuf, LiveError> {
        self.order(node, &Order::Data { name: name.to_owned(), user: user.to_owned() }).map(PathBuf::from)
    }

    /// Writes a file on a node.
    pub(crate) fn write(&self, node: u32, path: &Path, text: String) -> Result<(), LiveError> {
        self.order(node, &Order::Write { path: path.to_owned(), text }).map(drop)
    }

    /// Runs a command on a node as this user to its end.
    pub(crate) fn run(&self, node: u32, user: &str, command: Vec<String>) -> Result<(), LiveError> {
        self.order(node, &Order::Run { user: user.to_owned(), command, input: String::new() }).map(drop)
    }

    /// Flushes the disk of this directory: its content existed before the first operation, so it survives a power cut.
    pub(crate) fn flush(&self, node: u32, directory: &Path) -> Result<(), LiveError> {
        self.run(node, "", vec!["sync".to_owned(), "-f".to_owned(), directory.display().to_string()])
    }

    /// Starts a daemon on a node as this user; the empty name is the user of the run.
    pub(crate) fn start(&self, node: u32, user: &str, name: &str, command: Vec<String>) -> Result<(), LiveError> {
        let name = format!("{name}-{}", self.names[node.to_usize()]);
        self.order(node, &Order::Start { user: user.to_owned(), name, command }).map(drop)
    }

    /// Kills the daemons of a node, which are not restarted.
    pub(crate) fn stop(&self, node: u32) -> Result<(), LiveError> {
        self.order(node, &Order::Stop).map(drop)
    }

    /// Waits until the condition is true, while all daemons run.
    pub(crate) fn until(&self, most: Duration, otherwise: &str, is_so: impl Fn() -> bool) -> Result<(), LiveError> {
        let patience = Patience::new(most);
        while !is_so() {
            self.order_all(&Order::Check)?;
            if patience.rest().is_none() {
                let what = format!("the store runs, but {otherwise} within {} s", most.as_secs());
                return Err(LiveError::Store { what, log: self.log() });
            }
            patience::sleep(LOOK);
        }
        Ok(())
    }

    /// Begins a fault at these nodes.
    pub(crate) fn begin(&self, fault: Fault, nodes: &[u32]) -> Result<(), LiveError> {
        let each = |order: &Order| nodes.iter().try_for_each(|node| self.order(*node, order).map(drop));
        match fault {
            Fault::Kill => each(&Order::Kill),
            Fault::Pause => each(&Order::Pause),
            Fault::Clock => each(&Order::SetClock { is_late: true }),
            Fault::PowerCut => {
                // Servers that continued to run without a disk could send responses that are impossible in a power cut.
                each(&Order::Pause)?;
                self.surroundings.begin(fault, nodes)?;
                each(&Order::Kill)
            }
            _ => self.surroundings.begin(fault, nodes),
        }
    }

    /// Ends all faults. Daemons that were killed are restarted.
    pub(crate) fn heal(&self) -> Result<(), LiveError> {
        self.surroundings.heal()?;
        if self.has_clocks {
            self.order_all(&Order::SetClock { is_late: false })?;
        }
        self.order_all(&Order::Resume)
    }

    /// The last lines of the first daemon's log.
    pub(crate) fn log(&self) -> String {
        (0..self.count()).map(|node| self.order(node, &Order::LastLines).unwrap_or_default()).next().unwrap_or_default()
    }
}
