//! A connection with MariaDB's protocol: version 10, text queries, without a password.
//!
//! The handshake has at most one question and one response, and every response is a sequence of packets, so this takes
//! less code than the crate `mysql`, which needs 87 other crates.

use crate::dial::{Stream, dial};
use crate::store::sql::{Answer, QueryError, Session};
use std::io::{self, BufReader, Read as _, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

/// The capabilities of this client: long passwords, rows that are found count as changed, a database in the handshake,
/// protocol 4.1, transactions, authentication 4.1, authentication by name.
const CAPABILITIES: u32 = 0x1 | 0x2 | 0x8 | 0x200 | 0x2000 | 0x8000 | 0x0008_0000;
/// A packet of this length is continued in the next one.
const LENGTH_MAX: usize = 0x00ff_ffff;
/// The character set utf8mb4.
const CHARACTERS: u8 = 45;

/// A connection to a server.
pub(super) struct Connection {
    stream: BufReader<Stream>,
    /// The number of the next packet.
    number: u8,
}

impl Connection {
    /// Connects as the user `root` to this database, or to none.
    pub(super) fn open(
        address: SocketAddr,
        database: &str,
        connect: Duration,
        timeout: Duration,
    ) -> Result<Connection, QueryError> {
        Connection::start(address, database, connect, timeout)
            .map_err(|error| QueryError::Lost(format!("{address}: {error}")))?
    }

    fn start(
        address: SocketAddr,
        database: &str,
        connect: Duration,
        timeout: Duration,
    ) -> io::Result<Result<Connection, QueryError>> {
        let stream = dial(address, connect, timeout)?;
        let mut connection = Connection { stream, number: 0 };
        let hello = connection.packet()?;
        if hello.first() == Some(&0xff) {
            return Ok(Err(error(&hello)));
        }
        let mut answer = CAPABILITIES.to_le_bytes().to_vec();
        answer.extend(u32::try_from(LENGTH_MAX).unwrap_or(u32::MAX).to_le_bytes());
        answer.push(CHARACTERS);
        answer.extend([0; 23]);
        // The user, no password, the database, and the authentication method.
        answer.extend(b"root\0\0");
        answer.extend(database.as_bytes());
        answer.extend(b"\0mysql_native_password\0");
        connection.send(&answer)?;
        loop {
            let packet = connection.packet()?;
            match packet.first() {
                Some(0) => return Ok(Ok(connection)),
                Some(0xff) => return Ok(Err(error(&packet))),
                // The server requests another authentication method; without a password the answer is empty.
                Some(0xfe) => connection.send(&[])?,
                _ => return Err(nonsense()),
            }
        }
    }

    fn send(&mut self, body: &[u8]) -> io::Result<()> {
        let length = u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes();
        let mut packet = vec![length[0], length[1], length[2], self.number];
        packet.extend(body);
        self.number = self.number.wrapping_add(1);
        self.stream.get_mut().write_all(&packet)
    }

    fn packet(&mut self) -> io::Result<Vec<u8>> {
        let mut whole = Vec::new();
        loop {
            let mut head = [0; 4];
            self.stream.read_exact(&mut head)?;
            let [low, middle, high, number] = head;
            self.number = number.wrapping_add(1);
            let length = usize::from(low) | usize::from(middle) << 8 | usize::from(high) << 16;
            let from = whole.len();
            whole.resize(from + length, 0);
            self.stream.read_exact(&mut whole[from..])?;
            if length < LENGTH_MAX {
                return Ok(whole);
            }
        }
    }

    fn answer(&mut self, sql: &str) -> io::Result<Result<Answer, QueryError>> {
        self.number = 0;
        let mut command = vec![3];
        command.extend(sql.as_bytes());
        self.send(&command)?;
        let first = self.packet()?;
        match first.first() {
            Some(0xff) => return Ok(Err(error(&first))),
            Some(0) => {
                let (changed, _) = integer(&first[1..]).ok_or_else(nonsense)?;
                return Ok(Ok(Answer { changed: changed.unwrap_or(0), ..Answer::default() }));
            }
            _ => {}
        }
        let columns = integer(&first).and_then(|(columns, _)| columns).ok_or_else(nonsense)?;
        for _ in 0..columns {
            self.packet()?;
        }
        self.packet()?;
        let mut answer = Answer::default();
        loop {
            let packet = self.packet()?;
            match packet.first() {
                Some(0xff) => return Ok(Err(error(&packet))),
                Some(0xfe) if packet.len() < 9 => return Ok(Ok(answer)),
                _ => answer.rows.push(row(&packet, columns).ok_or_else(nonsense)?),
            }
        }
    }
}

impl Session for Connection {
    fn query(&mut self, sql: &str) -> Result<Answer, QueryError> {
        self.answer(sql).unwrap_or_else(|error| Err(QueryError::Lost(error.to_string())))
    }
}

fn nonsense() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "invalid answer of MariaDB")
}

/// An integer of one to nine bytes, or NULL; and the bytes after it.
fn integer(bytes: &[u8]) -> Option<(Option<u64>, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    let length = match first {
        0xfb => return Some((None, rest)),
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        0xff => return None,
        small => return Some((Some(u64::from(*small)), rest)),
    };
    let (number, rest) = rest.split_at_checked(length)?;
    Some((Some(number.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))), rest))
}

fn row(packet: &[u8], columns: u64) -> Option<Vec<Option<String>>> {
    let (mut rest, mut row) = (packet, Vec::new());
    for _ in 0..columns {
        let (length, behind) = integer(rest)?;
        rest = behind;
        row.push(match length {
            None => None,
            Some(length) => {
                let (text, behind) = rest.split_at_checked(usize::try_from(length).ok()?)?;
                rest = behind;
                Some(String::from_utf8_lossy(text).into_owned())
            }
        });
    }
    Some(row)
}

/// An error packet: its number, `#` and the SQLSTATE, a text.
fn error(packet: &[u8]) -> QueryError {
    let code = match packet {
        [_, low, high, ..] => u16::from_le_bytes([*low, *high]),
        _ => 0,
    };
    let text = packet.get(3..).unwrap_or_default();
    let text = if text.first() == Some(&b'#') { text.get(6..).unwrap_or_default() } else { text };
    QueryError::Server { code: code.to_string(), message: String::from_utf8_lossy(text).into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_taken_apart() {
        assert_eq!(integer(&[7, 1]), Some((Some(7), &[1][..])));
        assert_eq!(integer(&[0xfc, 1, 2]), Some((Some(513), &[][..])));
        assert_eq!(integer(&[0xfb]), Some((None, &[][..])));
        assert_eq!((integer(&[0xfd, 1]), integer(&[])), (None, None));
        assert_eq!(row(&[1, b'5', 0xfb], 2), Some(vec![Some("5".to_owned()), None]));
        assert_eq!(row(&[9, b'5'], 1), None);
        let expected = QueryError::Server { code: "1213".into(), message: "Deadlock".into() };
        assert_eq!(error(b"\xff\xbd\x04#40001Deadlock"), expected);
    }
}
