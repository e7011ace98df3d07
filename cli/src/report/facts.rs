//! What a page is made of.

use super::gather::{Around, Gathered};
use history_core::{About, HistoryError, Report};

/// Characters of a text, at most, where nothing else is said.
pub(super) const CHARS_MAX: usize = 600;

/// What is known of a history.
pub(super) struct Facts<'a> {
    pub(super) name: &'a str,
    pub(super) judged: Result<&'a Report, &'a HistoryError>,
    /// The models that `-c` named.
    pub(super) asked: Option<&'a str>,
    /// What the checker says about itself.
    pub(super) about: &'a About,
    pub(super) gathered: &'a Gathered,
    /// Why the history could not be read once more.
    pub(super) unread: Option<String>,
    /// For each witness in the order of [`super::gather::witnesses`]; of a history without any, its beginning.
    pub(super) around: Vec<Around>,
}
