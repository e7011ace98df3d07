//! `--allow-anomalies` and `--baseline`: violations that are known and do not fail a run.
//!
//! They do not change the verdict. They change only its consequences: a history whose anomalies are all known does not
//! affect the exit code, and is no failure of a test in a document.

mod baseline;

use crate::line::args::allow::{ALLOW, ALLOW_ANOMALIES, names, taken_by};
use crate::line::usage::UsageError;
use baseline::Baseline;
use clap::{Arg, ArgAction, ArgMatches, ValueHint};
use history_core::{Anomaly, Checker, KeyReport, Report, Verdict};
use std::collections::BTreeSet;

/// The known anomalies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// Types of anomalies that are known for every checker and history.
    all: BTreeSet<String>,
    baseline: Baseline,
}

/// The options, for commands that check complete histories.
pub(crate) fn options() -> [Arg; 2] {
    [
        Arg::new(ALLOW_ANOMALIES)
            .long(ALLOW_ANOMALIES)
            .value_name("ANOMALIES")
            .value_delimiter(',')
            .action(ArgAction::Append)
            // The default makes the argument present in each command that has it: see `may_be_known`.
            .default_value("")
            .hide_default_value(true)
            .help("Known anomalies to allow, comma-separated: a history with no other anomalies does not fail; --allow takes them as well"),
        Arg::new("baseline")
            .long("baseline")
            .value_name("FILE")
            .value_hint(ValueHint::FilePath)
            .action(ArgAction::Append)
            .help("Allow the anomalies in this report of an earlier run (--output json) that have the same file, type and keys"),
    ]
}

impl Known {
    /// The known anomalies from the command line.
    ///
    /// # Errors
    ///
    /// If no checker can report such an anomaly, or a file is not a report.
    pub(crate) fn of(matches: &ArgMatches, checker: &dyn Checker) -> Result<Known, UsageError> {
        let given = |name: &str| matches.try_get_many::<String>(name).ok().flatten().into_iter().flatten();
        let mut known = Known::default();
        for name in given(ALLOW_ANOMALIES).filter(|name| !name.is_empty()) {
            known.all.insert(canonical(name, checker, ALLOW_ANOMALIES)?);
        }
        let allowed = given(ALLOW).next_back().map_or("", String::as_str);
        let own = taken_by(checker, allowed);
        for name in names(allowed).filter(|name| !own.contains(name)) {
            known.all.insert(canonical(name, checker, ALLOW)?);
        }
        for path in given("baseline") {
            let text = std::fs::read_to_string(path);
            let text = text.map_err(|error| UsageError::new(format!("--baseline: cannot read {path}: {error}")))?;
            known.take(&text).map_err(|line| {
                UsageError::new(format!("--baseline: {path}:{line}: expected a report"))
                    .tip("write a report with --output json=REPORT.json, and pass that file")
            })?;
        }
        Ok(known)
    }

    /// Adds the anomalies of all reports in a text, one report per line.
    ///
    /// # Errors
    ///
    /// The number of a line that is not a report.
    fn take(&mut self, text: &str) -> Result<(), usize> {
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let value = serde_json::from_str::<serde_json::Value>(line).map_err(|_| at + 1)?;
            if value.get("error").is_some() {
                continue;
            }
            // A line contains the version of the schema and the file in addition to the report.
            let file = value.get("file").and_then(serde_json::Value::as_str).map(str::to_owned).ok_or(at + 1)?;
            let report = serde_json::from_value::<Report>(value).map_err(|_| at + 1)?;
            self.baseline.add(&file, &report);
        }
        Ok(())
    }

    /// The verdict without known anomalies. It is unknown if some keys are unknown, or if only a part of the history
    /// was checked.
    pub(crate) fn verdict(&self, file: &str, report: &Report) -> Verdict {
        if report.verdict != Verdict::Invalid || self == &Known::default() {
            return report.verdict;
        }
        // Converts the report as a baseline is read: keywords become strings.
        let as_read = || serde_json::from_value(serde_json::to_value(report).ok()?).ok();
        match if self.baseline.is_empty() { None } else { as_read() } {
            Some(read) => self.of_report(file, &read),
            None => self.of_report(file, report),
        }
    }

    fn of_report(&self, file: &str, report: &Report) -> Verdict {
        if report.verdict != Verdict::Invalid {
            return report.verdict;
        }
        if !report.checkers.is_empty() {
            return report
                .checkers
                .iter()
                .map(|report| self.of_report(file, report))
                .fold(Verdict::Valid, Verdict::and);
        }
        let checker = &*report.checker;
        let has = |anomaly: &Anomaly| self.all.contains(&*anomaly.name) || self.baseline.has(file, checker, anomaly);
        let has_key = |key: &KeyReport| {
            let text = key.key.to_string();
            let is_known = |name: &str| self.all.contains(name) || self.baseline.has_key(file, checker, &text, name);
            key.anomaly_types.iter().all(|name| is_known(name))
        };
        let is_known =
            !report.anomalies.is_empty() && report.anomalies.iter().all(has) && report.keys.iter().all(has_key);
        let has_unknown_keys = report.counts.iter().any(|(name, count)| name == "unknown-key-count" && *count > 0);
        match (is_known, report.is_partial || has_unknown_keys) {
            (false, _) => Verdict::Invalid,
            (true, true) => Verdict::Unknown,
            (true, false) => Verdict::Valid,
        }
    }
}

