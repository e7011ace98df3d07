//! What several threads need to know of a followed file: who reads it, who judges its ops, who writes checkpoints.

use super::file::Followed;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// In place of a byte, as long as the file only grew.
const NEVER: u64 = u64::MAX;

/// A file that is followed by its name.
pub(in crate::watch) struct Shared {
    /// Absent as long as there is none of that name.
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
    /// A file that was read up to a byte before.
    ///
    /// # Errors
    ///
    /// If it does not have so many.
    pub(in crate::watch) fn read_to(file: Arc<File>, byte: u64) -> io::Result<Shared> {
        let followed = Mutex::new(Some(Followed::read_to(file, byte)?));
        Ok(Shared { followed, ..Shared::default() })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Option<Followed>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be called before text of another file comes, or of the same one after it was emptied: where that begins.
    pub(in crate::watch) fn replace(&self, begins: u64) {
        self.begins.store(begins, Ordering::SeqCst);
    }

    /// Where the text begins that came after the file was last emptied or replaced, in all text that came. `None` if it
    /// only grew.
    pub(in crate::watch) fn begins(&self) -> Option<u64> {
        Some(self.begins.load(Ordering::SeqCst)).filter(|begins| *begins != NEVER)
    }

    /// The file, if all text came from this one, and it only grew.
    pub(in crate::watch) fn file(&self) -> Option<Arc<File>> {
        let followed = self.lock();
        followed.as_ref().map(Followed::file).filter(|_| self.begins().is_none()).cloned()
    }

    /// What `see` finds in the file from which all text came, whatever has its name by now. `None` if it is known that
    /// there were several, or that the text that came is not in it any more.
    pub(in crate::watch) fn look<T>(&self, see: impl FnOnce(&File) -> io::Result<T>) -> io::Result<Option<T>> {
        let followed = self.lock();
        let Some(followed) = followed.as_ref().filter(|_| self.begins().is_none()) else { return Ok(None) };
        let seen = see(followed.file())?;
        // What was seen is of the text that came only if that was not overwritten before.
        Ok(followed.is_unchanged()?.then_some(seen))
    }
}
