//! The meaning of operations that are easily misunderstood: one test each.

use check_isolation::Isolation;
use history_core::{Checker, Datum, History, Report, Verdict};

/// The report on successive transactions without invocations: process, type, micro-ops.
fn report(checker: &Isolation, txns: &[(u32, &str, &str)]) -> Report {
    let line = |(process, kind, mops): &(u32, &str, &str)| {
        format!("{{:process {process}, :type :{kind}, :f :txn, :value [{mops}]}}\n")
    };
    checker.check(&History::parse(&txns.iter().map(line).collect::<String>()).unwrap()).unwrap()
}

fn verdict(level: &str, txns: &[(u32, &str, &str)]) -> Verdict {
    report(&Isolation { consistency_models: vec![level.parse().unwrap()], ..Isolation::default() }, txns).verdict
}

#[test]
fn aborted_reads_are_those_of_committed_transactions() {
    let failed = (0, "fail", "[:w x 1]");
    let all = report(&Isolation::default(), &[failed, (1, "ok", "[:r x 1]")]);
    assert_eq!(all.anomaly_types().collect::<Vec<_>>(), ["G1a"]);
    // The reads of a transaction with an unknown outcome are unknown, and a failed transaction has none.
    let unknown = [failed, (1, "info", "[:r x 1] [:w y 1]"), (2, "ok", "[:r y 1]")];
    assert_eq!(verdict("strict-serializable", &unknown), Verdict::Valid);
    assert_eq!(
        verdict("strict-serializable", &[failed, (1, "fail", "[:r x 1]"), (2, "ok", "[:r y nil]")]),
        Verdict::Valid
    );
}

#[test]
fn unknown_transactions_happened_as_a_whole_once_one_of_their_writes_was_read() {
    let unknown = (0, "info", "[:w x 1] [:w y 1]");
    assert_eq!(verdict("strict-serializable", &[unknown, (1, "ok", "[:r x nil] [:r y nil]")]), Verdict::Valid);
    assert_eq!(verdict("read-atomic", &[unknown, (1, "ok", "[:r x 1] [:r y nil]")]), Verdict::Invalid);
    // They may take effect at any later time, also in real time.
    let later = [unknown, (1, "ok", "[:r x nil]"), (1, "ok", "[:r x 1]")];
    assert_eq!(verdict("strict-serializable", &later), Verdict::Valid);
}

#[test]
fn blind_writes_are_in_whatever_order_explains_the_reads() {
    let unread = [(0, "ok", "[:w x 1]"), (1, "ok", "[:w x 2]"), (2, "ok", "[:r x 1]")];
    assert_eq!(verdict("strong-session-serializable", &unread), Verdict::Valid);
    // No order explains a read of half of each.
    let halves = [(0, "ok", "[:w x 1] [:w y 1]"), (1, "ok", "[:w x 2] [:w y 2]"), (2, "ok", "[:r x 1] [:r y 2]")];
    assert_eq!(verdict("monotonic-atomic-view", &halves), Verdict::Valid);
    assert_eq!(verdict("read-atomic", &halves), Verdict::Invalid);
}

#[test]
fn initial_values_are_before_all_writes() {
    let zero = Isolation { initial: Datum::Int(0), ..Isolation::default() };
    assert_eq!(report(&zero, &[(0, "ok", "[:r x 0]"), (1, "ok", "[:w x 1]")]).verdict, Verdict::Valid);
    let stale = report(&zero, &[(0, "ok", "[:w x 1]"), (0, "ok", "[:r x 0]")]);
    assert!(stale.not.contains(&"strong-session-read-atomic".into()), "{stale:#?}");
    let nil = report(&zero, &[(0, "ok", "[:w x 1]"), (1, "ok", "[:r x nil]")]);
    assert_eq!(nil.anomaly_types().collect::<Vec<_>>(), ["thin-air-read"]);
    // Also if nothing was written, before or at all.
    let many: Vec<(u32, &str, &str)> = vec![(0, "ok", "[:r x nil]"); 600];
    for txns in [&many[..1], &[&many[..], &[(1, "ok", "[:w y 1]")]].concat()] {
        let nil = report(&zero, txns);
        assert_eq!(nil.anomaly_types().collect::<Vec<_>>(), ["thin-air-read"], "{}", txns.len());
    }
    let written = report(&zero, &[(0, "ok", "[:w x 0]"), (1, "ok", "[:r x 0]")]);
    assert_eq!(written.verdict, Verdict::Unknown);
    assert!(
        written.notes[0].contains("the op at index 0 (line 1): [:w x 0] writes the initial value"),
        "{:?}",
        written.notes
    );
}

#[test]
fn an_aborted_read_is_certain_only_if_no_other_op_may_have_written_the_value() {
    for [write, read] in [["[:w x 1]", "[:r x 1]"], ["[:append x 1]", "[:r x [1]]"]] {
        let op =
            |process: &str, kind: &str, value: &str| format!("{{{process} :type :{kind}, :f :txn, :value {value}}}\n");
        let [writes, reads] = [write, read].map(|mop| format!("[{mop}]"));
        let failed = op(":process 0", "invoke", &writes) + &op(":process 0", "fail", &writes);
        let seen = op(":process 1", "invoke", &reads) + &op(":process 1", "ok", &reads);
        let check = |text: &str| Isolation::default().check(&History::parse(text).unwrap()).unwrap();
        let aborted = check(&format!("{failed}{seen}"));
        assert_eq!(aborted.anomaly_types().collect::<Vec<_>>(), ["G1a"]);
        let other_micro_ops = op(":process 0", "invoke", &writes) + &op(":process 0", "fail", "[]");
        let aborted = check(&format!("{other_micro_ops}{seen}"));
        assert_eq!(aborted.anomaly_types().collect::<Vec<_>>(), ["G1a"]);
        let nobody = op("", "invoke", &writes);
        let nameless = check(&format!("{nobody}{nobody}{}{seen}", op("", "fail", &writes)));
        assert_eq!(nameless.verdict, Verdict::Unknown, "{:?}", nameless.anomalies);
    }
}

