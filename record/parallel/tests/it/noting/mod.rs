//! Goes on after each execution and notes what became of it: the outcomes of a program under all schedules of a search.

mod seen;

use record_parallel::scheduler::{Choice, Ended, Pick, Reduced, Scheduler};
use record_parallel::{Cause, Explored, Settings, ThreadId, explore};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

pub(crate) use seen::{complete, under, under_both};

/// What the threads of one execution saw.
pub(crate) type Seen = Vec<Vec<u32>>;

/// A scheduler around another that notes what became of each execution.
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

/// With so many surprises.
pub(crate) fn settings(surprises_max: u32) -> Settings {
    Settings { surprises_max, ..Settings::default() }
}

/// What a program returns over all schedules with so many surprises; the same under both searches.
pub(crate) fn all<T: Ord + Debug + Send + 'static>(surprises: u32, program: fn() -> T) -> (Explored, Vec<T>) {
    let both = complete(&settings(surprises), program);
    (both.reduced, both.seen)
}

/// The same of a program that has too many schedules to try all of them.
pub(crate) fn reduced<T: Ord + Send + 'static>(surprises: u32, program: fn() -> T) -> (Explored, Vec<T>) {
    let (explored, seen) = under(&settings(surprises), Reduced::new(), program);
    assert!(explored.is_complete, "{explored:?}");
    (explored, seen)
}

/// All that the threads of a program can see, or `None` if it can come to a deadlock or a livelock; and how many
/// executions it took. The program notes what they see where it is told to.
pub(crate) fn outcomes<S: Scheduler + 'static>(
    scheduler: S,
    program: impl Fn(&Arc<Mutex<Seen>>) + Send + Sync + 'static,
) -> (Option<BTreeSet<Seen>>, Explored) {
    outcomes_within(1, scheduler, program)
}

/// The same with so many surprises.
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
