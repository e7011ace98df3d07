//! Redis with sentinels: three nodes, each with a server and a sentinel, which elect another master when theirs is gone.

mod client;
mod resp;

use crate::client::{Client, Seat, Store};
use crate::error::LiveError;
use crate::fault::Fault;
use crate::kind::{Kind, Place, StoreOption};
use crate::need::Need;
use crate::store::cluster::{Cluster, FAULTS, words};
use crate::world::World;
use history_core::cast::Cast as _;
use resp::{Answer, Connection};
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

const PORT: u16 = 6379;
const SENTINEL_PORT: u16 = 26379;
/// The name under which the sentinels watch the master.
const MASTER: &str = "m";
const NODES: u8 = 3;

/// How long the cluster may take to come up.
const START_MAX: Duration = Duration::from_secs(20);
/// How long the hub waits for a node.
const ASK: Duration = Duration::from_millis(300);

const WAIT: StoreOption = StoreOption {
    name: "wait",
    value_name: "REPLICAS",
    help: "Number of replicas that must have a write before it is acknowledged (WAIT)",
    values: &["0", "1", "2"],
    default: "0",
};

pub(super) const KIND: Kind = Kind {
    name: "redis-sentinel",
    summary: "Redis with sentinels: a master, two replicas, three sentinels",
    needs: RedisSentinel::NEEDS,
    options: &[WAIT],
    workloads: &["versioned-register", "cas-register", "set-full"],
    faults: FAULTS,
    default_faults: &[Fault::Isolate],
    place: Place::World,
    nodes: 3,
    nodes_may_vary: false,
    command: None,
    start: |mut start| {
        let wait = u32::try_from(start.number(&WAIT)?).unwrap_or(u32::MAX);
        Ok(Box::new(RedisSentinel::start(start.take_world()?, wait)?))
    },
};

/// A master, two replicas and three sentinels.
pub struct RedisSentinel {
    cluster: Cluster,
    wait: u32,
}

