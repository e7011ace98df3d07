//! The files of the earlier run in a directory, which stay until the new run has begun.
//!
//! A run has begun when an operation has succeeded: before that, its program, store or options may be wrong. Until
//! then, the earlier run's files are in the directory [`ASIDE`]. They are removed when the new run has begun, and
//! otherwise return to their places.
//!
//! `run.json` is moved into this directory last, and out of it first. If the directory contains it, it therefore
//! contains the whole earlier run, and the files outside are those of a run that was killed before it had begun.

use super::place::{FILES, LOGS, made};
use super::replay;
use std::cell::Cell;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

/// The directory for the earlier run's files while the new run has not begun.
const ASIDE: &str = "earlier-run";
/// The directory for the logs of a run that did not begin.
const FAILED_LOGS: &str = "failed-logs";

/// The earlier run in a directory.
pub(super) struct Earlier {
    directory: PathBuf,
    aside: PathBuf,
    /// Whether the files are aside.
    is_aside: Cell<bool>,
}

impl Earlier {
    /// Moves the files of the earlier run aside. Removes those of a run in which no operation succeeded.
    pub(super) fn put_aside(directory: &Path) -> Result<Earlier, String> {
        let aside = directory.join(ASIDE);
        let is_complete = aside.join(replay::FILE).exists();
        let is_aside = is_complete || has_files(&aside) || has_success(&directory.join(FILES[0]));
        if is_complete || !is_aside {
            remove(directory)?;
        } else {
            let aside = made(aside.clone())?;
            names().try_for_each(|name| moved(&directory.join(name), &aside.join(name)))?;
        }
        Ok(Earlier { directory: directory.to_owned(), aside, is_aside: Cell::new(is_aside) })
    }

    /// The new run has begun: removes the earlier one.
    pub(super) fn remove(&self) -> Result<(), String> {
        if !self.is_aside.replace(false) {
            return Ok(());
        }
        remove(&self.aside)?;
        let logs = self.directory.join(FAILED_LOGS);
        gone(fs::remove_dir_all(&logs), &logs)?;
        // Another program may have added files.
        let _ = fs::remove_dir(&self.aside);
        Ok(())
    }

    /// The new run has ended without having begun: the earlier one returns. Returns a sentence on that.
    pub(super) fn restore(&self) -> Result<Option<String>, String> {
        if !self.is_aside.replace(false) {
            return Ok(None);
        }
        let (directory, logs) = (&self.directory, self.directory.join(FAILED_LOGS));
        gone(fs::remove_dir_all(&logs), &logs)?;
        // An empty directory is removed, any other one contains logs.
        let has_logs = directory.join(LOGS).is_dir() && fs::remove_dir(directory.join(LOGS)).is_err();
        moved(&directory.join(LOGS), &logs)?;
        remove(directory)?;
        let mut names: Vec<&str> = names().collect();
        names.reverse();
        names.into_iter().try_for_each(|name| moved(&self.aside.join(name), &directory.join(name)))?;
        let _ = fs::remove_dir(&self.aside);
        let logs = if has_logs { format!("; the logs of this run are in {}", logs.display()) } else { String::new() };
        let directory = directory.display();
        Ok(Some(format!("no operation succeeded, so {directory} still contains the earlier run{logs}")))
    }
}

/// The names of the files and of the directory of a run; `run.json` is the last one.
fn names() -> impl Iterator<Item = &'static str> {
    let others = FILES.into_iter().filter(|name| *name != replay::FILE);
    [LOGS].into_iter().chain(others).chain([replay::FILE])
}

fn has_files(directory: &Path) -> bool {
    names().any(|name| directory.join(name).exists())
}

/// Returns true if an operation of this history succeeded.
fn has_success(history: &Path) -> bool {
    let Ok(history) = File::open(history) else { return false };
    let mut lines = BufReader::new(history).split(b'\n').map_while(Result::ok);
    lines.any(|line| line.windows(OK.len()).any(|text| text == OK))
}

/// The text of each completion of an operation that succeeded.
const OK: &[u8] = b"\"type\":\"ok\"";

