//! An open file, read by position. Several threads can read it, and it stays the same file if its name changes.

use crate::watch::inbox::ARRIVAL_BYTES;
use history_core::cast::Cast as _;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::sync::Arc;

/// The number of compared bytes before the position: they distinguish a file that has grown from one that was
/// rewritten.
const TAIL_BYTES: usize = 1024;

/// A file that is followed, and the position in it.
pub(in crate::watch) struct Followed {
    file: Arc<File>,
    /// The number of bytes that were read.
    offset: u64,
    /// The last bytes that were read; empty only at the beginning.
    tail: Vec<u8>,
}

impl Followed {
    /// A file from which nothing was read.
    pub(super) fn new(file: File) -> Followed {
        Followed { file: Arc::new(file), offset: 0, tail: Vec::new() }
    }

    /// A file that was read up to a byte.
    ///
    /// # Errors
    ///
    /// If the file is shorter.
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

    /// Returns true if this is the same file, and was read at least to its length in `until`. A file that is now
    /// shorter than the part that was read, or has other text there, was emptied since.
    pub(super) fn is_read(&self, until: &Metadata) -> bool {
        let now = self.file.metadata();
        let is_at_end = now.is_ok_and(|now| is_same(&now, until) && (until.len()..=now.len()).contains(&self.offset));
        is_at_end && self.is_unchanged().unwrap_or(false)
    }

    /// Returns true if the file still contains the last bytes that were read.
    pub(super) fn is_unchanged(&self) -> io::Result<bool> {
        Ok(self.text(0)? == self.tail)
    }

    /// The current bytes of the file at the last bytes that were read, and `more` bytes after them.
    fn text(&self, more: usize) -> io::Result<Vec<u8>> {
        let before = self.tail.len();
        text_at(&self.file, self.offset - before.to_u64(), (before + more).to_u64())
    }

    /// Reads the added bytes; `None` if the bytes that were read are not in the file any more.
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

    /// Starts again at the beginning, because the file was emptied.
    pub(super) fn rewind(&mut self) {
        (self.offset, self.tail) = (0, Vec::new());
    }

    /// A newline that separates an incomplete line from the text after it.
    pub(super) fn end_of_line(&self) -> Vec<u8> {
        if self.tail.last().is_none_or(|last| *last == b'\n') { Vec::new() } else { b"\n".to_vec() }
    }
}

/// The text of a file from a position on, independently of other readers.
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

/// This number of bytes from a position on, or fewer if the file ends before.
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

/// On other systems, files are distinguished by their creation time.
#[cfg(not(unix))]
pub(super) fn is_same(a: &Metadata, b: &Metadata) -> bool {
    a.created().ok() == b.created().ok()
}
