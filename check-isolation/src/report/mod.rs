//! The report: which levels hold and which do not, and the evidence.

mod derivation;
pub(crate) mod explain;
mod judge;
pub(crate) mod listed;
mod name;
mod next;
mod plain;
pub(crate) mod witness;

use crate::decode::{Decoded, Settled};
use crate::level::{Base, Level, Levels};
use crate::timestamps;
pub use derivation::{NO_COMMIT_ORDER, Recorded};
use history_core::cast::Cast as _;
use history_core::{Anomaly, Budget, NAMELESS, NextStep, Report, SESSIONLESS, UNTIMED, Verdict, Witness};
use judge::Judgement;
pub(crate) use listed::{NAME, names};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The anomaly of a value without a writer.
pub(crate) const THIN_AIR: (&str, &str) = ("thin-air-read", "A transaction read a value that was never written.");

/// The anomalies that the checker can report: names and descriptions.
pub(crate) const ANOMALIES: &[(&str, &str)] = &[
    ("G0", "A cycle of ww: transactions overwrote one another."),
    ("G1a", "A transaction read what a failed one had written."),
    ("G1b", "A transaction read a value that its writer itself overwrote."),
    ("G1c", "A cycle of ww and wr: transactions depend on one another."),
    ("G-single-item", "A cycle with exactly one rw: a transaction misses what it depends on."),
    ("G-nonadjacent-item", "A cycle with several rw, no two of them side by side."),
    ("G2-item", "A cycle with two rw side by side."),
    NO_COMMIT_ORDER,
    THIN_AIR,
    ("future-read", "A transaction read what it wrote itself only later."),
    ("internal", "A transaction's read after its own write does not show that write."),
    ("incompatible-order", "Two reads of a list, of which neither is a prefix of the other."),
    ("duplicate-elements", "A read of a list shows one element twice."),
];

/// The start of the note on the levels that hold.
pub(crate) const STRONGEST: &str = "The strongest levels that hold";

/// The next step if a read may have observed one of several writes.
const WRITE_ONCE: &str = "Write each value to a key only once, for example from a counter.";

/// The start of the note on ignored reads.
const OTHER_READS: &str = "The verdict ignores reads of values that were written twice";

/// The report on a history about which nothing is known.
pub(crate) fn unknown(note: &str, next: Option<NextStep>) -> Report {
    let mut report = Report::new(NAME, Verdict::Unknown);
    report.notes.push(note.to_owned());
    report.next.extend(next);
    report.not_checked = names(Level::all());
    report
}

/// The report on a history.
pub(crate) fn report(run: &Decoded, settled: &Settled, budget: &Budget) -> Report {
    let mut report = if let Some((note, next)) = nothing_to_judge(run) {
        unknown(&note, Some(next))
    } else if run.settings.timestamps || settled.ambiguous.is_some() {
        let certain = settled.certain();
        match settled.ambiguous {
            _ if !certain.direct.is_empty() => judged(run, &certain, budget),
            Some(ambiguous) if !run.settings.timestamps => {
                let why = explain::ambiguous(run, ambiguous);
                let mut report = judged(run, &settled.without_ambiguous(), budget);
                if report.verdict == Verdict::Invalid {
                    report.is_partial = true;
                    report.notes.insert(0, format!("{OTHER_READS}: {why}."));
                    report
                } else {
                    unknown(&format!("No verdict, because {why}."), Some(NextStep::new(WRITE_ONCE)))
                }
            }
            _ => without_the_nameless(timestamps::report(run, settled, budget), run),
        }
    } else {
        judged(run, settled, budget)
    };
    report.notes.extend(run.rows.participants.note());
    if run.has_timestamps && !run.settings.timestamps {
        report.notes.push("Transactions have timestamps of the store: use --timestamps to check them.".into());
    }
    report.counts = vec![
        ("ok-count".into(), run.counts.ok),
        ("fail-count".into(), run.counts.fail),
        ("info-count".into(), run.counts.info),
        ("nonclient-op-count".into(), run.rows.participants.others()),
        ("key-count".into(), run.versions.key_codes.len().to_u64()),
        ("mop-count".into(), run.rows.mop_count().to_u64()),
    ];
    report
}

/// The report, unless it is a valid verdict based on invocations without a process.
fn without_the_nameless(report: Report, run: &Decoded) -> Report {
    let (note, what) = NAMELESS;
    if run.has_nameless && report.verdict == Verdict::Valid {
        return unknown(note, Some(NextStep::new(what)));
    }
    report
}

fn nothing_to_judge(run: &Decoded) -> Option<(String, NextStep)> {
    let counts = run.counts;
    if counts.ok + counts.fail + counts.info == 0 {
        let note = format!(
            "The history contains no op of a client, so there was nothing to check. {NAME} expects transactions."
        );
        return Some((note, NextStep::new("Record the transactions of clients, as lists of micro-ops.")));
    }
    let says_something = |row| run.rows.kind(row) == history_core::OpKind::Ok && !run.rows.mops(row).is_empty();
    if run.rows.ids().any(says_something) {
        return None;
    }
    let note = format!(
        "No ok op contains a micro-op, so there was nothing to check. {NAME} expects values that are lists of micro-ops."
    );
    let what = "Record ok transactions as lists of micro-ops, or choose the checker of such ops with -m.";
    Some((note, NextStep::option("model", what)))
}

