//! The result of a checker: a verdict, and the evidence for it.

use super::figure::Figure;
use crate::{Client, Datum, NextStep, OpKind};
use std::borrow::Cow;

/// Whether a history satisfies the requirement that a checker checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// It satisfies the requirement.
    Valid,
    /// The checker could not decide.
    Unknown,
    /// It violates the requirement, and the report proves it.
    Invalid,
}

impl Verdict {
    /// The verdict on a history from those on two parts: invalid if either is invalid, else unknown if either is
    /// unknown.
    #[must_use]
    pub fn and(self, other: Verdict) -> Verdict {
        self.max(other)
    }

    /// The verdict as Jepsen prints it: `"true"`, `"unknown"`, `"false"`.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Valid => "true",
            Verdict::Unknown => "unknown",
            Verdict::Invalid => "false",
        }
    }
}

/// The result of a checker.
///
/// [`Report::new`] creates a report with a verdict only. All fields are public and may be set.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The checker's name.
    pub checker: Cow<'static, str>,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether an invalid verdict is based on a part of the history: ops were omitted or not reached, or a search was
    /// not started because of what was found. There may then be other anomalies than those in the report.
    pub is_partial: bool,
    /// Sentences that explain the verdict: why it is unknown, or what it is based on.
    pub notes: Vec<String>,
    /// What would give a verdict, if it is unknown. Each of several checkers has its own.
    pub next: Vec<NextStep>,
    /// The anomalies found, one per type, sorted by type.
    pub anomalies: Vec<Anomaly>,
    /// The weakest models that the anomalies rule out; empty for checkers without models.
    pub not: Vec<Cow<'static, str>>,
    /// The stronger models that are therefore ruled out too.
    pub also_not: Vec<Cow<'static, str>>,
    /// Models that are neither ruled out nor known to hold, sorted. Models in none of these three lists hold, as far as
    /// the checker can decide. Empty for checkers without models.
    pub not_checked: Vec<Cow<'static, str>>,
    /// Numbers about the history: `("ok-count", 17)`.
    pub counts: Vec<(Cow<'static, str>, u64)>,
    /// Files for the reader of the report, if an output directory was requested.
    pub artifacts: Vec<Artifact>,
    /// Pictures for the reader of the report, as data, if requested by [`Budget::figures`](crate::Budget::figures).
    pub figures: Vec<Figure>,
    /// If the keys of the history were checked separately: the keys that are not valid, up to a maximum number; all
    /// keys, if there are few. In order of first occurrence.
    pub keys: Vec<KeyReport>,
    /// For several checkers run as one ([`Compose`](crate::Compose)): the report of each. Results are in those reports
    /// and not in this one, except the verdict.
    pub checkers: Vec<Report>,
}

/// The result for one key of a history whose keys were checked separately.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KeyReport {
    /// The key.
    pub key: Datum,
    /// The verdict on its part of the history.
    #[cfg_attr(feature = "serde", serde(rename = "valid"))]
    pub verdict: Verdict,
    /// The types of anomalies found in it, sorted by name; [`Report::anomalies`] has the witnesses.
    #[cfg_attr(feature = "serde", serde(default, serialize_with = "crate::checking::serialize::report::keywords"))]
    pub anomaly_types: Vec<Cow<'static, str>>,
    /// The notes on it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub notes: Vec<String>,
}

/// All anomalies of one type in a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Anomaly {
    /// The type, as spelled in the literature: `"G-single-item"`.
    pub name: Cow<'static, str>,
    /// The number found. Of cycles, one is searched for in each component.
    pub count: u64,
    /// The first few, in the order of the history.
    pub witnesses: Vec<Witness>,
}

/// One anomaly, and why it is one.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Witness {
    /// The ops that show the anomaly, in the order in which the explanation names them.
    pub ops: Vec<WitnessOp>,
    /// For a cycle, a step from each op to the next, the last one back to the first.
    #[cfg_attr(feature = "serde", serde(default))]
    pub steps: Vec<Step>,
    /// Further facts, by name: `("key", 7)`.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::checking::serialize::named"))]
    pub facts: Vec<(Cow<'static, str>, Datum)>,
    /// The complete explanation, in one or more lines.
    pub explanation: String,
}

/// An op of a witness.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WitnessOp {
    /// The name of the op in the explanation: `"T1"`.
    pub name: String,
    /// Its index.
    pub index: u64,
    /// The client of the op; absent if the history does not contain it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub process: Option<Client>,
    /// The op's kind.
    pub kind: OpKind,
    /// The time of the op, in nanoseconds since the test began.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub time_ns: Option<i64>,
    /// Its value.
    pub value: Datum,
}

