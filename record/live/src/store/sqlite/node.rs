//! SQLite on a node: a process has the connections of all clients, and the file is on the node's disk.
//!
//! The process is this program again, and serves clients like a worker ([`crate::remote`]). A fault ends or stops it
//! with all its connections: a file system must not be in use when its power is cut.

use super::{KIND, Settings};
use crate::client::{Client, Seat};
use crate::error::LiveError;
use crate::remote::serve::{Opens, clients};
use crate::remote::{Of, RemoteClient};
use crate::request::{Outcome, Request};
use crate::run::patience;
use crate::world::cluster::System;
use crate::world::{self, World};
use serde::{Deserialize, Serialize};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The variable that makes a process the server of the connections; its value contains the file, and the address to
/// listen on.
const SERVER: &str = "HISTCHECK_LIVE_SQLITE";
const PORT: u16 = 7070;
/// The maximum time in which the process must start.
const START_MAX: Duration = Duration::from_secs(10);
/// How long the hub waits for the process's response.
const ASK: Duration = Duration::from_millis(500);

/// The time before a rejected client tries again.
const AGAIN: Duration = Duration::from_millis(20);

/// The arguments of the process.
#[derive(Debug, Serialize, Deserialize)]
struct Server {
    path: PathBuf,
    settings: Settings,
    address: SocketAddr,
}

/// Serves the clients of a node, if this process was started for that.
pub(in crate::store) fn serve() -> Option<io::Result<()>> {
    let told = std::env::var(SERVER).ok()?;
    Some(serve_clients(&told))
}

fn serve_clients(told: &str) -> io::Result<()> {
    let Server { path, settings, address } = serde_json::from_str(told)?;
    // A worker that fails prints the reason to standard error, which is the daemon's log.
    let failed = |error: LiveError| {
        eprintln!("{error}");
        io::Error::other(error.to_string())
    };
    let store = settings.open(&path).map_err(failed)?;
    let opens = Arc::new(move |_: &[String], seat: &Seat| crate::client::Store::client(&store, seat)) as Arc<Opens>;
    let listener = TcpListener::bind(address).inspect_err(|error| eprintln!("cannot listen at {address}: {error}"))?;
    clients(&listener, &opens)
}

/// The file on the disk of the only node.
pub(super) struct Node {
    settings: Settings,
}

impl Node {
    pub(super) fn new(settings: Settings) -> Node {
        Node { settings }
    }

    fn answers(world: &World) -> bool {
        TcpStream::connect_timeout(&world.nodes()[0].at(PORT), ASK).is_ok()
    }
}

impl System for Node {
    fn set_up(&self, world: &World) -> Result<(), LiveError> {
        let failed = |source| LiveError::Start { program: "this program".to_owned(), source };
        let program = std::env::current_exe().map_err(failed)?.display().to_string();
        let directory = world.data(0, KIND.name, "")?;
        let address = SocketAddr::from((world.nodes()[0].own, PORT));
        let server = Server { path: directory.join("db"), settings: self.settings.clone(), address };
        let told = serde_json::to_string(&server).map_err(|error| LiveError::store(error.to_string()))?;
        // `env` would treat a path with an equals sign as a variable.
        let words = ["env", &format!("{SERVER}={told}"), "sh", "-c", "exec \"$0\"", &program].map(str::to_owned);
        world.start(0, "", KIND.name, words.to_vec())?;
        world.until(START_MAX, "does not accept clients", || Node::answers(world))?;
        world.flush(0, &directory)
    }

    fn connect(&self, nodes: &[world::Node], seat: &Seat) -> Box<dyn Client> {
        Box::new(NodeClient { address: nodes[0].at(PORT), seat: *seat, client: None })
    }

    fn is_settled(&self, world: &World) -> bool {
        Node::answers(world)
    }
}

/// A client of the process.
struct NodeClient {
    address: SocketAddr,
    seat: Seat,
    client: Option<RemoteClient>,
}

impl Client for NodeClient {
    fn invoke(&mut self, request: &Request) -> Result<Outcome, LiveError> {
        let client = match &mut self.client {
            Some(client) => client,
            None => {
                match RemoteClient::connect("SQLite", self.address, &self.seat, Of::Command { nodes: Vec::new() }) {
                    Ok(client) => self.client.insert(client),
                    // Nothing was sent yet. Trying again immediately would only fill the history.
                    Err(error) => {
                        patience::sleep(AGAIN);
                        return Ok(Outcome::Fail(error.to_string()));
                    }
                }
            }
        };
        client.invoke(request)
    }

    fn is_broken(&self) -> bool {
        self.client.as_ref().is_none_or(Client::is_broken)
    }
}
