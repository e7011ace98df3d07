//! Where a history comes from: a file, a directory of Jepsen's store, standard input.

use history_core::{Format, HistoryError, Reader};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};

/// One of the histories named on the command line.
pub(crate) struct Input {
    path: OsString,
    format: Option<Format>,
}

impl Input {
    /// The history at a path, in this format if one was asked for; `-` is standard input.
    pub(crate) fn new(path: OsString, format: Option<Format>) -> Input {
        Input { path, format }
    }

    pub(crate) fn is_stdin(&self) -> bool {
        self.path == "-"
    }

    /// The format that was asked for.
    pub(crate) fn format(&self) -> Option<Format> {
        self.format
    }

    /// The path as it was given.
    pub(crate) fn path(&self) -> &OsStr {
        &self.path
    }

    /// The path as it was given, for where only text will do.
    pub(crate) fn name(&self) -> Cow<'_, str> {
        self.path.to_string_lossy()
    }

    /// What diagnostics call it.
    pub(crate) fn place(&self) -> Cow<'_, str> {
        if self.is_stdin() { Cow::Borrowed("<stdin>") } else { self.name() }
    }

    /// Begins to read it.
    ///
    /// # Errors
    ///
    /// If there is no such file, or none that can be read.
    pub(crate) fn open(&self) -> Result<Reader<'static>, HistoryError> {
        let reader = history_core::open(&self.path)?;
        Ok(match self.format {
            Some(format) => reader.with_format(format),
            None => reader,
        })
    }
}
