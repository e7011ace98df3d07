//! The lock of a checkpoint: of two watches with the same checkpoint, each would replace the state of the other.
//!
//! The checkpoint itself is replaced whenever it is written. The lock is therefore on an empty file beside it, which
//! exists while a watch runs. The system releases the lock of a watch that is killed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// A lock, until this is dropped.
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Locks a checkpoint.
    ///
    /// # Errors
    ///
    /// If another watch has locked it, or it cannot be locked, as a sentence.
    pub(super) fn acquire(checkpoint: &Path) -> Result<Lock, String> {
        let path = path(checkpoint);
        let failed = |error: io::Error| format!("cannot write {}: {error}", path.display());
        loop {
            let file = open(&path).map_err(failed)?;
            if let Err(TryLockError::WouldBlock) = file.try_lock() {
                let checkpoint = checkpoint.display();
                return Err(format!("--checkpoint: another watch uses {checkpoint}; pass another file to this one"));
            }
            // A file system without locks gives another error, and no lock: the user must then take care.
            // The watch that had the lock may have removed the file after it was opened here.
            if is_at(&file, &path).map_err(failed)? {
                return Ok(Lock { path, _file: file });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Elsewhere, a file that is open cannot be removed.
        if cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The path of the lock of a checkpoint.
pub(super) fn path(checkpoint: &Path) -> PathBuf {
    let mut name = checkpoint.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// Opens the file, or creates it. Any other file is kept, because it belongs to another program.
fn open(path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() || found.len() > 0 => {
            let why = "it exists and is not a lock of histcheck; remove it, or choose another name";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
        _ => {}
    }
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

/// Returns true if this file is the one at the path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let file = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (file.dev(), file.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Elsewhere, no watch removes it.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_watch_at_a_time_has_a_checkpoint() {
        let dir = tempfile::tempdir().unwrap();
        let checkpoint = dir.path().join("run.checkpoint");
        let lock = Lock::acquire(&checkpoint).unwrap();
        let error = Lock::acquire(&checkpoint).err().unwrap();
        assert!(error.contains("another watch uses ") && error.contains("run.checkpoint;"), "{error}");
        Lock::acquire(&dir.path().join("other")).unwrap();
        drop(lock);
        Lock::acquire(&checkpoint).unwrap();
        // A watch that is killed leaves the file.
        fs::write(path(&checkpoint), "").unwrap();
        Lock::acquire(&checkpoint).unwrap();
    }

    #[test]
    fn what_is_not_a_lock_stays() {
        let dir = tempfile::tempdir().unwrap();
        let checkpoint = dir.path().join("run.checkpoint");
        fs::write(path(&checkpoint), "other").unwrap();
        let error = Lock::acquire(&checkpoint).err().unwrap();
        assert!(error.contains("run.checkpoint.lock: it exists and is not a lock"), "{error}");
        assert_eq!(fs::read(path(&checkpoint)).unwrap(), b"other");
    }

    /// The lock of a file that has another name by now, or none, protects nothing.
    #[cfg(unix)]
    #[test]
    fn a_file_that_was_removed_is_not_the_one_at_the_path() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let file = open(&path).unwrap();
        assert!(is_at(&file, &path).unwrap());
        fs::remove_file(&path).unwrap();
        assert!(!is_at(&file, &path).unwrap());
        let _other = open(&path).unwrap();
        assert!(!is_at(&file, &path).unwrap());
    }
}
