//! Operations that may have happened and do not say what they changed: no violation is certain beside them.

use history_core::{Budget, Checker, Options, Reader, Report, Verdict};

/// Judges a history, as a checker of whole histories or one that watches does.
pub(crate) type Judge = fn(&dyn Checker, &str) -> Report;

pub(crate) fn judge(checker: &dyn Checker, text: &str) -> Report {
    let run = checker.start(&Options::new()).unwrap();
    history_core::check(run, &mut Reader::new(text.as_bytes()), &Budget::default()).unwrap()
}

/// A transaction without micro-ops may have written what another one read, unless it failed, or says what it did.
pub(crate) fn assert_doubts_what_hidden_transactions_explain(checkers: &[Box<dyn Checker>], judge: Judge) {
    let checker = checkers.iter().find(|checker| checker.name() == "multi-register").unwrap();
    let invoked = "{:process 0, :type :invoke, :f :txn}";
    let ended = |kind: &str, value: &str| format!("{{:process 0, :type :{kind}, :f :txn, :value {value}}}");
    let read = "{:process 1, :type :invoke, :f :txn, :value [[:read :x nil]]}
        {:process 1, :type :ok, :f :txn, :value [[:read :x 5]]}";
    let texts = [
        (format!("{invoked} {read}"), Verdict::Unknown),
        (format!("{invoked} {} {read}", ended("info", "nil")), Verdict::Unknown),
        (format!("{invoked} {} {read}", ended("info", "[[:write :x 5]]")), Verdict::Unknown),
        (format!("{invoked} {} {read}", ended("ok", "nil")), Verdict::Unknown),
        (format!("{invoked} {read} {}", ended("info", "nil")), Verdict::Unknown),
        (format!("{invoked} {} {read}", ended("fail", "nil")), Verdict::Invalid),
        (format!("{invoked} {read} {}", ended("fail", "nil")), Verdict::Invalid),
        (format!("{invoked} {} {read}", ended("ok", "[[:read :x nil]]")), Verdict::Invalid),
        (format!("{invoked} {}", read.replace(":x 5", ":x nil")), Verdict::Valid),
    ];
    for (text, expected) in texts {
        // Something that shows that there is a history at all.
        let text = format!(
            "{{:process 2, :type :invoke, :f :txn, :value [[:write :y 1]]}}
             {{:process 2, :type :ok, :f :txn, :value [[:write :y 1]]}}
             {{:process 2, :type :invoke, :f :txn, :value [[:read :y nil]]}}
             {{:process 2, :type :ok, :f :txn, :value [[:read :y 1]]}} {text}"
        );
        let report = judge(checker.as_ref(), &text);
        assert_eq!(report.verdict, expected, "{text}: {:?}", report.notes);
        let is_said = report.notes.iter().any(|note| note.contains("op at index 4: it may have happened"));
        assert_eq!(is_said, expected == Verdict::Unknown, "{text}: {:?}", report.notes);
        assert_eq!(report.anomalies.is_empty(), expected != Verdict::Invalid, "{text}");
    }
}
