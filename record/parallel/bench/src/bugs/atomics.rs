//! Bugs in programs that share only atomic numbers.

/// The same programs, with the types of different crates.
macro_rules! with_atomics {
    ($module:ident, $sync:path, $thread:path) => {
        pub mod $module {
            use sync::Arc;
            use sync::atomic::{AtomicBool, AtomicUsize, Ordering};
            use $sync as sync;
            use $thread as thread;

            use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

            fn both(order: fn(usize, &[AtomicUsize; 3]) -> usize) -> [usize; 2] {
                let numbers = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0)]);
                let other = numbers.clone();
                let thread = thread::spawn(move || order(0, &other));
                let mine = order(1, &numbers);
                [thread.join().unwrap(), mine]
            }

            fn lost_update() {
                let add = |_: usize, numbers: &[AtomicUsize; 3]| {
                    let seen = numbers[0].load(SeqCst);
                    numbers[0].store(seen + 1, SeqCst);
                    seen
                };
                let seen = both(add);
                assert_ne!(seen[0], seen[1]);
            }

            fn message_passing() {
                let seen = both(|me, numbers| {
                    if me == 0 {
                        numbers[0].store(1, Relaxed);
                        numbers[1].store(1, Relaxed);
                        return 1;
                    }
                    if numbers[1].load(Relaxed) == 1 { numbers[0].load(Relaxed) } else { 1 }
                });
                assert_eq!(seen[1], 1);
            }

            fn store_buffer() {
                let seen = both(|me, numbers| {
                    numbers[me].store(1, Release);
                    numbers[1 - me].load(Acquire)
                });
                assert_ne!(seen, [0, 0]);
            }

            fn peterson() {
                let inside = both(|me, numbers| {
                    numbers[me].store(1, Release);
                    numbers[2].store(1 - me, Release);
                    let enters = numbers[1 - me].load(Acquire) == 0 || numbers[2].load(Acquire) == me;
                    // A thread that does not enter would wait here.
                    usize::from(enters)
                });
                assert_ne!(inside, [1, 1]);
            }

            fn spin_lock() {
                let lock = Arc::new((AtomicBool::new(false), AtomicUsize::new(0)));
                let add = |lock: &(AtomicBool, AtomicUsize)| {
                    while lock.0.compare_exchange(false, true, Relaxed, Relaxed).is_err() {
                        thread::yield_now();
                    }
                    let seen = lock.1.load(Relaxed);
                    lock.1.store(seen + 1, Relaxed);
                    lock.0.store(false, Relaxed);
                };
                let other = lock.clone();
                let thread = thread::spawn(move || add(&other));
                add(&lock);
                thread.join().unwrap();
                assert_eq!(lock.1.load(SeqCst), 2);
            }

            fn sequence_lock() {
                let lock = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0)]);
                let other = lock.clone();
                let writer = thread::spawn(move || {
                    other[0].store(1, Relaxed);
                    other[1].store(1, Relaxed);
                    other[2].store(1, Relaxed);
                    other[0].store(2, Release);
                });
                let before = lock[0].load(Acquire);
                let seen = [lock[1].load(Relaxed), lock[2].load(Relaxed)];
                if before % 2 == 0 && lock[0].load(Relaxed) == before {
                    assert_eq!(seen[0], seen[1]);
                }
                writer.join().unwrap();
            }

            fn released_by_another() {
                let numbers = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
                let (first, second) = (numbers.clone(), numbers.clone());
                let first = thread::spawn(move || {
                    first[0].store(1, Relaxed);
                    first[1].store(1, Release);
                });
                let second = thread::spawn(move || {
                    if second[1].load(Relaxed) == 1 {
                        second[1].store(2, Relaxed);
                    }
                });
                if numbers[1].load(Acquire) == 2 {
                    assert_eq!(numbers[0].load(Relaxed), 1);
                }
                first.join().unwrap();
                second.join().unwrap();
            }

            /// A third thread does not see a store that the second thread has seen, and then announced with a relaxed
            /// store.
            fn through_a_third() {
                let numbers = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
                let (first, second) = (numbers.clone(), numbers.clone());
                let first = thread::spawn(move || first[0].store(1, Relaxed));
                let second = thread::spawn(move || {
                    if second[0].load(Relaxed) == 1 {
                        second[1].store(1, Relaxed);
                    }
                });
                if numbers[1].load(Acquire) == 1 {
                    assert_eq!(numbers[0].load(Relaxed), 1);
                }
                first.join().unwrap();
                second.join().unwrap();
            }

            fn disagreeing_readers() {
                let numbers = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
                let write = |at: usize| {
                    let numbers = numbers.clone();
                    thread::spawn(move || numbers[at].store(1, Release))
                };
                let writers = [write(0), write(1)];
                let other = numbers.clone();
                let reader = thread::spawn(move || [other[0].load(Acquire), other[1].load(Acquire)]);
                let mine = [numbers[1].load(Acquire), numbers[0].load(Acquire)];
                let theirs = reader.join().unwrap();
                writers.into_iter().for_each(|writer| writer.join().unwrap());
                assert!(mine != [1, 0] || theirs != [1, 0]);
            }

            /// The thread that counts last reads the other thread's number without an acquire.
            fn count_down() {
                let seen = both(|me, numbers| {
                    numbers[me].store(1, Relaxed);
                    let is_last = numbers[2].fetch_add(1, Relaxed) == 1;
                    if is_last { numbers[1 - me].load(Relaxed) } else { 1 }
                });
                assert_eq!(seen, [1, 1]);
            }

            /// A deque of two elements: the owner takes the last one while a thief steals both.
            fn steal() {
                let taken = both(|me, [top, popped, _]| {
                    let steal = |at: usize| top.compare_exchange(at, at + 1, SeqCst, Relaxed).is_ok();
                    if me == 0 {
                        popped.store(1, Release);
                        let at = top.load(Acquire);
                        return if at < 1 || at == 1 && steal(1) { 0b10 } else { 0 };
                    }
                    let mut stolen = 0;
                    for _ in 0..2 {
                        let at = top.load(Acquire);
                        if at < 2 - popped.load(Acquire) && steal(at) {
                            stolen |= 1 << at;
                        }
                    }
                    stolen
                });
                assert_eq!(taken[0] & taken[1], 0);
            }

            fn weak_exchange() {
                let seen = both(|me, numbers| numbers[me].compare_exchange_weak(0, 1, AcqRel, Acquire).unwrap_or(1));
                assert_eq!(seen, [0, 0]);
            }

            fn made_twice() {
                let shared = Arc::new((AtomicBool::new(false), AtomicUsize::new(0)));
                let get = |shared: &(AtomicBool, AtomicUsize)| {
                    if !shared.0.load(SeqCst) {
                        shared.1.fetch_add(1, SeqCst);
                        shared.0.store(true, SeqCst);
                    }
                };
                let other = shared.clone();
                let thread = thread::spawn(move || get(&other));
                get(&shared);
                thread.join().unwrap();
                assert_eq!(shared.1.load(SeqCst), 1);
            }

            /// Takes a ticket by a load and a store.
            fn ticket_lock() {
                let seen = both(|_, [next, serving, value]| {
                    let ticket = next.load(SeqCst);
                    next.store(ticket + 1, SeqCst);
                    while serving.load(SeqCst) < ticket {
                        thread::yield_now();
                    }
                    let seen = value.load(SeqCst);
                    value.store(seen + 1, SeqCst);
                    serving.store(ticket + 1, SeqCst);
                    seen
                });
                assert_ne!(seen[0], seen[1]);
            }

            /// The ABA problem: the head of a stack is the same again, but the rest of the stack is not.
            fn pushed_again() {
                // For each place, the next one in the stack; number 0 contains the head.
                let stack = Arc::new([1, 2, 0].map(AtomicUsize::new));
                let pop = |stack: &[AtomicUsize; 3]| loop {
                    let at = stack[0].load(SeqCst);
                    if at == 0 || stack[0].compare_exchange(at, stack[at].load(SeqCst), SeqCst, SeqCst).is_ok() {
                        return at;
                    }
                };
                let other = stack.clone();
                let thread = thread::spawn(move || {
                    let (first, kept) = (pop(&other), pop(&other));
                    if first != 0 {
                        other[first].store(other[0].load(SeqCst), SeqCst);
                        other[0].store(first, SeqCst);
                    }
                    kept
                });
                let mine = pop(&stack);
                let theirs = thread.join().unwrap();
                assert!(theirs == 0 || mine != theirs && pop(&stack) != theirs);
            }

            pub const ALL: [(&str, fn()); 15] = [
                ("lost update", lost_update),
                ("message passing, Relaxed", message_passing),
                ("store buffer, Release", store_buffer),
                ("Peterson's lock, Release", peterson),
                ("spin lock, Relaxed", spin_lock),
                ("sequence lock, no fences", sequence_lock),
                ("release, then a store by another", released_by_another),
                ("seen through a third thread", through_a_third),
                ("readers disagree", disagreeing_readers),
                ("last to count, Relaxed", count_down),
                ("last element stolen, Release", steal),
                ("weak exchange fails", weak_exchange),
                ("initialised twice", made_twice),
                ("ticket in two steps", ticket_lock),
                ("stack, pushed again (ABA)", pushed_again),
            ];
        }
    };
}

pub(super) use with_atomics;
