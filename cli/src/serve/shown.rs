//! The content of the page of a run, with or without the server.

use std::net::SocketAddr;
use std::path::Path;

/// The content, and where to show it.
pub(crate) struct Shown<'a> {
    pub(crate) listen: SocketAddr,
    /// The directory of the run, if it has one. The page shows its files and the rows of its history.
    pub(crate) directory: Option<&'a Path>,
    pub(crate) name: String,
    pub(crate) checkers: &'a str,
    pub(crate) details: String,
}

/// The progress of a run whose ops are checked in another process.
#[cfg_attr(not(feature = "serve"), expect(dead_code, reason = "nobody shows it"))]
pub(crate) struct Progressed {
    pub(crate) ops: u64,
    pub(crate) checked: u64,
    pub(crate) open: u64,
    pub(crate) completed: [u64; 3],
    /// The latencies of the operations completed since the last update, in nanoseconds.
    pub(crate) took_ns: Vec<u64>,
    /// The faults that began. An entry without a name means that all faults have ended.
    pub(crate) faults: Vec<Option<String>>,
}
