//! Nodes and the network between them, with partitions.

use super::clock::Clocks;
use super::command::run;
use super::disk::Disks;
use super::enter::Inside;
use crate::client::{Seat, Stands};
use crate::error::LiveError;
use crate::fault::{Fault, partition};
use history_core::cast::Cast as _;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::cell::Cell;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A node of the world.
#[derive(Clone, Debug)]
pub struct Node {
    /// `n1` and so on.
    pub name: String,
    /// Its address.
    pub address: Ipv4Addr,
}

/// The nodes on their bridge.
pub struct World {
    nodes: Vec<Node>,
    names: Vec<String>,
    logs: PathBuf,
    disks: Disks,
    clocks: Option<Clocks>,
}

/// Where `ip netns` keeps the namespaces' names.
const NAMES: &str = "/run/netns";
/// Where the system keeps the shared memory of programs.
const SHARED_MEMORY: &str = "/dev/shm";

impl World {
    /// Makes the nodes. Their logs go to `logs`; their data is on disks of the world, in memory, and gone with it.
    ///
    /// # Errors
    ///
    /// If `ip` is not there or not allowed to.
    pub fn new(inside: &Inside, nodes: u8, logs: &Path) -> Result<World, LiveError> {
        let _ = inside;
        run(Command::new("mount").args(["-t", "tmpfs", "tmpfs", "/run"]), "")?;
        // Programs that are killed leave their shared memory behind.
        if Path::new(SHARED_MEMORY).exists() {
            run(Command::new("mount").args(["-t", "tmpfs", "tmpfs", SHARED_MEMORY]), "")?;
        }
        fs::create_dir(NAMES).map_err(|source| LiveError::Write { path: NAMES.into(), source })?;
        let nodes: Vec<Node> = (1..=nodes)
            .map(|number| Node { name: format!("n{number}"), address: Ipv4Addr::new(10, 77, 0, number) })
            .collect();
        ip("link set lo up\nlink add br0 type bridge\nlink set br0 up\naddr add 10.77.0.254/24 dev br0\n")?;
        let (mut added, mut linked) = (String::new(), String::new());
        for (number, Node { name, .. }) in (1..).zip(&nodes) {
            _ = writeln!(added, "netns add {name}");
            _ = writeln!(linked, "link add v{number} type veth peer name eth0 netns {name}");
            _ = writeln!(linked, "link set v{number} master br0 up");
        }
        ip(&added)?;
        ip(&linked)?;
        for Node { name, address } in &nodes {
            let lines = format!("addr add {address}/24 dev eth0\nlink set eth0 up\nlink set lo up\n");
            run(Command::new("ip").args(["-n", name, "-batch", "-"]), &lines)?;
        }
        let names = nodes.iter().map(|node| node.name.clone()).collect();
        let disks = Disks::new()?;
        Ok(World { nodes, names, logs: logs.to_owned(), disks, clocks: None })
    }

    /// The nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Their names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Where logs go.
    pub fn logs(&self) -> &Path {
        &self.logs
    }

    /// Moves the calling thread to a node: sockets that it opens from now on are the node's.
    ///
    /// # Errors
    ///
    /// If that is not allowed.
    pub fn move_to(&self, node: u32) -> Result<(), LiveError> {
        thread_local! {
            static AT: Cell<Option<u32>> = const { Cell::new(None) };
        }
        if AT.get() == Some(node) {
            return Ok(());
        }
        let name = &self.names[node.to_usize()];
        let failed =
            |error: &dyn std::fmt::Display| LiveError::store(format!("a client cannot be moved to {name}: {error}"));
        let namespace = File::open(format!("{NAMES}/{name}")).map_err(|error| failed(&error))?;
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|error| failed(&error))?;
        AT.set(Some(node));
        Ok(())
    }

    /// Moves the calling thread to where a seat's client stands: its node, unless that is the hub, where every thread begins.
    ///
    /// # Errors
    ///
    /// If that is not allowed.
    pub fn seat(&self, seat: &Seat) -> Result<(), LiveError> {
        if seat.stands == Stands::InHub { Ok(()) } else { self.move_to(seat.node) }
    }

    /// Cuts links, as the partition `fault` at these nodes has it, or loses packets.
    ///
    /// # Errors
    ///
    /// If `nft` is not there or not allowed to, or the partition has only one side.
    pub(crate) fn cut(&self, fault: Fault, nodes: &[u32]) -> Result<(), LiveError> {
        let count = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let rules = match fault {
            Fault::Loss => partition::loss_rules(nodes),
            _ => partition::rules(&partition::cuts(fault, nodes, count))?,
        };
        run(Command::new("nft").args(["-f", "-"]), &rules)
    }

    /// Takes the network links of these nodes down.
    ///
    /// # Errors
    ///
    /// If that is not allowed.
    pub(crate) fn take_down(nodes: &[u32]) -> Result<(), LiveError> {
        set_links(nodes.iter().copied(), "down")
    }

    /// Everybody can reach everybody.
    ///
    /// # Errors
    ///
    /// If `nft` is not there or not allowed to.
    pub(crate) fn heal(&self) -> Result<(), LiveError> {
        set_links((0..).take(self.nodes.len()), "up")?;
        run(Command::new("nft").args(["-f", "-"]), &partition::no_rules())
    }

    /// Makes ready for faults that need more than the network and processes: [`Fault::PowerCut`], [`Fault::FullDisk`],
    /// [`Fault::Clock`]. Call this before a store starts.
    ///
    /// # Errors
    ///
    /// If one of them is not possible here; why.
    pub fn prepare(&mut self, faults: &[Fault]) -> Result<(), LiveError> {
        self.disks.prepare(faults, &self.names)?;
        if faults.contains(&Fault::Clock) {
            self.clocks = Some(Clocks::new(&self.names)?);
        }
        Ok(())
    }

    /// A new directory for data on a node's disk. It is gone when the run ends.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub fn data(&self, node: u32, name: &str) -> Result<PathBuf, LiveError> {
        let path = Disks::root(&self.names[node.to_usize()]).join(name);
        fs::create_dir_all(&path).map_err(|source| LiveError::Write { path: path.clone(), source })?;
        Ok(path)
    }

    /// The nodes' disks.
    pub(crate) fn disks(&self) -> &Disks {
        &self.disks
    }

    /// The nodes' clocks, if they can be set.
    pub(crate) fn clocks(&self) -> Option<&Clocks> {
        self.clocks.as_ref()
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
