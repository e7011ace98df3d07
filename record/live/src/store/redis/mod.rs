//! Redis with sentinels: three nodes, each with a server and a sentinel, which elect another master when theirs is gone.

mod client;
mod resp;

use crate::client::{Client, Seat, Store};
use crate::error::LiveError;
use crate::fault::Fault;
use crate::world::{Daemon, World};
use resp::{Answer, Connection};
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const PORT: u16 = 6379;
const SENTINEL_PORT: u16 = 26379;
/// The name under which the sentinels watch the master.
const MASTER: &str = "m";
const NODES: u8 = 3;

/// How long the cluster may take to come up.
const START_MAX: Duration = Duration::from_secs(20);
/// Between two looks at it.
const LOOK: Duration = Duration::from_millis(50);
/// How long the hub waits for a node.
const ASK: Duration = Duration::from_millis(300);

/// A master, two replicas and three sentinels.
pub struct RedisSentinel {
    world: World,
    /// Servers and sentinels, those of a node next to each other.
    daemons: Mutex<Vec<Daemon>>,
    wait: u32,
}

impl RedisSentinel {
    /// How many nodes the world must have.
    pub const NODES: u8 = NODES;
    /// What must be installed: programs, and the Debian packages that have them.
    pub const NEEDS: &'static [(&'static str, &'static str)] = &[
        ("redis-server", "redis-server"),
        ("redis-sentinel", "redis-sentinel"),
        ("ip", "iproute2"),
        ("nft", "nftables"),
        ("unshare", "util-linux"),
    ];

    /// Starts the cluster and waits until every sentinel knows the others and the replicas. Writes wait until `wait` replicas have
    /// them.
    ///
    /// # Errors
    ///
    /// If a server does not start, or the cluster does not come up in time.
    pub fn start(world: World, wait: u32) -> Result<RedisSentinel, LiveError> {
        let first = world.nodes()[0].address;
        let mut daemons = Vec::new();
        for (number, node) in (0..).zip(world.nodes()) {
            let data = world.directory().join(format!("redis-{}", node.name));
            fs::create_dir_all(&data).map_err(|source| LiveError::Write { path: data.clone(), source })?;
            let mut command = words("redis-server --bind 0.0.0.0 --protected-mode no --appendonly no");
            command.extend(["--port".to_owned(), PORT.to_string(), "--dir".to_owned(), data.display().to_string()]);
            command.extend(["--save".to_owned(), String::new()]);
            command.extend(words(
                "--repl-diskless-sync-delay 0 --repl-timeout 5 --repl-ping-replica-period 1 --daemonize no",
            ));
            if number > 0 {
                command.extend(["--replicaof".to_owned(), first.to_string(), PORT.to_string()]);
            }
            daemons.push(Daemon::start(&world, number, &format!("redis-{}", node.name), command)?);
        }
        let store = RedisSentinel { world, daemons: Mutex::new(daemons), wait };
        // A sentinel that starts before the replicas are attached learns of them ten seconds later.
        store.until("the replicas did not attach", || store.replicas(first) == usize::from(NODES) - 1)?;
        store.start_sentinels(first)?;
        store.until("the sentinels did not find each other", || store.sentinels_are_ready())?;
        Ok(store)
    }

    fn start_sentinels(&self, master: Ipv4Addr) -> Result<(), LiveError> {
        for (number, node) in (0..).zip(self.world.nodes()) {
            let data = self.world.directory().join(format!("sentinel-{}", node.name));
            let path = data.join("sentinel.conf");
            let text = format!(
                "port {SENTINEL_PORT}\nbind 0.0.0.0\nprotected-mode no\ndir \"{}\"\nsentinel monitor {MASTER} {master} {PORT} 2\n\
                 sentinel down-after-milliseconds {MASTER} 500\nsentinel failover-timeout {MASTER} 1500\n\
                 sentinel parallel-syncs {MASTER} 2\n",
                data.display()
            );
            let written = fs::create_dir_all(&data).and_then(|()| fs::write(&path, text));
            written.map_err(|source| LiveError::Write { path: path.clone(), source })?;
            let command = vec!["redis-sentinel".to_owned(), path.display().to_string()];
            let daemon = Daemon::start(&self.world, number, &format!("sentinel-{}", node.name), command)?;
            self.daemons().push(daemon);
        }
        Ok(())
    }

    fn until(&self, otherwise: &str, is_so: impl Fn() -> bool) -> Result<(), LiveError> {
        let began = Instant::now();
        while !is_so() {
            self.daemons().iter_mut().try_for_each(Daemon::is_running)?;
            if began.elapsed() >= START_MAX {
                return Err(
                    self.daemons()[0].error(&format!("came up, but {otherwise} within {} s", START_MAX.as_secs()))
                );
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }

    fn daemons(&self) -> MutexGuard<'_, Vec<Daemon>> {
        self.daemons.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The daemons of these nodes: of every node its server and its sentinel.
    fn each(&self, nodes: &[u32], mut what: impl FnMut(&mut Daemon) -> Result<(), LiveError>) -> Result<(), LiveError> {
        let mut daemons = self.daemons();
        let count = usize::from(NODES);
        let are_meant = (0..daemons.len()).map(|index| nodes.iter().any(|node| *node as usize == index % count));
        let are_meant: Vec<bool> = are_meant.collect();
        daemons.iter_mut().zip(are_meant).filter(|(_, is_meant)| *is_meant).try_for_each(|(daemon, _)| what(daemon))
    }

    /// How many replicas are attached to this server; none if it is not a master.
    fn replicas(&self, server: Ipv4Addr) -> usize {
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
        self.world.nodes().iter().all(|node| {
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
        self.world.names()
    }

    fn client(&self, seat: &Seat) -> Result<Box<dyn Client>, LiveError> {
        self.world.move_to(seat.node)?;
        let node = self.world.nodes()[seat.node as usize].address;
        Ok(Box::new(client::RedisClient::new(node, seat.timeout, self.wait)))
    }

    fn faults(&self) -> &[Fault] {
        &[Fault::Isolate, Fault::Kill, Fault::Pause]
    }

    fn begin(&self, fault: Fault, nodes: &[u32]) -> Result<(), LiveError> {
        match fault {
            Fault::Isolate => self.world.isolate(nodes),
            Fault::Kill => self.each(nodes, Daemon::kill),
            Fault::Pause => self.each(nodes, Daemon::pause),
            Fault::Command => Err(LiveError::Unsupported(format!("{} has no fault {fault}", self.name()))),
        }
    }

    fn heal(&self) -> Result<(), LiveError> {
        self.world.heal()?;
        self.daemons().iter_mut().try_for_each(|daemon| daemon.resume().and_then(|()| daemon.restart()))
    }

    /// What most sentinels say.
    fn primary(&self) -> Option<u32> {
        let nodes = self.world.nodes();
        let votes: Vec<Ipv4Addr> = nodes.iter().filter_map(|node| client::master(node.address, ASK)).collect();
        (0..)
            .zip(nodes)
            .find(|(_, node)| votes.iter().filter(|vote| **vote == node.address).count() * 2 > nodes.len())
            .map(|(number, _)| number)
    }

    fn is_settled(&self) -> bool {
        let replicas: Vec<usize> = self.world.nodes().iter().map(|node| self.replicas(node.address)).collect();
        replicas.iter().sum::<usize>() == usize::from(NODES) - 1 && self.primary().is_some()
    }

    fn log(&self) -> String {
        self.daemons().first().map(|daemon| daemon.error("").to_string()).unwrap_or_default()
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}
