//! Nodes as plain processes on this machine, with proxies between them: for systems without namespaces.
//!
//! The servers of node 2 listen at `127.77.X.2`. All others reach them at `127.78.X.2`, where proxies listen, which
//! identify the caller ([`caller`]) and apply the state of the links ([`links`]). Clients of the run connect from
//! `127.79.X.2`, and get a byte from the proxy when their server has accepted them, so that a connection to a server
//! that is down fails before a request is sent.
//! A proxy cuts a connection differently than a network: data that was sent remains in it until the fault ends, and a
//! server gets a connection before the network passes the first byte. A proxy does not lose packets either: if a
//! network would, it cuts connections.
//! server gets a connection before the network passes the first byte. It does not lose packets either: where a network
//! would, it cuts connections.

mod caller;
mod links;
mod pump;

use super::host::Host;
use super::machine::Machine;
use super::node::Node;
use super::nodes::World;
use super::process::Within;
use super::surroundings::Surroundings;
use crate::dial::dial_from;
use crate::error::LiveError;
use crate::fault::{Fault, NETWORK};
use caller::Callers;
use links::Links;
use pump::Proxy;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The second parts of the addresses: of servers, of proxies, of clients.
const OWN: u8 = 77;
const PUBLIC: u8 = 78;
const CLIENTS: u8 = 79;
/// The last part of the address of clients outside of the cluster.
const HUB: u8 = 254;
/// The maximum number of simultaneous runs on a machine. On systems other than Linux each address has to be created
/// first, so there is one.
const RUNS_MAX: u8 = if cfg!(target_os = "linux") { 64 } else { 1 };

impl World {
    /// Creates nodes whose servers listen at these ports, and proxies between them. Logs go to `logs`, data to `data`.
    ///
    /// # Errors
    ///
    /// If the proxies' addresses are in use, or this system has none.
    pub fn with_proxies(ports: &[u16], nodes: u8, data: &Path, logs: &Path, seed: u64) -> Result<World, LiveError> {
        let (run, listeners) = listen(ports, nodes)?;
        let address = |kind: u8, number: u8| Ipv4Addr::new(127, kind, run, number);
        let node = |number: u8| Node {
            name: format!("n{number}"),
            address: address(PUBLIC, number),
            own: address(OWN, number),
        };
        let nodes: Vec<Node> = (1..=nodes).map(node).collect();
        let machine = |node: &Node| Arc::new(Machine::new(Within::Nothing, data.join(&node.name), logs.to_owned()));
        let machines: Vec<Arc<Machine>> = nodes.iter().map(machine).collect();
        let links = Arc::new(Links::new(nodes.len(), seed));
        let callers = Arc::new(Callers { run, machines: machines.clone() });
        let mut fronts = Vec::new();
        for (number, port, listener) in listeners {
            let node = &nodes[usize::from(number)];
            fronts.push(node.at(port));
            let proxy = Proxy {
                node: u32::from(number),
                server: (node.own, port).into(),
                public: (node.address, port).into(),
                links: Arc::clone(&links),
                callers: Arc::clone(&callers),
            };
            proxy.serve(listener);
        }
        let hosts = machines.into_iter().map(|machine| -> Box<dyn Host> { Box::new(machine) }).collect();
        let count = nodes.len();
        Ok(World::of(nodes, hosts, Box::new(Proxies { run, links, count, fronts })))
    }
}

/// Listeners by their node, from 0, and their port.
type Listeners = Vec<(u8, u16, TcpListener)>;

/// Listens on the proxies' addresses. Returns the third part of all addresses of this run, and the listeners.
fn listen(ports: &[u16], nodes: u8) -> Result<(u8, Listeners), LiveError> {
    let mut taken = None;
    for run in 0..RUNS_MAX {
        let at = |node: u8, port: u16| -> io::Result<_> {
            let address = (Ipv4Addr::new(127, PUBLIC, run, node + 1), port);
            Ok((node, port, TcpListener::bind(address).map_err(|error| (address, error)).map_err(named)?))
        };
        let all = (0..nodes).flat_map(|node| ports.iter().map(move |port| (node, *port)));
        match all.map(|(node, port)| at(node, port)).collect::<io::Result<Listeners>>() {
            Ok(listeners) => return Ok((run, listeners)),
            Err(error) if error.kind() == ErrorKind::AddrInUse => taken = Some(error),
            Err(error) => return Err(LiveError::store(format!("a proxy cannot listen: {error}"))),
        }
    }
    let why = taken.map_or_else(String::new, |error| error.to_string());
    Err(LiveError::store(format!("a proxy cannot listen: {why}")))
}

fn named((address, error): ((Ipv4Addr, u16), io::Error)) -> io::Error {
    let (ip, port) = address;
    let hint = if error.kind() == ErrorKind::AddrNotAvailable && !cfg!(target_os = "linux") {
        format!(
            "; create the address with `sudo ifconfig lo0 alias {ip}`, and those that begin with 127.77 and 127.79, too"
        )
    } else {
        String::new()
    };
    io::Error::new(error.kind(), format!("{ip}:{port}: {error}{hint}"))
}

/// The state of the proxies.
struct Proxies {
    run: u8,
    links: Arc<Links>,
    count: usize,
    /// The addresses at which proxies listen.
    fronts: Vec<SocketAddr>,
}

impl Surroundings for Proxies {
    fn prepare(&mut self, faults: &[Fault], _: &[Node]) -> Result<(), LiveError> {
        match faults.iter().find(|fault| matches!(fault, Fault::PowerCut | Fault::FullDisk)) {
            Some(fault) => Err(LiveError::Unsupported(format!("the fault {fault} needs a world of namespaces"))),
            None => Ok(()),
        }
    }

    fn faults(&self) -> Vec<Fault> {
        if self.count < 2 {
            return Vec::new();
        }
        NETWORK.iter().copied().chain([Fault::Delay]).collect()
    }

    fn stand_at(&self, node: Option<u32>) -> Result<(), LiveError> {
        let last = node.map_or(HUB, |node| u8::try_from(node + 1).unwrap_or(HUB));
        dial_from(Ipv4Addr::new(127, CLIENTS, self.run, last).into());
        Ok(())
    }

    /// All callers are proxies.
    fn callers(&self) -> Vec<String> {
        vec!["127.0.0.0/8".to_owned()]
    }

    fn begin(&self, fault: Fault, nodes: &[u32]) -> Result<(), LiveError> {
        self.links.begin(fault, nodes)
    }

    fn heal(&self) -> Result<(), LiveError> {
        self.links.heal();
        Ok(())
    }
}

impl Drop for Proxies {
    fn drop(&mut self) {
        self.links.end();
        for front in &self.fronts {
            // A connection wakes the thread that accepts, which then detects the end.
            let _ = TcpStream::connect_timeout(front, Duration::from_secs(1));
        }
    }
}
