//! Adjusts a verdict if a clock error left the order of a client's operations open: see
//! [`Reader::dropped_client_orders`].
//!
//! Ops without these orders may show fewer violations than exist. Their violations are therefore certain. Positive
//! results are checked again with the recorded times, which have more orders than are certain
//! ([`Reader::begin_as_recorded`]). A result on which both agree is certain; otherwise the verdict is unknown.

use history_core::{About, HistoryError, NextStep, Reader, Report, Verdict};

const NEXT: &str = "Use a smaller --clock-error, or record with clocks that differ less.";

/// Removes uncertain results from a report, if orders were dropped. `check` checks the history of the reader again.
pub(crate) fn settle(
    report: &mut Report,
    about: &About,
    reader: &mut Reader<'_>,
    check: impl FnOnce(&mut Reader<'_>) -> Result<Report, HistoryError>,
) {
    let dropped = reader.dropped_client_orders();
    if dropped == 0 {
        return;
    }
    // Recorded times with an undecided order, or with another error, confirm nothing.
    let recorded = match reader.begin_as_recorded() {
        Ok(true) if may_be_confirmed(report) => check(reader).ok(),
        _ => None,
    };
    doubt_unconfirmed(report, recorded.as_ref(), about, dropped);
}

/// The same for a history that cannot be checked again: nothing is confirmed.
pub fn doubt(report: &mut Report, about: &About, dropped: u64) {
    if dropped > 0 {
        doubt_unconfirmed(report, None, about, dropped);
    }
}

fn may_be_confirmed(report: &Report) -> bool {
    report.verdict == Verdict::Valid || report.checkers.iter().any(may_be_confirmed)
}

fn doubt_unconfirmed(report: &mut Report, recorded: Option<&Report>, about: &About, dropped: u64) {
    for (at, one) in report.checkers.iter_mut().enumerate() {
        doubt_unconfirmed(one, recorded.and_then(|recorded| recorded.checkers.get(at)), about, dropped);
    }
    if report.verdict == Verdict::Valid {
        if recorded.is_some_and(|recorded| recorded.verdict == Verdict::Valid && levels(recorded) == levels(report)) {
            return;
        }
        let (operations, it) = if dropped == 1 { ("operation", "it") } else { ("operations", "them") };
        report.verdict = Verdict::Unknown;
        // Positive results, for the history and for levels, are not certain.
        report.notes.clear();
        report.notes.push(format!(
            "No verdict: with --clock-error, {dropped} {operations} may overlap the operation before {it} of the same \
             client. The history is valid without that order; whether it is with that order was not shown."
        ));
        report.add_next(NextStep::new(NEXT));
    }
    let is_of_levels = report.checkers.is_empty() || levels(report).iter().any(|list| !list.is_empty());
    if is_of_levels {
        let open = about.levels.iter().map(|level| level.name.clone());
        let is_ruled_out = |name: &_| report.not.contains(name) || report.also_not.contains(name);
        report.not_checked = open.filter(|name| !is_ruled_out(name)).collect();
        report.not_checked.sort_unstable();
    }
}

/// The levels that a report rules out, and those that it leaves open.
fn levels(report: &Report) -> [&[std::borrow::Cow<'static, str>]; 3] {
    [&report.not, &report.also_not, &report.not_checked]
}
