//! What a run has recorded so far, for displays of its progress.

use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The numbers of recorded operations so far.
#[derive(Debug, Default)]
pub struct Counts {
    /// Ops, of the nemesis too.
    pub ops: AtomicU64,
    /// Bytes of the file. They end after a complete line.
    pub bytes: AtomicU64,
    /// Operations that succeeded.
    pub ok: AtomicU64,
    /// Operations that did not happen.
    pub fail: AtomicU64,
    /// Operations whose outcome is unknown.
    pub info: AtomicU64,
    /// Operations that were invoked and have not completed.
    pub open: AtomicU64,
    /// Ops that were checked without a violation.
    pub checked: AtomicU64,
    /// How long operations took.
    pub took: Took,
}

/// The durations of operations that were not taken yet, in nanoseconds.
#[derive(Debug, Default)]
pub struct Took(Mutex<Vec<u64>>);

impl Took {
    /// The maximum number of durations kept until they are taken: further ones are lost.
    const TIMES_MAX: usize = 1 << 16;

    /// Adds an operation.
    pub(crate) fn add(&self, time: Duration) {
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if times.len() < Took::TIMES_MAX {
            times.push(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        }
    }

    /// Returns the durations since the last call.
    pub(crate) fn take(&self) -> Vec<u64> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
