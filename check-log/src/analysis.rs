//! The report: all anomalies with their witnesses, which of them are violations, and further counts.

use crate::cycle::{self, Cycles};
use crate::direct::{self, Found};
use crate::kafka::Kafka;
use crate::lag::{self, Consumed, Lag, over_time};
use crate::logs::Logs;
use crate::loss;
use crate::order::{Jump, Jumps};
use crate::scene::{Scene, excerpt};
use crate::seen::Seen;
use history_core::cast::Cast as _;
use history_core::{Anomaly, Artifact, Budget, NextStep, Report, Verdict, explain, parallel};
use std::fmt::Write;

/// The maximum number of witnesses per type, unless all are requested.
const SHOWN_MAX: usize = 32;

/// The maximum number of witnesses per type of skips, steps back, and cycles.
const SHOWN_JUMPS_MAX: usize = 8;

/// Types that are never a violation.
const ALLOWED: &[&str] = &["int-send-skip", "G0", "G0-realtime"];

/// Types of cycles with polls.
const POLL_CYCLES: &[&str] = &["G1c", "G1c-realtime"];

/// The report on the ops seen. Unless these are the `whole` history, the report contains only anomalies that no later
/// op can revoke.
pub(crate) fn report(seen: &Seen, options: Kafka, whole: bool, budget: &Budget) -> Report {
    budget.begin("ordering the logs");
    let logs = Logs::infer(&seen.ops, &seen.messages);
    let scene = Scene { seen, logs: &logs };
    budget.begin("looking for anomalies");
    let of_logs = || {
        let mut findings = Findings::new(scene, options, budget.figures);
        findings.add_direct();
        if whole {
            findings.add_losses();
        }
        findings.add_cycles(budget);
        findings
    };
    let of_clients = || (Jumps::find(scene), lag::consumed(scene), lag::worst(scene));
    let worth = seen.ops.len() >= parallel::WORTH_OPS;
    let (mut findings, (jumps, consumed, worst)) = parallel::both(worth, of_logs, of_clients);
    // If an op ended the check, an op after it may be earlier than the one with which it is compared.
    findings.add_jumps(&jumps, !seen.undecoded.has_stopped());
    budget.begin("explaining what was found");
    let mut report = findings.finish();
    seen.undecoded.conclude(&mut report);
    report.notes.extend(seen.ops.participants.note());
    numbers(scene, &consumed, worst, &mut report);
    if budget.figures {
        report.figures.extend(over_time::figures(scene));
    }
    report
}

struct Findings<'a> {
    scene: Scene<'a>,
    options: Kafka,
    report: Report,
    /// Whether pictures are requested.
    draws: bool,
    /// Whether some anomaly is a violation.
    is_fatal: bool,
    allowed: Vec<&'static str>,
}

impl<'a> Findings<'a> {
    fn new(scene: Scene<'a>, options: Kafka, draws: bool) -> Findings<'a> {
        let report = Report::new("kafka", Verdict::Valid);
        Findings { scene, options, report, draws, is_fatal: false, allowed: Vec::new() }
    }

    fn max(&self, max: usize) -> usize {
        if self.options.all_errors { usize::MAX } else { max }
    }

    fn is_allowed(&self, name: &str) -> bool {
        ALLOWED.contains(&name)
            || self.options.subscribes && [Jump::PollSkip.name(), Jump::NonmonotonicPoll.name()].contains(&name)
            || self.options.cut_short && name == "unseen"
    }

    fn add(&mut self, name: &'static str, (count, shown): Found) {
        if let Some(anomaly) = self.scene.anomaly(name, count, &shown) {
            if self.draws {
                self.report.figures.extend(excerpt::figures(self.scene, name, &shown));
            }
            let is_allowed = self.is_allowed(name);
            self.push(name, anomaly, is_allowed);
        }
    }

    fn push(&mut self, name: &'static str, anomaly: Anomaly, is_allowed: bool) {
        self.is_fatal |= !is_allowed;
        if is_allowed {
            self.allowed.push(name);
        }
        self.report.anomalies.push(anomaly);
    }

    fn add_direct(&mut self) {
        let (scene, max) = (self.scene, self.max(SHOWN_MAX));
        let blurred = scene.logs.blurred();
        self.add("G1a", direct::aborted_reads(scene, max));
        self.add("precommitted-read", direct::precommitted_reads(scene, max));
        self.add("duplicate", direct::duplicates(scene, &blurred, max));
        self.add("inconsistent-offsets", direct::inconsistent_offsets(scene, max));
    }

    fn add_losses(&mut self) {
        let (scene, max) = (self.scene, self.max(SHOWN_MAX));
        self.add("phantom-message", direct::phantoms(scene, max));
        self.add("lost-write", loss::lost_writes(scene, max));
        let unseen = loss::unseen(scene, self.options.all_errors);
        if unseen.0 > 0 {
            self.report.notes.push(loss::ending(scene));
        }
        self.add("unseen", unseen);
    }

    fn add_jumps(&mut self, jumps: &Jumps, between_ops: bool) {
        let (scene, max) = (self.scene, self.max(SHOWN_JUMPS_MAX));
        for jump in Jump::ALL {
            if between_ops || jump.is_within_op() {
                self.add(jump.name(), jumps.found(scene, jump, max));
            }
            if between_ops && jumps.is_doubted(jump) && !self.is_allowed(jump.name()) {
                self.report.notes.push(format!(
                    "Some ops have no process, so whether a {} across them is an anomaly is unknown: an op between the two may be \
                     of the same client.",
                    jump.name()
                ));
            }
        }
    }

    fn add_cycles(&mut self, budget: &Budget) {
        let (scene, max) = (self.scene, self.max(SHOWN_JUMPS_MAX));
        let Cycles { found, spent } = cycle::find(scene, self.options.ww_deps, budget);
        // The cycles that do not depend on the order of logs.
        let of_polls = if self.options.ww_deps && !found.is_empty() {
            cycle::find(scene, false, budget)
        } else {
            Cycles::default()
        };
        let mut names: Vec<&'static str> = found.iter().chain(&of_polls.found).map(|cycle| cycle.anomaly).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let is_of = |cycle: &&check_elle::dependency::Cycle| cycle.anomaly == name;
            // A cycle of polls alone is shown instead of one that depends on the order of logs.
            let fatal = of_polls.found.iter().any(|cycle| cycle.anomaly == name);
            let shown = if fatal { &of_polls.found } else { &found };
            let mut anomaly = cycle::anomaly(scene, name, shown, max);
            anomaly.count = anomaly.count.max(found.iter().filter(is_of).count().to_u64());
            let is_poll_cycle = POLL_CYCLES.contains(&name);
            let is_allowed = !is_poll_cycle || self.options.ww_deps && !fatal;
            if fatal {
                self.report.notes.push(format!(
                    "{name}: the cycle needs no order of messages in a log, only what was polled; --ww-deps does not allow it."
                ));
            }
            self.push(name, anomaly, is_allowed);
        }
        if let Some(spent) = spent.or(of_polls.spent) {
            self.report.verdict = Verdict::Unknown;
            self.report.notes.push(format!("The search for cycles is incomplete: {}.", spent.because()));
            self.report.add_next(NextStep::spent(spent));
        }
    }

