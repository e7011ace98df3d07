//! Loops that wait: their schedules come to an end, and nothing else is lost.

use record_parallel::scheduler::{Exhaustive, Random};
use record_parallel::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use record_parallel::sync::{Mutex, mpsc};
use record_parallel::{Cause, Explored, Settings, explore, thread};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex as StdMutex};

/// What a program returns over all schedules, and how many there are.
fn all<T: Ord + Clone + Send + 'static>(program: impl Fn() -> T + Send + Sync + 'static) -> (Explored, Vec<T>) {
    let seen = Arc::new(StdMutex::new(BTreeSet::new()));
    let kept = Arc::clone(&seen);
    let body = move || _ = kept.lock().unwrap().insert(program());
    let explored = explore(&Settings::default(), Exhaustive::new().executions_max(200_000), body);
    let explored = explored.unwrap_or_else(|failure| panic!("{failure}"));
    (explored, seen.lock().unwrap().iter().cloned().collect())
}

#[test]
fn two_loops_that_wait_for_a_third_thread_end() {
    let (explored, seen) = all(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let waiters = [1, 2].map(|_| {
            let flag = Arc::clone(&flag);
            thread::spawn(move || {
                while !flag.load(SeqCst) {
                    thread::yield_now();
                }
            })
        });
        flag.store(true, SeqCst);
        for waiter in waiters {
            waiter.join().unwrap();
        }
    });
    assert!(explored.is_complete && seen.len() == 1, "{explored:?}");
}

/// A loop that waits until `is_done` says so, and a thread that does what it waits for.
fn waits(is_done: fn(&Waited) -> bool, done: fn(&Waited)) -> Explored {
    let program = move || {
        let waited = Arc::new(Waited::default());
        let other = Arc::clone(&waited);
        let thread = thread::spawn(move || done(&other));
        while !is_done(&waited) {
            thread::yield_now();
        }
        thread.join().unwrap();
    };
    all(program).0
}

struct Waited {
    flag: Mutex<bool>,
    number: AtomicU32,
    channel: StdMutex<Option<mpsc::Sender<u32>>>,
    receiver: StdMutex<mpsc::Receiver<u32>>,
}

impl Default for Waited {
    fn default() -> Waited {
        let (sender, receiver) = mpsc::channel();
        Waited {
            flag: Mutex::new(false),
            number: AtomicU32::new(0),
            channel: StdMutex::new(Some(sender)),
            receiver: StdMutex::new(receiver),
        }
    }
}

#[test]
fn loops_that_only_look_end_whatever_they_look_at() {
    for (is_done, done) in [
        (
            (|waited| *waited.flag.lock().unwrap()) as fn(&Waited) -> bool,
            (|waited| *waited.flag.lock().unwrap() = true) as fn(&Waited),
        ),
        (|waited| waited.flag.try_lock().is_ok_and(|flag| *flag), |waited| *waited.flag.lock().unwrap() = true),
        (
            |waited| waited.number.compare_exchange(1, 2, SeqCst, SeqCst).is_ok(),
            |waited| waited.number.store(1, SeqCst),
        ),
        (
            |waited| waited.receiver.lock().unwrap().try_recv().is_ok(),
            |waited| {
                let sender = waited.channel.lock().unwrap().clone();
                sender.unwrap().send(1).unwrap();
            },
        ),
    ] {
        let explored = waits(is_done, done);
        assert!(explored.is_complete && explored.executions < 1000, "{explored:?}");
    }
}

#[test]
fn a_loop_that_gives_up_by_itself_gives_up() {
    // It yields more often than a thread that waits for others would have to.
    let (explored, seen) = all(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&flag);
        let waiter = thread::spawn(move || {
            for _ in 0..5 {
                if other.load(SeqCst) {
                    return true;
                }
                thread::yield_now();
            }
            false
        });
        flag.store(true, SeqCst);
        waiter.join().unwrap()
    });
    assert!(explored.is_complete, "{explored:?}");
    assert_eq!(seen, [false, true]);
}

#[test]
fn a_thread_that_has_left_its_loop_waits_for_nobody() {
    let (explored, seen) = all(|| {
        let numbers = Arc::new([(); 3].map(|()| AtomicU32::new(0)));
        let [a, b, c] = [(); 3].map(|()| Arc::clone(&numbers));
        let looping = thread::spawn(move || {
            for _ in 0..3 {
                a[0].load(SeqCst);
                thread::yield_now();
            }
            a[0].store(1, SeqCst);
            let seen = a[1].load(SeqCst);
            a[2].store(1, SeqCst);
            seen
        });
        let between = thread::spawn(move || b[1].store(b[0].load(SeqCst), SeqCst));
        let last = thread::spawn(move || c[2].load(SeqCst));
        let seen = looping.join().unwrap();
        between.join().unwrap();
        (seen, last.join().unwrap())
    });
    assert!(explored.is_complete, "{explored:?}");
    assert_eq!(seen, [(0, 0), (0, 1), (1, 0), (1, 1)]);
}

#[test]
fn a_thread_that_makes_progress_does_not_wait() {
    let (explored, seen) = all(|| {
        let number = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&number);
        let counter = thread::spawn(move || {
            for _ in 0..5 {
                other.fetch_add(1, SeqCst);
                thread::yield_now();
            }
        });
        let seen = number.load(SeqCst);
        counter.join().unwrap();
        seen
    });
    assert!(explored.is_complete, "{explored:?}");
    assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_loop_that_changes_something_without_end_leaves_the_search_incomplete() {
    let (explored, _) = all(|| {
        let both = Arc::new((AtomicU32::new(0), AtomicBool::new(false)));
        let other = Arc::clone(&both);
        let counter = thread::spawn(move || {
            while !other.1.load(SeqCst) {
                other.0.fetch_add(1, SeqCst);
                thread::yield_now();
            }
        });
        both.1.store(true, SeqCst);
        counter.join().unwrap();
    });
    assert!(!explored.is_complete && explored.executions < 1000, "{explored:?}");
}

#[test]
fn a_loop_that_waits_for_nobody_is_a_livelock() {
    let program = || {
        let flag = AtomicBool::new(false);
        while !flag.load(SeqCst) {
            thread::yield_now();
        }
    };
    let failure = explore(&Settings::default(), Exhaustive::new(), program).unwrap_err();
    assert!(matches!(failure.cause, Cause::Livelock(_)), "{failure}");
    let failure = explore(&Settings::default(), Random::new(0, 1), program).unwrap_err();
    assert!(matches!(failure.cause, Cause::Livelock(_)), "{failure}");
}
