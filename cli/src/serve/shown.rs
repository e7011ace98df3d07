//! What the page of a run shows, with or without the server.

use std::net::SocketAddr;
use std::path::Path;

/// What is shown, and where.
pub(crate) struct Shown<'a> {
    pub(crate) listen: SocketAddr,
    /// The directory of the run, if it has one: its files and its rows can be seen.
    pub(crate) directory: Option<&'a Path>,
    pub(crate) name: String,
    pub(crate) checkers: &'a str,
    pub(crate) details: String,
}

/// How far a run has come whose ops are judged elsewhere.
#[cfg_attr(not(feature = "serve"), expect(dead_code, reason = "nobody shows it"))]
pub(crate) struct Progressed {
    pub(crate) ops: u64,
    pub(crate) checked: u64,
    pub(crate) open: u64,
    pub(crate) completed: [u64; 3],
    /// How long the operations took that have completed since the last time, in nanoseconds.
    pub(crate) took_ns: Vec<u64>,
    /// Faults that began; without a name, all have ended.
    pub(crate) faults: Vec<Option<String>>,
}
