//! The worker's end: it executes calls and sends replies.

use super::message::{Answer, Call, Failure, Hello, Of, Reply, What};
use crate::client::{Client, Seat};
use crate::error::LiveError;
use crate::group::remove_directory_if_killed;
use crate::kind::{Make, Start};
use crate::request::Request;
use crate::store::{self, Exec};
use crate::world::{Host, Machine, Order, Within};
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The time before accepting again after accepting failed, because there may be too many connections.
const AGAIN: Duration = Duration::from_millis(20);

/// Opens a client for a seat of a run, whose nodes have these names.
pub type Opens = dyn Fn(&[String], &Seat) -> Result<Box<dyn Client>, LiveError> + Send + Sync;

/// Serves clients of this command to every connection: see [`clients`].
pub fn listen(listener: &TcpListener, command: &str) -> ! {
    let command = command.to_owned();
    clients(listener, &(Arc::new(move |nodes: &[String], seat: &Seat| Exec::open(&command, nodes, seat)) as Arc<Opens>))
}

/// Serves clients to every connection. Other calls are rejected, and a connection that cannot be accepted is reported
/// on standard error. A run connects with [`Exec::over`].
pub fn clients(listener: &TcpListener, opens: &Arc<Opens>) -> ! {
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) => {
                eprintln!("cannot accept a connection: {error}");
                thread::sleep(AGAIN);
                continue;
            }
        };
        let worker = Worker { machine: None, opens: Some(Arc::clone(opens)) };
        thread::spawn(move || {
            // The end of a connection ends only its own clients.
            let _ = connection(&stream, worker);
        });
    }
}

fn connection(stream: &TcpStream, worker: Worker) -> io::Result<()> {
    stream.set_nodelay(true)?;
    worker.serve(BufReader::new(stream.try_clone()?), stream.try_clone()?)
}

/// Serves a node, from standard input, until that ends: files, daemons and clients. Its files are in this directory,
/// which is removed at the end, with everything that was started.
///
/// # Errors
///
/// If standard output cannot be written to.
pub fn node(directory: &Path) -> io::Result<()> {
    remove_directory_if_killed(Some(directory));
    let machine = Arc::new(Machine::new(Within::here(), directory.join("data"), directory.join("logs")));
    let worker = Worker { machine: Some(Arc::clone(&machine)), opens: None };
    let served = worker.serve(io::stdin().lock(), io::stdout());
    // Processes that do not end now are killed by the process that monitors this one.
    let _ = machine.obey(&Order::Stop);
    let _ = machine.remove_filter();
    let _ = std::fs::remove_dir_all(directory);
    remove_directory_if_killed(None);
    served
}

/// The services of a worker.
struct Worker {
    /// The node that it is.
    machine: Option<Arc<Machine>>,
    /// Opens clients that do not belong to a cluster.
    opens: Option<Arc<Opens>>,
}

/// For each client, the channel for its requests with the numbers of their calls; `None` means that there are no more
/// requests.
type Clients = HashMap<u64, Sender<(u64, Option<Request>)>>;

/// The output for replies.
type Output<W> = Arc<Mutex<W>>;

impl Worker {
    /// Executes the calls, until there are no more.
    fn serve<W: Write + Send + 'static>(self, mut input: impl BufRead, output: W) -> io::Result<()> {
        let output = Arc::new(Mutex::new(output));
        write(&output, &Hello::own())?;
        let worker = Arc::new(self);
        let mut clients = Clients::new();
        let mut line = Vec::new();
        while input.read_until(b'\n', &mut line)? > 0 {
            let Ok(Call { id, what }) = serde_json::from_slice(&line) else {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a line that is not a request"));
            };
            line.clear();
            let (worker, output) = (Arc::clone(&worker), Arc::clone(&output));
            match what {
                What::Order(order) => {
                    thread::spawn(move || {
                        let done = worker.machine.as_ref().ok_or_else(no_node).and_then(|machine| machine.obey(&order));
                        answer(&output, id, done.map(Answer::Done));
                    });
                }
                What::Open { client, seat, of } => {
                    let (sender, requests) = channel();
                    clients.insert(client, sender);
                    thread::spawn(move || {
                        let mut client = match worker.client(&seat, &of) {
                            Ok(client) => client,
                            Err(error) => return answer(&output, id, Err(error)),
                        };
                        answer(&output, id, Ok(Answer::Done(String::new())));
                        for (id, request) in requests {
                            let done = match request {
                                Some(request) => client.invoke(&request).map(|outcome| {
                                    let (is_broken, failed_start) = (client.is_broken(), client.failed_start());
                                    Answer::Outcome { outcome, is_broken, failed_start }
                                }),
                                None => client.end().map(|()| Answer::Done(String::new())),
                            };
                            answer(&output, id, done);
                        }
                    });
                }
                What::Invoke { client, request } => ask(&clients, client, (id, Some(request)), &output),
                What::End { client } => ask(&clients, client, (id, None), &output),
                What::Close { client } => _ = clients.remove(&client),
            }
        }
        Ok(())
    }

    fn client(&self, seat: &Seat, of: &Of) -> Result<Box<dyn Client>, LiveError> {
        match (of, &self.machine, &self.opens) {
            (Of::Kind { kind, options, nodes }, Some(_), _) => {
                let unknown = || LiveError::Unsupported(format!("unknown cluster {kind}"));
                let Make::Cluster { system, .. } = store::kind(kind).ok_or_else(unknown)?.make else {
                    return Err(unknown());
                };
                if usize::try_from(seat.node).map_or(true, |node| node >= nodes.len()) {
                    return Err(LiveError::Unsupported(format!("unknown node {}", seat.node)));
                }
                let start = Start { options: options.clone(), ..Start::default() };
                Ok(system(&start)?.connect(nodes, seat))
            }
            (Of::Command { nodes }, _, Some(opens)) => opens(nodes, seat),
            _ => Err(no_node()),
        }
    }
}

/// Passes a request, or the end of requests, to a client.
fn ask<W: Write>(clients: &Clients, client: u64, what: (u64, Option<Request>), output: &Output<W>) {
    let id = what.0;
    let sent = clients.get(&client).is_some_and(|client| client.send(what).is_ok());
    if !sent {
        answer(output, id, Err(LiveError::store(format!("unknown client {client}"))));
    }
}

fn no_node() -> LiveError {
    LiveError::Unsupported("this worker does not support the request".to_owned())
}

fn answer<W: Write>(output: &Output<W>, id: u64, answer: Result<Answer, LiveError>) {
    // The caller may be gone; then the input ends, too.
    let _ = write(output, &Reply { id, answer: answer.map_err(Failure::from) });
}

fn write<W: Write>(output: &Output<W>, what: &impl serde::Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    output.write_all(&line)?;
    output.flush()
}
