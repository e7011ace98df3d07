//! A connection to one writer, read and written without being stuck in it.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};

/// A connection. Reads and writes never wait: [`Stream::wait`] does.
#[derive(Debug)]
pub(in crate::watch) enum Stream {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(std::os::unix::net::UnixStream),
}

impl Stream {
    pub(in crate::watch) fn tcp(stream: TcpStream) -> io::Result<Stream> {
        stream.set_nonblocking(true)?;
        // An acknowledgement is a line of its own, and someone waits for it. Where it cannot be hastened, it comes
        // later.
        let _ = stream.set_nodelay(true);
        Ok(Stream::Tcp(stream))
    }

    #[cfg(unix)]
    pub(in crate::watch) fn unix(stream: std::os::unix::net::UnixStream) -> io::Result<Stream> {
        stream.set_nonblocking(true)?;
        Ok(Stream::Unix(stream))
    }

    /// The address of whoever has connected, where it has one.
    pub(in crate::watch) fn peer(&self) -> Option<String> {
        match self {
            Stream::Tcp(stream) => stream.peer_addr().ok().map(|address| address.to_string()),
            #[cfg(unix)]
            Stream::Unix(_) => None,
        }
    }

    pub(in crate::watch) fn read(&self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&*stream).read(out),
            #[cfg(unix)]
            Stream::Unix(stream) => (&*stream).read(out),
        }
    }

    pub(in crate::watch) fn write(&self, text: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&*stream).write(text),
            #[cfg(unix)]
            Stream::Unix(stream) => (&*stream).write(text),
        }
    }

    /// Waits until there is something to read, be it the end; or, if that is wanted, something can be written.
    #[cfg(unix)]
    pub(in crate::watch) fn wait(&self, to_write: bool) {
        use rustix::event::{PollFd, PollFlags, poll};
        let flags = if to_write { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let socket = match self {
            Stream::Tcp(stream) => PollFd::new(stream, flags),
            Stream::Unix(stream) => PollFd::new(stream, flags),
        };
        // What goes wrong shows when it is read.
        let _ = poll(&mut [socket], None);
    }

    /// Nothing can be waited for here but time.
    #[cfg(not(unix))]
    pub(in crate::watch) fn wait(&self, _to_write: bool) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }

    /// Whether a connection that is closed before all was read loses what it wrote last: TCP drops what was not sent
    /// yet.
    pub(in crate::watch) fn loses_when_reset(&self) -> bool {
        matches!(self, Stream::Tcp(_))
    }

    /// Makes reading come to its end.
    pub(in crate::watch) fn end_reading(&self) {
        self.shutdown(Shutdown::Read);
    }

    pub(in crate::watch) fn close(&self) {
        self.shutdown(Shutdown::Both);
    }

    fn shutdown(&self, how: Shutdown) {
        // A client that has gone needs no answer.
        let _ = match self {
            Stream::Tcp(stream) => stream.shutdown(how),
            #[cfg(unix)]
            Stream::Unix(stream) => stream.shutdown(how),
        };
    }
}
