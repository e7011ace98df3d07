//! Limits on a search, which returns "unknown" when it reaches one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Limits on a search. The default has none.
///
/// A search that reaches a limit returns [`Verdict::Unknown`](crate::Verdict::Unknown), never a guess. Limits on states
/// and bytes are deterministic. A deadline and a cancellation are not, but they can only replace a verdict by
/// "unknown".
///
/// ```
/// use history_core::{Budget, Spent};
///
/// let budget = Budget::default().with_states_max(1000);
/// assert_eq!(budget.check(1000, 0), Ok(()));
/// assert_eq!(budget.check(1001, 0), Err(Spent::States));
/// budget.cancel.cancel();
/// assert_eq!(budget.check(0, 0), Err(Spent::Cancelled));
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Budget {
    /// States (configurations, nodes of a search) that may be visited.
    pub states_max: Option<u64>,
    /// Bytes that the search may use at a time.
    pub bytes_max: Option<u64>,
    /// When to stop.
    pub deadline: Option<Instant>,
    /// A flag that other code may raise. The code of a model can read it too, and should do so in long steps.
    pub cancel: Cancel,
    /// Whether the caller draws figures: a report has [`Report::figures`](crate::Report::figures) only then.
    pub figures: bool,
    /// Where a search records its progress, if a caller displays it. Nothing else depends on it.
    pub activity: Option<Arc<Activity>>,
}

/// The progress of a search, for another thread to read: [`Budget::begin`] and [`Budget::check`] update it.
///
/// ```
/// use history_core::{Activity, Budget};
/// use std::sync::Arc;
///
/// let activity = Arc::new(Activity::default());
/// let budget = Budget::default().with_activity(Arc::clone(&activity));
/// budget.begin("searching");
/// budget.check(1000, 0).unwrap();
/// assert_eq!((activity.phase(), activity.states()), ("searching", 1000));
/// ```
#[derive(Debug, Default)]
pub struct Activity {
    phase: Mutex<&'static str>,
    states: AtomicU64,
}

impl Activity {
    /// The name of the current phase, such as `"searching for cycles"`; empty until the first phase begins.
    pub fn phase(&self) -> &'static str {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of states visited by the largest search of this phase.
    pub fn states(&self) -> u64 {
        self.states.load(Ordering::Relaxed)
    }
}

/// A flag that stops a search. All its clones share it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Flag);

#[derive(Clone, Debug)]
enum Flag {
    Shared(Arc<AtomicBool>),
    /// A borrowed flag of another library, which never frees it.
    Lent(&'static AtomicBool),
}

impl Default for Flag {
    fn default() -> Flag {
        Flag::Shared(Arc::default())
    }
}

impl Cancel {
    /// Raises the flag permanently.
    pub fn cancel(&self) {
        self.flag().store(true, Ordering::Relaxed);
    }

    /// Whether it was raised.
    pub fn is_cancelled(&self) -> bool {
        self.flag().load(Ordering::Relaxed)
    }

    fn flag(&self) -> &AtomicBool {
        match &self.0 {
            Flag::Shared(flag) => flag,
            Flag::Lent(flag) => flag,
        }
    }

    /// The flag, which is never freed, for a library that may keep the reference. Each call leaks a few bytes.
    #[doc(hidden)]
    pub fn lend(&self) -> &'static AtomicBool {
        match &self.0 {
            Flag::Shared(flag) => Box::leak(Box::new(Arc::clone(flag))),
            Flag::Lent(flag) => flag,
        }
    }

    /// The flag that another library lent.
    #[doc(hidden)]
    pub fn lent(flag: &'static AtomicBool) -> Cancel {
        Cancel(Flag::Lent(flag))
    }
}

/// Which part of a budget ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spent {
    /// [`Budget::states_max`].
    States,
    /// [`Budget::bytes_max`].
    Bytes,
    /// [`Budget::deadline`].
    Time,
    /// [`Budget::cancel`].
    Cancelled,
}

impl Spent {
    /// As a clause: `"the time limit was reached"`.
    pub fn because(self) -> &'static str {
        match self {
            Spent::States => "the maximum number of states was reached",
            Spent::Bytes => "the memory limit was reached",
            Spent::Time => "the time limit was reached",
            Spent::Cancelled => "it was cancelled",
        }
    }
}

impl Budget {
    /// The same budget with a limit on states.
    #[must_use]
    pub fn with_states_max(self, max: u64) -> Budget {
        Budget { states_max: Some(max), ..self }
    }

    /// The same budget with a limit on bytes.
    #[must_use]
    pub fn with_bytes_max(self, max: u64) -> Budget {
        Budget { bytes_max: Some(max), ..self }
    }

    /// The same budget with a deadline.
    #[must_use]
    pub fn with_deadline(self, deadline: Instant) -> Budget {
        Budget { deadline: Some(deadline), ..self }
    }

    /// The same budget with a flag that cancels the search.
    #[must_use]
    pub fn with_cancel(self, cancel: Cancel) -> Budget {
        Budget { cancel, ..self }
    }

    /// The same budget, with or without figures.
    #[must_use]
    pub fn with_figures(self, figures: bool) -> Budget {
        Budget { figures, ..self }
    }

    /// The same budget with a place where searches record their progress.
    #[must_use]
    pub fn with_activity(self, activity: Arc<Activity>) -> Budget {
        Budget { activity: Some(activity), ..self }
    }

    /// Records that another phase begins, such as `"searching for cycles"`. Only progress displays use it.
    pub fn begin(&self, phase: &'static str) {
        if let Some(activity) = &self.activity {
            *activity.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
            activity.states.store(0, Ordering::Relaxed);
        }
    }

    /// Whether a search that has visited `states` and uses `bytes` may continue. It reads the clock if there is a
    /// deadline, so call it every few thousand steps.
    ///
    /// # Errors
    ///
    /// What ran out.
    pub fn check(&self, states: u64, bytes: u64) -> Result<(), Spent> {
        if let Some(activity) = &self.activity
            && states > 0
        {
            activity.states.fetch_max(states, Ordering::Relaxed);
        }
        if self.cancel.is_cancelled() {
            return Err(Spent::Cancelled);
        }
        if self.states_max.is_some_and(|max| states > max) {
            return Err(Spent::States);
        }
        if self.bytes_max.is_some_and(|max| bytes > max) {
            return Err(Spent::Bytes);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            return Err(Spent::Time);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_that_was_lent_is_the_same_flag() {
        let cancel = Cancel::default();
        let lent = Cancel::lent(cancel.lend());
        assert!(!lent.is_cancelled());
        cancel.cancel();
        assert!(lent.is_cancelled() && Cancel::lent(lent.lend()).is_cancelled());
    }
}
