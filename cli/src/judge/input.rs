//! Sources of histories: a file, a directory of Jepsen's store, standard input.

use histcheck_front::ReadAs;
use histcheck_front::source::{self, Reading};
use history_core::{ErrorKind, HistoryError, Reader, visible};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{Cursor, Read as _};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// One of the histories named on the command line.
pub(crate) struct Input {
    path: OsString,
    read_as: ReadAs,
    /// The path within the given directory, which distinguishes the history from others there.
    label: Option<OsString>,
    /// The error, if there is no history.
    error: Option<HistoryError>,
    /// The content of standard input or of a pipe, if it will be read more than once.
    kept: Option<OnceLock<Arc<[u8]>>>,
}

/// Names in the client rule that occurred in no history so far. They may be misspelled.
///
/// All inputs of a command share this object. It is empty until the first history was read to its end.
#[derive(Clone, Default)]
pub(crate) struct Unmatched(Arc<Mutex<Option<BTreeSet<String>>>>);

impl Unmatched {
    /// Adds the names that a whole history does not contain, or `None` if only a part of it was read.
    pub(crate) fn add(&self, of_whole: Option<&[String]>) {
        let unmatched: BTreeSet<String> = of_whole.into_iter().flatten().cloned().collect();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *all = Some(all.as_ref().map_or_else(|| unmatched.clone(), |all| all & &unmatched));
    }

    /// Returns the names; `None` if no history was read.
    pub(crate) fn names(&self) -> Option<Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone().map(|names| names.into_iter().collect())
    }

    /// A warning for each name.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let warning =
            |name| format!("--clients or --not-clients names {name}, but no history has an op of that process");
        self.names().into_iter().flatten().map(warning).collect()
    }
}

impl Input {
    /// The history at a path; `-` is standard input.
    pub(crate) fn new(path: OsString) -> Input {
        Input { path, read_as: ReadAs::default(), label: None, error: None, kept: None }
    }

    /// An input that is an error instead of a history.
    pub(crate) fn failed(path: OsString, error: HistoryError) -> Input {
        Input { error: Some(error), ..Input::new(path) }
    }

    /// Sets how the text is read.
    pub(crate) fn read_as(self, read_as: ReadAs) -> Input {
        Input { read_as, ..self }
    }

    /// How the text is read.
    pub(crate) fn how(&self) -> &ReadAs {
        &self.read_as
    }

    /// Sets a name for the history's folder.
    pub(crate) fn labelled(self, label: OsString) -> Input {
        Input { label: Some(label), ..self }
    }

    /// Makes the input readable more than once: the content of standard input or a pipe is kept in memory.
    pub(crate) fn kept(self) -> Input {
        let kept = self.is_stream().then(OnceLock::new);
        Input { kept, ..self }
    }

    /// Returns true if the input can be read a second time.
    pub(crate) fn is_readable_again(&self) -> bool {
        self.kept.is_some() || !self.is_stream()
    }

    /// Returns true if the input can be read only once. A path that does not exist is not a stream: opening it reports
    /// the error.
    fn is_stream(&self) -> bool {
        self.is_stdin() || std::fs::metadata(&self.path).is_ok_and(|found| !found.is_file() && !found.is_dir())
    }

    /// Returns true if the input is this file, under any path.
    pub(crate) fn is_file(&self, other: &Path) -> bool {
        let own = Path::new(&self.path);
        let own = if own.is_dir() { history_core::history_in(own).ok() } else { Some(own.to_owned()) };
        let real = |path: &Path| path.canonicalize().ok().filter(|path| path.is_file());
        !self.is_stdin() && own.and_then(|own| real(&own)).is_some_and(|own| real(other) == Some(own))
    }

    pub(crate) fn is_stdin(&self) -> bool {
        self.path == "-"
    }

    /// The path as it was given.
    pub(crate) fn path(&self) -> &OsStr {
        &self.path
    }

