//! Nodes on other machines, reached with the system's `ssh`: this program is copied there and serves the node.

use super::client::RemoteClient;
use super::filter;
use super::link::Link;
use super::message::{Answer, Of, What};
use crate::client::{Client, Seat};
use crate::error::LiveError;
use crate::fault::partition::cuts;
use crate::fault::{Fault, NETWORK};
use crate::group::Group;
use crate::group::log::last_lines;
use crate::world::{Host, Node, Order, Surroundings, World, words};
use history_core::cast::Cast as _;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs as _, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The maximum time of an order on a machine: some copy databases.
const ORDER_MAX: Duration = Duration::from_mins(2);
/// A port for looking up the local address; nothing is sent to it.
const DISCARD: u16 = 9;

/// How nodes on other machines are reached.
#[derive(Debug)]
pub struct Ssh<'s> {
    /// `ssh`, and its options.
    pub command: &'s str,
    /// The arguments that make the program a worker. A directory follows: [`node`](crate::serve::node).
    pub worker: &'s str,
    /// The name of the kind of store, and its options.
    pub kind: (&'s str, &'s BTreeMap<String, String>),
}

impl World {
    /// Uses these machines as nodes. This program is copied to each, and removed at the end. Network traffic is sent
    /// only to them. The logs of their servers are copied to `logs` at the end.
    ///
    /// # Errors
    ///
    /// If one of them cannot be reached, or does not run this program.
    pub fn over_ssh(hosts: &[String], ssh: &Ssh<'_>, logs: &Path) -> Result<World, LiveError> {
        let (mut nodes, mut machines) = (Vec::new(), Vec::new());
        for host in hosts {
            let address = address(ssh.command, host)?;
            let name = host.rsplit('@').next().unwrap_or(host).to_owned();
            if nodes.iter().any(|node: &Node| node.name == name || node.address == address) {
                return Err(LiveError::Usage(format!("{host} is the same machine as another node")));
            }
            nodes.push(Node { name, address, own: address });
        }
        let program = std::env::current_exe().and_then(fs::read);
        let program = program.map_err(|source| LiveError::Start { program: "this program".to_owned(), source })?;
        for (host, node) in hosts.iter().zip(&nodes) {
            machines.push(Arc::new(Remote::start(ssh, host, &node.name, &program, logs)?));
        }
        let of = Of::Kind { kind: ssh.kind.0.to_owned(), options: ssh.kind.1.clone(), nodes: nodes.clone() };
        let hosts = machines.iter().map(|machine| -> Box<dyn Host> { Box::new(Arc::clone(machine)) }).collect();
        let machines = Machines { nodes: nodes.clone(), remotes: machines, of };
        Ok(World::of(nodes, hosts, Box::new(machines)))
    }
}

/// The address of a machine, from its name in `ssh`.
fn address(ssh: &str, host: &str) -> Result<Ipv4Addr, LiveError> {
    let mut command = command(ssh, &["-G", host]);
    let asked = command.output().map_err(|source| LiveError::Start { program: ssh.to_owned(), source })?;
    let text = String::from_utf8_lossy(&asked.stdout);
    let known = text.lines().find_map(|line| line.strip_prefix("hostname ")).unwrap_or(host);
    let addresses = (known, DISCARD).to_socket_addrs();
    let addresses =
        addresses.map_err(|error| LiveError::store(format!("cannot find the address of {host}: {error}")))?;
    let first = addresses.into_iter().find_map(|address| match address {
        SocketAddr::V4(address) => Some(*address.ip()),
        SocketAddr::V6(_) => None,
    });
    first.ok_or_else(|| LiveError::store(format!("{host} has no IPv4 address")))
}

fn command(ssh: &str, more: &[&str]) -> Command {
    let words = words(ssh);
    let (program, options) = words.split_first().map_or(("ssh", &[][..]), |(program, rest)| (program, rest));
    let mut command = Command::new(program);
    command.args(options).args(["-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5"]).args(more);
    command
}

/// A machine at the other end of `ssh`.
struct Remote {
    name: String,
    link: Arc<Link>,
    logs: PathBuf,
    /// The names of the daemons that were started.
    daemons: Mutex<Vec<String>>,
    /// The `ssh` process. The worker ends with it.
    ssh: Mutex<Group>,
}

