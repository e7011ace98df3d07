//! Nodes with Maelstrom's protocol: any program that reads and writes JSON messages on its standard input and output.
//!
//! The network between the nodes is simulated (`network`): messages have a delay, can be lost, and do not cross a
//! partition. Clients reach every node without delay. The services `lin-kv`, `seq-kv`, `lww-kv` and `lin-tso` are nodes
//! of this network (`services`).

mod client;
mod message;
mod network;
mod node;
mod services;
pub mod toy;

use crate::client::{Client, Seat, Store};
use crate::error::LiveError;
use crate::fault::Fault;
use crate::group::log::last_lines;
use crate::kind::{Kind, Make, Start as StartStore, StoreOption};
pub use client::Dialect;
use history_core::cast::Cast;
use network::Network;
use node::Node;
use serde_json::json;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const LATENCY: StoreOption = StoreOption::text(
    "latency",
    "TIME",
    "Mean delay of a message between nodes (exponentially distributed), such as 10ms",
)
.of(&[], "0ms");
const LOSS: StoreOption =
    StoreOption::text("loss", "PERCENT", "Share of messages between nodes that are lost, in percent").of(&[], "0");
const DIALECT: StoreOption =
    StoreOption::text("dialect", "NAME", "Messages of the set workload: those of Maelstrom's g-set or broadcast")
        .of(&["g-set", "broadcast"], "g-set");
const PRIMARY: StoreOption =
    StoreOption::text("primary", "NODE", "Node that faults of the primary affect, such as n1 [default: any node]");

pub(super) const KIND: Kind = Kind {
    name: "maelstrom",
    summary: "any program that implements Maelstrom's protocol, on a simulated network",
    needs: &[],
    options: &[LATENCY, LOSS, DIALECT, PRIMARY],
    workloads: WORKLOADS,
    faults: FAULTS,
    default_faults: &[],
    nodes: 3,
    nodes_may_vary: true,
    command: Some(("COMMAND", "the command of each node, run by sh -c")),
    make: Make::Store(|start| {
        let command = vec!["sh".to_owned(), "-c".to_owned(), start.command.clone()];
        Ok(Box::new(Maelstrom::start(Settings::of(&start, command)?)?))
    }),
};

const WORKLOADS: &[&str] =
    &["cas-register", "list-append", "rw-register", "set-full", "kafka", "g-counter", "pn-counter"];
const FAULTS: &[Fault] = &[Fault::Isolate, Fault::Kill, Fault::Pause];

impl Settings {
    /// The settings from the options of `start`.
    fn of(start: &StartStore, command: Vec<String>) -> Result<Settings, LiveError> {
        let names = start.names(KIND.nodes);
        let primary = start.option(&PRIMARY);
        let index = names.iter().position(|name| name == primary);
        if index.is_none() && !primary.is_empty() {
            return Err(LiveError::Usage(format!(
                "--primary: unknown node {primary}; expected one of {}",
                names.join(", ")
            )));
        }
        const PERCENT_MAX: u64 = 100;
        let loss_percent = start.number(&LOSS)?;
        if loss_percent > PERCENT_MAX {
            return Err(LiveError::Usage(format!("--loss: expected at most 100 percent, found {loss_percent}")));
        }
        Ok(Settings {
            command,
            nodes: names,
            conditions: Conditions { latency: start.time(&LATENCY)?, loss_percent, seed: start.seed },
            dialect: if start.option(&DIALECT) == "broadcast" { Dialect::Broadcast } else { Dialect::GSet },
            primary: index.map(Cast::to_u32),
            logs: start.logs.clone(),
        })
    }
}

/// How a simulated network behaves.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// The mean delay of a message between nodes; delays are exponentially distributed.
    pub latency: Duration,
    /// How many messages between nodes are lost, in percent.
    pub loss_percent: u64,
    /// Chooses delays and losses.
    pub seed: u64,
}

/// What to start.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The names of the nodes.
    pub nodes: Vec<String>,
    /// The network.
    pub conditions: Conditions,
    /// The form of requests for the set; other workloads have one form only.
    pub dialect: Dialect,
    /// The node that a fault aimed at the primary hits, if one is known to be it.
    pub primary: Option<u32>,
    /// The directory for the logs of the nodes; it exists.
    pub logs: PathBuf,
}

/// A cluster of nodes that run.
pub struct Maelstrom {
    settings: Settings,
    names: Vec<String>,
    network: Arc<Network>,
    nodes: Vec<Mutex<Node>>,
}

/// The maximum time in which a node must respond to `init`.
const INIT_MAX: Duration = Duration::from_secs(10);

