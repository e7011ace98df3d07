//! The drop-in types: their behaviour under a schedule, and that outside of one they behave as those of std.

use crate::noting::complete;
use record_parallel::scheduler::{Exhaustive, Random, Reduced};
use record_parallel::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use record_parallel::sync::{Barrier, Condvar, Mutex, Once, OnceLock, RwLock, TryLockError, mpsc};
use record_parallel::{Cause, Explored, Failure, Kind, Settings, explore, thread};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Runs a program under all schedules, and under those of the reduced search.
fn all(program: impl Fn() + Send + Sync + Clone + 'static) -> Result<Explored, Box<Failure>> {
    let reduced = explore(&Settings::default(), Reduced::new(), program.clone());
    let full = explore(&Settings::default(), Exhaustive::new(), program);
    assert_eq!(reduced.is_ok(), full.is_ok());
    full
}

/// The values that a program returns, over all schedules. The two searches must agree.
fn results<T: Ord + std::fmt::Debug + Send + 'static>(program: fn() -> T) -> Vec<T> {
    complete(&Settings::default(), program).seen
}

fn deadlock(program: impl Fn() + Send + Sync + Clone + 'static) -> Vec<Kind> {
    match all(program).unwrap_err().cause {
        Cause::Deadlock(waiting) => waiting.iter().map(|waiting| waiting.kind).collect(),
        cause => panic!("{cause}"),
    }
}

#[test]
fn loads_and_stores_of_two_threads_interleave() {
    // The outcome (0, 0) of the store buffer does not occur: the atomics are sequentially consistent here.
    let seen = results(|| {
        let both = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
        let other = Arc::clone(&both);
        let thread = thread::spawn(move || {
            other.0.store(1, SeqCst);
            other.1.load(SeqCst)
        });
        both.1.store(1, SeqCst);
        let mine = both.0.load(SeqCst);
        (mine, thread.join().unwrap())
    });
    assert_eq!(seen, [(0, 1), (1, 0), (1, 1)]);
}

