//! Mutexes, semaphores, reader-writer locks and notifications of tasks.

use super::fails;
use crate::noting::{all, reduced};
use record_parallel::Cause;
use record_parallel::sync::atomic::{
    AtomicU32,
    Ordering::{Relaxed, SeqCst},
};
use record_parallel::tokio::runtime::block_on;
use record_parallel::tokio::sync::{Mutex, Notify, RwLock, Semaphore, TryAcquireError, oneshot};
use record_parallel::tokio::task::yield_now;
use record_parallel::tokio::time::{Duration, timeout};
use record_parallel::tokio::{select, spawn};
use std::sync::Arc;

#[test]
fn a_mutex_lets_one_task_in() {
    for surprises in [0, 1] {
        let (explored, seen) = reduced(surprises, || {
            block_on(async {
                let number = Arc::new(Mutex::new(0));
                let tasks = [1, 2].map(|_| {
                    let number = Arc::clone(&number);
                    spawn(async move {
                        let mut guard = number.lock().await;
                        let before = *guard;
                        yield_now().await;
                        *guard = before + 1;
                    })
                });
                for task in tasks {
                    task.await.unwrap();
                }
                *number.lock().await
            })
        });
        assert_eq!(seen, [2]);
        assert!(explored.executions < 3000, "{explored:?}");
    }
}

#[test]
fn a_mutex_hands_on_what_was_seen() {
    let (_, seen) = all(0, || {
        block_on(async {
            let both = Arc::new((Mutex::new(false), AtomicU32::new(0)));
            let other = Arc::clone(&both);
            let task = spawn(async move {
                other.1.store(1, Relaxed);
                *other.0.lock().await = true;
            });
            let is_set = *both.0.lock().await;
            let number = both.1.load(Relaxed);
            task.await.unwrap();
            (is_set, number)
        })
    });
    assert_eq!(seen, [(false, 0), (false, 1), (true, 1)]);
}

#[test]
fn a_mutex_that_is_held_while_another_is_awaited_is_a_deadlock() {
    let failure = fails(0, || {
        block_on(async {
            let both = Arc::new([Mutex::new(()), Mutex::new(())]);
            let tasks = [0, 1].map(|first| {
                let both = Arc::clone(&both);
                spawn(async move {
                    let _first = both[first].lock().await;
                    let _second = both[1 - first].lock().await;
                })
            });
            for task in tasks {
                task.await.unwrap();
            }
        });
    });
    let Cause::Deadlock(waiting) = &failure.cause else { panic!("{failure}") };
    let tasks: Vec<_> =
        waiting.iter().filter(|waiting| waiting.object.is_some_and(|(what, _)| what == "Mutex")).collect();
    assert_eq!(tasks.len(), 2, "{failure}");
    assert_eq!(tasks[0].holder, Some(tasks[1].thread), "{failure}");
    assert_eq!(tasks[1].holder, Some(tasks[0].thread), "{failure}");
    assert!(tasks.iter().all(|waiting| waiting.place.line() > 60 && waiting.place.file().ends_with("locks.rs")));
}

#[test]
fn a_mutex_that_is_held_while_its_channel_is_awaited_is_a_deadlock() {
    let failure = fails(0, || {
        block_on(async move {
            let number = Arc::new(Mutex::new(0));
            let (sender, receiver) = oneshot::channel();
            let other = Arc::clone(&number);
            drop(spawn(async move {
                *other.lock().await += 1;
                sender.send(()).unwrap();
            }));
            let mut guard = number.lock().await;
            receiver.await.unwrap();
            *guard += 1;
        });
    });
    let text = failure.to_string();
    assert!(text.contains("await Mutex made at") && text.contains("which thread a holds"), "{text}");
    assert!(text.contains("await oneshot made at"), "{text}");
}

