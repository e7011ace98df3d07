//! Tests of the options of the list-append checker, and of its reports.

use check_elle::list_append::ListAppend;
use history_core::{Budget, Checker, Options, Reader, Report, Verdict};

/// Two transactions that each miss the other's append.
const WRITE_SKEW: &str = "
    {:process 0, :type :invoke, :value [[:append :x 1] [:r :y nil]]}
    {:process 1, :type :invoke, :value [[:append :y 2] [:r :x nil]]}
    {:process 0, :type :ok, :value [[:append :x 1] [:r :y []]]}
    {:process 1, :type :ok, :value [[:append :y 2] [:r :x []]]}
";

fn check_with(text: &str, options: &Options, budget: &Budget) -> Report {
    let run = ListAppend::default().start(options).unwrap();
    history_core::check(run, &mut Reader::new(text.as_bytes()), budget).unwrap()
}

#[test]
fn a_budget_that_is_spent_makes_the_verdict_unknown_and_says_so() {
    let budget = Budget::default().with_states_max(0);
    let report = check_with(WRITE_SKEW, &Options::new(), &budget);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["cycle-search-timeout"]);
    assert!(report.notes[0].contains("the maximum number of states was reached"), "{:?}", report.notes);
}

#[test]
fn options_by_name_change_what_is_expected() {
    let options = Options::new().with("consistency-models", "snapshot-isolation");
    let report = check_with(WRITE_SKEW, &options, &Budget::default());
    assert_eq!(report.verdict, Verdict::Valid, "write skew is what snapshot isolation allows");
    let options = options.with("anomalies", "G2-item");
    let report = check_with(WRITE_SKEW, &options, &Budget::default());
    assert_eq!(report.verdict, Verdict::Invalid);

    let none = Options::new().with("max-witnesses", "0");
    let report = check_with(WRITE_SKEW, &none, &Budget::default());
    assert_eq!((report.anomalies[0].count, report.anomalies[0].witnesses.len()), (1, 0));
    assert!(report.artifacts.is_empty());
}

#[test]
fn options_that_make_no_sense_are_refused_with_what_would() {
    let start = |name: &str, value: &str| {
        ListAppend::default().start(&Options::new().with(name, value)).err().map(|e| e.to_string()).unwrap()
    };
    assert!(start("consistency-models", "serialisable").contains("serializable"));
    assert!(start("anomalies", "G1d").contains("G1c"));
    assert_eq!(start("max-witnesses", "-1"), "--max-witnesses: expected a number from 0 on, found -1");
}

#[test]
fn what_is_no_list_append_history_is_unknown_with_the_reason() {
    for (text, reason) in [
        ("{:type :ok, :process 0, :value 3}", "the op's value is not a list of micro-ops, but 3"),
        ("{:type :ok, :process 0, :value [[:w :x 3]]}", "[:w :x 3] is not a micro-op of list-append"),
        ("{:type :ok, :process 0, :value [[:r :x 3]]}", "[:r :x 3] is not a micro-op of list-append"),
        ("{:type :ok, :process 0, :value [[:append :x]]}", "[:append :x] is not a micro-op of list-append"),
        (
            "{:type :ok, :process 0, :value [[:append :x 1]]} {:type :ok, :process 1, :value [[:append :x 1]]}",
            "1 is appended to key :x a second time",
        ),
    ] {
        let report = check_with(text, &Options::new(), &Budget::default());
        assert_eq!(report.verdict, Verdict::Unknown, "{text}");
        assert!(report.notes[0].contains(reason), "{text}: {:?}", report.notes);
        assert_eq!(report.anomaly_types().count(), 0);
    }
}

