//! Barriers, and cells whose value one task creates.

use crate::noting::{all, settings};
use record_parallel::scheduler::Reduced;
use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};
use record_parallel::tokio::runtime::block_on;
use record_parallel::tokio::sync::{Barrier, OnceCell, SetError};
use record_parallel::tokio::task::yield_now;
use record_parallel::tokio::{join, spawn};
use record_parallel::{Cause, explore};
use std::sync::Arc;

#[test]
fn all_come_to_a_barrier_before_anyone_goes_on() {
    let (_, seen) = all(0, || {
        block_on(async {
            let barrier = Arc::new(Barrier::new(2));
            let came = Arc::new(AtomicU32::new(0));
            let (other, comes) = (Arc::clone(&barrier), Arc::clone(&came));
            let task = spawn(async move {
                comes.fetch_add(1, SeqCst);
                other.wait().await.is_leader()
            });
            came.fetch_add(1, SeqCst);
            let own = barrier.wait().await.is_leader();
            (came.load(SeqCst), own, task.await.unwrap())
        })
    });
    assert_eq!(seen, [(2, false, true), (2, true, false)]);
}

#[test]
fn a_barrier_is_used_again_and_0_counts_as_1() {
    let (_, seen) = all(0, || {
        block_on(async {
            let barrier = Barrier::new(2);
            let mut leaders = Vec::new();
            for _ in 0..2 {
                let (first, second) = join!(barrier.wait(), barrier.wait());
                leaders.push(first.is_leader() != second.is_leader());
            }
            (leaders, Barrier::new(0).wait().await.is_leader())
        })
    });
    assert_eq!(seen, [(vec![true; 2], true)]);
}

#[test]
fn a_barrier_that_one_does_not_come_to_is_a_deadlock() {
    let failure = explore(&settings(0), Reduced::new(), || {
        block_on(async { _ = Barrier::new(2).wait().await });
    })
    .unwrap_err();
    let Cause::Deadlock(waiting) = &failure.cause else { panic!("{failure}") };
    assert_eq!(waiting[0].object.map(|(what, _)| what), Some("Barrier"), "{failure}");
}

#[test]
fn a_value_is_made_once() {
    let (_, seen) = all(0, || {
        block_on(async {
            let cell = Arc::new(OnceCell::new());
            let other = Arc::clone(&cell);
            let made = Arc::new(AtomicU32::new(0));
            let makes = Arc::clone(&made);
            let task = spawn(async move {
                let make = || async {
                    makes.fetch_add(1, SeqCst);
                    1
                };
                *other.get_or_init(make).await
            });
            let make = || async {
                made.fetch_add(1, SeqCst);
                2
            };
            let own = *cell.get_or_init(make).await;
            (own, task.await.unwrap(), made.load(SeqCst))
        })
    });
    assert_eq!(seen, [(1, 1, 1), (2, 2, 1)]);
}

#[test]
fn who_makes_no_value_leaves_it_to_the_next() {
    let (_, seen) = all(0, || {
        block_on(async {
            let cell = Arc::new(OnceCell::new());
            let other = Arc::clone(&cell);
            let task = spawn(async move {
                _ = other.get_or_try_init(|| async { Err("no") }).await;
                let cancelled = other.get_or_init(std::future::pending::<u32>);
                drop(cancelled);
            });
            let own = *cell.get_or_init(|| async { 2 }).await;
            task.await.unwrap();
            (own, cell.get().copied())
        })
    });
    assert_eq!(seen, [(2, Some(2))]);
}

#[test]
fn a_value_is_set_unless_there_is_one_or_one_is_made() {
    let (_, seen) = all(0, || {
        block_on(async {
            let cell = Arc::new(OnceCell::new());
            let other = Arc::clone(&cell);
            let task = spawn(async move {
                let make = || async {
                    yield_now().await;
                    1
                };
                *other.get_or_init(make).await
            });
            let set = match cell.set(2) {
                Ok(()) => "set",
                Err(SetError::AlreadyInitializedError(2)) => "there",
                Err(SetError::InitializingError(2)) => "made",
                Err(_) => unreachable!("it gives the value back"),
            };
            (set, task.await.unwrap())
        })
    });
    assert_eq!(seen, [("made", 1), ("set", 2), ("there", 1)]);
    assert_eq!(OnceCell::from(1).into_inner(), Some(1));
    assert_eq!(OnceCell::new_with(Some(1)).take(), Some(1));
}
