//! A proxy: it accepts connections for one port of one node, and copies bytes between the caller and the server.

use super::caller::{Callers, Who};
use super::links::{Fate, Links};
use crate::dial::GREETING;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// The maximum time that a server may take to accept a caller.
const CONNECT_MAX: Duration = Duration::from_secs(1);
/// The time between two checks whether the run is over.
const LOOK: Duration = Duration::from_millis(200);
/// The maximum number of simultaneous connections of a proxy. Further ones are closed.
const CONNECTIONS_MAX: usize = 1024;
/// The maximum number of bytes copied at once.
const CHUNK: usize = 64 << 10;

/// A proxy for one port of one node.
pub(super) struct Proxy {
    pub(super) node: u32,
    /// The address of the server.
    pub(super) server: SocketAddr,
    /// The address at which the proxy listens.
    pub(super) public: SocketAddr,
    pub(super) links: Arc<Links>,
    pub(super) callers: Arc<Callers>,
}

impl Proxy {
    /// Accepts connections, on its own thread, until the run is over.
    pub(super) fn serve(self, listener: TcpListener) {
        let (proxy, open) = (Arc::new(self), Arc::new(AtomicUsize::new(0)));
        thread::spawn(move || {
            // At the end of the run, a connection wakes this loop.
            while let Ok((stream, from)) = listener.accept()
                && !proxy.links.is_over()
            {
                if open.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MAX {
                    open.fetch_sub(1, Ordering::Relaxed);
                    continue;
                }
                let (proxy, open) = (Arc::clone(&proxy), Arc::clone(&open));
                thread::spawn(move || {
                    // A connection that fails is closed, which its caller detects.
                    let _ = proxy.connect(stream, from);
                    open.fetch_sub(1, Ordering::Relaxed);
                });
            }
        });
    }

    /// Connects a caller with the server, and copies bytes until one of them closes the connection.
    fn connect(&self, mut caller: TcpStream, from: SocketAddr) -> io::Result<()> {
        caller.set_nodelay(true)?;
        let Who { node, is_client } = self.callers.who(from, self.public);
        let node = node.unwrap_or(self.links.hub());
        if self.links.cross(node, self.node) == Fate::Breaks {
            return Ok(());
        }
        let mut server = TcpStream::connect_timeout(&self.server, CONNECT_MAX)?;
        server.set_nodelay(true)?;
        if self.links.cross(self.node, node) == Fate::Breaks {
            return Ok(());
        }
        if is_client {
            caller.write_all(&[GREETING])?;
        }
        let (mut to_server, mut to_caller) = (server.try_clone()?, caller.try_clone()?);
        thread::scope(|scope| {
            scope.spawn(|| self.carry(&mut caller, &mut to_server, (node, self.node)));
            self.carry(&mut server, &mut to_caller, (self.node, node));
        });
        Ok(())
    }

    /// Copies bytes in one direction.
    fn carry(&self, from: &mut TcpStream, to: &mut TcpStream, (sender, receiver): (u32, u32)) {
        let mut chunk = vec![0; CHUNK];
        let fails = from.set_read_timeout(Some(LOOK)).is_err();
        while !fails && !self.links.is_over() {
            let read = match from.read(&mut chunk) {
                Ok(read) => read,
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => continue,
                Err(_) => break,
            };
            if self.links.cross(sender, receiver) == Fate::Breaks {
                break;
            }
            if read == 0 {
                // The other direction may continue.
                let _ = to.shutdown(Shutdown::Write);
                return;
            }
            if to.write_all(&chunk[..read]).is_err() {
                break;
            }
        }
        // An error means that the other end is already gone.
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }
}
