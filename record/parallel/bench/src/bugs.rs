//! Known bugs of a few lines: how many executions each library takes until it finds them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The same programs with the types of one crate or another.
macro_rules! bugs {
    ($module:ident, $sync:path, $thread:path) => {
        pub mod $module {
            use std::collections::VecDeque;
            use sync::atomic::{AtomicBool, AtomicUsize, Ordering};
            use sync::{Arc, Condvar, Mutex};
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
                    // One of them would wait.
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

            /// Two wait for different things on one condition variable, and one is woken.
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

            /// A consumer looks before it locks.
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

            /// Waits in an `if`: a wake-up without a notification goes on with nothing.
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

            /// Takes the failure of a weak exchange for another value.
            fn weak_exchange() {
                let seen = both(|me, numbers| numbers[me].compare_exchange_weak(0, 1, AcqRel, Acquire).unwrap_or(1));
                assert_eq!(seen, [0, 0]);
            }

            /// A reader of a lock goes on to write what it has read.
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

            /// Two readers see two writes in different orders.
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

            pub const ALL: [(&str, fn()); 17] = [
                ("lost update", lost_update),
                ("message passing, Relaxed", message_passing),
                ("store buffer, Release", store_buffer),
                ("Peterson's lock, Release", peterson),
                ("spin lock, Relaxed", spin_lock),
                ("sequence lock, no fences", sequence_lock),
                ("release, then a store by another", released_by_another),
                ("initialised twice", made_twice),
                ("order of two locks", order_of_locks),
                ("three philosophers", philosophers),
                ("lost wake-up", lost_wake_up),
                ("wrong waiter woken", wrong_waiter),
                ("looked before it locked", looked_too_early),
                ("wake-up without reason", woken_for_nothing),
                ("weak exchange fails", weak_exchange),
                ("read, then write", upgrade),
                ("readers disagree", disagreeing_readers),
            ];
        }
    };
}

bugs!(ours, record_parallel::sync, record_parallel::thread);
bugs!(with_shuttle, shuttle::sync, shuttle::thread);
bugs!(with_loom, loom::sync, loom::thread);

/// Executions of one search, at most.
const EXECUTIONS_MAX: usize = 10_000;

/// Runs a search until it panics, and prints how many executions that took; `no` if it does not. The process ends then:
/// after a deadlock not every library can go on.
fn until_found(search: impl FnOnce(Arc<AtomicU64>)) {
    let count = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&count);
    std::panic::set_hook(Box::new(move |_| {
        println!("{}", counted.load(Relaxed));
        std::process::exit(0);
    }));
    search(count);
    println!("no");
}

/// One search of a bug by another library: the child's part of [`found_by`].
pub fn search(library: &str, number: usize) {
    use shuttle::scheduler::{PctScheduler, RandomScheduler};
    match library {
        "random" => find_shuttle(RandomScheduler::new_from_seed(1, EXECUTIONS_MAX), with_shuttle::ALL[number].1),
        "pct" => find_shuttle(PctScheduler::new_from_seed(1, 3, EXECUTIONS_MAX), with_shuttle::ALL[number].1),
        _ => find_loom(with_loom::ALL[number].1),
    }
}

fn found_by(library: &str, number: usize) -> String {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    let output = command.args(["search", library, &number.to_string()]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn find_ours<S: record_parallel::scheduler::Scheduler + 'static>(scheduler: S, program: fn()) -> Option<(u64, usize)> {
    let settings = record_parallel::Settings::default();
    let failure = record_parallel::explore(&settings, scheduler, program).err()?;
    let executions = failure.executions;
    let least = record_parallel::simplify(&settings, failure, program);
    Some((executions, least.steps.len()))
}

fn find_shuttle<S: shuttle::scheduler::Scheduler + 'static>(scheduler: S, program: fn()) {
    until_found(|count| {
        let mut config = shuttle::Config::new();
        config.silence_warnings = true;
        config.failure_persistence = shuttle::FailurePersistence::None;
        shuttle::Runner::new(scheduler, config).run(move || {
            count.fetch_add(1, Relaxed);
            program();
        });
    })
}

fn find_loom(program: fn()) {
    until_found(|count| {
        loom::model::Builder::new().check(move || {
            count.fetch_add(1, Relaxed);
            program();
        });
    })
}

/// Prints the table, as the book has it.
pub fn print() {
    use record_parallel::scheduler::{Pct, Random, Reduced};
    println!("| bug | reduced | random | PCT | steps | shuttle random | shuttle PCT | loom |");
    println!("|---|---|---|---|---|---|---|---|");
    let shown = |found: Option<u64>| found.map_or("no".to_owned(), |executions| executions.to_string());
    for (number, (name, program)) in ours::ALL.into_iter().enumerate() {
        let limit = u64::try_from(EXECUTIONS_MAX).unwrap();
        let reduced = find_ours(Reduced::new(), program);
        let random = find_ours(Random::new(1, limit), program).map(|(executions, _)| executions);
        let pct = find_ours(Pct::new(1, 3, limit), program).map(|(executions, _)| executions);
        let steps = reduced.map_or("-".to_owned(), |(_, steps)| steps.to_string());
        let cells = [
            shown(reduced.map(|(executions, _)| executions)),
            shown(random),
            shown(pct),
            steps,
            found_by("random", number),
            found_by("pct", number),
            found_by("loom", number),
        ];
        println!("| {name} | {} |", cells.join(" | "));
    }
}
