//! ZooKeeper: three nodes, each of which answers reads from what it has, unless a client waits for the leader (`sync`).
//!
//! A leader that is cut off answers `sync` by itself until it notices that, so reads behind `sync` are linearizable only
//! while leaders are not isolated.

mod client;
mod jute;

use crate::client::{Client, Seat, Store};
use crate::error::LiveError;
use crate::fault::Fault;
use crate::kind::{Kind, Place, StoreOption};
use crate::need::Need;
use crate::store::cluster::{Cluster, FAULTS, flush, words};
use crate::world::World;
use history_core::cast::Cast as _;
use jute::Session;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

const PORT: u16 = 2181;

/// How long the cluster may take to come up: three virtual machines of Java start.
const START_MAX: Duration = Duration::from_mins(1);
/// How long the hub waits for a node.
const ASK: Duration = Duration::from_millis(300);

const READS: StoreOption = StoreOption {
    name: "read-after",
    value_name: "EVENT",
    help: "What a read waits for: nothing, or until its server has what the leader had (sync)",
    values: &["nothing", "sync"],
    default: "nothing",
};

const WORKLOADS: &[&str] = &["versioned-register", "cas-register", "set-full"];

pub(in crate::store) const KIND: Kind = Kind {
    name: "zookeeper",
    summary: "ZooKeeper: three nodes",
    needs: NEEDS,
    options: &[READS],
    workloads: WORKLOADS,
    faults: FAULTS,
    default_faults: &[],
    place: Place::World,
    nodes: 3,
    nodes_may_vary: false,
    command: None,
    start: |mut start| {
        let syncs = start.option(&READS) == "sync";
        Ok(Box::new(ZooKeeper::start(start.take_world()?, syncs)?))
    },
};

const NEEDS: &[Need] = &[
    Need::new("/usr/share/java/zookeeper.jar", "zookeeper"),
    Need::new("java", "default-jre-headless"),
    Need::new("ip", "iproute2"),
    Need::new("nft", "nftables"),
    Need::new("unshare", "util-linux"),
];

/// Three nodes.
struct ZooKeeper {
    cluster: Cluster,
    syncs: bool,
}

impl ZooKeeper {
    fn start(world: World, syncs: bool) -> Result<ZooKeeper, LiveError> {
        let store = ZooKeeper { cluster: Cluster::new(world), syncs };
        for (number, node) in (0..).zip(store.cluster.nodes()) {
            let config = store.configure(number)?;
            let mut command =
                words("java -Xmx256m -XX:+UseSerialGC -XX:-UsePerfData -Dzookeeper.jmx.log4j.disable=true -cp");
            command.push("/etc/zookeeper/conf:/usr/share/java/*".to_owned());
            command.extend(words("org.apache.zookeeper.server.quorum.QuorumPeerMain"));
            command.push(config);
            store.cluster.start(number, &format!("zookeeper-{}", node.name), command)?;
        }
        store.cluster.until(START_MAX, "no leader was elected", || store.is_settled())?;
        let address = store.address(0);
        let made = Session::open(address, START_MAX).map_err(jute::ReplyError::from);
        made.and_then(|mut session| session.create(client::SET, ""))
            .map_err(|error| LiveError::store(format!("ZooKeeper makes no node: {error:?}")))?;
        Ok(store)
    }

    fn address(&self, node: u32) -> SocketAddr {
        (IpAddr::V4(self.cluster.nodes()[node.to_usize()].address), PORT).into()
    }

    /// Writes the configuration of a node; where it is.
    fn configure(&self, node: u32) -> Result<String, LiveError> {
        let data = self.cluster.world.data(node, "zookeeper")?;
        let mut text = format!(
            "tickTime=500\ninitLimit=20\nsyncLimit=4\ndataDir={}\nclientPort={PORT}\n4lw.commands.whitelist=*\n\
             admin.enableServer=false\n",
            data.display()
        );
        for (number, node) in (1..).zip(self.cluster.nodes()) {
            _ = writeln!(text, "server.{number}={}:2888:3888", node.address);
        }
        for (name, text) in [("zoo.cfg", text), ("myid", format!("{}\n", node + 1))] {
            let path = data.join(name);
            fs::write(&path, text).map_err(|source| LiveError::Write { path, source })?;
        }
        flush(&data)?;
        Ok(data.join("zoo.cfg").display().to_string())
    }

    /// What a node says that it is: `leader` or `follower`.
    fn mode(address: Ipv4Addr) -> Option<String> {
        let mut stream = TcpStream::connect_timeout(&(IpAddr::V4(address), PORT).into(), ASK).ok()?;
        stream.set_read_timeout(Some(ASK)).ok()?;
        stream.write_all(b"srvr").ok()?;
        let mut text = String::new();
        stream.take(1 << 16).read_to_string(&mut text).ok()?;
        text.lines().find_map(|line| line.strip_prefix("Mode: ")).map(str::to_owned)
    }

    fn modes(&self) -> Vec<Option<String>> {
        self.cluster.nodes().iter().map(|node| ZooKeeper::mode(node.address)).collect()
    }
}

impl Store for ZooKeeper {
    fn name(&self) -> &'static str {
        "zookeeper"
    }

    fn workloads(&self) -> &[&'static str] {
        WORKLOADS
    }

    fn nodes(&self) -> &[String] {
        self.cluster.world.names()
    }

    fn client(&self, seat: &Seat) -> Result<Box<dyn Client>, LiveError> {
        self.cluster.world.seat(seat)?;
        let (node, timeout) = (self.address(seat.node), seat.timeout);
        Ok(Box::new(client::ZooKeeperClient { node, timeout, syncs: self.syncs, session: None }))
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

    /// The node that says it is the leader; during a change two may.
    fn primary(&self) -> Option<u32> {
        let modes = self.modes();
        let mut leaders = (0..).zip(modes).filter(|(_, mode)| mode.as_deref() == Some("leader")).map(|(node, _)| node);
        leaders.next().filter(|_| leaders.next().is_none())
    }

    fn is_settled(&self) -> bool {
        let modes = self.modes();
        let count = |mode: &str| modes.iter().filter(|known| known.as_deref() == Some(mode)).count();
        count("leader") == 1 && count("follower") + 1 == modes.len()
    }

    fn log(&self) -> String {
        self.cluster.log()
    }
}