/// The note if the verdict without known anomalies is different.
pub(crate) fn words(verdict: Verdict, without: Verdict) -> Option<&'static str> {
    match without {
        _ if without == verdict => None,
        Verdict::Unknown => Some(
            "known: all anomalies that were found are allowed, but not everything was checked, so there may be others",
        ),
        _ => Some("known: all anomalies of this history are allowed"),
    }
}

/// The name as the checkers write it.
fn canonical(name: &str, checker: &dyn Checker, option: &str) -> Result<String, UsageError> {
    let about = checker.about();
    let members = about.members.iter().flat_map(|(_, about)| &about.anomalies);
    let names: Vec<&str> = about.anomalies.iter().chain(members).map(|anomaly| &*anomaly.name).collect();
    let name = name.trim_start_matches(':');
    if let Some(known) = names.iter().find(|known| known.eq_ignore_ascii_case(name)) {
        return Ok((*known).to_owned());
    }
    // A checker that does not list its anomalies may report any.
    if names.is_empty() {
        return Ok(name.to_owned());
    }
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_unstable();
    names.dedup();
    let message = format!("--{option}: {} reports no anomaly {name}", checker.name());
    Err(UsageError::new(message).tip(format!("it reports {}", names.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(checker: &'static str, anomalies: &[&'static str]) -> Report {
        let verdict = if anomalies.is_empty() { Verdict::Valid } else { Verdict::Invalid };
        let mut report = Report::new(checker, verdict);
        let anomaly = |name: &&'static str| Anomaly { name: (*name).into(), count: 1, witnesses: Vec::new() };
        report.anomalies = anomalies.iter().map(anomaly).collect();
        report
    }

    fn allowing(names: &[&str]) -> Known {
        Known { all: names.iter().map(|name| (*name).to_owned()).collect(), ..Known::default() }
    }

    #[test]
    fn only_what_is_known_fails_nothing() {
        let known = allowing(&["a"]);
        assert_eq!(known.verdict("f", &report("c", &["a"])), Verdict::Valid);
        assert_eq!(known.verdict("f", &report("c", &["a", "b"])), Verdict::Invalid);
        assert_eq!(known.verdict("f", &Report::new("c", Verdict::Invalid)), Verdict::Invalid, "nobody knows why");
        assert_eq!(known.verdict("f", &Report::new("c", Verdict::Unknown)), Verdict::Unknown);
        let mut keyed = report("c", &["a"]);
        keyed.counts.push(("unknown-key-count".into(), 2));
        assert_eq!(known.verdict("f", &keyed), Verdict::Unknown);
        let mut partial = report("c", &["a"]);
        partial.is_partial = true;
        assert_eq!(known.verdict("f", &partial), Verdict::Unknown);
        assert_eq!(allowing(&[]).verdict("f", &partial), Verdict::Invalid);
    }

    #[test]
    fn a_baseline_is_of_its_checkers() {
        let mut known = Known::default();
        let both = |c: &[&'static str], d: &[&'static str]| {
            let mut all = Report::new("c,d", Verdict::Invalid);
            all.checkers = vec![report("c", c), report("d", d)];
            all
        };
        let line = histcheck_front::result::json("f", Ok(&both(&["a"], &["b"]))).unwrap();
        known.take(&format!("{line}\n{{\"schema\":1,\"file\":\"g\",\"error\":{{\"message\":\"no\"}}}}\n")).unwrap();
        assert_eq!(known.verdict("f", &both(&["a"], &["b"])), Verdict::Valid);
        assert_eq!(known.verdict("f", &both(&["b"], &["b"])), Verdict::Invalid);
        assert_eq!(known.take("\n{}"), Err(2));
    }
}
