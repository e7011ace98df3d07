//! Tests what unhandled-exceptions counts, and how it is reported.

use crate::common::{count, judge, story};
use check_jepsen::unhandled_exceptions::UnhandledExceptions;
use history_core::Verdict;
use std::fmt::Write as _;

const HISTORY: &str = r#"
    {:process 0, :type :invoke, :f :read}
    {:process 0, :type :info, :f :read, :exception {:via [{:type java.net.SocketTimeoutException, :message "Read timed out"} {:type x}]}}
    {:process 1, :type :invoke, :f :write, :value 1}
    {:process 1, :type :info, :f :write, :value 1, :exception {:via [{:type java.net.ConnectException}]}}
    {:process 2, :type :invoke, :f :read}
    {:process 2, :type :info, :f :read, :error :timeout, :exception {:via [{:type java.net.SocketTimeoutException}]}}
    {:process 3, :type :invoke, :f :read}
    {:process 3, :type :info, :f :read, :error [:pg "no such row 5"]}
    {:process 4, :type :invoke, :f :read}
    {:process 4, :type :fail, :f :read, :error [:pg "no such row 6"]}
    {:process 5, :type :invoke, :f :read}
    {:process 5, :type :ok, :f :read, :error :none-of-this-counts}
    {:process :nemesis, :type :info, :f :kill, :exception {:cause "ssh"}}
"#;

#[test]
fn what_a_person_reads() {
    insta::assert_snapshot!(story(&judge(&UnhandledExceptions::default(), &[], HISTORY)));
}

#[test]
fn nothing_ended_says_nothing() {
    let report = judge(&UnhandledExceptions::default(), &[], "{:process 0, :type :invoke, :f :read}");
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("no op that ended"), "{:?}", report.notes);
    let report = judge(&UnhandledExceptions::default(), &[], "{:process 0, :type :ok, :f :read}");
    assert_eq!((report.verdict, count(&report, "exception-count")), (Verdict::Valid, 0));
}

#[test]
fn many_different_errors_stay_countable() {
    let mut text = String::new();
    for process in 0..3_000 {
        _ = writeln!(text, "{{:process {process}, :type :invoke, :f :read}}");
        _ = writeln!(text, "{{:process {process}, :type :fail, :f :read, :error \"line {process}\"}}");
    }
    let report = judge(&UnhandledExceptions::default(), &[], &text);
    assert_eq!((report.notes.len(), count(&report, "error-count")), (17, 3_000));
    assert_eq!(report.notes[16], "2984 ops with other ones are not listed.");
}
