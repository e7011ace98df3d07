//! Several checkers in one pass: the ops that each receives, the combined report, and checkers that end early.

use history_core::{
    Anomaly, Artifact, Budget, Checker, Compose, ComposeError, HistoryError, Keyed, Op, OptionError, OptionKind,
    OptionSpec, Options, Reader, Report, Run, Verdict, Witness,
};
use std::ops::ControlFlow;

const fn spec(name: &'static str, kind: OptionKind) -> OptionSpec {
    OptionSpec::new(name, kind, "Helps.").with_value_name("X")
}

/// A checker that obeys the values, and reports how many ops it received and with which options. A value `:NAME-ACT` is
/// for the puppet NAME. ACT is `bad`, `unclear`, `enough`, `error` or `late-error`.
struct Puppet(&'static str, &'static [OptionSpec]);

struct PuppetRun {
    report: Report,
    seen: u64,
    late_error: bool,
}

impl Checker for Puppet {
    fn name(&self) -> &str {
        self.0
    }

    fn summary(&self) -> &'static str {
        "Does as it is told."
    }

    fn options(&self) -> &[OptionSpec] {
        self.1
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        if options.text("colour") == Some("blue") {
            return Err(OptionError::new("colour", "blue is not to be had"));
        }
        let mut report = Report::new(self.0, Verdict::Valid);
        report.notes = options.iter().map(|(name, value)| format!("{name} is {value}.")).collect();
        Ok(Box::new(PuppetRun { report, seen: 0, late_error: false }))
    }
}

fn error(message: &str) -> HistoryError {
    HistoryError::new(history_core::ErrorKind::Unexpected, message)
}

impl Run for PuppetRun {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        self.seen += 1;
        let name = op.value.as_name().unwrap_or_default();
        let told = name.strip_prefix(&*self.report.checker).and_then(|rest| rest.strip_prefix('-'));
        match told {
            Some("bad") => self.report.verdict = Verdict::Invalid,
            Some("unclear") => self.report.verdict = self.report.verdict.and(Verdict::Unknown),
            Some("enough") => return Ok(ControlFlow::Break(())),
            Some("error") => return Err(error("no op for a puppet")),
            Some("late-error") => self.late_error = true,
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    fn finish(mut self: Box<Self>, _: &Budget) -> Result<Report, HistoryError> {
        if self.late_error {
            return Err(error("no history for a puppet"));
        }
        self.report.counts.push(("seen".into(), self.seen));
        if self.report.verdict == Verdict::Invalid {
            let witnesses = vec![Witness::new(Vec::new(), "It was bad.")];
            let name = format!("{}-badness", self.report.checker);
            self.report.anomalies.push(Anomaly { name: name.into(), count: 1, witnesses });
            self.report.artifacts.push(Artifact { path: "bad.txt".into(), content: Vec::new() });
        }
        Ok(self.report)
    }
}

const PUPPETS: [&str; 3] = ["a", "b", "c"];

fn composed() -> Compose<'static> {
    Compose::new(PUPPETS.map(|name| Box::new(Puppet(name, &[])) as Box<dyn Checker>).into()).unwrap()
}

/// A history of invocations with these values, one per line.
fn text(values: &[&str]) -> String {
    let op =
        |(process, value): (usize, &&str)| format!("{{:process {process}, :type :invoke, :f :w, :value {value}}}\n");
    values.iter().enumerate().map(op).collect()
}

fn check(checker: &dyn Checker, text: &str) -> Result<Report, HistoryError> {
    let run = checker.start(&Options::new()).unwrap();
    let report = history_core::check(run, &mut Reader::new(text.as_bytes()), &Budget::default());
    let run = checker.start(&Options::new()).unwrap();
    let mut blocks = Reader::new(text.as_bytes()).with_block_bytes(1);
    let ahead = history_core::check_ahead(run, &mut blocks, &Budget::default());
    assert_eq!(ahead.map_err(|error| error.to_string()), report.clone().map_err(|error| error.to_string()));
    report
}

/// The report of one checker alone, also if it cannot check the history.
fn alone(name: &'static str, text: &str) -> Report {
    check(&Puppet(name, &[]), text).unwrap_or_else(|error| {
        let mut report = Report::new(name, Verdict::Unknown);
        report.notes.push(format!("{name} cannot check this history: {error}."));
        report
    })
}

