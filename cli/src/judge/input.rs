//! Where a history comes from: a file, a directory of Jepsen's store, standard input.

use crate::judge::source::{self, Reading};
use history_core::{ClientRule, ErrorKind, Format, HistoryError, Lines, Merge, Reader, TimeUnit, visible};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{Cursor, Read as _};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// One of the histories named on the command line.
pub(crate) struct Input {
    path: OsString,
    format: Option<Format>,
    rules: Rules,
    /// What tells it apart from others in the directory that was named.
    label: Option<OsString>,
    /// Why there is none.
    trouble: Option<HistoryError>,
    /// All of standard input, or of a pipe, where it is to be read more than once.
    kept: Option<OnceLock<Arc<[u8]>>>,
}

/// What was said of how histories are to be understood.
#[derive(Clone, Default)]
pub(crate) struct Rules {
    /// Which names are clients'.
    pub(crate) clients: ClientRule,
    pub(crate) time_unit: Option<TimeUnit>,
    /// Of the names in `clients`, those that no history had of all that were read. None was read if it is absent.
    pub(crate) unmatched: Arc<Mutex<Option<BTreeSet<String>>>>,
}

/// How the text of a history is to be read.
#[derive(Clone, Default)]
pub(crate) struct ReadAs {
    format: Option<Format>,
    rules: Rules,
}

impl ReadAs {
    pub(crate) fn reader<'s>(&self, reader: Reader<'s>) -> Reader<'s> {
        let reader = reader.with_client_rule(self.rules.clients.clone());
        let reader = match self.rules.time_unit {
            Some(unit) => reader.with_time_unit(unit),
            None => reader,
        };
        match self.format {
            Some(format) => reader.with_format(format),
            None => reader,
        }
    }

    /// The lines of one of several writers.
    pub(crate) fn lines(&self) -> Lines {
        let lines = Lines::new(self.format);
        match self.rules.time_unit {
            Some(unit) => lines.with_time_unit(unit),
            None => lines,
        }
    }

    /// The history that several writers write.
    pub(crate) fn merge(&self) -> Merge {
        Merge::default().with_client_rule(self.rules.clients.clone())
    }
}

impl Input {
    /// The history at a path, in this format if one was asked for; `-` is standard input.
    pub(crate) fn new(path: OsString, format: Option<Format>) -> Input {
        Input { path, format, rules: Rules::default(), label: None, trouble: None, kept: None }
    }

    /// What should have been one or more histories, and why it is none.
    pub(crate) fn failed(path: OsString, trouble: HistoryError) -> Input {
        Input { trouble: Some(trouble), ..Input::new(path, None) }
    }

    /// Reads it by these rules.
    pub(crate) fn with_rules(self, rules: Rules) -> Input {
        Input { rules, ..self }
    }

    /// Which names are clients'.
    pub(crate) fn client_rule(&self) -> ClientRule {
        self.rules.clients.clone()
    }

    /// Takes note of the names for clients, or others, that the whole of a history does not have: of a part nobody knows.
    pub(crate) fn note_unmatched(&self, whole: Option<&Reader<'_>>) {
        let unmatched: BTreeSet<String> = whole.into_iter().flat_map(Reader::unmatched).map(str::to_owned).collect();
        let mut all = self.rules.unmatched.lock().unwrap_or_else(PoisonError::into_inner);
        *all = Some(all.as_ref().map_or_else(|| unmatched.clone(), |all| all & &unmatched));
    }

    /// The names for clients, or others, that no process of any history had, once all that have the same rules were read.
    pub(crate) fn unmatched(&self) -> BTreeSet<String> {
        self.rules.unmatched.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
    }

    /// A reader that goes by what was said of this history.
    pub(crate) fn ruled<'s>(&self, reader: Reader<'s>) -> Reader<'s> {
        self.read_as().reader(reader)
    }

    /// How its text is to be read.
    pub(crate) fn read_as(&self) -> ReadAs {
        ReadAs { format: self.format, rules: self.rules.clone() }
    }

    /// Gives it a name for its folder.
    pub(crate) fn labelled(self, label: OsString) -> Input {
        Input { label: Some(label), ..self }
    }

    /// The same, to be read as often as one likes: what can be read only once (standard input, a pipe) is kept in memory.
    pub(crate) fn kept(self) -> Input {
        // No more than is known of it now: what is no file yet is opened, and that says so.
        let is_stream = || std::fs::metadata(&self.path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        let kept = (self.is_stdin() || is_stream()).then(OnceLock::new);
        Input { kept, ..self }
    }

    /// Whether it is read from this file, by whatever path.
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

    /// The path as it was given, for where only text will do.
    pub(crate) fn name(&self) -> Cow<'_, str> {
        self.path.to_string_lossy()
    }

    /// What diagnostics call it.
    pub(crate) fn place(&self) -> Cow<'_, str> {
        let name = if self.is_stdin() { Cow::Borrowed("<stdin>") } else { self.name() };
        // What begins so is a command to some who read logs.
        let name = if name.starts_with("::") { Cow::Owned(format!("./{name}")) } else { name };
        // A line a diagnostic, whatever the file is called.
        match name {
            Cow::Borrowed(name) => visible::line(name),
            Cow::Owned(name) => Cow::Owned(visible::line(&name).into_owned()),
        }
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
        self.opened(&Arc::default(), || history_core::open(&self.path))
    }

    /// Begins to read it in a way that others can follow, and end.
    ///
    /// # Errors
    ///
    /// If there is no such file, or none that can be read; or if it is ended before it could be opened.
    pub(crate) fn open_followed(&self, reading: &Arc<Reading>) -> Result<Reader<'static>, HistoryError> {
        self.opened(reading, || source::open(&self.path, reading).map(Reader::new))
    }

    fn opened(
        &self,
        reading: &Arc<Reading>,
        open: impl FnOnce() -> Result<Reader<'static>, HistoryError>,
    ) -> Result<Reader<'static>, HistoryError> {
        if let Some(trouble) = &self.trouble {
            return Err(trouble.clone());
        }
        let reader = match &self.kept {
            Some(kept) => Reader::new(Cursor::new(self.all(kept, reading)?)),
            None => open()?,
        };
        Ok(self.ruled(reader))
    }

    /// All bytes of what can be read only once. If an interrupt ends that, it is an error now, and what there was by then is all
    /// there is to whoever comes later.
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
