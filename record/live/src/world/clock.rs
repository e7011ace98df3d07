//! Clocks of nodes, which can be set: libfaketime between a program and the system's clock.
//!
//! A program's clock is late or early while a file says so, and its monotonic clock is never touched. Not every program
//! takes that: Debian's Redis does not start with it, for its allocator asks for the time before the library is ready, and
//! programs in Go do not call the library that is replaced.

use crate::error::LiveError;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the files are.
const CLOCKS: &str = "/run/clocks";
/// How late a clock is during the fault, in seconds.
const LATE: &str = "-3600";

/// The clocks of all nodes.
pub(crate) struct Clocks {
    library: PathBuf,
    files: Vec<PathBuf>,
}

impl Clocks {
    /// A clock for each node, which is right.
    pub(super) fn new(nodes: &[String]) -> Result<Clocks, LiveError> {
        let library = library().ok_or_else(|| {
            LiveError::Unsupported("the fault clock needs libfaketime: install the package libfaketime".to_owned())
        })?;
        fs::create_dir_all(CLOCKS).map_err(|source| LiveError::Write { path: CLOCKS.into(), source })?;
        let files = nodes.iter().map(|node| Path::new(CLOCKS).join(node)).collect();
        let clocks = Clocks { library, files };
        clocks.heal()?;
        Ok(clocks)
    }

    /// What to put before a command so that it goes by the node's clock.
    pub(crate) fn before(&self, node: usize) -> Vec<String> {
        vec![
            "env".to_owned(),
            format!("LD_PRELOAD={}", self.library.display()),
            format!("FAKETIME_TIMESTAMP_FILE={}", self.files[node].display()),
            "FAKETIME_NO_CACHE=1".to_owned(),
            "DONT_FAKE_MONOTONIC=1".to_owned(),
        ]
    }

    /// The clock of this node is an hour late from now on.
    pub(crate) fn set_late(&self, node: usize) -> Result<(), LiveError> {
        write(&self.files[node], LATE)
    }

    /// All clocks are right from now on.
    pub(crate) fn heal(&self) -> Result<(), LiveError> {
        self.files.iter().try_for_each(|file| write(file, "+0"))
    }
}

fn write(path: &Path, offset: &str) -> Result<(), LiveError> {
    // A reader must not see an empty file: the new one takes the place of the old one.
    let new = path.with_extension("new");
    fs::write(&new, format!("{offset}\n"))
        .and_then(|()| fs::rename(&new, path))
        .map_err(|source| LiveError::Write { path: path.to_owned(), source })
}

/// The library, in the directory of whichever architecture this is.
fn library() -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir("/usr/lib")
        .ok()?
        .flatten()
        .map(|entry| entry.path().join("faketime/libfaketimeMT.so.1"))
        .filter(|path| path.exists())
        .collect();
    found.sort_unstable();
    found.into_iter().next()
}
