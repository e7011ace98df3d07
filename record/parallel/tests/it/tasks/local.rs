//! Tasks that remain on one thread: the values that they share need not be `Send`, and they are interrupted only where
//! they await.

use crate::noting::{all, settings};
use record_parallel::scheduler::Reduced;
use record_parallel::tokio::runtime::{Runtime, block_on};
use record_parallel::tokio::sync::oneshot;
use record_parallel::tokio::task::{JoinSet, LocalSet, spawn_local, yield_now};
use record_parallel::tokio::time::{Duration, Instant, sleep};
use record_parallel::tokio::{self, spawn};
use record_parallel::{Cause, explore};
use std::cell::{Cell, RefCell};
use std::future::pending;
use std::rc::Rc;

#[test]
fn tasks_share_what_cannot_be_sent() {
    let (_, seen) = all(0, || {
        block_on(LocalSet::new().run_until(async {
            let log = Rc::new(RefCell::new(Vec::new()));
            let tasks = [1, 2].map(|number| {
                let log = Rc::clone(&log);
                spawn_local(async move {
                    log.borrow_mut().push(number);
                    yield_now().await;
                    log.borrow_mut().push(number * 10);
                })
            });
            for task in tasks {
                task.await.unwrap();
            }
            log.take()
        }))
    });
    let orders = [[1, 2, 10, 20], [1, 2, 20, 10], [2, 1, 10, 20], [2, 1, 20, 10]];
    assert_eq!(seen, orders, "whoever is woken may be polled first");
}

#[test]
fn they_wait_for_other_threads_and_for_time() {
    let (_, seen) = all(0, || {
        block_on(LocalSet::new().run_until(async {
            let start = Instant::now();
            let (sender, receiver) = oneshot::channel();
            let other = spawn(async move { _ = sender.send(1) });
            let gets = spawn_local(async move { receiver.await.unwrap() });
            let sleeps = spawn_local(sleep(Duration::from_secs(1)));
            sleeps.await.unwrap();
            let got = gets.await.unwrap();
            other.await.unwrap();
            (got, start.elapsed().as_secs())
        }))
    });
    assert_eq!(seen, [(1, 1)]);
}

#[test]
fn one_is_cancelled_or_panics_like_any_task() {
    let (_, seen) = all(0, || {
        block_on(LocalSet::new().run_until(async {
            let cancelled = spawn_local(pending::<()>());
            cancelled.abort();
            let cancelled = cancelled.await.unwrap_err().is_cancelled();
            let panics = spawn_local(async { panic!("no") }).await.unwrap_err().is_panic();
            (cancelled, panics)
        }))
    });
    assert_eq!(seen, [(true, true)]);
    let failure = explore(&settings(0), Reduced::new(), || {
        let set = LocalSet::new();
        drop(set.spawn_local(async { panic!("nobody looks") }));
        block_on(set);
    })
    .unwrap_err();
    let Cause::Panic { message, .. } = &failure.cause else { panic!("{failure}") };
    assert_eq!(message, "nobody looks");
}

#[test]
fn a_set_runs_to_its_end_and_drops_what_is_left() {
    let (_, seen) = all(0, || {
        let number = Rc::new(Cell::new(0));
        let set = LocalSet::new();
        let own = Rc::clone(&number);
        drop(set.spawn_local(async move {
            spawn_local(async move { own.set(1) });
        }));
        block_on(set);
        let set = LocalSet::new();
        let task = set.spawn_local(pending::<()>());
        drop(set);
        (number.get(), block_on(task).unwrap_err().is_cancelled())
    });
    assert_eq!(seen, [(1, true)]);
}

#[test]
fn sets_of_tasks_hold_them_too() {
    let (_, seen) = all(0, || {
        let runtime = Runtime::new().unwrap();
        LocalSet::new().block_on(&runtime, async {
            let mut tasks = JoinSet::new();
            for number in [1, 2] {
                let number = Rc::new(number);
                tasks.spawn_local(async move { *number });
            }
            let mut sum = 0;
            while let Some(result) = tasks.join_next().await {
                sum += result.unwrap();
            }
            sum
        })
    });
    assert_eq!(seen, [3]);
}

#[test]
fn outside_of_executions_they_are_polled_in_place() {
    let sum = tokio::runtime::block_on(LocalSet::new().run_until(async {
        let (sender, receiver) = oneshot::channel();
        let task = spawn_local(async move { receiver.await.unwrap() });
        let other = spawn(async move { _ = sender.send(2) });
        other.await.unwrap();
        task.await.unwrap()
    }));
    assert_eq!(sum, 2);
}
