//! Explains a verdict in a sentence, for readers without the manual.

use history_core::{About, Report, Subject, Verdict};

/// The sign, the word and the class of a verdict. It is readable without its colour.
pub(super) fn badge(verdict: Option<Verdict>) -> (&'static str, &'static str, &'static str) {
    match verdict {
        Some(Verdict::Valid) => ("\u{2713}", "valid", "valid"),
        Some(Verdict::Invalid) => ("\u{2715}", "invalid", "invalid"),
        Some(Verdict::Unknown) => ("?", "unknown", "unknown"),
        None => ("!", "not checked", "error"),
    }
}

/// The sentence. `asked` contains the requested consistency levels, if any were given.
pub(super) fn sentence(report: &Report, about: &About, asked: Option<&str>) -> String {
    let name = &report.checker;
    let kinds: Vec<&str> = report.anomaly_types().collect();
    let found = match kinds[..] {
        [] => "an anomaly without a name".to_owned(),
        [one] => one.to_owned(),
        [first, second] => format!("{first} and {second}"),
        [first, second, ..] => format!("{first}, {second} and {} more kinds of anomaly", kinds.len() - 2),
    };
    if !report.checkers.is_empty() {
        let count = report.checkers.len();
        return match report.verdict {
            Verdict::Valid => format!("All {count} checkers found nothing wrong with this history."),
            Verdict::Invalid => "At least one checker found an anomaly in this history.".into(),
            Verdict::Unknown => "No checker found an anomaly, but not all reached a verdict.".into(),
        };
    }
    let about = about.of(&report.checker);
    let is_refused = kinds.len() == 1 && about.begins_with_refused(kinds[0]);
    match (report.verdict, about.subject) {
        (Verdict::Valid, Subject::Transactions) => match asked {
            Some(models) => {
                format!("Nothing in this history contradicts {models}: its transactions are consistent with that level.")
            }
            None => {
                "Nothing in this history contradicts strict serializability: it is explained by transactions that ran one at a time, each between its invocation and its completion."
                    .into()
            }
        },
        (Verdict::Valid, Subject::Object) => format!(
            "This history is linearizable: each operation can be placed at one instant between its invocation and its completion, so that a single {name} would have returned the same."
        ),
        (Verdict::Valid, _) => {
            format!("{name} found no anomaly in this history.")
        }
        (Verdict::Invalid, Subject::Transactions) => format!(
            "The clients of this history observed what {} rules out: {found}.",
            asked.unwrap_or("strict serializability")
        ),
        (Verdict::Invalid, Subject::Object) if is_refused => format!(
            "This history is not linearizable: up to some operation there is an order in which a single {name} would have returned the same, but no order includes that operation."
        ),
        (Verdict::Invalid, _) => format!("{name} found anomalies in this history: {found}."),
        (Verdict::Unknown, _) => {
            "The checker could not decide whether this history is valid. It found no anomaly; the notes explain what was missing."
                .into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::{AboutAnomaly, Anomaly};

    fn report(name: &'static str, verdict: Verdict, found: &[&'static str]) -> Report {
        let anomaly = |name: &&'static str| Anomaly { name: (*name).into(), count: 1, witnesses: Vec::new() };
        let mut report = Report::new(name, verdict);
        report.anomalies = found.iter().map(anomaly).collect();
        report
    }

    #[test]
    fn each_subject_has_its_sentence() {
        let said =
            |about: &About, name, verdict, found: &[&'static str]| sentence(&report(name, verdict, found), about, None);
        let transactions = About::new(Subject::Transactions);
        assert!(
            said(&transactions, "list-append", Verdict::Invalid, &["G0", "G1a", "G1c"])
                .ends_with("G0, G1a and 1 more kinds of anomaly.")
        );
        let refused = AboutAnomaly::new("no-place", "It has no place.").with_refused_first();
        let object = About::new(Subject::Object).with_anomaly(refused);
        assert!(said(&object, "kv", Verdict::Invalid, &["no-place"]).contains("a single kv would have returned"));
        assert!(said(&object, "kv", Verdict::Valid, &[]).starts_with("This history is linearizable"));
        let workload = About::default();
        assert!(
            said(&workload, "bank", Verdict::Invalid, &["wrong-total"])
                .ends_with("bank found anomalies in this history: wrong-total.")
        );
        assert!(said(&workload, "bank", Verdict::Valid, &[]).contains("no anomaly"));
        assert!(said(&workload, "x", Verdict::Unknown, &[]).contains("could not decide"));
    }
}
