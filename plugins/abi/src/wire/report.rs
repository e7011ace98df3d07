//! Reports as data between host and plugin, and their validation.
//!
//! These types resemble those of `history_core`, but are separate. Their fields are frozen with interface 1: a plugin
//! that was built once will always send them. The serialization of a [`Report`] is the output of the program: its keys
//! may change, it omits artifacts and pictures, and it writes values as plain JSON, which does not distinguish keywords
//! and texts. So neither can replace the other.

use super::figure;
use super::forms::{Edn, OpForm, StepForm, is_inside};
use history_core::{Anomaly, Artifact, KeyReport, NextStep, Participants, Report, Verdict, Witness};
use serde::{Deserialize, Serialize};

/// A [`Report`].
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct ReportForm {
    checker: String,
    verdict: String,
    /// Absent from plugins built before this field existed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_partial: bool,
    #[serde(default)]
    notes: Vec<String>,
    /// Absent from plugins built before this field existed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    next: Vec<NextForm>,
    #[serde(default)]
    anomalies: Vec<AnomalyForm>,
    #[serde(default)]
    not: Vec<String>,
    #[serde(default)]
    also_not: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    not_checked: Vec<String>,
    #[serde(default)]
    counts: Vec<(String, u64)>,
    #[serde(default)]
    artifacts: Vec<Artifact>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    figures: Vec<serde_json::Value>,
    #[serde(default)]
    keys: Vec<KeyForm>,
    #[serde(default)]
    checkers: Vec<ReportForm>,
}

#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
struct NextForm {
    what: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    option: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
struct AnomalyForm {
    name: String,
    count: u64,
    #[serde(default)]
    witnesses: Vec<WitnessForm>,
}

#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
struct WitnessForm {
    #[serde(default)]
    ops: Vec<OpForm>,
    #[serde(default)]
    steps: Vec<StepForm>,
    #[serde(default)]
    facts: Vec<(String, Edn)>,
    #[serde(default)]
    explanation: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
struct KeyForm {
    key: Edn,
    verdict: String,
    #[serde(default)]
    anomaly_types: Vec<String>,
    #[serde(default)]
    notes: Vec<String>,
}

impl From<Report> for ReportForm {
    fn from(report: Report) -> ReportForm {
        let names = |names: Vec<std::borrow::Cow<'static, str>>| names.into_iter().map(Into::into).collect();
        ReportForm {
            checker: report.checker.into(),
            verdict: report.verdict.name().to_owned(),
            is_partial: report.is_partial,
            notes: report.notes,
            next: report.next.into_iter().map(NextForm::from).collect(),
            anomalies: report.anomalies.into_iter().map(AnomalyForm::from).collect(),
            not: names(report.not),
            also_not: names(report.also_not),
            not_checked: names(report.not_checked),
            counts: report.counts.into_iter().map(|(name, count)| (name.into(), count)).collect(),
            artifacts: report.artifacts,
            figures: figure::forms(report.figures),
            keys: report.keys.into_iter().map(KeyForm::from).collect(),
            checkers: report.checkers.into_iter().map(ReportForm::from).collect(),
        }
    }
}

impl From<NextStep> for NextForm {
    fn from(step: NextStep) -> NextForm {
        NextForm { what: step.what.into(), option: step.option.map(Into::into) }
    }
}

impl From<NextForm> for NextStep {
    fn from(form: NextForm) -> NextStep {
        match form.option {
            Some(option) => NextStep::option(option, form.what),
            None => NextStep::new(form.what),
        }
    }
}

impl From<Anomaly> for AnomalyForm {
    fn from(anomaly: Anomaly) -> AnomalyForm {
        let witness = |witness: Witness| WitnessForm {
            ops: witness.ops.into_iter().map(OpForm::from).collect(),
            steps: witness.steps.into_iter().map(StepForm::from).collect(),
            facts: witness.facts.iter().map(|(name, fact)| (name.to_string(), Edn::of(fact))).collect(),
            explanation: witness.explanation,
        };
        AnomalyForm {
            name: anomaly.name.into(),
            count: anomaly.count,
            witnesses: anomaly.witnesses.into_iter().map(witness).collect(),
        }
    }
}

impl From<KeyReport> for KeyForm {
    fn from(key: KeyReport) -> KeyForm {
        KeyForm {
            key: Edn::of(&key.key),
            verdict: key.verdict.name().to_owned(),
            anomaly_types: key.anomaly_types.into_iter().map(Into::into).collect(),
            notes: key.notes,
        }
    }
}

fn verdict(name: &str) -> Result<Verdict, String> {
    [Verdict::Valid, Verdict::Unknown, Verdict::Invalid]
        .into_iter()
        .find(|verdict| verdict.name() == name)
        .ok_or_else(|| format!("{name:?} is not a verdict"))
}

/// The maximum nesting of reports: a composed report contains the reports of its members.
const NESTED_MAX: usize = 4;

impl ReportForm {
    /// The report, if it is one. What an older plugin knows by a number that represents a name gets that.
    ///
    /// # Errors
    ///
    /// What makes no sense about it.
    pub fn report(self, participants: &Participants) -> Result<Report, String> {
        self.nested(participants, 0)
    }

