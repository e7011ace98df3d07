//! The evidence that a verdict needs: ops that were understood and observed, in a whole history and by key.

use history_core::{
    Budget, Checker, Compose, Coverage, Expected, History, HistoryError, Keyed, Op, OpKind, OpUse, OptionError,
    OptionSpec, Options, Reader, Report, Run, Verdict,
};
use std::ops::ControlFlow;

/// A checker that rejects ops of its function with the value 0.
#[derive(Clone, Copy)]
struct NoZero(&'static str);

struct NoZeroRun {
    f: &'static str,
    verdict: Verdict,
    coverage: Coverage,
}

const EXPECTED: Expected = Expected { ops: "numbers", observation: "number" };

impl Checker for NoZero {
    fn name(&self) -> &'static str {
        self.0
    }

    fn summary(&self) -> &'static str {
        "No op shows 0."
    }

    fn options(&self) -> &[OptionSpec] {
        &[]
    }

    fn start(&self, _: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(NoZeroRun { f: self.0, verdict: Verdict::Valid, coverage: Coverage::default() }))
    }
}

impl Run for NoZeroRun {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        let op_use = match op.kind {
            _ if op.f != Some(self.f) => OpUse::PassedOver,
            OpKind::Ok => OpUse::Observed,
            _ => OpUse::Understood,
        };
        self.coverage.count(op, op_use);
        if op_use == OpUse::Observed && op.value.as_int() == Some(0) {
            self.verdict = Verdict::Invalid;
        }
        Ok(ControlFlow::Continue(()))
    }

    fn finish(self: Box<Self>, _: &Budget) -> Result<Report, HistoryError> {
        let mut report = Report::new(self.f, self.verdict);
        self.coverage.conclude(&EXPECTED, &mut report);
        Ok(report)
    }
}

fn judge(run: Box<dyn Run + '_>, text: &str) -> Report {
    history_core::check(run, &mut Reader::new(text.as_bytes()), &Budget::default()).unwrap()
}

fn keyed(checker: &dyn Checker, text: &str) -> Report {
    judge(Box::new(Keyed::start(checker, &Options::new()).unwrap()), text)
}

/// An operation on a key, by a process that has no other.
fn op(process: u64, f: &str, key: u64, kind: &str, value: u64) -> String {
    format!(
        "{{:process {process}, :type :invoke, :f :{f}, :value [{key} nil]}} \
         {{:process {process}, :type :{kind}, :f :{f}, :value [{key} {value}]}}\n"
    )
}

fn count(report: &Report, name: &str) -> Option<u64> {
    report.counts.iter().find(|(known, _)| known == name).map(|(_, count)| *count)
}

#[test]
fn keys_that_hold_only_crashed_ops_do_not_spoil_a_thousand_others() {
    let text: String = (0..1000).map(|key| op(key, "r", key, if key % 500 == 7 { "info" } else { "ok" }, 1)).collect();
    let report = keyed(&NoZero("r"), &text);
    assert_eq!(report.verdict, Verdict::Valid);
    assert_eq!(
        report.notes,
        [
            "The verdict covers 998 of 1000 keys. Key 7 and 1 more: The history contains no number, so there was nothing to check."
        ]
    );
    assert_eq!((count(&report, "unknown-key-count"), count(&report, "observed-count")), (Some(2), Some(998)));
    let listed: Vec<String> = report.keys.iter().map(|key| format!("{} {}", key.key, key.verdict.name())).collect();
    assert_eq!(listed, ["7 unknown", "507 unknown"]);

    // Without another key the verdict is unknown; an invalid key decides.
    let crashed = [op(0, "r", 3, "info", 1), op(1, "r", 4, "fail", 1)].concat();
    let report = keyed(&NoZero("r"), &crashed);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert_eq!(report.notes, ["Every key: The history contains no number, so there was nothing to check."]);
    assert_eq!(keyed(&NoZero("r"), &(crashed + &op(2, "r", 5, "ok", 0))).verdict, Verdict::Invalid);
    assert_eq!(keyed(&NoZero("r"), "[]").verdict, Verdict::Unknown);
}

