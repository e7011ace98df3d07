//! Transactions whose appends become known at their completions, or never.

use super::{AT_ONCE, NEVER, checker, checker_report, first_refused, judge, model, ops, rules, sizes};
use crate::list_append::online::judge::ListJudge;
use crate::model::Model;
use crate::txn::online::tests::unsaid::{forgetting, prefixes};
use history_core::Verdict;

#[test]
fn unknown_appends_may_have_happened() {
    let checker = checker(Model::STRICT_SERIALIZABLE);
    let refused = prefixes::<ListJudge>(&checker, Model::STRICT_SERIALIZABLE, &rules(), false, 1000);
    assert!((250..970).contains(&refused), "{refused}");
    let read = "{:process 0, :type :invoke, :value nil} {:process 1, :type :invoke, :value nil}
        {:process 1, :type :ok, :value [[:r :x [1]]]}
        {:process 1, :type :invoke, :value [[:append :y 1]]} {:process 1, :type :ok, :value [[:append :y 1]]}
        {:process 1, :type :invoke, :value [[:r :y nil]]} {:process 1, :type :ok, :value [[:r :y [1]]]} ";
    let end = |end: &str| {
        let text = format!("{read}{end}");
        checker_report(&text)
    };
    let failed = end("{:process 0, :type :fail, :value nil}");
    assert!(failed.anomaly_types().eq(["garbage-read"]));
    for unknown in ["", "{:process 0, :type :info, :value nil}", "{:process 0, :type :ok, :value nil}"] {
        let report = end(unknown);
        assert_eq!((report.verdict, report.anomalies.len()), (Verdict::Unknown, 0), "{unknown}");
        assert!(report.notes.iter().any(|note| note.contains("may have happened")), "{:?}", report.notes);
        assert!(report.not_checked.iter().any(|level| level == "read-committed"));
    }
}

#[test]
fn appends_known_late_count_at_other_levels() {
    for name in ["strong-snapshot-isolation", "strong-session-serializable", "serializable", "read-committed"] {
        let refused = prefixes::<ListJudge>(&checker(model(name)), model(name), &rules(), false, 400);
        assert!((60..380).contains(&refused), "{name}: {refused}");
    }
}

#[test]
fn appends_known_late_are_discarded_like_the_rest() {
    let refused = forgetting::<ListJudge>(&checker(Model::STRICT_SERIALIZABLE), &rules(), false, 100);
    assert!((30..95).contains(&refused), "{refused}");
}

/// Two unread appends of concurrent transactions. The appends of the one that began first become known after a third
/// one began.
#[test]
fn transactions_between_an_unread_append_and_one_known_late_are_kept() {
    let text = ops(&[
        (2, "invoke", ""),
        (1, "invoke", "[:append x 1]"),
        (1, "ok", "[:append x 1]"),
        (3, "invoke", "[:r y nil]"),
        (3, "ok", "[:r y []]"),
        (4, "invoke", "[:append z 1][:append x 3]"),
        (2, "ok", "[:append y 1][:append x 2]"),
        (5, "invoke", "[:append z 2]"),
        (4, "ok", "[:append z 1][:append x 3]"),
        (6, "invoke", "[:append z 3]"),
        (5, "ok", "[:append z 2]"),
        (6, "ok", "[:append z 3]"),
        (7, "invoke", "[:r x nil]"),
        (7, "ok", "[:r x [2 1 3]]"),
    ]);
    let text = text.replace(":value []", ":value nil");
    assert_eq!(first_refused(&text, Model::STRICT_SERIALIZABLE), Some(13));
    assert_eq!(judge(&text, Model::STRICT_SERIALIZABLE, sizes(AT_ONCE)), (Some(13), Verdict::Invalid));
}

/// A reader is discarded. Then an operation begins that turns out to have appended the element that was read.
#[test]
fn a_read_before_the_invocation_is_a_cycle_even_if_the_append_is_known_late() {
    let text = ops(&[
        (0, "invoke", ""),
        (0, "info", ""),
        (1, "invoke", "[:r x nil]"),
        (1, "ok", "[:r x [1]]"),
        (2, "invoke", ""),
        (2, "ok", "[:append x 1]"),
    ]);
    let text = text.replace(":value []", ":value nil");
    assert_eq!(first_refused(&text, Model::STRICT_SERIALIZABLE), Some(5));
    for limits in [NEVER, AT_ONCE] {
        assert_eq!(judge(&text, Model::STRICT_SERIALIZABLE, sizes(limits)), (Some(5), Verdict::Invalid));
    }
}

/// The only possible writer of an element turns out not to have appended it; one that began after the read did not
/// either.
#[test]
fn a_transaction_that_began_after_a_read_did_not_append_its_elements() {
    let text = ops(&[
        (0, "invoke", ""),
        (1, "invoke", ""),
        (0, "ok", "[:r x [1]]"),
        (2, "invoke", ""),
        (1, "ok", "[:append y 1]"),
        (2, "info", ""),
    ]);
    let text = text.replace(":value []", ":value nil");
    for limits in [NEVER, AT_ONCE] {
        assert_eq!(judge(&text, Model::STRICT_SERIALIZABLE, sizes(limits)), (Some(4), Verdict::Invalid));
    }
}
