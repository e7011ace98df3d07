//! Histories without anything to check: no checker reports that they are linearizable, and a note gives the reason.

use crate::hidden::{
    self, assert_doubts_what_hidden_transactions_explain, assert_hides_only_one_key, assert_ignores_undecodable_reads,
    assert_ignores_what_failed, assert_keeps_what_was_certain_before, assert_takes_values_of_completions,
};
use crate::nothing::{assert_catches_a_stamp, assert_nil_is_no_answer, faults, judge};
use check_register::Linearizable;
use check_register::models::{MultiRegister, PlainRegister, Spec as _};
use history_core::{Checker, Verdict};

fn checkers() -> Vec<Box<dyn Checker>> {
    let mut all = check_register::checkers();
    // These select one of the others by an option, or split histories by key.
    all.retain(|checker| !["linearizable", "linearizable-register"].contains(&checker.name()));
    all
}

#[test]
fn a_history_with_nothing_to_check_is_unknown_and_a_note_says_why() {
    let faults: Vec<String> = checkers().iter().flat_map(|checker| faults(checker.as_ref(), judge)).collect();
    assert_eq!(faults, [""; 0], "{faults:#?}");
}

#[test]
fn canary_a_checker_that_always_says_valid_is_caught() {
    for checker in checkers() {
        assert_catches_a_stamp(checker.as_ref());
    }
}

#[test]
fn nil_is_no_answer_unless_nothing_was_there() {
    assert_nil_is_no_answer(&checkers());
}

/// After a failed write there is nothing that a read of nil could have missed.
#[test]
fn failed_operations_insert_nothing() {
    let text = |kind: &str| {
        format!(
            "{{:process 0, :type :invoke, :f :read}} {{:process 0, :type :ok, :f :read}}
             {{:process 0, :type :invoke, :f :write, :value 1}} {{:process 0, :type :{kind}, :f :write, :value 1}}"
        )
    };
    let register = Linearizable::<PlainRegister>::default();
    for (kind, verdict) in [("ok", Verdict::Valid), ("info", Verdict::Valid), ("fail", Verdict::Unknown)] {
        let report = judge(&register, &text(kind));
        assert_eq!(report.verdict, verdict, "{kind}: {:?}", report.notes);
    }
    // An operation that began before a write returned may have taken effect before the write.
    let overlaps = "{:process 0, :type :invoke, :f :write, :value 1} {:process 1, :type :invoke, :f :read}
                    {:process 0, :type :ok, :f :write, :value 1} {:process 1, :type :ok, :f :read}";
    assert_eq!(judge(&register, overlaps).verdict, Verdict::Valid);
}

/// A register that begins with a value never reads nil.
#[test]
fn nil_shows_nothing_of_a_register_that_begins_with_a_value() {
    let text = "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read}
                {:process 0, :type :invoke, :f :write, :value 1} {:process 0, :type :ok, :f :write, :value 1}";
    let mut checker = Linearizable::<PlainRegister>::default();
    assert_eq!(judge(&checker, text).verdict, Verdict::Valid);
    checker.model.set_initial(history_core::Value::Int(5)).unwrap();
    let report = judge(&checker, text);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert_eq!(report.notes, ["The history contains no ok :read of a value, so there was nothing to check."]);
}

/// With an initial value, reads of nil before the first write also count as such.
#[test]
fn all_nil_answers_are_counted_if_the_register_begins_with_a_value() {
    let read = "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read} ";
    let write = "{:process 0, :type :invoke, :f :write, :value 1} {:process 0, :type :ok, :f :write, :value 1} ";
    let text = format!("{read}{write}{read}");
    let note = "All results (2) are nil, which shows nothing about earlier writes: values must be in the field :value.";
    let mut checker = Linearizable::<PlainRegister>::default();
    assert_eq!(judge(&checker, &text).notes, [note]);
    checker.model.set_initial(history_core::Value::Int(5)).unwrap();
    let report = judge(&checker, &text);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert_eq!(report.notes[1..], [note]);
}

#[test]
fn nil_results_are_reported() {
    let text = "{:process 0, :type :invoke, :f :write, :value 1} {:process 0, :type :ok, :f :write, :value 1}
                {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :val 1}";
    let report = judge(&Linearizable::<PlainRegister>::default(), text);
    assert_eq!(
        report.notes,
        [
            "The history contains no ok :read of a value, so there was nothing to check.",
            "All results (1) are nil, which shows nothing about earlier writes: values must be in the field :value."
        ]
    );
}

