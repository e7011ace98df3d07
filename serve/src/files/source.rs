//! A file below the directory, as the body of a response.

use super::place;
use crate::http::stream::Source;
use history_core::cast::Cast as _;
use hyper::body::Bytes;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// The number of bytes in a piece.
const PIECE_BYTES: usize = 128 << 10;

/// A file up to its length when it was opened, because it may grow.
pub(crate) struct FileSource {
    file: File,
    left: u64,
}

impl FileSource {
    /// Opens a file below `root`; returns its length as well.
    pub(crate) fn open(root: &Path, path: &str) -> io::Result<(FileSource, u64)> {
        place::open(root, path).map(FileSource::new)
    }

    /// An open file with this length.
    pub(crate) fn new((file, length): (File, u64)) -> (FileSource, u64) {
        (FileSource { file, left: length }, length)
    }
}

impl Source for FileSource {
    fn next(&mut self) -> io::Result<Option<Bytes>> {
        if self.left == 0 {
            return Ok(None);
        }
        let mut piece = vec![0; PIECE_BYTES.min(usize::try_from(self.left).unwrap_or(usize::MAX))];
        let read = self.file.read(&mut piece)?;
        if read == 0 {
            return Err(io::Error::other("the file became shorter while it was sent"));
        }
        piece.truncate(read);
        self.left -= read.to_u64();
        Ok(Some(piece.into()))
    }
}
