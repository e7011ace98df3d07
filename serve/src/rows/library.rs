//! The indexes of all viewed histories: in memory, in the server's files, or being built.

use super::build::{self, Job, Progress};
use super::file;
use super::index::Index;
use super::window::Shelf;
use crate::files::place;
use crate::runs::index::FOLDER;
use crate::runs::watcher::locked;
use flate2::Crc;
use history_core::cast::Cast as _;
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, UNIX_EPOCH};

/// The folder of indexes and copies, in the server's folder.
const ROWS: &str = "rows";
/// The maximum number of indexes in memory, of histories that wait to be read, and of failures that are kept.
const KNOWN_MAX: usize = 8;
const WAITING_MAX: usize = 8;
/// The maximum number of files in the folder, and of their bytes in total: the oldest are removed.
const FILES_MAX: usize = 1000;
const FILES_BYTES_MAX: u64 = 16 << 30;
/// How long the index of a growing history is used: a multiple of the time to build it, with a minimum.
const GOOD_TIMES: u32 = 10;
const GOOD: Duration = Duration::from_secs(5);

/// All indexes.
#[derive(Debug)]
pub(crate) struct Library {
    root: PathBuf,
    /// Whether no file may be written.
    is_read_only: bool,
    known: Mutex<BTreeMap<String, Known>>,
    /// Locked while a history is read, so that only one is read at a time.
    turn: Mutex<()>,
}

#[derive(Debug)]
struct Known {
    /// The state of the file when it was read.
    mark: String,
    bytes: u64,
    used: Instant,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Building(Arc<Progress>),
    Ready(Arc<Index>, Instant),
    Failed(String),
}

/// The state of a history's index.
pub(crate) enum Found {
    /// The index, and the text that contains its rows.
    Ready(Arc<Index>, File),
    /// Being built: the bytes that were read, and all of them.
    Building(u64, u64),
    /// A sentence with the reason.
    Failed(String),
}

impl Found {
    /// Combines an index and its text.
    pub(crate) fn shelf(index: &Index, text: File) -> Shelf<'_> {
        Shelf { index, text }
    }
}

impl Library {
    pub(crate) fn new(root: PathBuf, is_read_only: bool) -> Library {
        Library { root, is_read_only, known: Mutex::default(), turn: Mutex::default() }
    }

    /// The state of a history's index. If there is none yet, starts to build it.
    ///
    /// # Errors
    ///
    /// If there is no such file.
    pub(crate) fn find(self: &Arc<Library>, history: &str) -> io::Result<Found> {
        let (file, bytes) = place::open(&self.root, history)?;
        let mark = mark(&file.metadata()?);
        let mut known = locked(&self.known);
        if let Some(entry) = known.get_mut(history) {
            entry.used = Instant::now();
            match &entry.stage {
                Stage::Building(progress) => return Ok(building(progress)),
                Stage::Ready(index, until) if entry.mark == mark || *until > Instant::now() && entry.bytes <= bytes => {
                    match self.text(index, history, file) {
                        Ok(text) => return Ok(Found::Ready(Arc::clone(index), text)),
                        // The copy was removed.
                        Err(_) => return Ok(self.begin(&mut known, history, bytes)),
                    }
                }
                Stage::Failed(why) if entry.mark == mark => return Ok(Found::Failed(why.clone())),
                Stage::Ready(..) | Stage::Failed(_) => return Ok(self.begin(&mut known, history, bytes)),
            }
        }
        let kept = file::read(&self.root, &self.path(history, "rows"));
        if let Some(index) = kept.filter(|index| index.head.history == history && index.head.mark == mark)
            && let Ok(text) = self.text(&index, history, file)
        {
            let index = Arc::new(index);
            let stage = Stage::Ready(Arc::clone(&index), Instant::now());
            known.insert(history.to_owned(), Known { mark, bytes, used: Instant::now(), stage });
            forget(&mut known);
            return Ok(Found::Ready(index, text));
        }
        Ok(self.begin(&mut known, history, bytes))
    }

    /// Ends all builds, because the server is shutting down.
    pub(crate) fn end(&self) {
        for entry in locked(&self.known).values() {
            if let Stage::Building(progress) = &entry.stage {
                progress.is_over.store(true, Ordering::Relaxed);
            }
        }
    }

    /// The text of an index.
    fn text(&self, index: &Index, history: &str, file: File) -> io::Result<File> {
        if !index.head.is_copy {
            return Ok(file);
        }
        place::open_own(&self.root, &self.path(history, "text")).map(|(text, _)| text)
    }

    /// Starts a thread that reads a history.
    fn begin(self: &Arc<Library>, known: &mut BTreeMap<String, Known>, history: &str, bytes: u64) -> Found {
        let waiting = known.values().filter(|entry| matches!(entry.stage, Stage::Building(_))).count();
        if waiting >= WAITING_MAX {
            return Found::Failed(format!("{waiting} histories are already being read: try again later."));
        }
        let progress = Arc::new(Progress::default());
        progress.bytes.store(bytes, Ordering::Relaxed);
        let stage = Stage::Building(Arc::clone(&progress));
        let entry = Known { mark: String::new(), bytes, used: Instant::now(), stage };
        known.insert(history.to_owned(), entry);
        let (library, history, found) = (Arc::clone(self), history.to_owned(), building(&progress));
        std::thread::spawn(move || library.work(&history, progress));
        found
    }

