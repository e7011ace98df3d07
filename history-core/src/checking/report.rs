//! What a checker has to say in the end: a verdict, and the evidence for it.

use super::figure::Figure;
use crate::{Client, Datum, NextStep, OpKind};
use std::borrow::Cow;

/// Whether a history obeys what was asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// It does.
    Valid,
    /// It could not be found out.
    Unknown,
    /// It does not, and the report proves it.
    Invalid,
}

impl Verdict {
    /// The verdict on a history of which both parts were judged: one invalid part decides, one unknown spoils.
    #[must_use]
    pub fn and(self, other: Verdict) -> Verdict {
        self.max(other)
    }

    /// As Jepsen prints it: `"true"`, `"unknown"`, `"false"`.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Valid => "true",
            Verdict::Unknown => "unknown",
            Verdict::Invalid => "false",
        }
    }
}

/// A checker's answer.
///
/// [`Report::new`] makes one that has a verdict only; all fields are public and may be set.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The checker's name.
    pub checker: Cow<'static, str>,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether an invalid verdict rests on a part of what there was to look at: ops were left out, or not reached, or a
    /// search was not begun because of what was found. There may be other anomalies then than those in the report.
    pub is_partial: bool,
    /// In words, where the verdict alone would leave one wondering: why it is unknown, what it rests on.
    pub notes: Vec<String>,
    /// What would give an answer, if the verdict is unknown. Of several checkers each has its own.
    pub next: Vec<NextStep>,
    /// What was found, by type, sorted by the type's name.
    pub anomalies: Vec<Anomaly>,
    /// Models that the anomalies rule out, the weakest ones; empty for checkers that know no models.
    pub not: Vec<Cow<'static, str>>,
    /// The stronger models that go with them.
    pub also_not: Vec<Cow<'static, str>>,
    /// Models of which the report says nothing, sorted: neither ruled out by it nor known to hold. Those in none of
    /// these three lists hold, as far as the checker can decide. Empty for checkers that know no models.
    pub not_checked: Vec<Cow<'static, str>>,
    /// Numbers about the history: `("ok-count", 17)`.
    pub counts: Vec<(Cow<'static, str>, u64)>,
    /// Files that would help a reader, for whoever asked for a directory.
    pub artifacts: Vec<Artifact>,
    /// Pictures that would help, as data, if [`Budget::figures`](crate::Budget::figures) asked for them.
    pub figures: Vec<Figure>,
    /// Of a history whose keys were judged each on its own: those that are not valid, up to some number; all, where
    /// there are few. In the order in which they came up.
    pub keys: Vec<KeyReport>,
    /// Of several checkers run as one ([`Compose`](crate::Compose)): what each of them has to say. What it found is
    /// there and not here, but for the verdict.
    pub checkers: Vec<Report>,
}

/// What became of one key of a history whose keys were judged each on its own.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KeyReport {
    /// The key.
    pub key: Datum,
    /// The verdict on its part of the history.
    #[cfg_attr(feature = "serde", serde(rename = "valid"))]
    pub verdict: Verdict,
    /// What was found in it, sorted by name; [`Report::anomalies`] has the witnesses.
    #[cfg_attr(feature = "serde", serde(default, serialize_with = "crate::checking::serialize::report::keywords"))]
    pub anomaly_types: Vec<Cow<'static, str>>,
    /// What was noted of it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub notes: Vec<String>,
}

/// All anomalies of one type in a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Anomaly {
    /// The type, as the field spells it: `"G-single-item"`.
    pub name: Cow<'static, str>,
    /// How many were found. Of cycles, one is looked for in each component.
    pub count: u64,
    /// The first few, in the order of the history.
    pub witnesses: Vec<Witness>,
}

/// One anomaly, and why it is one.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Witness {
    /// The ops it takes to see it, in the order in which the explanation names them.
    pub ops: Vec<WitnessOp>,
    /// For a cycle, a step from each op to the next, the last one back to the first.
    #[cfg_attr(feature = "serde", serde(default))]
    pub steps: Vec<Step>,
    /// Whatever else there is to know, by name: `("key", 7)`.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::checking::serialize::named"))]
    pub facts: Vec<(Cow<'static, str>, Datum)>,
    /// The whole story, in prose of one or more lines.
    pub explanation: String,
}

/// An op of a witness.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WitnessOp {
    /// What the explanation calls it: `"T1"`.
    pub name: String,
    /// Its index.
    pub index: u64,
    /// Who did it; absent where the history does not say.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub process: Option<Client>,
    /// What it says.
    pub kind: OpKind,
    /// The time of the op, in nanoseconds since the test began.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub time_ns: Option<i64>,
    /// Its value.
    pub value: Datum,
}

/// Why one op of a cycle comes before the next.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Step {
    /// A position in [`Witness::ops`].
    pub from: usize,
    /// Another.
    pub to: usize,
    /// `"ww"`, `"wr"`, `"rw"`, `"process"`, `"realtime"`.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::checking::serialize::report::keyword"))]
    pub relation: Cow<'static, str>,
    /// The key on which they meet, if they do.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::checking::serialize::report::present"))]
    pub key: Option<Datum>,
    /// The version that `from` wrote or read.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::checking::serialize::report::present"))]
    pub value: Option<Datum>,
    /// The version that `to` wrote or read, where that is another.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::checking::serialize::report::present"))]
    pub next_value: Option<Datum>,
    /// The reason as a clause: `"T2 appended 4 after T1 appended 3 to 7"`.
    pub because: String,
}

/// A file for the reader of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Relative to the directory that was asked for, with `/` between its parts.
    pub path: String,
    /// What it holds.
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
    /// A report of nothing but a verdict.
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

    /// The anomalies of a type, the first found of several checkers.
    pub fn anomaly(&self, name: &str) -> Option<&Anomaly> {
        let own = self.anomalies.iter().find(|anomaly| anomaly.name == name);
        own.or_else(|| self.checkers.iter().find_map(|report| report.anomaly(name)))
    }

    /// The names of all types found, sorted; those found by several checkers, each once.
    pub fn anomaly_types(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<&str> = self.anomalies.iter().map(|anomaly| anomaly.name.as_ref()).collect();
        if !self.checkers.is_empty() {
            self.checkers.iter().for_each(|report| names.extend(report.anomaly_types()));
            names.sort_unstable();
            names.dedup();
        }
        names.into_iter()
    }

    /// Takes all files out of the report. Those of each of several checkers get a folder of its name.
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

    /// Takes all figures out of the report, named as [`Report::take_artifacts`] names files.
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
