//! Any store, in any language: each client is a command that responds to each operation with a line of JSON.

use super::worker::Worker;
use crate::client::{Client, FailedStart, Seat, Store};
use crate::error::LiveError;
use crate::fault::Fault;
use crate::kind::{Kind, Make, Nodes, Start, StoreOption};
use crate::remote::{Of, RemoteClient};
use crate::request::{Outcome, Request};
use crate::workload::Workload;
use history_core::cast::Cast as _;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::process::{Command, Stdio};

/// A store whose clients are started with a command.
///
/// The command is run by `sh -c`, once for each client, with `HISTCHECK_PROCESS`, `HISTCHECK_NODE`, `HISTCHECK_NODES`
/// (separated by commas) and
/// `HISTCHECK_SEED` in its environment. Faults are commands too.
#[derive(Debug)]
pub struct Exec {
    clients: Clients,
    nodes: Vec<String>,
    workloads: Vec<&'static str>,
    fault: Option<(String, String)>,
}

/// The location of clients.
#[derive(Debug)]
enum Clients {
    /// In this process's machine, started with this command.
    Command(String),
    /// In these workers, one for each node.
    Workers(Vec<SocketAddr>),
}

const FAULT: StoreOption = StoreOption::text("fault", "COMMAND", "Shell command that begins a fault (with --heal)");
const HEAL: StoreOption = StoreOption::text("heal", "COMMAND", "Shell command that ends the fault (with --fault)");

pub(super) const KIND: Kind = Kind {
    name: "exec",
    summary: "any store, in any language: a command per client, which answers each operation with a line of JSON",
    needs: &[],
    options: &[FAULT, HEAL],
    workloads: &[
        "list-append",
        "rw-register",
        "cas-register",
        "versioned-register",
        "set-full",
        "bank",
        "kafka",
        "g-counter",
        "pn-counter",
    ],
    faults: &FAULTS,
    default_faults: &FAULTS,
    nodes: 1,
    nodes_may_vary: true,
    command: Some(("COMMAND", "the command of each client, run by sh -c")),
    make: Make::Store(|start| Exec::of(&start, Exec::new(start.command.clone()))),
};

pub(super) const WORKERS: Kind = Kind {
    name: "workers",
    summary: "any store, with clients on other machines: `histcheck live worker` serves them",
    command: Some(("ADDRESSES", "the addresses of the workers, HOST:PORT, comma-separated; each one is a node")),
    make: Make::Store(|start| Exec::of(&start, Exec::over(&start.command)?)),
    ..KIND
};

impl Exec {
    /// With the requested nodes and faults.
    fn of(start: &Start, exec: Exec) -> Result<Box<dyn Store>, LiveError> {
        let (fault, heal) = (start.option(&FAULT), start.option(&HEAL));
        if fault.is_empty() != heal.is_empty() {
            return Err(LiveError::Usage("--fault and --heal need each other: pass both".to_owned()));
        }
        let nodes = match start.nodes {
            Nodes::Default => Vec::new(),
            _ => start.names(1),
        };
        if let Clients::Workers(workers) = &exec.clients
            && !nodes.is_empty()
            && nodes.len() != workers.len()
        {
            let (names, workers) = (nodes.len(), workers.len());
            return Err(LiveError::Usage(format!("--nodes has {names} names, but there are {workers} workers")));
        }
        let exec = exec.with_nodes(nodes);
        Ok(Box::new(if fault.is_empty() { exec } else { exec.with_fault(fault, heal) }))
    }
}

/// The only fault is a command of the user, with any effect.
const FAULTS: [Fault; 1] = [Fault::Command];

impl Exec {
    /// Clients are started with this command.
    pub fn new(command: impl Into<String>) -> Exec {
        Exec::with(Clients::Command(command.into()), vec![String::new()])
    }