#[test]
fn a_cycle_is_told_as_a_story_that_ends_in_its_contradiction() {
    let report = check_with(WRITE_SKEW, &Options::new(), &Budget::default());
    insta::assert_snapshot!(report.anomalies[0].witnesses[0].explanation, @r"
    Let:
      T1 = {:index 2, :type :ok, :process 0, :value [[:append :x 1] [:r :y []]]}
      T2 = {:index 3, :type :ok, :process 1, :value [[:append :y 2] [:r :x []]]}

    Then:
      - T1 < T2, because T1 observed the initial (empty) state of :y, to which T2 appended 2.
      - However, T2 < T1, because T2 observed the initial (empty) state of :x, to which T1 appended 1: a contradiction!
    ");
}

#[test]
fn appends_of_one_transaction_the_other_way_around_are_shown_with_the_read() {
    let text = "
        {:process 0, :type :ok, :value [[:append :y 1] [:append :y 2]]}
        {:process 1, :type :ok, :value [[:append :y 3]]}
        {:process 2, :type :ok, :value [[:r :y []]]}
        {:process 2, :type :ok, :value [[:r :y [2 1 3]]]}";
    let report = check_with(text, &Options::new(), &Budget::default());
    assert_eq!((report.verdict, &report.not[..]), (Verdict::Invalid, &["read-uncommitted".into()][..]));
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["cyclic-versions"]);
    insta::assert_snapshot!(report.anomalies[0].witnesses[0].explanation, @r"
    Let:
      T1 = {:index 0, :type :ok, :process 0, :value [[:append :y 1] [:append :y 2]]}
      T2 = {:index 3, :type :ok, :process 2, :value [[:r :y [2 1 3]]]}

    Then:
      - T1 appended 1 and then 2 to key :y, but T2 read [2 1 3], which has no 1 before 2.
    ");

    // An undecodable op may have appended 1 or 2 as well.
    let report =
        check_with(&format!("{text} {{:process 3, :type :ok, :value [3]}}"), &Options::new(), &Budget::default());
    assert_eq!((report.verdict, report.anomaly_types().count()), (Verdict::Unknown, 0));
}

#[test]
fn a_key_is_left_out_if_an_open_append_to_it_was_completed_by_another() {
    let text = "
        {:process 0, :type :invoke, :value [[:append :x 1]]}
        {:process 1, :type :invoke, :value nil}
        {:process 1, :type :ok, :value [[:append :x 1]]}
        {:process 2, :type :invoke, :value [[:r :x nil]]}
        {:process 2, :type :ok, :value [[:r :x [1]]]}
        {:process 2, :type :invoke, :value [[:r :x nil]]}
        {:process 2, :type :ok, :value [[:r :x []]]}";
    let report = check_with(text, &Options::new(), &Budget::default());
    assert_eq!((report.verdict, report.anomaly_types().count()), (Verdict::Unknown, 0));
    let reason = "the op at index 0: 1 is appended to key :x, and a second time by a completion.";
    assert_eq!(report.notes, [format!("No verdict, because of {reason}")]);
}

/// A store that was not empty: the 0 of each list was never appended.
const NOT_EMPTY: &str = "
    {:process 0, :type :invoke, :value [[:append :x 1]]}
    {:process 0, :type :ok, :value [[:append :x 1]]}
    {:process 1, :type :invoke, :value [[:r :x nil] [:r :y nil]]}
    {:process 1, :type :ok, :value [[:r :x [0 1]] [:r :y [0]]]}
";

#[test]
fn what_was_there_at_the_start_is_allowed_if_that_is_said() {
    let report = check_with(NOT_EMPTY, &Options::new(), &Budget::default());
    assert_eq!((report.verdict, report.anomaly_types().collect::<Vec<_>>()), (Verdict::Invalid, vec!["garbage-read"]));
    assert_eq!((&report.not[..], report.anomalies[0].count), (&["read-committed".into()][..], 2));
    let note = "A value was read that was never written. The first such element of every key is 0. If the store was not empty at the \
                start, add --allow garbage-read.";
    assert_eq!(report.notes, [note]);

    let report = check_with(NOT_EMPTY, &Options::new().with("allow", "garbage-read"), &Budget::default());
    assert_eq!((report.verdict, report.anomalies.len()), (Verdict::Valid, 0));
    assert_eq!(report.notes, ["garbage-read is allowed, and was found 2 times."]);
    let once = NOT_EMPTY.replace("[:r :y [0]]", "[:r :y nil]");
    let report = check_with(&once, &Options::new().with("allow", "garbage-read"), &Budget::default());
    assert_eq!(report.notes, ["garbage-read is allowed, and was found once."]);

    let options = Options::new().with("consistency-models", "read-uncommitted");
    assert_eq!(check_with(NOT_EMPTY, &options, &Budget::default()).verdict, Verdict::Valid);

    let different = NOT_EMPTY.replace("[:r :y [0]]", "[:r :y [9]]");
    let report = check_with(&different, &Options::new(), &Budget::default());
    assert!(!report.notes[0].contains("The first such element"), "{:?}", report.notes);
}

#[test]
fn only_garbage_reads_can_be_allowed() {
    let start = |options: Options| ListAppend::default().start(&options).err().map(|error| error.to_string());
    let error = start(Options::new().with("allow", "G1a"));
    assert_eq!(error.as_deref(), Some("--allow: G1a cannot be allowed: only garbage-read can be"));
    let error = start(Options::new().with("allow", "garbage-read").with("anomalies", "garbage-read"));
    assert_eq!(error.as_deref(), Some("--allow: garbage-read is also passed to --anomalies"));
}

/// Asserts the verdict, the types and the note for a history with undecodable ops.
fn spoiled(text: &str, verdict: Verdict, types: &[&str], note: &str) {
    let report = check_with(text, &Options::new(), &Budget::default());
    assert_eq!(report.verdict, verdict, "{text}");
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), types, "{text}");
    assert_eq!(report.notes, [note], "{text}");
}

