//! ZooKeeper: three nodes, each of which responds to reads from its own state, unless a client waits for the leader
//! (`sync`).
//!
//! A leader that is cut off responds to `sync` by itself until it detects this, so reads after `sync` are linearizable
//! only while leaders are not isolated.

mod client;
mod jute;

use crate::client::{Client, Seat};
use crate::dial::dial;
use crate::error::LiveError;
use crate::kind::{Kind, Make, StoreOption};
use crate::need::Need;
use crate::world::cluster::System;
use crate::world::{Node, World, words};
use history_core::cast::Cast as _;
use jute::Session;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

const PORT: u16 = 2181;
/// The ports for connections to the leader, and for elections.
const PEER_PORTS: [u16; 2] = [2888, 3888];

/// The maximum time in which the cluster must start: three Java virtual machines start.
const START_MAX: Duration = Duration::from_mins(1);
/// How long the hub waits for a node's response.
const ASK: Duration = Duration::from_millis(300);

const READS: StoreOption = StoreOption::text(
    "read-after",
    "EVENT",
    "What a read waits for: nothing, or its server catching up with the leader (sync)",
)
.of(&["nothing", "sync"], "nothing");

pub(in crate::store) const KIND: Kind = Kind {
    name: "zookeeper",
    summary: "ZooKeeper: three nodes",
    needs: &[Need::new("/usr/share/java/zookeeper.jar", "zookeeper"), Need::new("java", "default-jre-headless")],
    options: &[READS],
    workloads: &["versioned-register", "cas-register", "set-full"],
    make: Make::Cluster {
        ports: &[PORT, PEER_PORTS[0], PEER_PORTS[1]],
        system: |start| Ok(Box::new(ZooKeeper { syncs: start.option(&READS) == "sync" })),
    },
    ..Kind::CLUSTER
};

/// Nodes with one leader.
struct ZooKeeper {
    syncs: bool,
}

impl ZooKeeper {
    /// Writes the configuration of a node; returns its path.
    fn configure(world: &World, number: u32) -> Result<String, LiveError> {
        let data = world.data(number, "zookeeper", "")?;
        let node = &world.nodes()[number.to_usize()];
        let mut text = format!(
            "tickTime=500\ninitLimit=20\nsyncLimit=4\ndataDir={}\nclientPort={PORT}\nclientPortAddress={}\n\
             4lw.commands.whitelist=*\nadmin.enableServer=false\n",
            data.display(),
            node.own,
        );
        let [follow, elect] = PEER_PORTS;
        for (id, other) in (1..).zip(world.nodes()) {
            // A server listens on the address in its own configuration.
            let address = if other == node { other.own } else { other.address };
            _ = writeln!(text, "server.{id}={address}:{follow}:{elect}");
        }
        for (name, text) in [("zoo.cfg", text), ("myid", format!("{}\n", number + 1))] {
            world.write(number, &data.join(name), text)?;
        }
        world.flush(number, &data)?;
        Ok(data.join("zoo.cfg").display().to_string())
    }

    /// The role that a node reports: `leader` or `follower`.
    fn mode(address: SocketAddr) -> Option<String> {
        let mut stream = dial(address, ASK, ASK).ok()?;
        stream.get_mut().write_all(b"srvr").ok()?;
        let mut text = String::new();
        stream.take(1 << 16).read_to_string(&mut text).ok()?;
        text.lines().find_map(|line| line.strip_prefix("Mode: ")).map(str::to_owned)
    }

    fn modes(world: &World) -> Vec<Option<String>> {
        world.nodes().iter().map(|node| ZooKeeper::mode(node.at(PORT))).collect()
    }
}

impl System for ZooKeeper {
    fn set_up(&self, world: &World) -> Result<(), LiveError> {
        for number in 0..world.count() {
            let config = ZooKeeper::configure(world, number)?;
            let mut command =
                words("java -Xmx256m -XX:+UseSerialGC -XX:-UsePerfData -Dzookeeper.jmx.log4j.disable=true -cp");
            command.push("/etc/zookeeper/conf:/usr/share/java/*".to_owned());
            command.extend(words("org.apache.zookeeper.server.quorum.QuorumPeerMain"));
            command.push(config);
            world.start(number, "", "zookeeper", command)?;
        }
        world.until(START_MAX, "no leader was elected", || self.is_settled(world))?;
        let made = Session::open(world.nodes()[0].at(PORT), START_MAX).map_err(jute::ReplyError::from);
        made.and_then(|mut session| session.create(client::SET, ""))
            .map_err(|error| LiveError::store(format!("ZooKeeper cannot create nodes: {error:?}")))
    }

    fn connect(&self, nodes: &[Node], seat: &Seat) -> Box<dyn Client> {
        let (node, timeout) = (nodes[seat.node.to_usize()].at(PORT), seat.timeout);
        Box::new(client::ZooKeeperClient { node, timeout, syncs: self.syncs, session: None })
    }

    /// The node that reports to be the leader; during a change there may be two.
    fn primary(&self, world: &World) -> Option<u32> {
        let modes = ZooKeeper::modes(world);
        let mut leaders = (0..).zip(modes).filter(|(_, mode)| mode.as_deref() == Some("leader")).map(|(node, _)| node);
        leaders.next().filter(|_| leaders.next().is_none())
    }

    fn is_settled(&self, world: &World) -> bool {
        let modes = ZooKeeper::modes(world);
        let count = |mode: &str| modes.iter().filter(|known| known.as_deref() == Some(mode)).count();
        count("leader") == 1 && count("follower") + 1 == modes.len()
    }
}
