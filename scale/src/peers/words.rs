//! The messages between processes while they work: one byte each.

use history_core::cast::Cast as _;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// A heartbeat.
pub(super) const ALIVE: u8 = b'.';
/// From another process: it is done. From the first one: all are done.
pub(super) const DONE: u8 = b'd';
/// The process ends without a result. The reason follows, after its length.
pub(super) const END: u8 = b'e';

/// The maximum length of a reason in bytes.
const REASON_BYTES_MAX: usize = 4096;
/// How long to wait for a process that does not read the reason.
const PATIENCE: Duration = Duration::from_secs(1);

/// Sends a process the reason why this one ends.
pub(super) fn tell_end(stream: &mut TcpStream, why: &str) -> io::Result<()> {
    let why = &why.as_bytes()[..why.floor_char_boundary(REASON_BYTES_MAX)];
    let mut message = vec![END];
    message.extend_from_slice(&why.len().to_u32().to_le_bytes());
    message.extend_from_slice(why);
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(&message)
}

/// Reads the reason of another process, after its first byte.
pub(super) fn reason(stream: &mut TcpStream) -> io::Result<String> {
    let mut len = [0; 4];
    stream.read_exact(&mut len)?;
    let mut text = vec![0; u32::from_le_bytes(len).to_usize().min(REASON_BYTES_MAX)];
    stream.read_exact(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
