//! Connections to servers, with a limit on every wait, from the address of the calling thread.
//!
//! A partition leaves connections without any response: each read has a limit, and checks whether the run is over.

use crate::run::patience::{LOOK, Patience};
use std::cell::Cell;
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

thread_local! {
    /// The address from which this thread connects to proxies; if `None`, the system chooses.
    static SOURCE: Cell<Option<IpAddr>> = const { Cell::new(None) };
}

/// The byte that a proxy sends when the server behind it has accepted the connection.
pub(crate) const GREETING: u8 = b'+';

/// Makes this thread connect from this address, to proxies, which send a greeting.
pub(crate) fn dial_from(source: IpAddr) {
    SOURCE.set(Some(source));
}

/// A connection to a server.
pub(crate) struct Stream {
    stream: TcpStream,
    timeout: Duration,
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let patience = Patience::new(self.timeout);
        loop {
            match self.stream.read(buffer) {
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    if patience.rest().is_none() {
                        return Err(error);
                    }
                }
                done => return done,
            }
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// The maximum time that a server may take to accept a connection: a second attempt is cheaper than a long wait.
const CONNECT_MAX: Duration = Duration::from_secs(1);

/// Connects within `connect`, and at most a second; reads and writes then wait at most `timeout`. Nothing was sent if
/// this fails.
pub(crate) fn dial(address: SocketAddr, connect: Duration, timeout: Duration) -> io::Result<BufReader<Stream>> {
    let connect = connect.min(CONNECT_MAX);
    let stream = match SOURCE.get() {
        None => TcpStream::connect_timeout(&address, connect)?,
        Some(source) => greeted(connect_from(source, address, connect)?, connect)?,
    };
    stream.set_read_timeout(Some(timeout.min(LOOK)))?;
    stream.set_write_timeout(Some(timeout))?;
    stream.set_nodelay(true)?;
    Ok(BufReader::new(Stream { stream, timeout }))
}

/// Waits until the proxy has reached its server.
fn greeted(mut stream: TcpStream, most: Duration) -> io::Result<TcpStream> {
    stream.set_read_timeout(Some(most))?;
    let mut greeting = [0];
    stream.read_exact(&mut greeting)?;
    if greeting == [GREETING] { Ok(stream) } else { Err(io::ErrorKind::InvalidData.into()) }
}

/// Connects from this address of this machine.
fn connect_from(source: IpAddr, address: SocketAddr, most: Duration) -> io::Result<TcpStream> {
    use socket2::{Domain, Socket, Type};
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.bind(&SocketAddr::new(source, 0).into())?;
    socket.connect_timeout(&address.into(), most)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener};

    #[test]
    #[cfg(target_os = "linux")]
    fn connections_come_from_the_address_that_was_named() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let source = IpAddr::from([127, 77, 9, 9]);
        let dialled = std::thread::spawn(move || {
            dial_from(source);
            dial(address, Duration::from_secs(5), Duration::from_secs(5)).unwrap()
        });
        let (mut accepted, from) = listener.accept().unwrap();
        assert_eq!(from.ip(), source);
        accepted.write_all(&[GREETING]).unwrap();
        let stream = dialled.join().unwrap();
        assert_eq!(stream.get_ref().stream.local_addr().unwrap().ip(), source);
    }
}
