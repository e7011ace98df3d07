//! Results as XML in the format of `JUnit`: a suite per history, and a test case for each checker and for each key
//! whose verdict the report lists.

use super::case::{Case, Failed, Finding, KeyFinding};
use crate::output::policy::Unknown;
use history_core::{Verdict, visible};
use maud::Escaper;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Writes the whole document. `cases` are the histories with their paths.
pub(super) fn write<'a>(
    out: &mut dyn Write,
    cases: impl Iterator<Item = (&'a str, &'a Case)>,
    unknown: Unknown,
) -> io::Result<()> {
    let suites: Vec<Suite<'_>> = cases.map(|(path, case)| suite(path, case, unknown)).collect();
    let all = || suites.iter().flat_map(|suite| &suite.tests);
    let tests = all().count().to_string();
    let [skipped, failures, errors] = Kind::ALL.map(|kind| kind.count(all()));
    let attributes =
        [("name", "histcheck"), ("tests", &tests), ("skipped", &skipped), ("failures", &failures), ("errors", &errors)];
    let mut xml = Xml { text: r#"<?xml version="1.0" encoding="UTF-8"?>"#.to_owned(), depth: 0 };
    xml.element("testsuites", &attributes, |xml| {
        for suite in &suites {
            suite.write(xml);
        }
    });
    xml.text.push('\n');
    out.write_all(xml.text.as_bytes())
}

/// A suite: a history.
struct Suite<'a> {
    path: &'a str,
    /// Counts of the reports.
    properties: Vec<(String, u64)>,
    tests: Vec<Test>,
}

/// A test case: a checker's finding, or its finding for a key.
struct Test {
    name: String,
    /// The problem; `None` for a success.
    problem: Option<Problem>,
    notes: String,
}

/// The reason why a test did not succeed.
struct Problem {
    kind: Kind,
    message: String,
    /// Usually the types of anomalies.
    of_type: String,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Skipped,
    Failure,
    Error,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Skipped, Kind::Failure, Kind::Error];

    /// The name of the XML element.
    fn name(self) -> &'static str {
        match self {
            Kind::Skipped => "skipped",
            Kind::Failure => "failure",
            Kind::Error => "error",
        }
    }

    fn count<'t>(self, tests: impl Iterator<Item = &'t Test>) -> String {
        tests.filter(|test| test.problem.as_ref().is_some_and(|problem| problem.kind == self)).count().to_string()
    }
}

fn suite<'a>(path: &'a str, case: &Case, unknown: Unknown) -> Suite<'a> {
    let mut suite = Suite { path, properties: Vec::new(), tests: Vec::new() };
    match case {
        Case::Judged(findings) => {
            for finding in findings {
                suite.tests.extend(tests(finding, unknown));
                // With several checkers, a prefix keeps the names of counts apart.
                let prefix = if findings.len() > 1 { format!("{}/", finding.checker) } else { String::new() };
                let counts = finding.counts.iter();
                suite.properties.extend(counts.map(|(name, count)| (prefix.clone() + name, *count)));
            }
        }
        Case::Failed(failed) => suite.tests.push(not_checked(failed)),
    }
    suite
}

fn not_checked(failed: &Failed) -> Test {
    let mut text = failed.summary();
    if let Some((line, column)) = failed.place {
        text = format!("line {line}, column {column}: {text}");
    }
    if let Some(source) = &failed.text {
        text = format!("{text}\n\n  {source}");
    }
    let (message, of_type) = (failed.message.clone(), "not checked".to_owned());
    let problem = Some(Problem { kind: Kind::Error, message, of_type, text });
    Test { name: failed.checker.clone(), problem, notes: String::new() }
}