/// All combinations of acts of three puppets, each in two orders.
#[test]
fn the_composition_says_what_each_says_alone_and_the_worst_of_it() {
    let acts = ["nil", "bad", "unclear", "enough", "error", "late-error"];
    let (mut merged, mut refused) = (0, 0);
    for told in (0..acts.len().pow(3)).map(|n| [n % 6, n / 6 % 6, n / 36].map(|act| acts[act])) {
        for first_last in [false, true] {
            let mut values: Vec<String> =
                PUPPETS.iter().zip(told).map(|(name, act)| format!(":{name}-{act}")).collect();
            if first_last {
                values.reverse();
            }
            values.extend([":x".to_owned(), ":a-bad".to_owned()]);
            let text = text(&values.iter().map(String::as_str).collect::<Vec<_>>());
            let singles = PUPPETS.map(|name| alone(name, &text));
            if PUPPETS.iter().all(|name| check(&Puppet(name, &[]), &text).is_err()) {
                let error = check(&composed(), &text).unwrap_err();
                assert!(PUPPETS.iter().any(|name| error.message.starts_with(&format!("{name}: no "))), "{error}");
                refused += 1;
                continue;
            }
            let report = check(&composed(), &text).unwrap();
            let worst = singles.iter().fold(Verdict::Valid, |worst, report| worst.and(report.verdict));
            assert_eq!((report.checker.as_ref(), report.verdict), ("a,b,c", worst), "{text}");
            let mut parts = report.checkers;
            // The advice to omit a checker exists only if there are several.
            for part in &mut parts {
                part.next.clear();
            }
            assert_eq!(parts, singles, "{text}");
            merged += 1;
        }
    }
    assert_eq!((merged, refused), (416, 16));
}

/// A checker that behaves differently on a history that is being written; it must do so in a composition, too.
struct Watcher;

impl Checker for Watcher {
    fn name(&self) -> &'static str {
        "watcher"
    }

    fn summary(&self) -> &'static str {
        "Knows when it is watched."
    }

    fn options(&self) -> &[OptionSpec] {
        &[]
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        Puppet("watcher", &[]).start(options)
    }

    fn start_online(&self, _: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(WatcherRun(0)))
    }
}

/// A run that is violated by the second op.
struct WatcherRun(u64);

impl Run for WatcherRun {
    fn observe(&mut self, _: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        self.0 += 1;
        Ok(ControlFlow::Continue(()))
    }

    fn is_violated(&self) -> bool {
        self.0 > 1
    }

    fn growth(&self) -> Option<String> {
        Some("it counts".to_owned())
    }

    fn doubt(&self) -> Option<String> {
        (self.0 == 1).then(|| "it has seen little".to_owned())
    }

    fn violation(&self) -> Option<Report> {
        self.is_violated().then(|| Report::new("watcher", Verdict::Invalid))
    }

    fn finish(self: Box<Self>, _: &Budget) -> Result<Report, HistoryError> {
        Ok(Report::new("watcher", if self.is_violated() { Verdict::Invalid } else { Verdict::Valid }))
    }
}

#[test]
fn a_composition_is_watched_as_each_of_it_is() {
    let both = Compose::new(vec![Box::new(Puppet("a", &[])), Box::new(Watcher)]).unwrap();
    let text = text(&["x", "y"]);
    let history = history_core::History::parse(&text).unwrap();
    let violated = |mut run: Box<dyn Run>| {
        let mut violated = Vec::new();
        for op in history.ops() {
            let _ = run.observe(&op).unwrap();
            violated.push((run.is_violated(), run.doubt()));
        }
        let certain: Option<Vec<String>> =
            run.violation().map(|report| report.checkers.iter().map(|of| of.checker.to_string()).collect());
        (violated, run.growth(), certain.unwrap_or_default())
    };
    let online = violated(both.start_online(&Options::new()).unwrap());
    let steps = vec![(false, Some("it has seen little".to_owned())), (true, None)];
    assert_eq!(online, (steps, Some("it counts".to_owned()), vec!["watcher".to_owned()]));
    assert_eq!(violated(both.start(&Options::new()).unwrap()), (vec![(false, None); 2], None, Vec::new()));
}

#[test]
fn an_error_of_all_is_that_of_the_first_place() {
    let error = check(&composed(), &text(&[":x", ":b-error", ":a-error", ":c-error"])).unwrap_err();
    assert_eq!(error.to_string(), "line 2, column 1: b: no op for a puppet");
}

#[test]
fn names_and_files_of_several_do_not_meet() {
    let mut report = check(&composed(), &text(&[":c-bad", ":a-bad"])).unwrap();
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["a-badness", "c-badness"]);
    assert!(report.anomalies.is_empty(), "what each found stands in its own report");
    assert_eq!(report.anomaly("c-badness").unwrap().witnesses[0].explanation, "It was bad.");
    assert_eq!(report.anomaly("b-badness"), None);
    let paths: Vec<String> = report.take_artifacts().into_iter().map(|artifact| artifact.path).collect();
    assert_eq!(paths, ["a/bad.txt", "c/bad.txt"]);
    assert!(report.take_artifacts().is_empty(), "they were taken");
}

