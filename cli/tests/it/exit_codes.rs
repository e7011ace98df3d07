//! The exit code: one number for all histories of a run.

use crate::{check, stdout};

const VALID: &str = "valid.edn";
const INVALID: &str = "stale.edn";
const UNKNOWN: &str = "twice.edn";
const BROKEN: &str = "truncated.edn";

#[test]
fn each_verdict_has_its_code() {
    check(VALID).code(0).stdout_eq("valid.edn\ttrue\n").stderr_eq("");
    check(INVALID).code(1).stdout_eq("stale.edn\tfalse\n").stderr_eq("");
    check(UNKNOWN).code(2).stdout_eq("twice.edn\tunknown\n").stderr_eq("twice.edn: unknown: No verdict, because[..]\n");
    check(BROKEN).code(255).stdout_eq("");
}

#[test]
fn of_two_histories_the_worse_decides_in_either_order() {
    let worst_first = [(BROKEN, 255), (INVALID, 1), (UNKNOWN, 2), (VALID, 0)];
    for (i, (worse, code)) in worst_first.iter().enumerate() {
        for (better, _) in &worst_first[i..] {
            check(&format!("{worse} {better}")).code(*code);
            check(&format!("{better} {worse}")).code(*code);
        }
    }
}

#[test]
fn what_cannot_be_judged_does_not_keep_the_others_from_it() {
    let assert = check("valid.edn nowhere.edn truncated.edn stale.edn twice.edn").code(255);
    assert_eq!(stdout(&assert), "valid.edn\ttrue\nstale.edn\tfalse\ntwice.edn\tunknown\n");
}

#[test]
fn results_come_in_the_order_given() {
    let assert = check("twice.edn valid.jsonl stale.edn valid.edn").code(1);
    assert_eq!(stdout(&assert), "twice.edn\tunknown\nvalid.jsonl\ttrue\nstale.edn\tfalse\nvalid.edn\ttrue\n");
}

#[test]
fn a_weaker_model_can_make_the_difference() {
    check("-c serializable stale.edn").code(0).stdout_eq("stale.edn\ttrue\n");
    check("-c serializable -a G-single-item-realtime stale.edn").code(1).stdout_eq("stale.edn\tfalse\n");
}
