//! Redis with sentinels: three nodes, each with a server and a sentinel, which elect another master when theirs is
//! unavailable.

mod client;
mod resp;

use crate::client::{Client, Seat};
use crate::error::LiveError;
use crate::fault::Fault;
use crate::kind::{Kind, Make, StoreOption};
use crate::need::Need;
use crate::world::cluster::System;
use crate::world::{Node, World, words};
use history_core::cast::Cast as _;
use resp::{Answer, Connection};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

const PORT: u16 = 6379;
const SENTINEL_PORT: u16 = 26379;
/// The name under which the sentinels watch the master.
const MASTER: &str = "m";

/// The maximum time in which the cluster must start.
const START_MAX: Duration = Duration::from_secs(20);
/// How long the hub waits for a node's response.
const ASK: Duration = Duration::from_millis(300);

const WAIT: StoreOption = StoreOption::text(
    "wait",
    "REPLICAS",
    "Number of replicas that must receive a write before it is acknowledged (WAIT)",
)
.of(&["0", "1", "2"], "0");

pub(super) const KIND: Kind = Kind {
    name: "redis-sentinel",
    summary: "Redis with sentinels: a master, two replicas, three sentinels",
    needs: &[Need::new("redis-server", "redis-server"), Need::new("redis-sentinel", "redis-sentinel")],
    options: &[WAIT],
    workloads: &["versioned-register", "cas-register", "set-full"],
    default_faults: &[Fault::Isolate],
    make: Make::Cluster {
        ports: &[PORT, SENTINEL_PORT],
        system: |start| Ok(Box::new(Redis { wait: u32::try_from(start.number(&WAIT)?).unwrap_or(u32::MAX) })),
    },
    ..Kind::CLUSTER
};

/// A master, replicas, and one sentinel for each.
struct Redis {
    /// The number of replicas that a write waits for.
    wait: u32,
}

impl Redis {
    fn start_servers(world: &World, first: &Node) -> Result<(), LiveError> {
        for (number, node) in (0..).zip(world.nodes()) {
            let data = world.data(number, "redis", "")?.display().to_string();
            let mut command = words("redis-server --protected-mode no --appendonly no --daemonize no");
            command.extend(["--bind".to_owned(), node.own.to_string(), "--port".to_owned(), PORT.to_string()]);
            command.extend(["--replica-announce-ip".to_owned(), node.address.to_string()]);
            command.extend(["--dir".to_owned(), data, "--save".to_owned(), String::new()]);
            command.extend(words("--repl-diskless-sync-delay 0 --repl-timeout 5 --repl-ping-replica-period 1"));
            if number > 0 {
                command.extend(["--replicaof".to_owned(), first.address.to_string(), PORT.to_string()]);
            }
            world.start(number, "", "redis", command)?;
        }
        Ok(())
    }

    fn start_sentinels(world: &World, master: &Node) -> Result<(), LiveError> {
        for (number, node) in (0..).zip(world.nodes()) {
            let data = world.data(number, "sentinel", "")?;
            let path = data.join("sentinel.conf");
            let text = format!(
                "port {SENTINEL_PORT}\nbind {own}\nprotected-mode no\ndir \"{data}\"\n\
                 sentinel announce-ip {address}\nsentinel announce-port {SENTINEL_PORT}\n\
                 sentinel monitor {MASTER} {master} {PORT} 2\nsentinel down-after-milliseconds {MASTER} 500\n\
                 sentinel failover-timeout {MASTER} 1500\nsentinel parallel-syncs {MASTER} 2\n",
                own = node.own,
                address = node.address,
                master = master.address,
                data = data.display(),
            );
            world.write(number, &path, text)?;
            world.start(number, "", "sentinel", vec!["redis-sentinel".to_owned(), path.display().to_string()])?;
        }
        Ok(())
    }

    /// The number of replicas attached to this server; 0 if it is not a master.
    fn replicas(server: SocketAddr) -> usize {
        let role = Connection::open(server, ASK).and_then(|mut server| server.call(&["ROLE"]));
        match role {
            Ok(Answer::List(parts)) => match &parts[..] {
                [Answer::Text(role), _, Answer::List(replicas)] if role == "master" => replicas.len(),
                _ => 0,
            },
            _ => 0,
        }
    }

    fn sentinels_are_ready(world: &World) -> bool {
        let others = Some(world.count() - 1);
        world.nodes().iter().all(|node| {
            let asked = Connection::open(node.at(SENTINEL_PORT), ASK)
                .and_then(|mut sentinel| sentinel.call(&["SENTINEL", "master", MASTER]));
            let Ok(Answer::List(parts)) = asked else { return false };
            let field = |name: &str| {
                let at = parts.iter().position(|part| *part == Answer::Text(name.to_owned()))?;
                match parts.get(at + 1)? {
                    Answer::Text(value) => value.parse::<u32>().ok(),
                    _ => None,
                }
            };
            field("num-other-sentinels") == others && field("num-slaves") == others
        })
    }
}

impl System for Redis {
    fn set_up(&self, world: &World) -> Result<(), LiveError> {
        let first = &world.nodes()[0];
        Redis::start_servers(world, first)?;
        // A sentinel that starts before the replicas are attached would discover them only ten seconds later.
        let are_attached = || Redis::replicas(first.at(PORT)) + 1 == world.nodes().len();
        world.until(START_MAX, "the replicas did not attach", are_attached)?;
        Redis::start_sentinels(world, first)?;
        world.until(START_MAX, "the sentinels did not find each other", || Redis::sentinels_are_ready(world))
    }

    fn connect(&self, nodes: &[Node], seat: &Seat) -> Box<dyn Client> {
        let node = nodes[seat.node.to_usize()].address;
        Box::new(client::RedisClient::new(node, seat.timeout, self.wait))
    }

    /// The master according to most sentinels.
    fn primary(&self, world: &World) -> Option<u32> {
        let nodes = world.nodes();
        let votes: Vec<Ipv4Addr> = nodes.iter().filter_map(|node| client::master(node.address, ASK)).collect();
        (0..)
            .zip(nodes)
            .find(|(_, node)| votes.iter().filter(|vote| **vote == node.address).count() * 2 > nodes.len())
            .map(|(number, _)| number)
    }

    fn is_settled(&self, world: &World) -> bool {
        let replicas: usize = world.nodes().iter().map(|node| Redis::replicas(node.at(PORT))).sum();
        replicas + 1 == world.nodes().len() && self.primary(world).is_some()
    }
}