    fn nested(self, participants: &Participants, depth: usize) -> Result<Report, String> {
        if depth > NESTED_MAX {
            return Err(format!("more than {NESTED_MAX} nested reports"));
        }
        let mut report = Report::new(self.checker, verdict(&self.verdict)?);
        report.is_partial = self.is_partial;
        report.notes = self.notes;
        for form in self.next {
            report.add_next(form.into());
        }
        report.anomalies =
            self.anomalies.into_iter().map(|form| form.anomaly(participants)).collect::<Result<_, _>>()?;
        report.not = self.not.into_iter().map(Into::into).collect();
        report.also_not = self.also_not.into_iter().map(Into::into).collect();
        report.not_checked = self.not_checked.into_iter().map(Into::into).collect();
        report.counts = self.counts.into_iter().map(|(name, count)| (name.into(), count)).collect();
        if let Some(bad) = self.artifacts.iter().find(|artifact| !is_inside(&artifact.path)) {
            return Err(format!("the path {:?} leaves the directory of artifacts", bad.path));
        }
        report.artifacts = self.artifacts;
        report.figures = figure::figures(self.figures, participants)?;
        report.keys = self.keys.into_iter().map(KeyForm::report).collect::<Result<_, _>>()?;
        report.checkers =
            self.checkers.into_iter().map(|form| form.nested(participants, depth + 1)).collect::<Result<_, _>>()?;
        Ok(report)
    }
}

impl AnomalyForm {
    fn anomaly(self, participants: &Participants) -> Result<Anomaly, String> {
        let witnesses = self.witnesses.into_iter().map(|form| form.witness(participants)).collect::<Result<_, _>>()?;
        Ok(Anomaly { name: self.name.into(), count: self.count, witnesses })
    }
}

impl WitnessForm {
    fn witness(self, participants: &Participants) -> Result<Witness, String> {
        let count = self.ops.len();
        if let Some(step) = self.steps.iter().find(|step| step.from.max(step.to) >= count) {
            return Err(format!("a step goes from op {} to op {} of {count}", step.from, step.to));
        }
        let ops = self.ops.into_iter().map(|op| op.op(participants)).collect::<Result<_, _>>()?;
        let steps = self.steps.into_iter().map(StepForm::step).collect::<Result<_, _>>()?;
        let facts = self.facts.into_iter().map(|(name, edn)| Ok::<_, String>((name.into(), edn.datum()?)));
        Ok(Witness::new(ops, self.explanation).with_steps(steps).with_facts(facts.collect::<Result<_, _>>()?))
    }
}

impl KeyForm {
    fn report(self) -> Result<KeyReport, String> {
        Ok(KeyReport {
            key: self.key.datum()?,
            verdict: verdict(&self.verdict)?,
            anomaly_types: self.anomaly_types.into_iter().map(Into::into).collect(),
            notes: self.notes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_that_were_not_checked_cross_and_may_be_left_out() {
        let mut report = Report::new("c", Verdict::Unknown);
        let plain = serde_json::to_string(&ReportForm::from(report.clone())).unwrap();
        assert!(!plain.contains("not_checked"), "as it was before there were any: {plain}");
        assert_eq!(
            serde_json::from_str::<ReportForm>(&plain).unwrap().report(&Participants::new()),
            Ok(report.clone())
        );
        assert!(!plain.contains("next"), "nor of next steps: {plain}");
        report.not_checked = vec!["prefix".into()];
        report.next = vec![NextStep::option("timeout", "Allow more time."), NextStep::new("Record reads.")];
        let form = serde_json::to_string(&ReportForm::from(report.clone())).unwrap();
        assert_eq!(serde_json::from_str::<ReportForm>(&form).unwrap().report(&Participants::new()), Ok(report));
    }
}
