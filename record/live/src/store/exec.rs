//! Any store, in any language: each client is a command that answers each operation with a line of JSON.

use super::worker::Worker;
use crate::client::{Client, Seat, Store};
use crate::error::LiveError;
use crate::fault::Fault;
use crate::kind::{Kind, Nodes, Place, StoreOption};
use crate::request::{Outcome, Request};
use crate::workload::Workload;
use history_core::cast::Cast as _;
use std::process::{Command, Stdio};

/// A store whose clients are started with a command.
///
/// The command is run by `sh -c`, once for each client, with `HISTCHECK_PROCESS`, `HISTCHECK_NODE`, `HISTCHECK_NODES`
/// (separated by commas) and
/// `HISTCHECK_SEED` in its environment. Faults are commands too.
#[derive(Debug)]
pub struct Exec {
    command: String,
    nodes: Vec<String>,
    workloads: Vec<&'static str>,
    fault: Option<(String, String)>,
}

const FAULT: StoreOption = StoreOption {
    name: "fault",
    value_name: "COMMAND",
    help: "Shell command that begins a fault (with --heal)",
    values: &[],
    default: "",
};
const HEAL: StoreOption =
    StoreOption { name: "heal", help: "Shell command that ends the fault (with --fault)", ..FAULT };

pub(super) const KIND: Kind = Kind {
    name: "exec",
    summary: "any store, in any language: a command per client answers each operation with a line of JSON",
    needs: &[],
    options: &[FAULT, HEAL],
    workloads: &["list-append", "rw-register", "cas-register", "versioned-register", "set-full", "bank"],
    faults: &FAULTS,
    default_faults: &FAULTS,
    place: Place::Here,
    nodes: 1,
    nodes_may_vary: true,
    command: Some("command that each client is started with, run by sh -c"),
    start: |start| {
        let (fault, heal) = (start.option(&FAULT), start.option(&HEAL));
        if fault.is_empty() != heal.is_empty() {
            return Err(LiveError::Usage("--fault and --heal belong together: give both".to_owned()));
        }
        let exec = Exec::new(start.command.clone());
        let exec = match start.nodes {
            Nodes::Default => exec,
            _ => exec.with_nodes(start.names(1)),
        };
        Ok(Box::new(if fault.is_empty() { exec } else { exec.with_fault(fault, heal) }))
    },
};

/// Its faults are whatever the commands do.
const FAULTS: [Fault; 1] = [Fault::Command];

impl Exec {
    /// Clients are started with this command.
    pub fn new(command: impl Into<String>) -> Exec {
        let workloads = Workload::ALL.iter().map(|workload| workload.name).collect();
        Exec { command: command.into(), nodes: vec![String::new()], workloads, fault: None }
    }

    /// The nodes that clients are spread over; each client gets the name of its node.
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
        let mut command = Exec::shell(&self.command);
        command
            .env("HISTCHECK_PROCESS", seat.process.to_string())
            .env("HISTCHECK_NODE", &self.nodes[seat.node.to_usize()])
            .env("HISTCHECK_NODES", self.nodes.join(","))
            .env("HISTCHECK_SEED", seat.seed.to_string());
        let who = format!("client {} ({})", seat.process, self.command);
        Ok(Box::new(ExecClient(Worker::start(command, who, seat.timeout)?)))
    }

    fn faults(&self) -> &[Fault] {
        if self.fault.is_some() { &FAULTS } else { &[] }
    }

    fn begin(&self, fault: Fault, _: &[u32]) -> Result<(), LiveError> {
        match (&self.fault, fault) {
            (Some((begin, _)), Fault::Command) => Exec::call(begin),
            _ => Err(LiveError::Unsupported(format!(
                "a command has no fault {fault}: give commands that begin and end it"
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
}
