//! The end of a run, for everybody who waits.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A flag that ends a run, shared by its threads. Clones are the same flag.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<(Mutex<Option<Instant>>, Condvar)>);

impl Stop {
    /// A flag that is not set.
    pub fn new() -> Stop {
        Stop::default()
    }

    /// Ends the run.
    pub fn set(&self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Instant::now);
        self.0.1.notify_all();
    }

    /// Whether the run is over.
    pub fn is_set(&self) -> bool {
        self.since().is_some()
    }

    /// Since when the run is over.
    pub(crate) fn since(&self) -> Option<Instant> {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits, at most so long. Whether the run is over.
    pub fn wait(&self, time: Duration) -> bool {
        // No run takes a year.
        const LONGEST: Duration = Duration::from_hours(24 * 365);
        let until = Instant::now() + time.min(LONGEST);
        let mut is_set = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let rest = until.saturating_duration_since(Instant::now());
            if is_set.is_some() || rest.is_zero() {
                return is_set.is_some();
            }
            is_set = self.0.1.wait_timeout(is_set, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
