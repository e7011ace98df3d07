//! "Complete" means complete: both searches find all results of small programs, which are listed here.

use crate::noting::{complete, under};
use record_parallel::scheduler::{Exhaustive, Random, Reduced};
use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};
use record_parallel::sync::{Arc, Mutex, Once, OnceLock, RwLock, TryLockError, Weak, mpsc};
use record_parallel::{Settings, explore, thread};
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc as StdArc, Mutex as StdMutex};
use std::time::Duration;

/// Asserts that a program returns these values, which are in order, and no others.
#[track_caller]
fn comes_to<T: Ord + Debug + Send + 'static, const N: usize>(program: fn() -> T, expected: [T; N]) {
    assert_eq!(complete(&Settings::default(), program).seen, Vec::from(expected));
}

/// Two shared numbers.
fn two() -> StdArc<[AtomicU32; 2]> {
    StdArc::new([AtomicU32::new(0), AtomicU32::new(0)])
}

#[test]
fn a_receiver_that_comes_first_sees_the_last_sender_go() {
    comes_to(
        || {
            let (sender, receiver) = mpsc::channel::<u32>();
            let thread = thread::spawn(move || drop(sender));
            let is_gone = receiver.recv().is_err();
            thread.join().unwrap();
            is_gone
        },
        [true],
    );
}

#[test]
fn a_receiver_of_a_bounded_channel_that_comes_first_does_too() {
    for bound in [0, 1] {
        let program = move || {
            let (sender, receiver) = mpsc::sync_channel::<u32>(bound);
            let thread = thread::spawn(move || drop(sender));
            assert!(receiver.recv().is_err());
            thread.join().unwrap();
        };
        assert!(explore(&Settings::default(), Exhaustive::new(), program).unwrap().is_complete);
        assert!(explore(&Settings::default(), Reduced::new(), program).unwrap().is_complete);
    }
}

#[test]
fn a_full_channel_that_its_receiver_leaves_first_lets_the_sender_go() {
    comes_to(
        || {
            let (sender, receiver) = mpsc::sync_channel::<u32>(0);
            let thread = thread::spawn(move || drop(receiver));
            let is_gone = sender.send(1).is_err();
            thread.join().unwrap();
            is_gone
        },
        [true],
    );
}

#[test]
fn the_end_of_an_initialisation_is_seen() {
    comes_to(
        || {
            let (numbers, cell) = (two(), StdArc::new(OnceLock::new()));
            let (numbers_a, cell_a) = (StdArc::clone(&numbers), StdArc::clone(&cell));
            let a = thread::spawn(move || {
                cell_a.get_or_init(|| {
                    numbers_a[1].store(1, SeqCst);
                    numbers_a[0].load(SeqCst);
                    5
                });
            });
            let seen = (numbers[1].load(SeqCst), cell.get().copied());
            a.join().unwrap();
            seen
        },
        [(0, None), (0, Some(5)), (1, None), (1, Some(5))],
    );
}

#[test]
fn what_an_initialisation_did_last_is_seen_before_its_end() {
    comes_to(
        || {
            let (numbers, once) = (two(), StdArc::new(Once::new()));
            let (numbers_a, once_a) = (StdArc::clone(&numbers), StdArc::clone(&once));
            let a = thread::spawn(move || once_a.call_once(|| numbers_a[0].store(1, SeqCst)));
            let seen = (numbers[0].load(SeqCst), once.is_completed());
            a.join().unwrap();
            seen
        },
        [(0, false), (0, true), (1, false), (1, true)],
    );
}

#[test]
fn an_initialisation_that_panics_leaves_the_cell_empty() {
    comes_to(
        || {
            let (numbers, cell) = (two(), StdArc::new(OnceLock::new()));
            let (numbers_a, cell_a) = (StdArc::clone(&numbers), StdArc::clone(&cell));
            let a = thread::spawn(move || {
                let failed = catch_unwind(AssertUnwindSafe(|| {
                    cell_a.get_or_init(|| {
                        numbers_a[1].store(1, SeqCst);
                        panic!("caught")
                    });
                }));
                failed.is_err()
            });
            let seen = numbers[1].load(SeqCst);
            let value = *cell.get_or_init(|| 7);
            (seen, value, a.join().unwrap())
        },
        [(0, 7, false), (0, 7, true), (1, 7, true)],
    );
}

#[test]
fn a_once_that_panicked_is_poisoned() {
    comes_to(
        || {
            let (numbers, once) = (two(), StdArc::new(Once::new()));
            let (numbers_a, once_a) = (StdArc::clone(&numbers), StdArc::clone(&once));
            let a = thread::spawn(move || {
                _ = catch_unwind(AssertUnwindSafe(|| {
                    once_a.call_once(|| {
                        numbers_a[0].store(1, SeqCst);
                        panic!("caught")
                    });
                }));
            });
            let seen = numbers[0].load(SeqCst);
            let refused = catch_unwind(AssertUnwindSafe(|| once.call_once(|| {}))).is_err();
            a.join().unwrap();
            (seen, refused)
        },
        [(0, false), (0, true), (1, true)],
    );
}

