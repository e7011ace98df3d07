//! Where a history comes from: a file, a directory of Jepsen's store, standard input.

use crate::source::{self, Reading};
use history_core::{Format, HistoryError, Reader};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

/// One of the histories named on the command line.
pub(crate) struct Input {
    path: OsString,
    format: Option<Format>,
    /// What tells it apart from others in the directory that was named.
    label: Option<OsString>,
    /// Why there is none.
    trouble: Option<HistoryError>,
}

impl Input {
    /// The history at a path, in this format if one was asked for; `-` is standard input.
    pub(crate) fn new(path: OsString, format: Option<Format>) -> Input {
        Input { path, format, label: None, trouble: None }
    }

    /// What should have been one or more histories, and why it is none.
    pub(crate) fn failed(path: OsString, trouble: HistoryError) -> Input {
        Input { path, format: None, label: None, trouble: Some(trouble) }
    }

    /// Gives it a name for its folder.
    pub(crate) fn labelled(self, label: OsString) -> Input {
        Input { label: Some(label), ..self }
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

    /// What a folder about it may be called: the end of its path, or its path within the directory that was named.
    pub(crate) fn label(&self) -> Option<Cow<'_, str>> {
        if self.is_stdin() {
            return Some(Cow::Borrowed("stdin"));
        }
        let label = self.label.as_deref().or_else(|| Path::new(&self.path).file_name());
        label.map(OsStr::to_string_lossy)
    }

    /// Why nothing can be read here, if that is known already.
    pub(crate) fn trouble(&self) -> Option<&HistoryError> {
        self.trouble.as_ref()
    }

    /// Begins to read it.
    ///
    /// # Errors
    ///
    /// If there is no such file, or none that can be read.
    pub(crate) fn open(&self) -> Result<Reader<'static>, HistoryError> {
        self.opened(|| history_core::open(&self.path))
    }

    /// Begins to read it in a way that others can follow, and end.
    ///
    /// # Errors
    ///
    /// If there is no such file, or none that can be read; or if it is ended before it could be opened.
    pub(crate) fn open_followed(&self, reading: &Arc<Reading>) -> Result<Reader<'static>, HistoryError> {
        self.opened(|| source::open(&self.path, reading).map(Reader::new))
    }

    fn opened(
        &self,
        open: impl FnOnce() -> Result<Reader<'static>, HistoryError>,
    ) -> Result<Reader<'static>, HistoryError> {
        if let Some(trouble) = &self.trouble {
            return Err(trouble.clone());
        }
        let reader = open()?;
        Ok(match self.format {
            Some(format) => reader.with_format(format),
            None => reader,
        })
    }
}
