//! Telling formats apart by how a text begins.

use crate::error::{ErrorKind, HistoryError};

/// How a history is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Op maps as EDN: one after another, or in one vector or list.
    Edn,
    /// Op objects as JSON: an array, one after another, or one a line.
    Json,
    /// Jepsen's `history.txt`: a line an op, in columns.
    Table,
}

impl Format {
    /// `"edn"`, `"json"`, `"txt"`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Edn => "edn",
            Format::Json => "json",
            Format::Table => "txt",
        }
    }
}

/// The format of a text that begins so; `None` where more of it must be seen first.
pub(super) fn format(text: &str, at_end: bool) -> Result<Option<Format>, HistoryError> {
    let mut rest = text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t', ',']);
    // What encloses the ops is alike in EDN and JSON.
    if let Some(inside) = rest.strip_prefix('[') {
        rest = inside.trim_start();
        if rest.starts_with(']') {
            return Ok(Some(Format::Json));
        }
    }
    let mut chars = rest.chars();
    let found = match chars.next() {
        Some('(' | '#' | ';') => Some(Format::Edn),
        Some('{') => match chars.find(|c| !c.is_whitespace() && *c != ',') {
            Some('"' | '}') => Some(Format::Json),
            Some(_) => Some(Format::Edn),
            None => None,
        },
        Some(_) => match rest.find('\n') {
            Some(end) if rest[..end].contains('\t') => Some(Format::Table),
            Some(_) => return Err(unknown()),
            None => None,
        },
        None => None,
    };
    if found.is_none() && at_end {
        return Err(unknown());
    }
    Ok(found)
}

fn unknown() -> HistoryError {
    HistoryError::new(ErrorKind::Syntax, "this is not a history in any format known here").expected(
        "op maps in EDN or JSON (one after another, one a line, or in one array), or the columns of history.txt",
    )
}
