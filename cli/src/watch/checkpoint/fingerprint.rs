//! Recognizes a file that was read before: by its first bytes, and those before the position.

use crate::watch::follow::text_at;
use flate2::Crc;
use std::fs::File;
use std::io;

/// The number of bytes that are compared on each side.
const COMPARED: u64 = 64 << 10;

/// A file up to a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    /// The position of the next op in bytes.
    pub(super) byte: u64,
    /// The checksum of the first bytes of the part that was read, and that of its last bytes.
    first: u32,
    last: u32,
}

history_core::state!(struct Fingerprint { byte, first, last });

impl Fingerprint {
    /// # Errors
    ///
    /// If the file cannot be read, or is shorter than `byte`.
    pub(super) fn of(file: &File, byte: u64) -> io::Result<Fingerprint> {
        let sum = |from: u64, to: u64| {
            let bytes = text_at(file, from, to - from)?;
            if u64::try_from(bytes.len()).ok() != Some(to - from) {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
            }
            let mut sum = Crc::new();
            sum.update(&bytes);
            Ok(sum.sum())
        };
        let first = sum(0, byte.min(COMPARED))?;
        let last = sum(byte.saturating_sub(COMPARED), byte)?;
        Ok(Fingerprint { byte, first, last })
    }
}
