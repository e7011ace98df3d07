//! What a run has recorded so far, for whoever shows its progress.

use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What was recorded so far.
#[derive(Debug, Default)]
pub struct Counts {
    /// Ops, of the nemesis too.
    pub ops: AtomicU64,
    /// Bytes of the file. They end behind a whole line.
    pub bytes: AtomicU64,
    /// Operations that succeeded.
    pub ok: AtomicU64,
    /// Operations that did not happen.
    pub fail: AtomicU64,
    /// Operations of which nobody knows whether they happened.
    pub info: AtomicU64,
    /// Operations that were invoked and have not completed.
    pub open: AtomicU64,
    /// Ops that the judge has checked, without a violation.
    pub checked: AtomicU64,
    /// How long operations took.
    pub took: Took,
}

/// How long operations took that nobody has asked for yet, in nanoseconds.
#[derive(Debug, Default)]
pub struct Took(Mutex<Vec<u64>>);

impl Took {
    /// Times that wait for somebody to ask: further ones are lost.
    const TIMES_MAX: usize = 1 << 16;

    /// Adds an operation.
    pub(crate) fn add(&self, time: Duration) {
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if times.len() < Took::TIMES_MAX {
            times.push(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        }
    }

    /// Those since the last time.
    pub(crate) fn take(&self) -> Vec<u64> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
