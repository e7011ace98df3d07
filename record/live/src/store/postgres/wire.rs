//! A connection with PostgreSQL's protocol: version 3, simple queries, without a password.
//!
//! The crate `postgres` cannot end a query without a response, and a partition causes such queries. Here each read has
//! a limit.

use crate::dial::{Stream, dial};
use crate::store::sql::{Answer, QueryError, Session};
use history_core::cast::Cast as _;
use std::io::{self, BufReader, Read as _, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

/// The maximum length of a message in bytes: anything longer is not a response to these requests.
const LENGTH_MAX: usize = 64 << 20;
/// The version of the protocol.
const VERSION: u32 = 3 << 16;

/// A connection to a server.
pub(super) struct Connection {
    stream: BufReader<Stream>,
}

/// A message of the server: its kind and its content.
type Message = (u8, Vec<u8>);

impl Connection {
    /// Connects as the user `postgres`.
    pub(super) fn open(address: SocketAddr, connect: Duration, timeout: Duration) -> Result<Connection, QueryError> {
        Connection::start(address, connect, timeout).map_err(|error| QueryError::Lost(format!("{address}: {error}")))?
    }

    fn start(address: SocketAddr, connect: Duration, timeout: Duration) -> io::Result<Result<Connection, QueryError>> {
        let stream = dial(address, connect, timeout)?;
        let mut connection = Connection { stream };
        let body = b"user\0postgres\0database\0postgres\0\0";
        let mut message = (body.len() + 8).to_u32().to_be_bytes().to_vec();
        message.extend(VERSION.to_be_bytes());
        message.extend(body);
        connection.stream.get_mut().write_all(&message)?;
        loop {
            match connection.message()? {
                (b'Z', _) => return Ok(Ok(connection)),
                (b'E', body) => return Ok(Err(error(&body))),
                (b'R', body) if body != [0; 4] => {
                    return Err(nonsense("it requires a password"));
                }
                _ => {}
            }
        }
    }

    fn message(&mut self) -> io::Result<Message> {
        let mut head = [0; 5];
        self.stream.read_exact(&mut head)?;
        let [kind, length @ ..] = head;
        let length = u32::from_be_bytes(length).to_usize();
        if !(4..LENGTH_MAX).contains(&length) {
            return Err(nonsense("a message has an impossible length"));
        }
        let mut body = vec![0; length - 4];
        self.stream.read_exact(&mut body)?;
        Ok((kind, body))
    }

    fn answer(&mut self, sql: &str) -> io::Result<Result<Answer, QueryError>> {
        let mut message = vec![b'Q'];
        message.extend((sql.len() + 5).to_u32().to_be_bytes());
        message.extend(sql.as_bytes());
        message.push(0);
        self.stream.get_mut().write_all(&message)?;
        let (mut answer, mut failure) = (Answer::default(), None);
        loop {
            match self.message()? {
                (b'Z', _) => return Ok(failure.map_or(Ok(answer), Err)),
                (b'D', body) => answer.rows.push(row(&body).ok_or_else(|| nonsense("a row is incomplete"))?),
                (b'C', body) => answer.changed = changed(&body),
                // If a commit's wait for a standby was cancelled, it is acknowledged with a warning.
                (b'N', body) if field(&body, b'V').as_deref() == Some("WARNING") => answer.warning = field(&body, b'M'),
                (b'E', body) => failure = Some(error(&body)),
                _ => {}
            }
        }
    }
}

impl Session for Connection {
    fn query(&mut self, sql: &str) -> Result<Answer, QueryError> {
        self.answer(sql).unwrap_or_else(|error| Err(QueryError::Lost(error.to_string())))
    }
}

fn nonsense(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("invalid answer of PostgreSQL: {what}"))
}

/// A field of an error or a notice.
fn field(body: &[u8], kind: u8) -> Option<String> {
    let found = body.split(|byte| *byte == 0).find(|field| field.first() == Some(&kind))?;
    Some(String::from_utf8_lossy(&found[1..]).into_owned())
}

fn error(body: &[u8]) -> QueryError {
    QueryError::Server { code: field(body, b'C').unwrap_or_default(), message: field(body, b'M').unwrap_or_default() }
}

fn row(body: &[u8]) -> Option<Vec<Option<String>>> {
    let (count, mut rest) = body.split_first_chunk::<2>()?;
    let mut row = Vec::new();
    for _ in 0..u16::from_be_bytes(*count) {
        let (length, behind) = rest.split_first_chunk::<4>()?;
        rest = behind;
        row.push(match i32::from_be_bytes(*length) {
            -1 => None,
            length => {
                let (text, behind) = rest.split_at_checked(usize::try_from(length).ok()?)?;
                rest = behind;
                Some(String::from_utf8_lossy(text).into_owned())
            }
        });
    }
    Some(row)
}

/// The number of rows at the end of a command's tag: `UPDATE 1`, `INSERT 0 1`.
fn changed(tag: &[u8]) -> u64 {
    let tag = String::from_utf8_lossy(tag);
    tag.trim_end_matches('\0').rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    #[test]
    fn messages_are_taken_apart() {
        assert_eq!((changed(b"UPDATE 1\0"), changed(b"INSERT 0 3\0"), changed(b"COMMIT\0")), (1, 3, 0));
        let body = b"\0\x02\0\0\0\x015\xff\xff\xff\xff";
        assert_eq!(row(body), Some(vec![Some("5".to_owned()), None]));
        assert_eq!(row(&body[..7]), None);
        let message = b"SERROR\0VERROR\0C40001\0Mno\0\0";
        assert_eq!(error(message), QueryError::Server { code: "40001".into(), message: "no".into() });
    }

    /// A server that sends a prepared response, and then nothing.
    fn server(answer: Vec<u8>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(&answer).unwrap();
            // The connection remains open until the client has ended.
            let _ = io::copy(&mut stream, &mut io::sink());
        });
        address
    }

    const HELLO: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";

    #[test]
    fn a_warning_is_not_a_promise() {
        let notice = b"VWARNING\0C01000\0Mnot replicated\0\0";
        let mut answer = [HELLO, b"N", &u32::try_from(notice.len() + 4).unwrap().to_be_bytes(), notice].concat();
        answer.extend(b"C\0\0\0\x0bCOMMIT\0Z\0\0\0\x05I");
        let limit = Duration::from_secs(5);
        let mut connection = Connection::open(server(answer), limit, limit).ok().unwrap();
        let answer = connection.query("commit").unwrap();
        assert_eq!(answer.warning.as_deref(), Some("not replicated"));
    }

    #[test]
    fn a_server_that_does_not_answer_is_given_up() {
        let limit = Duration::from_secs(5);
        let mut connection = Connection::open(server(HELLO.to_vec()), limit, Duration::from_millis(500)).ok().unwrap();
        assert!(matches!(connection.query("commit"), Err(QueryError::Lost(_))));
    }

    #[test]
    fn a_length_that_is_impossible_is_an_error() {
        let limit = Duration::from_secs(5);
        let Err(error) = Connection::open(server(b"Z\xff\xff\xff\xff".to_vec()), limit, limit) else {
            panic!("it connected")
        };
        assert!(matches!(&error, QueryError::Lost(why) if why.contains("impossible length")), "{error:?}");
    }
}
