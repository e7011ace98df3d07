//! Writers that connect: lines from several at one time, each line whole.

use super::inbox::{ARRIVAL_BYTES, Arrival, Door};
use crate::diagnose;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes in one line.
const LINE_BYTES_MAX: u64 = 256 << 20;
/// Writers at one time.
const WRITERS_MAX: usize = 1024;

/// Where writers connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Tcp(SocketAddr),
    #[cfg(unix)]
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => address.fmt(f),
            #[cfg(unix)]
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Address {
    /// From what the user wrote: `127.0.0.1:PORT`, `[::1]:PORT`, `unix:PATH`.
    ///
    /// # Errors
    ///
    /// If it is no address, or one that other machines could write to: nobody asks writers who they are.
    pub(crate) fn parse(text: &str) -> Result<Address, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            #[cfg(unix)]
            return if path.is_empty() { Err("unix: names no path".into()) } else { Ok(Address::Unix(path.into())) };
            #[cfg(not(unix))]
            return Err(format!("{path} cannot be listened on: this system has no sockets with paths"));
        }
        let address = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
        let address: SocketAddr = address.as_deref().unwrap_or(text).parse().map_err(|_| {
            format!("{text} is no address to listen on: say 127.0.0.1:PORT (0 for any free port) or unix:PATH")
        })?;
        if !address.ip().is_loopback() {
            return Err(format!(
                "{text} can be reached from other machines, and writers are not asked who they are: say 127.0.0.1:PORT, and \
                 forward the port if you must"
            ));
        }
        Ok(Address::Tcp(address))
    }
}

/// A socket that is listened on.
pub(super) enum Listener {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(std::os::unix::net::UnixListener, PathBuf),
}

type Stream = Box<dyn Read + Send>;

/// Removes a socket's file when nobody listens any more.
pub(super) struct Unlink(PathBuf);

impl Drop for Unlink {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Listener {
    /// Begins to listen.
    pub(super) fn bind(address: &Address) -> io::Result<Listener> {
        let listener = Listener::bound(address)?;
        // Where it can be waited for in another way, nobody is to be stuck in `accept`.
        match &listener {
            Listener::Tcp(listener) => listener.set_nonblocking(cfg!(unix))?,
            #[cfg(unix)]
            Listener::Unix(listener, _) => listener.set_nonblocking(true)?,
        }
        Ok(listener)
    }

    fn bound(address: &Address) -> io::Result<Listener> {
        match address {
            Address::Tcp(address) => TcpListener::bind(address).map(Listener::Tcp),
            #[cfg(unix)]
            Address::Unix(path) => {
                use std::os::unix::net::{UnixListener, UnixStream};
                let bound = UnixListener::bind(path).or_else(|error| {
                    // What nobody listens on was left behind by someone who could not remove it.
                    let kind = std::fs::symlink_metadata(path).map(|found| found.file_type());
                    let is_socket = kind.is_ok_and(|kind| std::os::unix::fs::FileTypeExt::is_socket(&kind));
                    if error.kind() == io::ErrorKind::AddrInUse && !is_socket {
                        let said = "there is something that is no socket; give another path, or remove it";
                        return Err(io::Error::new(io::ErrorKind::AddrInUse, said));
                    }
                    let left_behind = error.kind() == io::ErrorKind::AddrInUse
                        && UnixStream::connect(path)
                            .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
                    if !left_behind {
                        return Err(error);
                    }
                    std::fs::remove_file(path)?;
                    UnixListener::bind(path)
                })?;
                Ok(Listener::Unix(bound, path.clone()))
            }
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

    /// What is to be kept as long as anybody listens.
    pub(super) fn unlink(&self) -> Option<Unlink> {
        match self {
            Listener::Tcp(_) => None,
            #[cfg(unix)]
            Listener::Unix(_, path) => Some(Unlink(path.clone())),
        }
    }

    fn accept(&self) -> io::Result<Stream> {
        Ok(match self {
            Listener::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                // Some systems hand it on from the listener.
                stream.set_nonblocking(false)?;
                Box::new(stream)
            }
            #[cfg(unix)]
            Listener::Unix(listener, _) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                Box::new(stream)
            }
        })
    }

    /// Lets the next one in who connects, and counts it.
    fn let_in(&self, count: &Mutex<usize>) -> io::Result<Stream> {
        // Nobody is taken from those who wait without being counted at once: whoever leaves looks at both.
        #[cfg(unix)]
        self.poll(None)?;
        #[cfg(unix)]
        let mut count = count.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = self.accept()?;
        #[cfg(not(unix))]
        let mut count = count.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        Ok(stream)
    }

    /// Waits until somebody wants to be let in, or just looks. Whether there is somebody.
    #[cfg(unix)]
    fn poll(&self, within: Option<&rustix::event::Timespec>) -> io::Result<bool> {
        use rustix::event::{PollFd, PollFlags, poll};
        let socket = match self {
            Listener::Tcp(listener) => PollFd::new(listener, PollFlags::IN),
            Listener::Unix(listener, _) => PollFd::new(listener, PollFlags::IN),
        };
        Ok(poll(&mut [socket], within)? > 0)
    }

