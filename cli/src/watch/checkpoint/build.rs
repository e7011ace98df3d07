//! Identifies the build of histcheck: only the same program can load a checker's saved state.

use crate::judge::program;
use flate2::Crc;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// A program, identified by its version and a checksum of its file: two builds of one version may save different
/// states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Build {
    pub(super) version: String,
    pub(super) sum: u32,
    pub(super) bytes: u64,
}

history_core::state!(struct Build { version, sum, bytes });

impl Build {
    /// The running program.
    ///
    /// # Errors
    ///
    /// If its file cannot be read.
    pub(super) fn this() -> io::Result<Build> {
        Build::of(&program::path()?)
    }

    fn of(path: &Path) -> io::Result<Build> {
        let (mut file, mut sum, mut piece) = (File::open(path)?, Crc::new(), vec![0; 1 << 16]);
        let mut bytes = 0;
        loop {
            let read = file.read(&mut piece)?;
            if read == 0 {
                return Ok(Build { version: env!("CARGO_PKG_VERSION").to_owned(), sum: sum.sum(), bytes });
            }
            sum.update(&piece[..read]);
            bytes += u64::try_from(read).unwrap_or(u64::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_file_is_another_build() {
        let dir = tempfile::tempdir().unwrap();
        let of = |bytes: &[u8]| {
            let path = dir.path().join("program");
            std::fs::write(&path, bytes).unwrap();
            Build::of(&path).unwrap()
        };
        let long = vec![7; 100_000];
        assert_eq!(of(&long), of(&long));
        assert_ne!(of(&long), of(&long[1..]));
        assert_ne!(of(b"one"), of(b"two"));
        assert!(Build::of(dir.path()).is_err());
        assert_eq!(Build::this().unwrap(), Build::this().unwrap());
    }
}