    fn work(&self, history: &str, progress: Arc<Progress>) {
        let _turn = locked(&self.turn);
        let begin = Instant::now();
        let opened = place::open(&self.root, history).and_then(|(file, bytes)| {
            let metadata = file.metadata()?;
            Ok((file, mark(&metadata), bytes))
        });
        let (mark, bytes, built) = match opened {
            Ok((file, mark, bytes)) => {
                progress.bytes.store(bytes, Ordering::Relaxed);
                (mark.clone(), bytes, self.build(file, history, mark, progress))
            }
            Err(error) => (String::new(), 0, Err(format!("The history cannot be read: {error}."))),
        };
        let good = GOOD.max(begin.elapsed().saturating_mul(GOOD_TIMES));
        let stage = match built {
            Ok(index) => Stage::Ready(Arc::new(index), Instant::now() + good),
            Err(why) => Stage::Failed(why),
        };
        let mut known = locked(&self.known);
        known.insert(history.to_owned(), Known { mark, bytes, used: Instant::now(), stage });
        forget(&mut known);
    }

    fn build(&self, file: File, history: &str, mark: String, progress: Arc<Progress>) -> Result<Index, String> {
        let folder = self.folder();
        let copy = self.path(history, "text");
        let new = copy.with_extension(format!("text-{}", std::process::id()));
        let _ = fs::remove_file(&new);
        let is_written = folder.is_ok();
        let built = build::build(Job { file, history, mark, copy: is_written.then_some(&new), progress });
        match &built {
            Ok(index) if is_written => {
                if index.head.is_copy {
                    fs::rename(&new, &copy)
                        .map_err(|error| format!("A copy of the history cannot be kept: {error}."))?;
                }
                // If the file cannot be written, the next server builds the index again.
                let _ = file::write(&self.path(history, "rows"), index);
                self.prune();
            }
            _ => _ = fs::remove_file(&new),
        }
        built
    }

    /// The server's folder, created if necessary.
    fn folder(&self) -> io::Result<PathBuf> {
        if self.is_read_only {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let mut folder = self.root.clone();
        for name in [FOLDER, ROWS] {
            folder.push(name);
            if fs::symlink_metadata(&folder).is_ok_and(|found| !found.is_dir()) {
                return Err(io::Error::other(format!("{} is not a directory", folder.display())));
            }
            if !folder.is_dir() {
                fs::create_dir(&folder)?;
            }
        }
        Ok(folder)
    }

    /// The path of a history's file: it contains the name for people, and a checksum of the whole path.
    fn path(&self, history: &str, extension: &str) -> PathBuf {
        const CHARS: usize = 80;
        let mut crc = Crc::new();
        crc.update(history.as_bytes());
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '-' };
        let mut end: Vec<char> = history.chars().rev().take(CHARS).map(plain).collect();
        end.reverse();
        let name = format!("{}-{:08x}.{extension}", end.into_iter().collect::<String>(), crc.sum());
        self.root.join(FOLDER).join(ROWS).join(name)
    }

    /// Removes the oldest files if there are too many.
    fn prune(&self) {
        let Ok(folder) = self.folder() else { return };
        let mut files: Vec<(std::time::SystemTime, u64, PathBuf)> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let metadata = entry.metadata().ok().filter(Metadata::is_file)?;
                Some((metadata.modified().ok()?, metadata.len(), entry.path()))
            })
            .collect();
        files.sort();
        let (mut count, mut bytes) = (files.len(), files.iter().map(|(_, bytes, _)| bytes).sum::<u64>());
        for (_, length, path) in files {
            if count <= FILES_MAX && bytes <= FILES_BYTES_MAX {
                return;
            }
            // A reader of the file has it open, so removing it is safe.
            remove(&path);
            count -= 1;
            bytes -= length;
        }
    }
}

fn remove(path: &Path) {
    let _ = fs::remove_file(path);
}

/// Keeps only the entries that were used last.
fn forget(known: &mut BTreeMap<String, Known>) {
    while known.values().filter(|entry| !matches!(entry.stage, Stage::Building(_))).count() > KNOWN_MAX {
        let settled = known.iter().filter(|(_, entry)| !matches!(entry.stage, Stage::Building(_)));
        let Some(oldest) = settled.min_by_key(|(_, entry)| entry.used).map(|(name, _)| name.clone()) else { return };
        known.remove(&oldest);
    }
}

fn building(progress: &Progress) -> Found {
    Found::Building(progress.read.load(Ordering::Relaxed), progress.bytes.load(Ordering::Relaxed))
}

/// The state of a file: if it is unchanged, the file need not be read again.
fn mark(metadata: &Metadata) -> String {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    format!("{} {}", since.map_or(0, |since| since.as_nanos()), metadata.len().to_u64())
}

#[cfg(test)]
mod tests;
