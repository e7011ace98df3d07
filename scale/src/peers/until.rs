//! A connection with a deadline: reads and writes take no longer in total, however slowly data arrives.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Each read and write waits at most for the remaining time. A socket's own timeout would begin again with each call.
pub(super) struct Until<'s> {
    stream: &'s TcpStream,
    end: Instant,
}

impl<'s> Until<'s> {
    /// Limits the time of the connection, until [`Until::done`].
    pub(super) fn new(stream: &'s TcpStream, end: Instant) -> Until<'s> {
        Until { stream, end }
    }

    /// Removes the time limit from the connection.
    pub(super) fn done(self) -> io::Result<()> {
        self.stream.set_read_timeout(None)?;
        self.stream.set_write_timeout(None)
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
