//! Whether a file is the one of which something was read: its first bytes, and those before the place.

use crate::watch::follow::text_at;
use flate2::Crc;
use std::fs::File;
use std::io;

/// Bytes that are compared, on each side.
const COMPARED: u64 = 64 << 10;

/// A file up to a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    /// Where the next op is read.
    pub(super) byte: u64,
    /// Checksums of the first bytes before that, and of the last.
    first: u32,
    last: u32,
}

history_core::state!(struct Fingerprint { byte, first, last });

impl Fingerprint {
    /// # Errors
    ///
    /// If the file cannot be read, or does not have so many bytes.
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
