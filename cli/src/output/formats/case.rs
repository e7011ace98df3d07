//! The data for documents about one history: texts from its report, which a process can pass to another.

use super::Paint;
use super::text;
use crate::output::known::Known;
use history_core::{Anomaly, Datum, HistoryError, NextStep, Report, Verdict, Witness};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The data about one history.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Case {
    /// The findings of each checker; there is at least one.
    Judged(Vec<Finding>),
    Failed(Failed),
}

/// The finding of one checker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Finding {
    pub(crate) checker: String,
    pub(crate) verdict: Verdict,
    /// Whether all its anomalies are known, so that it does not count as a failure.
    pub(crate) is_known: bool,
    /// The full explanation, as `-v` prints it.
    pub(crate) account: String,
    pub(crate) notes: Vec<String>,
    /// The next steps, if the verdict is unknown.
    pub(crate) next: Vec<NextStep>,
    pub(crate) counts: Vec<(String, u64)>,
    pub(crate) keys: Vec<KeyFinding>,
    pub(crate) anomalies: Vec<Found>,
}

/// The finding for one key.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeyFinding {
    pub(crate) key: String,
    pub(crate) verdict: Verdict,
    pub(crate) anomaly_types: Vec<String>,
    pub(crate) notes: Vec<String>,
}

/// The anomalies of one type.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) count: u64,
    pub(crate) witnesses: Vec<CaseWitness>,
}

/// One anomaly.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CaseWitness {
    pub(crate) ops: Vec<Place>,
    pub(crate) explanation: String,
    /// The key of the anomaly, if keys were checked separately.
    pub(crate) key: Option<String>,
}

/// An op of a witness.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) index: u64,
    /// The line in the file, if it is known.
    pub(crate) line: Option<u64>,
}

/// The reason why a history could not be checked.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Failed {
    /// The checker that was requested.
    pub(crate) checker: String,
    pub(crate) message: String,
    pub(crate) expected: Option<String>,
    /// Line and column, counted from 1.
    pub(crate) place: Option<(u64, u64)>,
    /// The text at that place.
    pub(crate) text: Option<String>,
}

impl Case {
    /// Collects the data. `file` is the name of the history, and `known` contains the known anomalies.
    pub(crate) fn new(checker: &str, judged: &Result<Report, HistoryError>, (file, known): (&str, &Known)) -> Case {
        match judged {
            Ok(report) => {
                let mut findings = Vec::new();
                collect(report, (file, known), &mut findings);
                Case::Judged(findings)
            }
            Err(error) => Case::Failed(Failed {
                checker: checker.to_owned(),
                message: error.message.clone(),
                expected: error.expected.clone(),
                place: error.position.and_then(history_core::Position::line_and_column),
                text: error.snippet.as_ref().map(|snippet| snippet.text.clone()),
            }),
        }
    }

    /// All ops that are named.
    fn places(&mut self) -> impl Iterator<Item = &mut Place> {
        let findings = match self {
            Case::Judged(findings) => &mut findings[..],
            Case::Failed(_) => &mut [],
        };
        let anomalies = findings.iter_mut().flat_map(|finding| &mut finding.anomalies);
        anomalies.flat_map(|found| &mut found.witnesses).flat_map(|witness| &mut witness.ops)
    }

    /// Sets the lines of the ops; `find` returns them by index.
    pub(crate) fn locate(&mut self, find: impl FnOnce(Vec<u64>) -> BTreeMap<u64, u64>) {
        let lines = find(self.places().map(|place| place.index).collect());
        self.places().for_each(|place| place.line = lines.get(&place.index).copied());
    }
}

/// For several checkers, collects the findings of each.
fn collect(report: &Report, known: (&str, &Known), findings: &mut Vec<Finding>) {
    if report.checkers.is_empty() {
        findings.push(Finding::new(report, known));
    }
    report.checkers.iter().for_each(|report| collect(report, known, findings));
}

