//! A key-value store of two tokio servers: a leader that accepts writes, and a replica that answers reads.
//!
//! The leader sends each write to the replica, and waits at most a second for its response. The correct one then
//! reports that the outcome of the write is unknown. The broken one reports success.

use history_core::Datum;
use proptest::prelude::*;
use record_parallel::net::{Host, Network};
use record_parallel::property::{Outcome, ParallelModel};
use record_parallel::sync::Mutex;
use record_parallel::tokio;
use record_parallel::tokio::io::{AsyncReadExt, AsyncWriteExt};
use record_parallel::tokio::net::{TcpListener, TcpStream};
use record_parallel::tokio::time::{Duration, timeout};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

const GET: u8 = 0;
const PUT: u8 = 1;

/// The response of a server: the write was done, or its outcome is unknown.
const DONE: u8 = 1;
const UNKNOWN: u8 = 2;

/// For each key, the number of the last write and its value.
type Values = Arc<Mutex<BTreeMap<u8, (u8, u8)>>>;

/// Runs a replica until its host crashes.
async fn replica() {
    let values = Values::default();
    let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
    while let Ok((stream, _)) = listener.accept().await {
        drop(tokio::spawn(answer(stream, Arc::clone(&values))));
    }
}

/// Answers requests of four bytes: number, kind, key, value.
async fn answer(mut stream: TcpStream, values: Values) {
    let mut request = [0; 4];
    while stream.read_exact(&mut request).await.is_ok() {
        let [number, kind, key, value] = request;
        let current = {
            let mut values = values.lock().unwrap();
            let entry = values.entry(key).or_default();
            // A write may arrive on an earlier connection after a later write.
            if kind == PUT && number > entry.0 {
                *entry = (number, value);
            }
            entry.1
        };
        if stream.write_all(&[number, current]).await.is_err() {
            return;
        }
    }
}

/// Runs a leader until its host crashes.
async fn leader(is_broken: bool) {
    let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
    let (mut connection, mut number) = (None, 0);
    while let Ok((mut client, _)) = listener.accept().await {
        let mut request = [0; 2];
        if client.read_exact(&mut request).await.is_err() {
            continue;
        }
        number += 1;
        let copied = timeout(Duration::from_secs(1), replicate(&mut connection, number, request)).await;
        let is_done = matches!(copied, Ok(Ok(())));
        if !is_done {
            connection = None;
        }
        let response = if is_done || is_broken { DONE } else { UNKNOWN };
        _ = client.write_all(&[response]).await;
    }
}

/// Sends a write to the replica, and waits for the response.
async fn replicate(connection: &mut Option<TcpStream>, number: u8, [key, value]: [u8; 2]) -> io::Result<()> {
    if connection.is_none() {
        *connection = Some(connect("replica:80").await);
    }
    if let Some(stream) = connection {
        stream.write_all(&[number, PUT, key, value]).await?;
        stream.read_exact(&mut [0; 2]).await?;
    }
    Ok(())
}

/// Opens a connection, and retries until the server is up.
async fn connect(address: &str) -> TcpStream {
    loop {
        if let Ok(stream) = TcpStream::connect(address).await {
            return stream;
        }
        tokio::task::yield_now().await;
    }
}

/// The servers, the network between them, and their clients.
pub(super) struct Cluster {
    network: Network,
    client: Host,
}

impl Cluster {
    fn start(is_broken: bool) -> Cluster {
        let network = Network::new();
        network.host("replica").run(replica);
        network.host("leader").run(move || leader(is_broken));
        let client = network.host("client");
        Cluster { network, client }
    }

    fn put(&self, key: u8, value: u8) -> io::Result<u8> {
        self.client.block_on(async {
            let mut stream = connect("leader:80").await;
            stream.write_all(&[key, value]).await?;
            stream.read_u8().await
        })
    }

    fn get(&self, key: u8) -> io::Result<u8> {
        self.client.block_on(async {
            let mut stream = connect("replica:80").await;
            stream.write_all(&[0, GET, key, 0]).await?;
            let mut response = [0; 2];
            stream.read_exact(&mut response).await?;
            Ok(response[1])
        })
    }
}

/// An action of a client or an operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Command {
    Get(u8),
    Put(u8, u8),
    Partition,
    Repair,
}

/// A map from keys to values, which are initially 0.
pub(super) struct Map {
    pub(super) is_broken: bool,
}

impl ParallelModel for Map {
    type Command = Command;
    type Response = u8;
    type State = BTreeMap<u8, u8>;
    type System = Cluster;

    fn init(&self) -> Self::State {
        BTreeMap::new()
    }

    fn start(&self) -> Cluster {
        Cluster::start(self.is_broken)
    }

    fn generate(&self, _: &Self::State) -> BoxedStrategy<Command> {
        prop_oneof![
            2 => (0_u8..2).prop_map(Command::Get),
            2 => (0_u8..2, 1_u8..9).prop_map(|(key, value)| Command::Put(key, value)),
            1 => Just(Command::Partition),
            1 => Just(Command::Repair),
        ]
        .boxed()
    }

    fn step(&self, values: &Self::State, command: &Command) -> (Self::State, u8) {
        let mut values = values.clone();
        match *command {
            Command::Get(key) => {
                let value = values.get(&key).copied().unwrap_or_default();
                (values, value)
            }
            Command::Put(key, value) => {
                values.insert(key, value);
                (values, DONE)
            }
            Command::Partition | Command::Repair => (values, 0),
        }
    }

    /// The operation in the form that the checker `register` reads: the key, and the value with 0 for a key that was
    /// never written, since a read of nil would contain no information.
    fn record(&self, command: &Command, response: Option<&u8>) -> (String, Datum) {
        let keyed = |f: &str, key: u8, value: Option<u8>| {
            let value = value.map_or(Datum::Nil, |value| Datum::Int(value.into()));
            (f.to_owned(), Datum::Vector(vec![Datum::Int(key.into()), value]))
        };
        match *command {
            Command::Get(key) => keyed("read", key, response.copied()),
            Command::Put(key, value) => keyed("write", key, Some(value)),
            Command::Partition => ("partition".to_owned(), Datum::Nil),
            Command::Repair => ("repair".to_owned(), Datum::Nil),
        }
    }

    fn run_real(&self, cluster: &Cluster, command: &Command) -> Outcome<u8> {
        match *command {
            Command::Get(key) => cluster.get(key).map_or(Outcome::Failed, Outcome::Returned),
            Command::Put(key, value) => match cluster.put(key, value) {
                Ok(DONE) => Outcome::Returned(DONE),
                _ => Outcome::Unknown,
            },
            Command::Partition => {
                cluster.network.partition("leader", "replica");
                Outcome::Returned(0)
            }
            Command::Repair => {
                cluster.network.repair("leader", "replica");
                Outcome::Returned(0)
            }
        }
    }
}
