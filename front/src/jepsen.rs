//! Results in the shape of Jepsen's checkers: a map of EDN with `:valid?`, `:anomaly-types`, `:anomalies`, `:not` and
//! `:also-not`.
//!
//! For several checkers, the result is the map of `jepsen.checker/compose`; for keys, that of
//! `jepsen.independent/checker`. A history that cannot be checked is `{:valid? :unknown, :error ...}`, as with
//! `jepsen.checker/check-safe`.

use history_core::{Anomaly, Client, Datum, HistoryError, KeyReport, Report, Step, Verdict, Witness, WitnessOp};

/// One line of EDN, without its end.
pub fn edn(outcome: Result<&Report, &HistoryError>) -> String {
    match outcome {
        Ok(report) => of_report(report).to_string(),
        Err(error) => map(vec![("valid?", Datum::keyword("unknown")), ("error", error.to_string().into())]).to_string(),
    }
}

fn map(entries: Vec<(&str, Datum)>) -> Datum {
    Datum::Map(entries.into_iter().map(|(name, value)| (Datum::keyword(name), value)).collect())
}

fn verdict(verdict: Verdict) -> Datum {
    match verdict {
        Verdict::Valid => true.into(),
        Verdict::Invalid => false.into(),
        Verdict::Unknown => Datum::keyword("unknown"),
    }
}

fn names<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Vec<Datum> {
    names.into_iter().map(|name| Datum::keyword(name.as_ref())).collect()
}

fn of_report(report: &Report) -> Datum {
    let mut entries = vec![("valid?", verdict(report.verdict))];
    if !report.notes.is_empty() {
        entries.push(("notes", report.notes.clone().into()));
    }
    if !report.next.is_empty() {
        let sentences = report.next.iter().map(|step| step.what.as_ref().into()).collect();
        entries.push(("next", Datum::Vector(sentences)));
    }
    if !report.checkers.is_empty() {
        entries.extend(report.checkers.iter().map(|report| (&*report.checker, of_report(report))));
        return map(entries);
    }
    if !report.anomalies.is_empty() {
        entries.push(("anomaly-types", Datum::Vector(names(report.anomaly_types()))));
        let anomalies = report.anomalies.iter().map(|anomaly| (Datum::keyword(&*anomaly.name), of_anomaly(anomaly)));
        entries.push(("anomalies", Datum::Map(anomalies.collect())));
    }
    for (name, levels) in [("not", &report.not), ("also-not", &report.also_not)] {
        if !levels.is_empty() {
            entries.push((name, Datum::Set(names(levels))));
        }
    }
    if !report.keys.is_empty() {
        let results = report.keys.iter().map(|key| (key.key.clone(), of_key(key)));
        entries.push(("results", Datum::Map(results.collect())));
        let failures = report.keys.iter().filter(|key| key.verdict == Verdict::Invalid).map(|key| key.key.clone());
        entries.push(("failures", Datum::Vector(failures.collect())));
    }
    let has = |name: &str, entries: &[(&str, Datum)]| entries.iter().any(|(known, _)| *known == name);
    for (name, count) in &report.counts {
        if !has(name, &entries) {
            entries.push((name, (*count).into()));
        }
    }
    map(entries)
}

fn of_key(key: &KeyReport) -> Datum {
    let mut entries = vec![("valid?", verdict(key.verdict))];
    if !key.anomaly_types.is_empty() {
        entries.push(("anomaly-types", Datum::Vector(names(&key.anomaly_types))));
    }
    if !key.notes.is_empty() {
        entries.push(("notes", key.notes.clone().into()));
    }
    map(entries)
}

/// The witnesses of an anomaly, or only their number.
fn of_anomaly(anomaly: &Anomaly) -> Datum {
    if anomaly.witnesses.is_empty() {
        return Datum::Vector(vec![map(vec![("count", anomaly.count.into())])]);
    }
    Datum::Vector(anomaly.witnesses.iter().map(|witness| of_witness(&anomaly.name, witness)).collect())
}

fn of_witness(kind: &str, witness: &Witness) -> Datum {
    let ops: Vec<Datum> = witness.ops.iter().map(of_op).collect();
    let mut entries = vec![("type", Datum::keyword(kind))];
    if witness.steps.is_empty() {
        entries.push(("ops", Datum::Vector(ops)));
    } else {
        // As in Elle, a cycle ends with the op with which it begins.
        let cycle = ops.iter().chain(ops.first()).cloned().collect();
        entries.push(("cycle", Datum::Vector(cycle)));
        entries.push(("steps", Datum::Vector(witness.steps.iter().map(of_step).collect())));
    }
    entries.extend(witness.facts.iter().map(|(name, fact)| (&**name, fact.clone())));
    entries.push(("explanation", witness.explanation.as_str().into()));
    map(entries)
}

fn of_op(op: &WitnessOp) -> Datum {
    let mut entries = vec![("index", op.index.into()), ("type", Datum::keyword(op.kind.name()))];
    match &op.process {
        Some(Client::Number(number)) => entries.push(("process", (*number).into())),
        Some(Client::Name(name)) => entries.push(("process", Datum::keyword(name.clone()))),
        None => {}
    }
    entries.push(("value", op.value.clone()));
    entries.extend(op.time_ns.map(|time| ("time", time.into())));
    map(entries)
}

fn of_step(step: &Step) -> Datum {
    let mut entries = vec![("type", Datum::keyword(&*step.relation))];
    let versions = [("key", &step.key), ("value", &step.value), ("value'", &step.next_value)];
    entries.extend(versions.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))));
    map(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::{ErrorKind, OpKind};

    #[test]
    fn a_cycle_is_elles() {
        let op = |index: u64| WitnessOp {
            name: String::new(),
            index,
            process: Some(Client::Number(0)),
            kind: OpKind::Ok,
            time_ns: None,
            value: Datum::Nil,
        };
        let steps = vec![Step::new(0, 1, "ww", ""), Step::new(1, 0, "rw", "")];
        let witness = Witness::new(vec![op(1), op(3)], "so").with_steps(steps);
        let mut report = Report::new("list-append", Verdict::Invalid);
        report.anomalies = vec![Anomaly { name: "G-single".into(), count: 1, witnesses: vec![witness] }];
        report.not = vec!["consistent-view".into()];
        report.counts = vec![("ok-count".into(), 2)];
        let (first, second) =
            ("{:index 1, :type :ok, :process 0, :value nil}", "{:index 3, :type :ok, :process 0, :value nil}");
        let cycle = format!("[{first} {second} {first}]");
        let expected = format!(
            "{{:valid? false, :anomaly-types [:G-single], :anomalies {{:G-single [{{:type :G-single, :cycle {cycle}, \
             :steps [{{:type :ww}} {{:type :rw}}], :explanation \"so\"}}]}}, :not #{{:consistent-view}}, :ok-count 2}}"
        );
        assert_eq!(edn(Ok(&report)), expected);
    }

    #[test]
    fn several_checkers_and_errors_are_as_in_jepsen() {
        let mut all = Report::new("a,b", Verdict::Unknown);
        all.checkers = vec![Report::new("a", Verdict::Valid), Report::new("b", Verdict::Unknown)];
        assert_eq!(edn(Ok(&all)), "{:valid? :unknown, :a {:valid? true}, :b {:valid? :unknown}}");
        let error = HistoryError::new(ErrorKind::Unexpected, "no \"op\"");
        assert_eq!(edn(Err(&error)), "{:valid? :unknown, :error \"no \\\"op\\\"\"}");
    }
}
