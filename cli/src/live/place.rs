//! The directories of a run: the user's directory, and one that is removed after the run.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The variable that passes the temporary directory to this program inside namespaces.
pub(super) const SCRATCH: &str = "HISTCHECK_LIVE_SCRATCH";

/// Files of a run in the user's directory; the first one is the history.
pub(super) const FILES: [&str; 5] = ["history.jsonl", SCHEDULE, super::replay::FILE, "report.html", "minimal.jsonl"];
/// The steps of the nemesis.
pub(super) const SCHEDULE: &str = "schedule.jsonl";
/// The directory of logs in it.
pub(super) const LOGS: &str = "logs";

/// A directory that is removed at the end of the run, even if this process is killed.
pub(super) struct Scratch {
    path: PathBuf,
    /// Whether another process removes it.
    is_borrowed: bool,
}

impl Scratch {
    /// Creates the directory; inside namespaces, uses that of the process outside.
    pub(super) fn create() -> Result<Scratch, String> {
        if let Some(path) = env::var_os(SCRATCH) {
            return Ok(Scratch { path: path.into(), is_borrowed: true });
        }
        let id = std::process::id();
        for attempt in 0..100 {
            let path = env::temp_dir().join(format!("histcheck-live-{id}-{attempt}"));
            match fs::create_dir(&path) {
                Ok(()) => {
                    record_live::remove_directory_if_killed(Some(&path));
                    return Ok(Scratch { path, is_borrowed: false });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(format!("cannot write {}: {error}", path.display())),
            }
        }
        Err(format!("cannot write {}: it contains too many directories of earlier runs", env::temp_dir().display()))
    }

    #[cfg(target_os = "linux")]
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Creates a directory below it.
    pub(super) fn below(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.path.join(name);
        match fs::create_dir(&path) {
            // If the process outside was killed, the directory is gone, and must not be created again.
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                Err(format!("cannot write {}: {error}", path.display()))
            }
            _ => Ok(path),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.is_borrowed {
            // If removing fails now, a later attempt would fail, too.
            let _ = fs::remove_dir_all(&self.path);
            record_live::remove_directory_if_killed(None);
        }
    }
}

/// The directory for evidence: the user's directory, or a scratch directory.
pub(super) fn evidence(given: Option<&Path>, scratch: &Scratch) -> Result<PathBuf, String> {
    let Some(directory) = given else { return scratch.below("run") };
    let directory = made(directory.to_owned())?;
    let is_other = directory.join(FILES[0]).exists() && !directory.join(super::replay::FILE).exists();
    if is_other {
        return Err(format!(
            "{} has a history.jsonl that `histcheck live` did not write: choose another directory",
            directory.display()
        ));
    }
    directory.canonicalize().map_err(|error| format!("cannot use {}: {error}", directory.display()))
}

/// Creates the directory for the logs of the store.
pub(super) fn logs(directory: &Path) -> Result<PathBuf, String> {
    made(directory.join(LOGS))
}

pub(super) fn made(path: PathBuf) -> Result<PathBuf, String> {
    fs::create_dir_all(&path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}
