//! Records the outcome of each execution and continues: the outcomes of a program under all schedules of a search.

mod seen;

use record_parallel::scheduler::{Choice, Ended, Pick, Reduced, Scheduler};
use record_parallel::{Cause, Explored, Settings, ThreadId, explore};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

pub(crate) use seen::{complete, under, under_both};

/// The values that the threads of one execution saw.
pub(crate) type Seen = Vec<Vec<u32>>;

/// A scheduler that wraps another one and records the outcome of each execution.
struct Noting<S> {
    inner: S,
    seen: Arc<Mutex<Seen>>,
    all: Arc<Mutex<BTreeSet<Seen>>>,
}

impl<S: Scheduler> Scheduler for Noting<S> {
    fn begin(&mut self) -> bool {
        self.inner.begin()
    }

    fn next(&mut self, choice: &Choice<'_>) -> Option<ThreadId> {
        self.inner.next(choice)
    }

    fn pick(&mut self, pick: Pick, options: u32) -> Option<u32> {
        self.inner.pick(pick, options)
    }

    fn wants_every_step(&self) -> bool {
        self.inner.wants_every_step()
    }

    fn end(&mut self, ended: &Ended<'_>) -> bool {
        self.all.lock().unwrap().insert(self.seen.lock().unwrap().clone());
        self.inner.end(ended)
    }

    fn is_complete(&self) -> bool {
        self.inner.is_complete()
    }
}

/// Settings with this maximum of surprises.
pub(crate) fn settings(surprises_max: u32) -> Settings {
    Settings { surprises_max, ..Settings::default() }
}

/// The values that a program returns over all schedules with this maximum of surprises. Both searches must find the
/// same.
pub(crate) fn all<T: Ord + Debug + Send + 'static>(surprises: u32, program: fn() -> T) -> (Explored, Vec<T>) {
    let both = complete(&settings(surprises), program);
    (both.reduced, both.seen)
}

/// As [`all`], under the reduced search only, for programs with too many schedules.
pub(crate) fn reduced<T: Ord + Send + 'static>(surprises: u32, program: fn() -> T) -> (Explored, Vec<T>) {
    let (explored, seen) = under(&settings(surprises), Reduced::new(), program);
    assert!(explored.is_complete, "{explored:?}");
    (explored, seen)
}

/// All results that the threads of a program can see, or `None` if a deadlock or a livelock is possible; and statistics
/// of the search. The program stores the results of an execution in its argument.
pub(crate) fn outcomes<S: Scheduler + 'static>(
    scheduler: S,
    program: impl Fn(&Arc<Mutex<Seen>>) + Send + Sync + 'static,
) -> (Option<BTreeSet<Seen>>, Explored) {
    outcomes_within(1, scheduler, program)
}

/// As [`outcomes`], with this maximum of surprises.
pub(crate) fn outcomes_within<S: Scheduler + 'static>(
    surprises_max: u32,
    scheduler: S,
    program: impl Fn(&Arc<Mutex<Seen>>) + Send + Sync + 'static,
) -> (Option<BTreeSet<Seen>>, Explored) {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let all = Arc::new(Mutex::new(BTreeSet::new()));
    let noting = Noting { inner: scheduler, seen: Arc::clone(&seen), all: Arc::clone(&all) };
    let settings = Settings { repeated: 0, steps_max: 2000, surprises_max, ..Settings::default() };
    match explore(&settings, noting, move || program(&seen)) {
        Ok(explored) => (Some(all.lock().unwrap().clone()), explored),
        Err(failure) => {
            assert!(matches!(failure.cause, Cause::Deadlock(_) | Cause::Livelock(_)), "{failure}");
            (None, Explored::default())
        }
    }
}
