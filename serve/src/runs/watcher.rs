//! Updates the list of runs on a separate thread, while there are users.

use super::find::{self, Found};
use super::run::Run;
use super::{index, ops};
use crate::files::place;
use crate::http::query;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The minimum time between two searches; a search that takes long is followed by a longer pause.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSES_PER_WALK: u32 = 10;
/// The maximum number of compressed histories that are counted after a search, and of bytes of each, and of its text.
const COUNTED_MAX: usize = 8;
const COUNTED_BYTES_MAX: u64 = 64 << 20;
const COUNTED_TEXT_BYTES_MAX: u64 = 512 << 20;
/// The time without requests after which the searches stop.
const INTEREST: Duration = Duration::from_secs(30);

/// The list of runs at one time.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) runs: Vec<Run>,
    pub(crate) notes: Vec<String>,
    /// The number of changes so far; 0 before the first search.
    pub(crate) generation: u64,
    /// Whether the first search is complete.
    pub(crate) is_complete: bool,
}

impl Snapshot {
    /// The run with this id.
    pub(crate) fn run(&self, id: &str) -> Option<&Run> {
        let at = self.runs.binary_search_by(|run| run.id.as_str().cmp(id)).ok()?;
        Some(&self.runs[at])
    }

    /// The run in the field `run` of a form. The field is always percent-encoded, because a page contains no hidden
    /// characters.
    pub(crate) fn run_in_form(&self, field: &str) -> Option<&Run> {
        self.run(&query::decoded(field)?)
    }
}

/// Updates the list of runs below a directory.
pub(crate) struct Watcher {
    root: PathBuf,
    is_read_only: bool,
    current: Mutex<Arc<Snapshot>>,
    /// The time of the last request.
    asked: Mutex<Option<Instant>>,
    wake: Condvar,
    changes: watch::Sender<u64>,
}

impl Watcher {
    /// Starts to update the list. Data of an earlier process is available immediately.
    pub(crate) fn start(root: PathBuf, is_read_only: bool) -> Arc<Watcher> {
        let mut runs = index::read(&root);
        runs.sort_by(|a, b| a.id.cmp(&b.id));
        runs.dedup_by(|a, b| a.id == b.id);
        let current = Mutex::new(Arc::new(Snapshot { runs, ..Snapshot::default() }));
        let (changes, _) = watch::channel(0);
        let watcher = Watcher {
            root,
            is_read_only,
            current,
            asked: Mutex::new(Some(Instant::now())),
            wake: Condvar::new(),
            changes,
        };
        let watcher = Arc::new(watcher);
        let follower = Arc::downgrade(&watcher);
        std::thread::spawn(move || {
            while let Some(watcher) = follower.upgrade() {
                let took = watcher.walk();
                let pause = PAUSE.max(took.saturating_mul(PAUSES_PER_WALK));
                watcher.rest(pause);
            }
        });
        watcher
    }

    /// The current list of runs, which is at most a few seconds old.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        *locked(&self.asked) = Some(Instant::now());
        self.wake.notify_all();
        Arc::clone(&locked(&self.current))
    }

    /// A receiver that is notified of changes.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Searches immediately, after a change by the caller.
    pub(crate) fn walk(&self) -> Duration {
        let begin = Instant::now();
        let before = Arc::clone(&locked(&self.current));
        let Found { mut runs, notes } = find::find(&self.root, &before.runs);
        // Counting takes long, so the first list does not wait for it.
        if before.is_complete {
            count(&self.root, &mut runs);
        }
        let mut current = locked(&self.current);
        if !Arc::ptr_eq(&current, &before) {
            // Another thread has updated the list in the meantime.
            return begin.elapsed();
        }
        if before.is_complete && runs == before.runs && notes == before.notes {
            return begin.elapsed();
        }
        let is_changed = runs != before.runs;
        let generation = before.generation + 1;
        *current = Arc::new(Snapshot { runs, notes, generation, is_complete: true });
        let now = Arc::clone(&current);
        drop(current);
        if is_changed && !self.is_read_only {
            // Without the index file, only the next start takes longer.
            let _ = index::write(&self.root, &now.runs);
        }
        self.changes.send_replace(generation);
        begin.elapsed()
    }

    /// Waits for this time, and until there is a request.
    fn rest(&self, pause: Duration) {
        std::thread::sleep(pause);
        let asked = locked(&self.asked);
        let is_idle = |asked: &mut Option<Instant>| {
            asked.is_none_or(|asked| asked.elapsed() > INTEREST) && self.changes.receiver_count() == 0
        };
        // The wait is limited, so that the thread detects when the server is gone.
        let woken = self.wake.wait_timeout_while(asked, INTEREST, is_idle);
        drop(woken);
    }
}

