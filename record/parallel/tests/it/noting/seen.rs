//! The values that a program returns over all schedules of a search.

use record_parallel::scheduler::{Exhaustive, Reduced, Scheduler};
use record_parallel::{Explored, Settings, explore};
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

/// The values that a program returns under the schedules of a scheduler: each value once, in order.
///
/// The values are in a sorted vector, which compiles faster than a tree: there are two hundred types of programs and
/// values.
pub(crate) fn under<T: Ord + Send + 'static>(
    settings: &Settings,
    scheduler: impl Scheduler + 'static,
    program: impl Fn() -> T + Send + Sync + 'static,
) -> (Explored, Vec<T>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let body = move || {
        let (value, mut kept) = (program(), kept.lock().unwrap());
        if let Err(place) = kept.binary_search(&value) {
            kept.insert(place, value);
        }
    };
    let explored = explored(settings, scheduler, Box::new(body));
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    (explored, seen)
}

fn explored(
    settings: &Settings,
    scheduler: impl Scheduler + 'static,
    program: Box<dyn Fn() + Send + Sync>,
) -> Explored {
    explore(settings, scheduler, program).unwrap_or_else(|failure| panic!("{failure}"))
}

/// The results of a program over all schedules.
pub(crate) struct Both<T> {
    /// Statistics of the exhaustive search.
    pub(crate) full: Explored,
    /// Statistics of the reduced search, which found the same values.
    pub(crate) reduced: Explored,
    /// Each value once, in order.
    pub(crate) seen: Vec<T>,
}

/// The values that a program returns under both searches, which must agree. Each search has this maximum of executions.
pub(crate) fn under_both<T: Ord + Debug + Send + 'static>(
    settings: &Settings,
    executions_max: u64,
    program: impl Fn() -> T + Send + Sync + Clone + 'static,
) -> Both<T> {
    let (full, seen) = under(settings, Exhaustive::new().executions_max(executions_max), program.clone());
    let (reduced, also) = under(settings, Reduced::new().executions_max(executions_max), program);
    assert_eq!(seen, also, "left: exhaustive, right: reduced");
    Both { full, reduced, seen }
}

/// As [`under_both`], for a program with few enough schedules to try all of them.
pub(crate) fn complete<T: Ord + Debug + Send + 'static>(
    settings: &Settings,
    program: impl Fn() -> T + Send + Sync + Clone + 'static,
) -> Both<T> {
    let both = under_both(settings, u64::MAX, program);
    assert!(both.full.is_complete && both.reduced.is_complete, "{:?}, {:?}", both.full, both.reduced);
    both
}
