//! The values that loads may return: known litmus tests, with the results that C++20 and Rust allow, under both
//! searches.

mod axioms;
mod random;

use crate::noting::complete;
use record_parallel::scheduler::{Random, Reduced};
use record_parallel::sync::atomic::{AtomicPtr, AtomicU32, Ordering, fence};
use record_parallel::sync::{Mutex, RwLock, mpsc};
use record_parallel::{Explored, Settings, explore, thread};
use std::fmt::Debug;
use std::sync::{Arc, Mutex as StdMutex};

use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

/// The values that a program returns over all schedules, under both searches, and statistics of the reduced search.
fn all<T: Ord + Debug + Send + 'static>(program: impl Fn() -> T + Send + Sync + Copy + 'static) -> (Vec<T>, Explored) {
    let both = complete(&Settings { surprises_max: 0, ..Settings::default() }, program);
    (both.seen, both.reduced)
}

fn three() -> [Arc<[AtomicU32; 3]>; 4] {
    let numbers = Arc::new([(); 3].map(|()| AtomicU32::new(0)));
    [(); 4].map(|()| Arc::clone(&numbers))
}

/// A message and a flag: the values of both that the reader sees.
fn message_passing(store: Ordering, load: Ordering) -> (u32, u32) {
    let [a, b, ..] = three();
    let writer = thread::spawn(move || {
        a[0].store(1, Relaxed);
        a[1].store(1, store);
    });
    let seen = (b[1].load(load), b[0].load(Relaxed));
    writer.join().unwrap();
    seen
}

#[test]
fn a_message_is_passed_by_release_and_acquire() {
    let (seen, explored) = all(|| message_passing(Relaxed, Relaxed));
    assert_eq!(seen, [(0, 0), (0, 1), (1, 0), (1, 1)]);
    assert!(explored.executions <= 10, "{explored:?}");
    assert_eq!(all(|| message_passing(Release, Relaxed)).0.len(), 4);
    assert_eq!(all(|| message_passing(Relaxed, Acquire)).0.len(), 4);
    assert_eq!(all(|| message_passing(Release, Acquire)).0, [(0, 0), (0, 1), (1, 1)]);
    assert_eq!(all(|| message_passing(SeqCst, SeqCst)).0, [(0, 0), (0, 1), (1, 1)]);
    let (seen, _) = all(|| {
        let [a, b, ..] = three();
        let writer = thread::spawn(move || {
            a[0].store(1, Relaxed);
            fence(Release);
            a[1].store(1, Relaxed);
        });
        let flag = b[1].load(Relaxed);
        fence(Acquire);
        let seen = (flag, b[0].load(Relaxed));
        writer.join().unwrap();
        seen
    });
    assert_eq!(seen, [(0, 0), (0, 1), (1, 1)]);
}

#[test]
fn an_old_message_is_found_and_shown() {
    let program = || assert_ne!(message_passing(Relaxed, Relaxed), (1, 0));
    let failure = explore(&Settings::default(), Reduced::new(), program).unwrap_err();
    assert!(failure.executions <= 5, "{failure}");
    assert!(failure.table().contains("reads an older value, 1 of 1"), "{failure}");
    assert_eq!(failure.picks(), 1);
    explore(&Settings::default(), Random::new(0, 100), program).unwrap_err();
    let settings = Settings::default().sequentially_consistent();
    assert!(explore(&settings, Reduced::new(), program).unwrap().is_complete);
}

/// Each thread stores to one number and loads the other, as at the beginning of Dekker's algorithm.
fn store_buffer(store: Ordering, load: Ordering, between: Option<Ordering>) -> (u32, u32) {
    let [a, b, ..] = three();
    let body = move |numbers: &[AtomicU32; 3], mine: usize| {
        numbers[mine].store(1, store);
        between.into_iter().for_each(fence);
        numbers[1 - mine].load(load)
    };
    let other = thread::spawn(move || body(&a, 0));
    let mine = body(&b, 1);
    (mine, other.join().unwrap())
}

#[test]
fn both_see_nothing_unless_all_is_sequentially_consistent() {
    let weak = [(0, 0), (0, 1), (1, 0), (1, 1)];
    let (seen, explored) = all(|| store_buffer(Relaxed, Relaxed, None));
    assert_eq!(seen, weak);
    assert!(explored.executions <= 12, "{explored:?}");
    assert_eq!(all(|| store_buffer(Release, Acquire, None)).0, weak);
    assert_eq!(all(|| store_buffer(SeqCst, Acquire, None)).0, weak);
    assert_eq!(all(|| store_buffer(Relaxed, Relaxed, Some(AcqRel))).0, weak);
    assert_eq!(all(|| store_buffer(SeqCst, SeqCst, None)).0, weak[1..]);
    // loom rejects a correct program here, since it does not support these orders.
    assert_eq!(all(|| store_buffer(Relaxed, Relaxed, Some(SeqCst))).0, weak[1..]);
}

