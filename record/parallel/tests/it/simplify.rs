//! Simplification searches for the same failure, not for any failure.

use record_parallel::scheduler::{Exhaustive, Random, Reduced, Replay};
use record_parallel::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use record_parallel::sync::{Mutex, OnceLock};
use record_parallel::{Cause, Kind, Schedule, Settings, explore, simplify, thread};
use std::collections::VecDeque;
use std::sync::Arc;

static FIRST: Mutex<()> = Mutex::new(());
static SECOND: Mutex<()> = Mutex::new(());

/// Locks two statics in different orders. Locks that a failed execution holds remain locked.
fn in_two_orders() {
    thread::spawn(|| {
        let _second = SECOND.lock();
        let _first = FIRST.lock();
    });
    let _first = FIRST.lock();
    let _second = SECOND.lock();
}

#[test]
fn a_deadlock_of_statics_is_kept_with_its_steps_and_holders() {
    let settings = Settings::default();
    let found = explore(&settings, Exhaustive::new(), in_two_orders).unwrap_err();
    let (schedule, table) = (found.schedule.clone(), found.table());
    assert_eq!((found.preemptions(), found.steps.len()), (1, 2), "{found}");
    let simplest = simplify(&settings, found, in_two_orders);
    assert_eq!((&simplest.schedule, simplest.table()), (&schedule, table));
    let Cause::Deadlock(waiting) = &simplest.cause else { panic!("{simplest}") };
    let holders: Vec<_> = waiting.iter().map(|waiting| (waiting.thread, waiting.holder)).collect();
    let [a, b] = [0, 1].map(|number| record_parallel::ThreadId::new(number).unwrap());
    assert_eq!(holders, [(a, Some(b)), (b, Some(a))]);
}

static CELL: OnceLock<u32> = OnceLock::new();

/// Fails while the value of a static is being created, and leaves it half created.
fn while_it_is_made() {
    let ready = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&ready);
    thread::spawn(move || *CELL.get_or_init(|| other.fetch_add(1, SeqCst)));
    assert_eq!(ready.load(SeqCst), 0);
}

#[test]
fn a_static_that_is_left_half_made_is_waited_for_in_the_open() {
    let run = |schedule: &str| {
        let schedule: Schedule = schedule.parse().unwrap();
        explore(&Settings::default(), Replay::new(&schedule), while_it_is_made).unwrap_err()
    };
    let failure = run("b2a");
    assert!(matches!(failure.cause, Cause::Panic { .. }), "{failure}");
    // Previously, the whole process stopped here.
    let failure = run("-");
    let Cause::Deadlock(waiting) = &failure.cause else { panic!("{failure}") };
    assert_eq!(waiting.iter().map(|waiting| waiting.kind).collect::<Vec<_>>(), [Kind::Once]);
}

/// Fails at one place without a preemption, and at another with one.
fn in_two_places() {
    let number = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&number);
    let writer = thread::spawn(move || (1..=2).for_each(|n| other.store(n, SeqCst)));
    thread::spawn(move || match number.load(SeqCst) {
        1 => panic!("in the middle"),
        2 => panic!("at the end"),
        _ => {}
    });
    writer.join().unwrap();
}

#[test]
fn a_panic_at_another_place_is_another_failure() {
    let settings = Settings::default();
    let schedule: Schedule = "bc".parse().unwrap();
    let found = explore(&settings, Replay::new(&schedule), in_two_places).unwrap_err();
    assert_eq!(found.preemptions(), 1);
    let simplest = simplify(&settings, found, in_two_places);
    let Cause::Panic { message, .. } = &simplest.cause else { panic!("{simplest}") };
    assert_eq!((message.as_str(), &simplest.schedule), ("in the middle", &schedule));
}

/// The number of executions of a program in which two threads wait for each other for ever.
static RUNS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

fn wait_for_ever() {
    RUNS.fetch_add(1, SeqCst);
    let both = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let other = Arc::clone(&both);
    thread::spawn(move || while other[0].fetch_add(1, SeqCst) < u32::MAX {});
    while both[1].fetch_add(1, SeqCst) < u32::MAX {}
}

#[test]
fn what_does_not_end_is_not_shortened() {
    let settings = Settings { steps_max: 1000, simplify_max: 0, ..Settings::default() };
    let found = explore(&settings, Random::new(1, 1), wait_for_ever).unwrap_err();
    let Cause::Livelock(_) = &found.cause else { panic!("{found}") };
    let (schedule, before) = (found.schedule.clone(), RUNS.load(SeqCst));
    assert_eq!(simplify(&settings, found, wait_for_ever).schedule, schedule);
    assert!(RUNS.load(SeqCst) - before <= 2, "{}", RUNS.load(SeqCst) - before);
}

/// A worker may find its queue empty, and then see that it should end. Before that it may check any number of times.
fn last_message() {
    let shared = Arc::new((Mutex::new(VecDeque::new()), AtomicBool::new(false)));
    let other = Arc::clone(&shared);
    let worker = thread::spawn(move || {
        loop {
            if let Some(work) = other.0.lock().unwrap().pop_front() {
                return work;
            }
            if other.1.load(SeqCst) {
                return 0;
            }
            thread::yield_now();
        }
    });
    shared.0.lock().unwrap().push_back(1);
    shared.1.store(true, SeqCst);
    assert_eq!(worker.join().unwrap(), 1);
}

#[test]
fn a_loop_that_waits_goes_round_as_often_as_it_must() {
    let settings = Settings::default();
    let found = explore(&settings, Reduced::new(), last_message).unwrap_err();
    assert!(found.steps.len() > 20, "nothing to shorten: {found}");
    let simplest = simplify(&settings, found, last_message);
    assert_eq!(simplest.schedule.to_string(), "b2a", "{simplest}");
    assert!(explore(&settings, Replay::new(&simplest.schedule), last_message).is_err());
}

/// Fails only in its third execution, whatever the schedule.
fn once() {
    static EXECUTIONS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = AtomicU32::new(EXECUTIONS.fetch_add(1, SeqCst));
    assert_ne!(number.load(SeqCst), 2);
}

#[test]
fn a_failure_that_does_not_happen_again_is_reported_as_such() {
    let settings = Settings { repeated: 0, ..Settings::default() };
    let found = explore(&settings, Random::new(0, 10), once).unwrap_err();
    assert!(!found.is_unstable());
    let told = simplify(&settings, found, once);
    assert!(told.is_unstable());
    let text = told.to_string();
    assert!(text.contains("The same schedule did not fail again: the program depends on more than"), "{text}");
}
