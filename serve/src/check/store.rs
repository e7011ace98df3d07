//! All checks: in progress, waiting, and finished.

use super::child::{self, Ended};
use super::left::Folder;
use super::receiving::{self, Receiving};
use super::record::{Record, Stage, Wanted};
use crate::config::Judge;
use crate::runs::index;
use crate::runs::run::millis;
use crate::runs::watcher::{Watcher, locked};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

/// The maximum number of checks in progress; each may use all the memory of its limit.
const RUNNING_MAX: usize = 2;
/// The maximum number of waiting checks.
const WAITING_MAX: usize = 32;
/// The maximum number of checks of earlier servers that are listed, the latest ones.
const KNOWN_MAX: usize = 2_000;
/// The directory of dropped histories. It is not hidden, because they are runs.
const DROPPED: &str = "dropped";

/// All checks.
#[derive(Debug)]
pub(crate) struct Checks {
    root: PathBuf,
    judge: Judge,
    all: Mutex<BTreeMap<String, Check>>,
    is_over: AtomicBool,
}

#[derive(Debug)]
struct Check {
    record: Record,
    folder: PathBuf,
    is_cancelled: Arc<AtomicBool>,
}

impl Checks {
    /// Loads the checks below a directory. Incomplete uploads of earlier servers are removed.
    pub(crate) fn new(root: PathBuf, judge: Judge) -> Checks {
        let mut all = BTreeMap::new();
        if !leads_away(&root, &root.join(DROPPED)) {
            receiving::clear(&root.join(DROPPED));
        }
        for folder in [again(&root), root.join(DROPPED)] {
            if leads_away(&root, &folder) {
                continue;
            }
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            folders.sort();
            for folder in folders.into_iter().rev().filter(|folder| !folder.is_symlink()).take(KNOWN_MAX) {
                if let Some(record) = Record::read(&root, &folder) {
                    all.insert(record.id.clone(), Check { record, folder, is_cancelled: Arc::default() });
                }
            }
        }
        Checks { root, judge, all: Mutex::new(all), is_over: AtomicBool::new(false) }
    }

    /// How histories are checked.
    pub(crate) fn judge(&self) -> &Judge {
        &self.judge
    }

    /// Returns a check by its id, and its folder.
    pub(crate) fn find(&self, id: &str) -> Option<(Record, Folder)> {
        let folder = |check: &Check| Folder { root: self.root.clone(), path: check.folder.clone() };
        locked(&self.all).get(id).map(|check| (check.record.clone(), folder(check)))
    }

    /// The checks of a run, the latest first.
    pub(crate) fn of(&self, run: &str) -> Vec<Record> {
        let all = locked(&self.all);
        all.values().rev().filter(|check| check.record.run == run).map(|check| check.record.clone()).collect()
    }

    /// All checks, the latest first.
    pub(crate) fn list(&self) -> Vec<Record> {
        locked(&self.all).values().rev().map(|check| check.record.clone()).collect()
    }

    /// Cancels a check. Returns whether there was one that could be cancelled.
    pub(crate) fn cancel(&self, id: &str) -> bool {
        let mut all = locked(&self.all);
        let Some(check) = all.get_mut(id).filter(|check| check.record.stage.is_open()) else { return false };
        check.is_cancelled.store(true, Ordering::Relaxed);
        true
    }