#[test]
fn a_fence_and_a_consistent_access_are_in_one_order() {
    let (seen, _) = all(|| {
        let [a, b, ..] = three();
        let other = thread::spawn(move || {
            a[0].store(1, SeqCst);
            a[1].load(SeqCst)
        });
        b[1].store(1, Relaxed);
        fence(SeqCst);
        let seen = b[0].load(Relaxed);
        (seen, other.join().unwrap())
    });
    assert_eq!(seen, [(0, 1), (1, 0), (1, 1)]);
}

#[test]
fn one_atomic_never_goes_back() {
    let (seen, _) = all(|| {
        let [a, b, ..] = three();
        let writer = thread::spawn(move || [1, 2].map(|n| a[0].store(n, Relaxed)));
        let seen = [b[0].load(Relaxed), b[0].load(Relaxed)];
        writer.join().unwrap();
        seen
    });
    assert_eq!(seen, [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]]);
}

/// Two threads write, and two read both numbers in opposite orders.
fn independent_reads(order: Ordering) -> [[u32; 2]; 2] {
    let [a, b, c, d] = three();
    let store = if order == SeqCst { SeqCst } else { Release };
    let first = thread::spawn(move || a[0].store(1, store));
    let second = thread::spawn(move || b[1].store(1, store));
    let third = thread::spawn(move || [c[0].load(order), c[1].load(order)]);
    let seen = [d[1].load(order), d[0].load(order)];
    let seen = [third.join().unwrap(), seen];
    first.join().unwrap();
    second.join().unwrap();
    seen
}

#[test]
fn readers_may_disagree_on_the_order_of_writes() {
    let weak = [[1, 0], [1, 0]];
    assert!(all(|| independent_reads(Relaxed)).0.contains(&weak));
    assert!(all(|| independent_reads(Acquire)).0.contains(&weak));
    let (seen, _) = all(|| independent_reads(SeqCst));
    assert!(!seen.contains(&weak) && seen.len() == 15, "{seen:?}");
}

#[test]
fn loads_do_not_see_what_is_stored_later() {
    // The language allows load buffering, but it is not found.
    let (seen, _) = all(|| {
        let [a, b, ..] = three();
        let other = thread::spawn(move || {
            let seen = a[0].load(Relaxed);
            a[1].store(1, Relaxed);
            seen
        });
        let seen = b[1].load(Relaxed);
        b[0].store(1, Relaxed);
        (seen, other.join().unwrap())
    });
    assert_eq!(seen, [(0, 0), (0, 1), (1, 0)]);
}

/// Another thread changes the flag between the release and the acquire.
fn release_sequence(change: fn(&AtomicU32)) -> Vec<(u32, u32)> {
    let run = move || {
        let [a, b, c, _] = three();
        let writer = thread::spawn(move || {
            a[0].store(1, Relaxed);
            a[1].store(1, Release);
        });
        let between = thread::spawn(move || change(&b[1]));
        let seen = (c[1].load(Acquire), c[0].load(Relaxed));
        writer.join().unwrap();
        between.join().unwrap();
        seen
    };
    all(run).0
}

#[test]
fn an_update_goes_on_with_what_was_released() {
    let seen = release_sequence(|flag| _ = flag.fetch_add(4, Relaxed));
    assert!(seen.contains(&(5, 1)) && !seen.contains(&(5, 0)), "{seen:?}");
    let seen = release_sequence(|flag| _ = flag.compare_exchange(1, 5, Relaxed, Relaxed));
    assert!(seen.contains(&(5, 1)) && !seen.contains(&(5, 0)), "{seen:?}");
    let seen = release_sequence(|flag| flag.store(5, Relaxed));
    assert!(seen.contains(&(5, 0)), "{seen:?}");
}

#[test]
fn an_exchange_that_fails_may_have_read_something_old() {
    let (seen, _) = all(|| {
        let [a, b, ..] = three();
        let writer = thread::spawn(move || {
            a[0].store(1, Relaxed);
            a[1].store(1, Relaxed);
        });
        let seen = (b[1].load(Relaxed), b[0].compare_exchange(1, 2, Relaxed, Relaxed));
        writer.join().unwrap();
        (seen, b[0].load(Relaxed))
    });
    assert_eq!(seen, [((0, Ok(1)), 2), ((0, Err(0)), 1), ((1, Ok(1)), 2), ((1, Err(0)), 1)]);
    // A successful exchange reads the newest value.
    let (seen, _) = all(|| {
        let [a, b, ..] = three();
        let other = thread::spawn(move || a[0].fetch_add(1, Relaxed));
        let mine = b[0].fetch_add(1, Relaxed);
        let mut both = [mine, other.join().unwrap()];
        both.sort_unstable();
        both
    });
    assert_eq!(seen, [[0, 1]]);
}