#[test]
fn a_completion_that_writes_something_else_is_not_understood() {
    let other = "
        {:process 0, :type :invoke, :value [[:append :x 1]]}
        {:process 0, :type :ok, :value [[:append :x 2]]}
        {:process 1, :type :invoke, :value [[:r :x nil]]}
        {:process 1, :type :ok, :value [[:r :x [2]]]}";
    let reason = "the op at index 1 (line 3): the op's writes differ from those of its invocation at index 0: a completion repeats the writes.";
    spoiled(other, Verdict::Unknown, &[], &format!("No verdict, because of {reason}"));

    let skew = "
        {:process 2, :type :invoke, :value [[:append :y 1] [:r :z nil]]}
        {:process 3, :type :invoke, :value [[:append :z 1] [:r :y nil]]}
        {:process 2, :type :ok, :value [[:append :y 1] [:r :z []]]}
        {:process 3, :type :ok, :value [[:append :z 1] [:r :y []]]}";
    let rest = "Such ops, and the keys they use, are ignored. What is reported holds whatever these ops did.";
    let note = format!("Part of this history was ignored, because of {reason} {rest}");
    let report = check_with(&format!("{other}{skew}"), &Options::new(), &Budget::default());
    assert!(report.not_checked.contains(&"read-committed".into()), "what was ignored may violate it");
    spoiled(&format!("{other}{skew}"), Verdict::Invalid, &["G2-item"], &note);

    // A failed op has no writes, whatever its completion contains; reads may differ from the invocation, and a
    // completion without a value has the value of its invocation.
    for completion in [":fail, :value [[:append :x 2]]", ":ok, :value [[:append :x 1] [:r :x [1]]]", ":info", ":ok"] {
        let text = format!(
            "{{:process 0, :type :invoke, :value [[:append :x 1] [:r :x nil]]}} {{:process 0, :type {completion}}}"
        );
        let report = check_with(&text, &Options::new(), &Budget::default());
        assert!(!report.notes[0].contains("index 1"), "{text}: {:?}", report.notes);
    }
}