#[test]
fn tasks_that_wait_are_served_in_order() {
    // The first task waits for two permits, so the second task does not overtake it to take the one available.
    let (_, seen) = reduced(0, || {
        block_on(async {
            let semaphore = Arc::new(Semaphore::new(1));
            let order = Arc::new(Mutex::new(Vec::new()));
            let (sender, receiver) = oneshot::channel();
            let (own, other) = (Arc::clone(&semaphore), Arc::clone(&order));
            let first = spawn(async move {
                let mut wait = std::pin::pin!(own.acquire_many(2));
                std::future::poll_fn(|cx| {
                    assert!(wait.as_mut().poll(cx).is_pending());
                    std::task::Poll::Ready(())
                })
                .await;
                sender.send(()).unwrap();
                let permit = wait.await.unwrap();
                other.lock().await.push(2);
                drop(permit);
            });
            receiver.await.unwrap();
            assert_eq!(semaphore.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
            let (own, other) = (Arc::clone(&semaphore), Arc::clone(&order));
            let second = spawn(async move {
                let _permit = own.acquire().await.unwrap();
                other.lock().await.push(1);
            });
            yield_now().await;
            semaphore.add_permits(1);
            first.await.unwrap();
            second.await.unwrap();
            assert_eq!(semaphore.available_permits(), 2);
            Arc::into_inner(order).unwrap().into_inner()
        })
    });
    assert_eq!(seen, [[2, 1]]);
}

#[test]
fn a_permit_that_is_forgotten_when_its_task_is_cancelled_leaks() {
    // A permit after `forget` must be returned explicitly, which a cancelled task never does.
    let failure = fails(0, || {
        block_on(async {
            let semaphore = Arc::new(Semaphore::new(1));
            let own = Arc::clone(&semaphore);
            let task = spawn(async move {
                own.acquire().await.unwrap().forget();
                yield_now().await;
                own.add_permits(1);
            });
            task.abort();
            _ = task.await;
            assert_eq!(semaphore.available_permits(), 1, "a permit has leaked");
        });
    });
    let Cause::Panic { message, .. } = &failure.cause else { panic!("{failure}") };
    assert!(message.contains("a permit has leaked"), "{failure}");
    let (_, seen) = all(0, || {
        block_on(async {
            let semaphore = Arc::new(Semaphore::new(1));
            let own = Arc::clone(&semaphore);
            let held = semaphore.acquire().await.unwrap();
            let task = spawn(async move {
                let _permit = own.acquire().await.unwrap();
                yield_now().await;
            });
            drop(held);
            task.abort();
            _ = task.await;
            semaphore.available_permits()
        })
    });
    assert_eq!(seen, [1], "a permit that is granted to a task that is cancelled goes back");
}

#[test]
fn a_semaphore_that_is_closed_lets_nobody_wait() {
    let (_, seen) = all(0, || {
        block_on(async {
            let semaphore = Arc::new(Semaphore::new(0));
            let own = Arc::clone(&semaphore);
            let task = spawn(async move { own.acquire().await.is_err() });
            semaphore.close();
            (
                task.await.unwrap(),
                semaphore.is_closed(),
                semaphore.try_acquire().unwrap_err() == TryAcquireError::Closed,
            )
        })
    });
    assert_eq!(seen, [(true, true, true)]);
}

#[test]
fn a_writer_that_waits_keeps_readers_out() {
    let (_, seen) = all(0, || {
        block_on(async {
            let lock = Arc::new(RwLock::new(0));
            let reader = lock.read().await;
            let own = Arc::clone(&lock);
            let writer = spawn(async move { *own.write().await += 1 });
            let again = lock.try_read().is_ok();
            let value = *reader;
            drop(reader);
            writer.await.unwrap();
            (again, value, *lock.read().await)
        })
    });
    assert_eq!(seen, [(false, 0, 1), (true, 0, 1)]);
    let failure = fails(0, || {
        block_on(async {
            let lock = Arc::new(RwLock::new(0));
            let own = Arc::clone(&lock);
            drop(spawn(async move { *own.write().await += 1 }));
            let first = lock.read().await;
            let second = lock.read().await;
            drop((first, second));
        });
    });
    let Cause::Deadlock(_) = &failure.cause else { panic!("{failure}") };
}

#[test]
fn readers_share_and_a_writer_may_become_one() {
    let (_, seen) = all(0, || {
        block_on(async {
            let lock = RwLock::new(1);
            let mut writer = lock.write().await;
            *writer += 1;
            let is_locked = lock.try_read().is_err();
            let first = writer.downgrade();
            let second = lock.try_read().unwrap();
            (is_locked, *first + *second, lock.try_write().is_err())
        })
    });
    assert_eq!(seen, [(true, 4, true)]);
}

#[test]
fn a_notification_is_kept_for_who_comes_next() {
    let (_, seen) = all(0, || {
        block_on(async {
            let notify = Arc::new(Notify::new());
            let other = Arc::clone(&notify);
            let task = spawn(async move { other.notified().await });
            notify.notify_one();
            task.await.unwrap();
            notify.notify_one();
            notify.notify_one();
            notify.notified().await;
            timeout(Duration::from_secs(1), notify.notified()).await.is_err()
        })
    });
    assert_eq!(seen, [true], "two of them are kept as one");
}

#[test]
fn a_notification_of_all_is_lost_for_who_comes_next() {
    fails(0, || {
        block_on(async {
            let notify = Arc::new(Notify::new());
            let other = Arc::clone(&notify);
            let task = spawn(async move { other.notified().await });
            notify.notify_waiters();
            task.await.unwrap();
        });
    });
    let (_, seen) = all(0, || {
        block_on(async {
            let notify = Arc::new(Notify::new());
            let both = (Arc::clone(&notify), Arc::new(AtomicU32::new(0)));
            let (other, flag) = both.clone();
            let task = spawn(async move {
                // A task that creates the future first, and then checks the flag, misses no notification.
                let wait = other.notified();
                if flag.load(SeqCst) == 0 {
                    wait.await;
                }
            });
            both.1.store(1, SeqCst);
            notify.notify_waiters();
            task.await.unwrap();
        });
    });
    assert_eq!(seen, [()]);
}

#[test]
fn a_notification_of_a_task_that_is_cancelled_goes_to_the_next() {
    let (_, seen) = all(0, || {
        block_on(async {
            let notify = Arc::new(Notify::new());
            let tasks = [1, 2].map(|_| {
                let notify = Arc::clone(&notify);
                spawn(async move { notify.notified().await })
            });
            notify.notify_one();
            let [first, second] = tasks;
            first.abort();
            let is_cancelled = first.await.is_err();
            if !is_cancelled {
                notify.notify_one();
            }
            second.await.unwrap();
            is_cancelled
        })
    });
    assert_eq!(seen, [false, true]);
}

#[test]
fn a_lock_that_a_branch_waits_for_is_given_up_with_it() {
    let (_, seen) = all(0, || {
        block_on(async {
            let lock = Arc::new(Mutex::new(()));
            let other = Arc::clone(&lock);
            let task = spawn(async move {
                select! {
                    _guard = other.lock() => true,
                    () = yield_now() => false,
                }
            });
            drop(lock.lock().await);
            let is_locked = task.await.unwrap();
            (is_locked, lock.try_lock().is_ok())
        })
    });
    assert_eq!(seen, [(false, true), (true, true)]);
}
