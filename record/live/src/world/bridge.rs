//! Nodes as network namespaces on one bridge, with disks in memory.

use super::command::run;
use super::disk::Disks;
use super::enter::is_inside;
use super::machine::Machine;
use super::node::Node;
use super::nodes::World;
use super::process::Within;
use super::surroundings::Surroundings;
use crate::error::LiveError;
use crate::fault::{Fault, NETWORK, partition, rules};
use history_core::cast::Cast as _;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::cell::RefCell;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The directory in which `ip netns` stores the names of namespaces.
const NAMES: &str = "/run/netns";
/// The directory for the shared memory of programs.
const SHARED_MEMORY: &str = "/dev/shm";

impl World {
    /// Creates nodes. Their logs go to `logs`; their data is on disks of the world, in memory, and is removed with it.
    ///
    /// # Errors
    ///
    /// If this process is not inside of namespaces ([`enter`](super::enter())); if `ip` is not there or not allowed to.
    pub fn new(nodes: u8, logs: &Path) -> Result<World, LiveError> {
        if !is_inside() {
            return Err(LiveError::Unsupported("this process is not in a world of its own".to_owned()));
        }
        run(Command::new("mount").args(["-t", "tmpfs", "tmpfs", "/run"]), "")?;
        // Programs that are killed do not remove their shared memory.
        if Path::new(SHARED_MEMORY).exists() {
            run(Command::new("mount").args(["-t", "tmpfs", "tmpfs", SHARED_MEMORY]), "")?;
        }
        fs::create_dir_all(NAMES).map_err(|source| LiveError::Write { path: NAMES.into(), source })?;
        let node = |number: u8| {
            let address = Ipv4Addr::new(10, 77, 0, number);
            Node { name: format!("n{number}"), address, own: address }
        };
        let nodes: Vec<Node> = (1..=nodes).map(node).collect();
        ip("link set lo up\nlink add br0 type bridge\nlink set br0 up\naddr add 10.77.0.254/24 dev br0\n")?;
        let (mut added, mut linked) = (String::new(), String::new());
        for (number, Node { name, .. }) in (1..).zip(&nodes) {
            _ = writeln!(added, "netns add {name}");
            _ = writeln!(linked, "link add v{number} type veth peer name eth0 netns {name}");
            _ = writeln!(linked, "link set v{number} master br0 up");
        }
        ip(&added)?;
        ip(&linked)?;
        for Node { name, address, .. } in &nodes {
            let lines = format!("addr add {address}/24 dev eth0\nlink set eth0 up\nlink set lo up\n");
            run(Command::new("ip").args(["-n", name, "-batch", "-"]), &lines)?;
        }
        let machine = |node: &Node| -> Box<dyn super::host::Host> {
            Box::new(Machine::new(Within::Network(node.name.clone()), Disks::root(&node.name), logs.to_owned()))
        };
        let hosts = nodes.iter().map(machine).collect();
        let bridge = Bridge { nodes: nodes.clone(), disks: Disks::new()?, stricken: Mutex::default() };
        Ok(World::of(nodes, hosts, Box::new(bridge)))
    }
}

/// A bridge with a packet filter, and disks.
struct Bridge {
    nodes: Vec<Node>,
    disks: Disks,
    /// Nodes whose disks have a fault.
    stricken: Mutex<Vec<String>>,
}

impl Surroundings for Bridge {
    fn prepare(&mut self, faults: &[Fault], nodes: &[Node]) -> Result<(), LiveError> {
        self.disks.prepare(faults, nodes)
    }

    fn faults(&self) -> Vec<Fault> {
        let network = if self.nodes.len() > 1 { NETWORK } else { &[] };
        network.iter().copied().chain(self.disks.fault()).collect()
    }

    /// Every thread begins in the hub.
    fn stand_at(&self, node: Option<u32>) -> Result<(), LiveError> {
        thread_local! {
            static AT: RefCell<String> = const { RefCell::new(String::new()) };
        }
        let node = node.and_then(|node| self.nodes.get(node.to_usize()));
        let Some(Node { name, .. }) = node else { return Ok(()) };
        if AT.with_borrow(|at| at == name) {
            return Ok(());
        }
        let failed =
            |error: &dyn std::fmt::Display| LiveError::store(format!("a client cannot be moved to {name}: {error}"));
        let namespace = File::open(format!("{NAMES}/{name}")).map_err(|error| failed(&error))?;
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|error| failed(&error))?;
        AT.set(name.clone());
        Ok(())
    }

    /// This network contains no other callers.
    fn callers(&self) -> Vec<String> {
        vec!["10.77.0.0/24".to_owned()]
    }

    fn begin(&self, fault: Fault, nodes: &[u32]) -> Result<(), LiveError> {
        let count = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let rules = match fault {
            Fault::LinkDown => return set_links(nodes.iter().copied(), "down"),
            Fault::PowerCut | Fault::FullDisk => {
                for node in nodes.iter().filter_map(|node| self.nodes.get(node.to_usize())) {
                    match fault {
                        Fault::PowerCut => self.disks.cut_power(&node.name)?,
                        _ => self.disks.fill(&node.name)?,
                    }
                    self.stricken.lock().unwrap_or_else(PoisonError::into_inner).push(node.name.clone());
                }
                return Ok(());
            }
            Fault::Loss => rules::loss_rules(nodes),
            _ => rules::rules(&partition::cuts(fault, nodes, count))?,
        };
        run(Command::new("nft").args(["-f", "-"]), &rules)
    }

    fn heal(&self) -> Result<(), LiveError> {
        set_links((0..).take(self.nodes.len()), "up")?;
        run(Command::new("nft").args(["-f", "-"]), &rules::no_rules())?;
        for name in self.stricken.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            match self.disks.fault() {
                Some(Fault::PowerCut) => self.disks.restore_power(&name)?,
                _ => self.disks.make_room(&name)?,
            }
        }
        Ok(())
    }
}

/// Takes the links of nodes up or down.
fn set_links(nodes: impl Iterator<Item = u32>, state: &str) -> Result<(), LiveError> {
    let mut lines = String::new();
    for node in nodes {
        _ = writeln!(lines, "link set v{} {state}", node + 1);
    }
    ip(&lines)
}

fn ip(lines: &str) -> Result<(), LiveError> {
    run(Command::new("ip").args(["-batch", "-"]), lines)
}
