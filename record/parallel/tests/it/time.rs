//! Virtual time: the clock advances only where nothing else can happen, or where the schedule ends a wait early.

use crate::noting::{all, settings, under};
use record_parallel::scheduler::{Exhaustive, Random, Reduced, RoundRobin};
use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};
use record_parallel::sync::{Condvar, Mutex, mpsc};
use record_parallel::time::{Duration, Instant};
use record_parallel::{explore, thread};
use std::sync::Arc;

const HOUR: Duration = Duration::from_hours(1);

#[test]
fn the_clock_stands_still_while_threads_can_continue() {
    let (_, seen) = all(0, || {
        let start = Instant::now();
        let thread = thread::spawn(move || start.elapsed());
        (start.elapsed(), thread.join().unwrap())
    });
    assert_eq!(seen, [(Duration::ZERO, Duration::ZERO)]);
}

#[test]
fn a_sleep_takes_its_time_and_no_more() {
    let (explored, seen) = all(1, || {
        let start = Instant::now();
        thread::sleep(HOUR);
        thread::sleep(HOUR * 2);
        start.elapsed()
    });
    assert_eq!(seen, [HOUR * 3]);
    assert!(explored.executions <= 3, "{explored:?}");
}

#[test]
fn sleeps_end_in_the_order_of_their_deadlines() {
    let program = || {
        let order = Arc::new(Mutex::new(Vec::new()));
        let threads = [3, 1, 2].map(|hours| {
            let order = Arc::clone(&order);
            thread::spawn(move || {
                let start = Instant::now();
                thread::sleep(HOUR * hours);
                order.lock().unwrap().push((hours, start.elapsed() >= HOUR * hours));
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        order.lock().unwrap().clone()
    };
    let (_, seen) = all(0, program);
    assert_eq!(seen, [[(1, true), (2, true), (3, true)]]);
}

#[test]
fn a_slow_thread_lets_sleeps_end_early_and_the_clock_shows_it() {
    let (_, seen) = all(1, || {
        let number = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&number);
        let start = Instant::now();
        let thread = thread::spawn(move || {
            thread::sleep(HOUR);
            other.store(1, SeqCst);
        });
        let is_stored = number.load(SeqCst) == 1;
        let elapsed = start.elapsed();
        thread.join().unwrap();
        (is_stored, elapsed == HOUR, elapsed == Duration::ZERO)
    });
    // A store that happens an hour later is not seen before.
    assert_eq!(seen, [(false, false, true), (false, true, false), (true, true, false)]);
}

#[test]
fn every_wait_for_a_time_moves_the_clock() {
    let (_, seen) = all(1, || {
        let start = Instant::now();
        let (_sender, receiver) = mpsc::channel::<u32>();
        assert!(receiver.recv_timeout(HOUR).is_err());
        let one = start.elapsed();
        let condvar = Condvar::new();
        let mutex = Mutex::new(());
        // `wait_timeout` may also end immediately without a reason.
        let (guard, result) = condvar.wait_timeout_while(mutex.lock().unwrap(), HOUR, |()| true).unwrap();
        assert!(result.timed_out());
        let two = start.elapsed();
        drop(condvar.wait_timeout_while(guard, HOUR, |()| true).unwrap());
        let three = start.elapsed();
        thread::park_timeout(HOUR);
        [one, two, three, start.elapsed()]
    });
    assert_eq!(seen, [[HOUR, HOUR * 2, HOUR * 3, HOUR * 4]]);
}

#[test]
fn a_deadline_passes_with_a_later_one() {
    // The wait for two hours ends early, so the one for one hour, which began at the same time, ends as well.
    let (_, seen) = all(1, || {
        let start = Instant::now();
        let thread = thread::spawn(move || {
            thread::sleep(HOUR);
            start.elapsed()
        });
        thread::sleep(HOUR * 2);
        let late = thread.join().unwrap();
        (late, start.elapsed())
    });
    // Either thread may begin to sleep only after the other one has slept.
    let expected = [(1, 2), (1, 3), (2, 2), (3, 3)];
    assert_eq!(seen, expected.map(|(late, end)| (HOUR * late, HOUR * end)));
}

#[test]
fn a_loop_that_reads_the_clock_ends() {
    let program = || {
        let start = Instant::now();
        while start.elapsed() < HOUR {
            std::hint::spin_loop();
        }
    };
    for surprises in [0, 1] {
        explore(&settings(surprises), RoundRobin::new(), program).unwrap();
        explore(&settings(surprises), Exhaustive::new(), program).unwrap();
        explore(&settings(surprises), Reduced::new(), program).unwrap();
    }
}

#[test]
fn a_loop_that_sleeps_until_another_thread_is_done_ends() {
    let (explored, seen) = all(1, || {
        let flag = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&flag);
        let thread = thread::spawn(move || other.store(1, SeqCst));
        let mut rounds = 0;
        while flag.load(SeqCst) == 0 {
            thread::sleep(HOUR);
            rounds += 1;
        }
        thread.join().unwrap();
        rounds
    });
    assert_eq!(seen, [0, 1, 2]);
    assert!(explored.executions < 20, "{explored:?}");
}

#[test]
fn moments_are_compared_and_counted_as_those_of_std() {
    let now = Instant::now();
    let later = now + HOUR;
    assert!(later > now && later - now == HOUR && now - later == Duration::ZERO);
    assert_eq!((later.checked_duration_since(now), now.checked_duration_since(later)), (Some(HOUR), None));
    assert_eq!(later.checked_sub(HOUR), Some(now));
    assert_eq!(now.checked_add(Duration::MAX), None);
    assert!(Instant::now() >= now);
}

#[test]
fn time_does_not_pass_while_a_thread_has_something_else_to_look_at() {
    for looks in [30, 60, 62, 64, 70] {
        let program = move || {
            let numbers: Arc<Vec<AtomicU32>> = Arc::new((0..=100).map(|_| AtomicU32::new(0)).collect());
            let [a, b, c] = [(); 3].map(|()| Arc::clone(&numbers));
            thread::spawn(move || {
                thread::sleep(HOUR);
                a[100].store(1, SeqCst);
            });
            let looking = thread::spawn(move || {
                b[..looks].iter().for_each(|number| _ = number.load(SeqCst));
                b[100].load(SeqCst)
            });
            thread::spawn(move || c[97..100].iter().for_each(|number| _ = number.load(SeqCst)));
            looking.join().unwrap()
        };
        let (explored, seen) = under(&settings(0), Reduced::new(), program);
        assert!(explored.is_complete, "{explored:?}");
        assert_eq!(seen, [0], "{looks} looks");
    }
}

#[test]
fn time_passes_where_all_that_can_continue_spin() {
    for spin in [thread::yield_now, record_parallel::hint::spin_loop] {
        let program = move || {
            let number = Arc::new(AtomicU32::new(0));
            let threads = [1, 2].map(|_| {
                let number = Arc::clone(&number);
                thread::spawn(move || {
                    while number.load(SeqCst) < 2 {
                        spin();
                    }
                })
            });
            for value in 1..=2 {
                thread::sleep(HOUR);
                number.store(value, SeqCst);
            }
            for thread in threads {
                thread.join().unwrap();
            }
        };
        assert!(explore(&settings(0), Reduced::new(), program).unwrap().is_complete);
        explore(&settings(0), Exhaustive::new().executions_max(1000), program).unwrap();
        explore(&settings(0), Random::new(0, 50), program).unwrap();
        explore(&settings(0), RoundRobin::new(), program).unwrap();
    }
}
