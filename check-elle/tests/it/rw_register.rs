//! Tests of the options of the rw-register checker, and of its reports.

use check_elle::rw_register::RwRegister;
use history_core::{Budget, Checker, Datum, History, Options, Reader, Report, Verdict};

fn check_with(text: &str, options: &Options) -> Report {
    let run = RwRegister::default().start(options).unwrap();
    history_core::check(run, &mut Reader::new(text.as_bytes()), &Budget::default()).unwrap()
}

/// Registers that initially hold 0.
const ZERO: &str = "
    {:process 0, :type :invoke, :value [[:w :x 1]]}
    {:process 0, :type :ok, :value [[:w :x 1]]}
    {:process 1, :type :invoke, :value [[:r :x nil] [:r :y nil]]}
    {:process 1, :type :ok, :value [[:r :x 0] [:r :y 0]]}
";

#[test]
fn what_nobody_wrote_names_the_option_that_would_explain_it() {
    let report = check_with(ZERO, &Options::new());
    assert_eq!((report.verdict, report.anomaly_types().collect::<Vec<_>>()), (Verdict::Invalid, vec!["garbage-read"]));
    assert_eq!(
        report.notes[0],
        "A value was read that was never written. The first such value of every key is 0. If registers contain 0 before the \
         first write, add --initial 0. If the store was not empty at the start, add --allow garbage-read."
    );
    let different = ZERO.replace("[:r :y 0]", "[:r :y 9]");
    let note = &check_with(&different, &Options::new()).notes[0];
    assert!(note.contains("another value than nil before the first write, add --initial VALUE"), "{note}");
    let allowed = check_with(ZERO, &Options::new().with("allow", "garbage-read"));
    assert_eq!(allowed.verdict, Verdict::Valid);
    // The verdict is not a proof, and a note says why.
    let note = "garbage-read is allowed, and was found 2 times. When these values were there is unknown, so what they violate was \
                not looked for. If keys had them at first, use --initial.";
    assert!(allowed.notes.contains(&note.to_owned()), "{:?}", allowed.notes);
}

#[test]
fn the_initial_value_comes_first() {
    // A read of the initial value after a write of another value contradicts real time.
    let report = check_with(ZERO, &Options::new().with("initial", "0"));
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["G-single-item-realtime"]);
    let explanation = &report.anomalies[0].witnesses[0].explanation;
    assert!(explanation.contains("read 0, the initial version, of key :x"), "{explanation}");
    let serializable = Options::new().with("initial", "0").with("consistency-models", "serializable");
    assert_eq!(check_with(ZERO, &serializable).verdict, Verdict::Valid);

    let history = History::parse(ZERO).unwrap();
    let same = RwRegister { initial: 0.into(), ..RwRegister::default() }.check(&history).unwrap();
    assert_eq!(same.anomaly_types().collect::<Vec<_>>(), ["G-single-item-realtime"]);

    // With this option, nil was never written.
    let nil = "{:process 0, :type :ok, :value [[:r :x nil]]} {:process 1, :type :ok, :value [[:w :x 1]]}";
    let report = check_with(nil, &Options::new().with("initial", "0"));
    assert!(report.anomaly_types().any(|name| name == "garbage-read"), "{report:?}");
    assert_eq!(check_with(nil, &Options::new()).verdict, Verdict::Valid);
}

#[test]
fn initial_values_are_edn_or_json() {
    assert_eq!(RwRegister::default().initial, Datum::Nil);
    for (value, written) in [
        (":none", ":none"),
        ("\"\"", "\"\""),
        ("[0, 0]", "[0 0]"),
        ("null", "nil"),
        ("{\"a\": 1}", "{\"a\" 1}"),
        ("{\"a\":1}", "{\"a\" 1}"),
    ] {
        let text = format!(
            "{{:process 0, :type :ok, :value [[:r :x {written}]]}} {{:process 1, :type :ok, :value [[:w :x 1]]}}"
        );
        let report = check_with(&text, &Options::new().with("initial", value));
        assert_eq!(report.verdict, Verdict::Valid, "{value}: {report:?}");
    }
    for value in ["", "1 2", "["] {
        let error =
            RwRegister::default().start(&Options::new().with("initial", value)).err().map(|error| error.to_string());
        assert_eq!(error, Some(format!("--initial: expected an EDN or JSON value, found {value}")));
    }
}

#[test]
fn a_write_of_the_initial_value_is_as_good_as_a_second_one() {
    let text = "{:process 0, :type :ok, :value [[:r :x 0]]} {:process 1, :type :ok, :value [[:w :x 0]]}";
    let report = check_with(text, &Options::new().with("initial", "0"));
    assert_eq!(report.verdict, Verdict::Unknown);
    assert_eq!(
        report.notes,
        [
            "No verdict, because of the op at index 1: 0 is written to key :x, which it is also the initial value of, and was read: \
          whether the read saw the write is unknown."
        ]
    );
    let unread = "{:process 0, :type :ok, :value [[:r :x 1]]} {:process 1, :type :ok, :value [[:w :x 1] [:w :y 0]]}";
    assert_eq!(check_with(unread, &Options::new().with("initial", "0")).verdict, Verdict::Valid);
}