    fn finish(mut self) -> Report {
        let report = &mut self.report;
        if self.is_fatal {
            report.verdict = Verdict::Invalid;
        }
        report.anomalies.sort_by(|a, b| a.name.cmp(&b.name));
        if !self.allowed.is_empty() {
            self.allowed.sort_unstable();
            report.notes.push(format!("Anomalies found that these options allow: {}.", self.allowed.join(", ")));
        }
        if self.allowed.iter().any(|name| name.starts_with("G0")) {
            report.notes.push(
                "G0 is allowed because sends of a transaction are not isolated. A log alone, written by single sends, promises the order \
                 of real time."
                    .to_owned(),
            );
        }
        report.artifacts = report.anomalies.iter().map(explain::artifact).collect();
        self.report
    }
}

/// Adds counts that are not part of the verdict.
fn numbers(scene: Scene<'_>, consumed: &Consumed, worst: Option<Lag>, report: &mut Report) {
    let seen = scene.seen;
    let mut counts = vec![
        ("key-count".into(), seen.messages.keys().to_u64()),
        ("message-count".into(), seen.messages.len().to_u64()),
        ("op-count".into(), seen.ops.len().to_u64()),
        ("consumed-twice-count".into(), consumed.repeated.len().to_u64()),
    ];
    if let Some(worst) = worst {
        counts.push(("worst-realtime-lag-ns".into(), worst.ns.to_u64()));
        let (ops, key) = (&seen.ops, scene.key(worst.key));
        let ms = worst.ns / 1_000_000;
        let process = ops.client(worst.op).map_or_else(String::new, |process| format!(" of process {process}"));
        report.notes.push(format!(
            "The worst realtime lag is {}.{:03} s: the op at index {}{process} left its position in {key} that far behind the log.",
            ms / 1_000,
            ms % 1_000,
            ops.index(worst.op)
        ));
    }
    counts.push(("client-op-count".into(), seen.clients));
    counts.push(("nonclient-op-count".into(), seen.ops.participants.others()));
    report.counts = counts;
    let mut unplaced = seen.messages.without_offset();
    if let Some(first) = unplaced.next() {
        let (key, message) = (scene.key(seen.messages.key(first)), scene.message(first));
        let others = match unplaced.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        report.notes.push(format!(
            "No op says the offset of message {message} of {key}{others}: whether polls repeat, reorder or skip it was \
             not checked."
        ));
    }
    if !seen.causes.is_empty() {
        let mut causes: Vec<(&String, &u64)> = seen.causes.iter().collect();
        causes.sort_by_key(|(text, count)| (std::cmp::Reverse(**count), *text));
        let list: Vec<String> = causes.iter().take(8).map(|(text, count)| format!("{text} ({count})")).collect();
        report.notes.push(format!("Errors of crashed sends, polls and transactions: {}.", list.join(", ")));
    }
    if !consumed.distribution.is_empty() {
        report.artifacts.push(consume_counts(scene, consumed));
    }
}

/// `consume-counts.edn`, as Jepsen writes it.
fn consume_counts(scene: Scene<'_>, consumed: &Consumed) -> Artifact {
    let mut text = "{:distribution {".to_owned();
    let pairs: Vec<String> = consumed.distribution.iter().map(|(times, count)| format!("{times} {count}")).collect();
    _ = write!(text, "{}}},\n :dup-counts {{", pairs.join(", "));
    let mut repeated = consumed.repeated.clone();
    repeated.sort_by_key(|(msg, _)| (scene.seen.messages.key(*msg), *msg));
    for (nth, of_key) in
        repeated.chunk_by(|a, b| scene.seen.messages.key(a.0) == scene.seen.messages.key(b.0)).enumerate()
    {
        let gap = if nth == 0 { "" } else { ",\n              " };
        let list: Vec<String> = of_key.iter().map(|(msg, times)| format!("{} {times}", scene.message(*msg))).collect();
        _ = write!(text, "{gap}{} {{{}}}", scene.key(scene.seen.messages.key(of_key[0].0)), list.join(", "));
    }
    text.push_str("}}\n");
    Artifact { path: "consume-counts.edn".into(), content: text.into_bytes() }
}
