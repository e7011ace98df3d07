//! The end of a history of keys: before an op that has no key, and with searches that run in slices.

use history_core::{
    Budget, Checker, Compose, HistoryError, Keyed, KeyedAuto, Op, OptionError, OptionSpec, Options, Reader, Report,
    Run, Searched, Verdict,
};
use std::ops::ControlFlow;

/// A checker that obeys values: `:bad` is invalid whatever follows, `:found` is found to be invalid in the second slice
/// of the search, and the search of `:endless` has no end.
struct Judge(&'static str);

#[derive(Default)]
struct JudgeRun {
    name: &'static str,
    seen: Vec<String>,
    slices: u32,
    is_stopped: bool,
}

impl JudgeRun {
    fn has(&self, value: &str) -> bool {
        self.seen.iter().any(|seen| seen == value)
    }
}

impl Checker for Judge {
    fn name(&self) -> &'static str {
        self.0
    }

    fn summary(&self) -> &'static str {
        "Judges by values."
    }

    fn options(&self) -> &[OptionSpec] {
        &[]
    }

    fn start(&self, _: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(JudgeRun { name: self.0, ..JudgeRun::default() }))
    }
}

impl Run for JudgeRun {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        self.seen.extend(op.value.as_name().map(str::to_owned));
        Ok(ControlFlow::Continue(()))
    }

    fn is_violated(&self) -> bool {
        self.has("bad")
    }

    fn violation(&self) -> Option<Report> {
        self.has("bad").then(|| Report::new(self.name, Verdict::Invalid))
    }

    fn search(&mut self, _: &Budget, slice: u32) -> Searched {
        assert_eq!(slice, self.slices, "one slice after another");
        self.slices += 1;
        match (self.has("found"), slice) {
            (true, 1) => Searched::Invalid,
            (is_found, _) if is_found || self.has("endless") => Searched::More,
            _ => Searched::Done,
        }
    }

    fn stop_search(&mut self) {
        self.is_stopped = true;
    }

    fn finish(self: Box<Self>, _: &Budget) -> Result<Report, HistoryError> {
        let verdict = match (self.has("bad") || self.has("found"), self.is_stopped) {
            (true, _) => Verdict::Invalid,
            (_, true) => Verdict::Unknown,
            _ => Verdict::Valid,
        };
        let mut report = Report::new(self.name, verdict);
        report.counts.push(("slices".into(), self.slices.into()));
        Ok(report)
    }
}

/// Invocations and completions on keys, each with a value.
fn ops(all: &[(&str, &str)]) -> String {
    let op = |(key, value): &(&str, &str)| {
        format!(
            "{{:process 0, :type :invoke, :f :w, :value [{key} {value}]}}\n\
             {{:process 0, :type :ok, :f :w, :value [{key} 1]}}\n"
        )
    };
    all.iter().map(op).collect()
}

const NO_KEY: &str = "{:process 0, :type :invoke, :f :w, :value 3}";

fn keyed(checker: &dyn Checker, text: &str) -> Report {
    let run = Keyed::start(checker, &Options::new()).unwrap();
    history_core::check(Box::new(run), &mut Reader::new(text.as_bytes()), &Budget::default()).unwrap()
}

fn verdicts(report: &Report) -> Vec<Verdict> {
    report.keys.iter().map(|key| key.verdict).collect()
}

#[test]
fn an_op_without_a_key_takes_back_no_violation() {
    let text = ops(&[(":x", "1"), (":y", ":bad")]) + NO_KEY;
    let report = keyed(&Judge("judge"), &text);
    assert_eq!(report.verdict, Verdict::Invalid);
    let note = "The verdict covers only the ops before the op at index 4 (line 5): the op has no key; \
                expected a value of the form [key value].";
    assert_eq!(report.notes, [note]);
    assert_eq!(verdicts(&report), [Verdict::Unknown, Verdict::Invalid]);
    // A violation that is found only at the end of a history may be resolved by later ops.
    let report = keyed(&Judge("judge"), &(ops(&[(":x", ":found")]) + NO_KEY));
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].starts_with("No verdict by key, because of the op at index 2 "));
}

#[test]
fn a_violation_stays_known_while_the_history_goes_on() {
    let text = ops(&[(":y", ":bad")]) + NO_KEY;
    let judge = Judge("judge");
    let mut run = Keyed::start(&judge, &Options::new()).unwrap();
    Reader::new(text.as_bytes()).for_each(|op| run.observe(op)).unwrap();
    assert!(run.is_violated());
    assert!(run.violation().unwrap().notes[0].starts_with("The verdict covers only the ops before the op at index 2 "));
}

#[test]
fn a_history_that_was_only_taken_to_have_keys_may_have_none() {
    let text = ops(&[("1", ":bad"); 300]) + NO_KEY;
    let judge = Judge("judge");
    let mut run = Box::new(KeyedAuto::start(&judge, &Options::new(), |_| ()).unwrap());
    Reader::new(text.as_bytes()).for_each(|op| run.observe(op)).unwrap();
    assert!(!run.is_violated());
    assert_eq!(run.finish(&Budget::default()).unwrap().verdict, Verdict::Unknown);
}

#[test]
fn of_several_checkers_each_says_what_it_knew() {
    let both = Compose::new(vec![Box::new(Judge("a")), Box::new(Judge("b"))]).unwrap();
    let report = keyed(&both, &(ops(&[(":x", "1"), (":y", ":bad")]) + NO_KEY));
    let said: Vec<_> = report.checkers.iter().map(|report| (&*report.checker, report.verdict)).collect();
    assert_eq!(said, [("a", Verdict::Invalid), ("b", Verdict::Invalid)]);
    assert_eq!((report.verdict, report.notes.len()), (Verdict::Invalid, 1));
}

#[test]
fn a_key_that_is_invalid_ends_the_search_of_the_others() {
    let judge = |all: &[(&str, &str)]| {
        let report = keyed(&Judge("judge"), &ops(all));
        let slices = report.counts.iter().find(|(name, _)| name == "slices").map(|(_, count)| *count);
        (verdicts(&report), slices.unwrap())
    };
    use Verdict::{Invalid, Unknown, Valid};
    // Two keys are searched for two slices, the third one for one slice.
    let three = judge(&[("1", ":endless"), ("2", ":found"), ("3", "1")]);
    assert_eq!(three, (vec![Unknown, Invalid, Valid], 5));
    // The last key that is searched continues to its end.
    assert_eq!(judge(&[("1", ":endless"), ("2", "1")]), (vec![Valid, Valid], 2));
    assert_eq!(judge(&[("1", ":endless")]), (vec![Valid], 0));
}
