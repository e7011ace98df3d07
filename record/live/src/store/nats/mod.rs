//! NATS with `JetStream`: a stream on all nodes, whose subjects are registers.
//!
//! A subject keeps only its last message. The stream's leader responds to reads, or any node does from its own state.
//! Servers acknowledge written data before they flush it, which they do every two minutes.

mod client;
mod protocol;

use crate::client::{Client, Seat};
use crate::error::LiveError;
use crate::fault::{Fault, SERVER};
use crate::kind::{Kind, Make, StoreOption};
use crate::need::Need;
use crate::world::cluster::System;
use crate::world::{Node, World, words};
use history_core::cast::Cast as _;
use protocol::Connection;
use serde_json::{Value as Json, json};
use std::time::Duration;

const PORT: u16 = 4222;
const PEER_PORT: u16 = 6222;
/// The stream.
const STREAM: &str = "RIG";

/// The maximum time in which the cluster must start.
const START_MAX: Duration = Duration::from_secs(30);
/// How long the hub waits for a node's response.
const ASK: Duration = Duration::from_millis(500);
/// The maximum time to create a stream.
const MAKE: Duration = Duration::from_secs(5);

const READS: StoreOption = StoreOption::text(
    "read-from",
    "SERVER",
    "Source of reads: the stream's leader, or the local state of any server (direct)",
)
.of(&["leader", "any"], "leader");

pub(in crate::store) const KIND: Kind = Kind {
    name: "nats",
    summary: "NATS with JetStream: one server",
    faults: SERVER,
    default_faults: &[],
    nodes: 1,
    ..CLUSTER
};

pub(in crate::store) const CLUSTER: Kind = Kind {
    name: "nats-cluster",
    summary: "NATS with JetStream: three servers, and a stream on all of them",
    needs: &[Need::new("nats-server", "nats-server")],
    options: &[READS],
    workloads: &["versioned-register", "cas-register", "set-full"],
    default_faults: &[Fault::Isolate],
    make: Make::Cluster {
        ports: &[PORT, PEER_PORT],
        system: |start| Ok(Box::new(Nats { reads_anywhere: start.option(&READS) == "any" })),
    },
    ..Kind::CLUSTER
};

/// Servers with one stream.
struct Nats {
    reads_anywhere: bool,
}

impl Nats {
    fn configure(world: &World, number: u32) -> Result<String, LiveError> {
        let Node { name, address, own } = &world.nodes()[number.to_usize()];
        let data = world.data(number, "nats", "")?;
        let routes: Vec<String> =
            world.nodes().iter().map(|node| format!("\"nats://{}\"", node.at(PEER_PORT))).collect();
        let cluster = format!(
            "cluster {{\n name: rig\n listen: \"{own}:{PEER_PORT}\"\n advertise: \"{address}:{PEER_PORT}\"\n \
             no_advertise: true\n routes: [{}]\n}}\n",
            routes.join(", ")
        );
        let text = format!(
            "server_name: {name}\nlisten: \"{own}:{PORT}\"\n\
             jetstream {{\n store_dir: \"{}\"\n max_memory_store: 64MB\n max_file_store: 512MB\n}}\n{}",
            data.join("stream").display(),
            if world.count() > 1 { cluster } else { String::new() },
        );
        let path = data.join("nats.conf");
        world.write(number, &path, text)?;
        Ok(path.display().to_string())
    }

    /// The stream's state according to its leader, through any node that reaches it.
    fn info(world: &World) -> Option<Json> {
        let ask = |node: &Node| {
            let mut connection = Connection::open(node.at(PORT), ASK).ok()?;
            let answer = connection.request(&format!("$JS.API.STREAM.INFO.{STREAM}"), &[], "").ok()?;
            let info: Json = serde_json::from_str(&answer.ok()?).ok()?;
            info.get("config").is_some().then_some(info)
        };
        world.nodes().iter().find_map(ask)
    }

    /// Creates the stream. Returns whether it exists.
    fn make(world: &World) -> bool {
        let config = json!({
            "name": STREAM, "subjects": ["rig.>"], "storage": "file", "retention": "limits", "discard": "old",
            "num_replicas": world.count(), "max_msgs_per_subject": 1, "allow_direct": true, "duplicate_window": 0,
        });
        let made = Connection::open(world.nodes()[0].at(PORT), MAKE).and_then(|mut connection| {
            connection.request(&format!("$JS.API.STREAM.CREATE.{STREAM}"), &[], &config.to_string())
        });
        made.is_ok_and(|answer| answer.is_ok_and(|text| text.contains("\"config\"")))
    }
}

impl System for Nats {
    fn set_up(&self, world: &World) -> Result<(), LiveError> {
        for number in 0..world.count() {
            let mut command = words("nats-server -c");
            command.push(Nats::configure(world, number)?);
            world.start(number, "", "nats", command)?;
        }
        world.until(START_MAX, "the stream was not created", || Nats::make(world))?;
        world.until(START_MAX, "the stream has no leader", || self.is_settled(world))?;
        (0..world.count()).try_for_each(|node| world.flush(node, &world.data(node, "nats", "")?))
    }

    fn connect(&self, nodes: &[Node], seat: &Seat) -> Box<dyn Client> {
        let node = nodes[seat.node.to_usize()].at(PORT);
        Box::new(client::NatsClient::new(node, seat.timeout, self.reads_anywhere))
    }

    fn primary(&self, world: &World) -> Option<u32> {
        let info = Nats::info(world)?;
        let leader = info["cluster"]["leader"].as_str()?;
        (0..).zip(world.names()).find(|(_, name)| *name == leader).map(|(number, _)| number)
    }

    fn is_settled(&self, world: &World) -> bool {
        let Some(info) = Nats::info(world) else { return false };
        let replicas = info["cluster"]["replicas"].as_array().map_or(0, |replicas| {
            replicas.iter().filter(|replica| replica["current"] == true && replica["offline"] != true).count()
        });
        replicas + 1 == world.nodes().len()
    }
}
