//! Limits on the time and memory of checking a history.

use history_core::{Budget, Cancel};
use std::time::{Duration, Instant};

/// The limits for one history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) timeout: Option<Duration>,
    pub(crate) bytes_max: Option<u64>,
}

impl Limits {
    pub(crate) fn are_any(&self) -> bool {
        self.timeout.is_some() || self.bytes_max.is_some()
    }

    /// The budget for checking one history, which starts now.
    pub(crate) fn budget(&self, cancel: Cancel) -> Budget {
        let deadline = self.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut budget = Budget::default().with_cancel(cancel);
        (budget.bytes_max, budget.deadline) = (self.bytes_max, deadline);
        budget
    }
}
