//! A history that is being received into a hidden folder, which becomes the folder of a run when the history is
//! complete.
//!
//! [`Receiving`] removes the folder when it is dropped. If a server is killed, the folder remains; the next server
//! removes it. The file is locked while it is received, so a second server of the same directory does not remove it.

use crate::files::place;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The prefix of hidden folders' names.
const PREFIX: &str = ".receiving-";

/// A history that is being received.
pub(crate) struct Receiving {
    folder: PathBuf,
    /// The name of the file that is written, and its original name.
    pub(super) file_name: String,
    pub(super) name: String,
    file: Option<Arc<File>>,
    is_kept: bool,
}

impl Receiving {
    /// Creates a hidden folder in a directory, with an empty file in it.
    pub(super) fn new(above: &Path, file_name: String, name: String) -> io::Result<Receiving> {
        fs::create_dir_all(above)?;
        let folder = new_folder(above)?;
        let mut receiving = Receiving { folder, file_name, name, file: None, is_kept: false };
        let file = File::create_new(receiving.folder.join(&receiving.file_name))?;
        // If files cannot be locked, such folders are never removed: see `is_in_use`.
        let _ = file.try_lock();
        receiving.file = Some(Arc::new(file));
        Ok(receiving)
    }

    /// The file to write to.
    pub(crate) fn file(&self) -> io::Result<Arc<File>> {
        self.file.clone().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Gives the folder its final name, after the file is complete.
    ///
    /// # Errors
    ///
    /// If renaming fails, for example because another folder has the name: then nothing has changed.
    pub(super) fn keep(&mut self, folder: &Path) -> io::Result<()> {
        if cfg!(windows) {
            // On Windows, a folder with an open file cannot be renamed.
            self.file = None;
        }
        fs::rename(&self.folder, folder)?;
        self.is_kept = true;
        Ok(())
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

fn new_folder(above: &Path) -> io::Result<PathBuf> {
    let mut number = 0_u64;
    loop {
        let folder = above.join(format!("{PREFIX}{}-{number}", std::process::id()));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Removes the folders of servers that were killed.
pub(super) fn clear(above: &Path) {
    for entry in fs::read_dir(above).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_folder && is_ours && !is_in_use(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Returns true if a server still receives a file of this folder, or may do so.
fn is_in_use(folder: &Path) -> bool {
    let is_locked = |path: &Path| place::open_plain(path).is_ok_and(|(file, _)| file.try_lock().is_err());
    fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| is_locked(&entry.path()))
}