    /// Cancels all checks, because the server is shutting down.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        for check in locked(&self.all).values() {
            check.is_cancelled.store(true, Ordering::Relaxed);
        }
        // Waits for the processes, which end or are killed within a limited time.
        while locked(&self.all).values().any(|check| check.record.stage == Stage::Running) {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    /// Prepares to receive a dropped history with this name. It becomes a run only when it is complete.
    ///
    /// # Errors
    ///
    /// If the directory cannot be written.
    pub(crate) fn receive(&self, name: &str) -> io::Result<Receiving> {
        let above = self.root.join(DROPPED);
        refuse_link(&self.root, &above)?;
        Receiving::new(&above, format!("history{}", extension(name)), name.chars().take(200).collect())
    }

    /// Starts to check a dropped history, which is complete and becomes a run.
    ///
    /// # Errors
    ///
    /// If too many checks are waiting.
    pub(crate) fn check_dropped(
        self: &Arc<Checks>,
        mut received: Receiving,
        wanted: &Wanted,
        watcher: &Arc<Watcher>,
    ) -> Result<Record, String> {
        let all = self.with_room()?;
        let mut keep = |id: &str| {
            let run = format!("{DROPPED}/{id}");
            let history = format!("{run}/{}", received.file_name);
            let record = new_record(id.to_owned(), run, history, Some(received.name.clone()), wanted.clone());
            record.write(received.folder())?;
            received.keep(&self.root.join(DROPPED).join(id))?;
            Ok(record)
        };
        let (id, record) = named_after_now(&all, &mut keep).map_err(|error| unwritten(&error))?;
        let folder = self.root.join(DROPPED).join(id);
        Ok(self.start(all, folder, record, watcher))
    }

    /// Starts to check the history of a run again.
    ///
    /// # Errors
    ///
    /// If too many checks are waiting.
    pub(crate) fn check_again(
        self: &Arc<Checks>,
        run: &str,
        history: String,
        wanted: Wanted,
        watcher: &Arc<Watcher>,
    ) -> Result<Record, String> {
        let all = self.with_room()?;
        let above = again(&self.root);
        refuse_link(&self.root, &above).and_then(|()| fs::create_dir_all(&above)).map_err(|error| unwritten(&error))?;
        let (id, folder) = named_after_now(&all, &mut |id: &str| {
            let folder = above.join(id);
            fs::create_dir(&folder).map(|()| folder)
        })
        .map_err(|error| unwritten(&error))?;
        let record = new_record(id, run.to_owned(), history, None, wanted);
        record.write(&folder).map_err(|error| unwritten(&error))?;
        Ok(self.start(all, folder, record, watcher))
    }

    /// Locks all checks, if another one may wait.
    fn with_room(&self) -> Result<MutexGuard<'_, BTreeMap<String, Check>>, String> {
        let all = locked(&self.all);
        let waiting = all.values().filter(|check| check.record.stage == Stage::Waiting).count();
        if waiting >= WAITING_MAX || self.is_over.load(Ordering::Relaxed) {
            return Err(format!("{waiting} checks are already waiting: try again later"));
        }
        Ok(all)
    }

    fn start(
        self: &Arc<Checks>,
        mut all: MutexGuard<'_, BTreeMap<String, Check>>,
        folder: PathBuf,
        record: Record,
        watcher: &Arc<Watcher>,
    ) -> Record {
        all.insert(record.id.clone(), Check { record: record.clone(), folder, is_cancelled: Arc::default() });
        drop(all);
        let (checks, id, watcher) = (Arc::clone(self), record.id.clone(), Arc::clone(watcher));
        std::thread::spawn(move || checks.work(&id, &watcher));
        record
    }

    /// Waits for the turn of a check, and executes it.
    fn work(&self, id: &str, watcher: &Watcher) {
        let Some((record, folder, is_cancelled)) = self.turn(id) else { return };
        let history = self.root.join(&record.history);
        let stage = if is_cancelled.load(Ordering::Relaxed) {
            Stage::Cancelled
        } else {
            match child::run(&self.judge, &history, &folder, &record.wanted, &is_cancelled) {
                Ok(Ended::Done) => Stage::Done,
                Ok(Ended::Cancelled) => Stage::Cancelled,
                Ok(Ended::Failed) => Stage::Failed,
                Err(error) => {
                    let _ =
                        fs::write(folder.join(child::MESSAGES), format!("the check could not be started: {error}\n"));
                    Stage::Failed
                }
            }
        };
        self.set(id, stage);
        watcher.walk();
    }

    /// Waits until a check may run.
    fn turn(&self, id: &str) -> Option<(Record, PathBuf, Arc<AtomicBool>)> {
        loop {
            let mut all = locked(&self.all);
            let running = all.values().filter(|check| check.record.stage == Stage::Running).count();
            let is_first =
                all.iter().find(|(_, check)| check.record.stage == Stage::Waiting).is_none_or(|(first, _)| first == id);
            let check = all.get_mut(id)?;
            if running < RUNNING_MAX && is_first || check.is_cancelled.load(Ordering::Relaxed) {
                check.record.stage = Stage::Running;
                return Some((check.record.clone(), check.folder.clone(), Arc::clone(&check.is_cancelled)));
            }
            drop(all);
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }

    fn set(&self, id: &str, stage: Stage) {
        let mut all = locked(&self.all);
        let Some(check) = all.get_mut(id) else { return };
        check.record.stage = stage;
        check.record.ended_ms = Some(millis(SystemTime::now()));
        // If the record cannot be written, the check is known until the server ends.
        let _ = check.record.write(&check.folder);
    }
}

