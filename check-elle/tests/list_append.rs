//! What is asked of the list-append checker by name, and how it answers.

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
    let budget = Budget { states_max: Some(0), ..Budget::default() };
    let report = check_with(WRITE_SKEW, &Options::new(), &budget);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["cycle-search-timeout"]);
    assert!(report.notes[0].contains("the limit of states was reached"), "{:?}", report.notes);
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
    assert_eq!(start("max-witnesses", "-1"), "--max-witnesses: -1 is less than 0");
}

#[test]
fn what_is_no_list_append_history_is_unknown_with_the_reason() {
    for (text, reason) in [
        ("{:type :ok, :process 0, :value 3}", "the op's value, 3, is no list of micro-ops"),
        ("{:type :ok, :process 0, :value [[:w :x 3]]}", "[:w :x 3] is no micro-op of list-append"),
        ("{:type :ok, :process 0, :value [[:r :x 3]]}", "[:r :x 3] is no micro-op of list-append"),
        ("{:type :ok, :process 0, :value [[:append :x]]}", "[:append :x] is no micro-op of list-append"),
        (
            "{:type :ok, :process 0, :value [[:append :x 1]]} {:type :ok, :process 1, :value [[:append :x 1]]}",
            "1 is appended to key :x for the second time",
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
