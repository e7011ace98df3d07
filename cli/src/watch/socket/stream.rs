//! A connection to one writer, read and written without blocking.

#[cfg(unix)]
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};

/// A connection. Reads and writes never block; [`Stream::wait`] does.
#[derive(Debug)]
pub(in crate::watch) enum Stream {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(std::os::unix::net::UnixStream),
}

impl Stream {
    pub(in crate::watch) fn tcp(stream: TcpStream) -> io::Result<Stream> {
        stream.set_nonblocking(true)?;
        // An acknowledgement is a single line, and its receiver waits for it, so it should be sent at once. Without
        // this option, it is only sent later.
        let _ = stream.set_nodelay(true);
        Ok(Stream::Tcp(stream))
    }

    #[cfg(unix)]
    pub(in crate::watch) fn unix(stream: std::os::unix::net::UnixStream) -> io::Result<Stream> {
        stream.set_nonblocking(true)?;
        Ok(Stream::Unix(stream))
    }

    /// The address of the writer, if it has one.
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

    /// Waits until there is something to read, or the end; or, with `to_write`, until something can be written.
    #[cfg(unix)]
    pub(in crate::watch) fn wait(&self, to_write: bool) {
        self.poll(if to_write { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN });
    }

    /// Waits until something can be written, or the other end is closed. Use it after the end of what can be read.
    #[cfg(unix)]
    pub(in crate::watch) fn wait_to_write(&self) {
        self.poll(PollFlags::OUT);
    }

    #[cfg(unix)]
    fn poll(&self, flags: PollFlags) {
        let socket = match self {
            Stream::Tcp(stream) => PollFd::new(stream, flags),
            Stream::Unix(stream) => PollFd::new(stream, flags),
        };
        // An error shows when the connection is used.
        let _ = poll(&mut [socket], None);
    }

    /// On other systems, this only waits for some time.
    #[cfg(not(unix))]
    pub(in crate::watch) fn wait(&self, _to_write: bool) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }

    #[cfg(not(unix))]
    pub(in crate::watch) fn wait_to_write(&self) {
        self.wait(true);
    }

    /// Returns true if closing a connection before all was read loses the last written data: TCP drops data that was
    /// not sent yet.
    pub(in crate::watch) fn loses_when_reset(&self) -> bool {
        matches!(self, Stream::Tcp(_))
    }

    /// Closes the connection for reading, so that reads reach the end.
    pub(in crate::watch) fn end_reading(&self) {
        self.shutdown(Shutdown::Read);
    }

    pub(in crate::watch) fn close(&self) {
        self.shutdown(Shutdown::Both);
    }

    fn shutdown(&self, how: Shutdown) {
        // A client that has disconnected needs no answer.
        let _ = match self {
            Stream::Tcp(stream) => stream.shutdown(how),
            #[cfg(unix)]
            Stream::Unix(stream) => stream.shutdown(how),
        };
    }
}
