//! The location of a history: a file, or an object of a store.

use histcheck_front::ReadAs;
use histcheck_front::source::{self, Reading};
#[cfg(feature = "objects")]
use history_core::ErrorKind;
use history_core::{HistoryError, Reader};
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Bytes that can be read from any position on.
pub(crate) trait Source: Read + Seek + Send {}

impl<S: Read + Seek + Send> Source for S {}

/// Returns true if a path is the address of an object, or of several: `s3://BUCKET/KEY`, `gs://BUCKET/KEY` or
/// `file:///PATH`.
///
/// ```
/// assert!(histcheck_scale::is_address("s3://runs/history.jsonl"));
/// assert!(!histcheck_scale::is_address("s3/history.jsonl"));
/// ```
pub fn is_address(path: impl AsRef<Path>) -> bool {
    let schemes = ["s3://", "gs://", "file://"];
    path.as_ref().to_str().is_some_and(|path| schemes.iter().any(|scheme| path.starts_with(scheme)))
}

/// Opens a history that is one file or one object. Returns its length in bytes.
///
/// # Errors
///
/// If it does not exist, or cannot be read.
pub(crate) fn open(path: &Path) -> io::Result<(Box<dyn Source>, u64)> {
    #[cfg(feature = "objects")]
    if let Some(address) = address(path) {
        let bytes = super::objects::open(address)?;
        let len = bytes.len();
        return Ok((Box::new(bytes), len));
    }
    let path = file(path).ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no such file"))?;
    let file = File::open(path)?;
    let len = file.metadata()?.len();
    Ok((Box::new(file), len))
}

/// A reader of a history in any location. `reading` contains the progress.
pub(crate) fn reader(path: &Path, read_as: &ReadAs, reading: &Arc<Reading>) -> Result<Reader<'static>, HistoryError> {
    #[cfg(feature = "objects")]
    if let Some(address) = address(path) {
        let bytes = super::objects::open(address).map_err(|error| not_opened(&error))?;
        let len = bytes.len();
        return Ok(read_as.reader(Reader::new(source::followed(bytes, len, reading))));
    }
    Ok(read_as.reader(source::reader(path.as_os_str(), reading)?))
}

/// The reason why an object cannot be read. Credentials come from the environment.
#[cfg(feature = "objects")]
fn not_opened(error: &io::Error) -> HistoryError {
    let error_of_history = HistoryError::new(ErrorKind::Io, format!("opening failed: {error}"));
    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput) {
        return error_of_history;
    }
    error_of_history.expected("the store and the credentials that the environment names, such as AWS_ACCESS_KEY_ID")
}

/// Identifies the content of a history, to detect changes; `None` if it consists of several files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(Option<Seen>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    File {
        bytes: u64,
        changed: Option<SystemTime>,
    },
    /// The store's identification of the version.
    #[cfg(feature = "objects")]
    Object {
        version: String,
    },
}

impl Stamp {
    /// The current stamp of a history.
    pub(crate) fn of(path: &Path) -> Stamp {
        #[cfg(feature = "objects")]
        if let Some(address) = address(path) {
            let opened = super::objects::open(address).ok();
            return Stamp(opened.map(|bytes| Seen::Object { version: bytes.version().to_owned() }));
        }
        let found = file(path).and_then(|path| fs::metadata(path).ok());
        Stamp(found.map(|found| Seen::File { bytes: found.len(), changed: found.modified().ok() }))
    }
}

/// The address in a path, if it is one.
#[cfg(feature = "objects")]
pub(crate) fn address(path: &Path) -> Option<&str> {
    path.to_str().filter(|path| is_address(path))
}

/// The file of a history; `None` if it consists of several files, or is not a file.
pub(crate) fn file(path: &Path) -> Option<PathBuf> {
    let path = if path.is_dir() { history_core::history_in(path).ok()? } else { path.to_owned() };
    fs::metadata(&path).is_ok_and(|found| found.is_file()).then_some(path)
}