/// Removes the files of a run.
fn remove(directory: &Path) -> Result<(), String> {
    for name in FILES {
        gone(fs::remove_file(directory.join(name)), &directory.join(name))?;
    }
    gone(fs::remove_dir_all(directory.join(LOGS)), &directory.join(LOGS))
}

fn gone(removed: std::io::Result<()>, path: &Path) -> Result<(), String> {
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(format!("cannot remove {}, of an earlier run: {error}", path.display()))
        }
        _ => Ok(()),
    }
}

/// Moves a file, if it exists.
fn moved(from: &Path, to: &Path) -> Result<(), String> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(format!("cannot move {} to {}: {error}", from.display(), to.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUCCESS: &str = "{\"type\":\"ok\"}\n";

    fn run(directory: &Path, name: &str) {
        fs::create_dir_all(directory.join(LOGS)).unwrap();
        fs::write(directory.join(LOGS).join(name), name).unwrap();
        for file in FILES {
            fs::write(directory.join(file), format!("{name} {SUCCESS}")).unwrap();
        }
    }

    /// Asserts that the directory contains only this run.
    fn has(directory: &Path, name: &str) {
        for file in FILES {
            assert_eq!(fs::read_to_string(directory.join(file)).unwrap(), format!("{name} {SUCCESS}"), "{file}");
        }
        let logs: Vec<_> = fs::read_dir(directory.join(LOGS)).unwrap().map(|log| log.unwrap().file_name()).collect();
        assert_eq!(logs, [name]);
        assert!(!directory.join(ASIDE).exists());
    }

    #[test]
    fn a_run_that_has_begun_replaces_the_earlier_one() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        run(directory, "old");
        let earlier = Earlier::put_aside(directory).unwrap();
        assert!(!has_files(directory));
        run(directory, "new");
        earlier.remove().unwrap();
        has(directory, "new");
        assert_eq!(earlier.restore(), Ok(None), "it has begun");
        has(directory, "new");
    }

    #[test]
    fn a_run_that_has_not_begun_leaves_the_earlier_one() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        run(directory, "old");
        let earlier = Earlier::put_aside(directory).unwrap();
        run(directory, "failed");
        let said = earlier.restore().unwrap().unwrap();
        assert!(said.contains("still contains the earlier run; the logs of this run are in "), "{said}");
        has(directory, "old");
        assert!(directory.join(FAILED_LOGS).join("failed").exists());
        // Without logs.
        let earlier = Earlier::put_aside(directory).unwrap();
        fs::create_dir(directory.join(LOGS)).unwrap();
        let said = earlier.restore().unwrap().unwrap();
        assert!(said.ends_with("still contains the earlier run"), "{said}");
        assert!(!directory.join(FAILED_LOGS).exists());
        has(directory, "old");
    }

    /// Whenever a run was killed, the next one finds the whole earlier run.
    #[test]
    fn a_killed_run_does_not_lose_the_earlier_one() {
        let names: Vec<&str> = names().collect();
        for count in 0..=names.len() {
            let directory = tempfile::tempdir().unwrap();
            let directory = directory.path();
            run(directory, "old");
            let aside = made(directory.join(ASIDE)).unwrap();
            names[..count].iter().for_each(|name| moved(&directory.join(name), &aside.join(name)).unwrap());
            if count == names.len() {
                run(directory, "killed");
            }
            let earlier = Earlier::put_aside(directory).unwrap();
            assert!(!has_files(directory));
            earlier.restore().unwrap();
            has(directory, "old");
        }
    }

    /// It has nothing to keep, and its logs should not hide those of the new run.
    #[test]
    fn a_run_without_success_is_replaced_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        run(directory, "old");
        fs::write(directory.join(FILES[0]), "{\"type\":\"info\"}\n").unwrap();
        let earlier = Earlier::put_aside(directory).unwrap();
        assert!(!has_files(directory) && !directory.join(ASIDE).exists());
        assert_eq!(earlier.restore(), Ok(None));
    }
}
