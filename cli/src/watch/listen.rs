//! Accepts connections of writers: each writer is accepted, read on a separate thread, and counted until it
//! disconnects.

use super::order::{Order, Stop, WriterId};
use super::socket::Listener;
use super::socket::stream::Stream;
use super::writer::{self, Unfinished};
use crate::output::diagnose;
use histcheck_front::ReadAs;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The maximum number of writers at once.
const WRITERS_MAX: usize = 1024;
/// The pause before the next attempt to accept a connection for which there was no file descriptor.
const RETRY: Duration = Duration::from_millis(100);

/// Records the ops of all writers that connect. If requested, the history ends when the last one disconnects.
pub(super) fn run(listener: Listener, order: Order, read_as: &ReadAs, until_closed: bool) {
    let name = listener.name();
    let connections = Arc::new(Connections {
        listener,
        order,
        unfinished: Unfinished::default(),
        count: Mutex::new(0),
        left: Condvar::new(),
        until_closed,
    });
    let (mut number, mut was_full) = (0, false);
    loop {
        let stream = match connections.let_in() {
            Ok(stream) => stream,
            Err(error) if is_passing(&error) => continue,
            Err(error) if is_full(&error) => {
                if !was_full {
                    diagnose::warning(&format!(
                        "{name}: {error}: new clients wait until others close their connections"
                    ));
                }
                was_full = true;
                connections.wait();
                continue;
            }
            Err(error) => return connections.order.fail(error),
        };
        number += 1;
        let id = WriterId { number, address: stream.peer().unwrap_or_else(|| name.clone()) };
        if matches!(connections.hear(stream, id, read_as), Err(Stop::Over)) {
            return;
        }
    }
}

/// Returns true if an error concerns one connection, not the socket.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::WouldBlock
    )
}

/// Returns true if there was no file descriptor or no memory for another connection.
fn is_full(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        let full = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
        full.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
    }
    // WSAEMFILE, WSAENOBUFS
    #[cfg(not(unix))]
    matches!(error.raw_os_error(), Some(10024 | 10055))
}

struct Connections {
    listener: Listener,
    order: Order,
    unfinished: Unfinished,
    /// The number of accepted writers.
    count: Mutex<usize>,
    /// Notified when a writer disconnects.
    left: Condvar,
    until_closed: bool,
}

impl Connections {
    fn count(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accepts the next connection, and counts it.
    fn let_in(&self) -> io::Result<Stream> {
        // A connection is counted at the moment when it leaves the queue: `leave` examines both under the lock.
        #[cfg(unix)]
        self.listener.poll(None)?;
        #[cfg(unix)]
        let mut count = self.count();
        let stream = self.listener.accept()?;
        #[cfg(not(unix))]
        let mut count = self.count();
        *count += 1;
        Ok(stream)
    }

    /// Waits until another connection may be accepted.
    fn wait(&self) {
        let waited = self.left.wait_timeout(self.count(), RETRY);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Records the ops of one writer, on a separate thread.
    fn hear(self: &Arc<Self>, stream: Stream, id: WriterId, read_as: &ReadAs) -> Result<(), Stop> {
        if *self.count() > WRITERS_MAX {
            let why = format!("{WRITERS_MAX} clients are already connected");
            return self.turn_away(&stream, &id, why);
        }
        let (stream, id, read_as) = (Arc::new(stream), Arc::new(id), read_as.clone());
        let (connections, heard, who) = (Arc::clone(self), Arc::clone(&stream), Arc::clone(&id));
        let thread = std::thread::Builder::new().spawn(move || {
            writer::serve(&heard, who, &connections.order, &connections.unfinished, &read_as);
            drop(heard);
            connections.leave();
        });
        match thread {
            Ok(_) => Ok(()),
            Err(error) => self.turn_away(&stream, &id, format!("cannot start a thread for it: {error}")),
        }
    }

    fn turn_away(&self, stream: &Stream, id: &WriterId, why: String) -> Result<(), Stop> {
        let _ = stream.write(&writer::refusal(&why));
        stream.close();
        let stop = self.order.refuse(id, why);
        self.leave();
        if matches!(stop, Stop::Over) { Err(stop) } else { Ok(()) }
    }

    /// A writer has disconnected. Writers that are connected but not yet accepted count as present.
    fn leave(&self) {
        let mut count = self.count();
        *count -= 1;
        self.left.notify_all();
        if self.until_closed && *count == 0 && !self.listener.has_callers() {
            self.order.end();
        }
    }
}
