//! Results: verdicts and reports in every format, errors and hints, files, and the exit code.

pub(crate) mod artifacts;
pub(crate) mod diagnose;
pub(crate) mod exit;
pub(crate) mod folder;
pub(crate) mod formats;
pub(crate) mod known;
pub(crate) mod lines;
pub(crate) mod notes;
pub(crate) mod over_time;
#[cfg(feature = "png")]
pub(crate) mod png;
pub(crate) mod policy;
pub(crate) mod results;
pub(crate) mod terminal;
