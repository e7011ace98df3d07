//! A session of ZooKeeper: its protocol, called jute, as far as registers require it.
//!
//! Numbers are big-endian; texts and bytes are preceded by their length. A request has a number and the kind of its
//! operation; the reply has the number, the transaction and an error code.

use crate::dial::{Stream, dial};
use history_core::cast::Cast as _;
use std::io::{self, BufReader, Read as _, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

/// The time without a request after which a session expires, in milliseconds.
const SESSION: i32 = 4_000;
/// The maximum length of a reply in bytes.
const LENGTH_MAX: usize = 64 << 20;

/// Kinds of operations.
const CREATE: i32 = 1;
const GET_DATA: i32 = 4;
const SET_DATA: i32 = 5;
const GET_CHILDREN: i32 = 8;
const SYNC: i32 = 9;

/// Error codes of replies.
pub(super) const NO_NODE: i32 = -101;
pub(super) const BAD_VERSION: i32 = -103;
pub(super) const NODE_EXISTS: i32 = -110;

/// The reason why there is no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReplyError {
    /// The server returned an error with this code.
    Code(i32),
    /// The connection is lost or too slow.
    Lost(String),
}

impl From<io::Error> for ReplyError {
    fn from(error: io::Error) -> ReplyError {
        ReplyError::Lost(error.to_string())
    }
}

/// A session with a server.
pub(super) struct Session {
    stream: BufReader<Stream>,
    /// The number of the last request.
    number: i32,
}

impl Session {
    /// Opens a session.
    pub(super) fn open(address: SocketAddr, timeout: Duration) -> io::Result<Session> {
        let stream = dial(address, timeout, timeout)?;
        let mut session = Session { stream, number: 0 };
        // The version of the protocol, the last transaction seen, the session's timeout, no previous session, no
        // password.
        let mut hello = [0_i32.to_be_bytes(), [0; 4], [0; 4], SESSION.to_be_bytes(), [0; 4], [0; 4]].concat();
        bytes(&mut hello, &[0; 16]);
        session.send(&hello)?;
        let answer = session.receive()?;
        // A timeout of zero means that the session was rejected.
        let life = answer.get(4..8).and_then(|life| life.try_into().ok()).map_or(0, i32::from_be_bytes);
        if life <= 0 { Err(io::Error::other("the server granted no session")) } else { Ok(session) }
    }

    /// Creates a node.
    pub(super) fn create(&mut self, path: &str, data: &str) -> Result<(), ReplyError> {
        let mut body = Vec::new();
        bytes(&mut body, path.as_bytes());
        bytes(&mut body, data.as_bytes());
        // The access rights: everyone may do everything.
        body.extend(1_i32.to_be_bytes());
        body.extend(31_i32.to_be_bytes());
        bytes(&mut body, b"world");
        bytes(&mut body, b"anyone");
        body.extend([0; 4]);
        self.call(CREATE, &body).map(drop)
    }

    /// The data of a node, and its version.
    pub(super) fn get(&mut self, path: &str) -> Result<(String, i32), ReplyError> {
        let mut body = Vec::new();
        bytes(&mut body, path.as_bytes());
        body.push(0);
        let reply = self.call(GET_DATA, &body)?;
        let parts = text(&reply).and_then(|(data, stat)| {
            let version: [u8; 4] = stat.get(32..36)?.try_into().ok()?;
            Some((data, i32::from_be_bytes(version)))
        });
        parts.ok_or_else(|| nonsense().into())
    }

    /// Sets the data of a node that has this version; -1 means any version.
    pub(super) fn set(&mut self, path: &str, data: &str, version: i32) -> Result<(), ReplyError> {
        let mut body = Vec::new();
        bytes(&mut body, path.as_bytes());
        bytes(&mut body, data.as_bytes());
        body.extend(version.to_be_bytes());
        self.call(SET_DATA, &body).map(drop)
    }

    /// The names of the nodes below a node.
    pub(super) fn children(&mut self, path: &str) -> Result<Vec<String>, ReplyError> {
        let mut body = Vec::new();
        bytes(&mut body, path.as_bytes());
        body.push(0);
        let reply = self.call(GET_CHILDREN, &body)?;
        let mut rest = reply.get(4..).ok_or_else(nonsense)?;
        let mut names = Vec::new();
        while !rest.is_empty() {
            let (name, behind) = text(rest).ok_or_else(nonsense)?;
            names.push(name);
            rest = behind;
        }
        Ok(names)
    }

    /// Waits until the server has its leader's state.
    pub(super) fn sync(&mut self, path: &str) -> Result<(), ReplyError> {
        let mut body = Vec::new();
        bytes(&mut body, path.as_bytes());
        self.call(SYNC, &body).map(drop)
    }

    fn call(&mut self, kind: i32, body: &[u8]) -> Result<Vec<u8>, ReplyError> {
        self.number = self.number.wrapping_add(1) & i32::MAX;
        let mut request = self.number.to_be_bytes().to_vec();
        request.extend(kind.to_be_bytes());
        request.extend(body);
        self.send(&request)?;
        let mut reply = self.receive()?;
        let integer = |from: usize| {
            let bytes = reply.get(from..from + 4).and_then(|bytes| bytes.try_into().ok());
            bytes.map(i32::from_be_bytes).ok_or_else(nonsense)
        };
        if integer(0)? != self.number {
            return Err(nonsense().into());
        }
        match integer(12)? {
            0 => Ok(reply.split_off(16)),
            code => Err(ReplyError::Code(code)),
        }
    }

    fn send(&mut self, body: &[u8]) -> io::Result<()> {
        let mut message = Vec::with_capacity(body.len() + 4);
        bytes(&mut message, body);
        self.stream.get_mut().write_all(&message)
    }

    fn receive(&mut self) -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let length = u32::from_be_bytes(length).to_usize();
        if length > LENGTH_MAX {
            return Err(nonsense());
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(body)
    }
}

/// Writes bytes after their length.
fn bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend(bytes.len().to_u32().to_be_bytes());
    out.extend(bytes);
}

/// A text after its length, and the bytes after it.
fn text(bytes: &[u8]) -> Option<(String, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (text, rest) = rest.split_at_checked(u32::from_be_bytes(*length).to_usize())?;
    Some((String::from_utf8_lossy(text).into_owned(), rest))
}

fn nonsense() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "invalid answer of ZooKeeper")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_their_length_in_front() {
        let mut out = Vec::new();
        bytes(&mut out, b"abc");
        assert_eq!(out, b"\0\0\0\x03abc");
        out.push(7);
        assert_eq!(text(&out), Some(("abc".to_owned(), &[7][..])));
        assert_eq!((text(b"\0\0\0\x04abc"), text(b"\0\0")), (None, None));
    }
}