/// The directory of the checks of runs. It is hidden, because they are not runs.
fn again(root: &Path) -> PathBuf {
    root.join(index::FOLDER).join("checks")
}

fn new_record(id: String, run: String, history: String, name: Option<String>, wanted: Wanted) -> Record {
    let begun_ms = millis(SystemTime::now());
    Record { id, run, history, name, wanted, stage: Stage::Waiting, begun_ms, ended_ms: None }
}

/// Returns true if a folder below the directory is reached through a link.
fn leads_away(root: &Path, folder: &Path) -> bool {
    folder.ancestors().take_while(|above| *above != root).any(Path::is_symlink)
}

fn refuse_link(root: &Path, folder: &Path) -> io::Result<()> {
    if leads_away(root, folder) {
        return Err(io::Error::other(format!("{} is a link, or below one", folder.display())));
    }
    Ok(())
}

fn unwritten(error: &io::Error) -> String {
    format!("cannot write here: {error}")
}

/// Calls `make` with the id of a new check: the time, as in Jepsen's folder names. Tries again while the id is in use.
fn named_after_now<T>(
    all: &BTreeMap<String, Check>,
    make: &mut dyn FnMut(&str) -> io::Result<T>,
) -> io::Result<(String, T)> {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty};
    loop {
        let id = humantime::format_rfc3339_millis(SystemTime::now()).to_string().replace(['-', ':'], "");
        if !all.contains_key(&id) {
            match make(&id) {
                Ok(made) => return Ok((id, made)),
                Err(error) if matches!(error.kind(), AlreadyExists | DirectoryNotEmpty) => {}
                Err(error) => return Err(error),
            }
        }
        std::thread::yield_now();
    }
}

/// The extension of a history's name, if it is a known one.
fn extension(name: &str) -> String {
    const PLAIN: [&str; 7] = ["edn", "jsonl", "ndjson", "json", "txt", "log", "bincode"];
    let name = name.to_ascii_lowercase();
    let compressed = [".gz", ".zst"].into_iter().find(|end| name.ends_with(end)).unwrap_or("");
    let plain = name.strip_suffix(compressed).unwrap_or(&name).rsplit_once('.').map_or("", |(_, extension)| extension);
    let plain = PLAIN.into_iter().find(|known| *known == plain).unwrap_or("edn");
    format!(".{plain}{compressed}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_out_of_the_directory() {
        for (name, expected) in [
            ("a.jsonl", ".jsonl"),
            ("A.EDN.GZ", ".edn.gz"),
            ("../../etc/passwd", ".edn"),
            ("a.edn/../../b", ".edn"),
            ("x.html", ".edn"),
            ("", ".edn"),
            ("h.zst", ".edn.zst"),
        ] {
            assert_eq!(extension(name), expected, "{name}");
        }
    }
}