    /// The path as it was given, as text.
    pub(crate) fn name(&self) -> Cow<'_, str> {
        self.path.to_string_lossy()
    }

    /// The name of the input in diagnostics.
    pub(crate) fn place(&self) -> Cow<'_, str> {
        let name = if self.is_stdin() { Cow::Borrowed("<stdin>") } else { self.name() };
        // A line that begins with `::` is a command in logs of GitHub's workflows.
        let name = if name.starts_with("::") { Cow::Owned(format!("./{name}")) } else { name };
        // A diagnostic is one line, whatever the name contains.
        match name {
            Cow::Borrowed(name) => visible::line(name),
            Cow::Owned(name) => Cow::Owned(visible::line(&name).into_owned()),
        }
    }

    /// A name for a folder about the history: the end of its path, or its path within the given directory.
    pub(crate) fn label(&self) -> Option<Cow<'_, str>> {
        if self.is_stdin() {
            return Some(Cow::Borrowed("stdin"));
        }
        let label = self.label.as_deref().or_else(|| Path::new(&self.path).file_name());
        label.map(OsStr::to_string_lossy)
    }

    /// The error of opening the input, if it is already known.
    pub(crate) fn open_error(&self) -> Option<&HistoryError> {
        self.error.as_ref()
    }

    /// Returns true if the only error in a file with this error is that it ends within an op.
    pub(crate) fn is_torn(&self, error: &HistoryError) -> bool {
        let may_be = error.kind == ErrorKind::Syntax && !self.read_as.accepts_torn && self.kept.is_none();
        let is_file = || std::fs::metadata(&self.path).is_ok_and(|found| found.is_file());
        if !may_be || !is_file() {
            return false;
        }
        let Ok(reader) = self.open() else { return false };
        let mut reader = reader.growing();
        reader.for_each_batch(|_| Ok(ControlFlow::Continue(()))).is_ok() && reader.cut_off().is_some()
    }

    /// Opens the history.
    ///
    /// # Errors
    ///
    /// If there is no such file, or none that can be read.
    pub(crate) fn open(&self) -> Result<Reader<'static>, HistoryError> {
        self.opened(&Arc::default(), || history_core::open(&self.path))
    }

    /// Opens the history so that its progress can be observed, and reading can be ended.
    ///
    /// # Errors
    ///
    /// If there is no such file, or none that can be read; or if it is ended before it could be opened.
    pub(crate) fn open_followed(&self, reading: &Arc<Reading>) -> Result<Reader<'static>, HistoryError> {
        self.opened(reading, || source::reader(&self.path, reading))
    }

    fn opened(
        &self,
        reading: &Arc<Reading>,
        open: impl FnOnce() -> Result<Reader<'static>, HistoryError>,
    ) -> Result<Reader<'static>, HistoryError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let reader = match &self.kept {
            Some(kept) => Reader::new(Cursor::new(self.all(kept, reading)?)),
            None => open().map_err(|error| self.if_address(error))?,
        };
        Ok(self.read_as.reader(reader))
    }

    /// Adds to an error of opening the input which command reads addresses, if it is one.
    fn if_address(&self, error: HistoryError) -> HistoryError {
        let is_address = ["s3://", "gs://"].iter().any(|scheme| self.name().starts_with(scheme));
        if is_address { error.expected("a file; only histcheck scale reads objects in stores") } else { error }
    }

    /// All bytes of an input that can be read only once. If an interrupt ends reading, this call returns an error, and
    /// later calls return the bytes that were read.
    fn all(&self, kept: &OnceLock<Arc<[u8]>>, reading: &Arc<Reading>) -> Result<Arc<[u8]>, HistoryError> {
        if let Some(kept) = kept.get() {
            return Ok(kept.clone());
        }
        let mut bytes = Vec::new();
        let read = source::open(&self.path, reading)?.read_to_end(&mut bytes);
        if read.is_ok() || reading.was_cut() {
            kept.get_or_init(|| bytes.clone().into());
        }
        read.map_err(|error| HistoryError::new(ErrorKind::Io, format!("reading failed: {error}")))?;
        Ok(kept.get_or_init(|| bytes.into()).clone())
    }
}
