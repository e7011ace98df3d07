//! The schedule makes the choices that the program leaves open: which waiter is notified, time-outs, waits that end
//! without a reason, weak exchanges that fail without a reason, and numbers.

use crate::noting::complete;
use record_parallel::scheduler::{Exhaustive, Pct, Random, Reduced, Replay, RoundRobin, Scheduler};
use record_parallel::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use record_parallel::sync::{Condvar, Mutex, mpsc};
use record_parallel::{Cause, Explored, Failure, Schedule, Settings, choose, explore, simplify, thread};
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

const HOUR: Duration = Duration::from_hours(1);

fn settings(surprises_max: u32) -> Settings {
    Settings { surprises_max, ..Settings::default() }
}

/// The values that a program returns over all schedules with this maximum of surprises, under both searches.
fn all<T: Ord + Debug + Send + 'static>(surprises_max: u32, program: fn() -> T) -> (Explored, Vec<T>) {
    let both = complete(&settings(surprises_max), program);
    assert!(both.reduced.executions <= both.full.executions, "{:?}, {:?}", both.reduced, both.full);
    (both.full, both.seen)
}

fn fails<S: Scheduler + 'static>(scheduler: S, program: fn()) -> Box<Failure> {
    let failure = explore(&Settings::default(), scheduler, program).unwrap_err();
    let again: Schedule = failure.schedule.to_string().parse().unwrap();
    let again = explore(&Settings::default(), Replay::new(&again), program).unwrap_err();
    assert!(again.cause.is_like(&failure.cause), "{again}");
    assert_eq!(again.table(), failure.table());
    failure
}

/// Two conditions on one variable. If the notification for one condition wakes the thread that waits for the other,
/// that thread waits again, and the notification is lost.
fn two_conditions() {
    let both = Arc::new((Mutex::new([false; 2]), Condvar::new()));
    let mut is_true = both.0.lock().unwrap();
    let other = Arc::clone(&both);
    thread::spawn(move || {
        let mut is_true = other.0.lock().unwrap();
        while !is_true[1] {
            is_true = other.1.wait(is_true).unwrap();
        }
    });
    let other = Arc::clone(&both);
    thread::spawn(move || {
        other.0.lock().unwrap()[0] = true;
        other.1.notify_one();
    });
    while !is_true[0] {
        is_true = both.1.wait(is_true).unwrap();
    }
    is_true[1] = true;
    both.1.notify_one();
}

#[test]
fn a_notification_may_wake_whoever_waits() {
    for failure in [fails(Exhaustive::new(), two_conditions), fails(Reduced::new(), two_conditions)] {
        assert!(matches!(failure.cause, Cause::Deadlock(_)), "{failure}");
        assert!(failure.table().contains("wakes waiter 2 of 2"), "{failure}");
    }
    let failure = fails(Random::new(0, 500), two_conditions);
    let simplest = simplify(&Settings::default(), failure, two_conditions);
    assert!(matches!(simplest.cause, Cause::Deadlock(_)), "{simplest}");
    assert!(simplest.picks() == 1 && simplest.preemptions() == 0, "{simplest}");
}

#[test]
fn a_loop_around_a_wait_with_a_time_ends() {
    let (explored, seen) = all(1, || {
        let both = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&both);
        let setter = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let mut times = 0;
        let mut is_set = both.0.lock().unwrap();
        while !*is_set {
            let result;
            (is_set, result) = both.1.wait_timeout(is_set, HOUR).unwrap();
            times += u32::from(result.timed_out());
        }
        drop(is_set);
        setter.join().unwrap();
        times
    });
    assert_eq!(seen, [0, 1]);
    assert!(explored.executions < 100, "{explored:?}");
}

#[test]
fn a_loop_around_a_receive_with_a_time_ends() {
    for bound in [0, 1] {
        static BOUND: AtomicU32 = AtomicU32::new(0);
        BOUND.store(bound, SeqCst);
        let (_, seen) = all(1, || {
            let (sender, receiver) = mpsc::sync_channel(BOUND.load(SeqCst) as usize);
            let thread = thread::spawn(move || sender.send(7).unwrap());
            let mut times = 0;
            let received = loop {
                match receiver.recv_timeout(HOUR) {
                    Ok(received) => break received,
                    Err(mpsc::RecvTimeoutError::Timeout) => times += 1,
                    Err(mpsc::RecvTimeoutError::Disconnected) => panic!("it was sent before"),
                }
            };
            thread.join().unwrap();
            (received, times)
        });
        assert_eq!(seen, [(7, 0), (7, 1)]);
    }
}