/// Why one op of a cycle precedes the next.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Step {
    /// A position in [`Witness::ops`].
    pub from: usize,
    /// Another such position.
    pub to: usize,
    /// `"ww"`, `"wr"`, `"rw"`, `"process"`, `"realtime"`.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::checking::serialize::report::keyword"))]
    pub relation: Cow<'static, str>,
    /// The key of this dependency, if it has one.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::checking::serialize::report::present"))]
    pub key: Option<Datum>,
    /// The version that `from` wrote or read.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::checking::serialize::report::present"))]
    pub value: Option<Datum>,
    /// The version that `to` wrote or read, if it differs.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::checking::serialize::report::present"))]
    pub next_value: Option<Datum>,
    /// The reason as a clause: `"T2 appended 4 after T1 appended 3 to 7"`.
    pub because: String,
}

/// A file for the reader of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// The path relative to the output directory, with `/` between its parts.
    pub path: String,
    /// The content of the file.
    pub content: Vec<u8>,
}

impl Witness {
    /// A witness of these ops, with its explanation.
    pub fn new(ops: Vec<WitnessOp>, explanation: impl Into<String>) -> Witness {
        Witness { ops, explanation: explanation.into(), ..Witness::default() }
    }

    /// The same witness as a cycle of these steps.
    #[must_use]
    pub fn with_steps(self, steps: Vec<Step>) -> Witness {
        Witness { steps, ..self }
    }

    /// The same witness with these facts.
    #[must_use]
    pub fn with_facts(self, facts: Vec<(Cow<'static, str>, Datum)>) -> Witness {
        Witness { facts, ..self }
    }
}

impl Step {
    /// A step between two positions in [`Witness::ops`], without key and versions.
    pub fn new(from: usize, to: usize, relation: impl Into<Cow<'static, str>>, because: impl Into<String>) -> Step {
        let because = because.into();
        Step { from, to, relation: relation.into(), key: None, value: None, next_value: None, because }
    }

    /// The same step on a key, between these versions of it.
    #[must_use]
    pub fn with_versions(self, key: Option<Datum>, value: Option<Datum>, next_value: Option<Datum>) -> Step {
        Step { key, value, next_value, ..self }
    }
}

impl Report {
    /// A report that contains only a verdict.
    pub fn new(checker: impl Into<Cow<'static, str>>, verdict: Verdict) -> Report {
        Report {
            checker: checker.into(),
            verdict,
            is_partial: false,
            notes: Vec::new(),
            next: Vec::new(),
            anomalies: Vec::new(),
            not: Vec::new(),
            also_not: Vec::new(),
            not_checked: Vec::new(),
            counts: Vec::new(),
            artifacts: Vec::new(),
            figures: Vec::new(),
            keys: Vec::new(),
            checkers: Vec::new(),
        }
    }

    /// The anomalies of a type; of several checkers, those of the first that found some.
    pub fn anomaly(&self, name: &str) -> Option<&Anomaly> {
        let own = self.anomalies.iter().find(|anomaly| anomaly.name == name);
        own.or_else(|| self.checkers.iter().find_map(|report| report.anomaly(name)))
    }

    /// The names of all types found, sorted; types found by several checkers are listed once.
    pub fn anomaly_types(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<&str> = self.anomalies.iter().map(|anomaly| anomaly.name.as_ref()).collect();
        if !self.checkers.is_empty() {
            self.checkers.iter().for_each(|report| names.extend(report.anomaly_types()));
            names.sort_unstable();
            names.dedup();
        }
        names.into_iter()
    }

    /// Removes all files from the report and returns them. The files of each of several checkers get a folder with its
    /// name.
    pub fn take_artifacts(&mut self) -> Vec<Artifact> {
        let mut all = std::mem::take(&mut self.artifacts);
        for report in &mut self.checkers {
            // A name is one part of a path.
            let folder = report.checker.replace('/', "_");
            let artifacts = report.take_artifacts().into_iter();
            all.extend(artifacts.map(|artifact| Artifact { path: format!("{folder}/{}", artifact.path), ..artifact }));
        }
        all
    }

    /// Removes all figures from the report and returns them, named as [`Report::take_artifacts`] names files.
    pub fn take_figures(&mut self) -> Vec<Figure> {
        let mut all = std::mem::take(&mut self.figures);
        for report in &mut self.checkers {
            let folder = report.checker.replace('/', "_");
            let figures = report.take_figures().into_iter();
            all.extend(figures.map(|figure| Figure { name: format!("{folder}/{}", figure.name), ..figure }));
        }
        all
    }
}