#[test]
fn a_mutex_lets_one_in() {
    let seen = results(|| {
        let (inside, count) = (Arc::new(AtomicU32::new(0)), Arc::new(Mutex::new(0)));
        let threads = [1, 2].map(|_| {
            let (inside, count) = (Arc::clone(&inside), Arc::clone(&count));
            thread::spawn(move || {
                let mut count = count.lock().unwrap();
                assert_eq!(inside.fetch_add(1, SeqCst), 0);
                *count += 1;
                inside.fetch_sub(1, SeqCst);
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        *count.lock().unwrap()
    });
    assert_eq!(seen, [2]);
}

#[test]
fn a_mutex_that_is_held_cannot_be_tried() {
    let seen = results(|| {
        let mutex = Arc::new(Mutex::new(0));
        let other = Arc::clone(&mutex);
        let thread = thread::spawn(move || *other.lock().unwrap() = 1);
        let seen = match mutex.try_lock() {
            Ok(guard) => Some(*guard),
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Poisoned(_)) => panic!("nobody panics"),
        };
        thread.join().unwrap();
        seen
    });
    assert_eq!(seen, [None, Some(0), Some(1)]);
}

#[test]
fn locking_twice_is_a_deadlock_of_one() {
    let failure = all(|| {
        let mutex = Mutex::new(());
        let _first = mutex.lock().unwrap();
        let _second = mutex.lock().unwrap();
    });
    let Cause::Deadlock(waiting) = failure.unwrap_err().cause else { panic!() };
    assert_eq!((waiting[0].kind, waiting[0].holder), (Kind::Lock, Some(waiting[0].thread)));
}

#[test]
fn readers_share_and_writers_do_not() {
    let seen = results(|| {
        let lock = Arc::new(RwLock::new(0));
        let readers = Arc::new(AtomicU32::new(0));
        let threads = [1, 2].map(|_| {
            let (lock, readers) = (Arc::clone(&lock), Arc::clone(&readers));
            thread::spawn(move || {
                let value = lock.read().unwrap();
                let others = readers.fetch_add(1, SeqCst);
                readers.fetch_sub(1, SeqCst);
                (*value, others)
            })
        });
        *lock.write().unwrap() += 1;
        assert!(lock.try_write().is_ok() || readers.load(SeqCst) < 3);
        threads.map(|thread| thread.join().unwrap())
    });
    assert!(seen.iter().any(|both| both.iter().any(|(_, others)| *others == 1)), "two read at one time");
    let values: BTreeSet<u32> = seen.iter().flatten().map(|(value, _)| *value).collect();
    assert_eq!(values, BTreeSet::from([0, 1]));
}

#[test]
fn a_reader_keeps_a_writer_out() {
    let kinds = deadlock(|| {
        let lock = RwLock::new(());
        let _read = lock.read().unwrap();
        assert!(lock.try_read().is_ok() && lock.try_write().is_err());
        let _write = lock.write().unwrap();
    });
    assert_eq!(kinds, [Kind::Lock]);
}

#[test]
fn a_notification_that_comes_too_early_is_lost() {
    let kinds = deadlock(|| {
        let both = Arc::new((Mutex::new(()), Condvar::new()));
        let other = Arc::clone(&both);
        thread::spawn(move || other.1.notify_one());
        let guard = both.0.lock().unwrap();
        drop(both.1.wait(guard).unwrap());
    });
    assert_eq!(kinds, [Kind::WaitEnd]);
}

#[test]
fn a_wait_with_a_time_ends_both_ways() {
    let seen = results(|| {
        let both = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&both);
        let thread = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_all();
        });
        let guard = both.0.lock().unwrap();
        let (guard, result) = both.1.wait_timeout(guard, Duration::from_secs(1000)).unwrap();
        let seen = (*guard, result.timed_out());
        drop(guard);
        thread.join().unwrap();
        seen
    });
    // (true, true): the flag was set, but the notification was not sent yet. (false, false): the wait ended without a
    // reason, as std permits.
    assert_eq!(seen, [(false, false), (false, true), (true, false), (true, true)]);
}

#[test]
fn channels_deliver_in_order_and_close() {
    let seen = results(|| {
        let (sender, receiver) = mpsc::channel();
        for first in [1, 10] {
            let sender = sender.clone();
            thread::spawn(move || {
                sender.send(first).unwrap();
                sender.send(first + 1).unwrap();
            });
        }
        drop(sender);
        receiver.into_iter().collect::<Vec<u32>>()
    });
    assert_eq!(seen.len(), 6, "4! / (2! 2!): {seen:?}");
}

#[test]
fn a_full_channel_makes_senders_wait() {
    let kinds = deadlock(|| {
        let (sender, _receiver) = mpsc::sync_channel(1);
        sender.send(1).unwrap();
        assert_eq!(sender.try_send(2), Err(mpsc::TrySendError::Full(2)));
        sender.send(2).unwrap();
    });
    assert_eq!(kinds, [Kind::Send]);
}

#[test]
fn a_channel_without_room_hands_over() {
    let seen = results(|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        let step = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&step);
        let thread = thread::spawn(move || {
            let is_taken = sender.try_send(7).is_ok();
            if !is_taken {
                sender.send(8).unwrap();
                assert_eq!(other.load(SeqCst), 1, "it was taken");
            }
            is_taken
        });
        step.store(1, SeqCst);
        let value = receiver.recv().unwrap();
        (value, thread.join().unwrap())
    });
    assert_eq!(seen, [(7, true), (8, false)]);
}

#[test]
fn what_is_handed_to_nobody_comes_back() {
    let seen = results(|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        let thread = thread::spawn(move || sender.send(1));
        drop(receiver);
        thread.join().unwrap().is_err()
    });
    assert_eq!(seen, [true]);
}