#[test]
fn nil_results_are_counted_beside_others() {
    let text = "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read}
                {:process 0, :type :invoke, :f :write, :value 1} {:process 0, :type :ok, :f :write, :value 1}
                {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value 1}
                {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read}";
    let report = judge(&Linearizable::<PlainRegister>::default(), text);
    assert_eq!((report.verdict, report.notes.len()), (Verdict::Valid, 1), "{:?}", report.notes);
    let note = "1 ok result is nil or contains nil, of an operation that began after a write had returned.";
    assert!(report.notes[0].starts_with(note), "{:?}", report.notes);
    // One of several registers is lost.
    let text = "{:process 0, :type :invoke, :f :txn, :value [[:write :x 1] [:write :y 5]]}
                {:process 0, :type :ok, :f :txn, :value [[:write :x 1] [:write :y 5]]}
                {:process 0, :type :invoke, :f :txn, :value [[:read :x nil] [:read :y nil]]}
                {:process 0, :type :ok, :f :txn, :value [[:read :x 1] [:read :y nil]]}";
    let report = judge(&Linearizable::<MultiRegister>::default(), text);
    assert_eq!((report.verdict, report.notes.len()), (Verdict::Valid, 1), "{:?}", report.notes);
    assert!(report.notes[0].starts_with(note), "{:?}", report.notes);
}

/// A client that got `false` does not hold the lock.
#[test]
fn an_attempt_that_returned_false_is_not_understood() {
    let text = |answer: &str| {
        format!(
            "{{:process 0, :type :invoke, :f :acquire}} {{:process 0, :type :ok, :f :acquire, :value true}}
             {{:process 1, :type :invoke, :f :acquire}} {{:process 1, :type :ok, :f :acquire, :value {answer}}}"
        )
    };
    for checker in check_register::checkers() {
        if !["mutex", "owner-mutex", "reentrant-mutex"].contains(&checker.name()) {
            continue;
        }
        let refused = judge(&*checker, &text("false"));
        assert_eq!(refused.verdict, Verdict::Unknown, "{}", checker.name());
        assert!(refused.notes[0].contains("an attempt that did not succeed has the type fail"), "{:?}", refused.notes);
        assert_eq!(judge(&*checker, &text("7")).verdict, Verdict::Invalid, "{}", checker.name());
    }
}

/// An `ok` with another function shows neither that the invoked operation happened, nor that the named one did.
#[test]
fn an_ok_with_another_function_than_its_invocation_is_not_understood() {
    let text = "{:process 0, :type :invoke, :f :acquire} {:process 0, :type :ok, :f :release}
                {:process 1, :type :invoke, :f :acquire} {:process 1, :type :ok, :f :acquire}";
    for checker in check_register::checkers() {
        if !["mutex", "owner-mutex", "reentrant-mutex", "semaphore"].contains(&checker.name()) {
            continue;
        }
        let report = judge(&*checker, text);
        assert_eq!(report.verdict, Verdict::Unknown, "{}", checker.name());
        assert!(report.notes[0].contains("the completion has :f :release"), "{:?}", report.notes);
    }
}

#[test]
fn what_hides_its_changes_makes_violations_unknown() {
    assert_doubts_what_hidden_transactions_explain(&check_register::checkers(), hidden::judge);
}

#[test]
fn what_was_certain_before_a_hidden_operation_stays_so() {
    assert_keeps_what_was_certain_before(&check_register::checkers(), hidden::judge);
}

#[test]
fn failed_operations_need_not_be_decoded() {
    assert_ignores_what_failed(&check_register::checkers(), hidden::judge);
}

#[test]
fn reads_that_cannot_be_decoded_are_ignored() {
    assert_ignores_undecodable_reads(&check_register::checkers(), hidden::judge);
}

#[test]
fn the_value_of_a_completion_counts_if_its_invocation_has_none() {
    assert_takes_values_of_completions(&check_register::checkers(), hidden::judge, false);
}

#[test]
fn what_one_key_hides_is_certain_of_others() {
    assert_hides_only_one_key(&check_register::checkers(), hidden::judge);
}
