//! Runs that are saved and restored.

use super::{LINEARIZABLE, RegisterJudge, assumed};
use crate::txn::online::tests::restored;

const LEVELS: [&str; 4] =
    ["strict-serializable", "serializable", "strong-session-snapshot-isolation", "read-committed"];

#[test]
fn a_saved_and_restored_run_gives_the_same_report() {
    let models = LEVELS.map(|level| level.parse().unwrap());
    for assumptions in [LINEARIZABLE, [true, true, false]] {
        restored::at_every_event::<RegisterJudge>(&models, &assumed(assumptions), true);
    }
}

#[test]
fn given_up_operations_are_restored() {
    restored::at_limits::<RegisterJudge>(&assumed(LINEARIZABLE), true);
}

#[test]
fn damaged_states_are_refused() {
    restored::damaged::<RegisterJudge>(&assumed(LINEARIZABLE), true);
}
