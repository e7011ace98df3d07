//! Errors of a run, other than a violation.

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
        /// The error of the system.
        source: io::Error,
    },
    /// A program could not be started.
    #[error("cannot start {program}: {source}")]
    Start {
        /// The command.
        program: String,
        /// The error of the system.
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
    /// A client violates the protocol.
    #[error("{who} answered {answer}: expected {expected}")]
    Protocol {
        /// The client or node.
        who: String,
        /// Its output, shortened.
        answer: String,
        /// The expected output.
        expected: String,
    },
    /// A client sent more responses than requests, so operations may have the responses of others: the recorded history
    /// proves nothing.
    #[error(
        "{who} answered {answer} without a request: answers may belong to other operations, so there is no verdict"
    )]
    Surplus {
        /// Which client.
        who: String,
        /// Its output, shortened.
        answer: String,
    },
    /// The history is not one that the checker can check.
    #[error("the checker cannot check this history: {0}")]
    History(#[from] history_core::HistoryError),
    /// Nothing was tested, so there is no verdict.
    #[error("{0}")]
    Nothing(String),
    /// The store has no such workload or fault.
    #[error("{0}")]
    Unsupported(String),
    /// An option is not valid.
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

/// A text from another program, shortened to fit a message.
pub(crate) fn shortened(text: &str) -> String {
    const CHARACTERS_MAX: usize = 200;
    let mut short: String = text.trim_end().chars().take(CHARACTERS_MAX).collect();
    if short.len() < text.trim_end().len() {
        short.push_str("...");
    }
    format!("{short:?}")
}
