//! Connects processes, with a time limit: each listens on its own address, and connects to all before it in the list.
//!
//! A process that connects sends its identity and the purpose of the connection, and to the first process also its job;
//! the other side responds. So a stopped process, or another program at that address, is detected before timely would
//! wait for it.

use super::beat::Beats;
use super::until::Until;
use super::{Cluster, Fault};
use history_core::cast::Cast as _;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The first bytes of both sides. They change with each change of the protocol.
const HELLO: &[u8; 16] = b"histcheck scale1";
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(50);
/// The maximum total time for a connection to identify itself, because others wait meanwhile.
const GREETING: Duration = Duration::from_secs(5);
/// The maximum length of a job's description in bytes.
const FACTS_BYTES_MAX: usize = 64 << 20;

/// The purpose of a connection.
const DATA: u8 = b'd';
const BEAT: u8 = b'b';

/// All connections of this process.
pub(crate) struct Peers {
    sockets: Vec<Option<TcpStream>>,
    beats: Beats,
    is_first: bool,
}

impl Peers {
    /// Connects all processes. Ends this process if one cannot be reached or has another job.
    pub(crate) fn connect(cluster: &Cluster, fault: &Arc<Fault>) -> Peers {
        let deadline = Instant::now() + cluster.connect_timeout;
        let beats = Beats::start(cluster.peer_timeout, fault);
        let beats = beats.unwrap_or_else(|error| fault.end(&format!("cannot start a thread: {error}")));
        let sockets = cluster.hosts.iter().map(|_| None).collect();
        let mut connecting = Connecting { cluster, fault, deadline, sockets, beats };
        let listener = connecting.listen();
        connecting.reach();
        connecting.accept(&listener);
        Peers { sockets: connecting.sockets, beats: connecting.beats, is_first: cluster.process == 0 }
    }

    /// The connections for timely: one to each process, and `None` for this one.
    pub(crate) fn take_sockets(&mut self) -> Vec<Option<TcpStream>> {
        std::mem::take(&mut self.sockets)
    }

    /// Waits until all processes are done.
    pub(crate) fn finish(self) {
        self.beats.finish(self.is_first);
    }
}

struct Connecting<'c> {
    cluster: &'c Cluster,
    fault: &'c Arc<Fault>,
    deadline: Instant,
    sockets: Vec<Option<TcpStream>>,
    beats: Beats,
}

