//! Results as XML like that of `JUnit`: a suite a history, a test case for each checker, and one for each key whose
//! verdict the report lists.

use super::case::{Case, Finding, KeyFinding};
use crate::output::policy::Unknown;
use history_core::{Verdict, visible};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::io::{self, Write};

/// Writes the whole document. `cases` are histories by their paths.
pub(super) fn write<'a>(
    out: &mut dyn Write,
    cases: impl Iterator<Item = (&'a str, &'a Case)>,
    unknown: Unknown,
) -> io::Result<()> {
    let mut report = Report::new("histcheck");
    report.add_test_suites(cases.map(|(path, case)| suite(path, case, unknown)));
    let text = report.to_string().map_err(io::Error::other)?;
    out.write_all(text.as_bytes())
}

fn suite(path: &str, case: &Case, unknown: Unknown) -> TestSuite {
    let path = visible::line(path);
    let mut suite = TestSuite::new(&*path);
    suite.extra.insert("file".into(), (*path).into());
    match case {
        Case::Judged(findings) => {
            for finding in findings {
                suite.add_test_cases(cases(&path, finding, unknown));
                // The numbers of several checkers would else have one name.
                let prefix = if findings.len() > 1 { format!("{}/", finding.checker) } else { String::new() };
                for (name, count) in &finding.counts {
                    suite.add_property((&*visible::line(&format!("{prefix}{name}")), count.to_string().as_str()));
                }
            }
        }
        Case::Failed(failed) => {
            let mut text = failed.summary();
            if let Some((line, column)) = failed.place {
                text = format!("line {line}, column {column}: {text}");
            }
            if let Some(source) = &failed.text {
                text = format!("{text}\n\n  {source}");
            }
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            describe(&mut status, &failed.message, "not checked", &text);
            suite.add_test_case(test(&path, &failed.checker, status));
        }
    }
    suite
}

/// The history as a whole, then its keys.
fn cases(path: &str, finding: &Finding, unknown: Unknown) -> Vec<TestCase> {
    let name = &finding.checker;
    let types = || finding.anomalies.iter().map(|found| found.name.as_str()).collect::<Vec<_>>().join(" ");
    // What is known is listed, and fails nothing.
    let judged = |verdict: Verdict| if finding.is_known && verdict == Verdict::Invalid { None } else { Some(verdict) };
    let whole = status(judged(finding.verdict), unknown, &finding.summary(), &types(), &finding.account);
    let mut whole = test(path, name, whole);
    if finding.verdict == Verdict::Valid && !finding.notes.is_empty() {
        whole.set_system_out(&*visible::lines(&finding.notes.join("\n")));
    }
    // Keys without an observation, in a history whose verdict is on the others.
    let unknown = if finding.verdict == Verdict::Valid { Unknown::Itself } else { unknown };
    let of_key = |key: &KeyFinding| {
        let types = key.anomaly_types.join(" ");
        let summary = match super::text::found(key.anomaly_types.iter().map(String::as_str)) {
            Some(found) => found,
            None if key.notes.is_empty() => "see the report on the whole history".to_owned(),
            None => key.notes.join(" "),
        };
        let status = status(judged(key.verdict), unknown, &summary, &types, &finding.explanation_of(key));
        test(path, &format!("{name}, key {}", key.key), status)
    };
    [whole].into_iter().chain(finding.keys.iter().map(of_key)).collect()
}

fn test(path: &str, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(&*visible::line(name), status);
    case.set_classname(path);
    case.extra.insert("file".into(), path.into());
    case
}

/// The status of a verdict; `None` is a violation that is known.
fn status(verdict: Option<Verdict>, unknown: Unknown, summary: &str, types: &str, text: &str) -> TestCaseStatus {
    let (mut status, kind) = match (verdict, unknown) {
        (Some(Verdict::Valid), _) => return TestCaseStatus::success(),
        (None, _) => (TestCaseStatus::skipped(), types),
        (Some(Verdict::Invalid), _) => (TestCaseStatus::non_success(NonSuccessKind::Failure), types),
        (Some(Verdict::Unknown), Unknown::Fail) => (TestCaseStatus::non_success(NonSuccessKind::Failure), "unknown"),
        (Some(Verdict::Unknown), Unknown::Itself | Unknown::Pass) => (TestCaseStatus::skipped(), "unknown"),
    };
    let summary = if verdict.is_none() { format!("known: {summary}") } else { summary.to_owned() };
    describe(&mut status, &summary, kind, text);
    status
}

fn describe(status: &mut TestCaseStatus, message: &str, kind: &str, text: &str) {
    status.set_message(&*visible::line(message));
    if !kind.is_empty() {
        status.set_type(&*visible::line(kind));
    }
    status.set_description(&*visible::lines(text));
}
