//! Double-checked initialisation: without the second check the value is made twice; if the value is marked as ready too
//! early, a thread reads it before it exists. Budget: 100 executions for each bug.

use record_parallel::scheduler::{Exhaustive, Pct, Random, Reduced};
use record_parallel::sync::Mutex;
use record_parallel::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use record_parallel::{Cause, Settings, explore, thread};
use std::sync::Arc;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bug {
    None,
    NoSecondCheck,
    ReadyTooEarly,
}

struct Lazy {
    bug: Bug,
    lock: Mutex<()>,
    is_ready: AtomicBool,
    value: AtomicU32,
    made: AtomicU32,
}

impl Lazy {
    fn get(&self) -> u32 {
        if !self.is_ready.load(SeqCst) {
            let _guard = self.lock.lock().unwrap();
            if self.bug == Bug::NoSecondCheck || !self.is_ready.load(SeqCst) {
                if self.bug == Bug::ReadyTooEarly {
                    self.is_ready.store(true, SeqCst);
                }
                self.value.store(self.made.fetch_add(1, SeqCst) + 1, SeqCst);
                self.is_ready.store(true, SeqCst);
            }
        }
        self.value.load(SeqCst)
    }
}

fn program(bug: Bug) -> impl Fn() + Send + Sync + 'static {
    move || {
        let lazy = Lazy {
            bug,
            lock: Mutex::new(()),
            is_ready: AtomicBool::new(false),
            value: AtomicU32::new(0),
            made: AtomicU32::new(0),
        };
        let lazy = Arc::new(lazy);
        for _ in 0..2 {
            let lazy = Arc::clone(&lazy);
            thread::spawn(move || assert_eq!(lazy.get(), 1, "the value was made twice, or not yet"));
        }
    }
}

#[test]
fn both_bugs_are_found_within_their_budget() {
    let settings = Settings::default();
    for bug in [Bug::NoSecondCheck, Bug::ReadyTooEarly] {
        for seed in 0..30 {
            for failure in [
                explore(&settings, Random::new(seed, 100), program(bug)).unwrap_err(),
                explore(&settings, Pct::new(seed, 2, 100), program(bug)).unwrap_err(),
            ] {
                let Cause::Panic { message, place, .. } = &failure.cause else { panic!("{failure}") };
                assert!(message.contains("the value was made twice, or not yet"), "{message}");
                assert!(place.contains("double_checked.rs:"), "{place}");
            }
        }
        explore(&settings, Exhaustive::new().preemptions_max(1), program(bug)).unwrap_err();
        explore(&settings, Reduced::new(), program(bug)).unwrap_err();
    }
}

#[test]
fn the_right_one_passes_under_all_schedules() {
    let full = explore(&Settings::default(), Exhaustive::new(), program(Bug::None)).unwrap();
    let reduced = explore(&Settings::default(), Reduced::new(), program(Bug::None)).unwrap();
    assert!(full.is_complete && reduced.is_complete);
    assert!(reduced.executions * 2 < full.executions, "{reduced:?} of {full:?}");
}
