//! Known bugs in programs of a few lines: how many executions each library needs to find them.

mod atomics;
mod locks;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

atomics::with_atomics!(our_atomics, record_parallel::sync, record_parallel::thread);
locks::with_locks!(our_locks, record_parallel::sync, record_parallel::thread);
atomics::with_atomics!(shuttle_atomics, shuttle::sync, shuttle::thread);
locks::with_locks!(shuttle_locks, shuttle::sync, shuttle::thread);
atomics::with_atomics!(loom_atomics, loom::sync, loom::thread);
locks::with_locks!(loom_locks, loom::sync, loom::thread);

fn ours() -> Vec<(&'static str, fn())> {
    [our_atomics::ALL.as_slice(), &our_locks::ALL].concat()
}

fn with_shuttle(number: usize) -> fn() {
    [shuttle_atomics::ALL.as_slice(), &shuttle_locks::ALL].concat()[number].1
}

fn with_loom(number: usize) -> fn() {
    [loom_atomics::ALL.as_slice(), &loom_locks::ALL].concat()[number].1
}

/// The maximum number of executions of one search.
const EXECUTIONS_MAX: usize = 10_000;

/// Runs a search until it panics, and prints the number of executions; `no` if it never panics. After a panic the
/// process ends, since not every library can continue after a deadlock.
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
        "random" => find_shuttle(RandomScheduler::new_from_seed(1, EXECUTIONS_MAX), with_shuttle(number)),
        "pct" => find_shuttle(PctScheduler::new_from_seed(1, 3, EXECUTIONS_MAX), with_shuttle(number)),
        _ => find_loom(with_loom(number)),
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
    for (number, (name, program)) in ours().into_iter().enumerate() {
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