#[test]
fn an_option_goes_to_all_that_declare_it_and_to_no_other() {
    const SIZE: OptionSpec = spec("size", OptionKind::Integer);
    const BOTH: &[OptionSpec] = &[SIZE, spec("colour", OptionKind::Text)];
    let a = Puppet("a", BOTH);
    let (b, c) = (Puppet("b", &[SIZE]), Puppet("c", &[]));
    let all = Compose::new(vec![Box::new(&a), Box::new(&b), Box::new(&c)]).unwrap();
    assert_eq!(all.options().iter().map(|spec| spec.name).collect::<Vec<_>>(), ["size", "colour"]);
    let run = all.start(&Options::new().with("size", "3").with("colour", "red").with("other", "x")).unwrap();
    let report = run.finish(&Budget::default()).unwrap();
    let notes: Vec<&[String]> = report.checkers.iter().map(|report| &report.notes[..]).collect();
    assert_eq!(notes, [&["colour is red.".to_owned(), "size is 3.".to_owned()][..], &["size is 3.".to_owned()], &[]]);
    let error = all.start(&Options::new().with("colour", "blue")).err().unwrap();
    assert_eq!(error.option, "colour");
}

#[test]
fn what_cannot_be_composed_is_said() {
    let said = |checkers| Compose::new(checkers).err().unwrap();
    assert_eq!(said(vec![]), ComposeError::Nothing);
    let twice = said(vec![Box::new(Puppet("a", &[])), Box::new(Puppet("b", &[])), Box::new(Puppet("a", &[]))]);
    assert_eq!(twice.to_string(), "a was given twice");
    const TEXT: &[OptionSpec] = &[spec("size", OptionKind::Text)];
    const FLAG: &[OptionSpec] = &[spec("size", OptionKind::Flag)];
    let kinds = said(vec![Box::new(Puppet("a", &[])), Box::new(Puppet("b", TEXT)), Box::new(Puppet("c", FLAG))]);
    assert_eq!(kinds.to_string(), "b and c cannot run together: for b, --size takes text, and for c nothing");
}

#[test]
fn by_key_each_says_what_it_says_of_keys_alone() {
    let values = ["[1 :a-bad]", "[2 :b-unclear]", "[1 :x]", "[3 :c-enough]", "[2 :c-bad]", "[3 :x]"];
    let text = text(&values);
    let keyed = |checker: &dyn Checker, text: &str| {
        let run = Keyed::start(checker, &Options::new()).unwrap();
        history_core::check_ahead(Box::new(run), &mut Reader::new(text.as_bytes()), &Budget::default()).unwrap()
    };
    let report = keyed(&composed(), &text);
    assert_eq!(report.checkers, PUPPETS.map(|name| keyed(&Puppet(name, &[]), &text)));
    assert_eq!(report.verdict, Verdict::Invalid);
    let keys: Vec<_> = report.keys.iter().map(|key| (key.verdict, key.anomaly_types.join(" "))).collect();
    let expected = [(Verdict::Invalid, "a-badness"), (Verdict::Invalid, "c-badness"), (Verdict::Valid, "")];
    assert_eq!(keys, expected.map(|(verdict, types)| (verdict, types.to_owned())));

    // If ops cannot be assigned to keys, the verdicts of all checkers are unknown.
    let text = "{:process 0, :type :invoke, :f :w, :value 7}";
    let report = keyed(&composed(), text);
    assert_eq!(report.checkers, PUPPETS.map(|name| keyed(&Puppet(name, &[]), text)));
    assert_eq!(report.verdict, Verdict::Unknown);
}

/// If one checker cannot check a key, its verdict on the key is unknown, and the others still check it.
#[test]
fn by_key_one_that_cannot_judge_leaves_the_others_their_verdicts() {
    let (composed, text) = (composed(), text(&["[1 :a-error]", "[2 :x]"]));
    let run = Keyed::start(&composed, &Options::new()).unwrap();
    let report = history_core::check(Box::new(run), &mut Reader::new(text.as_bytes()), &Budget::default()).unwrap();
    let verdicts: Vec<Verdict> = report.checkers.iter().map(|report| report.verdict).collect();
    assert_eq!(verdicts, [Verdict::Unknown, Verdict::Valid, Verdict::Valid]);
    let note = "Key 1: a cannot check this history: line 1, column 1: no op for a puppet.";
    assert_eq!(report.checkers[0].notes, [note]);
}
