//! Telling formats apart by how a text begins.

use super::blocks::Block;
use super::intervals;
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
    /// Operations as JSON objects, each with the times of its call and its return; in any order. All are read, and kept
    /// as text, before the first op is handed out.
    Intervals,
    /// Jepsen's `history.txt`: a line an op, in columns.
    #[cfg_attr(feature = "serde", serde(rename = "txt"))]
    Table,
}

impl Format {
    /// `"edn"`, `"json"`, `"intervals"`, `"txt"`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Edn => "edn",
            Format::Json => "json",
            Format::Intervals => "intervals",
            Format::Table => "txt",
        }
    }

    /// The format of this name, or of a file that ends so: `"edn"`, `"json"`, `"jsonl"`, `"ndjson"`, `"intervals"`,
    /// `"txt"`, `"log"`.
    pub(crate) fn from_name(name: &str) -> Option<Format> {
        Some(match name {
            "edn" => Format::Edn,
            "json" | "jsonl" | "ndjson" => Format::Json,
            "intervals" => Format::Intervals,
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

/// The format of a text that begins like this block.
pub(crate) fn format(text: &str, block: &Block) -> Result<Sniffed, HistoryError> {
    let space = |c: char| matches!(c, ' ' | '\n' | '\r' | '\t' | ',');
    let unread = &text[block.start..];
    let from = unread.trim_start_matches(space);
    // What encloses the ops is alike in EDN and JSON.
    let inside = from.strip_prefix('[').map(|inside| inside.trim_start_matches(space));
    let mut chars = inside.unwrap_or(from).chars();
    let found = match chars.next() {
        Some('(' | '#' | ';') => Some(Format::Edn),
        Some('{') => match chars.find(|c| !space(*c)) {
            Some('"' | '}') => match intervals::begins(inside.unwrap_or(from)) {
                Some(true) => Some(Format::Intervals),
                None if !block.last => None,
                Some(false) | None => Some(Format::Json),
            },
            Some(_) => Some(Format::Edn),
            None => None,
        },
        Some(']') if inside.is_some() => Some(Format::Json),
        Some(_) => match from.find('\n') {
            Some(end) if table::begins(&from.as_bytes()[..end]) => Some(Format::Table),
            Some(_) => {
                let at = block.start + unread.len() - from.len();
                return Err(unknown().at(block.place_of(text, at).position()));
            }
            None => None,
        },
        None => None,
    };
    match found {
        Some(format) => Ok(Sniffed::Known(format)),
        // An array or a map that was begun: let its reader say what is missing.
        None if block.last && inside == Some("") => Ok(Sniffed::Known(Format::Json)),
        None if block.last && !from.is_empty() => Ok(Sniffed::Known(Format::Edn)),
        None if block.last => {
            Err(HistoryError::new(ErrorKind::NotAnOp, "it contains no op").expected(crate::batch::OP))
        }
        None => Ok(Sniffed::More(unread.len() - unread.trim_start_matches([' ', '\n', '\r', '\t']).len())),
    }
}

fn unknown() -> HistoryError {
    HistoryError::new(ErrorKind::Syntax, "unknown history format").expected(
        "ops as maps in EDN or JSON (one after another, one per line, or in one array), or the columns of history.txt",
    )
}