#[test]
fn a_cell_is_set_by_one() {
    comes_to(
        || {
            let cell = StdArc::new(OnceLock::new());
            let cell_a = StdArc::clone(&cell);
            let a = thread::spawn(move || cell_a.set(1).is_ok());
            let mine = cell.set(2).is_ok();
            let seen = (cell.get().copied(), a.join().unwrap(), mine);
            (seen, StdArc::into_inner(cell).and_then(OnceLock::into_inner))
        },
        [((Some(1), true, false), Some(1)), ((Some(2), false, true), Some(2))],
    );
}

/// Records the thread that drops it.
struct Noted {
    dropper: StdArc<StdMutex<Option<u32>>>,
}

impl Drop for Noted {
    fn drop(&mut self) {
        *self.dropper.lock().unwrap() = thread::current().name().and_then(|name| name.parse().ok());
    }
}

fn named<T: Send + 'static>(name: u32, body: impl FnOnce() -> T + Send + 'static) -> thread::JoinHandle<T> {
    thread::Builder::new().name(name.to_string()).spawn(body).unwrap()
}

#[test]
fn whoever_drops_last_runs_the_destructor() {
    comes_to(
        || {
            let numbers = two();
            let dropper = StdArc::new(StdMutex::new(None));
            let noted = Arc::new(Noted { dropper: StdArc::clone(&dropper) });
            let threads = [1, 2].map(|name| {
                let (numbers, noted) = (StdArc::clone(&numbers), Arc::clone(&noted));
                named(name, move || {
                    numbers[name as usize - 1].store(1, SeqCst);
                    drop(noted);
                })
            });
            drop(noted);
            for thread in threads {
                thread.join().unwrap();
            }
            let dropper = dropper.lock().unwrap();
            dropper.unwrap_or(0)
        },
        [0, 1, 2],
    );
}

#[test]
fn an_arc_is_unwrapped_by_the_last_that_has_it() {
    comes_to(
        || {
            let numbers = two();
            let shared = Arc::new(5);
            let threads = [0, 1].map(|at| {
                let (numbers, shared) = (StdArc::clone(&numbers), Arc::clone(&shared));
                thread::spawn(move || {
                    numbers[at].store(1, SeqCst);
                    Arc::try_unwrap(shared).is_ok()
                })
            });
            drop(shared);
            threads.map(|thread| thread.join().unwrap())
        },
        [[false, false], [false, true], [true, false]],
    );
}

#[test]
fn a_weak_pointer_is_upgraded_while_somebody_has_the_value() {
    comes_to(
        || {
            let shared = Arc::new(5);
            let weak: Weak<u32> = Arc::downgrade(&shared);
            let a = thread::spawn(move || drop(shared));
            let seen = weak.upgrade().map(|shared| (*shared, Arc::strong_count(&shared)));
            a.join().unwrap();
            (seen, weak.upgrade().is_none())
        },
        [(None, true), (Some((5, 1)), true), (Some((5, 2)), true)],
    );
}

#[test]
fn a_value_is_mutable_for_who_has_it_alone() {
    comes_to(
        || {
            let numbers = two();
            let mut shared = Arc::new(5);
            let (other, numbers_a) = (Arc::clone(&shared), StdArc::clone(&numbers));
            let a = thread::spawn(move || {
                numbers_a[0].store(1, SeqCst);
                drop(other);
            });
            let seen = numbers[0].load(SeqCst);
            let is_mine = Arc::get_mut(&mut shared).is_some();
            a.join().unwrap();
            (seen, is_mine)
        },
        [(0, false), (0, true), (1, false), (1, true)],
    );
}

#[test]
fn a_sender_that_goes_before_the_last_is_seen() {
    comes_to(
        || {
            let numbers = two();
            let (sender, receiver) = mpsc::channel::<u32>();
            let (sender_a, numbers_a) = (sender.clone(), StdArc::clone(&numbers));
            let a = thread::spawn(move || {
                numbers_a[0].store(1, SeqCst);
                drop(sender_a);
            });
            let seen = numbers[1].load(SeqCst);
            drop(sender);
            let received = receiver.try_recv();
            a.join().unwrap();
            (seen, received == Err(mpsc::TryRecvError::Empty))
        },
        [(0, false), (0, true)],
    );
}

