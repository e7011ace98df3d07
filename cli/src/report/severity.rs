//! The order in which a page shows anomalies: the worst first.
//!
//! One type is worse than another if it rules out more consistency levels. Among equals, the one with the smallest
//! witness comes first, because it is the easiest to understand; then the order is by name.

use history_core::{About, Anomaly, Report};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The report, with its anomalies in this order.
pub(super) fn worst_first(report: &Report, about: &About) -> Report {
    let mut report = report.clone();
    let own = about.of(&report.checker);
    report
        .anomalies
        .sort_by_cached_key(|anomaly| (Reverse(levels(own, &anomaly.name)), smallest(anomaly), anomaly.name.clone()));
    report.checkers = report.checkers.iter().map(|one| worst_first(one, about)).collect();
    report
}

/// The number of levels that an anomaly rules out.
fn levels(about: &About, anomaly: &str) -> usize {
    let is_also = |name: &str| about.anomalies.iter().find(|other| other.name == name).map(|other| &other.implies);
    let kinds = closed([anomaly].into(), |name| is_also(name).into_iter().flatten().map(|text| &**text).collect());
    let forbids = about.levels.iter().filter(|level| level.forbids.iter().any(|name| kinds.contains(&**name)));
    let stronger = |name: &str| {
        let implying = about.levels.iter().filter(|level| level.implies.iter().any(|weaker| weaker == name));
        implying.map(|level| &*level.name).collect()
    };
    closed(forbids.map(|level| &*level.name).collect(), stronger).len()
}

/// These names, and all names that follow from them in any number of steps.
fn closed<'a>(names: BTreeSet<&'a str>, next: impl Fn(&str) -> Vec<&'a str>) -> BTreeSet<&'a str> {
    let mut waiting: Vec<&str> = names.iter().copied().collect();
    let mut all = names;
    while let Some(name) = waiting.pop() {
        waiting.extend(next(name).into_iter().filter(|name| all.insert(name)));
    }
    all
}

/// The number of ops of the smallest witness. An anomaly without a witness comes last.
fn smallest(anomaly: &Anomaly) -> usize {
    let sizes = anomaly.witnesses.iter().map(|witness| witness.ops.len());
    sizes.filter(|size| *size > 0).min().unwrap_or(usize::MAX)
}

/// The types of anomalies in this order, for the list of histories.
pub(super) fn found(report: &Report) -> String {
    /// The maximum number of types that are named.
    const NAMED_MAX: usize = 6;
    let mut names: Vec<&str> = Vec::new();
    for report in std::iter::once(report).chain(&report.checkers) {
        names.extend(report.anomalies.iter().map(|anomaly| &*anomaly.name));
    }
    let more = names.len().saturating_sub(NAMED_MAX);
    names.truncate(NAMED_MAX);
    let end = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.join(", ") + &end
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::{AboutAnomaly, AboutLevel, Datum, OpKind, Verdict, Witness, WitnessOp};

    fn anomaly(name: &'static str, ops: usize) -> Anomaly {
        let op =
            WitnessOp { name: "T".into(), index: 0, process: None, kind: OpKind::Ok, time_ns: None, value: Datum::Nil };
        Anomaly { name: name.into(), count: 1, witnesses: vec![Witness::new(vec![op; ops], "")] }
    }

    #[test]
    fn what_rules_out_more_comes_first_and_then_what_is_smaller() {
        let mut about = About::default();
        let mut bad = AboutAnomaly::new("bad", "");
        bad.implies = vec!["worse-than-nothing".into()];
        about.anomalies = vec![bad, AboutAnomaly::new("worse-than-nothing", "")];
        let (mut weak, mut strong) = (AboutLevel::new("weak", ""), AboutLevel::new("strong", ""));
        weak.forbids = vec!["worse-than-nothing".into()];
        strong.implies = vec!["weak".into()];
        strong.forbids = vec!["mild".into()];
        about.levels = vec![strong, weak];
        let mut report = Report::new("c", Verdict::Invalid);
        report.anomalies = vec![anomaly("a-large", 9), anomaly("a-small", 2), anomaly("bad", 20), anomaly("mild", 20)];
        let sorted = worst_first(&report, &about);
        assert_eq!(found(&sorted), "bad, mild, a-small, a-large");
        report.anomalies = (0..8).map(|_| anomaly("a", 1)).collect();
        assert_eq!(found(&report), "a, a, a, a, a, a and 2 more");
    }
}
