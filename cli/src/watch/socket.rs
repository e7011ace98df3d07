//! Sockets on which this program listens, and their files.

#[cfg(unix)]
pub(super) mod datagram;
pub(super) mod stream;

use super::address::Address;
use std::io;
use std::net::TcpListener;
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};
#[cfg(unix)]
use std::path::Path;
use std::path::PathBuf;
use stream::Stream;

/// A socket to which writers connect.
pub(super) enum Listener {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener, PathBuf),
}

/// Removes a socket's file when no process listens on it any more, unless another file has its path by then.
pub(super) struct Unlink {
    path: PathBuf,
    #[cfg(unix)]
    id: Option<(u64, u64)>,
}

#[cfg(unix)]
impl Unlink {
    /// Creates it for a socket that was just bound.
    fn new(path: &Path) -> Unlink {
        Unlink { path: path.to_owned(), id: id(path) }
    }
}

#[cfg(unix)]
impl Drop for Unlink {
    fn drop(&mut self) {
        if self.id.is_some() && id(&self.path) == self.id {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The identity of the file at a path.
#[cfg(unix)]
fn id(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    std::fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

impl Listener {
    /// Begins to listen.
    pub(super) fn bind(address: &Address) -> io::Result<Listener> {
        // If the system supports polling, `accept` must not block, so that no thread waits in it forever.
        match address {
            Address::Tcp(address) => {
                let listener = TcpListener::bind(address)?;
                listener.set_nonblocking(cfg!(unix))?;
                Ok(Listener::Tcp(listener))
            }
            #[cfg(unix)]
            Address::Unix(path) => {
                let listener =
                    bind_path(path, |path| UnixListener::bind(path), |path| UnixStream::connect(path).map(|_| ()))?;
                listener.set_nonblocking(true)?;
                Ok(Listener::Unix(listener, path.clone()))
            }
            #[cfg(unix)]
            Address::Datagram(_) => Err(io::Error::other("datagram sockets have no connections")),
        }
    }

    /// The address in the form that writers need.
    pub(super) fn name(&self) -> String {
        match self {
            Listener::Tcp(listener) => {
                listener.local_addr().map(|address| Address::Tcp(address).to_string()).unwrap_or_default()
            }
            #[cfg(unix)]
            Listener::Unix(_, path) => Address::Unix(path.clone()).to_string(),
        }
    }

    /// The object that must be kept as long as any thread listens.
    pub(super) fn unlink(&self) -> Option<Unlink> {
        match self {
            Listener::Tcp(_) => None,
            #[cfg(unix)]
            Listener::Unix(_, path) => Some(Unlink::new(path)),
        }
    }

    /// Accepts a connection.
    pub(super) fn accept(&self) -> io::Result<Stream> {
        match self {
            Listener::Tcp(listener) => Stream::tcp(listener.accept()?.0),
            #[cfg(unix)]
            Listener::Unix(listener, _) => Stream::unix(listener.accept()?.0),
        }
    }

    /// Waits until there is a connection to accept, for the given time at most. Returns whether there is one.
    #[cfg(unix)]
    pub(super) fn poll(&self, within: Option<&rustix::event::Timespec>) -> io::Result<bool> {
        use rustix::event::{PollFd, PollFlags, poll};
        let socket = match self {
            Listener::Tcp(listener) => PollFd::new(listener, PollFlags::IN),
            Listener::Unix(listener, _) => PollFd::new(listener, PollFlags::IN),
        };
        Ok(poll(&mut [socket], within)? > 0)
    }

    /// Returns true if there is a connection that was not accepted yet. Not every system supports this.
    pub(super) fn has_callers(&self) -> bool {
        #[cfg(unix)]
        return self.poll(Some(&rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap_or(false);
        #[cfg(not(unix))]
        false
    }
}

/// Binds a socket to a path, and replaces a socket there on which no process listens any more.
#[cfg(unix)]
pub(super) fn bind_path<T>(
    path: &Path,
    bind: fn(&Path) -> io::Result<T>,
    connect: fn(&Path) -> io::Result<()>,
) -> io::Result<T> {
    bind(path).or_else(|error| {
        // A socket on which no process listens remains if its process could not remove it.
        let kind = std::fs::symlink_metadata(path).map(|found| found.file_type());
        let is_socket = kind.is_ok_and(|kind| std::os::unix::fs::FileTypeExt::is_socket(&kind));
        if error.kind() == io::ErrorKind::AddrInUse && !is_socket {
            let said = "a file that is not a socket exists there; choose another path, or remove it";
            return Err(io::Error::new(io::ErrorKind::AddrInUse, said));
        }
        let left_behind = error.kind() == io::ErrorKind::AddrInUse
            && connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
        if !left_behind {
            return Err(error);
        }
        std::fs::remove_file(path)?;
        bind(path)
    })
}
