//! Nodes and the network between them, with partitions.

use super::enter::Inside;
use crate::error::LiveError;
use history_core::cast::Cast as _;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::cell::Cell;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
}

/// Where `ip netns` keeps the namespaces' names.
const NAMES: &str = "/run/netns";
/// Where the data of the nodes goes.
const DATA: &str = "/run/data";

impl World {
    /// Makes the nodes. Logs of theirs go to `logs`; their data is in a file system of the world, in memory, and gone with it.
    ///
    /// # Errors
    ///
    /// If `ip` is not there or not allowed to.
    pub fn new(inside: &Inside, nodes: u8, logs: &Path) -> Result<World, LiveError> {
        let _ = inside;
        run(Command::new("mount").args(["-t", "tmpfs", "tmpfs", "/run"]), "")?;
        for path in [NAMES, DATA] {
            fs::create_dir(path).map_err(|source| LiveError::Write { path: path.into(), source })?;
        }
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
        Ok(World { nodes, names, logs: logs.to_owned() })
    }

    /// The nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Their names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Where data goes.
    pub fn directory(&self) -> &Path {
        Path::new(DATA)
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

    /// From now on these nodes and the others cannot reach each other.
    ///
    /// # Errors
    ///
    /// If `nft` is not there or not allowed to.
    pub fn isolate(&self, nodes: &[u32]) -> Result<(), LiveError> {
        let links = |of: &dyn Fn(u32) -> bool| {
            let all =
                (0..).zip(&self.nodes).filter(|(node, _)| of(*node)).map(|(node, _)| format!("\"v{}\"", node + 1));
            all.collect::<Vec<_>>().join(", ")
        };
        let (cut, rest) = (links(&|node| nodes.contains(&node)), links(&|node| !nodes.contains(&node)));
        if cut.is_empty() || rest.is_empty() {
            return Err(LiveError::Unsupported("a partition needs nodes on both sides".to_owned()));
        }
        // The table is made anew as a whole, so no moment is without one. Each rule stands on a line of its own.
        let rules = format!(
            "table bridge partition\ndelete table bridge partition\ntable bridge partition {{\nchain cut {{\n\
             type filter hook forward priority 0;\niifname {{ {cut} }} oifname {{ {rest} }} drop;\n\
             iifname {{ {rest} }} oifname {{ {cut} }} drop;\n}}\n}}\n"
        );
        run(Command::new("nft").args(["-f", "-"]), &rules)
    }

    /// Everybody can reach everybody.
    ///
    /// # Errors
    ///
    /// If `nft` is not there or not allowed to.
    pub fn heal(&self) -> Result<(), LiveError> {
        run(Command::new("nft").args(["-f", "-"]), "table bridge partition\ndelete table bridge partition\n")
    }
}

fn ip(lines: &str) -> Result<(), LiveError> {
    run(Command::new("ip").args(["-batch", "-"]), lines)
}

/// Runs a command to its end.
fn run(command: &mut Command, input: &str) -> Result<(), LiveError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let start_failed = |source| LiveError::Start { program: program.clone(), source };
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(start_failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command that ends before it has read everything says why.
        let _ = stdin.write_all(input.as_bytes());
    }
    let ended = child.wait_with_output().map_err(start_failed)?;
    if ended.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
    Err(LiveError::Store { what: format!("{program} ended with {}", ended.status), log: said })
}
