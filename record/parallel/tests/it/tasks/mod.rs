//! Tasks: spawned, awaited, cancelled, woken and not woken, under all schedules of small programs.

mod cells;
mod channels;
mod compare;
mod current_thread;
mod local;
mod locks;
mod oracle;
mod select;
mod store;
mod time;

use crate::noting::{all, settings};
use record_parallel::scheduler::{Exhaustive, Pct, Random, Reduced, Replay, Scheduler};
use record_parallel::sync::Mutex;
use record_parallel::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use record_parallel::tokio::runtime::{Runtime, block_on};
use record_parallel::tokio::task::{JoinSet, spawn_blocking, yield_now};
use record_parallel::tokio::{self, spawn};
use record_parallel::{Cause, Failure, Schedule, explore, simplify};
use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::{Poll, Waker};

/// Asserts that a program fails under all searches, for the same reason, and again when it is replayed.
pub(crate) fn fails(surprises: u32, program: fn()) -> Box<Failure> {
    let settings = settings(surprises);
    let run = |scheduler: Box<dyn Scheduler>| {
        let failure = explore(&settings, Boxed(scheduler), program).unwrap_err();
        let again: Schedule = failure.schedule.to_string().parse().unwrap();
        let again = explore(&settings, Replay::new(&again), program).unwrap_err();
        assert!(again.cause.is_like(&failure.cause), "{again}");
        assert_eq!(again.table(), failure.table());
        failure
    };
    run(Box::new(Random::new(0, 2000)));
    run(Box::new(Pct::new(0, 3, 2000)));
    run(Box::new(Reduced::new()));
    let failure = run(Box::new(Exhaustive::new()));
    simplify(&settings, failure, program)
}

struct Boxed(Box<dyn Scheduler>);

impl Scheduler for Boxed {
    fn begin(&mut self) -> bool {
        self.0.begin()
    }

    fn next(&mut self, choice: &record_parallel::scheduler::Choice<'_>) -> Option<record_parallel::ThreadId> {
        self.0.next(choice)
    }

    fn pick(&mut self, pick: record_parallel::scheduler::Pick, options: u32) -> Option<u32> {
        self.0.pick(pick, options)
    }

    fn wants_every_step(&self) -> bool {
        self.0.wants_every_step()
    }

    fn end(&mut self, ended: &record_parallel::scheduler::Ended<'_>) -> bool {
        self.0.end(ended)
    }

    fn is_complete(&self) -> bool {
        self.0.is_complete()
    }

    fn error(&self) -> Option<String> {
        self.0.error()
    }
}

/// A flag, and the waker of the task that waits for it.
type Slot = Arc<(AtomicBool, Mutex<Option<Waker>>)>;

