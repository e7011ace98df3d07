//! Runs that are saved and restored.

use super::{LINEARIZABLE, RegisterJudge, assumed};
use crate::txn::online::tests::restored;

const LEVELS: [&str; 4] =
    ["strict-serializable", "serializable", "strong-session-snapshot-isolation", "read-committed"];

#[test]
fn a_run_that_is_saved_and_restored_says_the_same() {
    let models = LEVELS.map(|level| level.parse().unwrap());
    for assumptions in [LINEARIZABLE, [true, true, false]] {
        restored::at_every_event::<RegisterJudge>(&models, &assumed(assumptions), true);
    }
}

#[test]
fn what_was_given_up_is_restored() {
    restored::at_limits::<RegisterJudge>(&assumed(LINEARIZABLE), true);
}

#[test]
fn damaged_states_are_refused() {
    restored::damaged::<RegisterJudge>(&assumed(LINEARIZABLE), true);
}
