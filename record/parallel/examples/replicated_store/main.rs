//! Finds a stale read of a replicated store under a partition, shrinks it, and replays it; then tests the correct
//! store.
//!
//! `cargo run --example replicated_store -- FOLDER` also writes the report, and the history for `histcheck`, to a
//! folder.

mod store;

use record_parallel::Settings;
use record_parallel::property::Parallel;
use store::Map;

/// Without surprises, a response is never just slow: only a partition prevents the replica from responding.
fn broken() -> Parallel<Map> {
    Parallel::new(Map { is_broken: true }).settings(Settings { surprises_max: 0, ..Settings::default() })
}

fn main() {
    let counterexample = match broken().run() {
        Err(counterexample) => counterexample,
        Ok(passed) => panic!("nothing was found: {passed:?}"),
    };
    println!("{counterexample}\n");
    if let Some(folder) = std::env::args().nth(1) {
        counterexample.save(&folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
        println!("written to {folder}");
    }
    let again = broken().replay(&counterexample.replay);
    let is_same = again.is_err_and(|again| again.failure.table() == counterexample.failure.table());
    println!("replayed: {}", if is_same { "the same again" } else { "something else" });
    match Parallel::new(Map { is_broken: false }).run() {
        Ok(passed) => println!("the store that is right: {passed:?}"),
        Err(counterexample) => panic!("{counterexample}"),
    }
}