#[test]
fn what_failed_may_say_why_in_the_place_of_its_value() {
    for (kind, verdict) in [("info", Verdict::Valid), ("fail", Verdict::Invalid)] {
        for cause in [":timed-out", "\"timed out\"", "408", "#error {:cause \"timeout\"}"] {
            let text = format!(
                "{{:process 0, :type :invoke, :value [[:append :x 1]]}} {{:process 0, :type :{kind}, :value {cause}}}
                 {{:process 1, :type :invoke, :value [[:r :x nil]]}} {{:process 1, :type :ok, :value [[:r :x [1]]]}}"
            );
            let report = check_with(&text, &Options::new(), &Budget::default());
            assert_eq!(report.verdict, verdict, "{text}: {:?}", report.notes);
        }
    }
}

#[test]
fn nothing_is_garbage_if_not_all_writes_are_known() {
    let text = "
        {:process 0, :type :ok, :value [[:increment :x 1]]}
        {:process 1, :type :ok, :value [[:r :y [1]]]}
        {:process 2, :type :ok, :value [[:r :y []] [:append :z 1]]}
        {:process 3, :type :ok, :value [[:append :y 2]]}";
    let note = "No verdict, because of the op at index 0 (line 2): [:increment :x 1] is not a micro-op of list-append; \
                expected [:r key list] or [:append key value].";
    spoiled(text, Verdict::Unknown, &[], note);
}

#[test]
fn too_many_ops_that_are_not_understood_end_the_search() {
    let wrong = "{:process 0, :type :ok, :value [[:increment :x 1]]}\n";
    let internal = "{:process 2, :type :ok, :value [[:r :y [1]] [:r :y []]]}";
    for (count, verdict) in [(1000, Verdict::Invalid), (1001, Verdict::Unknown)] {
        let report = check_with(&(wrong.repeat(count) + internal), &Options::new(), &Budget::default());
        assert_eq!(report.verdict, verdict, "{count}");
    }
}

/// The undecodable op reuses the slot of process 0, whose key it does not use.
#[test]
fn what_is_not_understood_leaves_out_no_key_of_an_op_before_it() {
    let op = |process: u32, value: &str| {
        format!(
            "{{:process {process}, :type :invoke, :value {value}}} {{:process {process}, :type :ok, :value {value}}}\n"
        )
    };
    let mismatch = "{:process 1, :type :invoke, :value [[:append :z 1] [:append :z 1]]}
        {:process 1, :type :ok, :value [[:append :z 2]]}\n";
    let text = op(0, "[[:append :x 1]]") + mismatch + &op(2, "[[:r :x []]]");
    let report = check_with(&text, &Options::new(), &Budget::default());
    let types: Vec<_> = report.anomaly_types().collect();
    assert_eq!((report.verdict, types), (Verdict::Invalid, vec!["G-single-item-realtime"]), "{:?}", report.notes);
}

/// If a transaction appends values that were appended before, each of these keys is ignored, not only the first.
/// Otherwise 1 would have two writers in the second key.
#[test]
fn each_key_that_a_transaction_appends_to_again_is_left_out() {
    let text = "
        {:process 0 :type :invoke :value [[:append :x 1] [:append :y 1]]}
        {:process 0 :type :ok :value [[:append :x 1] [:append :y 1]]}
        {:process 0 :type :invoke :value [[:append :x 1] [:append :y 1]]}
        {:process 0 :type :ok :value [[:append :x 1] [:append :y 1]]}
        {:process 0 :type :invoke :value [[:r :y nil]]}
        {:process 0 :type :ok :value [[:r :y [1]]]}";
    let report = check_with(text, &Options::new(), &Budget::default());
    assert_eq!(report.verdict, Verdict::Unknown, "{:?}", report.anomalies);
    assert!(report.notes[0].contains("1 is appended to key :x a second time"), "{:?}", report.notes);
}
