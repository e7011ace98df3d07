//! What is known once all ops were decoded.

use super::Holds;
use super::rows::Rows;
use super::versions::{VersionId, Versions};
use crate::level::Level;
use history_core::{Datum, Interner};

/// What is asked of a history.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The levels to decide; all, if nobody named any.
    pub(crate) levels: Vec<Level>,
    pub(crate) initial: Datum,
    pub(crate) witnesses_max: usize,
    /// Whether to print the order that explains a level that holds.
    pub(crate) explain_valid: bool,
}

/// How many ops of each kind there were.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) ok: u64,
    pub(crate) fail: u64,
    pub(crate) info: u64,
}

/// A history as columns.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) settings: Settings,
    pub(crate) interner: Interner,
    pub(crate) versions: Versions,
    pub(crate) rows: Rows,
    /// For each key of lists, the longest read.
    pub(crate) trunks: Vec<Vec<VersionId>>,
    pub(crate) holds: Option<Holds>,
    pub(crate) counts: Counts,
}
