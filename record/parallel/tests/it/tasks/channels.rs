//! Channels of tasks.

use super::fails;
use crate::noting::{all, reduced};
use record_parallel::Cause;
use record_parallel::tokio::runtime::block_on;
use record_parallel::tokio::sync::mpsc::error::{TryRecvError, TrySendError};
use record_parallel::tokio::sync::{broadcast, mpsc, oneshot, watch};
use record_parallel::tokio::task::yield_now;
use record_parallel::tokio::{select, spawn};

#[test]
fn messages_come_in_the_order_of_their_sender_and_end_with_the_last_one() {
    for bound in [Some(1), None] {
        let program = move || {
            block_on(async move {
                let mut seen = Vec::new();
                if let Some(bound) = bound {
                    let (sender, mut receiver) = mpsc::channel(bound);
                    drop(spawn(async move {
                        for number in 0..3 {
                            sender.send(number).await.unwrap();
                        }
                    }));
                    while let Some(number) = receiver.recv().await {
                        seen.push(number);
                    }
                } else {
                    let (sender, mut receiver) = mpsc::unbounded_channel();
                    drop(spawn(async move { (0..3).for_each(|number| sender.send(number).unwrap()) }));
                    while let Some(number) = receiver.recv().await {
                        seen.push(number);
                    }
                }
                assert_eq!(seen, [0, 1, 2]);
            });
        };
        for surprises in [0, 1] {
            let settings = crate::noting::settings(surprises);
            let explored = record_parallel::explore(&settings, record_parallel::scheduler::Reduced::new(), program);
            assert!(explored.unwrap_or_else(|failure| panic!("{failure}")).is_complete);
        }
    }
}

#[test]
fn senders_interleave() {
    let (_, seen) = reduced(0, || {
        block_on(async {
            let (sender, mut receiver) = mpsc::channel(2);
            for number in [1, 2] {
                let sender = sender.clone();
                drop(spawn(async move { sender.send(number).await.unwrap() }));
            }
            drop(sender);
            let mut seen = Vec::new();
            while let Some(number) = receiver.recv().await {
                seen.push(number);
            }
            seen
        })
    });
    assert_eq!(seen, [[1, 2], [2, 1]]);
}

#[test]
fn a_sender_may_have_room_and_no_message_yet() {
    let (_, seen) = all(0, || {
        block_on(async {
            let (sender, mut receiver) = mpsc::channel(1);
            let other = sender.clone();
            let task = spawn(async move { other.try_send(1) });
            let second = match sender.try_send(2) {
                Ok(()) => 'o',
                Err(TrySendError::Full(_)) => 'f',
                Err(TrySendError::Closed(_)) => 'c',
            };
            let received = receiver.try_recv();
            task.await.unwrap().ok();
            (second, received.ok())
        })
    });
    // The channel is full and there is nothing to receive: the permit was taken, but the message was not added yet.
    assert_eq!(seen, [('f', None), ('f', Some(1)), ('o', Some(2))]);
}

#[test]
fn a_receiver_that_closes_gets_what_was_permitted() {
    let (_, seen) = all(0, || {
        block_on(async {
            let (sender, mut receiver) = mpsc::channel(1);
            let task = spawn(async move {
                match sender.reserve().await {
                    Ok(permit) => {
                        permit.send(1);
                        true
                    }
                    Err(_) => false,
                }
            });
            receiver.close();
            let received = receiver.recv().await;
            (task.await.unwrap(), received)
        })
    });
    assert_eq!(seen, [(false, None), (true, Some(1))]);
}

#[test]
fn a_permit_that_is_given_up_lets_the_next_sender_in_and_ends_a_closed_channel() {
    let (_, seen) = all(0, || {
        block_on(async {
            let (sender, mut receiver) = mpsc::channel::<u32>(1);
            let permit = sender.clone().reserve_owned().await.unwrap();
            let other = sender.clone();
            let task = spawn(async move { other.send(2).await.is_ok() });
            drop((permit, sender));
            receiver.close();
            let received = receiver.recv().await;
            (task.await.unwrap(), received)
        })
    });
    assert_eq!(seen, [(false, None), (true, Some(2))]);
}

#[test]
fn a_sender_sees_that_the_receiver_has_gone() {
    let (_, seen) = all(0, || {
        block_on(async {
            let (sender, receiver) = mpsc::channel(1);
            let task = spawn(async move { drop(receiver) });
            sender.closed().await;
            task.await.unwrap();
            (sender.is_closed(), sender.send(1).await.unwrap_err().0)
        })
    });
    assert_eq!(seen, [(true, 1)]);
}

