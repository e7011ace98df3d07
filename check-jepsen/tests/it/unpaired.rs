//! Tests completions without an invocation in a history with invocations: the operation may have begun at any time
//! before it ended, so later ops that it explains are no anomalies.

use crate::common::{anomalies, judge};
use check_jepsen::queue::Queue;
use check_jepsen::set::Set;
use check_jepsen::total_queue::TotalQueue;
use history_core::Verdict::{self, Invalid, Unknown, Valid};

#[test]
fn an_add_that_ended_was_attempted() {
    let read = |values: &str| {
        format!(
            "{{:process 0, :type :invoke, :f :read}} {{:type :ok, :f :add, :value 2}}
             {{:process 0, :type :ok, :f :read, :value {values}}}"
        )
    };
    assert_eq!(judge(&Set::default(), &[], &read("[2]")).verdict, Unknown);
    let invoked = "{:type :invoke, :f :add, :value 2} ".to_owned();
    assert_eq!(judge(&Set::default(), &[], &(invoked + &read("[2]"))).verdict, Valid, "without a process");
    // A failed add was attempted only if there is an invocation without a process.
    let failed = read("[2]").replace(":type :ok, :f :add", ":type :fail, :f :add");
    assert_eq!(anomalies(&judge(&Set::default(), &[], &failed)), [("unexpected", 1)]);
}

#[test]
fn an_enqueue_that_ended_may_have_begun_before_any_dequeue() {
    let invoked = "{:process 0, :type :invoke, :f :dequeue}";
    let enqueued = "{:type :ok, :f :enqueue, :value 2}";
    let dequeued = "{:process 0, :type :ok, :f :dequeue, :value 2}";
    let verdicts = |ops: [&str; 3]| -> [Verdict; 2] {
        let text = ops.join(" ");
        [judge(&TotalQueue::default(), &[], &text).verdict, judge(&Queue::default(), &[], &text).verdict]
    };
    assert_eq!(verdicts([invoked, enqueued, dequeued]), [Unknown, Unknown]);
    // The first two ops are certainly wrong, because up to there nothing shows that an op is missing.
    assert_eq!(verdicts([invoked, dequeued, enqueued]), [Unknown, Invalid]);
    // The invocation without a process belongs to this enqueue.
    let text = format!("{} {enqueued} {invoked} {dequeued}", enqueued.replace(":ok", ":invoke"));
    assert_eq!(judge(&Queue::default(), &[], &text).verdict, Valid);
    let twice = format!("{text} {invoked} {dequeued}");
    assert_eq!(anomalies(&judge(&Queue::default(), &[], &twice)), [("duplicated", 1)]);
}
