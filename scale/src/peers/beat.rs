//! Heartbeats between the first process and each of the others.
//!
//! Each side sends a byte every second, and reads the bytes of the other. If nothing arrives for
//! [`Cluster::peer_timeout`](super::Cluster), the other is considered lost: a stopped process, or a network that drops
//! everything. The other processes announce when they are done. When all have done so, the first one announces this,
//! and only then there is a result.

use super::Fault;
use super::words::{ALIVE, DONE, END, reason};
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// The time between two heartbeats, unless the timeout is shorter.
const BEAT: Duration = Duration::from_secs(1);

/// The state of the processes at the other ends.
#[derive(Default)]
struct State {
    /// The number of processes that are done.
    done: usize,
    /// Whether their state no longer matters.
    is_over: bool,
}

/// Connections whose other ends are watched.
pub(crate) struct Beats {
    timeout: Duration,
    fault: Arc<Fault>,
    peers: Vec<usize>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
    state: Arc<(Mutex<State>, Condvar)>,
}

impl Beats {
    /// Starts heartbeats without any connection.
    ///
    /// # Errors
    ///
    /// If no thread can be started.
    pub(crate) fn start(timeout: Duration, fault: &Arc<Fault>) -> io::Result<Beats> {
        let beats = Beats {
            timeout,
            fault: Arc::clone(fault),
            peers: Vec::new(),
            streams: Arc::default(),
            state: Arc::default(),
        };
        let (streams, state) = (Arc::clone(&beats.streams), Arc::clone(&beats.state));
        let pause = BEAT.min(timeout / 4);
        Builder::new().name("scale:beat".to_owned()).spawn(move || beat(&streams, pause, &state))?;
        Ok(beats)
    }

    /// Adds another process.
    ///
    /// # Errors
    ///
    /// If no thread can be started.
    pub(crate) fn add(&mut self, peer: usize, stream: TcpStream) -> io::Result<()> {
        self.fault.add_listener(stream.try_clone()?);
        lock(&self.streams).push(stream.try_clone()?);
        self.peers.push(peer);
        let (timeout, state, fault) = (self.timeout, Arc::clone(&self.state), Arc::clone(&self.fault));
        let watch = move || watch(stream, peer, timeout, &state, &fault);
        Builder::new().name(format!("scale:peer-{peer}")).spawn(watch).map(|_| ())
    }

    /// Returns true if a process was added.
    pub(crate) fn has(&self, peer: usize) -> bool {
        self.peers.contains(&peer)
    }

    /// Announces that this process is done, and waits until all others are, by the announcement of the first process.
    pub(crate) fn finish(self, is_first: bool) {
        if !is_first {
            self.send_done();
        }
        let (state, changed) = &*self.state;
        let waiting = changed.wait_while(lock(state), |state| state.done < self.peers.len());
        waiting.unwrap_or_else(PoisonError::into_inner).is_over = true;
        if is_first {
            self.send_done();
        }
    }

    fn send_done(&self) {
        for stream in lock(&self.streams).iter_mut() {
            // A lost process is detected by the thread that reads.
            let _ = stream.write_all(&[DONE]);
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn beat(streams: &Mutex<Vec<TcpStream>>, pause: Duration, (state, changed): &(Mutex<State>, Condvar)) {
    loop {
        for stream in lock(streams).iter_mut() {
            let _ = stream.write_all(&[ALIVE]);
        }
        let (state, _) = changed.wait_timeout(lock(state), pause).unwrap_or_else(PoisonError::into_inner);
        if state.is_over {
            return;
        }
    }
}

/// Reads the bytes of a process until it is done or lost.
fn watch(mut stream: TcpStream, peer: usize, timeout: Duration, state: &(Mutex<State>, Condvar), fault: &Fault) {
    let mut word = [0];
    loop {
        let read = stream.set_read_timeout(Some(timeout)).and_then(|()| stream.read_exact(&mut word));
        let (state, changed) = state;
        match read {
            Ok(()) if word[0] == ALIVE => {}
            Ok(()) if word[0] == DONE => {
                lock(state).done += 1;
                changed.notify_all();
                return;
            }
            Ok(()) if word[0] == END => {
                fault.end(&reason(&mut stream).unwrap_or_else(|_| "another process ended".to_owned()))
            }
            Ok(()) => fault.end_without(peer, "it sent an invalid message"),
            Err(_) if lock(state).is_over => return,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                fault.end_without(peer, &format!("nothing was received from it for {timeout:?}"))
            }
            Err(_) => fault.end_without(peer, "the connection is closed"),
        }
    }
}