fn set(slot: &Slot) {
    slot.0.store(true, SeqCst);
    let waker = slot.1.lock().unwrap().take();
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// Waits for a flag. If `is_right`, checks the flag again after it has stored the waker.
async fn wait_for(slot: Slot, is_right: bool) {
    poll_fn(move |cx| {
        if slot.0.load(SeqCst) {
            return Poll::Ready(());
        }
        *slot.1.lock().unwrap() = Some(cx.waker().clone());
        if is_right && slot.0.load(SeqCst) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

fn sets_a_flag(is_right: bool) {
    block_on(async {
        let slot = Slot::default();
        let waiter = spawn(wait_for(Arc::clone(&slot), is_right));
        set(&slot);
        waiter.await.unwrap();
    });
}

#[test]
fn a_wake_up_that_is_lost_is_a_deadlock_that_names_the_task() {
    let failure = fails(0, || sets_a_flag(false));
    let Cause::Deadlock(waiting) = &failure.cause else { panic!("{failure}") };
    assert_eq!(waiting.len(), 2, "{failure}");
    let text = failure.to_string();
    assert!(text.contains("thread b is blocked at") && text.contains("await waker made at"), "{text}");
    assert!(text.contains("thread a is blocked at") && text.contains("await task made at"), "{text}");
}

#[test]
fn a_waker_that_is_left_first_is_called() {
    for surprises in [0, 1] {
        let (explored, _) = all(surprises, || sets_a_flag(true));
        assert!(explored.executions < 200, "{explored:?}");
    }
}

#[test]
fn a_task_returns_what_its_future_returns() {
    let (_, seen) = all(1, || {
        block_on(async {
            let tasks = [1, 2].map(|number| spawn(async move { number }));
            let mut sum = 0;
            for task in tasks {
                sum += task.await.unwrap();
            }
            sum
        })
    });
    assert_eq!(seen, [3]);
}

#[test]
fn tasks_interleave_at_each_operation() {
    let (_, seen) = all(0, || {
        block_on(async {
            let number = Arc::new(AtomicU32::new(0));
            let tasks = [1, 2].map(|_| {
                let number = Arc::clone(&number);
                spawn(async move {
                    let before = number.load(SeqCst);
                    yield_now().await;
                    number.store(before + 1, SeqCst);
                })
            });
            for task in tasks {
                task.await.unwrap();
            }
            number.load(SeqCst)
        })
    });
    assert_eq!(seen, [1, 2]);
}

#[test]
fn a_loop_that_yields_until_another_task_is_done_ends() {
    let (explored, seen) = all(0, || {
        block_on(async {
            let flag = Arc::new(AtomicBool::new(false));
            let other = Arc::clone(&flag);
            let task = spawn(async move { other.store(true, SeqCst) });
            while !flag.load(SeqCst) {
                yield_now().await;
            }
            task.await.unwrap();
        });
    });
    assert_eq!(seen, [()]);
    assert!(explored.executions < 50, "{explored:?}");
}

#[test]
fn a_task_is_cancelled_before_it_begins_where_it_waits_or_not_at_all() {
    let (_, seen) = all(0, || {
        block_on(async {
            let number = Arc::new(AtomicU32::new(0));
            let other = Arc::clone(&number);
            let task = spawn(async move {
                other.store(1, SeqCst);
                yield_now().await;
                other.store(2, SeqCst);
            });
            task.abort();
            let is_cancelled = match task.await {
                Ok(()) => false,
                Err(error) => {
                    assert!(error.is_cancelled() && !error.is_panic(), "{error}");
                    true
                }
            };
            (is_cancelled, number.load(SeqCst))
        })
    });
    assert_eq!(seen, [(false, 2), (true, 0), (true, 1)]);
}

#[test]
fn a_panic_goes_to_who_awaits_the_task() {
    let (_, seen) = all(1, || {
        block_on(async {
            let error = spawn(async { panic!("no") }).await.unwrap_err();
            (
                error.is_panic(),
                error.to_string().ends_with("panicked with message \"no\""),
                *error.into_panic().downcast::<&str>().unwrap(),
            )
        })
    });
    assert_eq!(seen, [(true, true, "no")]);
}

#[test]
fn a_panic_that_nobody_sees_is_a_failure() {
    for program in [
        || block_on(async { drop(spawn(async { panic!("nobody looks") })) }),
        || {
            block_on(async {
                let task = spawn(async { panic!("nobody looks") });
                while !task.is_finished() {
                    yield_now().await;
                }
            });
        },
        // The panic prevents another task from completing.
        || {
            block_on(async {
                let slot = Slot::default();
                let other = Arc::clone(&slot);
                drop(spawn(async move {
                    assert_eq!(Arc::strong_count(&other), 0, "nobody looks");
                    set(&other);
                }));
                wait_for(slot, true).await;
            });
        },
    ] {
        let failure = fails(0, program);
        let Cause::Panic { message, place, .. } = &failure.cause else { panic!("{failure}") };
        assert!(message.contains("nobody looks") && place.contains("tasks/mod.rs"), "{failure}");
    }
}

#[test]
fn tasks_that_are_left_are_cancelled_at_the_end() {
    struct Notes(Arc<AtomicU32>);
    impl Drop for Notes {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let (_, seen) = all(0, || {
        let dropped = Arc::new(AtomicU32::new(0));
        let notes = Notes(Arc::clone(&dropped));
        block_on(async {
            drop(spawn(async move {
                let _notes = notes;
                pending::<()>().await;
            }));
        });
        dropped.load(SeqCst)
    });
    assert_eq!(seen, [1]);
    let runtime = || {
        let runtime = Runtime::new().unwrap();
        let task = runtime.spawn(pending::<u32>());
        drop(runtime);
        assert!(task.is_finished());
    };
    assert!(explore(&settings(1), Reduced::new(), runtime).unwrap().is_complete);
}

#[test]
fn closures_that_block_run_on_threads_of_their_own() {
    let (_, seen) = all(0, || {
        block_on(async {
            let number = Arc::new(AtomicU32::new(0));
            let other = Arc::clone(&number);
            let task = spawn_blocking(move || other.fetch_add(1, SeqCst));
            let before = number.load(SeqCst);
            (before, task.await.unwrap())
        })
    });
    assert_eq!(seen, [(0, 0), (1, 0)]);
}

#[test]
fn a_set_returns_tasks_as_they_finish() {
    let (_, seen) = all(0, || {
        block_on(async {
            let mut set = JoinSet::new();
            for number in [1, 2] {
                set.spawn(async move { number });
            }
            let mut order = Vec::new();
            while let Some(result) = set.join_next().await {
                order.push(result.unwrap());
            }
            order
        })
    });
    assert_eq!(seen, [[1, 2], [2, 1]]);
    let (_, seen) = all(0, || {
        block_on(async {
            let mut set = JoinSet::new();
            set.spawn(pending::<()>());
            set.shutdown().await;
            (set.len(), set.join_next().await.is_none())
        })
    });
    assert_eq!(seen, [(0, true)]);
}

#[test]
fn what_is_joined_is_polled_in_one_task() {
    let (_, seen) = all(0, || {
        block_on(async {
            let slot = Slot::default();
            let other = Arc::clone(&slot);
            let both = tokio::join!(wait_for(slot, true), async move {
                set(&other);
                2
            });
            let tried: Result<(u32, u32), &str> = tokio::try_join!(async { Ok(1) }, async { Err("no") });
            (both, tried)
        })
    });
    assert_eq!(seen, [(((), 2), Err("no"))]);
}

#[test]
fn what_tokio_forbids_is_forbidden() {
    for (program, expected) in [
        ((|| drop(spawn(async {}))) as fn(), "there is no reactor running"),
        (|| block_on(async { block_on(async {}) }), "Cannot start a runtime from within a runtime"),
    ] {
        let failure = fails(0, program);
        let Cause::Panic { message, .. } = &failure.cause else { panic!("{failure}") };
        assert!(message.contains(expected), "{failure}");
    }
}

#[test]
fn outside_of_executions_tasks_are_threads_of_std() {
    let sum = block_on(async {
        let slot = Slot::default();
        let task = spawn(wait_for(Arc::clone(&slot), true));
        let number = spawn(async {
            yield_now().await;
            1
        });
        set(&slot);
        task.await.unwrap();
        drop(spawn(pending::<()>()));
        number.await.unwrap()
    });
    assert_eq!(sum, 1);
}