impl Finding {
    fn new(report: &Report, (file, known): (&str, &Known)) -> Finding {
        let mut account = Vec::new();
        // Writing to a vector cannot fail.
        let _ = text::account(&mut account, report, "", Paint::Plain);
        Finding {
            checker: report.checker.clone().into_owned(),
            verdict: report.verdict,
            is_known: report.verdict == Verdict::Invalid && known.verdict(file, report) != Verdict::Invalid,
            account: String::from_utf8_lossy(&account).into_owned(),
            notes: report.notes.clone(),
            next: report.next.clone(),
            counts: report.counts.iter().map(|(name, count)| (name.clone().into_owned(), *count)).collect(),
            keys: report
                .keys
                .iter()
                .map(|key| KeyFinding {
                    key: key.key.to_string(),
                    verdict: key.verdict,
                    anomaly_types: key.anomaly_types.iter().map(|name| name.clone().into_owned()).collect(),
                    notes: key.notes.clone(),
                })
                .collect(),
            anomalies: report.anomalies.iter().map(Found::new).collect(),
        }
    }

    /// One line: `2 anomalies: G1c, G-single-item`, or the notes.
    pub(crate) fn summary(&self) -> String {
        match self.verdict {
            Verdict::Invalid => text::found(self.anomalies.iter().map(|found| found.name.as_str()))
                .unwrap_or_else(|| format!("{} reports an invalid history without a reason", self.checker)),
            _ if self.notes.is_empty() => format!("{} gives no reason", self.checker),
            _ => self.notes.join(" ") + &text::next(&self.next),
        }
    }

    /// The explanation for a key, from the witnesses that were kept.
    pub(crate) fn explanation_of(&self, key: &KeyFinding) -> String {
        let mut text = String::new();
        key.notes.iter().for_each(|note| _ = writeln!(text, "note: {note}"));
        for found in &self.anomalies {
            let of_key = found.witnesses.iter().filter(|witness| witness.key.as_ref() == Some(&key.key));
            of_key.for_each(|witness| _ = writeln!(text, "\n{}\n{}", found.name, witness.explanation.trim_end()));
        }
        if text.is_empty() && !key.anomaly_types.is_empty() {
            text += "The report keeps only witnesses of other keys.\n";
        }
        text
    }

    /// A count of the report.
    pub(crate) fn count(&self, name: &str) -> Option<u64> {
        self.counts.iter().find(|(other, _)| other == name).map(|(_, count)| *count)
    }
}

impl Found {
    fn new(anomaly: &Anomaly) -> Found {
        let witnesses = anomaly.witnesses.iter().map(CaseWitness::new).collect();
        Found { name: anomaly.name.clone().into_owned(), count: anomaly.count, witnesses }
    }
}

impl CaseWitness {
    fn new(witness: &Witness) -> CaseWitness {
        let key = witness.facts.iter().find(|(name, _)| name == "independent-key");
        CaseWitness {
            ops: witness.ops.iter().map(|op| Place { name: op.name.clone(), index: op.index, line: None }).collect(),
            explanation: witness.explanation.clone(),
            key: key.map(|(_, key): &(_, Datum)| key.to_string()),
        }
    }
}

impl Failed {
    /// One line, without the position: `the op's type is :nope; expected invoke, ok, fail or info`.
    pub(crate) fn summary(&self) -> String {
        match &self.expected {
            Some(expected) => format!("{}; expected {expected}", self.message),
            None => self.message.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_survives_the_way_from_one_process_to_another() {
        let mut report = Report::new("c", Verdict::Invalid);
        report.notes.push("a \u{1} note".into());
        report.counts.push(("key-count".into(), 3));
        let witness = Witness::new(Vec::new(), "It is so.");
        report.anomalies.push(Anomaly { name: "G0".into(), count: 2, witnesses: vec![witness] });
        let sent = Case::new("c", &Ok(report), ("f", &Known::default()));
        let got: Case = serde_json::from_str(&serde_json::to_string(&sent).unwrap()).unwrap();
        assert_eq!(format!("{sent:?}"), format!("{got:?}"));
        let Case::Judged(findings) = got else { panic!("it was judged") };
        assert_eq!((findings[0].summary().as_str(), findings[0].count("key-count")), ("1 anomaly: G0", Some(3)));
    }
}
