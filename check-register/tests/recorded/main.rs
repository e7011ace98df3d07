//! What recorded ops stand for: histories as clients write them, with little said or with more than was asked.

use check_register::Linearizable;
use check_register::models::{OwnerMutex, Semaphore, Spec};
use history_core::{History, Verdict};

fn verdict<S: Spec + Clone + Default + 'static>(ops: &str) -> Verdict {
    let history = History::parse(ops).expect("a history");
    let report = Linearizable::<S>::default().check(&history).expect("a history of a size");
    assert!(report.notes.is_empty(), "{:?}", report.notes);
    report.verdict
}

#[test]
fn the_reason_of_an_info_owns_no_lock() {
    let ops = |releaser: u32| {
        verdict::<OwnerMutex>(&format!(
            "{{:process 0, :type :invoke, :f :acquire, :value nil}}
             {{:process 0, :type :info,   :f :acquire, :value :timed-out}}
             {{:process 1, :type :invoke, :f :release, :value {releaser}}}
             {{:process 1, :type :ok,     :f :release, :value {releaser}}}"
        ))
    };
    assert_eq!(ops(0), Verdict::Valid);
    assert_eq!(ops(1), Verdict::Invalid);
}

#[test]
fn the_reason_of_an_info_is_no_number_of_permits() {
    let ops = |acquired: u32| {
        verdict::<Semaphore>(&format!(
            "{{:process 0, :type :invoke, :f :release, :value nil}}
             {{:process 0, :type :info,   :f :release, :value :timed-out}}
             {{:process 1, :type :invoke, :f :acquire, :value {acquired}}}
             {{:process 1, :type :ok,     :f :acquire, :value {acquired}}}"
        ))
    };
    assert_eq!(ops(2), Verdict::Valid);
    assert_eq!(ops(3), Verdict::Invalid);
}
