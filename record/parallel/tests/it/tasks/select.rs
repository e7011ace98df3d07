//! `select!`: the first branch to be polled is a pick, and the futures of the others are dropped.

use super::fails;
use crate::noting::all;
use record_parallel::Cause;
use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};
use record_parallel::tokio::runtime::block_on;
use record_parallel::tokio::select;
use record_parallel::tokio::task::yield_now;
use std::future::{pending, ready};
use std::sync::Arc;

#[test]
fn any_branch_that_is_ready_may_win() {
    let (explored, seen) = all(0, || {
        block_on(async {
            select! {
                () = pending::<()>() => 0,
                number = ready(1) => number,
                Some(number) = ready(Some(2)) => { number }
                Some(number) = ready(None) => number,
                () = ready(()), if false => 4,
            }
        })
    });
    assert_eq!(seen, [1, 2]);
    assert_eq!(explored.executions, 4);
}

#[test]
fn a_biased_one_polls_in_the_order_of_its_branches() {
    let (explored, seen) = all(0, || {
        block_on(async {
            select! {
                biased;
                Some(number) = ready(None::<u32>) => number,
                mut number = ready(1) => {
                    number += 1;
                    number
                }
                number = ready(3) => number,
            }
        })
    });
    assert_eq!((seen, explored.executions), (vec![2], 1));
}

#[test]
fn without_a_branch_the_last_word_has_else() {
    let (_, seen) = all(0, || {
        block_on(async {
            select! {
                Some(number) = ready(None::<u32>) => number,
                () = ready(()), if false => 1,
                else => 2,
            }
        })
    });
    assert_eq!(seen, [2]);
    let failure = fails(0, || {
        block_on(async {
            select! {
                Some(()) = ready(None) => {}
            }
        });
    });
    let Cause::Panic { message, .. } = &failure.cause else { panic!("{failure}") };
    assert!(message.contains("all branches are disabled"), "{failure}");
}

#[test]
fn a_handler_may_leave_the_loop_around_it() {
    let (_, seen) = all(0, || {
        block_on(async {
            let mut rounds = 0;
            loop {
                rounds += 1;
                select! {
                    () = ready(()), if rounds < 3 => continue,
                    () = ready(()), if rounds == 3 => {}
                }
                break;
            }
            rounds
        })
    });
    assert_eq!(seen, [3]);
}

#[test]
fn what_a_branch_has_done_is_lost_when_another_one_wins() {
    let failure = fails(0, || {
        block_on(async {
            let taken = Arc::new(AtomicU32::new(0));
            let kept = async {
                // The future takes a message, and keeps it in a variable that a cancellation drops.
                let message = taken.fetch_add(1, SeqCst) + 1;
                yield_now().await;
                message
            };
            let message = select! {
                message = kept => Some(message),
                () = ready(()) => None,
            };
            assert_eq!(message.map_or(0, |_| 1), taken.load(SeqCst), "a message was dropped");
        });
    });
    let Cause::Panic { message, .. } = &failure.cause else { panic!("{failure}") };
    assert!(message.contains("a message was dropped"), "{failure}");
}
