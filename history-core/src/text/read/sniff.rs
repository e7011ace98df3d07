//! Detects the format from the beginning of a text.

use super::blocks::Block;
use super::intervals;
use super::peers::{self, Guess};
use crate::error::{ErrorKind, HistoryError};
use crate::text::syntax::table;

/// The format of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Format {
    /// Op maps as EDN: one after another, or in one vector or list.
    Edn,
    /// Op objects as JSON: in an array, one after another, or one per line.
    Json,
    /// Operations as JSON objects, each with the times of its call and its return; in any order. All are read, and kept
    /// as text, before the first op is returned.
    Intervals,
    /// Jepsen's `history.txt`: one op per line, in columns.
    #[cfg_attr(feature = "serde", serde(rename = "txt"))]
    Table,
    /// Plume's and PolySI's text: one read or write per line, `w(3,17,0,5)`. All are read before the first op is
    /// returned.
    Plume,
    /// AWDIT's `test`: one read or write per line, `w 3 17`, and lines of `-` and `=` after transactions and sessions.
    Awdit,
    /// dbcop's bincode of 2019.
    Dbcop,
    /// dbcop's JSON: sessions of transactions.
    #[cfg_attr(feature = "serde", serde(rename = "dbcop-json"))]
    DbcopJson,
    /// dbcop's text: `[x:=1 y==2]`.
    Hist,
    /// Cobra's logs, one after another.
    Cobra,
    /// Chronos's and Aion's JSON: transactions with the timestamps of their store.
    Chronos,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 11] = [
        Format::Edn,
        Format::Json,
        Format::Intervals,
        Format::Table,
        Format::Plume,
        Format::Awdit,
        Format::Dbcop,
        Format::DbcopJson,
        Format::Hist,
        Format::Cobra,
        Format::Chronos,
    ];

    /// Whether it is a format of another checker of transactions: sessions of reads and writes, without invocations.
    pub fn is_of_sessions(self) -> bool {
        !matches!(self, Format::Edn | Format::Json | Format::Intervals | Format::Table)
    }

    /// Whether it is a binary format.
    pub fn is_binary(self) -> bool {
        matches!(self, Format::Dbcop | Format::Cobra)
    }

    /// `"edn"`, `"json"`, `"intervals"`, `"txt"`, `"plume"`, `"awdit"`, `"dbcop"`, `"dbcop-json"`, `"hist"`, `"cobra"`,
    /// `"chronos"`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Edn => "edn",
            Format::Json => "json",
            Format::Intervals => "intervals",
            Format::Table => "txt",
            Format::Plume => "plume",
            Format::Awdit => "awdit",
            Format::Dbcop => "dbcop",
            Format::DbcopJson => "dbcop-json",
            Format::Hist => "hist",
            Format::Cobra => "cobra",
            Format::Chronos => "chronos",
        }
    }

    /// The format with this name, or of a file with this extension: `"edn"`, `"json"`, `"jsonl"`, `"ndjson"`,
    /// `"intervals"`, `"txt"`, `"log"`.
    pub(crate) fn from_name(name: &str) -> Option<Format> {
        Some(match name {
            "edn" => Format::Edn,
            "json" | "jsonl" | "ndjson" => Format::Json,
            "intervals" => Format::Intervals,
            "txt" | "log" => Format::Table,
            "plume" => Format::Plume,
            "awdit" => Format::Awdit,
            "dbcop" | "bincode" => Format::Dbcop,
            "dbcop-json" => Format::DbcopJson,
            "hist" => Format::Hist,
            "cobra" => Format::Cobra,
            "chronos" => Format::Chronos,
            _ => return None,
        })
    }
}

/// The format that the first bytes of a text indicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sniffed {
    Known(Format),
    /// More text is needed first; this many bytes of it are white space.
    More(usize),
}

/// The format of a text that begins like this block.
pub(crate) fn format(text: &str, block: &Block) -> Result<Sniffed, HistoryError> {
    let space = |c: char| matches!(c, ' ' | '\n' | '\r' | '\t' | ',');
    let unread = &text[block.start..];
    let from = unread.trim_start_matches(space);
    // The containers around ops look the same in EDN and JSON.
    let inside = from.strip_prefix('[').map(|inside| inside.trim_start_matches(space));
    let mut chars = inside.unwrap_or(from).chars();
    let found = match chars.next() {
        Some('(' | '#' | ';') => Some(Format::Edn),
        Some('{') => match chars.find(|c| !space(*c)) {
            Some('"' | '}') => match of_object(from, inside) {
                Some(format) => Some(format),
                None => block.last.then_some(Format::Json),
            },
            Some(_) => Some(Format::Edn),
            None => None,
        },
        Some(']') if inside.is_some() => Some(Format::Json),
        Some(_) => {
            let at = block.start + unread.len() - from.len();
            let unknown = || unknown().at(block.place_of(text, at).position());
            match of_line(from, inside) {
                Guess::Is(format) => Some(format),
                Guess::Other => return Err(unknown()),
                Guess::More if block.last && from.starts_with(['-', '=']) => return Err(unknown()),
                Guess::More => None,
            }
        }
        None => None,
    };
    match found {
        Some(format) => Ok(Sniffed::Known(format)),
        // An array or a map that was begun: the reader of its format reports what is missing.
        None if block.last && inside == Some("") => Ok(Sniffed::Known(Format::Json)),
        None if block.last && !from.is_empty() => Ok(Sniffed::Known(Format::Edn)),
        None if block.last => {
            Err(HistoryError::new(ErrorKind::NotAnOp, "it contains no op").expected(crate::ops::row::OP))
        }
        None => Ok(Sniffed::More(unread.len() - unread.trim_start_matches([' ', '\n', '\r', '\t']).len())),
    }
}

/// The format of a text that begins with an object, or with an array whose first element is one. `None` if the object
/// has not ended.
fn of_object(text: &str, inside: Option<&str>) -> Option<Format> {
    match peers::wrapper(text) {
        Guess::Is(format) if inside.is_none() => return Some(format),
        Guess::More if inside.is_none() => return None,
        _ => {}
    }
    intervals::first(inside.unwrap_or(text), |value| match value {
        Some(value) if intervals::is_one(value) => Format::Intervals,
        value => value.and_then(peers::object).unwrap_or(Format::Json),
    })
}

/// The format of a text that begins with anything else.
fn of_line(text: &str, inside: Option<&str>) -> Guess {
    if let Some(nested) = inside.and_then(|inside| inside.strip_prefix('[')) {
        return peers::nested(nested);
    }
    for line in text.split_inclusive('\n') {
        let Some(line) = line.strip_suffix('\n').map(str::trim) else { return Guess::More };
        // A line that ends a transaction or a session does not determine the format.
        if line.is_empty() || line.bytes().all(|b| b == b'-') || line.bytes().all(|b| b == b'=') {
            continue;
        }
        let table = || table::begins(line.as_bytes()).then_some(Format::Table);
        return table().or_else(|| peers::line(line)).map_or(Guess::Other, Guess::Is);
    }
    Guess::More
}

fn unknown() -> HistoryError {
    HistoryError::new(ErrorKind::Syntax, "unknown history format").expected(
        "ops as maps in EDN or JSON (one after another, one per line, or in one array), the columns of history.txt, or a \
         text of another checker",
    )
}
