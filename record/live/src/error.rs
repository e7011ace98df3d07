//! What can go wrong with a run, beside a violation.

use std::io;
use std::path::PathBuf;

/// Why a run gave no verdict.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// A file of the run could not be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A program could not be started.
    #[error("cannot start {program}: {source}")]
    Start {
        /// The command.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// A part of the store does not work; with the last lines that it wrote to its log.
    #[error("{what}{}", quoted(log))]
    Store {
        /// What happened, in a sentence.
        what: String,
        /// The last lines of its log, if it has one.
        log: String,
    },
    /// A client does not keep to the protocol.
    #[error("{who} answered {answer}: expected {expected}")]
    Protocol {
        /// Which client or node.
        who: String,
        /// What it wrote, shortened.
        answer: String,
        /// What was expected in its place.
        expected: String,
    },
    /// A client answered once too often, so operations may have the answers of others: what was recorded shows nothing.
    #[error(
        "{who} answered {answer} without a request: answers may belong to other operations, so there is no verdict"
    )]
    Surplus {
        /// Which client.
        who: String,
        /// What it wrote, shortened.
        answer: String,
    },
    /// The history is not one that the checker can check.
    #[error("the checker cannot check this history: {0}")]
    History(#[from] history_core::HistoryError),
    /// Nothing was tested, so there is nothing to say.
    #[error("{0}")]
    Nothing(String),
    /// The store has no such workload or fault.
    #[error("{0}")]
    Unsupported(String),
    /// An option makes no sense.
    #[error("{0}")]
    Usage(String),
}

fn quoted(log: &str) -> String {
    if log.is_empty() { String::new() } else { format!("; its last lines:\n{log}") }
}

impl LiveError {
    /// An error of a store that has no log.
    pub fn store(what: impl Into<String>) -> LiveError {
        LiveError::Store { what: what.into(), log: String::new() }
    }
}

/// A text of somebody else, cut to a length that fits a message.
pub(crate) fn shortened(text: &str) -> String {
    const CHARACTERS_MAX: usize = 200;
    let mut short: String = text.trim_end().chars().take(CHARACTERS_MAX).collect();
    if short.len() < text.trim_end().len() {
        short.push_str("...");
    }
    format!("{short:?}")
}