#[test]
fn a_weak_sender_does_not_keep_the_channel_open() {
    let (_, seen) = all(0, || {
        block_on(async {
            let (sender, mut receiver) = mpsc::unbounded_channel::<u32>();
            let weak = sender.downgrade();
            let task = spawn(async move { drop(sender) });
            let is_sent = weak.upgrade().is_some_and(|sender| sender.send(1).is_ok());
            let received = receiver.recv().await;
            task.await.unwrap();
            (is_sent, received, receiver.try_recv() == Err(TryRecvError::Disconnected))
        })
    });
    assert_eq!(seen, [(false, None, true), (true, Some(1), true)]);
}

#[test]
fn a_select_that_drops_what_it_has_received_loses_a_message() {
    let failure = fails(0, || {
        block_on(async {
            let (sender, mut receiver) = mpsc::unbounded_channel();
            let (stop, mut stopped) = oneshot::channel::<()>();
            sender.send(1).unwrap();
            drop(spawn(async move { _ = stop.send(()) }));
            // The future has received a message, and awaits again before it returns: the message is lost if the other
            // branch wins.
            let next = async {
                let message = receiver.recv().await;
                yield_now().await;
                message
            };
            let mut handled = 0;
            select! {
                Some(message) = next => handled += message,
                _ = &mut stopped => {}
            }
            if handled == 0 {
                handled += receiver.try_recv().unwrap_or(0);
            }
            assert_eq!(handled, 1, "a message was lost");
        });
    });
    let Cause::Panic { message, .. } = &failure.cause else { panic!("{failure}") };
    assert!(message.contains("a message was lost"), "{failure}");
}

#[test]
fn one_message_comes_once_or_its_sender_goes() {
    let (_, seen) = all(0, || {
        block_on(async {
            let (sender, receiver) = oneshot::channel();
            let task = spawn(async move { sender.send(1) });
            let received = receiver.await.ok();
            let (gone, waits) = oneshot::channel::<u32>();
            drop(gone);
            (task.await.unwrap(), received, waits.await.is_err())
        })
    });
    assert_eq!(seen, [(Ok(()), Some(1), true)]);
    let (_, seen) = all(0, || {
        block_on(async {
            let (sender, mut receiver) = oneshot::channel();
            let task = spawn(async move { sender.send(1).is_ok() });
            receiver.close();
            (task.await.unwrap(), receiver.try_recv().ok())
        })
    });
    assert_eq!(seen, [(false, None), (true, Some(1))]);
}

#[test]
fn the_newest_value_is_watched() {
    let (_, seen) = all(0, || {
        block_on(async {
            let (sender, mut receiver) = watch::channel(0);
            let task = spawn(async move {
                let mut seen = Vec::new();
                while receiver.changed().await.is_ok() {
                    seen.push(*receiver.borrow_and_update());
                }
                seen
            });
            sender.send(1).unwrap();
            drop(sender);
            task.await.unwrap()
        })
    });
    assert_eq!(seen, [[1]]);
    let (_, seen) = reduced(0, || {
        block_on(async {
            let (sender, mut receiver) = watch::channel(0);
            let task = spawn(async move {
                receiver.changed().await.unwrap();
                // The value may be newer than the change. `borrow` does not mark it as seen, so the next `changed`
                // would not wait.
                let seen = *receiver.borrow();
                (seen, receiver.has_changed())
            });
            sender.send_replace(1);
            sender.send_replace(2);
            let (seen, has_changed) = task.await.unwrap();
            (seen, has_changed.unwrap())
        })
    });
    assert_eq!(seen, [(1, false), (1, true), (2, false), (2, true)]);
}

#[test]
fn who_is_slow_misses_messages_and_is_told_how_many() {
    let (_, seen) = all(0, || {
        block_on(async {
            let (sender, mut receiver) = broadcast::channel(1);
            let task = spawn(async move {
                let mut seen = Vec::new();
                loop {
                    match receiver.recv().await {
                        Ok(number) => seen.push(Ok(number)),
                        Err(broadcast::error::RecvError::Lagged(missed)) => seen.push(Err(missed)),
                        Err(broadcast::error::RecvError::Closed) => return seen,
                    }
                }
            });
            sender.send(1).unwrap();
            sender.send(2).unwrap();
            drop(sender);
            task.await.unwrap()
        })
    });
    assert_eq!(seen, [vec![Ok(1), Ok(2)], vec![Err(1), Ok(2)]]);
}

#[test]
fn a_closed_channel_hears_of_a_permit_that_comes_back_from_a_sender_that_waited() {
    let (_, seen) = all(0, || {
        block_on(async {
            let (sender, mut receiver) = mpsc::channel::<u32>(1);
            let permit = sender.reserve().await.unwrap();
            let other = sender.clone();
            let task = spawn(async move { other.send(2).await.is_ok() });
            drop(permit);
            receiver.close();
            let received = receiver.recv().await;
            (task.await.unwrap(), received)
        })
    });
    assert_eq!(seen, [(false, None), (true, Some(2))]);
}
