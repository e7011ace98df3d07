//! A checksum of parts of a file, by which processes detect that their files with one name differ.
//!
//! Files of the same size may have different contents: histories of different runs, or a copy that failed. So pieces
//! are compared that are distributed evenly over the file. A difference between two pieces is not detected; reading the
//! whole of a large file first would take as long as checking it.

#[cfg(feature = "objects")]
use crate::read::objects;
use crate::read::place;
use flate2::Crc;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// The length of a piece in bytes.
const PIECE_BYTES: u64 = 64 << 10;
/// The maximum number of pieces of a file.
const PIECES: u64 = 64;

/// The properties of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sample {
    /// The number of bytes of the file.
    pub bytes: u64,
    /// The checksum of 64 pieces of 64 KiB, with the first and the last one of the file; or of all of a smaller file.
    pub checksum: u32,
}

impl Sample {
    /// Returns the properties of the file of a history. `None` if the history consists of several files, which only one
    /// worker reads. For an object, returns the data from its store: all processes read the same object.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn of(path: impl AsRef<Path>) -> io::Result<Option<Sample>> {
        #[cfg(feature = "objects")]
        if let Some(address) = place::address(path.as_ref()) {
            let object = objects::open(address)?;
            let mut sum = Crc::new();
            sum.update(object.version().as_bytes());
            return Ok(Some(Sample { bytes: object.len(), checksum: sum.sum() }));
        }
        place::file(path.as_ref()).map(|path| Sample::of_file(&path)).transpose()
    }

    fn of_file(path: &Path) -> io::Result<Sample> {
        let mut file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let (mut sum, mut piece) = (Crc::new(), Vec::new());
        for begins in beginnings(bytes) {
            file.seek(SeekFrom::Start(begins))?;
            piece.clear();
            (&mut file).take(PIECE_BYTES).read_to_end(&mut piece)?;
            sum.update(&piece);
        }
        Ok(Sample { bytes, checksum: sum.sum() })
    }
}

/// The beginnings of the pieces in a file of this length.
fn beginnings(bytes: u64) -> Vec<u64> {
    let count = bytes.div_ceil(PIECE_BYTES);
    if count <= PIECES {
        return (0..count).map(|piece| piece * PIECE_BYTES).collect();
    }
    let (last, last_piece) = (bytes - PIECE_BYTES, PIECES - 1);
    (0..PIECES).map(|piece| last / last_piece * piece + last % last_piece * piece / last_piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::cast::Cast as _;

    fn of(bytes: &[u8]) -> Sample {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, bytes).unwrap();
        Sample::of(&path).unwrap().unwrap()
    }

    #[test]
    fn every_byte_of_a_small_file_counts() {
        for len in [0, 1, 1000, PIECE_BYTES, PIECE_BYTES + 1, PIECES * PIECE_BYTES] {
            let bytes = vec![b'x'; len.to_usize()];
            let whole = of(&bytes);
            assert_eq!(whole.bytes, len);
            for at in [0, len / 2, len.saturating_sub(1)].into_iter().filter(|at| *at < len) {
                let mut other = bytes.clone();
                other[at.to_usize()] = b'y';
                assert_ne!(of(&other), whole, "{len} {at}");
            }
        }
    }

    #[test]
    fn pieces_are_spread_over_a_large_file() {
        for bytes in [PIECES * PIECE_BYTES + 1, 100_000_000, 1 << 40, u64::MAX] {
            let all = beginnings(bytes);
            assert_eq!((all.len().to_u64(), all[0], all[63]), (PIECES, 0, bytes - PIECE_BYTES), "{bytes}");
            let even = (bytes - PIECE_BYTES) / (PIECES - 1);
            assert!(all.windows(2).all(|two| (even..=even + 1).contains(&(two[1] - two[0]))), "{bytes}");
        }
        let mut bytes = vec![b'x'; (PIECES * PIECE_BYTES + 100).to_usize()];
        let whole = of(&bytes);
        *bytes.last_mut().unwrap() = b'y';
        assert_ne!(of(&bytes), whole);
    }

    #[test]
    fn only_files_have_samples() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Sample::of(dir.path()).unwrap(), None);
        assert_eq!(Sample::of(dir.path().join("none")).unwrap(), None);
    }
}