#[test]
fn a_key_whose_ops_were_passed_over_spoils_the_verdict() {
    let report = keyed(&NoZero("r"), &[op(0, "r", 3, "ok", 1), op(1, "frob", 4, "info", 1)].concat());
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("Key 4: r supports none of the 2 client ops"), "{:?}", report.notes);
}

#[test]
fn each_of_several_checkers_has_its_own_keys() {
    let both = Compose::new(vec![Box::new(NoZero("r")), Box::new(NoZero("s"))]).unwrap();
    let verdicts = |text: &str| {
        let report = keyed(&both, text);
        let of = report.checkers.iter().map(|report| report.verdict).collect::<Vec<_>>();
        (report.verdict, of)
    };
    let (valid, unknown) = (Verdict::Valid, Verdict::Unknown);
    // Both functions occur on each key, so each checker ignores half of the ops. An op of r is no observation of key 4
    // for the checker of s.
    let all = [op(0, "r", 3, "ok", 1), op(0, "s", 3, "ok", 1)].concat();
    assert_eq!(verdicts(&all), (valid, vec![valid, valid]));
    assert_eq!(verdicts(&(all + &op(0, "r", 4, "ok", 1))), (unknown, vec![valid, unknown]));
    // With one checker, key 4 is omitted.
    let one = Compose::new(vec![Box::new(NoZero("r"))]).unwrap();
    let report = keyed(&one, &[op(0, "r", 3, "ok", 1), op(1, "r", 4, "info", 1)].concat());
    assert_eq!((report.verdict, report.checkers[0].verdict), (valid, valid));
    let report = keyed(&one, &op(1, "r", 4, "info", 1));
    assert_eq!((report.verdict, report.checkers[0].verdict), (unknown, unknown));
}

#[test]
fn the_most_frequent_functions_are_named() {
    let mut text = String::new();
    for at in 0..40 {
        text += &format!("{{:process 0, :type :ok, :f :f{at}}}").repeat(if at == 9 { 3 } else { 1 });
    }
    text += "{:process 0, :type :ok} {:process 0, :type :ok}";
    text += &format!("{{:process 0, :type :ok, :f \"{}\"}}", "long\\n".repeat(20)).repeat(5);
    let report = judge(NoZero("r").start(&Options::new()).unwrap(), &text);
    // After 16 functions, further ones are not counted separately.
    assert_eq!(
        report.notes,
        ["r supports none of the 49 client ops. It expects numbers. The history contains :f9 (3), :f0 (1), :f1 (1), \
          :f2 (1) and 43 other ops."]
    );
    let long = format!("{{:process 0, :type :ok, :f \"{}\"}}", "long\\n".repeat(20));
    let report = judge(NoZero("r").start(&Options::new()).unwrap(), &(long + "{:process 0, :type :ok}"));
    let name = "long\\n".repeat(8);
    assert!(
        report.notes[0].ends_with(&format!("The history contains :{name}... (1), ops without :f (1).")),
        "{report:?}"
    );
}

#[test]
fn an_unknown_verdict_with_a_reason_keeps_it_and_an_invalid_one_stays() {
    let history = History::parse("{:process 0, :type :invoke, :f :r} {:process 0, :type :fail, :f :r}").unwrap();
    let mut coverage = Coverage::default();
    history.ops().for_each(|op| coverage.count(&op, OpUse::Understood));
    let conclude = |verdict: Verdict, note: &str| {
        let mut report = Report::new("c", verdict);
        report.notes.extend((!note.is_empty()).then(|| note.to_owned()));
        coverage.conclude(&EXPECTED, &mut report);
        (report.verdict, report.notes)
    };
    let nothing = "The history contains no number, so there was nothing to check.".to_owned();
    assert_eq!(conclude(Verdict::Valid, "x"), (Verdict::Unknown, vec!["x".to_owned(), nothing.clone()]));
    assert_eq!(conclude(Verdict::Unknown, "x"), (Verdict::Unknown, vec!["x".to_owned()]));
    assert_eq!(conclude(Verdict::Unknown, ""), (Verdict::Unknown, vec![nothing]));
    assert_eq!(conclude(Verdict::Invalid, ""), (Verdict::Invalid, vec![]));
}