impl Remote {
    fn start(ssh: &Ssh<'_>, host: &str, name: &str, program: &[u8], logs: &Path) -> Result<Remote, LiveError> {
        fs::create_dir_all(logs).map_err(|source| LiveError::Write { path: logs.to_owned(), source })?;
        let log = logs.join(format!("ssh-{name}.log"));
        let said = File::create(&log).map_err(|source| LiveError::Write { path: log.clone(), source })?;
        // All users may enter the directory, because servers run as their own users.
        let script = format!(
            "sh -c 'umask 022; d=$(mktemp -d /tmp/histcheck-live-XXXXXX) && chmod 711 \"$d\" && head -c {} > \"$d/histcheck\" && \
             chmod 700 \"$d/histcheck\" && exec \"$d/histcheck\" {} \"$d\"'",
            program.len(),
            ssh.worker
        );
        let mut command = command(ssh.command, &[host, &script]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(said);
        let mut group = Group::start(&format!("ssh {host}"), &mut command)?;
        let (Some(mut stdin), Some(stdout)) = (group.child().stdin.take(), group.child().stdout.take()) else {
            return Err(LiveError::store(format!("ssh {host} has no pipes")));
        };
        let failed = |what: String| LiveError::Store { what, log: last_lines(&log) };
        stdin.write_all(program).map_err(|error| failed(format!("cannot copy this program to {host}: {error}")))?;
        let link = Link::start(host, stdout, stdin).map_err(|error| failed(error.to_string()))?;
        let (name, logs) = (name.to_owned(), logs.to_owned());
        Ok(Remote { name, link, logs, daemons: Mutex::default(), ssh: Mutex::new(group) })
    }
}

impl Host for Arc<Remote> {
    fn obey(&self, order: &Order) -> Result<String, LiveError> {
        if let Order::Start { name, .. } = order {
            self.daemons.lock().unwrap_or_else(PoisonError::into_inner).push(name.clone());
        }
        match self.link.call(What::Order(order.clone()), ORDER_MAX) {
            Ok(Answer::Done(text)) => Ok(text),
            Ok(Answer::Outcome { .. }) => Err(LiveError::store(format!("{} sent an unexpected answer", self.name))),
            Err(error) => Err(error.at(&self.name)),
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let names = std::mem::take(&mut *self.daemons.lock().unwrap_or_else(PoisonError::into_inner));
        for name in names {
            let log = self.link.call(What::Order(Order::Log { name: name.clone() }), Duration::from_secs(5));
            if let Ok(Answer::Done(text)) = log {
                // The verdict does not depend on the log, so an error is ignored.
                let _ = fs::write(self.logs.join(format!("{name}.log")), text);
            }
        }
        // The worker ends everything when its input ends. This waits for it, so that no process remains.
        self.link.close();
        self.ssh.lock().unwrap_or_else(PoisonError::into_inner).end_within(Duration::from_secs(10));
    }
}

/// Machines, and the network between them.
struct Machines {
    nodes: Vec<Node>,
    remotes: Vec<Arc<Remote>>,
    of: Of,
}

impl Machines {
    fn filter(&self, rules: impl Fn(u32) -> String) -> Result<(), LiveError> {
        let each =
            |(number, machine): (u32, &Arc<Remote>)| machine.obey(&Order::Filter { rules: rules(number) }).map(drop);
        (0..).zip(&self.remotes).try_for_each(each)
    }
}

impl Surroundings for Machines {
    fn prepare(&mut self, faults: &[Fault], _: &[Node]) -> Result<(), LiveError> {
        if let Some(fault) = faults.iter().find(|fault| matches!(fault, Fault::PowerCut | Fault::FullDisk)) {
            return Err(LiveError::Unsupported(format!("the fault {fault} is not possible on other machines")));
        }
        // If filtering packets is not permitted there, this reports it before the run.
        if faults.iter().any(|fault| NETWORK.contains(fault)) { self.heal() } else { Ok(()) }
    }

    /// Without faults that take links down, because they would cut off the run as well.
    fn faults(&self) -> Vec<Fault> {
        NETWORK.iter().copied().filter(|fault| *fault != Fault::LinkDown).collect()
    }

    fn stand_at(&self, _: Option<u32>) -> Result<(), LiveError> {
        Ok(())
    }

    fn client(&self, seat: &Seat) -> Option<Result<Box<dyn Client>, LiveError>> {
        let machine = self.remotes.get(seat.node.to_usize())?;
        let client = RemoteClient::open(Arc::clone(&machine.link), seat, self.of.clone());
        Some(client.map(|client| -> Box<dyn Client> { Box::new(client) }))
    }

    fn callers(&self) -> Vec<String> {
        let own = self.nodes.iter().filter_map(|node| {
            let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
            socket.connect((node.address, DISCARD)).ok()?;
            Some(socket.local_addr().ok()?.ip().to_string())
        });
        let mut all: Vec<String> = self.nodes.iter().map(|node| node.address.to_string()).chain(own).collect();
        all.sort_unstable();
        all.dedup();
        all.iter().map(|address| format!("{address}/32")).collect()
    }

    fn begin(&self, fault: Fault, nodes: &[u32]) -> Result<(), LiveError> {
        if fault == Fault::Loss {
            return self.filter(|node| {
                if nodes.contains(&node) { filter::loss_rules(node, &self.nodes) } else { filter::no_rules() }
            });
        }
        let cut = cuts(fault, nodes, self.nodes.len().to_u32());
        if cut.is_empty() {
            return Err(LiveError::Unsupported("a partition needs nodes on both sides".to_owned()));
        }
        self.filter(|node| filter::rules(&cut, node, &self.nodes))
    }

    fn heal(&self) -> Result<(), LiveError> {
        self.filter(|_| filter::no_rules())
    }
}
