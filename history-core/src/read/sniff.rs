//! Telling formats apart by how a text begins.

use crate::error::{ErrorKind, HistoryError};
use crate::syntax::table;

/// How a history is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Format {
    /// Op maps as EDN: one after another, or in one vector or list.
    Edn,
    /// Op objects as JSON: an array, one after another, or one a line.
    Json,
    /// Jepsen's `history.txt`: a line an op, in columns.
    #[cfg_attr(feature = "serde", serde(rename = "txt"))]
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

    /// The format of this name, or of a file that ends so: `"edn"`, `"json"`, `"jsonl"`, `"ndjson"`, `"txt"`, `"log"`.
    pub fn from_name(name: &str) -> Option<Format> {
        Some(match name {
            "edn" => Format::Edn,
            "json" | "jsonl" | "ndjson" => Format::Json,
            "txt" | "log" => Format::Table,
            _ => return None,
        })
    }
}

/// What the first bytes of a text say of its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sniffed {
    Known(Format),
    /// More of it must be seen first; so much of it is white space.
    More(usize),
}

/// The format of a text that begins so.
pub(crate) fn format(text: &str, at_end: bool) -> Result<Sniffed, HistoryError> {
    let space = |c: char| matches!(c, ' ' | '\n' | '\r' | '\t' | ',');
    let start = text.find(|c| !space(c)).unwrap_or(text.len());
    let mut rest = &text[start..];
    // What encloses the ops is alike in EDN and JSON.
    let array = rest.strip_prefix('[');
    if let Some(inside) = array {
        rest = inside.trim_start_matches(space);
    }
    let mut chars = rest.chars();
    let found = match chars.next() {
        Some('(' | '#' | ';') => Some(Format::Edn),
        Some('{') => match chars.find(|c| !space(*c)) {
            Some('"' | '}') => Some(Format::Json),
            Some(_) => Some(Format::Edn),
            None => None,
        },
        Some(']') if array.is_some() => Some(Format::Json),
        Some(_) if array.is_some() => return Err(unknown()),
        Some(_) => match rest.find('\n') {
            Some(end) if table::is_line(&rest.as_bytes()[..end]) => Some(Format::Table),
            Some(_) => return Err(unknown()),
            None => None,
        },
        None => None,
    };
    match found {
        Some(format) => Ok(Sniffed::Known(format)),
        // An array or a map that was begun: let its reader say what is missing.
        None if at_end && !rest.is_empty() => Ok(Sniffed::Known(Format::Edn)),
        None if at_end && array.is_some() => Ok(Sniffed::Known(Format::Json)),
        None if at_end => Err(HistoryError::new(ErrorKind::NotAnOp, "there is no op in it").expected(crate::batch::OP)),
        None => Ok(Sniffed::More(text.len() - text.trim_start_matches([' ', '\n', '\r', '\t']).len())),
    }
}

fn unknown() -> HistoryError {
    HistoryError::new(ErrorKind::Syntax, "this is not a history in any format known here").expected(
        "op maps in EDN or JSON (one after another, one a line, or in one array), or the columns of history.txt",
    )
}