#[test]
fn time_passes_where_nothing_else_happens() {
    // Without surprises, a wait times out only when no other thread can continue; the shorter wait first.
    let (explored, seen) = all(0, || {
        let both = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let threads = [2, 1].map(|hours| {
            let both = Arc::clone(&both);
            thread::spawn(move || {
                let guard = both.0.lock().unwrap();
                let (mut guard, result) = both.1.wait_timeout(guard, HOUR * hours).unwrap();
                guard.push((hours, result.timed_out()));
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        both.0.lock().unwrap().clone()
    });
    assert_eq!(seen, [[(1, true), (2, true)]]);
    assert!(explored.executions <= 6, "{explored:?}");
    let program = || {
        let (_sender, receiver) = mpsc::channel::<u32>();
        thread::park_timeout(HOUR);
        assert_eq!(receiver.recv_timeout(HOUR), Err(mpsc::RecvTimeoutError::Timeout));
    };
    for surprises_max in [0, 1] {
        explore(&settings(surprises_max), RoundRobin::new(), program).unwrap();
        explore(&settings(surprises_max), Pct::new(0, 3, 20), program).unwrap();
    }
}

#[test]
fn time_passes_for_a_thread_that_another_one_spins_for() {
    let (_, seen) = all(0, || {
        let is_out = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&is_out);
        thread::spawn(move || {
            thread::park_timeout(HOUR);
            other.store(true, SeqCst);
        });
        while !is_out.load(SeqCst) {
            thread::yield_now();
        }
    });
    assert_eq!(seen, [()]);
}

#[test]
fn a_wait_may_end_without_a_notification() {
    let program = || {
        let both = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&both);
        thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let mut guard = both.0.lock().unwrap();
        if !*guard {
            guard = both.1.wait(guard).unwrap();
        }
        assert!(*guard, "an if where a while should be");
    };
    for failure in [fails(Exhaustive::new(), program), fails(Reduced::new(), program)] {
        assert_eq!(failure.picks(), 1);
        assert!(failure.table().contains("wakes without a notification"), "{failure}");
    }
    assert!(explore(&settings(0), Exhaustive::new(), program).unwrap().is_complete);
    let parks = || {
        let flag = Arc::new(AtomicBool::new(false));
        let (other, me) = (Arc::clone(&flag), thread::current());
        thread::spawn(move || {
            other.store(true, SeqCst);
            me.unpark();
        });
        thread::park();
        assert!(flag.load(SeqCst));
    };
    fails(Reduced::new(), parks);
    assert!(explore(&settings(0), Reduced::new(), parks).unwrap().is_complete);
}

#[test]
fn a_weak_exchange_may_fail() {
    let (_, seen) = all(1, || {
        let number = AtomicU32::new(0);
        [1, 2].map(|new| number.compare_exchange_weak(new - 1, new, SeqCst, SeqCst).is_ok())
    });
    // If the first exchange fails without a reason, the second one fails because of the value.
    assert_eq!(seen, [[false, false], [true, false], [true, true]]);
    let (explored, seen) = all(1, || {
        let number = Arc::new(AtomicU32::new(0));
        let threads = [1, 2].map(|_| {
            let number = Arc::clone(&number);
            thread::spawn(move || {
                let mut seen = number.load(SeqCst);
                while let Err(now) = number.compare_exchange_weak(seen, seen + 1, SeqCst, SeqCst) {
                    seen = now;
                }
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        number.load(SeqCst)
    });
    assert_eq!(seen, [2]);
    assert!(explored.executions > 6, "{explored:?}");
}

#[test]
fn numbers_are_chosen_and_replayed() {
    let (explored, seen) = all(0, || (choose(3), choose(2), choose(1), choose(2), choose(2)));
    assert_eq!((seen.len(), explored.executions), (24, 24));
    let program = || {
        let number = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&number);
        let thread = thread::spawn(move || other.store(choose(1000), SeqCst));
        number.fetch_add(1, SeqCst);
        thread.join().unwrap();
        assert_ne!(number.load(SeqCst), 300);
    };
    let failure = fails(Reduced::new(), program);
    assert_eq!(failure.picks(), 2);
    assert!(failure.schedule.to_string().contains("?1?44"), "{failure}");
    let schedule: Schedule = "b?9".parse().unwrap();
    let failure = explore(&Settings::default(), Replay::new(&schedule), program).unwrap_err();
    assert!(failure.to_string().contains("only 0 to 3 can be picked"), "{failure}");
    assert!(explore(&Settings::default(), Replay::as_far_as_possible(&schedule), program).is_ok());
    assert!(choose(10) < 10, "outside of executions, too");
}

#[test]
fn a_failure_is_simplified_to_few_picks() {
    let program = || {
        let chosen = [(); 5].map(|()| choose(4));
        assert!(chosen[2] < 2 && chosen[4] < 3);
    };
    let failure = explore(&Settings::default(), Random::new(0, 100), program).unwrap_err();
    assert!(failure.picks() > 1, "{failure}");
    let simplest = simplify(&Settings::default(), failure, program);
    assert_eq!(simplest.picks(), 1, "{simplest}");
}

#[test]
fn a_loop_that_chooses_to_go_on_ends_by_chance_or_at_the_limit() {
    let program = || while choose(2) == 0 {};
    explore(&settings(0), Random::new(0, 200), program).unwrap();
    // A search that tries the usual choice first never leaves the loop, and reports a livelock.
    assert!(matches!(fails(Exhaustive::new(), program).cause, Cause::Livelock(_)));
    assert!(matches!(fails(Reduced::new(), program).cause, Cause::Livelock(_)));
}

#[test]
fn a_budget_that_is_too_small_is_said() {
    fn program() -> bool {
        let (_sender, receiver) = mpsc::channel::<()>();
        let other = thread::spawn(|| {});
        let timed_out = [1, 2].map(|_| receiver.recv_timeout(HOUR).is_err());
        other.join().unwrap();
        timed_out == [true; 2]
    }
    let spent = |surprises_max| all(surprises_max, program).0.surprises_spent;
    assert!(spent(0) > 0 && spent(1) > 0, "{:?}", [spent(0), spent(1)]);
    // The program has only two waits.
    assert_eq!(spent(2), 0);
}
