//! A connection with RESP, Redis' protocol.
//!
//! It distinguishes a failure to connect, where nothing was sent, from one after the first byte: the outcome of an
//! operation depends on that.

use crate::dial::{Stream, dial};
use history_core::cast::Cast as _;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

/// The response of a server.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Text(String),
    Error(String),
    Integer(i64),
    Nil,
    List(Vec<Answer>),
}

/// The maximum length of a text in bytes, and of a list in items: anything longer is not a response to these requests.
const LENGTH_MAX: usize = 64 << 20;
/// The maximum nesting depth of lists.
const DEPTH_MAX: u32 = 8;

/// A connection to a server.
pub(super) struct Connection {
    stream: BufReader<Stream>,
}

impl Connection {
    /// Connects.
    pub(super) fn open(address: SocketAddr, timeout: Duration) -> io::Result<Connection> {
        let stream = dial(address, timeout, timeout)?;
        Ok(Connection { stream })
    }

    /// Sends a command and waits for its response.
    pub(super) fn call(&mut self, command: &[&str]) -> io::Result<Answer> {
        use std::fmt::Write as _;
        let mut text = format!("*{}\r\n", command.len());
        for part in command {
            _ = write!(text, "${}\r\n{part}\r\n", part.len());
        }
        self.stream.get_mut().write_all(text.as_bytes())?;
        self.answer(DEPTH_MAX)
    }

    fn answer(&mut self, depth: u32) -> io::Result<Answer> {
        let mut line = String::new();
        (&mut self.stream).take(LENGTH_MAX.to_u64()).read_line(&mut line)?;
        let Some(line) = line.strip_suffix("\r\n").filter(|line| !line.is_empty()) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let (kind, rest) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
        Ok(match (kind, rest) {
            ("+", text) => Answer::Text(text.to_owned()),
            ("-", text) => Answer::Error(text.to_owned()),
            (":", number) => Answer::Integer(number.parse().map_err(|_| nonsense(line))?),
            ("$" | "*", "-1") | ("_", _) => Answer::Nil,
            ("$", length) => {
                let mut bytes = vec![0; self::length(length, line)? + 2];
                self.stream.read_exact(&mut bytes)?;
                bytes.truncate(bytes.len() - 2);
                Answer::Text(String::from_utf8_lossy(&bytes).into_owned())
            }
            ("*", count) if depth > 0 => {
                let count = length(count, line)?;
                Answer::List((0..count).map(|_| self.answer(depth - 1)).collect::<io::Result<_>>()?)
            }
            _ => return Err(nonsense(line)),
        })
    }
}

fn length(text: &str, line: &str) -> io::Result<usize> {
    text.parse().ok().filter(|length| *length <= LENGTH_MAX).ok_or_else(|| nonsense(line))
}

fn nonsense(line: &str) -> io::Error {
    let line: String = line.chars().take(100).collect();
    io::Error::new(io::ErrorKind::InvalidData, format!("invalid answer of Redis: {line:?}"))
}