impl Connecting<'_> {
    /// Listens on the address of this process. The network may know its name only some time after the start.
    fn listen(&self) -> TcpListener {
        let own = &self.cluster.hosts[self.cluster.process];
        loop {
            let addresses = own.to_socket_addrs().map(Iterator::collect::<Vec<_>>);
            let is_known = addresses.is_ok();
            let listener = addresses.and_then(|addresses| TcpListener::bind(&addresses[..])).and_then(|listener| {
                listener.set_nonblocking(true)?;
                Ok(listener)
            });
            match listener {
                Ok(listener) => return listener,
                Err(_) if !is_known && Instant::now() < self.deadline => std::thread::sleep(PAUSE),
                Err(error) => self.fault.end(&format!("cannot listen at {own}: {error}")),
            }
        }
    }

    /// Starts heartbeats with a process, independently of how long other connections take.
    fn watch(&mut self, peer: usize, stream: TcpStream) {
        if let Err(error) = self.beats.add(peer, stream) {
            self.fault.end(&format!("cannot start a thread: {error}"));
        }
    }

    /// Connects to the processes before this one.
    fn reach(&mut self) {
        let own = self.cluster.process;
        for peer in 0..own {
            if peer == 0 {
                let stream = self.reach_one(peer, BEAT);
                self.watch(peer, stream);
            }
            self.sockets[peer] = Some(self.reach_one(peer, DATA));
        }
    }

    /// Connects to a process, and repeats this until it answers.
    fn reach_one(&self, peer: usize, purpose: u8) -> TcpStream {
        loop {
            let why = match self.try_reach(peer, purpose) {
                Ok(stream) => return stream,
                Err(error) => error,
            };
            if Instant::now() >= self.deadline {
                self.end_late(peer, &why.to_string());
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn try_reach(&self, peer: usize, purpose: u8) -> io::Result<TcpStream> {
        let left = || self.deadline.saturating_duration_since(Instant::now()).max(PAUSE);
        let addresses: Vec<_> = self.cluster.hosts[peer].to_socket_addrs()?.collect();
        let mut failed = io::Error::other("the name has no address");
        for address in addresses {
            match TcpStream::connect_timeout(&address, left()) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    let mut talk = Until::new(&stream, Instant::now() + left());
                    talk.write_all(&self.greeting(purpose))?;
                    self.read_answer(peer, &mut talk)?;
                    talk.done()?;
                    return Ok(stream);
                }
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    fn greeting(&self, purpose: u8) -> Vec<u8> {
        let mut frame = HELLO.to_vec();
        frame.push(purpose);
        frame.extend_from_slice(&self.cluster.process.to_u32().to_le_bytes());
        let facts = if purpose == BEAT { crate::meeting::to_bytes(&self.cluster.facts) } else { Vec::new() };
        frame.extend_from_slice(&facts.len().to_u32().to_le_bytes());
        frame.extend_from_slice(&facts);
        frame
    }

    /// Reads a process's answer to a greeting: accepted, or the reason of the rejection.
    fn read_answer(&self, peer: usize, stream: &mut impl Read) -> io::Result<()> {
        let mut hello = [0; HELLO.len()];
        stream.read_exact(&mut hello)?;
        if hello != *HELLO {
            return Err(io::Error::other("another program, or another version of histcheck, is at this address"));
        }
        let why = read_text(stream)?;
        if !why.is_empty() {
            let why = String::from_utf8_lossy(&why);
            self.fault.end(&format!("process {peer} ({}) refused this process: {why}", self.cluster.hosts[peer]));
        }
        Ok(())
    }

    /// Waits for the processes after this one.
    fn accept(&mut self, listener: &TcpListener) {
        while let Some(missing) = self.missing() {
            // The deadline applies even if many other programs connect.
            if Instant::now() >= self.deadline {
                self.end_late(missing, "it did not connect");
            }
            match listener.accept() {
                Ok((stream, _)) => self.greet(stream),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(PAUSE),
                // A connection that was closed before it was accepted.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => self.fault.end(&format!("cannot accept connections: {error}")),
            }
        }
    }

    /// A process after this one that is not connected.
    fn missing(&self) -> Option<usize> {
        let has_beat = |peer: usize| self.cluster.process > 0 || self.beats.has(peer);
        let behind = self.cluster.process + 1..self.cluster.hosts.len();
        behind.into_iter().find(|peer| self.sockets[*peer].is_none() || !has_beat(*peer))
    }

    /// Accepts a connection, if it is from a process that is missing.
    fn greet(&mut self, stream: TcpStream) {
        let mut talk = Until::new(&stream, self.deadline.min(Instant::now() + GREETING));
        let heard = stream.set_nonblocking(false).and_then(|()| {
            stream.set_nodelay(true)?;
            self.hear(&mut talk)
        });
        // Another program, or a process that gave up. If a process is missing, the deadline detects it.
        let Ok((peer, purpose, facts)) = heard else { return };
        let why = if purpose == BEAT { self.difference(peer, &facts) } else { None };
        let answered = answer(&mut talk, why.as_deref().unwrap_or_default());
        if let Some(why) = why {
            self.fault
                .end(&format!("process {peer} ({}) does not match this process: {why}", self.cluster.hosts[peer]));
        }
        if answered.and_then(|()| talk.done()).is_err() {
            return;
        }
        match purpose {
            BEAT if !self.beats.has(peer) => self.watch(peer, stream),
            DATA if self.sockets[peer].is_none() => self.sockets[peer] = Some(stream),
            // This process is already connected.
            _ => {}
        }
    }

    /// Reads the number of the process that connected, the purpose, and its job.
    fn hear(&self, stream: &mut impl Read) -> io::Result<(usize, u8, Vec<u8>)> {
        let (mut hello, mut purpose, mut peer) = ([0; HELLO.len()], [0], [0; 4]);
        stream.read_exact(&mut hello)?;
        stream.read_exact(&mut purpose)?;
        stream.read_exact(&mut peer)?;
        let (peer, purpose) = (u32::from_le_bytes(peer).to_usize(), purpose[0]);
        let is_behind = peer > self.cluster.process && peer < self.cluster.hosts.len();
        let is_wanted = purpose == DATA || purpose == BEAT && self.cluster.process == 0;
        if hello != *HELLO || !is_behind || !is_wanted {
            return Err(io::Error::other("an unexpected process"));
        }
        Ok((peer, purpose, read_text(stream)?))
    }

    /// The difference between a process's job and the job of this one, if there is one.
    fn difference(&self, peer: usize, facts: &[u8]) -> Option<String> {
        let Ok(theirs) = serde_json::from_slice::<Vec<(String, String)>>(facts) else {
            return Some("it did not send its options".to_owned());
        };
        let ours = &self.cluster.facts;
        let differs = |(at, (name, value)): (usize, &(String, String))| {
            let their = theirs.get(at).filter(|(their_name, _)| their_name == name).map(|(_, value)| value.as_str());
            (their != Some(value)).then(|| format!("process 0 and process {peer} have different {name}"))
        };
        let differ = ours.iter().enumerate().find_map(differs);
        differ.or_else(|| (theirs.len() != ours.len()).then(|| "it has more options".to_owned()))
    }

    fn end_late(&self, peer: usize, why: &str) -> ! {
        let Cluster { hosts, connect_timeout, .. } = self.cluster;
        self.fault.end(&format!(
            "process {peer} ({}) could not be reached within {connect_timeout:?}, so there is no verdict: {why}",
            hosts[peer]
        ))
    }
}

fn answer(stream: &mut impl Write, why: &str) -> io::Result<()> {
    let mut frame = HELLO.to_vec();
    frame.extend_from_slice(&why.len().to_u32().to_le_bytes());
    frame.extend_from_slice(why.as_bytes());
    stream.write_all(&frame)
}

fn read_text(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut len = [0; 4];
    stream.read_exact(&mut len)?;
    let len = u32::from_le_bytes(len).to_usize();
    if len > FACTS_BYTES_MAX {
        return Err(io::Error::other("the message is too long"));
    }
    let mut text = Vec::new();
    stream.take(len.to_u64()).read_to_end(&mut text)?;
    if text.len() < len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(text)
}