#[test]
fn a_sender_that_goes_at_once_is_not_gone_before() {
    comes_to(
        || {
            let (sender, receiver) = mpsc::channel::<u32>();
            let other = sender.clone();
            let a = thread::spawn(move || drop(other));
            drop(sender);
            let is_empty = receiver.try_recv() == Err(mpsc::TryRecvError::Empty);
            a.join().unwrap();
            is_empty
        },
        [false, true],
    );
}

#[test]
fn a_guard_that_a_panic_drops_is_seen_to_go() {
    comes_to(
        || {
            let both = StdArc::new((Mutex::new(0), two()));
            let other = StdArc::clone(&both);
            let a = thread::spawn(move || {
                _ = catch_unwind(AssertUnwindSafe(|| {
                    let _guard = other.0.lock();
                    other.1[0].store(1, SeqCst);
                    panic!("caught");
                }));
            });
            both.1[1].store(1, SeqCst);
            let seen = match both.0.try_lock() {
                Ok(_) => "free",
                Err(TryLockError::Poisoned(_)) => "poisoned",
                Err(TryLockError::WouldBlock) => "held",
            };
            a.join().unwrap();
            seen
        },
        ["free", "held", "poisoned"],
    );
}

#[test]
fn a_reader_that_a_panic_ends_is_seen_to_go() {
    comes_to(
        || {
            let both = StdArc::new((RwLock::new(0), two()));
            let other = StdArc::clone(&both);
            let a = thread::spawn(move || {
                _ = catch_unwind(AssertUnwindSafe(|| {
                    let _guard = other.0.read();
                    other.1[0].store(1, SeqCst);
                    panic!("caught");
                }));
            });
            both.1[1].store(1, SeqCst);
            let seen = (both.0.try_write().is_ok(), both.1[0].load(SeqCst));
            a.join().unwrap();
            seen
        },
        [(false, 0), (false, 1), (true, 0), (true, 1)],
    );
}

#[test]
fn a_number_that_a_panic_stores_is_seen() {
    struct Storing(StdArc<[AtomicU32; 2]>);
    impl Drop for Storing {
        fn drop(&mut self) {
            self.0[0].store(1, SeqCst);
        }
    }
    comes_to(
        || {
            let numbers = two();
            let other = StdArc::clone(&numbers);
            let a = thread::spawn(move || {
                _ = catch_unwind(AssertUnwindSafe(|| {
                    let storing = Storing(other);
                    storing.0[1].load(SeqCst);
                    panic!("caught");
                }));
            });
            let seen = numbers[0].load(SeqCst);
            a.join().unwrap();
            seen
        },
        [0, 1],
    );
}

#[test]
fn a_thread_that_sleeps_may_go_on_at_once() {
    fn program(pause: fn(), times: u32) -> u32 {
        let numbers = two();
        let other = StdArc::clone(&numbers);
        let a = thread::spawn(move || {
            other[1].load(SeqCst);
            (0..times).for_each(|_| pause());
            other[0].store(1, SeqCst);
        });
        let b = thread::spawn(move || numbers[0].load(SeqCst));
        a.join().unwrap();
        b.join().unwrap()
    }
    comes_to(|| program(|| thread::sleep(Duration::from_secs(1)), 1), [0, 1]);
    comes_to(|| program(thread::yield_now, 1), [0, 1]);
    comes_to(|| program(thread::yield_now, 3), [0, 1]);
    let seen = under(&Settings::default(), Random::new(0, 200), || program(thread::yield_now, 2)).1;
    assert_eq!(seen, [0, 1]);
}

#[test]
fn a_parked_thread_that_yields_first_finds_both() {
    comes_to(
        || {
            let numbers = two();
            let other = StdArc::clone(&numbers);
            let me = thread::current();
            let a = thread::spawn(move || {
                thread::yield_now();
                me.unpark();
                other[0].store(1, SeqCst);
            });
            thread::park();
            let seen = numbers[0].load(SeqCst);
            a.join().unwrap();
            seen
        },
        [0, 1],
    );
}

#[test]
fn a_pointer_from_outside_of_executions_is_counted_in_them() {
    static SHARED: StdMutex<Option<Arc<u32>>> = StdMutex::new(None);
    *SHARED.lock().unwrap() = Some(Arc::new(0));
    comes_to(
        || {
            let mine = SHARED.lock().unwrap().clone().unwrap();
            let (first, second) = (mine.clone(), mine.clone());
            let threads = [thread::spawn(move || drop(first)), thread::spawn(move || drop(second))];
            let counts = [Arc::strong_count(&mine), Arc::strong_count(&mine)];
            for thread in threads {
                thread.join().unwrap();
            }
            counts
        },
        [[2, 2], [3, 2], [3, 3], [4, 2], [4, 3], [4, 4]],
    );
}
