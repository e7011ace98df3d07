//! Checkers that are wrong on purpose: the comparison with the oracle must find their errors.

use super::Question;
use super::against::{checker, compare};
use super::cases::{Case, edn};
use super::lattice;
use super::names::Names;
use history_core::{History, Report, Verdict};

/// Returns the names of the cases in which the comparison refuses a checker.
pub(crate) fn is_caught(cases: &[Case], judge: impl Fn(&History, &Question<'_>) -> Report) -> Vec<&'static str> {
    let fails = |case: &&Case| compare(&edn(case.history), &case.question(), &judge).is_err();
    cases.iter().filter(fails).map(|case| case.name).collect()
}

/// The types of anomalies that the cases show.
pub(crate) fn types(cases: &[Case]) -> Names {
    cases.iter().flat_map(|case| case.types.split_whitespace().map(lattice::name)).collect()
}

/// Asserts that a checker that always reports valid is refused exactly where that is wrong.
pub(crate) fn refuse_always_valid(cases: &[Case]) {
    let caught = is_caught(cases, |history, question| {
        let mut report = Report::new("canary", Verdict::Valid);
        report.not_checked = checker(history, question).not_checked;
        report
    });
    let not_valid: Vec<&str> = cases.iter().filter(|case| case.verdict != "true").map(|case| case.name).collect();
    assert_eq!(caught, not_valid);
}

/// Asserts that a checker that omits a type is refused in all cases of that type; returns the number of types.
pub(crate) fn refuse_forgetful(cases: &[Case]) -> usize {
    let types = types(cases);
    for forgotten in &types {
        let caught = is_caught(cases, |history, question| {
            let mut report = checker(history, question);
            report.anomalies.retain(|anomaly| anomaly.name != *forgotten);
            report
        });
        let is_there = |case: &&Case| case.types.split_whitespace().any(|name| name == *forgotten);
        let with: Vec<&str> = cases.iter().filter(is_there).map(|case| case.name).collect();
        assert_eq!(caught, with, "{forgotten}");
    }
    types.len()
}