impl RedisSentinel {
    /// How many nodes the world must have.
    pub const NODES: u8 = NODES;
    /// What must be installed.
    pub const NEEDS: &'static [Need] = &[
        Need::new("redis-server", "redis-server"),
        Need::new("redis-sentinel", "redis-sentinel"),
        Need::new("ip", "iproute2"),
        Need::new("nft", "nftables"),
        Need::new("unshare", "util-linux"),
    ];

    /// Starts the cluster and waits until every sentinel knows the others and the replicas. Writes wait until `wait`
    /// replicas have
    /// them.
    ///
    /// # Errors
    ///
    /// If a server does not start, or the cluster does not come up in time.
    pub fn start(world: World, wait: u32) -> Result<RedisSentinel, LiveError> {
        let store = RedisSentinel { cluster: Cluster::new(world), wait };
        let first = store.cluster.nodes()[0].address;
        store.start_servers(first)?;
        // A sentinel that starts before the replicas are attached learns of them ten seconds later.
        let are_attached = || RedisSentinel::replicas(first) == usize::from(NODES) - 1;
        store.cluster.until(START_MAX, "the replicas did not attach", are_attached)?;
        store.start_sentinels(first)?;
        store.cluster.until(START_MAX, "the sentinels did not find each other", || store.sentinels_are_ready())?;
        Ok(store)
    }

    fn start_servers(&self, first: Ipv4Addr) -> Result<(), LiveError> {
        for (number, node) in (0..).zip(self.cluster.nodes()) {
            let data = self.cluster.world.data(number, "redis")?.display().to_string();
            let mut command = words("redis-server --bind 0.0.0.0 --protected-mode no --appendonly no --daemonize no");
            command.extend(["--port".to_owned(), PORT.to_string(), "--dir".to_owned(), data]);
            command.extend(["--save".to_owned(), String::new()]);
            command.extend(words("--repl-diskless-sync-delay 0 --repl-timeout 5 --repl-ping-replica-period 1"));
            if number > 0 {
                command.extend(["--replicaof".to_owned(), first.to_string(), PORT.to_string()]);
            }
            self.cluster.start(number, &format!("redis-{}", node.name), command)?;
        }
        Ok(())
    }

    fn start_sentinels(&self, master: Ipv4Addr) -> Result<(), LiveError> {
        for (number, node) in (0..).zip(self.cluster.nodes()) {
            let name = format!("sentinel-{}", node.name);
            let data = self.cluster.world.data(number, "sentinel")?.display().to_string();
            let path = format!("{data}/sentinel.conf");
            let text = format!(
                "port {SENTINEL_PORT}\nbind 0.0.0.0\nprotected-mode no\ndir \"{data}\"\n\
                 sentinel monitor {MASTER} {master} {PORT} 2\nsentinel down-after-milliseconds {MASTER} 500\n\
                 sentinel failover-timeout {MASTER} 1500\nsentinel parallel-syncs {MASTER} 2\n",
            );
            fs::write(&path, text).map_err(|source| LiveError::Write { path: path.clone().into(), source })?;
            self.cluster.start(number, &name, vec!["redis-sentinel".to_owned(), path])?;
        }
        Ok(())
    }

    /// How many replicas are attached to this server; none if it is not a master.
    fn replicas(server: Ipv4Addr) -> usize {
        let role =
            Connection::open((IpAddr::V4(server), PORT).into(), ASK).and_then(|mut server| server.call(&["ROLE"]));
        match role {
            Ok(Answer::List(parts)) => match &parts[..] {
                [Answer::Text(role), _, Answer::List(replicas)] if role == "master" => replicas.len(),
                _ => 0,
            },
            _ => 0,
        }
    }

    fn sentinels_are_ready(&self) -> bool {
        self.cluster.nodes().iter().all(|node| {
            let asked = Connection::open((IpAddr::V4(node.address), SENTINEL_PORT).into(), ASK)
                .and_then(|mut sentinel| sentinel.call(&["SENTINEL", "master", MASTER]));
            let Ok(Answer::List(parts)) = asked else { return false };
            let field = |name: &str| {
                let at = parts.iter().position(|part| *part == Answer::Text(name.to_owned()))?;
                match parts.get(at + 1)? {
                    Answer::Text(value) => value.parse::<u8>().ok(),
                    _ => None,
                }
            };
            field("num-other-sentinels") == Some(NODES - 1) && field("num-slaves") == Some(NODES - 1)
        })
    }
}

impl Store for RedisSentinel {
    fn name(&self) -> &'static str {
        "redis-sentinel"
    }

    fn workloads(&self) -> &[&'static str] {
        &["versioned-register", "cas-register", "set-full"]
    }

    fn nodes(&self) -> &[String] {
        self.cluster.world.names()
    }

    fn client(&self, seat: &Seat) -> Result<Box<dyn Client>, LiveError> {
        self.cluster.world.seat(seat)?;
        let node = self.cluster.nodes()[seat.node.to_usize()].address;
        Ok(Box::new(client::RedisClient::new(node, seat.timeout, self.wait)))
    }

    fn faults(&self) -> &[Fault] {
        self.cluster.faults()
    }

    fn begin(&self, fault: Fault, nodes: &[u32]) -> Result<(), LiveError> {
        self.cluster.begin(fault, nodes)
    }

    fn heal(&self) -> Result<(), LiveError> {
        self.cluster.heal()
    }

    /// What most sentinels say.
    fn primary(&self) -> Option<u32> {
        let nodes = self.cluster.nodes();
        let votes: Vec<Ipv4Addr> = nodes.iter().filter_map(|node| client::master(node.address, ASK)).collect();
        (0..)
            .zip(nodes)
            .find(|(_, node)| votes.iter().filter(|vote| **vote == node.address).count() * 2 > nodes.len())
            .map(|(number, _)| number)
    }

    fn is_settled(&self) -> bool {
        let replicas: Vec<usize> =
            self.cluster.nodes().iter().map(|node| RedisSentinel::replicas(node.address)).collect();
        replicas.iter().sum::<usize>() == usize::from(NODES) - 1 && self.primary().is_some()
    }

    fn log(&self) -> String {
        self.cluster.log()
    }
}
