//! Histories without anything to check: no run that watches them reports that they are linearizable, and a note gives
//! the reason.

use crate::hidden::{
    self, assert_doubts_what_hidden_transactions_explain, assert_hides_only_one_key, assert_ignores_undecodable_reads,
    assert_ignores_what_failed, assert_keeps_what_was_certain_before, assert_takes_values_of_completions,
};
use crate::nothing::{assert_catches_a_stamp, assert_nil_is_no_answer, faults, judge};

#[test]
fn a_history_with_nothing_to_check_is_unknown_and_a_note_says_why() {
    let faults: Vec<String> =
        check_online::checkers().iter().flat_map(|checker| faults(checker.as_ref(), judge)).collect();
    assert_eq!(faults, [""; 0], "{faults:#?}");
}

#[test]
fn canary_a_checker_that_always_says_valid_is_caught() {
    for checker in check_online::checkers() {
        assert_catches_a_stamp(checker.as_ref());
    }
}

#[test]
fn nil_is_no_answer_unless_nothing_was_there() {
    assert_nil_is_no_answer(&check_online::checkers());
}

#[test]
fn what_hides_its_changes_makes_violations_unknown() {
    assert_doubts_what_hidden_transactions_explain(&check_online::checkers(), hidden::judge);
}

#[test]
fn what_was_certain_before_a_hidden_operation_stays_so() {
    assert_keeps_what_was_certain_before(&check_online::checkers(), hidden::judge);
}

#[test]
fn failed_operations_need_not_be_decoded() {
    assert_ignores_what_failed(&check_online::checkers(), hidden::judge);
}

#[test]
fn reads_that_cannot_be_decoded_are_ignored() {
    assert_ignores_undecodable_reads(&check_online::checkers(), hidden::judge);
}

#[test]
fn the_value_of_a_completion_counts_if_its_invocation_has_none() {
    assert_takes_values_of_completions(&check_online::checkers(), hidden::judge, true);
}

#[test]
fn what_one_key_hides_is_certain_of_others() {
    assert_hides_only_one_key(&check_online::checkers(), hidden::judge);
}
