//! Which views locks, channels, counted pointers and initialisation pass on, and which they do not.

use super::{atomic, races, read, write};
use record_parallel::sync::atomic::{AtomicU32, Ordering::Relaxed};
use record_parallel::sync::{Arc, Mutex, OnceLock, RwLock, mpsc};
use record_parallel::thread;
use std::sync::Arc as StdArc;

#[test]
fn locks_hand_on_what_was_done() {
    assert!(!races(|| {
        let mutex = StdArc::new(Mutex::new(()));
        let other = StdArc::clone(&mutex);
        let writer = thread::spawn(move || {
            let _guard = other.lock();
            write();
        });
        let guard = mutex.lock();
        write();
        drop(guard);
        writer.join().unwrap();
    }));
    // Readers of a lock exclude only writers.
    let readers = |first: fn(), second: fn()| {
        races(move || {
            let lock = StdArc::new(RwLock::new(()));
            let other = StdArc::clone(&lock);
            let reader = thread::spawn(move || {
                let _guard = other.read();
                first();
            });
            let guard = lock.read();
            second();
            drop(guard);
            reader.join().unwrap();
        })
    };
    assert!(readers(write, read));
    assert!(!readers(read, read));
}

#[test]
fn a_lock_that_is_not_had_hands_on_nothing() {
    let tries = |needs_lock: bool| {
        races(move || {
            let shared = StdArc::new((Mutex::new(()), AtomicU32::new(0)));
            let other = StdArc::clone(&shared);
            let writer = thread::spawn(move || {
                let guard = other.0.lock();
                write();
                drop(guard);
                let _guard = other.0.lock();
                other.1.store(1, Relaxed);
            });
            if shared.1.load(Relaxed) == 1 {
                let guard = shared.0.try_lock();
                if guard.is_ok() || !needs_lock {
                    read();
                }
            }
            writer.join().unwrap();
        })
    };
    assert!(tries(false));
    assert!(!tries(true));
}

#[test]
fn a_message_hands_on_what_its_own_sender_did() {
    // Both messages are in the channel before the first one is received; the sender of the first one has not written.
    let program = |taken: usize| {
        races(move || {
            let (sender, receiver) = mpsc::channel();
            let (a, b) = atomic();
            let first = sender.clone();
            first.send(1).unwrap();
            let writer = thread::spawn(move || {
                write();
                sender.send(2).unwrap();
                a.store(1, Relaxed);
            });
            if b.load(Relaxed) == 1 {
                assert!((0..taken).all(|_| receiver.recv().is_ok()));
                read();
            }
            writer.join().unwrap();
        })
    };
    assert!(program(1));
    assert!(!program(2));
}

#[test]
fn room_in_a_channel_hands_on_what_the_receiver_did() {
    let program = |bound: usize, sent: usize| {
        races(move || {
            let (sender, receiver) = mpsc::sync_channel(bound);
            let reader = thread::spawn(move || {
                read();
                (0..sent).for_each(|_| receiver.recv().unwrap());
            });
            (0..sent).for_each(|_| sender.send(()).unwrap());
            write();
            reader.join().unwrap();
        })
    };
    assert!(!program(0, 1));
    assert!(!program(1, 2));
    assert!(program(1, 1));
    assert!(program(2, 2));
    assert!(!program(2, 3));
    // A receiver that was dropped, and then senders that were.
    assert!(!races(|| {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || {
            read();
            drop(receiver);
        });
        if sender.send(()).is_err() {
            write();
        }
        other.join().unwrap();
    }));
    assert!(!races(|| {
        let (sender, receiver) = mpsc::channel::<()>();
        let other = thread::spawn(move || {
            read();
            drop(sender);
        });
        receiver.recv().unwrap_err();
        write();
        other.join().unwrap();
    }));
}