    /// Whether somebody has connected who was not yet let in. Not every system can tell.
    fn has_callers(&self) -> bool {
        #[cfg(unix)]
        return self.poll(Some(&rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap_or(false);
        #[cfg(not(unix))]
        false
    }

    /// Brings the lines of all who connect. The history ends when the last of them is gone, if that is asked for.
    pub(super) fn run(self, door: &Door, until_closed: bool) {
        let writers =
            Arc::new(Writers { listener: self, count: Mutex::new(0), door: Mutex::new(door.clone()), until_closed });
        let mut number = 0_u64;
        loop {
            let stream = match writers.listener.let_in(&writers.count) {
                Ok(stream) => stream,
                Err(error) if is_passing(&error) => continue,
                Err(error) => {
                    let _ = door.send(Arrival::Failed(error));
                    return;
                }
            };
            number += 1;
            if *writers.count.lock().unwrap_or_else(PoisonError::into_inner) > WRITERS_MAX {
                writers.leave();
                diagnose::warning(&format!("writer {number} was turned away: {WRITERS_MAX} are connected"));
                continue;
            }
            let (writers, door) = (Arc::clone(&writers), door.clone());
            std::thread::spawn(move || {
                if let Err(why) = bring_lines(stream, &door) {
                    diagnose::warning(&format!("writer {number}: {why}"));
                }
                writers.leave();
            });
        }
    }
}

/// An error of one who wanted to connect, not of the socket.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::WouldBlock
    )
}

struct Writers {
    listener: Listener,
    /// Those who were let in.
    count: Mutex<usize>,
    door: Mutex<Door>,
    until_closed: bool,
}

impl Writers {
    /// One of them is gone. Who had connected by then, and waits to be let in, is no less there than the others.
    fn leave(&self) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count -= 1;
        if self.until_closed && *count == 0 && !self.listener.has_callers() {
            let door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = door.send(Arrival::End);
        }
    }
}

/// Brings whole lines, as many at a time as are there.
fn bring_lines(stream: impl Read, door: &Door) -> Result<(), String> {
    let mut stream = BufReader::with_capacity(ARRIVAL_BYTES, stream);
    loop {
        let mut text = Vec::new();
        let read = (&mut stream).take(LINE_BYTES_MAX).read_until(b'\n', &mut text);
        let failed = read.err();
        if text.is_empty() && failed.is_none() {
            return Ok(());
        }
        if text.last() != Some(&b'\n') {
            if text.len() as u64 == LINE_BYTES_MAX {
                return Err(format!(
                    "a line is longer than {LINE_BYTES_MAX} bytes; the rest of what it wrote is not read"
                ));
            }
            // A whole op may lack its newline; half of one is nobody's.
            let whole = text.trim_ascii_end().last().is_none_or(|last| matches!(last, b'}' | b']'));
            text.push(b'\n');
            let lost = text.len() - 1;
            if whole && failed.is_none() {
                let _ = door.send(Arrival::Text(text));
                return Ok(());
            }
            let why = failed.map_or("it closed its connection within a line".to_owned(), |error| error.to_string());
            return Err(format!("{why}; the last {lost} bytes, which are no whole line, were left out"));
        }
        let more = stream.buffer();
        if let Some(end) = more.iter().rposition(|byte| *byte == b'\n') {
            text.extend_from_slice(&more[..=end]);
            stream.consume(end + 1);
        }
        if door.send(Arrival::Text(text)).is_err() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::inbox::inbox;
    use super::*;

    /// What one writer's text comes to, and what is said of it.
    fn bring(text: &[u8]) -> (String, Result<(), String>) {
        let (door, mut inbox) = inbox();
        let said = bring_lines(text, &door);
        drop(door);
        let mut all = String::new();
        inbox.read_to_string(&mut all).unwrap();
        (all, said)
    }

    #[test]
    fn lines_come_whole_or_not_at_all() {
        assert_eq!(bring(b"{\"a\":1}\n{}\n"), ("{\"a\":1}\n{}\n".into(), Ok(())));
        assert_eq!(bring(b"{}\n{}"), ("{}\n{}\n".into(), Ok(())), "the last newline may be missing");
        let (all, said) = bring(b"{}\n{\"a\":");
        assert_eq!(all, "{}\n");
        assert!(said.unwrap_err().contains("the last 5 bytes"));
    }

    #[test]
    fn addresses_are_this_machines() {
        assert_eq!(Address::parse("127.0.0.1:80"), Ok(Address::Tcp(([127, 0, 0, 1], 80).into())));
        assert_eq!(Address::parse("localhost:0"), Ok(Address::Tcp(([127, 0, 0, 1], 0).into())));
        assert!(Address::parse("[::1]:80").is_ok());
        assert!(Address::parse("0.0.0.0:80").unwrap_err().contains("other machines"));
        assert!(Address::parse("80").unwrap_err().contains("no address"));
        #[cfg(unix)]
        assert_eq!(Address::parse("unix:/run/h"), Ok(Address::Unix("/run/h".into())));
        #[cfg(unix)]
        assert!(Address::parse("unix:").is_err());
    }
}
