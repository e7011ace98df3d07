//! Loops that wait: both searches try finitely many schedules of them, whether the loops yield or not, and lose no
//! results.

use crate::noting::under_both;
use record_parallel::scheduler::{Exhaustive, Pct, Random, Reduced, Replay};
use record_parallel::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};
use record_parallel::sync::{Mutex, mpsc};
use record_parallel::{Cause, Explored, Settings, explore, hint, thread};
use std::fmt::Debug;
use std::sync::{Arc, Mutex as StdMutex};

/// The values that a program returns over all schedules, and statistics of the full search. The reduced search must
/// find the same values.
fn all<T: Ord + Debug + Send + 'static>(program: impl Fn() -> T + Send + Sync + Copy + 'static) -> (Explored, Vec<T>) {
    let both = under_both(&Settings::default(), 200_000, program);
    let (full, reduced) = (both.full, both.reduced);
    assert!(!full.is_complete || reduced.is_complete, "{reduced:?}, {full:?}");
    (full, both.seen)
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

/// Runs a loop that waits until `is_done` returns true, and a thread that makes it true with `done`.
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
    // The loop yields more often than the number of yields after which a thread waits for others.
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

/// A spin lock that does not inform the scheduler.
fn spin_lock() -> u32 {
    let both = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
    let threads = [1, 2].map(|_| {
        let both = Arc::clone(&both);
        thread::spawn(move || {
            while both.0.compare_exchange(false, true, SeqCst, SeqCst).is_err() {
                std::hint::spin_loop();
            }
            both.1.store(both.1.load(SeqCst) + 1, SeqCst);
            both.0.store(false, SeqCst);
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    both.1.load(SeqCst)
}

#[test]
fn a_loop_that_does_not_yield_ends() {
    let (explored, seen) = all(spin_lock);
    assert!(explored.is_complete && explored.executions < 1000, "{explored:?}");
    assert_eq!(seen, [2]);
    for seed in 0..20 {
        explore(&Settings::default(), Pct::new(seed, 3, 20), || assert_eq!(spin_lock(), 2)).unwrap();
    }
    let (_, seen) = all(|| {
        let flags = Arc::new([(); 3].map(|()| AtomicBool::new(false)));
        let threads = [0, 1].map(|at| {
            let flags = Arc::clone(&flags);
            thread::spawn(move || {
                while !flags[at].load(SeqCst) {}
                flags[at + 1].store(true, SeqCst);
            })
        });
        flags[0].store(true, SeqCst);
        while !flags[2].load(SeqCst) {}
        for thread in threads {
            thread.join().unwrap();
        }
    });
    assert_eq!(seen, [()]);
}

#[test]
fn a_loop_that_counts_without_yielding_gives_up() {
    let (explored, seen) = all(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&flag);
        let waiter = thread::spawn(move || (0..5).position(|_| other.load(SeqCst)));
        flag.store(true, SeqCst);
        waiter.join().unwrap()
    });
    assert!(explored.is_complete, "{explored:?}");
    assert_eq!(seen, [None, Some(0), Some(1), Some(2), Some(3), Some(4)]);
}

#[test]
fn a_loop_that_does_not_yield_and_waits_for_nobody_is_a_livelock() {
    let program = || {
        let flag = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&flag);
        thread::spawn(move || other.store(false, SeqCst));
        while !flag.load(SeqCst) {}
    };
    for failure in [
        explore(&Settings::default(), Exhaustive::new(), program).unwrap_err(),
        explore(&Settings::default(), Reduced::new(), program).unwrap_err(),
    ] {
        assert!(matches!(failure.cause, Cause::Livelock(_)), "{failure}");
    }
}

/// A thread that reads a flag and then sets it; the other threads up to `count` wait for the flag.
fn spinners(count: usize) {
    let flag = Arc::new(AtomicBool::new(false));
    for _ in 1..count {
        let flag = Arc::clone(&flag);
        thread::spawn(move || {
            while !flag.load(SeqCst) {
                thread::yield_now();
            }
        });
    }
    let other = Arc::clone(&flag);
    thread::spawn(move || {
        other.load(SeqCst);
        other.store(true, SeqCst);
    });
    while !flag.load(SeqCst) {
        thread::yield_now();
    }
}

#[test]
fn threads_that_spin_let_a_later_one_go_first() {
    for count in [2, 3] {
        let explored = explore(&Settings::default(), Reduced::new(), move || spinners(count)).unwrap();
        assert!(explored.is_complete && explored.executions + explored.redundant < 1000, "{explored:?}");
    }
    // The same must hold after the end of a schedule.
    for text in ["-", "b", "ab", "abab"] {
        let schedule = text.parse().unwrap();
        explore(&Settings::default(), Replay::new(&schedule), || spinners(2)).unwrap();
    }
}

#[test]
fn a_ticket_lock_of_three_threads_ends() {
    for spin in [thread::yield_now, hint::spin_loop, || {}] {
        let program = move || {
            let both = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
            let lock = move |both: &(AtomicU32, AtomicU32)| {
                let ticket = both.0.fetch_add(1, Relaxed);
                while both.1.load(Acquire) != ticket {
                    spin();
                }
                both.1.store(ticket + 1, Release);
            };
            let threads = [1, 2].map(|_| {
                let both = Arc::clone(&both);
                thread::spawn(move || lock(&both))
            });
            lock(&both);
            for thread in threads {
                thread.join().unwrap();
            }
        };
        let explored = explore(&Settings::default(), Reduced::new().executions_max(20_000), program).unwrap();
        assert!(explored.is_complete, "{explored:?}");
    }
}