#[test]
fn a_barrier_waits_for_all_and_has_one_leader() {
    let seen = results(|| {
        let (barrier, count) = (Arc::new(Barrier::new(2)), Arc::new(AtomicU32::new(0)));
        let body = |barrier: &Barrier, count: &AtomicU32| {
            let mut led = 0;
            for round in 1..=2 {
                count.fetch_add(1, SeqCst);
                led += u32::from(barrier.wait().is_leader());
                assert!(count.load(SeqCst) >= 2 * round);
            }
            led
        };
        let other = (Arc::clone(&barrier), Arc::clone(&count));
        let thread = thread::spawn(move || body(&other.0, &other.1));
        let mine = body(&barrier, &count);
        mine + thread.join().unwrap()
    });
    assert_eq!(seen, [2]);
    assert_eq!(deadlock(|| _ = Barrier::new(2).wait()), [Kind::Pass]);
}

#[test]
fn what_is_done_once_is_done_once() {
    let seen = results(|| {
        let shared = Arc::new((Once::new(), OnceLock::new(), AtomicU32::new(0)));
        let body = |shared: &(Once, OnceLock<u32>, AtomicU32)| {
            shared.0.call_once(|| _ = shared.2.fetch_add(1, SeqCst));
            assert!(shared.0.is_completed());
            *shared.1.get_or_init(|| shared.2.fetch_add(1, SeqCst))
        };
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || body(&other));
        (body(&shared), thread.join().unwrap(), shared.2.load(SeqCst), shared.1.set(5).is_err())
    });
    assert_eq!(seen, [(1, 1, 2, true)]);
}

#[test]
fn parking_waits_for_a_token() {
    let seen = results(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&flag);
        let me = thread::current();
        let thread = thread::spawn(move || {
            other.store(true, SeqCst);
            me.unpark();
        });
        thread::park();
        let seen = flag.load(SeqCst);
        thread.join().unwrap();
        seen
    });
    // As in std, `park` may return without a token.
    assert_eq!(seen, [false, true]);
    assert_eq!(deadlock(thread::park), [Kind::Park]);
}

#[test]
fn a_thread_gives_its_result_and_its_name() {
    let seen = results(|| {
        let builder = thread::Builder::new().name("worker".into()).stack_size(1 << 16);
        let thread = builder.spawn(|| thread::current().name().map(str::to_owned)).unwrap();
        assert_eq!(thread.thread().name(), Some("worker"));
        assert_ne!(thread.thread().id(), thread::current().id());
        let was_finished = thread.is_finished();
        (was_finished, thread.join().unwrap())
    });
    // The thread accesses no shared object, so it finishes before its parent continues.
    assert_eq!(seen, [(true, Some("worker".to_owned()))]);
}

#[test]
fn a_thread_that_yields_lets_others_go_first() {
    // A loop that waits for another thread ends under every schedule, and there are finitely many schedules.
    let spin = || {
        let flag = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&flag);
        thread::spawn(move || other.store(true, SeqCst));
        while !flag.load(SeqCst) {
            thread::yield_now();
        }
    };
    let explored = explore(&Settings::default(), Exhaustive::new(), spin).unwrap();
    assert!(explored.is_complete);
}

#[test]
fn running_in_circles_is_a_livelock() {
    let settings = Settings { steps_max: 100, ..Settings::default() };
    let failure = explore(&settings, Random::new(0, 1), || {
        let flag = AtomicBool::new(false);
        while !flag.load(SeqCst) {
            thread::sleep(Duration::from_secs(1));
        }
    });
    let failure = failure.unwrap_err();
    assert!(matches!(failure.cause, Cause::Livelock(_)));
    assert_eq!(failure.steps.len(), 100);
    assert!(failure.to_string().starts_with("reached the limit of steps: a livelock"), "{failure}");
}