/// Counts the ops of some compressed histories: as many as one search has time for.
fn count(root: &Path, runs: &mut [Run]) {
    for run in runs.iter_mut().filter(|run| run.is_unread).take(COUNTED_MAX) {
        let place = run.history_path().and_then(|path| place::find(root, &path).ok());
        let extent =
            place.map(|(path, _)| ops::count(&path, COUNTED_BYTES_MAX, COUNTED_TEXT_BYTES_MAX)).unwrap_or_default();
        (run.ops, run.length_ns, run.is_unread) = (extent.ops, extent.length_ns, false);
    }
}

/// Locks a mutex, even if a thread panicked while it held the lock.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_detected_and_stored() {
        let dir = tempfile::tempdir().unwrap();
        let watcher = Watcher::start(dir.path().to_owned(), false);
        watcher.walk();
        // It is renamed, so that it appears as a whole: the thread's own search may find it.
        let draft = tempfile::tempdir().unwrap();
        std::fs::write(draft.path().join("a.edn"), "{:index 3}\n").unwrap();
        std::fs::rename(draft.path().join("a.edn"), dir.path().join("a.edn")).unwrap();
        while watcher.snapshot().run("a.edn").is_none() {
            watcher.walk();
        }
        assert_eq!(watcher.snapshot().run("a.edn").unwrap().ops, Some(4));
        assert!(watcher.snapshot().run("b.edn").is_none());
        while index::read(dir.path()).is_empty() {
            std::thread::yield_now();
        }
        let again = Watcher::start(dir.path().to_owned(), true);
        assert_eq!(again.snapshot().runs.len(), 1, "another process has the list immediately");
    }

    #[test]
    fn a_read_only_watcher_writes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.edn"), "").unwrap();
        let watcher = Watcher::start(dir.path().to_owned(), true);
        while !watcher.snapshot().is_complete {
            watcher.walk();
        }
        assert_eq!(watcher.snapshot().runs.len(), 1);
        assert!(!dir.path().join(index::FOLDER).exists());
    }

    #[test]
    fn ops_of_compressed_histories_are_counted_later() {
        use std::io::Write as _;
        let dir = tempfile::tempdir().unwrap();
        let text = "{:type :ok, :process 0, :time 5}\n".repeat(70);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        let bytes = gzip.finish().unwrap();
        std::fs::write(dir.path().join("a.edn.gz"), &bytes).unwrap();
        std::fs::write(dir.path().join("cut.edn.gz"), &bytes[..bytes.len() / 2]).unwrap();
        let watcher = Watcher::start(dir.path().to_owned(), true);
        while watcher.snapshot().runs.is_empty() || watcher.snapshot().runs.iter().any(|run| run.is_unread) {
            watcher.walk();
        }
        let now = watcher.snapshot();
        assert_eq!((now.run("a.edn.gz").unwrap().ops, now.run("a.edn.gz").unwrap().length_ns), (Some(70), Some(5)));
        assert_eq!(now.run("cut.edn.gz").unwrap().ops, None, "a part is not counted");
    }
}