/// The expected levels, given those that were named.
pub(crate) fn expected(named: &[Level]) -> Vec<Level> {
    match named {
        [] => vec!["strict-serializable".parse().expect("a level")],
        levels => levels.to_vec(),
    }
}

fn judged(run: &Decoded, settled: &Settled, budget: &Budget) -> Report {
    let expected = expected(&run.settings.levels);
    let mut judgement = Judgement::new(settled, &run.settings.levels, budget);
    let is_partial = run.is_partial || settled.ambiguous.is_some();
    if is_partial || run.has_nameless {
        judgement.keep_violations();
    }
    let is_open = |level: &&Level| !judgement.holds.has(**level) && !judgement.violated.has(**level);
    let open: Vec<Level> = expected.iter().filter(is_open).copied().collect();
    let verdict = if expected.iter().any(|level| judgement.violated.has(*level)) {
        Verdict::Invalid
    } else if open.is_empty() {
        Verdict::Valid
    } else {
        Verdict::Unknown
    };
    let mut report = Report::new(NAME, verdict);
    // An anomaly that rules out every level ends the search for others.
    report.is_partial = verdict == Verdict::Invalid && !settled.direct.is_empty();
    let weakest = |level: &Level| !level.weaker().iter().any(|other| other != *level && judgement.violated.has(other));
    let (not, also_not): (Vec<Level>, Vec<Level>) = judgement.violated.iter().partition(weakest);
    report.not = names(not.into_iter());
    report.also_not = names(also_not.into_iter());
    let is_known = |level: &Level| judgement.holds.has(*level) || judgement.violated.has(*level);
    report.not_checked = names(Level::all().filter(|level| !is_known(level)));
    report.anomalies = anomalies(run, settled, &judgement);
    report.notes = if is_partial {
        Vec::new()
    } else if run.has_nameless && verdict == Verdict::Unknown {
        let (note, what) = NAMELESS;
        report.add_next(NextStep::new(what));
        vec![note.to_owned()]
    } else {
        for step in open.iter().flat_map(|level| next::steps(*level, budget)) {
            report.add_next(step);
        }
        notes(settled, &judgement, &report, &open, run.settings.levels.is_empty())
    };
    let base = judgement.holds.iter().filter_map(|level| Some(level.decided_by()?.1)).max().unwrap_or(Base::None);
    if run.rows.lacks_invocations() && base == Base::RealTime {
        report.notes.push(UNTIMED.to_owned());
    }
    if run.rows.lacks_processes() && base != Base::None {
        report.notes.push(SESSIONLESS.to_owned());
    }
    if run.settings.explain_valid {
        report.artifacts.extend(judgement.orders(run, settled));
        report.notes.extend(judgement.order_notes(run, settled));
    }
    let shown_anomalies = report.anomalies.iter().filter(|anomaly| !anomaly.witnesses.is_empty());
    report.artifacts.extend(shown_anomalies.map(history_core::explain::artifact));
    if budget.figures {
        report.figures = witness::figures(&report.anomalies);
    }
    report
}

fn anomalies(run: &Decoded, settled: &Settled, judgement: &Judgement) -> Vec<Anomaly> {
    let mut found: BTreeMap<&str, (u64, Vec<Witness>)> = BTreeMap::new();
    let max = run.settings.witnesses_max;
    for case in &settled.direct {
        let (count, witnesses) = found.entry(case.what.name()).or_default();
        *count += 1;
        if witnesses.len() < max {
            witnesses.push(witness::direct(run, *case));
        }
    }
    for refutation in judgement.refutations() {
        let (count, witnesses) = found.entry(refutation.anomaly()).or_default();
        *count += 1;
        if witnesses.len() < max {
            witnesses.push(refutation.witness(&witness::Happened { run, settled }));
        }
    }
    let anomaly = |(name, (count, witnesses)): (&'static str, _)| Anomaly { name: name.into(), count, witnesses };
    found.into_iter().map(anomaly).collect()
}

fn notes(settled: &Settled, judgement: &Judgement, report: &Report, open: &[Level], all: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if all {
        let strongest = strongest(judgement.holds);
        let listing = |names: &[Cow<'_, str>]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        notes.push(format!("{STRONGEST}: {}. The weakest that do not: {}.", listing(&strongest), listing(&report.not)));
    }
    for level in open {
        notes.push(judgement.why_open(*level));
    }
    let mav = ["monotonic-atomic-view", "strong-session-monotonic-atomic-view"];
    if report.not.iter().any(|name| mav.contains(&&**name)) {
        notes.push(
            "read-committed is Adya's. What Biswas and Enea, and AWDIT, call read committed is strong-session-monotonic-atomic-view."
                .to_owned(),
        );
    }
    if settled.read_count == 0 && report.verdict == Verdict::Valid {
        notes.push(
            "No ok transaction read anything that another could have written, so every order explains the history."
                .into(),
        );
    }
    notes
}

/// The levels that no other one of these implies.
fn strongest(levels: Levels) -> Vec<Cow<'static, str>> {
    let is_implied = |level: Level| levels.iter().any(|other| other != level && other.is_at_least(level));
    names(levels.iter().filter(|level| level.decided_by().is_some() && !is_implied(*level)))
}
