//! Changes under a lock whose guard was never borrowed mutably: they count as changes nevertheless.

use super::{make, read, write};
use crate::noting::under;
use record_parallel::scheduler::{Exhaustive, Reduced};
use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};
use record_parallel::sync::{Mutex, RwLock};
use record_parallel::{Settings, thread};
use std::cell::Cell;
use std::sync::Arc;

const ROUNDS: u32 = 70;

thread_local! {
    /// The value that the cell represents.
    static COUNT: Cell<u32> = const { Cell::new(0) };
}

/// The values that a thread sees, under a lock, of a number that another thread counts up.
fn counted<L: Send + Sync + 'static>(lock: fn() -> L, with: fn(&L, &mut dyn FnMut())) -> Vec<u32> {
    let program = move || {
        make();
        COUNT.set(0);
        let lock = Arc::new(lock());
        let other = Arc::clone(&lock);
        let counter = thread::spawn(move || {
            let mut count = 0;
            while count < ROUNDS {
                with(&other, &mut || {
                    write();
                    count = COUNT.get() + 1;
                    COUNT.set(count);
                });
            }
        });
        let mut seen = 0;
        with(&lock, &mut || {
            read();
            seen = COUNT.get();
        });
        counter.join().unwrap();
        seen
    };
    let settings = Settings { surprises_max: 0, ..Settings::default() };
    let (explored, seen) = under(&settings, Reduced::new(), program);
    assert!(explored.is_complete, "{explored:?}");
    seen
}

#[test]
fn a_cell_that_is_written_under_a_lock_changes_what_it_guards() {
    let all: Vec<u32> = (0..=ROUNDS).collect();
    assert_eq!(
        counted(
            || Mutex::new(()),
            |mutex, body| {
                let _guard = mutex.lock().unwrap();
                body();
            }
        ),
        all
    );
    assert_eq!(
        counted(
            || RwLock::new(()),
            |lock, body| {
                let _guard = lock.write().unwrap();
                body();
            }
        ),
        all
    );
    // Two locks that are held at the same time.
    assert_eq!(
        counted(
            || (Mutex::new(()), Mutex::new(())),
            |(first, second), body| {
                let _first = first.lock().unwrap();
                let _second = second.lock().unwrap();
                body();
            }
        ),
        all
    );
}

#[test]
fn a_loop_under_a_lock_whose_changes_are_not_seen_leaves_the_search_incomplete() {
    let counts = || {
        let mutex = Arc::new(Mutex::new(Cell::new(0)));
        let other = Arc::clone(&mutex);
        let counter = thread::spawn(move || {
            loop {
                let guard = other.lock().unwrap();
                guard.set(guard.get() + 1);
                if guard.get() >= ROUNDS {
                    break;
                }
            }
        });
        let seen = mutex.lock().unwrap().get();
        counter.join().unwrap();
        seen
    };
    let waits = || {
        let mutex = Arc::new(Mutex::new(Cell::new(0)));
        let number = Arc::new(AtomicU32::new(0));
        let (mutex_of, number_of) = (Arc::clone(&mutex), Arc::clone(&number));
        let waiting = thread::spawn(move || {
            while mutex_of.lock().unwrap().get() == 0 {}
            number_of.load(SeqCst)
        });
        mutex.lock().unwrap().set(1);
        number.store(1, SeqCst);
        waiting.join().unwrap()
    };
    for (program, all) in [(counts as fn() -> u32, (0..=ROUNDS).collect()), (waits, vec![0, 1])] {
        let settings = Settings { surprises_max: 0, ..Settings::default() };
        let (explored, _) = under(&settings, Reduced::new(), program);
        assert!(!explored.is_complete, "{explored:?}");
        let (explored, seen) = under(&settings, Exhaustive::new().executions_max(5000), program);
        assert!(!explored.is_complete || seen == all, "{explored:?}, {seen:?}");
    }
}
