//! etcd: three nodes, asked through their JSON gateway.

mod client;
mod http;

use crate::client::{Client, Seat, Store};
use crate::error::LiveError;
use crate::fault::Fault;
use crate::kind::{Kind, Place, StoreOption};
use crate::need::Need;
use crate::store::cluster::{Cluster, FAULTS, words};
use crate::world::World;
use history_core::cast::Cast as _;
use http::Http;
use serde_json::{Value as Json, json};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

const PORT: u16 = 2379;
const PEER_PORT: u16 = 2380;

/// How long the cluster may take to come up.
const START_MAX: Duration = Duration::from_secs(20);
/// How long the hub waits for a node.
const ASK: Duration = Duration::from_millis(300);

/// How reads are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reads {
    /// By a majority: the default of etcd.
    #[default]
    Linearizable,
    /// By the node that is asked, from what it has (`serializable` in etcd's words).
    Serializable,
}

const READS: StoreOption = StoreOption {
    name: "reads",
    value_name: "MODE",
    help: "How reads are answered: by a majority, or by the node that is asked from what it has",
    values: &["linearizable", "serializable"],
    default: "linearizable",
};

pub(super) const KIND: Kind = Kind {
    name: "etcd",
    summary: "etcd: three nodes, through their JSON gateway",
    needs: Etcd::NEEDS,
    options: &[READS],
    workloads: &["versioned-register", "cas-register"],
    faults: FAULTS,
    default_faults: &[Fault::Isolate],
    place: Place::World,
    nodes: 3,
    nodes_may_vary: false,
    command: None,
    start: |mut start| {
        let is_local = start.option(&READS) == "serializable";
        let reads = if is_local { Reads::Serializable } else { Reads::Linearizable };
        Ok(Box::new(Etcd::start(start.take_world()?, reads)?))
    },
};

/// Three nodes.
pub struct Etcd {
    cluster: Cluster,
    reads: Reads,
}

impl Etcd {
    /// How many nodes the world must have.
    pub const NODES: u8 = 3;
    /// What must be installed.
    pub const NEEDS: &'static [Need] = &[
        Need::new("etcd", "etcd-server"),
        Need::new("ip", "iproute2"),
        Need::new("nft", "nftables"),
        Need::new("unshare", "util-linux"),
    ];

    /// Starts the cluster and waits until every node knows the leader.
    ///
    /// # Errors
    ///
    /// If a node does not start, or no leader is elected in time.
    pub fn start(world: World, reads: Reads) -> Result<Etcd, LiveError> {
        let store = Etcd { cluster: Cluster::new(world), reads };
        let peers: Vec<String> = store
            .cluster
            .nodes()
            .iter()
            .map(|node| format!("{}=http://{}:{PEER_PORT}", node.name, node.address))
            .collect();
        for (number, node) in (0..).zip(store.cluster.nodes()) {
            let name = format!("etcd-{}", node.name);
            let data = store.cluster.world.data(number, "etcd")?;
            let address = node.address;
            let mut command = words(&format!(
                "etcd --name {} --listen-peer-urls http://{address}:{PEER_PORT} \
                 --initial-advertise-peer-urls http://{address}:{PEER_PORT} --listen-client-urls http://0.0.0.0:{PORT} \
                 --advertise-client-urls http://{address}:{PORT} --initial-cluster-state new",
                node.name
            ));
            command.extend(["--initial-cluster".to_owned(), peers.join(",")]);
            command.extend(["--data-dir".to_owned(), data.display().to_string()]);
            store.cluster.start(number, &name, command)?;
        }
        store.cluster.until(START_MAX, "no leader was elected", || store.is_settled())?;
        Ok(store)
    }

    /// What this node says of itself.
    fn status(node: Ipv4Addr) -> Option<Json> {
        let mut http = Http::open((IpAddr::V4(node), PORT).into(), ASK).ok()?;
        let (status, body) = http.post("/v3/maintenance/status", &json!({})).ok()?;
        (status == 200).then_some(body)
    }

    /// The leader that each node knows, and the id of the node.
    fn leaders(&self) -> Vec<Option<(String, String)>> {
        let text = |value: &Json| value.as_str().map(str::to_owned);
        let ask = |node: &crate::world::Node| {
            let status = Etcd::status(node.address)?;
            Some((text(&status["leader"])?, text(&status["header"]["member_id"])?))
        };
        self.cluster.nodes().iter().map(ask).collect()
    }
}

impl Store for Etcd {
    fn name(&self) -> &'static str {
        "etcd"
    }

    fn workloads(&self) -> &[&'static str] {
        &["versioned-register", "cas-register"]
    }

    fn nodes(&self) -> &[String] {
        self.cluster.world.names()
    }

    fn client(&self, seat: &Seat) -> Result<Box<dyn Client>, LiveError> {
        self.cluster.world.seat(seat)?;
        let node = self.cluster.nodes()[seat.node.to_usize()].address;
        Ok(Box::new(client::EtcdClient::new((IpAddr::V4(node), PORT).into(), seat.timeout, self.reads)))
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

    /// The node that most nodes know as the leader.
    fn primary(&self) -> Option<u32> {
        let leaders = self.leaders();
        let votes = |id: &str| leaders.iter().flatten().filter(|(leader, _)| leader == id).count();
        let is_leader = |(_, id): &(String, String)| votes(id) * 2 > leaders.len();
        (0..).zip(&leaders).find(|(_, node)| node.as_ref().is_some_and(is_leader)).map(|(number, _)| number)
    }

    fn is_settled(&self) -> bool {
        let leaders = self.leaders();
        let first = leaders.first().cloned().flatten().map(|(leader, _)| leader);
        // An id of 0 is that of nobody.
        first.as_ref().is_some_and(|leader| leader != "0")
            && leaders.iter().all(|node| node.as_ref().map(|(leader, _)| leader) == first.as_ref())
    }

    fn log(&self) -> String {
        self.cluster.log()
    }
}