#[test]
fn a_key_that_cannot_be_judged_hides_no_other() {
    let twice = "
        {:process 0, :type :ok, :value [[:w :x 1]]}
        {:process 1, :type :ok, :value [[:w :x 1]]}
        {:process 2, :type :ok, :value [[:r :x 1]]}";
    let skew = "
        {:process 3, :type :ok, :value [[:r :y nil] [:w :z 1] [:w :x 2]]}
        {:process 4, :type :ok, :value [[:r :z nil] [:w :y 1]]}";
    assert_eq!(check_with(twice, &Options::new()).verdict, Verdict::Unknown);
    let report = check_with(&format!("{twice}{skew}"), &Options::new());
    assert_eq!((report.verdict, report.anomaly_types().collect::<Vec<_>>()), (Verdict::Invalid, vec!["G2-item"]));
    assert!(
        report.notes[0].contains("the op at index 1: 1 is written to key :x here and at index 0, and was read"),
        "{:?}",
        report.notes
    );
    let shown = report.anomalies[0].witnesses[0].ops[0].value.to_string();
    assert_eq!(shown, "[[:r :y nil] [:w :z 1] ...]");
}

#[test]
fn a_completion_that_writes_something_else_is_not_understood() {
    let text = "
        {:process 0, :type :invoke, :value [[:w :x 1]]}
        {:process 0, :type :ok, :value [[:w :x 2]]}
        {:process 1, :type :invoke, :value [[:r :x nil]]}
        {:process 1, :type :ok, :value [[:r :x 1]]}";
    let report = check_with(text, &Options::new());
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(
        report.notes[0].contains("at index 1 (line 3): the op's writes differ from those of its invocation"),
        "{:?}",
        report.notes
    );
}

/// Process 1 certainly wrote 1; what else it wrote is unknown.
#[test]
fn a_micro_op_that_cannot_be_decoded_may_have_written_anything() {
    let text = "
        {:process 0, :type :invoke, :value [[:w :x 1]]}
        {:process 1, :type :invoke, :value [[:w :x 1 :stamp]]}
        {:process 0, :type :fail, :value [[:w :x 1]]}
        {:process 1, :type :ok, :value [[:w :x 1 :stamp]]}
        {:process 2, :type :invoke, :value [[:r :x nil]]}
        {:process 2, :type :ok, :value [[:r :x 1]]}
    ";
    let report = check_with(text, &Options::new());
    assert_eq!((report.verdict, report.anomalies.len()), (Verdict::Unknown, 0), "{:?}", report.notes);
    // Two reads of one transaction contradict each other, whoever wrote the values.
    let internal = text.replace("[[:r :x 1]]", "[[:r :x 1] [:r :x 2]]");
    let report = check_with(&internal, &Options::new());
    assert_eq!(
        (report.verdict, report.anomaly_types().collect::<Vec<_>>()),
        (Verdict::Invalid, vec!["empty-transaction-graph", "internal"])
    );
}

/// A note about unknown version orders has no use where each key has only one version besides the initial one.
#[test]
fn versions_are_in_order_where_each_key_is_written_once() {
    let inexact = Options::new().with("exact", "no").with("consistency-models", "serializable");
    let once = "{:type :ok, :value [[:w 1 1] [:w 2 1]]} {:type :ok, :value [[:r 1 1] [:r 2 1]]}";
    let report = check_with(once, &inexact);
    assert_eq!((report.verdict, report.notes), (Verdict::Valid, vec![]));

    let twice = "{:type :ok, :value [[:w 1 1]]} {:type :ok, :value [[:r 1 1] [:w 1 2]]}";
    let notes = check_with(twice, &inexact).notes;
    assert!(notes[0].starts_with("The version order of each key is unknown"), "{notes:?}");
}

/// The checker describes every anomaly that a report names.
#[cfg(feature = "exact")]
#[test]
fn the_refusal_of_a_level_is_described_but_cannot_be_forbidden_by_name() {
    let about = RwRegister::default().about();
    let (name, _) = check_isolation::NO_COMMIT_ORDER;
    let described = about.anomalies.iter().find(|anomaly| anomaly.name == name).unwrap();
    assert!(described.is_of_a_level && described.summary.starts_with("No order of commits"), "{described:?}");
    let asked = Options::new().with("anomalies", name);
    assert!(RwRegister::default().start(&asked).is_err());
}