    /// Clients run in workers at these addresses, which are separated by commas; each worker is a node.
    ///
    /// # Errors
    ///
    /// If one is no address.
    pub fn over(workers: &str) -> Result<Exec, LiveError> {
        let names: Vec<String> = workers.split(',').map(|name| name.trim().to_owned()).collect();
        let address = |name: &String| {
            let found = name.to_socket_addrs().map(|mut all| all.next());
            let wrong = |why: String| LiveError::Usage(format!("--workers: expected HOST:PORT, found {name:?}: {why}"));
            found.map_err(|error| wrong(error.to_string()))?.ok_or_else(|| wrong("the name has no address".to_owned()))
        };
        let addresses = names.iter().map(address).collect::<Result<_, _>>()?;
        Ok(Exec::with(Clients::Workers(addresses), names))
    }

    fn with(clients: Clients, nodes: Vec<String>) -> Exec {
        let workloads = Workload::ALL.iter().map(|workload| workload.name).collect();
        Exec { clients, nodes, workloads, fault: None }
    }

    /// Starts a client of this command.
    pub(crate) fn open(command: &str, nodes: &[String], seat: &Seat) -> Result<Box<dyn Client>, LiveError> {
        let mut shell = Exec::shell(command);
        shell
            .env("HISTCHECK_PROCESS", seat.process.to_string())
            .env("HISTCHECK_NODE", nodes.get(seat.node.to_usize()).map_or("", String::as_str))
            .env("HISTCHECK_NODES", nodes.join(","))
            .env("HISTCHECK_SEED", seat.seed.to_string());
        let who = format!("client {} ({command})", seat.process);
        Ok(Box::new(ExecClient(Worker::start(shell, who, seat.timeout)?)))
    }

    /// Opens a client of a worker.
    fn remote(&self, worker: SocketAddr, seat: &Seat) -> Result<Box<dyn Client>, LiveError> {
        let of = Of::Command { nodes: self.nodes.clone() };
        Ok(Box::new(RemoteClient::connect("the worker", worker, seat, of)?))
    }

    /// The nodes among which clients are distributed; each client gets the name of its node.
    #[must_use]
    pub fn with_nodes(mut self, nodes: Vec<String>) -> Exec {
        if !nodes.is_empty() {
            self.nodes = nodes;
        }
        self
    }

    /// A command that begins a fault and one that ends it, each run by `sh -c`.
    #[must_use]
    pub fn with_fault(mut self, begin: impl Into<String>, end: impl Into<String>) -> Exec {
        self.fault = Some((begin.into(), end.into()));
        self
    }

    fn shell(command: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).stderr(Stdio::inherit());
        shell
    }

    fn call(command: &str) -> Result<(), LiveError> {
        let status = Exec::shell(command)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .map_err(|source| LiveError::Start { program: command.to_owned(), source })?;
        if status.success() { Ok(()) } else { Err(LiveError::store(format!("{command:?} ended with {status}"))) }
    }
}

impl Store for Exec {
    fn name(&self) -> &'static str {
        "exec"
    }

    fn workloads(&self) -> &[&'static str] {
        &self.workloads
    }

    fn nodes(&self) -> &[String] {
        &self.nodes
    }

    fn client(&self, seat: &Seat) -> Result<Box<dyn Client>, LiveError> {
        match &self.clients {
            Clients::Command(command) => Exec::open(command, &self.nodes, seat),
            Clients::Workers(workers) => self.remote(workers[seat.node.to_usize()], seat),
        }
    }

    fn faults(&self) -> &[Fault] {
        if self.fault.is_some() { &FAULTS } else { &[] }
    }

    fn begin(&self, fault: Fault, _: &[u32]) -> Result<(), LiveError> {
        match (&self.fault, fault) {
            (Some((begin, _)), Fault::Command) => Exec::call(begin),
            _ => Err(LiveError::Unsupported(format!(
                "a command has no fault {fault}: pass the commands that begin and end it"
            ))),
        }
    }

    fn heal(&self) -> Result<(), LiveError> {
        self.fault.as_ref().map_or(Ok(()), |(_, end)| Exec::call(end))
    }
}

struct ExecClient(Worker);

impl Client for ExecClient {
    fn invoke(&mut self, request: &Request) -> Result<Outcome, LiveError> {
        self.0.invoke(request)
    }

    fn is_broken(&self) -> bool {
        self.0.is_broken()
    }

    fn failed_start(&self) -> Option<FailedStart> {
        self.0.failed_start()
    }

    fn end(&mut self) -> Result<(), LiveError> {
        self.0.end()
    }
}
