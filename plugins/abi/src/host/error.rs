//! The reason why a plugin is not loaded: a sentence with a remedy, and details on request.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What is wrong with a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoadErrorKind {
    /// There is no file at the path, or it cannot be read.
    Missing,
    /// It is not a dynamic library.
    NotALibrary,
    /// It is one for another processor or system.
    OtherMachine,
    /// The system does not load it.
    NotLoadable,
    /// It exports no checkers.
    NotAPlugin,
    /// It was built for another interface.
    OtherInterface,
    /// It was built for this interface, with types of another layout.
    OtherLayout,
    /// It needs what only newer hosts have.
    TooNew,
    /// It panicked.
    Panicked,
    /// What it says of itself makes no sense.
    Garbage,
    /// Other users can write it.
    Untrusted,
}

/// A plugin that is not loaded. Displays as one sentence: what is wrong, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// Which plugin, or which directory.
    pub path: PathBuf,
    /// What is wrong with it.
    pub kind: LoadErrorKind,
    /// The rest of the sentence that begins with the path.
    pub message: String,
    /// Further details, of any length.
    pub details: Option<String>,
}

impl LoadError {
    pub(super) fn new(path: &Path, kind: LoadErrorKind, message: impl Into<String>) -> LoadError {
        LoadError { path: path.to_owned(), kind, message: message.into(), details: None }
    }

    pub(super) fn with_details(mut self, details: String) -> LoadError {
        self.details = Some(details);
        self
    }

    pub(super) fn unreadable(path: &Path, error: &io::Error) -> LoadError {
        let message = if error.kind() == io::ErrorKind::NotFound {
            "does not exist; pass the path of the library that `cargo build` wrote to its target directory".to_owned()
        } else {
            format!("cannot be read: {error}")
        };
        LoadError::new(path, LoadErrorKind::Missing, message)
    }

    pub(super) fn unlisted(directory: &Path, error: &io::Error) -> LoadError {
        let message = match error.kind() {
            io::ErrorKind::NotFound => "does not exist; pass a directory of plugins".to_owned(),
            io::ErrorKind::NotADirectory => "is not a directory; pass a directory of plugins".to_owned(),
            _ => format!("cannot be listed: {error}"),
        };
        LoadError::new(directory, LoadErrorKind::Missing, message)
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path.display(), self.message)
    }
}

impl std::error::Error for LoadError {}
