//! Where a history comes from: a file, a directory of Jepsen's store, standard input.

use history_core::{ErrorKind, Format, HistoryError, Reader};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::{self, Cursor, Read as _};
use std::sync::{Arc, OnceLock};

/// One of the histories named on the command line.
pub(crate) struct Input {
    path: OsString,
    format: Option<Format>,
    /// All of standard input, where it is to be read more than once.
    kept: Option<OnceLock<Arc<[u8]>>>,
}

impl Input {
    /// The history at a path, in this format if one was asked for; `-` is standard input.
    pub(crate) fn new(path: OsString, format: Option<Format>) -> Input {
        Input { path, format, kept: None }
    }

    /// The same, to be read as often as one likes: standard input is kept in memory.
    pub(crate) fn kept(self) -> Input {
        let kept = self.is_stdin().then(OnceLock::new);
        Input { kept, ..self }
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
        let reader = match &self.kept {
            Some(kept) => Reader::new(Cursor::new(Input::stdin(kept)?)),
            None => history_core::open(&self.path)?,
        };
        Ok(match self.format {
            Some(format) => reader.with_format(format),
            None => reader,
        })
    }

    fn stdin(kept: &OnceLock<Arc<[u8]>>) -> Result<Arc<[u8]>, HistoryError> {
        if let Some(kept) = kept.get() {
            return Ok(kept.clone());
        }
        let mut bytes = Vec::new();
        io::stdin()
            .read_to_end(&mut bytes)
            .map_err(|error| HistoryError::new(ErrorKind::Io, format!("reading failed: {error}")))?;
        Ok(kept.get_or_init(|| bytes.into()).clone())
    }
}
