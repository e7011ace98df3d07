//! Bugs in programs that lock, wait for other threads, or send messages.

/// The same programs, with the types of different crates.
macro_rules! with_locks {
    ($module:ident, $sync:path, $thread:path) => {
        pub mod $module {
            use std::collections::VecDeque;
            use sync::atomic::{AtomicBool, AtomicUsize, Ordering};
            use sync::{Arc, Condvar, Mutex};
            use $sync as sync;
            use $thread as thread;

            use Ordering::{Relaxed, SeqCst};

            fn order_of_locks() {
                let locks = Arc::new((Mutex::new(()), Mutex::new(())));
                let other = locks.clone();
                let thread = thread::spawn(move || {
                    let _second = other.1.lock().unwrap();
                    let _first = other.0.lock().unwrap();
                });
                let first = locks.0.lock().unwrap();
                let second = locks.1.lock().unwrap();
                drop((first, second));
                thread.join().unwrap();
            }

            fn philosophers() {
                let forks = Arc::new([Mutex::new(()), Mutex::new(()), Mutex::new(())]);
                let eat = |forks: &[Mutex<()>; 3], me: usize| {
                    let _left = forks[me].lock().unwrap();
                    let _right = forks[(me + 1) % 3].lock().unwrap();
                };
                let threads: Vec<_> = (1..3)
                    .map(|me| {
                        let forks = forks.clone();
                        thread::spawn(move || eat(&forks, me))
                    })
                    .collect();
                eat(&forks, 0);
                threads.into_iter().for_each(|thread| thread.join().unwrap());
            }

            /// Waits for a message while it holds a lock that the sender needs.
            fn received_locked() {
                let total = Arc::new(Mutex::new(0));
                let (sender, receiver) = sync::mpsc::channel();
                let other = total.clone();
                let thread = thread::spawn(move || {
                    *other.lock().unwrap() += 1;
                    sender.send(1).unwrap();
                });
                let mut guard = total.lock().unwrap();
                *guard += receiver.recv().unwrap();
                drop(guard);
                thread.join().unwrap();
            }

            /// Adds up two accounts, and locks one after the other.
            fn audit() {
                let accounts = Arc::new((Mutex::new(1), Mutex::new(0)));
                let other = accounts.clone();
                let thread = thread::spawn(move || {
                    *other.0.lock().unwrap() -= 1;
                    *other.1.lock().unwrap() += 1;
                });
                let first = *accounts.0.lock().unwrap();
                let second = *accounts.1.lock().unwrap();
                assert_eq!(first + second, 1);
                thread.join().unwrap();
            }

            fn upgrade() {
                let lock = Arc::new(sync::RwLock::new(0));
                let add = |lock: &sync::RwLock<i32>| {
                    let seen = *lock.read().unwrap();
                    *lock.write().unwrap() = seen + 1;
                };
                let other = lock.clone();
                let thread = thread::spawn(move || add(&other));
                add(&lock);
                thread.join().unwrap();
                assert_eq!(*lock.read().unwrap(), 2);
            }

            fn looked_too_early() {
                let queue = Arc::new(Mutex::new(VecDeque::from([1])));
                let take = |queue: &Mutex<VecDeque<i32>>| {
                    if !queue.lock().unwrap().is_empty() {
                        queue.lock().unwrap().pop_front().unwrap();
                    }
                };
                let other = queue.clone();
                let thread = thread::spawn(move || take(&other));
                take(&queue);
                thread.join().unwrap();
            }

            /// Checks without the lock whether a value was made, and then reads it with relaxed loads.
            fn double_checked() {
                let shared = Arc::new((AtomicBool::new(false), AtomicUsize::new(0), Mutex::new(())));
                let get = |(is_made, value, lock): &(AtomicBool, AtomicUsize, Mutex<()>)| {
                    if !is_made.load(Relaxed) {
                        let _guard = lock.lock().unwrap();
                        if !is_made.load(Relaxed) {
                            value.store(7, Relaxed);
                            is_made.store(true, Relaxed);
                        }
                    }
                    assert_eq!(value.load(Relaxed), 7);
                };
                let other = shared.clone();
                let thread = thread::spawn(move || get(&other));
                get(&shared);
                thread.join().unwrap();
            }

            /// A worker finds its queue empty, then the last message is sent, and then the worker sees that it should
            /// end.
            fn last_message() {
                let shared = Arc::new((Mutex::new(VecDeque::new()), AtomicBool::new(false)));
                let other = shared.clone();
                let worker = thread::spawn(move || {
                    let mut done = 0;
                    loop {
                        let next = other.0.lock().unwrap().pop_front();
                        match next {
                            Some(work) => done += work,
                            None if other.1.load(SeqCst) => return done,
                            None => thread::yield_now(),
                        }
                    }
                });
                shared.0.lock().unwrap().push_back(1);
                shared.1.store(true, SeqCst);
                assert_eq!(worker.join().unwrap(), 1);
            }

            fn lost_wake_up() {
                let shared = Arc::new((AtomicBool::new(false), Mutex::new(()), Condvar::new()));
                let other = shared.clone();
                let thread = thread::spawn(move || {
                    other.0.store(true, SeqCst);
                    other.2.notify_one();
                });
                let guard = shared.1.lock().unwrap();
                if !shared.0.load(SeqCst) {
                    drop(shared.2.wait(guard).unwrap());
                }
                thread.join().unwrap();
            }

            fn wrong_waiter() {
                let shared = Arc::new((Mutex::new([false; 2]), Condvar::new()));
                let threads: Vec<_> = (0..2)
                    .map(|me| {
                        let shared = shared.clone();
                        thread::spawn(move || {
                            let mut guard = shared.0.lock().unwrap();
                            while !guard[me] {
                                guard = shared.1.wait(guard).unwrap();
                            }
                        })
                    })
                    .collect();
                for me in [1, 0] {
                    shared.0.lock().unwrap()[me] = true;
                    shared.1.notify_one();
                }
                threads.into_iter().for_each(|thread| thread.join().unwrap());
            }

            /// A buffer for one element: threads that put and threads that take wait on the same condition variable.
            fn bounded_buffer() {
                let buffer = Arc::new((Mutex::new(false), Condvar::new()));
                let change = |buffer: &(Mutex<bool>, Condvar), is_full: bool| {
                    let mut guard = buffer.0.lock().unwrap();
                    while *guard == is_full {
                        guard = buffer.1.wait(guard).unwrap();
                    }
                    *guard = is_full;
                    buffer.1.notify_one();
                };
                let takers = [(); 2].map(|()| {
                    let buffer = buffer.clone();
                    thread::spawn(move || change(&buffer, false))
                });
                change(&buffer, true);
                change(&buffer, true);
                takers.into_iter().for_each(|taker| taker.join().unwrap());
            }

            /// The last thread to arrive wakes only one of the others.
            fn barrier() {
                let shared = Arc::new((Mutex::new(0), Condvar::new()));
                let arrive = |shared: &(Mutex<usize>, Condvar)| {
                    let mut guard = shared.0.lock().unwrap();
                    *guard += 1;
                    if *guard == 3 {
                        shared.1.notify_one();
                    }
                    while *guard < 3 {
                        guard = shared.1.wait(guard).unwrap();
                    }
                };
                let others = [(); 2].map(|()| {
                    let shared = shared.clone();
                    thread::spawn(move || arrive(&shared))
                });
                arrive(&shared);
                others.into_iter().for_each(|other| other.join().unwrap());
            }

            fn woken_for_nothing() {
                let shared = Arc::new((Mutex::new(false), Condvar::new()));
                let other = shared.clone();
                let thread = thread::spawn(move || {
                    *other.0.lock().unwrap() = true;
                    other.1.notify_one();
                });
                let mut guard = shared.0.lock().unwrap();
                if !*guard {
                    guard = shared.1.wait(guard).unwrap();
                }
                assert!(*guard);
                drop(guard);
                thread.join().unwrap();
            }

            /// A thread stores its handle for `unpark` after it has checked that it has to wait.
            fn late_waker() {
                let shared = Arc::new((AtomicBool::new(false), Mutex::new(None::<thread::Thread>)));
                let other = shared.clone();
                let thread = thread::spawn(move || {
                    other.0.store(true, SeqCst);
                    if let Some(waiting) = other.1.lock().unwrap().take() {
                        waiting.unpark();
                    }
                });
                if !shared.0.load(SeqCst) {
                    *shared.1.lock().unwrap() = Some(thread::current());
                    thread::park();
                }
                thread.join().unwrap();
            }

            pub const ALL: [(&str, fn()); 14] = [
                ("order of two locks", order_of_locks),
                ("three philosophers", philosophers),
                ("receives with a lock held", received_locked),
                ("sum under two locks", audit),
                ("read, then write", upgrade),
                ("looked before it locked", looked_too_early),
                ("checked twice, Relaxed", double_checked),
                ("last message lost", last_message),
                ("lost wake-up", lost_wake_up),
                ("wrong waiter woken", wrong_waiter),
                ("bounded buffer, one condition", bounded_buffer),
                ("one woken for all", barrier),
                ("wake-up without reason", woken_for_nothing),
                ("waker stored too late", late_waker),
            ];
        }
    };
}

pub(super) use with_locks;