/// The test for the history as a whole, then those for its keys.
fn tests(finding: &Finding, unknown: Unknown) -> Vec<Test> {
    let name = &finding.checker;
    let types = || finding.anomalies.iter().map(|found| found.name.as_str()).collect::<Vec<_>>().join(" ");
    // A known anomaly is listed, but is no failure.
    let judged = |verdict: Verdict| if finding.is_known && verdict == Verdict::Invalid { None } else { Some(verdict) };
    let problem = problem(judged(finding.verdict), unknown, &finding.summary(), types(), &finding.account);
    let notes = if finding.verdict == Verdict::Valid { finding.notes.join("\n") } else { String::new() };
    let whole = Test { name: name.clone(), problem, notes };
    // Keys without an observation, in a history whose verdict is about the others.
    let unknown = if finding.verdict == Verdict::Valid { Unknown::Itself } else { unknown };
    let of_key = |key: &KeyFinding| {
        let types = key.anomaly_types.join(" ");
        let summary = match super::text::found(key.anomaly_types.iter().map(String::as_str)) {
            Some(found) => found,
            None if key.notes.is_empty() => "see the report on the whole history".to_owned(),
            None => key.notes.join(" "),
        };
        let problem = self::problem(judged(key.verdict), unknown, &summary, types, &finding.explanation_of(key));
        Test { name: format!("{name}, key {}", key.key), problem, notes: String::new() }
    };
    [whole].into_iter().chain(finding.keys.iter().map(of_key)).collect()
}

/// The problem for a verdict; `None` for the verdict is a violation that is known.
fn problem(verdict: Option<Verdict>, unknown: Unknown, summary: &str, types: String, text: &str) -> Option<Problem> {
    let (kind, of_type) = match (verdict, unknown) {
        (Some(Verdict::Valid), _) => return None,
        (None, _) => (Kind::Skipped, types),
        (Some(Verdict::Invalid), _) => (Kind::Failure, types),
        (Some(Verdict::Unknown), Unknown::Fail) => (Kind::Failure, "unknown".to_owned()),
        (Some(Verdict::Unknown), Unknown::Itself | Unknown::Pass) => (Kind::Skipped, "unknown".to_owned()),
    };
    let message = if verdict.is_none() { format!("known: {summary}") } else { summary.to_owned() };
    Some(Problem { kind, message, of_type, text: text.to_owned() })
}

impl Suite<'_> {
    fn write(&self, xml: &mut Xml) {
        let Suite { path, properties, tests } = self;
        let all = tests.len().to_string();
        let [skipped, failures, errors] = Kind::ALL.map(|kind| kind.count(tests.iter()));
        let numbers = [("tests", &*all), ("skipped", &skipped), ("errors", &errors), ("failures", &failures)];
        let attributes = [&[("name", *path)], &numbers[..], &[("file", path)]].concat();
        xml.element("testsuite", &attributes, |xml| {
            if !properties.is_empty() {
                xml.element("properties", &[], |xml| {
                    for (name, count) in properties {
                        xml.element("property", &[("name", name), ("value", &count.to_string())], |_| {});
                    }
                });
            }
            for test in tests {
                test.write(path, xml);
            }
        });
    }
}

impl Test {
    fn write(&self, path: &str, xml: &mut Xml) {
        let attributes = [("name", &*self.name), ("classname", path), ("file", path)];
        xml.element("testcase", &attributes, |xml| {
            if let Some(Problem { kind, message, of_type, text }) = &self.problem {
                let attributes = [("message", &**message), ("type", of_type)];
                xml.text(kind.name(), &attributes[..if of_type.is_empty() { 1 } else { 2 }], text);
            }
            if !self.notes.is_empty() {
                xml.text("system-out", &[], &self.notes);
            }
        });
    }
}

/// A document under construction.
struct Xml {
    text: String,
    depth: usize,
}

impl Xml {
    /// Writes an element that contains elements.
    fn element(&mut self, name: &str, attributes: &[(&str, &str)], content: impl FnOnce(&mut Xml)) {
        self.begin(name, attributes);
        let empty = self.text.len();
        self.text.push('>');
        self.depth += 1;
        content(self);
        self.depth -= 1;
        if self.text.len() == empty + 1 {
            self.text.insert(empty, '/');
        } else {
            self.line();
            self.text.extend(["</", name, ">"]);
        }
    }

    /// Writes an element that contains text.
    fn text(&mut self, name: &str, attributes: &[(&str, &str)], text: &str) {
        self.begin(name, attributes);
        self.text.push('>');
        self.escape(&visible::lines(text));
        self.text.extend(["</", name, ">"]);
    }

    fn begin(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.line();
        self.text.extend(["<", name]);
        for (name, value) in attributes {
            self.text.extend([" ", name, "=\""]);
            self.escape(&visible::line(value));
            self.text.push('"');
        }
    }

    fn line(&mut self) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n("    ", self.depth));
    }

    fn escape(&mut self, text: &str) {
        // Writing to a string cannot fail.
        let _ = Escaper::new(&mut self.text).write_str(text);
    }
}