#[test]
fn whatever_waits_for_another_thread_sees_what_it_did() {
    type Pair = (fn(&Ways), fn(&Ways) -> bool);
    struct Ways {
        mutex: Mutex<bool>,
        lock: RwLock<bool>,
        sender: mpsc::SyncSender<()>,
        receiver: StdMutex<Option<mpsc::Receiver<()>>>,
        once: record_parallel::sync::OnceLock<()>,
        main: thread::Thread,
    }
    static NUMBER: StdMutex<usize> = StdMutex::new(0);
    let ways: [Pair; 6] = [
        (|ways| *ways.mutex.lock().unwrap() = true, |ways| *ways.mutex.lock().unwrap()),
        (|ways| *ways.lock.write().unwrap() = true, |ways| *ways.lock.read().unwrap()),
        (
            |ways| ways.sender.send(()).unwrap(),
            |ways| ways.receiver.lock().unwrap().as_ref().is_some_and(|receiver| receiver.recv().is_ok()),
        ),
        (|ways| _ = ways.once.set(()), |ways| ways.once.get().is_some()),
        (|ways| *ways.once.get_or_init(|| ()), |ways| ways.once.get().is_some()),
        (
            |ways| ways.main.unpark(),
            |_| {
                thread::park();
                true
            },
        ),
    ];
    for number in 0..ways.len() {
        *NUMBER.lock().unwrap() = number;
        let (seen, _) = all(move || {
            let (done, is_done) = ways[*NUMBER.lock().unwrap()];
            let (sender, receiver) = mpsc::sync_channel(1);
            let shared = Arc::new((
                AtomicU32::new(0),
                Ways {
                    mutex: Mutex::new(false),
                    lock: RwLock::new(false),
                    sender,
                    receiver: StdMutex::new(Some(receiver)),
                    once: record_parallel::sync::OnceLock::new(),
                    main: thread::current(),
                },
            ));
            let other = Arc::clone(&shared);
            let writer = thread::spawn(move || {
                other.0.store(1, Relaxed);
                done(&other.1);
            });
            let seen = is_done(&shared.1).then(|| shared.0.load(Relaxed));
            writer.join().unwrap();
            (seen, shared.0.load(Relaxed))
        });
        assert!(seen.contains(&(Some(1), 1)) && !seen.contains(&(Some(0), 1)), "{number}: {seen:?}");
    }
}

#[test]
fn a_lock_that_a_panic_unlocks_hands_on_what_was_done() {
    let (seen, _) = all(|| {
        let shared = Arc::new((Mutex::new(()), AtomicU32::new(0)));
        let other = Arc::clone(&shared);
        let writer = thread::spawn(move || {
            let body = || {
                let _guard = other.0.lock();
                other.1.store(1, Relaxed);
                panic!("caught");
            };
            _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
        });
        let guard = shared.0.lock();
        let seen = (guard.is_err(), shared.1.load(Relaxed));
        drop(guard);
        writer.join().unwrap();
        seen
    });
    assert_eq!(seen, [(false, 0), (true, 1)]);
}

#[test]
fn a_loop_that_waits_for_a_relaxed_flag_ends() {
    let (seen, explored) = all(|| {
        let [a, b, ..] = three();
        let writer = thread::spawn(move || {
            a[0].store(1, Relaxed);
            a[1].store(1, Relaxed);
        });
        while b[1].load(Relaxed) == 0 {}
        let seen = b[0].load(Relaxed);
        writer.join().unwrap();
        seen
    });
    assert_eq!(seen, [0, 1]);
    assert!(explored.executions < 100, "{explored:?}");
}

#[test]
fn who_has_an_atomic_alone_leaves_nothing_old() {
    let (seen, _) = all(|| {
        let mut number = AtomicU32::new(1);
        number.store(2, Relaxed);
        *number.get_mut() = 3;
        let number = Arc::new(number);
        let other = Arc::clone(&number);
        let reader = thread::spawn(move || other.load(Relaxed));
        (reader.join().unwrap(), Arc::try_unwrap(number).unwrap().into_inner())
    });
    assert_eq!(seen, [(3, 3)]);
    let (seen, _) = all(|| {
        let mut values = [1, 2];
        let [first, second] = values.each_mut().map(std::ptr::from_mut);
        let pointer = AtomicPtr::new(first);
        assert_eq!(pointer.swap(second, Relaxed), first);
        pointer.load(Relaxed) == second
    });
    assert_eq!(seen, [true]);
}