#[test]
fn a_result_that_is_missing_is_noted() {
    let txn = |completion: &str| {
        format!(
            "{{:process 0, :type :invoke, :value [[:w :x 1]]}} {{:process 0, :type :ok, :value [[:w :x 1]]}}
             {{:process 1, :type :invoke, :value [[:r :x nil]]}} {{:process 1, :type :ok, :value [[:r :x 1]]}}
             {{:process 1, :type :invoke, :value [[:r :y nil]]}} {{:process 1, {completion}}}"
        )
    };
    let note = |text: &str| {
        let report = check_with(text, &Options::new());
        assert_eq!(report.verdict, Verdict::Valid);
        report.notes.into_iter().find(|note| note.contains("does not say"))
    };
    let said = "1 ok transaction (at index 5) does not say all that it read: the rest is unknown, and was not checked.";
    for silent in [":type :ok", ":type :ok, :value nil"] {
        assert_eq!(note(&txn(silent)).as_deref(), Some(said));
    }
    // The completion omits a read of the invocation.
    assert_eq!(note(&txn(":type :ok, :value []")).as_deref(), Some(said));
    for other in [":type :ok, :value [[:r :y nil]]", ":type :fail", ":type :info"] {
        assert_eq!(note(&txn(other)), None, "{other}");
    }
    // The writes are known from the invocation, and there are no reads.
    assert_eq!(note(&txn(":type :ok, :value nil").replace("[[:r :y nil]]", "[[:w :y 2]]")), None);
}

/// If an anomaly ended the check before the search for an order, there may be other anomalies.
#[test]
fn what_ends_the_search_leaves_the_rest_open() {
    let aborted = "
        {:process 3, :type :invoke, :value [[:w :y 1]]} {:process 3, :type :fail, :value [[:w :y 1]]}
        {:process 4, :type :invoke, :value [[:r :y nil]]} {:process 4, :type :ok, :value [[:r :y 1]]}";
    let fractured = "
        {:process 5, :type :invoke, :value [[:w :p 1] [:w :q 1]]}
        {:process 6, :type :invoke, :value [[:w :p 2] [:w :q 2]]}
        {:process 5, :type :ok, :value [[:w :p 1] [:w :q 1]]} {:process 6, :type :ok, :value [[:w :p 2] [:w :q 2]]}
        {:process 7, :type :invoke, :value [[:r :p nil] [:r :q nil]]}
        {:process 7, :type :ok, :value [[:r :p 1] [:r :q 2]]}";
    let both = format!("{aborted}{fractured}");
    let judged = |text: &str, level: &str, exact: &str| {
        let report = check_with(text, &Options::new().with("consistency-models", level).with("exact", exact));
        assert_eq!(report.verdict, Verdict::Invalid, "{level}");
        (report.anomaly_types().map(str::to_owned).collect::<Vec<_>>(), report.is_partial)
    };
    assert_eq!(judged(fractured, "serializable", "limited"), (vec!["G-single-item".to_owned()], false));
    for level in ["read-atomic", "snapshot-isolation", "serializable"] {
        assert_eq!(judged(&both, level, "limited"), (vec!["G1a".to_owned()], true), "{level}");
    }
    // With `exact` set to `no`, no search was skipped, so the report is not partial.
    assert!(!judged(&both, "serializable", "no").1);
}

/// Whichever transaction wrote 1, it is not the last value that the reader itself read or wrote.
#[test]
fn a_read_after_an_own_write_is_wrong_whoever_wrote_the_value_twice() {
    let op = |mops: &str| {
        format!("{{:process 0, :type :invoke, :value [{mops}]}} {{:process 0, :type :ok, :value [{mops}]}}\n")
    };
    let cases = [
        ("[:w :x 2] [:r :x 1]", Verdict::Invalid),
        ("[:r :x 2] [:r :x 1]", Verdict::Invalid),
        // The value that was written twice may come from another transaction, but equals the reader's own write.
        ("[:w :x 1] [:r :x 1]", Verdict::Unknown),
        ("[:r :x 1]", Verdict::Unknown),
    ];
    for (last, verdict) in cases {
        let text = op("[:w :x 1]") + &op("[:w :x 1]") + &op(last);
        let history = History::parse(&text).unwrap();
        let report = RwRegister::default().check(&history).unwrap();
        assert_eq!(report.verdict, verdict, "{text}: {report:#?}");
        let internal = if verdict == Verdict::Invalid { vec!["internal"] } else { vec![] };
        assert_eq!(
            report.anomaly_types().filter(|name| *name != "empty-transaction-graph").collect::<Vec<_>>(),
            internal
        );
        for witness in report.anomaly("internal").iter().flat_map(|anomaly| &anomaly.witnesses) {
            assert_eq!(witness.ops[0].value.to_string(), format!("[{last}]"));
            assert!(witness.explanation.contains("T1 read 1 in key :x"), "{}", witness.explanation);
        }
    }
}
