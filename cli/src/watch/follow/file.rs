//! An open file, read by position: several can read it, and each knows which file that is, whatever has its name.

use crate::watch::inbox::ARRIVAL_BYTES;
use history_core::cast::Cast as _;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::sync::Arc;

/// Bytes before what is read next, which tell a file that has grown from one that was written anew.
const TAIL_BYTES: usize = 1024;

/// A file that is followed, and what was read of it.
pub(in crate::watch) struct Followed {
    file: Arc<File>,
    /// How much of it was read.
    offset: u64,
    /// The last bytes that were read; empty only at the beginning.
    tail: Vec<u8>,
}

impl Followed {
    /// A file of which nothing was read.
    pub(super) fn new(file: File) -> Followed {
        Followed { file: Arc::new(file), offset: 0, tail: Vec::new() }
    }

    /// A file that was read up to a byte.
    ///
    /// # Errors
    ///
    /// If it does not have so many.
    pub(super) fn read_to(file: Arc<File>, byte: u64) -> io::Result<Followed> {
        let bytes = byte.min(TAIL_BYTES.to_u64());
        let tail = text_at(&file, byte - bytes, bytes)?;
        if tail.len().to_u64() < bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Followed { file, offset: byte, tail })
    }

    pub(super) fn file(&self) -> &Arc<File> {
        &self.file
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether it is this very file, and was read at least so far. One that is shorter than what was read of it, or has
    /// other text there, was emptied since.
    pub(super) fn is_read(&self, until: &Metadata) -> bool {
        let now = self.file.metadata();
        let is_at_end = now.is_ok_and(|now| is_same(&now, until) && (until.len()..=now.len()).contains(&self.offset));
        is_at_end && self.is_unchanged().unwrap_or(false)
    }

    /// Whether the last bytes that were read are still in it.
    pub(super) fn is_unchanged(&self) -> io::Result<bool> {
        Ok(self.text(0)? == self.tail)
    }

    /// The last bytes that were read, as they are in the file now, and so many behind them.
    fn text(&self, more: usize) -> io::Result<Vec<u8>> {
        let before = self.tail.len();
        text_at(&self.file, self.offset - before.to_u64(), (before + more).to_u64())
    }

    /// What was added; nothing if what was read is not in the file any more.
    pub(super) fn read(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut text = self.text(ARRIVAL_BYTES)?;
        if !text.starts_with(&self.tail) {
            return Ok(None);
        }
        let before = self.tail.len();
        self.offset += (text.len() - before).to_u64();
        self.tail.clear();
        self.tail.extend(&text[text.len().saturating_sub(TAIL_BYTES)..]);
        text.drain(..before);
        Ok(Some(text))
    }

    /// Begins again, as what was read is not in the file any more.
    pub(super) fn rewind(&mut self) {
        (self.offset, self.tail) = (0, Vec::new());
    }

    /// What keeps a line that never ended apart from what comes next.
    pub(super) fn end_of_line(&self) -> Vec<u8> {
        if self.tail.last().is_none_or(|last| *last == b'\n') { Vec::new() } else { b"\n".to_vec() }
    }
}

/// The text of a file from a byte on, whatever else reads the file.
pub(in crate::watch) struct TextFrom {
    file: Arc<File>,
    at: u64,
}

impl TextFrom {
    pub(in crate::watch) fn new(file: Arc<File>, at: u64) -> TextFrom {
        TextFrom { file, at }
    }
}

impl Read for TextFrom {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = read_at(&self.file, bytes, self.at)?;
        self.at += count.to_u64();
        Ok(count)
    }
}

/// So many bytes from a byte on, or fewer if the file ends before.
pub(in crate::watch) fn text_at(file: &File, at: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let mut text = vec![0; usize::try_from(bytes).map_err(io::Error::other)?];
    let mut read = 0;
    while read < text.len() {
        match read_at(file, &mut text[read..], at + read.to_u64()) {
            Ok(0) => break,
            Ok(count) => read += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    text.truncate(read);
    Ok(text)
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, at)
}

#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, at)
}

#[cfg(unix)]
pub(super) fn is_same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Elsewhere files are distinguished by when they were made.
#[cfg(not(unix))]
pub(super) fn is_same(a: &Metadata, b: &Metadata) -> bool {
    a.created().ok() == b.created().ok()
}
