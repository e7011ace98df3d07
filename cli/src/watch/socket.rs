//! Sockets that are listened on, and the files that some of them have.

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

/// A socket that writers connect to.
pub(super) enum Listener {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener, PathBuf),
}

/// Removes a socket's file when no process listens any more, unless another file has its path by then.
pub(super) struct Unlink {
    path: PathBuf,
    #[cfg(unix)]
    id: Option<(u64, u64)>,
}

#[cfg(unix)]
impl Unlink {
    /// For a socket that was just bound.
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

/// Which file has a path.
#[cfg(unix)]
fn id(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    std::fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

impl Listener {
    /// Begins to listen.
    pub(super) fn bind(address: &Address) -> io::Result<Listener> {
        // Where it can be waited for in another way, no thread is to be stuck in `accept`.
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

    /// Where it listens, as writers need to know it.
    pub(super) fn name(&self) -> String {
        match self {
            Listener::Tcp(listener) => {
                listener.local_addr().map(|address| Address::Tcp(address).to_string()).unwrap_or_default()
            }
            #[cfg(unix)]
            Listener::Unix(_, path) => Address::Unix(path.clone()).to_string(),
        }
    }

    /// What is to be kept as long as anyone listens.
    pub(super) fn unlink(&self) -> Option<Unlink> {
        match self {
            Listener::Tcp(_) => None,
            #[cfg(unix)]
            Listener::Unix(_, path) => Some(Unlink::new(path)),
        }
    }

    /// Lets in one who has connected.
    pub(super) fn accept(&self) -> io::Result<Stream> {
        match self {
            Listener::Tcp(listener) => Stream::tcp(listener.accept()?.0),
            #[cfg(unix)]
            Listener::Unix(listener, _) => Stream::unix(listener.accept()?.0),
        }
    }

    /// Waits until someone wants to be let in, or just looks. Whether there is someone.
    #[cfg(unix)]
    pub(super) fn poll(&self, within: Option<&rustix::event::Timespec>) -> io::Result<bool> {
        use rustix::event::{PollFd, PollFlags, poll};
        let socket = match self {
            Listener::Tcp(listener) => PollFd::new(listener, PollFlags::IN),
            Listener::Unix(listener, _) => PollFd::new(listener, PollFlags::IN),
        };
        Ok(poll(&mut [socket], within)? > 0)
    }

    /// Whether someone has connected who was not yet let in. Not every system supports this.
    pub(super) fn has_callers(&self) -> bool {
        #[cfg(unix)]
        return self.poll(Some(&rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap_or(false);
        #[cfg(not(unix))]
        false
    }
}

/// Makes a socket with a path, in the place of one on which no process listens any more.
#[cfg(unix)]
pub(super) fn bind_path<T>(
    path: &Path,
    bind: fn(&Path) -> io::Result<T>,
    connect: fn(&Path) -> io::Result<()>,
) -> io::Result<T> {
    bind(path).or_else(|error| {
        // A socket on which no process listens was left by a process that could not remove it.
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
