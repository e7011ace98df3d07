//! A replicated store. The broken version confirms writes that a partition keeps from the replica.

#[path = "../../../examples/replicated_store/store.rs"]
mod replicated;

use record_parallel::Settings;
use record_parallel::property::Parallel;
use replicated::{Command, Map};

#[test]
fn a_stale_read_under_a_partition_is_found_shrunk_and_replayed() {
    // Without surprises, a response is never just slow.
    let settings = Settings { surprises_max: 0, repeated: 1, ..Settings::default() };
    let parallel = || Parallel::new(Map { is_broken: true }).settings(settings);
    let counterexample = parallel().run().unwrap_err();
    let text = counterexample.to_string();
    assert!(text.contains("the history is not linearizable"), "{text}");
    let commands: Vec<Command> = counterexample.program.commands().copied().collect();
    assert_eq!(commands.len(), 3, "{text}");
    for wanted in [Command::Partition, Command::Put(0, 1), Command::Get(0)] {
        assert!(commands.contains(&wanted), "{wanted:?}: {text}");
    }
    assert!(counterexample.failure.table().contains("; leader and replica"), "{text}");
    let again = parallel().replay(&counterexample.replay).unwrap_err();
    assert_eq!(again.failure.table(), counterexample.failure.table());
}

#[test]
fn the_store_that_says_what_it_does_not_know_passes() {
    Parallel::new(Map { is_broken: false }).cases(40).check();
}