impl fmt::Debug for Maelstrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Maelstrom").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Maelstrom {
    /// Starts the nodes and waits until each has responded to `init`.
    ///
    /// # Errors
    ///
    /// If a node cannot be started, ends, or does not respond.
    pub fn start(settings: Settings) -> Result<Maelstrom, LiveError> {
        let names = settings.nodes.clone();
        let network = Network::start(settings.conditions);
        let mut nodes = Vec::new();
        for name in &names {
            nodes.push(Mutex::new(Node::start(name, &settings.command, &settings.logs, &network)?));
        }
        let cluster = Maelstrom { settings, names, network, nodes };
        for node in 0..cluster.names.len() {
            cluster.initialize(node)?;
        }
        Ok(cluster)
    }

    fn initialize(&self, node: usize) -> Result<(), LiveError> {
        let name = &self.names[node];
        let init = json!({"type": "init", "node_id": name, "node_ids": self.names});
        self.ask(name, &init)?;
        if self.settings.dialect == Dialect::Broadcast {
            // Every node is a neighbour of every other one.
            let neighbours = |of: &String| self.names.iter().filter(|name| *name != of).cloned().collect::<Vec<_>>();
            let topology: serde_json::Map<_, _> =
                self.names.iter().map(|name| (name.clone(), json!(neighbours(name)))).collect();
            self.ask(name, &json!({"type": "topology", "topology": topology}))?;
        }
        Ok(())
    }

    fn ask(&self, name: &str, body: &serde_json::Value) -> Result<(), LiveError> {
        let mut mailbox = self.network.mailbox();
        match mailbox.call(name, body, INIT_MAX)? {
            Some(answer) if answer.kind() != "error" => Ok(()),
            Some(answer) => Err(LiveError::store(format!("{name} refused {}: {}", body["type"], answer.body))),
            None => Err(LiveError::Store {
                what: format!("{name} did not answer {} within {} s", body["type"], INIT_MAX.as_secs()),
                log: last_lines(&log_path(&self.settings.logs, name)),
            }),
        }
    }

    fn each(&self, nodes: &[u32], mut what: impl FnMut(&mut Node) -> Result<(), LiveError>) -> Result<(), LiveError> {
        nodes
            .iter()
            .try_for_each(|node| what(&mut self.nodes[node.to_usize()].lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Store for Maelstrom {
    fn name(&self) -> &'static str {
        "maelstrom"
    }

    fn workloads(&self) -> &[&'static str] {
        WORKLOADS
    }

    fn nodes(&self) -> &[String] {
        &self.names
    }

    fn client(&self, seat: &Seat) -> Result<Box<dyn Client>, LiveError> {
        let node = self.names[seat.node.to_usize()].clone();
        Ok(Box::new(client::MaelstromClient::new(self.network.mailbox(), node, seat.timeout, self.settings.dialect)))
    }

    fn faults(&self) -> &[Fault] {
        FAULTS
    }

    fn begin(&self, fault: Fault, nodes: &[u32]) -> Result<(), LiveError> {
        match fault {
            Fault::Isolate => {
                let names: Vec<String> = nodes.iter().map(|node| self.names[node.to_usize()].clone()).collect();
                self.network.isolate(&names);
                Ok(())
            }
            Fault::Kill => self.each(nodes, Node::kill),
            Fault::Pause => self.each(nodes, Node::pause),
            _ => Err(LiveError::Unsupported(format!("{} has no fault {fault}", self.name()))),
        }
    }

    fn heal(&self) -> Result<(), LiveError> {
        self.network.heal();
        for index in 0..self.nodes.len() {
            let restarted = {
                let mut node = self.nodes[index].lock().unwrap_or_else(PoisonError::into_inner);
                node.resume()?;
                node.restart_if_killed(&self.settings.command, &self.network)?
            };
            if restarted {
                self.initialize(index)?;
            }
        }
        Ok(())
    }

    /// Its nodes end with the run: waiting until killed ones are up again would only delay this.
    fn heal_at_end(&self) -> Result<(), LiveError> {
        Ok(())
    }

    fn primary(&self) -> Option<u32> {
        self.settings.primary
    }

    fn log(&self) -> String {
        self.names.first().map(|name| last_lines(&log_path(&self.settings.logs, name))).unwrap_or_default()
    }
}

impl Drop for Maelstrom {
    fn drop(&mut self) {
        // A node whose output ends from here on was ended on purpose.
        self.network.stop();
    }
}

fn log_path(logs: &Path, name: &str) -> PathBuf {
    logs.join(format!("{name}.log"))
}
