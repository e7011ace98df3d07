//! The destination of one format: standard output, or a file.

use crate::job::{ResultFormat, ResultOutput, ResultPlace};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// A format and its destination.
pub(super) struct Sink {
    pub(super) format: ResultFormat,
    /// The file and its path; standard output if it is absent.
    file: Option<(PathBuf, Option<File>)>,
}

impl Sink {
    /// Opens it. A child process passes its output to its parent, and opens no files.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, as a sentence.
    pub(super) fn open(output: &ResultOutput, is_part: bool) -> Result<Sink, String> {
        let opened = |path: &Path, options: &mut OpenOptions| {
            let file = if is_part { Ok(None) } else { options.open(path).map(Some) };
            file.map_err(|error| format!("cannot write {}: {error}", path.display()))
        };
        let file = match &output.to {
            ResultPlace::Stdout => None,
            ResultPlace::File(path) => {
                Some((path.clone(), opened(path, OpenOptions::new().write(true).create(true).truncate(true))?))
            }
            ResultPlace::Append(path) => {
                Some((path.clone(), opened(path, OpenOptions::new().append(true).create(true))?))
            }
        };
        Ok(Sink { format: output.format, file })
    }

    pub(super) fn is_stdout(&self) -> bool {
        self.file.is_none()
    }

    /// Writes and flushes a text.
    pub(super) fn write(&mut self, text: &[u8]) -> io::Result<()> {
        match &mut self.file {
            None => {
                let mut out = io::stdout().lock();
                out.write_all(text).and_then(|()| out.flush())
            }
            Some((path, file)) => {
                let written = file.as_mut().map_or(Ok(()), |file| file.write_all(text));
                written.map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
            }
        }
    }
}
