//! Runtimes of one thread: a task is interrupted only where it awaits something.

use crate::noting::{all, settings};
use record_parallel::scheduler::Reduced;
use record_parallel::sync::Mutex;
use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};
use record_parallel::tokio::runtime::Builder;
use record_parallel::tokio::task::{spawn_blocking, yield_now};
use record_parallel::tokio::{join, spawn};
use record_parallel::{Cause, explore};
use std::sync::Arc;

/// Two tasks add 1 to a number by a separate load and store. Returns the result.
fn adds(is_one_thread: bool, awaits: bool) -> u32 {
    let mut builder = if is_one_thread { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    builder.enable_all().build().unwrap().block_on(async move {
        let number = Arc::new(AtomicU32::new(0));
        let tasks = [0, 1].map(|_| {
            let number = Arc::clone(&number);
            spawn(async move {
                let before = number.load(SeqCst);
                if awaits {
                    yield_now().await;
                }
                number.store(before + 1, SeqCst);
            })
        });
        for task in tasks {
            task.await.unwrap();
        }
        number.load(SeqCst)
    })
}

#[test]
fn tasks_of_one_thread_are_interrupted_where_they_await() {
    assert_eq!(all(0, || adds(true, false)).1, [2]);
    assert_eq!(all(0, || adds(true, true)).1, [1, 2]);
    assert_eq!(all(0, || adds(false, false)).1, [1, 2]);
}

#[test]
fn a_closure_that_blocks_runs_beside_them() {
    let (_, seen) = all(0, || {
        Builder::new_current_thread().build().unwrap().block_on(async {
            let number = Arc::new(AtomicU32::new(0));
            let other = Arc::clone(&number);
            let task = spawn_blocking(move || other.store(1, SeqCst));
            let seen = (number.load(SeqCst), number.load(SeqCst));
            task.await.unwrap();
            seen
        })
    });
    assert_eq!(seen, [(0, 0), (0, 1), (1, 1)]);
}

#[test]
fn a_lock_that_blocks_the_thread_is_a_deadlock() {
    // With several threads the other task would continue, and unlock the mutex.
    let program = |is_one_thread: bool| {
        let mut builder = if is_one_thread { Builder::new_current_thread() } else { Builder::new_multi_thread() };
        builder.build().unwrap().block_on(async {
            let lock = Arc::new(Mutex::new(()));
            let own = Arc::clone(&lock);
            let holds = async move {
                let guard = own.lock().unwrap();
                yield_now().await;
                drop(guard);
            };
            let other = spawn(async move { drop(lock.lock()) });
            join!(holds, async { other.await.unwrap() });
        });
    };
    assert!(explore(&settings(0), Reduced::new(), move || program(false)).unwrap().is_complete);
    let failure = explore(&settings(0), Reduced::new(), move || program(true)).unwrap_err();
    assert!(matches!(failure.cause, Cause::Deadlock(_)), "{failure}");
}
