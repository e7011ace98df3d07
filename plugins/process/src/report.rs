//! Validates the report of another process.

use crate::protocol::{AnomalyForm, NextForm, ReportForm, VerdictForm, WitnessForm};
use history_core::{Anomaly, NextStep, Report, Verdict, Witness, WitnessOp, explain};

/// Converts the report of a checker.
///
/// # Errors
///
/// If the report is invalid.
pub(crate) fn report(checker: &str, form: ReportForm) -> Result<Report, String> {
    let ReportForm { verdict, observed, notes, next, anomalies, counts } = form;
    let mut verdict = match verdict {
        VerdictForm::Known(true) => Verdict::Valid,
        VerdictForm::Known(false) => Verdict::Invalid,
        VerdictForm::Word(word) if word == "unknown" => Verdict::Unknown,
        VerdictForm::Word(word) => return Err(format!("the verdict {word:?}: expected true, false or \"unknown\"")),
    };
    match (verdict, anomalies.is_empty()) {
        (Verdict::Valid, false) => return Err("the verdict true with anomalies".to_owned()),
        (Verdict::Invalid, true) => return Err("the verdict false without an anomaly".to_owned()),
        _ => {}
    }
    let mut notes = notes;
    if verdict == Verdict::Valid {
        match observed {
            None => {
                return Err(
                    "the verdict true without \"observed\", the number of results that could have been wrong".into()
                );
            }
            Some(0) => {
                verdict = Verdict::Unknown;
                notes.push(format!("No verdict, because {checker} observed no result that could have been wrong."));
            }
            Some(_) => {}
        }
    }
    if verdict == Verdict::Unknown && notes.is_empty() {
        notes.push(format!("No verdict, and {checker} does not say why."));
    }
    let mut report = Report::new(checker.to_owned(), verdict);
    report.notes = notes;
    for form in next {
        report.add_next(match form {
            NextForm::Sentence(what) | NextForm::Option { what, option: None } => NextStep::new(what),
            NextForm::Option { what, option: Some(option) } => NextStep::option(option, what),
        });
    }
    if observed == Some(0) && report.next.is_empty() {
        report.add_next(NextStep::new(format!("Record results that {checker} compares with what must hold.")));
    }
    report.anomalies = anomalies.into_iter().map(anomaly).collect::<Result<_, _>>()?;
    report.anomalies.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(pair) = report.anomalies.windows(2).find(|pair| pair[0].name == pair[1].name) {
        return Err(format!("the anomaly {} twice", pair[0].name));
    }
    let counts = counts.into_iter().filter(|(name, _)| observed.is_none() || name != "observed");
    report.counts = counts.map(|(name, count)| (name.into(), count)).collect();
    report.counts.extend(observed.map(|observed| ("observed".into(), observed)));
    Ok(report)
}

fn anomaly(form: AnomalyForm) -> Result<Anomaly, String> {
    let AnomalyForm { name, count, witnesses } = form;
    if name.trim().is_empty() || name.contains(char::is_whitespace) {
        return Err(format!("the anomaly {name:?}: expected a name without spaces"));
    }
    let witnesses: Vec<Witness> = witnesses.into_iter().map(witness).collect();
    let listed = u64::try_from(witnesses.len()).unwrap_or(u64::MAX);
    let count = count.unwrap_or(listed.max(1));
    if count < listed.max(1) {
        return Err(format!("{count} anomalies {name} with {listed} witnesses"));
    }
    Ok(Anomaly { name: name.into(), count, witnesses })
}

fn witness(form: WitnessForm) -> Witness {
    let op = |(at, op): (usize, crate::protocol::OpForm)| WitnessOp {
        name: explain::name(at),
        index: op.index,
        process: op.process,
        kind: op.kind,
        time_ns: op.time,
        value: op.value,
    };
    Witness::new(form.ops.into_iter().enumerate().map(op).collect(), form.explanation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> Result<Report, String> {
        report("c", serde_json::from_str(json).map_err(|error| error.to_string())?)
    }

    #[test]
    fn a_report_has_evidence_for_its_verdict() {
        assert_eq!(of(r#"{"verdict": true, "observed": 3}"#).unwrap().verdict, Verdict::Valid);
        let nothing = of(r#"{"verdict": true, "observed": 0}"#).unwrap();
        assert_eq!(nothing.verdict, Verdict::Unknown);
        assert_eq!(nothing.notes, ["No verdict, because c observed no result that could have been wrong."]);
        assert_eq!(nothing.next[0].what, "Record results that c compares with what must hold.");
        for (wrong, why) in [
            (r#"{"verdict": true}"#, "true without \"observed\""),
            (r#"{"verdict": true, "observed": 1, "anomalies": [{"name": "a"}]}"#, "true with anomalies"),
            (r#"{"verdict": false}"#, "false without an anomaly"),
            (r#"{"verdict": "maybe"}"#, "expected true, false or"),
            (r#"{"verdict": false, "anomalies": [{"name": "a"}, {"name": "a"}]}"#, "the anomaly a twice"),
            (r#"{"verdict": false, "anomalies": [{"name": "a b"}]}"#, "without spaces"),
            (r#"{"verdict": false, "anomalies": [{"name": "a", "count": 0}]}"#, "0 anomalies a"),
        ] {
            let error = of(wrong).unwrap_err();
            assert!(error.contains(why), "{wrong}: {error}");
        }
    }

    #[test]
    fn next_steps_are_sentences_and_options() {
        let steps = r#"[{"what": "Raise it.", "option": "depth"}, "Record more.", {"what": "Wait."}]"#;
        let report = of(&format!(r#"{{"verdict": "unknown", "next": {steps}}}"#)).unwrap();
        let said: Vec<_> = report.next.iter().map(|step| (&*step.what, step.option.as_deref())).collect();
        assert_eq!(said, [("Raise it.", Some("depth")), ("Record more.", None), ("Wait.", None)]);
        let known = of(&format!(r#"{{"verdict": true, "observed": 1, "next": {steps}}}"#)).unwrap();
        assert_eq!(known.next, [], "nothing is missing");
    }

    #[test]
    fn ops_of_a_witness_are_those_that_were_sent() {
        let json = r#"{"verdict": false, "anomalies": [{"name": "lost", "witnesses": [{"explanation": "so",
            "ops": [{"index": 4, "type": "ok", "process": 1, "f": "read", "value": [1, null]}]}]}]}"#;
        let report = of(json).unwrap();
        let witness = &report.anomalies[0].witnesses[0];
        assert_eq!((report.anomalies[0].count, witness.ops[0].name.as_str(), witness.ops[0].index), (1, "T1", 4));
        assert_eq!(witness.ops[0].value.to_string(), "[1 nil]");
    }
}
