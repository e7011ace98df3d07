//! The data of a page.

use super::gather::{Around, Gathered};
use history_core::{About, HistoryError, Report};

/// The maximum number of characters of a text, unless stated otherwise.
pub(super) const CHARS_MAX: usize = 600;

/// The data about a history.
pub(super) struct Facts<'a> {
    pub(super) name: &'a str,
    pub(super) judged: Result<&'a Report, &'a HistoryError>,
    /// The consistency levels given with `-c`.
    pub(super) asked: Option<&'a str>,
    /// The checker's own description.
    pub(super) about: &'a About,
    pub(super) gathered: &'a Gathered,
    /// The error of reading the history once more, if there was one.
    pub(super) unread: Option<String>,
    /// The operations for each witness, in the order of [`super::gather::witnesses`]. For a history without witnesses,
    /// its beginning.
    pub(super) around: Vec<Around>,
}
