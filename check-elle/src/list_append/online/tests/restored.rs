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
fn a_saved_and_restored_run_gives_the_same_report() {
    restored::at_every_event::<ListJudge>(&LEVELS.map(model), &rules(), false);
}

#[test]
fn given_up_operations_are_restored() {
    restored::at_limits::<ListJudge>(&rules(), false);
}

#[test]
fn damaged_states_are_refused() {
    restored::damaged::<ListJudge>(&rules(), false);
}
