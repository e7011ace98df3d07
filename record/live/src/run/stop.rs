//! The end of a run, for all waiting threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A flag that ends a run, shared by its threads. Clones are the same flag.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    /// Whether `since` is set: clients read it at each operation, without a lock.
    is_set: AtomicBool,
    since: Mutex<Option<Instant>>,
    changed: Condvar,
}

impl Stop {
    /// A flag that is not set.
    pub fn new() -> Stop {
        Stop::default()
    }

    /// Ends the run.
    pub fn set(&self) {
        let mut since = self.lock();
        since.get_or_insert_with(Instant::now);
        self.0.is_set.store(true, Ordering::Release);
        drop(since);
        self.0.changed.notify_all();
    }

    /// Whether the run is over.
    pub fn is_set(&self) -> bool {
        self.0.is_set.load(Ordering::Acquire)
    }

    /// The time since when the run is over.
    pub(crate) fn since(&self) -> Option<Instant> {
        if self.is_set() { *self.lock() } else { None }
    }

    /// Waits, at most so long. Whether the run is over.
    pub fn wait(&self, time: Duration) -> bool {
        // No run takes a year, so this limits only invalid times.
        const LONGEST: Duration = Duration::from_hours(24 * 365);
        let until = Instant::now() + time.min(LONGEST);
        let mut since = self.lock();
        loop {
            let rest = until.saturating_duration_since(Instant::now());
            if since.is_some() || rest.is_zero() {
                return since.is_some();
            }
            since = self.0.changed.wait_timeout(since, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
