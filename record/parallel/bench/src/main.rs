//! Measures steps per second of record-parallel, shuttle and loom in the same programs; the cost of operations outside
//! of executions; and how many executions each library needs to find known bugs.
//!
//! `cargo run --release --manifest-path record/parallel/bench/Cargo.toml`, with `speed`, `outside` or `bugs` for one
//! part. In the first part, this crate and shuttle run random schedules. They run alternately, five times each; the
//! output is the best time of each and their ratio. A step is an operation of the program, so both have the same number
//! of steps.

mod bugs;
mod outside;

use std::time::{Duration, Instant};

/// The same program with the types of either crate.
macro_rules! programs {
    ($module:ident, $sync:path, $thread:path) => {
        mod $module {
            use std::sync::Arc;
            use sync::atomic::{AtomicUsize, Ordering};
            use $sync as sync;
            use $thread as thread;

            pub fn atomics(threads: usize, steps: usize) {
                let counter = Arc::new(AtomicUsize::new(0));
                let spawn = |_| {
                    let counter = Arc::clone(&counter);
                    thread::spawn(move || {
                        for _ in 0..steps {
                            counter.fetch_add(1, Ordering::SeqCst);
                        }
                    })
                };
                let handles: Vec<_> = (0..threads).map(spawn).collect();
                handles.into_iter().for_each(|handle| handle.join().unwrap());
            }

            pub fn locks(threads: usize, steps: usize) {
                let counter = Arc::new(sync::Mutex::new(0));
                let spawn = |_| {
                    let counter = Arc::clone(&counter);
                    thread::spawn(move || {
                        for _ in 0..steps / 2 {
                            *counter.lock().unwrap() += 1;
                        }
                    })
                };
                let handles: Vec<_> = (0..threads).map(spawn).collect();
                handles.into_iter().for_each(|handle| handle.join().unwrap());
            }

            pub fn channels(threads: usize, steps: usize) {
                let (sender, receiver) = sync::mpsc::channel();
                let spawn = |_| {
                    let sender = sender.clone();
                    thread::spawn(move || (0..steps / 2).for_each(|n| sender.send(n).unwrap()))
                };
                let handles: Vec<_> = (0..threads).map(spawn).collect();
                drop(sender);
                for _ in 0..threads * (steps / 2) {
                    receiver.recv().unwrap();
                }
                handles.into_iter().for_each(|handle| handle.join().unwrap());
            }
        }
    };
}

programs!(ours, record_parallel::sync, record_parallel::thread);
programs!(theirs, shuttle::sync, shuttle::thread);

type Program = fn(usize, usize);

fn run_ours(program: Program, threads: usize, steps: usize, executions: usize) -> Duration {
    let start = Instant::now();
    let scheduler = record_parallel::scheduler::Random::new(1, executions as u64);
    let settings = record_parallel::Settings { repeated: 0, ..record_parallel::Settings::default() };
    let explored = record_parallel::explore(&settings, scheduler, move || program(threads, steps)).unwrap();
    assert_eq!(explored.executions, executions as u64);
    start.elapsed()
}

fn run_theirs(program: Program, threads: usize, steps: usize, executions: usize) -> Duration {
    let start = Instant::now();
    let scheduler = shuttle::scheduler::RandomScheduler::new_from_seed(1, executions);
    let mut config = shuttle::Config::new();
    config.silence_warnings = true;
    let runs = shuttle::Runner::new(scheduler, config).run(move || program(threads, steps));
    assert_eq!(runs, executions);
    start.elapsed()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, library, number] = &arguments[..]
        && command == "search"
    {
        return bugs::search(library, number.parse().unwrap());
    }
    let part = arguments.first();
    let is_asked = |name: &str| part.is_none_or(|part| part == name);
    if is_asked("speed") {
        speed();
    }
    if is_asked("outside") {
        outside::print();
    }
    if is_asked("bugs") {
        bugs::print();
    }
}

fn speed() {
    let programs: [(&str, Program, Program); 3] = [
        ("atomics", ours::atomics, theirs::atomics),
        ("locks", ours::locks, theirs::locks),
        ("channels", ours::channels, theirs::channels),
    ];
    println!("{:24} {:>14} {:>14} {:>7}", "program, threads x steps", "steps/s", "shuttle's", "ratio");
    for (name, ours, theirs) in programs {
        for (threads, steps, executions) in [(2, 4, 20_000), (4, 10, 10_000), (3, 1000, 200)] {
            let mut best = [Duration::MAX; 2];
            for _ in 0..5 {
                best[0] = best[0].min(run_ours(ours, threads, steps, executions));
                best[1] = best[1].min(run_theirs(theirs, threads, steps, executions));
            }
            let total = (threads * steps * executions) as f64;
            let [a, b] = best.map(|time| total / time.as_secs_f64());
            println!("{:24} {a:>14.0} {b:>14.0} {:>7.2}", format!("{name}, {threads} x {steps}"), a / b);
        }
    }
}
