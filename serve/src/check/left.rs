//! The files that a check wrote into its folder.

use super::child::{MESSAGES, RESULT};
use crate::files::place;
use serde_json::Value;
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// The maximum length of a result in a response, in bytes.
const RESULT_BYTES_MAX: u64 = 64 << 20;
/// The maximum length of a process's messages that are shown, in bytes.
const MESSAGES_BYTES_MAX: u64 = 16 << 10;

/// The folder of a check below the served directory.
pub(crate) struct Folder {
    pub(super) root: PathBuf,
    pub(super) path: PathBuf,
}

impl Folder {
    /// Opens a file of the folder; returns its length as well.
    ///
    /// # Errors
    ///
    /// If it does not exist, is not a regular file, or is reached through a link.
    pub(crate) fn open(&self, name: &str) -> io::Result<(File, u64)> {
        place::open_own(&self.root, &self.path.join(name))
    }

    /// The result of the check, as `--output json` writes it.
    pub(crate) fn result(&self) -> Option<Value> {
        serde_json::from_slice(&self.read(RESULT, RESULT_BYTES_MAX)?).ok()
    }

    /// The output of the check's process.
    pub(crate) fn messages(&self) -> String {
        let bytes = self.read(MESSAGES, MESSAGES_BYTES_MAX).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn read(&self, name: &str, bytes_max: u64) -> Option<Vec<u8>> {
        use std::io::Read as _;
        let mut bytes = Vec::new();
        self.open(name).ok()?.0.take(bytes_max).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }
}
