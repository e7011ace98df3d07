//! Tests completions without an invocation in a history with invocations: the operation may have begun at any time
//! before it ended, so later ops that it explains are no anomalies.

use crate::common::{anomalies, judge, op};
use check_jepsen::adya_g2::AdyaG2;
use check_jepsen::bank::Bank;
use check_jepsen::causal::Causal;
use check_jepsen::comments::Comments;
use check_jepsen::counter::Counter;
use check_jepsen::final_counter::FinalCounter;
use check_jepsen::long_fork::LongFork;
use check_jepsen::queue::Queue;
use check_jepsen::sequential::Sequential;
use check_jepsen::set::Set;
use check_jepsen::set_full::SetFull;
use check_jepsen::stats::Stats;
use check_jepsen::total_queue::TotalQueue;
use check_jepsen::unhandled_exceptions::UnhandledExceptions;
use check_jepsen::unique_ids::UniqueIds;
use history_core::Checker;
use history_core::Verdict::{self, Invalid, Unknown, Valid};

/// Verifies that the verdict is unknown only because invocations have no process.
#[track_caller]
fn assert_nameless(checker: &dyn Checker, text: &str) {
    let report = judge(checker, &[], text);
    let name = checker.name();
    assert_eq!((report.verdict, report.anomalies.len()), (Unknown, 0), "{name}");
    let note = "No verdict, because some invocations have no process: which completions are theirs is unknown";
    assert!(report.notes[0].starts_with(note), "{name}: {:?}", report.notes);
    let next = format!("{:?}", report.next);
    assert!(next.contains("Record the process of every op"), "{name}: {next}");
}

/// An invocation without a process makes a valid verdict unknown, and no other.
#[test]
fn no_history_with_a_nameless_invocation_is_valid() {
    let ok = |f: &str, value: &str| op(1, f, if f == "read" { "nil" } else { value }, "ok", value);
    let last = |value: &str| ok("read", value).replace('}', ", :final? true}");
    let writes = ok("write", "1") + &ok("write", "2");
    let txn = |pairs: &str| op(1, "txn", "[[:r 0 nil] [:r 1 nil]]", "ok", pairs);
    let causal = |value: &str| {
        format!("{{:process 1, :type :ok, :f :read, :value {value}, :position 1, :link :init}}").replacen(
            "{:process",
            "{:process 1, :type :invoke, :f :read} {:process",
            1,
        )
    };
    let rows: [(Box<dyn Checker>, String, String); 14] = [
        (
            Box::<Bank>::default(),
            ok("read", "{1 5}") + &ok("read", "{1 5}"),
            ok("read", "{1 5}") + &ok("read", "{1 6}"),
        ),
        (Box::<Counter>::default(), ok("add", "1") + &ok("read", "1"), ok("add", "1") + &ok("read", "2")),
        (Box::<FinalCounter>::default(), ok("add", "1") + &last("1"), ok("add", "1") + &last("2")),
        (Box::new(FinalCounter::G_COUNTER), ok("add", "1") + &last("1"), ok("add", "1") + &last("2")),
        (Box::<Set>::default(), ok("add", "1") + &ok("read", "[1]"), ok("add", "1") + &ok("read", "[]")),
        (Box::<SetFull>::default(), ok("add", "1") + &ok("read", "[1]"), ok("add", "1") + &ok("read", "[]")),
        (
            Box::<LongFork>::default(),
            txn("[[:r 0 1] [:r 1 1]]"),
            txn("[[:r 0 1] [:r 1 nil]]") + &txn("[[:r 0 nil] [:r 1 1]]"),
        ),
        (Box::<Comments>::default(), writes.clone() + &ok("read", "[1 2]"), writes + &ok("read", "[2]")),
        (Box::<Causal>::default(), causal("0"), causal("1")),
        (
            Box::<AdyaG2>::default(),
            ok("insert", "[1 [1 nil]]"),
            ok("insert", "[1 [1 nil]]") + &ok("insert", "[1 [nil 2]]"),
        ),
        (Box::<Sequential>::default(), ok("read", "[1 [1 0]]"), ok("read", "[1 [1 nil]]")),
        (Box::<Queue>::default(), ok("enqueue", "1") + &ok("dequeue", "1"), ok("dequeue", "1")),
        (Box::<TotalQueue>::default(), ok("enqueue", "1") + &ok("dequeue", "1"), ok("enqueue", "1")),
        (Box::<UniqueIds>::default(), ok("generate", "1"), ok("generate", "1") + &ok("generate", "1")),
    ];
    for (checker, right, wrong) in rows {
        // An op whose effect no result can show. A read of set-full needs its completion.
        let f = match checker.name() {
            "long-fork" => "txn, :value [[:r 0 nil] [:r 1 nil]]",
            "set-full" => "add, :value 9",
            "adya-g2" => "insert, :value [9 [9 nil]]",
            "unique-ids" => "generate",
            "queue" | "total-queue" => "dequeue",
            _ => "read",
        };
        let nameless = format!("{{:type :invoke, :f :{f}}}\n");
        assert_eq!(judge(checker.as_ref(), &[], &right).verdict, Valid, "{}", checker.name());
        assert_nameless(checker.as_ref(), &(nameless.clone() + &right));
        assert_nameless(checker.as_ref(), &(right + &nameless));
        assert_eq!(judge(checker.as_ref(), &[], &(nameless + &wrong)).verdict, Invalid, "{}", checker.name());
    }
    // An op that the checker ignores does not matter.
    let read = "{:process 0, :type :invoke, :f :add, :value 1} {:process 0, :type :ok, :f :add, :value 1}
        {:type :invoke, :f :kill} {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value [1]}";
    assert_eq!(judge(&Set::default(), &[], read).verdict, Valid);
    // These count ops, whoever invoked them.
    let read = "{:type :invoke, :f :read} {:type :ok, :f :read, :value 1}";
    assert_eq!(judge(&Stats::default(), &[], read).verdict, Valid);
    assert_eq!(judge(&UnhandledExceptions::default(), &[], read).verdict, Valid);
}

/// The failed add without a process may be the one that process 1 invoked, or not.
#[test]
fn a_nameless_read_of_a_counter_is_unknown() {
    let text = "{:type :invoke, :f :read, :value nil}
        {:process 1, :type :invoke, :f :add, :value 1} {:process 1, :type :ok, :f :add, :value 1}
        {:process 1, :type :invoke, :f :add, :value 2}
        {:type :ok, :f :read, :value 1} {:type :fail, :f :add, :value 2}
        {:process 2, :type :invoke, :f :read, :final? true} {:process 2, :type :ok, :f :read, :value 3, :final? true}";
    assert_nameless(&FinalCounter::default(), text);
}

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
    // Nothing contradicts, but the invocation may belong to another completion, or to none.
    assert_nameless(&Set::default(), &(invoked + &read("[2]")));
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
    assert_nameless(&Queue::default(), &text);
    let twice = format!("{text} {invoked} {dequeued}");
    assert_eq!(anomalies(&judge(&Queue::default(), &[], &twice)), [("duplicated", 1)]);
}