/// A value that was written twice proves nothing; one that was written once proves the same as without it.
#[test]
fn a_violation_stays_one_beside_a_value_that_was_written_twice() {
    let wrong = |aborted: &str, read: &str, again: [&str; 2]| {
        let [write, twice] = again;
        let txns = [(0, "fail", aborted), (0, "ok", read), (0, "ok", write), (1, "ok", write), (1, "ok", twice)];
        let report = report(&Isolation::default(), &txns);
        (report.verdict, report.anomaly_types().map(str::to_owned).collect::<Vec<_>>().join(" "))
    };
    let is = |anomaly: &str| (Verdict::Invalid, anomaly.to_owned());
    assert_eq!(wrong("[:w x 1]", "[:r x 1]", ["[:w y 5]", "[:r y 5]"]), is("G1a"));
    assert_eq!(wrong("[:append x 1]", "[:r x [1]]", ["[:append y 5]", "[:r y [5 5]]"]), is("G1a"));
    assert_eq!(wrong("[:w z 1]", "[:r x 1] [:w x 1]", ["[:w y 5]", "[:r y 5]"]), is("future-read"));
    // The failed transaction and another one wrote it.
    assert_eq!(wrong("[:w x 5]", "[:r x 5]", ["[:w x 5]", "[:r x 5]"]).0, Verdict::Unknown);
}

#[test]
fn a_value_that_was_written_twice_and_read_is_unknown_with_the_places() {
    for kind in ["ok", "fail", "info"] {
        let twice = [(0, "ok", "[:w x 1]"), (1, kind, "[:w x 1]"), (2, "ok", "[:r x 1]")];
        let report = report(&Isolation::default(), &twice);
        assert_eq!(report.verdict, Verdict::Unknown, "{kind}");
        let note = "No verdict, because 1 was written to key x twice, at index 0 and index 1, and the read at index 2 may have seen either.";
        assert!(report.notes.contains(&note.to_owned()), "{kind}: {:?}", report.notes);
    }
    // In another key it is another value; and if it was not read it does not matter.
    let apart = [(0, "ok", "[:w x 1] [:w z 5]"), (1, "ok", "[:w y 1] [:w z 5]"), (2, "ok", "[:r x 1] [:r y 1]")];
    assert_eq!(verdict("strong-session-serializable", &apart), Verdict::Valid);
}

#[test]
fn a_client_that_goes_on_under_another_number_begins_another_session() {
    let (write, end) = ((0, "ok", "[:w x 1]"), (0, "info", "[:w y 1]"));
    assert_eq!(verdict("strong-session-serializable", &[write, end, (7, "ok", "[:r x nil]")]), Verdict::Valid);
    assert_eq!(verdict("strong-session-serializable", &[write, (0, "ok", "[:r x nil]")]), Verdict::Invalid);
    // The transaction that ended the session follows its earlier ones, as a reader of its write observes.
    let seen = [write, end, (7, "ok", "[:r y 1] [:r x nil]")];
    assert_eq!(verdict("strong-session-read-atomic", &seen), Verdict::Valid);
    assert_eq!(verdict("strong-session-causal-cerone", &seen), Verdict::Invalid);
    assert_eq!(verdict("serializable", &seen), Verdict::Valid);
}

#[test]
fn a_result_that_is_missing_is_noted() {
    let text = "{:process 0, :type :invoke, :value [[:w :x 1]]} {:process 0, :type :ok, :value [[:w :x 1]]}
                {:process 1, :type :invoke, :value [[:r :x nil]]} {:process 1, :type :ok, :value [[:r :x 1]]}
                {:process 1, :type :invoke, :value [[:r :x nil]]} {:process 1, :type :ok}";
    let note = "1 ok transaction (at index 5) does not say all that it read: the rest is unknown, and was not checked.";
    for text in [text.to_owned(), text.replace(":type :ok}", ":type :ok, :value []}")] {
        let report = Isolation::default().check(&History::parse(&text).unwrap()).unwrap();
        assert_eq!(report.verdict, Verdict::Valid);
        assert!(report.notes.iter().any(|said| said == note), "{:?}", report.notes);
    }
}

/// An aborted read rules out every level, so no other anomaly is searched for.
#[test]
fn what_ends_the_search_leaves_the_rest_open() {
    let fractured =
        "{:process 5, :type :ok, :value [[:w :p 1] [:w :q 1]]} {:process 6, :type :ok, :value [[:w :p 2] [:w :q 2]]}
                     {:process 7, :type :ok, :value [[:r :p 1] [:r :q 2]]} ";
    let aborted = "{:process 3, :type :fail, :value [[:w :y 1]]} {:process 4, :type :ok, :value [[:r :y 1]]} ";
    for (text, types, is_partial) in
        [(fractured.to_owned(), vec!["G-single-item"], false), (format!("{aborted}{fractured}"), vec!["G1a"], true)]
    {
        let checker = Isolation { consistency_models: vec!["serializable".parse().unwrap()], ..Isolation::default() };
        let report = checker.check(&History::parse(&text).unwrap()).unwrap();
        assert_eq!((report.verdict, report.is_partial), (Verdict::Invalid, is_partial), "{report:#?}");
        assert_eq!(report.anomaly_types().collect::<Vec<_>>(), types);
    }
}
