//! Which views tokio's types pass on when they report that something is closed or has finished, and which they do not.

use super::{make, read, write};
use record_parallel::scheduler::Reduced;
use record_parallel::sync::atomic::{AtomicU32, Ordering::Relaxed};
use record_parallel::tokio::runtime::block_on;
use record_parallel::tokio::sync::{Semaphore, broadcast, mpsc, oneshot};
use record_parallel::tokio::{self, task::yield_now};
use record_parallel::{Cause, Settings, explore};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

type Part = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Creates the part of a task that has written before, and the part of a task that reads afterwards.
type Make = fn() -> (Part, Part);

/// Returns true if there is a race when the second part begins after the end of the first one, which the reader sees by
/// a relaxed flag.
fn races(parts: Make) -> bool {
    let settings = Settings { surprises_max: 0, ..Settings::default() };
    let program = move || {
        make();
        block_on(async move {
            let (first, second) = parts();
            let flag = Arc::new(AtomicU32::new(0));
            let other = Arc::clone(&flag);
            let writer = tokio::spawn(async move {
                write();
                first.await;
                other.store(1, Relaxed);
            });
            while flag.load(Relaxed) == 0 {
                yield_now().await;
            }
            second.await;
            read();
            writer.await.unwrap();
        });
    };
    match explore(&settings, Reduced::new(), program) {
        Ok(explored) => {
            assert!(explored.is_complete, "{explored:?}");
            false
        }
        Err(failure) => {
            assert!(matches!(failure.cause, Cause::Race(_)), "{failure}");
            true
        }
    }
}

fn part(body: impl Future<Output = ()> + Send + 'static) -> Part {
    Box::pin(body)
}

fn both(
    first: impl Future<Output = ()> + Send + 'static,
    second: impl Future<Output = ()> + Send + 'static,
) -> (Part, Part) {
    (part(first), part(second))
}

#[track_caller]
fn all_hand_on(cases: &[(&str, Make)]) {
    let failed: Vec<&str> = cases.iter().filter(|(_, parts)| races(*parts)).map(|(name, _)| *name).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

/// A semaphore that the first part closes.
fn closed<F: Future<Output = ()> + Send + 'static>(second: fn(Arc<Semaphore>) -> F) -> (Part, Part) {
    let semaphore = Arc::new(Semaphore::new(1));
    let other = Arc::clone(&semaphore);
    both(async move { other.close() }, second(semaphore))
}

#[test]
fn a_closed_semaphore_hands_on_what_who_closed_it_did() {
    all_hand_on(&[
        ("acquire", || closed(|semaphore| async move { assert!(semaphore.acquire().await.is_err()) })),
        ("try_acquire", || closed(|semaphore| async move { assert!(semaphore.try_acquire().is_err()) })),
        ("is_closed", || closed(|semaphore| async move { assert!(semaphore.is_closed()) })),
    ]);
}

/// A bounded channel whose receiver the first part drops.
fn left<F: Future<Output = ()> + Send + 'static>(second: fn(mpsc::Sender<u32>) -> F) -> (Part, Part) {
    let (sender, receiver) = mpsc::channel(1);
    both(async move { drop(receiver) }, second(sender))
}

/// The same without a bound. The receiver is closed and kept if `closes`, and dropped otherwise.
fn left_unbounded<F: Future<Output = ()> + Send + 'static>(
    closes: bool,
    second: fn(mpsc::UnboundedSender<u32>) -> F,
) -> (Part, Part) {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let first = async move {
        if closes {
            receiver.close();
        }
    };
    both(first, second(sender))
}

#[test]
fn a_channel_without_a_receiver_hands_on_what_it_did() {
    all_hand_on(&[
        ("send", || left(|sender| async move { assert!(sender.send(1).await.is_err()) })),
        ("try_send", || left(|sender| async move { assert!(sender.try_send(1).is_err()) })),
        ("is_closed", || left(|sender| async move { assert!(sender.is_closed()) })),
        ("closed", || left(|sender| async move { sender.closed().await })),
        ("unbounded send", || left_unbounded(false, |sender| async move { assert!(sender.send(1).is_err()) })),
        ("unbounded send, closed", || left_unbounded(true, |sender| async move { assert!(sender.send(1).is_err()) })),
        ("unbounded is_closed", || left_unbounded(false, |sender| async move { assert!(sender.is_closed()) })),
        ("unbounded closed", || left_unbounded(false, |sender| async move { sender.closed().await })),
    ]);
}

#[test]
fn a_channel_without_senders_hands_on_what_they_did() {
    all_hand_on(&[
        ("try_recv", || {
            let (sender, mut receiver) = mpsc::channel::<u32>(1);
            both(async move { drop(sender) }, async move { assert!(receiver.try_recv().is_err()) })
        }),
        ("unbounded try_recv", || {
            let (sender, mut receiver) = mpsc::unbounded_channel::<u32>();
            both(async move { drop(sender) }, async move { assert!(receiver.try_recv().is_err()) })
        }),
        ("oneshot try_recv", || {
            let (sender, mut receiver) = oneshot::channel::<u32>();
            both(async move { drop(sender) }, async move { assert!(receiver.try_recv().is_err()) })
        }),
        ("broadcast try_recv", || {
            let (sender, mut receiver) = broadcast::channel::<u32>(1);
            both(async move { drop(sender) }, async move { assert!(receiver.try_recv().is_err()) })
        }),
        ("broadcast recv", || {
            let (sender, mut receiver) = broadcast::channel::<u32>(1);
            both(async move { drop(sender) }, async move { assert!(receiver.recv().await.is_err()) })
        }),
    ]);
}

#[test]
fn a_broadcast_without_receivers_hands_on_what_they_did() {
    all_hand_on(&[
        ("send", || {
            let (sender, receiver) = broadcast::channel::<u32>(1);
            both(async move { drop(receiver) }, async move { assert!(sender.send(1).is_err()) })
        }),
        ("closed", || {
            let (sender, receiver) = broadcast::channel::<u32>(1);
            both(async move { drop(receiver) }, async move { sender.closed().await })
        }),
    ]);
}

#[test]
fn a_task_that_is_finished_hands_on_what_it_did() {
    let explored = explore(&Settings::default(), Reduced::new(), || {
        make();
        block_on(async {
            let writer = tokio::spawn(async { write() });
            while !writer.is_finished() {
                yield_now().await;
            }
            read();
            writer.await.unwrap();
        });
    });
    assert!(explored.unwrap().is_complete);
}

#[test]
fn what_is_not_the_end_hands_on_nothing() {
    // As in tokio, the receiver of a oneshot channel only acquires when it closes the channel.
    assert!(races(|| {
        let (sender, receiver) = oneshot::channel::<u32>();
        both(async move { drop(receiver) }, async move { assert!(sender.send(1).is_err()) })
    }));
    // The sender that is dropped is not the last one.
    assert!(races(|| {
        let (sender, mut receiver) = mpsc::unbounded_channel::<u32>();
        let other = sender.clone();
        both(async move { drop(other) }, async move {
            assert!(receiver.try_recv().is_err());
            drop(sender);
        })
    }));
    assert!(races(|| {
        let (sender, mut receiver) = broadcast::channel::<u32>(1);
        let other = sender.clone();
        both(async move { drop(other) }, async move {
            assert!(receiver.try_recv().is_err());
            drop(sender);
        })
    }));
}