#[test]
fn what_hangs_on_more_than_the_schedule_is_noticed() {
    let runs = std::sync::atomic::AtomicU32::new(0);
    let failure = explore(&Settings::default(), Random::new(0, 10), move || {
        let atomic = AtomicU32::new(0);
        if runs.fetch_add(1, SeqCst) % 2 == 1 {
            atomic.store(1, SeqCst);
        }
        atomic.load(SeqCst);
    });
    let Cause::Nondeterminism(told) = failure.unwrap_err().cause else { panic!() };
    assert!(told.starts_with("step 1 was \"load\" of thread a at "), "{told}");
    assert!(told.contains(" and \"store\" of thread a at "), "{told}");
}

#[test]
fn a_panic_unlocks_and_does_not_wait() {
    let failure = all(|| {
        let mutex = Arc::new(Mutex::new(0));
        let _guard = mutex.lock().unwrap();
        let (sender, receiver) = mpsc::channel::<u32>();
        let _both = (sender, receiver);
        panic!("on purpose, {}", 7);
    });
    let Cause::Panic { thread, message, .. } = failure.unwrap_err().cause else { panic!() };
    assert_eq!((thread.letter(), message.as_str()), ('a', "on purpose, 7"));
    // The next execution is not affected.
    assert!(all(|| _ = Mutex::new(0).lock().unwrap()).is_ok());
}

#[test]
fn a_panic_that_is_caught_is_no_failure() {
    let seen = results(|| {
        let mutex = Mutex::new(0);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _guard = mutex.lock().unwrap();
            panic!("caught");
        }));
        (caught.is_err(), mutex.is_poisoned(), mutex.lock().is_err())
    });
    assert_eq!(seen, [(true, true, true)]);
}

#[test]
fn there_is_a_limit_of_threads() {
    let failure = all(|| (0..60).for_each(|_| _ = thread::spawn(|| {}))).unwrap_err();
    assert!(failure.to_string().contains("no more than 52 threads"), "{failure}");
}

#[test]
fn executions_do_not_nest() {
    let inner = || explore(&Settings::default(), Random::new(0, 1), || {});
    let failure = explore(&Settings::default(), Random::new(0, 1), move || _ = inner()).unwrap_err();
    assert!(failure.to_string().contains("cannot start inside another"), "{failure}");
}

#[test]
fn outside_of_executions_everything_is_as_in_std() {
    let count = Arc::new((Mutex::new(0), Condvar::new(), AtomicU32::new(0), Barrier::new(3)));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let count = Arc::clone(&count);
            thread::spawn(move || {
                count.3.wait();
                for _ in 0..1000 {
                    *count.0.lock().unwrap() += 1;
                    count.2.fetch_add(1, SeqCst);
                }
                count.1.notify_all();
            })
        })
        .collect();
    count.3.wait();
    let guard = count.1.wait_while(count.0.lock().unwrap(), |count| *count < 2000).unwrap();
    assert_eq!(*guard, 2000);
    drop(guard);
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(count.2.load(SeqCst), 2000);

    let (sender, receiver) = mpsc::sync_channel(0);
    let thread = thread::spawn(move || (0..100).try_for_each(|n| sender.send(n)));
    assert_eq!(receiver.iter().take(100).sum::<u32>(), 4950);
    thread.join().unwrap().unwrap();
    assert_eq!(receiver.recv(), Err(mpsc::RecvError));
    let (sender, receiver) = mpsc::channel::<u32>();
    assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Err(mpsc::RecvTimeoutError::Timeout));
    drop(receiver);
    assert_eq!(sender.send(1), Err(mpsc::SendError(1)));

    let me = thread::current();
    thread::spawn(move || me.unpark());
    thread::park();
    thread::park_timeout(Duration::from_millis(1));
    thread::yield_now();
    let lock = RwLock::new(1);
    assert_eq!(*lock.read().unwrap() + *lock.read().unwrap(), 2);
    *lock.write().unwrap() += 1;
    assert!(lock.try_write().is_ok() && lock.into_inner().unwrap() == 2);
    let once = OnceLock::new();
    assert_eq!((once.get_or_init(|| 3), once.get()), (&3, Some(&3)));
}
