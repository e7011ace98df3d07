//! Timers of tasks.

use super::fails;
use crate::noting::{all, settings};
use record_parallel::scheduler::Reduced;
use record_parallel::tokio::runtime::block_on;
use record_parallel::tokio::sync::mpsc;
use record_parallel::tokio::time::{Duration, Instant, MissedTickBehavior, interval, sleep, timeout};
use record_parallel::tokio::{join, select, spawn};
use record_parallel::{Cause, explore, thread};
use std::future::pending;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn tasks_sleep_at_one_time() {
    let (_, seen) = all(0, || {
        block_on(async {
            let start = Instant::now();
            let task = spawn(async move {
                sleep(SECOND * 2).await;
                start.elapsed()
            });
            join!(sleep(SECOND), sleep(SECOND * 3));
            (task.await.unwrap(), start.elapsed())
        })
    });
    assert_eq!(seen, [(SECOND * 2, SECOND * 3)]);
}

#[test]
fn a_time_out_ends_what_takes_too_long() {
    let (_, seen) = all(0, || {
        block_on(async {
            let short = timeout(SECOND, async { 1 }).await.ok();
            let long = timeout(SECOND, pending::<u32>()).await.ok();
            let equal = timeout(SECOND, sleep(SECOND)).await.is_ok();
            (short, long, equal)
        })
    });
    assert_eq!(seen, [(Some(1), None, true)], "the future is polled before the timer");
}

#[test]
fn a_time_out_may_come_before_an_answer_that_is_late() {
    let failure = fails(1, || {
        block_on(async {
            let (sender, mut receiver) = mpsc::unbounded_channel();
            drop(spawn(async move { _ = sender.send(1) }));
            assert_eq!(timeout(SECOND, receiver.recv()).await, Ok(Some(1)), "no machine is that slow");
        });
    });
    assert_eq!(failure.picks(), 1, "{failure}");
    assert!(failure.table().contains("times out"), "{failure}");
    let Cause::Panic { message, .. } = &failure.cause else { panic!("{failure}") };
    assert!(message.contains("no machine is that slow"), "{failure}");
}

#[test]
fn ticks_come_in_equal_distances() {
    let (_, seen) = all(0, || {
        block_on(async {
            let start = Instant::now();
            let mut ticks = interval(SECOND * 2);
            let mut seen = Vec::new();
            for late in [0, 0, 5, 0, 0] {
                ticks.tick().await;
                seen.push((Instant::now() - start).as_secs());
                sleep(SECOND * late).await;
            }
            ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
            sleep(SECOND * 5).await;
            for _ in 0..2 {
                ticks.tick().await;
                seen.push((Instant::now() - start).as_secs());
            }
            seen
        })
    });
    assert_eq!(seen, [[0, 2, 4, 9, 9, 14, 16]]);
}

#[test]
fn a_timer_of_a_branch_goes_with_it() {
    let (_, seen) = all(0, || {
        block_on(async {
            let start = Instant::now();
            select! {
                () = sleep(SECOND) => {}
                () = sleep(SECOND * 100) => unreachable!("a second is shorter"),
            }
            start.elapsed()
        })
    });
    assert_eq!(seen, [SECOND]);
}

#[test]
fn a_thread_and_a_task_share_one_clock() {
    let (_, seen) = all(0, || {
        let start = Instant::now();
        let thread = thread::spawn(move || {
            thread::sleep(SECOND);
            start.elapsed()
        });
        let task = block_on(async move {
            sleep(SECOND * 2).await;
            start.elapsed()
        });
        (thread.join().unwrap(), task)
    });
    assert_eq!(seen, [(SECOND, SECOND * 2)]);
}

#[test]
fn a_server_that_ticks_for_ever_ends_with_its_runtime() {
    let program = || {
        block_on(async {
            drop(spawn(async {
                let mut ticks = interval(SECOND);
                loop {
                    ticks.tick().await;
                }
            }));
            sleep(SECOND * 3).await;
        });
    };
    assert!(explore(&settings(0), Reduced::new(), program).unwrap().is_complete);
    assert!(explore(&settings(1), Reduced::new(), program).unwrap().is_complete);
}
