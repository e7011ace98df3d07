//! Checks a program as a test: under schedules of several kinds, or under the schedule of a report.

use super::{Explorer, Settings};
use crate::failure::Failure;
use crate::scheduler::{Pct, Random, Scheduler};
use crate::{REPLAY_VARIABLE, SEED_VARIABLE};
use std::sync::Arc;

/// A test of a program with settings; [`check`] is a test with the default settings.
///
/// It is a builder and not an attribute for tests. An attribute would only call this with its arguments, and would need
/// a second crate for its macro, which is compiled for every dependent crate; `#[test]` and one call are as short.
///
/// ```
/// use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use record_parallel::{Check, Settings, thread};
/// use std::sync::Arc;
///
/// let settings = Settings { steps_max: 100_000, ..Settings::default() };
/// Check::new().settings(settings).executions(20).run(|| {
///     let number = Arc::new(AtomicU32::new(0));
///     let other = Arc::clone(&number);
///     let adder = thread::spawn(move || (0..10_000).for_each(|_| _ = other.fetch_add(1, SeqCst)));
///     number.fetch_add(1, SeqCst);
///     adder.join().unwrap();
///     assert_eq!(number.load(SeqCst), 10_001);
/// });
/// ```
#[derive(Clone, Debug)]
#[must_use = "a test runs when `run` is called"]
pub struct Check {
    settings: Settings,
    executions: u64,
    seed: u64,
}

impl Default for Check {
    fn default() -> Check {
        Check::new()
    }
}

impl Check {
    /// Creates a test with 500 schedules of each kind, the seed 0, and the default settings.
    pub fn new() -> Check {
        Check { settings: Settings::default(), executions: 500, seed: 0 }
    }

    /// Sets the limits of executions.
    pub fn settings(mut self, settings: Settings) -> Check {
        self.settings = settings;
        self
    }

    /// Sets the number of schedules of each of the three kinds.
    ///
    /// # Panics
    ///
    /// If the number is 0: a test that runs nothing does not pass.
    #[track_caller]
    pub fn executions(mut self, executions: u64) -> Check {
        assert!(executions > 0, "a test needs at least one execution of each kind");
        self.executions = executions;
        self
    }

    /// Sets the seed of schedules, unless `HISTCHECK_SEED` is set.
    pub fn seed(mut self, seed: u64) -> Check {
        self.seed = seed;
        self
    }

    /// Tests a program: under schedules at random, and of PCT for bugs of depths 2 and 3.
    ///
    /// If the variable `HISTCHECK_REPLAY` is set, runs only under the schedule in it. Seeds are fixed, so a test that
    /// passes once always passes; set `HISTCHECK_SEED` to a number to search elsewhere.
    ///
    /// # Panics
    ///
    /// With a report, if the program fails: see [`explore`](crate::explore()). Also if the value of one of the
    /// variables is not valid.
    #[track_caller]
    pub fn run(self, program: impl Fn() + Send + Sync + 'static) {
        let mut explorer = Explorer::new(self.settings, Arc::new(program));
        if let Ok(text) = std::env::var(REPLAY_VARIABLE) {
            match explorer.replay(&text) {
                Ok(_) => eprintln!("{REPLAY_VARIABLE}={text}: the program does not fail under this schedule"),
                Err(failure) => fail(&failure),
            }
            return;
        }
        let is_set = std::env::var_os(SEED_VARIABLE).is_some();
        let (seed, executions) = (if is_set { seed_from_environment() } else { self.seed }, self.executions);
        let schedulers: [Box<dyn Scheduler>; 3] = [
            Box::new(Random::new(seed, executions)),
            Box::new(Pct::new(seed, 2, executions)),
            Box::new(Pct::new(seed, 3, executions)),
        ];
        for scheduler in schedulers {
            if let Err(failure) = explorer.explore(scheduler) {
                fail(&explorer.simplify(failure));
            }
        }
    }
}

/// Tests a program: under 500 schedules at random, and 500 each of PCT for bugs of depths 2 and 3. [`Check`] is the
/// same with settings.
///
/// # Panics
///
/// The same as [`Check::run`].
///
/// ```
/// use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use record_parallel::{check, thread};
/// use std::sync::Arc;
///
/// check(|| {
///     let number = Arc::new(AtomicU32::new(0));
///     let adders = [1, 2].map(|_| {
///         let number = Arc::clone(&number);
///         thread::spawn(move || number.fetch_add(1, SeqCst))
///     });
///     adders.into_iter().for_each(|adder| _ = adder.join().unwrap());
///     assert_eq!(number.load(SeqCst), 2);
/// });
/// ```
#[track_caller]
pub fn check(program: impl Fn() + Send + Sync + 'static) {
    Check::new().run(program);
}

/// Fails the test with a report that contains instructions to reproduce the failure.
#[track_caller]
fn fail(failure: &Failure) -> ! {
    panic!("{failure}\n\nreplay: {REPLAY_VARIABLE}={} cargo test NAME", failure.schedule)
}

/// The number in `HISTCHECK_SEED`; 0 if it is not set.
pub(crate) fn seed_from_environment() -> u64 {
    let Ok(text) = std::env::var(SEED_VARIABLE) else { return 0 };
    text.trim().parse().unwrap_or_else(|_| panic!("{SEED_VARIABLE} is not a number from 0 to 2^64-1: {text:?}"))
}
