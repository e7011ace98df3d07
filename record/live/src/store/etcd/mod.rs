//! etcd: three nodes, used through their JSON gateway.

mod client;
mod http;

use crate::client::{Client, Seat};
use crate::error::LiveError;
use crate::fault::Fault;
use crate::kind::{Kind, Make, StoreOption};
use crate::need::Need;
use crate::world::cluster::System;
use crate::world::{Node, World, words};
use history_core::cast::Cast as _;
use http::Http;
use serde_json::{Value as Json, json};
use std::net::SocketAddr;
use std::time::Duration;

const PORT: u16 = 2379;
const PEER_PORT: u16 = 2380;

/// The maximum time in which the cluster must start.
const START_MAX: Duration = Duration::from_secs(20);
/// How long the hub waits for a node's response.
const ASK: Duration = Duration::from_millis(300);

const READS: StoreOption =
    StoreOption::text("reads", "MODE", "Source of reads: a majority of nodes, or the local state of one node")
        .of(&["linearizable", "serializable"], "linearizable");

pub(super) const KIND: Kind = Kind {
    name: "etcd",
    summary: "etcd: three nodes, through their JSON gateway",
    needs: &[Need::new("etcd", "etcd-server")],
    options: &[READS],
    workloads: &["versioned-register", "cas-register"],
    default_faults: &[Fault::Isolate],
    make: Make::Cluster {
        ports: &[PORT, PEER_PORT],
        system: |start| Ok(Box::new(Etcd { has_local_reads: start.option(&READS) == "serializable" })),
    },
    ..Kind::CLUSTER
};

/// Nodes with one leader.
struct Etcd {
    /// Whether each node responds to reads from its own state (`serializable` in etcd's terms).
    has_local_reads: bool,
}

impl Etcd {
    /// The status of this node.
    fn status(node: SocketAddr) -> Option<Json> {
        let mut http = Http::open(node, ASK).ok()?;
        let (status, body) = http.post("/v3/maintenance/status", &json!({})).ok()?;
        (status == 200).then_some(body)
    }

    /// The leader according to each node, and the id of the node.
    fn leaders(world: &World) -> Vec<Option<(String, String)>> {
        let text = |value: &Json| value.as_str().map(str::to_owned);
        let ask = |node: &Node| {
            let status = Etcd::status(node.at(PORT))?;
            Some((text(&status["leader"])?, text(&status["header"]["member_id"])?))
        };
        world.nodes().iter().map(ask).collect()
    }
}

impl System for Etcd {
    fn set_up(&self, world: &World) -> Result<(), LiveError> {
        let peer = |node: &Node| format!("{}=http://{}", node.name, node.at(PEER_PORT));
        let peers: Vec<String> = world.nodes().iter().map(peer).collect();
        for (number, Node { name, address, own }) in (0..).zip(world.nodes()) {
            let data = world.data(number, "etcd", "")?;
            let mut command = words(&format!(
                "etcd --name {name} --listen-peer-urls http://{own}:{PEER_PORT} \
                 --initial-advertise-peer-urls http://{address}:{PEER_PORT} --listen-client-urls http://{own}:{PORT} \
                 --advertise-client-urls http://{address}:{PORT} --initial-cluster-state new",
            ));
            command.extend(["--initial-cluster".to_owned(), peers.join(",")]);
            command.extend(["--data-dir".to_owned(), data.display().to_string()]);
            world.start(number, "", "etcd", command)?;
        }
        world.until(START_MAX, "no leader was elected", || self.is_settled(world))
    }

    fn connect(&self, nodes: &[Node], seat: &Seat) -> Box<dyn Client> {
        let node = nodes[seat.node.to_usize()].at(PORT);
        Box::new(client::EtcdClient::new(node, seat.timeout, self.has_local_reads))
    }

    /// The node that is the leader according to most nodes.
    fn primary(&self, world: &World) -> Option<u32> {
        let leaders = Etcd::leaders(world);
        let votes = |id: &str| leaders.iter().flatten().filter(|(leader, _)| leader == id).count();
        let is_leader = |(_, id): &(String, String)| votes(id) * 2 > leaders.len();
        (0..).zip(&leaders).find(|(_, node)| node.as_ref().is_some_and(is_leader)).map(|(number, _)| number)
    }

    fn is_settled(&self, world: &World) -> bool {
        let leaders = Etcd::leaders(world);
        let first = leaders.first().cloned().flatten().map(|(leader, _)| leader);
        // An id of 0 means that there is no leader.
        first.as_ref().is_some_and(|leader| leader != "0")
            && leaders.iter().all(|node| node.as_ref().map(|(leader, _)| leader) == first.as_ref())
    }
}
