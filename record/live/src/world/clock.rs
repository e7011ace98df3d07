//! The clock of a node, which can be set: libfaketime intercepts calls between a program and the system's clock.
//!
//! A file determines whether a program's clock is late or early; its monotonic clock is never changed. Not every
//! program supports that: Debian's Redis does not start with it, because its allocator reads the time before the
//! library is ready, and programs in Go do not call the library that is replaced.

use crate::error::LiveError;
use std::fs;
use std::path::{Path, PathBuf};

/// The offset of a late clock in seconds.
const LATE: &str = "-3600";

/// The clock of a node.
pub(super) struct Clock {
    library: PathBuf,
    file: PathBuf,
}

impl Clock {
    /// A correct clock, controlled by this file.
    pub(super) fn new(file: PathBuf) -> Result<Clock, LiveError> {
        let library = library().ok_or_else(|| {
            LiveError::Unsupported("the fault clock needs libfaketime: install the package libfaketime".to_owned())
        })?;
        let clock = Clock { library, file };
        clock.set(false)?;
        Ok(clock)
    }

    /// The words before a command that make it use this clock.
    pub(super) fn before(&self) -> Vec<String> {
        vec![
            "env".to_owned(),
            format!("LD_PRELOAD={}", self.library.display()),
            format!("FAKETIME_TIMESTAMP_FILE={}", self.file.display()),
            "FAKETIME_NO_CACHE=1".to_owned(),
            "DONT_FAKE_MONOTONIC=1".to_owned(),
        ]
    }

    /// Makes the clock an hour late, or correct.
    pub(super) fn set(&self, is_late: bool) -> Result<(), LiveError> {
        let offset = if is_late { LATE } else { "+0" };
        // A reader must not see an empty file, so a new file replaces the old one.
        let new = self.file.with_extension("new");
        fs::write(&new, format!("{offset}\n"))
            .and_then(|()| fs::rename(&new, &self.file))
            .map_err(|source| LiveError::Write { path: self.file.clone(), source })
    }
}

/// The library, in the directory for this machine's architecture.
fn library() -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir("/usr/lib")
        .ok()?
        .flatten()
        .map(|entry| entry.path().join(Path::new("faketime/libfaketimeMT.so.1")))
        .filter(|path| path.exists())
        .collect();
    found.sort_unstable();
    found.into_iter().next()
}