#[test]
fn counts_of_pointers_hand_on_nothing_and_the_last_drop_does() {
    struct Writes;
    impl Drop for Writes {
        fn drop(&mut self) {
            write();
        }
    }
    let program = |end: fn(Arc<Writes>)| {
        races(move || {
            let pointer = Arc::new(Writes);
            let other = Arc::clone(&pointer);
            let reader = thread::spawn(move || {
                read();
                drop(other);
            });
            end(pointer);
            reader.join().unwrap();
        })
    };
    assert!(!program(drop));
    assert!(!program(|pointer| drop(Arc::into_inner(pointer))));
    assert!(!program(|pointer| drop(Arc::try_unwrap(pointer))));
    assert!(!program(|mut pointer| {
        if Arc::get_mut(&mut pointer).is_some() {
            write();
        }
    }));
    assert!(program(|pointer| {
        if Arc::strong_count(&pointer) == 1 {
            write();
        }
    }));
}

#[test]
fn what_is_done_once_is_seen_by_who_sees_that_it_is_done() {
    let program = |end: fn(&OnceLock<()>)| {
        races(move || {
            let once = StdArc::new(OnceLock::new());
            let other = StdArc::clone(&once);
            let writer = thread::spawn(move || *other.get_or_init(write));
            end(&once);
            writer.join().unwrap();
        })
    };
    assert!(!program(|once| once.get().into_iter().for_each(|()| read())));
    assert!(!program(|once| {
        once.get_or_init(write);
        read();
    }));
    assert!(program(|once| {
        if once.get().is_none() {
            read();
        }
    }));
}

/// A writer executes `first`, then sets a flag; a thread that sees the flag executes `then`, then reads.
fn done_before<A: Send + 'static, B: 'static>(
    make: impl Fn() -> (A, B) + Send + Sync + Copy + 'static,
    first: fn(A),
    then: fn(&mut B),
) -> bool {
    races(move || {
        let (its, mut mine) = make();
        let (a, b) = atomic();
        let writer = thread::spawn(move || {
            write();
            first(its);
            a.store(1, Relaxed);
        });
        if b.load(Relaxed) == 1 {
            then(&mut mine);
            read();
        }
        writer.join().unwrap();
    })
}

#[test]
fn who_unparks_a_thread_is_not_seen_by_who_joins_it() {
    let make = || {
        let thread = thread::spawn(|| {});
        (thread.thread().clone(), Some(thread))
    };
    assert!(done_before(make, |other| other.unpark(), |thread| thread.take().unwrap().join().unwrap()));
    // The thread that parks gets the view of the thread that unparks it.
    assert!(!races(|| {
        let own = thread::current();
        let writer = thread::spawn(move || {
            write();
            own.unpark();
        });
        thread::park();
        read();
        writer.join().unwrap();
    }));
}

#[test]
fn a_sender_that_is_not_the_last_hands_on_nothing() {
    let make = || {
        let (sender, receiver) = mpsc::channel::<u32>();
        (sender.clone(), (Some(sender), receiver))
    };
    assert!(done_before(make, drop, |(_, receiver)| assert!(receiver.try_recv().is_err())));
    assert!(!done_before(make, drop, |(sender, receiver)| {
        drop(sender.take());
        assert!(receiver.try_recv().is_err());
    }));
}

#[test]
fn a_weak_pointer_that_goes_hands_on_nothing_to_who_upgrades_another() {
    let weak = || {
        let pointer = Arc::new(1);
        (Arc::downgrade(&pointer), pointer)
    };
    assert!(done_before(weak, drop, |pointer| assert!(Arc::downgrade(pointer).upgrade().is_some())));
    let strong = || {
        let pointer = Arc::new(1);
        (Arc::clone(&pointer), pointer)
    };
    assert!(!done_before(strong, drop, |pointer| assert!(Arc::downgrade(pointer).upgrade().is_some())));
    // A thread with exclusive access also gets the views of those that dropped weak pointers.
    assert!(!done_before(weak, drop, |pointer| assert!(Arc::get_mut(pointer).is_some())));
}
