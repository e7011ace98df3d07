//! Keys checked separately: the assignment of ops to keys, and the combined report.

use history_core::{
    Anomaly, Artifact, Budget, Checker, Datum, Decision, HistoryError, Keyed, KeyedAuto, Op, OptionError, OptionSpec,
    Options, Pair, Reader, Report, Run, Verdict, Witness,
};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

/// A checker that records the ops of each run, by number of the run, and obeys their values: `:bad` is invalid,
/// `:unclear` unknown, `:break` ends the run, `:error` and `:late-error` are errors.
#[derive(Default, Clone)]
struct Spy {
    seen: Arc<Mutex<Vec<Vec<String>>>>,
}

struct SpyRun {
    spy: Spy,
    at: usize,
    verdict: Verdict,
    late_error: bool,
}

impl Checker for Spy {
    fn name(&self) -> &'static str {
        "spy"
    }

    fn summary(&self) -> &'static str {
        "Writes down what it sees."
    }

    fn options(&self) -> &[OptionSpec] {
        &[]
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        if options.flag("wrong") {
            return Err(OptionError::new("wrong", "is wrong"));
        }
        Ok(Box::new(SpyRun { spy: self.clone(), at: usize::MAX, verdict: Verdict::Valid, late_error: false }))
    }
}

impl Run for SpyRun {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        let mut seen = self.spy.seen.lock().unwrap();
        if self.at == usize::MAX {
            self.at = seen.len();
            seen.push(Vec::new());
        }
        let slot = match op.pair {
            Pair::Alone => "-".to_owned(),
            Pair::Invokes { slot } | Pair::Completes { slot, .. } => slot.to_string(),
        };
        seen[self.at].push(format!("{} {} {} {slot}", op.index, op.kind.name(), op.value));
        match op.value.as_name() {
            Some("bad") => self.verdict = Verdict::Invalid,
            Some("unclear") => self.verdict = self.verdict.and(Verdict::Unknown),
            Some("break") => return Ok(ControlFlow::Break(())),
            Some("error") => return Err(HistoryError::new(history_core::ErrorKind::Unexpected, "no op for a spy")),
            Some("late-error") => self.late_error = true,
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    fn finish(self: Box<Self>, _: &Budget) -> Result<Report, HistoryError> {
        if self.late_error {
            return Err(HistoryError::new(history_core::ErrorKind::Unexpected, "no history for a spy"));
        }
        let seen = self.spy.seen.lock().unwrap().get(self.at).map_or(0, Vec::len);
        let mut report = Report::new("spy", self.verdict);
        // The keys of the history use the second name, too.
        report.counts.extend([("seen".into(), seen as u64), ("key-count".into(), 99)]);
        match self.verdict {
            Verdict::Valid => {}
            Verdict::Unknown => {
                report.notes.push("It was unclear.".into());
                report.not_checked = vec!["good".into(), "better".into()];
            }
            Verdict::Invalid => {
                let witness = Witness::new(Vec::new(), "It was bad.");
                report.anomalies.push(Anomaly { name: "badness".into(), count: 2, witnesses: vec![witness] });
                report.artifacts.push(Artifact { path: "a/b.txt".into(), content: Vec::new() });
                report.not.push("good".into());
            }
        }
        Ok(report)
    }
}

fn keyed(text: &str) -> (Result<Report, HistoryError>, Vec<Vec<String>>) {
    let spy = Spy::default();
    let run = Keyed::start(&spy, &Options::new()).unwrap();
    let report = history_core::check(Box::new(run), &mut Reader::new(text.as_bytes()), &Budget::default());
    let seen = spy.seen.lock().unwrap().clone();
    (report, seen)
}

/// An invocation and its completion, with these values.
fn op(process: i64, value: &str, kind: &str, result: &str) -> String {
    format!(
        "{{:process {process}, :type :invoke, :f :w, :value {value}}}\n\
         {{:process {process}, :type :{kind}, :f :w, :value {result}}}\n"
    )
}

#[test]
fn each_key_sees_its_own_ops_with_their_inner_values() {
    let text = "{:process 0, :type :invoke, :f :w, :value [:x 1]}
        {:process 1, :type :invoke, :f :w, :value #jepsen.independent/tuple [5 [1 2]]}
        {:process :nemesis, :type :info, :f :kill, :value [:x 9]}
        {:process 0, :type :ok, :f :w, :value (:x 2)}
        {:process 0, :type :invoke, :f :w, :value [5 nil]}
        {:process 1, :type :fail, :f :w, :value nil}
        {:process 2, :type :invoke, :f :w, :value [:x 3]}
        {:process 2, :type :info, :f :w, :value :timeout}
        {:process 3, :type :invoke, :f :w, :value [:x 4]}
        {:process 3, :type :info, :f :w, :value [:closed \"n1\"]}
        {:process 4, :type :invoke, :f :w, :value [\"x\" 4]}
        {:process 5, :type :invoke, :f :w, :value [[1 (2)] 4]}
        {:process 6, :type :invoke, :f :w, :value [(1 [2]) 4]}
        {:process 0, :type :ok, :f :w, :value [5 :r]}";
    let (report, seen) = keyed(text);
    let report = report.unwrap();
    assert_eq!(
        seen,
        [
            vec!["0 invoke 1 0", "3 ok 2 0", "6 invoke 3 1", "7 info nil 1", "8 invoke 4 1", "9 info nil 1"],
            vec!["1 invoke [1 2] 1", "4 invoke nil 0", "5 fail nil 1", "13 ok :r 0"],
            vec!["10 invoke 4 1"],
            vec!["11 invoke 4 2", "12 invoke 4 3"],
        ]
    );
    let keys: Vec<String> = report.keys.iter().map(|key| key.key.to_string()).collect();
    assert_eq!(keys, [":x", "5", "\"x\"", "[1 (2)]"]);
    assert_eq!((report.verdict, report.checker.as_ref()), (Verdict::Valid, "spy"));
    let counts: Vec<(&str, u64)> = report.counts.iter().map(|(name, count)| (name.as_ref(), *count)).collect();
    assert_eq!(
        counts,
        [("seen", 13), ("key-count", 4), ("valid-key-count", 4), ("unknown-key-count", 0), ("invalid-key-count", 0)]
    );
}

#[test]
fn a_field_is_a_key_too() {
    let text = "{:process 0, :type :invoke, :f :w, :key 7, :value [:x 1]}
        {:process 0, :type :ok, :f :w, :value [:x 1]}
        {:process 0, :type :invoke, :f :w, :key 8, :value nil}
        {:process 0, :type :info, :f :w, :key 8, :value :gone}";
    let (report, seen) = keyed(text);
    assert_eq!(report.unwrap().verdict, Verdict::Valid);
    assert_eq!(seen, [vec!["0 invoke [:x 1] 0", "1 ok [:x 1] 0"], vec!["2 invoke nil 0", "3 info :gone 0"]]);
}

#[test]
fn an_op_without_a_key_makes_the_verdict_unknown() {
    let good = op(0, "[:x 1]", "ok", "[:x 1]");
    let bad = op(0, "[:x :bad]", "ok", "[:x :bad]");
    for (text, reason) in [
        (op(1, "3", "ok", "3"), "the op has no key; expected a value of the form [key value]"),
        (op(1, "nil", "ok", "[:x 3]"), "the op has no key; expected a value of the form [key value]"),
        (op(1, "[1 2 3]", "ok", "nil"), "the op has no key; expected a value of the form [key value]"),
        (op(1, "{:x 1}", "ok", "nil"), "the op has no key; expected a value of the form [key value]"),
    ] {
        let report = keyed(&format!("{good}{bad}{text}")).0.unwrap();
        assert_eq!(report.verdict, Verdict::Unknown);
        let note = format!("No verdict by key, because of the op at index 4 (line 5): {reason}.");
        assert_eq!(report.notes, [note]);
    }
    let report = keyed(&op(1, "[:x 1]", "ok", "[:y 3]")).0.unwrap();
    assert!(report.notes[0].ends_with("the completion has the key :y, its invocation the key :x."), "{report:?}");
    let other = op(0, "[:y 1]", "ok", "[:y 1]");
    let report = keyed(&(other.clone() + &op(1, "[:x 1]", "ok", "[:y 3]"))).0.unwrap();
    assert!(report.notes[0].ends_with("the completion has the key :y, its invocation the key :x."), "{report:?}");
    let (_, seen) = keyed(&(other + &op(1, "[:x 1]", "info", "[:y 3]")));
    assert_eq!(seen[1], ["2 invoke 1 0", "3 info nil 0"], "an error that looks like another key");
    let report = keyed(&op(1, "[:x 1]", "ok", "3")).0.unwrap();
    assert_eq!(report.verdict, Verdict::Unknown, "a result without a key: {report:?}");
    let field = "{:process 0, :type :invoke, :key 1} {:process 1, :type :invoke, :key nil, :value [1 2]}";
    assert!(keyed(field).0.unwrap().notes[0].ends_with("expected a field :key."));
}

#[test]
fn an_error_names_its_key() {
    let error = keyed(&(op(0, "[:x 1]", "ok", "[:x 1]") + &op(0, "[:y 1]", "ok", "[:y :error]"))).0.unwrap_err();
    assert_eq!(error.to_string(), "line 4, column 1: of key :y: no op for a spy");
    let late = op(0, "[:x 1]", "ok", "[:x 1]") + &op(0, "[7 :late-error]", "ok", "[7 1]");
    assert_eq!(keyed(&late).0.unwrap_err().to_string(), "of key 7: no history for a spy");
    assert!(Keyed::start(&Spy::default(), &Options::new().with("wrong", "true")).is_err());
}

#[test]
fn a_key_that_is_settled_sees_no_more() {
    let text = op(0, "[:x :break]", "ok", "[:x 1]") + &op(0, "[:y 1]", "ok", "[:y 2]");
    assert_eq!(keyed(&text).1, [vec!["0 invoke :break 0"], vec!["2 invoke 1 0", "3 ok 2 0"]]);
}

#[test]
fn a_history_without_ops_is_judged_as_the_checker_does() {
    let report = keyed("{:process :nemesis, :type :info, :value [1 2]}").0.unwrap();
    assert_eq!(report.verdict, Verdict::Valid);
    assert_eq!(report.keys, []);
}

#[test]
fn reports_are_merged() {
    let mut text = String::new();
    for (i, value) in ["1", ":bad", ":unclear", ":bad"].iter().enumerate() {
        text += &op(0, &format!("[{i} {value}]"), "ok", &format!("[{i} 1]"));
    }
    let report = keyed(&text).0.unwrap();
    assert_eq!(report.verdict, Verdict::Invalid);
    let verdicts: Vec<Verdict> = report.keys.iter().map(|key| key.verdict).collect();
    assert_eq!(verdicts, [Verdict::Valid, Verdict::Invalid, Verdict::Unknown, Verdict::Invalid]);
    assert_eq!(report.keys[1].anomaly_types, ["badness"]);
    assert_eq!(report.keys[2].notes, ["It was unclear."]);
    assert_eq!(report.notes, ["Key 2: It was unclear."]);
    assert_eq!(report.not, ["good"]);
    let badness = &report.anomalies[0];
    assert_eq!((badness.count, badness.witnesses.len()), (4, 2));
    assert_eq!(badness.witnesses[1].explanation, "In the history of key 3:\nIt was bad.");
    assert_eq!(badness.witnesses[1].facts, [("independent-key".into(), Datum::from(3))]);
    let paths: Vec<&str> = report.artifacts.iter().map(|artifact| artifact.path.as_str()).collect();
    assert_eq!(paths, ["independent/1/a/b.txt", "independent/3/a/b.txt"]);
}

#[test]
fn a_report_on_many_keys_stays_small_and_says_what_is_left_out() {
    let mut text = String::new();
    // Enough keys for several threads.
    for i in 0..11_000 {
        let value = if i % 2 == 0 { "1" } else { ":bad" };
        text += &op(0, &format!("[\"k{i}/\" {value}]"), "ok", &format!("[\"k{i}/\" 1]"));
    }
    let report = keyed(&text).0.unwrap();
    assert_eq!(report.keys.len(), 1000);
    for (at, key) in report.keys.iter().enumerate() {
        assert_eq!(key.key.to_string(), format!("\"k{}/\"", 2 * at + 1), "in the order of the history");
    }
    assert_eq!((report.anomalies[0].count, report.anomalies[0].witnesses.len()), (11_000, 8));
    assert_eq!(report.artifacts.len(), 16);
    assert_eq!(report.artifacts[0].path, "independent/\"k1_\"/a/b.txt");
    assert_eq!(
        report.notes,
        ["4500 more keys that are not valid were omitted.", "5484 more files about single keys were omitted."]
    );
    assert!(report.counts.contains(&("invalid-key-count".into(), 5500)));
}

/// The report of a run that detects keys, and its decisions.
fn auto(text: &str) -> (Report, Vec<Decision>) {
    let mut told = Vec::new();
    let spy = Spy::default();
    let run = KeyedAuto::start(&spy, &Options::new(), |decision| told.push(decision.clone())).unwrap();
    let report = history_core::check(Box::new(run), &mut Reader::new(text.as_bytes()), &Budget::default());
    (report.unwrap(), told)
}

#[test]
fn auto_splits_only_what_looks_like_ops_on_one_key() {
    let one = |value: &str, f: &str| format!("{{:process 0, :type :invoke, :f :{f}, :value {value}}}\n");
    let keyed = |text: &str| !auto(text).0.keys.is_empty();
    assert!(keyed(&one("[1 nil]", "read")));
    assert!(keyed(&one("[:x [1 2]]", "cas")));
    assert!(keyed(&one("[1 nil]", "cas")));
    assert!(keyed(&one("[1 [[:r 2 nil] [:w 3 4]]]", "txn")));
    assert!(keyed(&one("nil, :key 3", "get")));
    assert!(!keyed(&one("[1 2]", "cas")), "old and new");
    assert!(!keyed(&one("[[:r 1 nil] [:w 2 3]]", "txn")), "two micro-ops");
    assert!(!keyed(&one("[[:r 1 nil] [:w 2 3]], :key 1", "txn")), "micro-ops have keys of their own");
    assert!(!keyed(&one("nil", "read")));
    assert!(!keyed(&one("5", "write")));
    assert!(!keyed(&(one("[1 2]", "write") + "{:process 1, :type :invoke, :f :read, :value nil}")));
    assert!(!keyed(&op(0, "[1 nil]", "ok", "7")), "a result without a key");
    assert!(keyed(&op(0, "[1 nil]", "info", ":timeout")));
    assert!(keyed(&one("[1.5 nil]", "read")), "a key may be any number");
    // The value of a failed op is a reason, not a value.
    let cas = |kind: &str, value: &str| {
        let invocation = one("[1 [7 8]]", "cas");
        format!("{invocation}{{:process 0, :type :{kind}, :f :cas, :value {value}}}\n")
    };
    for kind in ["fail", "info"] {
        for value in ["[1 :precondition-failed]", "[7 8]", "[[7 8] nil]", "[]", ":timeout"] {
            assert!(keyed(&cas(kind, value)), "{kind} {value}");
        }
    }
    assert!(!keyed(&cas("ok", "[7 8]")));
    // A set that was read may contain lists.
    let read = one("nil, :key 1", "read") + "{:process 0, :type :ok, :f :read, :value [[0 0]], :key 1}";
    assert!(keyed(&read));
    assert!(!keyed("{:process 0, :type :ok, :f :read, :value [1 2]}"), "without invocations nothing is known");
    assert!(!keyed("{:process :nemesis, :type :info, :f :read, :value [1 2]}"));
}

fn one_txn() -> String {
    "{:process 0, :type :invoke, :f :txn, :value [[:w 1 2]], :key 1}".to_owned()
}

#[test]
fn auto_says_what_it_decided_and_why() {
    let (report, told) = auto(&(op(0, "[1 2]", "ok", "[1 2]") + &op(0, ":bad", "ok", "nil")));
    assert_eq!(report.verdict, Verdict::Invalid, "the whole saw all ops");
    assert_eq!(told.len(), 1);
    assert_eq!(
        told[0].to_string(),
        "the history is checked as a whole: the op at index 2 (line 3) does not have exactly one key"
    );
    let (_, told) = auto(&op(0, "[1 2]", "ok", "[1 2]"));
    let said = "each key is checked separately: all 1 invocations have a value of the form [key value]";
    assert_eq!(told[0].to_string(), said);
    let (_, told) = auto(&one_txn());
    let said = "the history is checked as a whole: the op at index 0 (line 1) may be a transaction, whose \
                micro-operations have keys of their own; --keyed checks each key separately";
    assert_eq!(told[0].to_string(), said);
    let (_, told) = auto("{:process :nemesis, :type :info}");
    assert_eq!(told[0].to_string(), "the history is checked as a whole: nothing was invoked");
}

#[test]
fn an_op_that_comes_late_without_a_key_is_no_verdict() {
    let mut text = op(0, "[1 :bad]", "ok", "[1 2]").repeat(300);
    let (report, told) = auto(&text);
    assert_eq!((report.verdict, told.len()), (Verdict::Invalid, 1));
    assert!(matches!(told[0], Decision::Keyed { invocations: 256, .. }));
    text += &op(0, "nil", "ok", "nil");
    let (report, _) = auto(&text);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("at index 600 (line 601): the op has no key"), "{report:?}");
}

#[test]
fn what_one_way_of_two_says_early_is_told_if_it_is_taken() {
    // The run on the whole history receives the value :error within a pair; the run on the key receives it alone.
    let text = op(0, "[1 :error]", "ok", "[1 2]");
    let run = |text: &str| {
        let spy = Spy::default();
        let run = KeyedAuto::start(&spy, &Options::new(), |_| ()).unwrap();
        history_core::check(Box::new(run), &mut Reader::new(text.as_bytes()), &Budget::default())
    };
    assert_eq!(run(&text).unwrap_err().to_string(), "line 1, column 1: of key 1: no op for a spy");
    assert!(run(&(text.clone() + &op(1, "nil", "ok", "nil"))).is_ok());
    let late = text + &op(0, "[2 3]", "ok", "[2 3]").repeat(300);
    assert_eq!(run(&late).unwrap_err().to_string(), "line 1, column 1: of key 1: no op for a spy");
}

#[test]
fn kinds_are_as_they_were() {
    // A spy that records kinds. Only the value of the op changes.
    let (_, seen) =
        keyed("{:process 0, :type :invoke, :value [1 2], :index 5} {:process 0, :type :fail, :index 9, :value [1 2]}");
    assert_eq!(seen, [["5 invoke 2 0", "9 fail 2 0"]]);
}

#[test]
fn models_are_not_checked_if_some_key_leaves_them_open_and_none_rules_them_out() {
    let of = |value: &str| op(0, &format!("[{value} :w]"), "ok", &format!("[{value} :w]"));
    let unclear = op(1, "[:u :unclear]", "ok", "[:u :unclear]");
    let (report, _) = keyed(&(of(":x") + &unclear));
    assert_eq!(report.unwrap().not_checked, ["better", "good"]);
    let (report, _) = keyed(&(of(":x") + &unclear + &op(2, "[:b :bad]", "ok", "[:b :bad]")));
    let report = report.unwrap();
    assert_eq!((report.not, report.not_checked), (vec!["good".into()], vec!["better".into()]));
    assert_eq!(keyed(&of(":x")).0.unwrap().not_checked, [""; 0]);
}
