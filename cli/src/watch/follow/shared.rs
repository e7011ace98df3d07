//! The state of a followed file that several threads share: those that read it, check its ops, and write checkpoints.

use super::file::Followed;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The value if the file only grew.
const NEVER: u64 = u64::MAX;

/// A file that is followed by its name.
pub(in crate::watch) struct Shared {
    /// Absent if no file has that name yet.
    followed: Mutex<Option<Followed>>,
    /// See [`Shared::begins`].
    begins: AtomicU64,
}

impl Default for Shared {
    fn default() -> Shared {
        Shared { followed: Mutex::default(), begins: AtomicU64::new(NEVER) }
    }
}

impl Shared {
    /// A file that was already read up to a position.
    ///
    /// # Errors
    ///
    /// If the file is shorter.
    pub(in crate::watch) fn read_to(file: Arc<File>, byte: u64) -> io::Result<Shared> {
        let followed = Mutex::new(Some(Followed::read_to(file, byte)?));
        Ok(Shared { followed, ..Shared::default() })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Option<Followed>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores where the text of another file begins, or that of the same file after it was emptied. Must be called
    /// before this text arrives.
    pub(in crate::watch) fn replace(&self, begins: u64) {
        self.begins.store(begins, Ordering::SeqCst);
    }

    /// The beginning of the text that arrived after the file was last emptied or replaced, as a position in all text.
    /// `None` if the file only grew.
    pub(in crate::watch) fn begins(&self) -> Option<u64> {
        Some(self.begins.load(Ordering::SeqCst)).filter(|begins| *begins != NEVER)
    }

    /// The file, if all text came from it and it only grew.
    pub(in crate::watch) fn file(&self) -> Option<Arc<File>> {
        let followed = self.lock();
        followed.as_ref().map(Followed::file).filter(|_| self.begins().is_none()).cloned()
    }

    /// Returns the result of `see` for the file from which all text came, even if another file has its name. `None` if
    /// there were several files, or if the text is not in the file any more.
    pub(in crate::watch) fn look<T>(&self, see: impl FnOnce(&File) -> io::Result<T>) -> io::Result<Option<T>> {
        let followed = self.lock();
        let Some(followed) = followed.as_ref().filter(|_| self.begins().is_none()) else { return Ok(None) };
        let seen = see(followed.file())?;
        // The result applies to the received text only if the file was not overwritten before.
        Ok(followed.is_unchanged()?.then_some(seen))
    }
}
