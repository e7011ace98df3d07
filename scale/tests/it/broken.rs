//! Errors in a history are reported as by one machine: with file, line and column; of several errors, the first one.

use crate::made::{Made, many, one_machine, registers, setup, valid};
use check_register::Linearizable;
use check_register::models::CasRegister;
use histcheck_scale::histcheck_front::ReadAs;
use histcheck_scale::histcheck_front::history_core::{
    Budget, Checker, ErrorKind, HistoryError, Op, OptionError, OptionSpec, Options, Report, Run, Verdict,
};
use histcheck_scale::{History, Job};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

fn history() -> String {
    registers(Made { seed: 4, ops: 60, keys: 3, is_json: false, has_indices: false, wrong: 0 })
}

/// The text with a line replaced.
fn with_line(text: &str, at: usize, line: &[u8]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
    lines[at] = line;
    lines.join(&b'\n')
}

fn assert_same(text: &[u8]) -> String {
    let setup = setup(Linearizable::<CasRegister>::default());
    let expected = one_machine(&setup, text);
    for (workers, range_bytes) in [(1, 1 << 20), (2, 150), (3, 1000)] {
        assert_eq!(many(&setup, text, workers, range_bytes), expected, "{}", String::from_utf8_lossy(text));
    }
    expected
}

#[test]
fn a_broken_line_has_its_place() {
    let text = history();
    let lines = text.lines().count();
    let broken: [&[u8]; 9] = [
        b"{:process 0, :type :nope}",
        b"{:process 0, :type",
        b"{:process 0, :type :ok, :value \"no end",
        b"]",
        b"7",
        b"{:process 0, :type :ok} }",
        b"  {:process 0, :type :\xff}",
        b"{:process 77, :type :ok, :f :read, :value [:k1 3]}",
        b"{:process 1, :type :ok, :index 4}",
    ];
    for line in broken {
        for at in [0, 1, lines / 2, lines - 1] {
            let said = assert_same(&with_line(&text, at, line));
            assert!(said.contains("\"error\""), "{said}");
        }
    }
}

#[test]
fn of_two_errors_the_first_counts() {
    let text = history();
    let lines = text.lines().count();
    let twice = with_line(&text, lines - 2, b"{:process 0, :type :nope}");
    let twice = with_line(std::str::from_utf8(&twice).unwrap(), 7, b"oops oops");
    let said = assert_same(&twice);
    assert!(said.contains("\"line\":8"), "{said}");
}

#[test]
fn ends_of_lines_of_all_kinds() {
    let text = history();
    for other in [
        text.replace('\n', "\r\n"),
        text.replace('\n', "\n\n"),
        text.trim_end().to_owned(),
        format!("\n\n  \n{text}"),
        text.replace(":k1", "\"\u{65e5}\u{672c}\u{1f600}\""),
    ] {
        assert_eq!(valid(&assert_same(other.as_bytes())), true, "{other}");
    }
    assert!(assert_same(b"").contains("error"));
    assert!(assert_same(b"\n\n").contains("error"));
}

/// An op without a key, and a completion with another key: the verdict is unknown, unless some key is already invalid.
#[test]
fn ops_without_keys() {
    let text = history();
    let no_key = "{:process 500, :type :invoke, :f :read, :value nil}\n";
    let other_key = "{:process 501, :type :invoke, :f :read, :value [:k0 nil]}\n\
                     {:process 501, :type :ok, :f :read, :value [:k1 1]}\n";
    let wrong_read = "{:process 502, :type :invoke, :f :read, :value [:k2 nil]}\n\
                      {:process 502, :type :ok, :f :read, :value [:k2 77]}\n";
    for trouble in [no_key, other_key] {
        let said = assert_same(format!("{text}{trouble}{wrong_read}").as_bytes());
        assert_eq!(valid(&said), "unknown", "{said}");
        let said = assert_same(format!("{wrong_read}{text}{trouble}{wrong_read}").as_bytes());
        assert_eq!(valid(&said), false, "{said}");
        // Invalid text after it is an error, except in a history that is invalid.
        let said = assert_same(format!("{text}{trouble}{text}oops").as_bytes());
        assert!(said.contains("\"error\""), "{said}");
    }
}

/// A checker that rejects an op with this value, or panics.
struct Refuses(i64);

struct Refusing(i64, Option<u64>);

impl Checker for Refuses {
    fn name(&self) -> &'static str {
        "refuses"
    }

    fn summary(&self) -> &'static str {
        "Refuses a value."
    }

    fn options(&self) -> &[OptionSpec] {
        &[]
    }

    fn start(&self, _: &Options) -> Result<Box<dyn Run>, OptionError> {
        Ok(Box::new(Refusing(self.0, None)))
    }
}

impl Run for Refusing {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        self.1.get_or_insert(op.index);
        if op.value.as_int() == Some(self.0) {
            return Err(HistoryError::new(ErrorKind::Unexpected, "refused").expected("another value"));
        }
        Ok(ControlFlow::Continue(()))
    }

    fn finish(self: Box<Self>, _: &Budget) -> Result<Report, HistoryError> {
        if self.0 < 0 {
            let first = self.1.unwrap_or_default();
            return Err(HistoryError::new(ErrorKind::Unexpected, format!("refused, from op {first} on")));
        }
        Ok(Report::new("refuses", Verdict::Valid))
    }
}

/// If a checker rejects ops, the first op or the first key is reported, whichever worker has it.
#[test]
fn what_a_checker_refuses() {
    let text = history();
    for value in [3, -1] {
        let setup = setup(Refuses(value));
        let expected = one_machine(&setup, text.as_bytes());
        assert!(expected.contains("refused"), "{expected}");
        for (workers, range_bytes) in [(1, 1000), (2, 150), (5, 300)] {
            assert_eq!(many(&setup, text.as_bytes(), workers, range_bytes), expected);
        }
    }
}

#[test]
fn what_is_not_there_is_an_error_of_that_history_alone() {
    let dir = tempfile::tempdir().unwrap();
    let good = dir.path().join("good.edn");
    std::fs::write(&good, history()).unwrap();
    let setup = setup(Linearizable::<CasRegister>::default());
    let paths = [good.clone(), dir.path().join("none.edn"), good];
    let job = Job::new(&setup, paths.into_iter().map(|path| History::new(path, ReadAs::default())).collect());
    let judged = histcheck_scale::judge(&job, NonZeroUsize::new(2).unwrap());
    let verdicts: Vec<_> =
        judged.iter().map(|judged| judged.outcome.as_ref().map(|report| report.verdict).ok()).collect();
    assert_eq!(verdicts, [Some(Verdict::Valid), None, Some(Verdict::Valid)]);
    let error = judged[1].outcome.as_ref().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Io);
}
