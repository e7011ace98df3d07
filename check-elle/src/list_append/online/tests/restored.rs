//! Runs that are saved and restored.

use super::{ListJudge, model, rules};
use crate::txn::online::tests::restored;

const LEVELS: [&str; 5] = [
    "strict-serializable",
    "serializable",
    "strong-session-snapshot-isolation",
    "read-committed",
    "strong-session-read-uncommitted",
];

#[test]
fn a_run_that_is_saved_and_restored_says_the_same() {
    restored::at_every_event::<ListJudge>(&LEVELS.map(model), &rules(), false);
}

#[test]
fn what_was_given_up_is_restored() {
    restored::at_limits::<ListJudge>(&rules(), false);
}

#[test]
fn damaged_states_are_refused() {
    restored::damaged::<ListJudge>(&rules(), false);
}
