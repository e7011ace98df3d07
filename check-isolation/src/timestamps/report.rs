//! The report on timestamps: anomalies with the transactions and times that show them, and the levels that the
//! timestamps explain.

use super::clock::Order;
use super::{Case, Fault, Missing, Ordered, order_of, skew};
use crate::decode::{Decoded, Row, Settled};
use crate::level::{Axiom, Base, Level, Levels};
use crate::report::listed::{NAME, names};
use crate::report::{explain, witness};
use history_core::cast::Cast as _;
use history_core::explain::{Explanation, name};
use history_core::{Anomaly, Artifact, Budget, Datum, NextStep, Report, Verdict, Witness, WitnessOp};
use std::collections::BTreeMap;

const READ: &str = "timestamp-read";
const OVERLAP: &str = "timestamp-overlap";
const SKEW: &str = "clock-skew";
const TIE: &str = "equal-timestamps";

/// The anomalies of timestamps: names and descriptions.
pub(crate) const ANOMALIES: &[(&str, &str)] = &[
    (READ, "By the store's timestamps a transaction should have read something else. The EXT of Chronos."),
    (OVERLAP, "By the store's timestamps two transactions that wrote one key overlap. The NOCONFLICT of Chronos."),
    (SKEW, "The store's clock contradicts itself, the order of a session, or real time. The SESSION of Chronos."),
    (TIE, "The store's clock gave one commit timestamp to two transactions whose order matters."),
];

/// The two orders by timestamps, each created when a level needs it.
struct Orders<'r> {
    run: &'r Decoded,
    snapshots: Option<Ordered>,
    commits: Option<Ordered>,
}

/// The result for a level.
enum Answer {
    Explained,
    Wrong(Order, Vec<Case>),
    Missing(Missing),
    /// A read that only a transaction without timestamps explains: the reader, and that transaction.
    Open(Row, Row),
    /// A read of a value that only an op with unknown writes can have written.
    Unsaid(Row),
}

impl Orders<'_> {
    fn ordered(&mut self, order: Order) -> &Ordered {
        let place = match order {
            Order::Snapshots => &mut self.snapshots,
            Order::Commits => &mut self.commits,
        };
        place.get_or_insert_with(|| Ordered::new(self.run, order))
    }

    fn answer(&mut self, axiom: Axiom, base: Base) -> Option<Answer> {
        let (run, order) = (self.run, order_of(axiom)?);
        let ordered = self.ordered(order);
        let cases = ordered.cases(run, axiom, base);
        Some(match (cases.is_empty(), ordered.missing, ordered.found.open, ordered.unsaid) {
            (false, ..) => Answer::Wrong(order, cases),
            (true, Some(missing), ..) => Answer::Missing(missing),
            (true, None, Some((reader, writer)), _) => Answer::Open(reader, writer),
            (true, None, None, Some(reader)) => Answer::Unsaid(reader),
            (true, None, None, None) => Answer::Explained,
        })
    }
}

impl Orders<'_> {
    /// Adds the order by timestamps for each level that it explains: as a file, and its first part as a note.
    fn explain(&mut self, explained: &[Level], report: &mut Report) {
        const SHOWN_MAX: usize = 200;
        let run = self.run;
        for level in explained {
            let Some(order) = level.decided_by().and_then(|(axiom, _)| order_of(axiom)) else { continue };
            let moments = self.ordered(order).moments(run);
            let mut shown = moments.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>();
            if moments.len() > SHOWN_MAX {
                shown.push(format!("{} more", moments.len() - SHOWN_MAX));
            }
            report.notes.push(format!(
                "{level} holds in this order, that of timestamps, by indices of ops: {}.",
                shown.join(", ")
            ));
            let (path, content) = (format!("{level}-order.txt"), moments.join("\n").into_bytes());
            report.artifacts.push(Artifact { path, content });
        }
    }

    /// Transactions without the timestamps that an order needs, if there are any.
    fn missing(&self, order: Order) -> Option<Missing> {
        let place = match order {
            Order::Snapshots => &self.snapshots,
            Order::Commits => &self.commits,
        };
        place.as_ref()?.missing
    }

    /// A note that the clock contradicts sessions, if no expected level needs them.
    fn skewed_sessions(&self, expected: &[Level]) -> Option<String> {
        let needs_sessions = |level: &Level| level.decided_by().is_none_or(|(_, base)| base != Base::None);
        let ordered = self.snapshots.as_ref().or(self.commits.as_ref())?;
        let cases = skew::against(self.run, &ordered.timed, ordered.order, Base::Session);
        let first = cases.first().filter(|_| !expected.iter().any(needs_sessions))?;
        Some(format!(
            "The clock is skewed: it contradicts the order of transactions in a session {} times, the first time at index {}. The level \
             does not need that order.",
            cases.len(),
            self.run.rows.index(first.row)
        ))
    }
}

/// The report on a history whose transactions carry timestamps.
pub(crate) fn report(run: &Decoded, settled: &Settled, budget: &Budget) -> Report {
    budget.begin("replaying by timestamps");
    let mut orders = Orders { run, snapshots: None, commits: None };
    let all = run.settings.levels.is_empty();
    let expected: Vec<Level> =
        if all { vec!["strict-serializable".parse().expect("a level")] } else { run.settings.levels.clone() };
    let defined = |level: &Level| level.decided_by().is_some_and(|(axiom, _)| order_of(axiom).is_some());
    let judged: Vec<Level> = Level::all()
        .filter(|level| defined(level) && (all || expected.iter().any(|other| level.is_at_least(*other))))
        .collect();
    let mut holds = Levels::default();
    let (mut answers, mut explained) = (Vec::new(), Vec::new());
    for level in judged {
        let Some(answer) = level.decided_by().and_then(|(axiom, base)| orders.answer(axiom, base)) else { continue };
        if matches!(answer, Answer::Explained) {
            explained.push(level);
            level.weaker().iter().for_each(|weaker| holds.insert(weaker));
        }
        answers.push((level, answer));
    }
    let (mut report, mut cases) = (Report::new(NAME, Verdict::Valid), None::<(Order, &[Case])>);
    for level in &expected {
        let answer = answers.iter().find(|(other, _)| other == level).map(|(_, answer)| answer);
        let (verdict, note) = match answer {
            Some(Answer::Explained) => continue,
            None if holds.has(*level) => continue,
            Some(Answer::Wrong(order, found)) => {
                if cases.is_none_or(|(_, cases)| found.len() > cases.len()) {
                    cases = Some((*order, found));
                }
                let missing = orders.missing(*order).map(|missing| lacking(run, *level, missing));
                report.is_partial |= missing.is_some();
                report.notes.extend(missing);
                (Verdict::Invalid, wrong(*level, found))
            }
            Some(Answer::Missing(missing)) => (Verdict::Unknown, lacking(run, *level, *missing)),
            Some(Answer::Open(reader, writer)) => (Verdict::Unknown, open(run, *reader, *writer)),
            Some(Answer::Unsaid(reader)) => (Verdict::Unknown, unsaid(run, *reader)),
            None => (Verdict::Unknown, undefined(*level)),
        };
        report.verdict = report.verdict.and(verdict);
        report
            .next
            .extend((verdict == Verdict::Unknown).then(|| next(answer)).filter(|step| !report.next.contains(step)));
        if !report.notes.contains(&note) {
            report.notes.push(note);
        }
    }
    if report.verdict != Verdict::Unknown {
        report.next.clear();
    }
    if run.settings.explain_valid {
        orders.explain(&explained, &mut report);
    }
    if report.verdict == Verdict::Valid {
        report.notes.extend(orders.skewed_sessions(&expected));
    }
    if all && !report.is_partial && !answers.iter().any(|(_, answer)| matches!(answer, Answer::Missing(_))) {
        report.notes.push(summary(&explained));
    }
    if settled.read_count == 0 && report.verdict == Verdict::Valid {
        report.notes.push("No ok transaction read anything that another could have written.".into());
    }
    report.not_checked = names(Level::all().filter(|level| !holds.has(*level)));
    if let Some((order, cases)) = cases {
        report.anomalies = anomalies(run, order, cases);
        report.artifacts.extend(report.anomalies.iter().map(history_core::explain::artifact));
    }
    report
}

/// The report on a violation that was found while the history was being written.
pub(crate) fn violation(run: &Decoded, level: Level, order: Order, case: Case) -> Report {
    let mut report = Report::new(NAME, Verdict::Invalid);
    report.notes.push(wrong(level, &[case]));
    report.not_checked = names(Level::all());
    report.anomalies = anomalies(run, order, &[case]);
    report.artifacts.extend(report.anomalies.iter().map(history_core::explain::artifact));
    report
}

fn wrong(level: Level, cases: &[Case]) -> String {
    let is_clock = |case: &Case| !matches!(anomaly_name(case.fault), READ | OVERLAP);
    let what = if cases.iter().all(is_clock) {
        "the clock contradicts the history or itself, while what was read and written fits"
    } else {
        "what was read or written does not fit them"
    };
    format!(
        "These timestamps do not explain {level}: {what}. Another order may: leave out --timestamps to decide the level by itself."
    )
}

fn lacking(run: &Decoded, level: Level, missing: Missing) -> String {
    let Missing { count, of, first } = missing;
    format!(
        "{level} cannot be found to hold by timestamps: {count} of {of} transactions lack them, the first at index {}. Each completion needs the \
         fields start-ts and commit-ts; serializable needs commit-ts alone, and a transaction that writes nothing needs one of them.",
        run.rows.index(first)
    )
}

/// The next step if timestamps do not decide a level.
fn next(answer: Option<&Answer>) -> NextStep {
    let without = "decide the level by what was read and written: leave out --timestamps.";
    let what = match answer {
        Some(Answer::Missing(_)) => format!("Record start-ts and commit-ts in every completion, or {without}"),
        Some(Answer::Open(..)) => format!("Record how the transactions ended, with their timestamps, or {without}"),
        _ => format!("D{}", &without[1..]),
    };
    NextStep::option("timestamps", what)
}

fn open(run: &Decoded, reader: Row, writer: Row) -> String {
    format!(
        "The transaction at index {} read what the one at index {} wrote, of which neither the end nor a timestamp is known, so nobody \
         can say whether timestamps explain that.",
        run.rows.index(reader),
        run.rows.index(writer)
    )
}

fn unsaid(run: &Decoded, reader: Row) -> String {
    format!(
        "The transaction at index {} read a value that no op says it wrote, so nobody can say whether timestamps explain that.",
        run.rows.index(reader)
    )
}

fn undefined(level: Level) -> String {
    format!(
        "{level} has no definition by timestamps, and they do not explain a level that implies it. They are judged for prefix, \
         snapshot-isolation and serializable, and their strong-session- and strong- forms. Leave out --timestamps to decide {level}."
    )
}

fn summary(explained: &[Level]) -> String {
    let is_implied = |level: &Level| explained.iter().any(|other| other != level && other.is_at_least(*level));
    let strongest = names(explained.iter().filter(|level| !is_implied(level)).copied());
    let listed = if strongest.is_empty() { "none".to_owned() } else { strongest.join(", ") };
    format!("The strongest levels that these timestamps explain: {listed}.")
}

fn anomaly_name(fault: Fault) -> &'static str {
    match fault {
        Fault::Read { .. } | Fault::Early { .. } | Fault::Stale { .. } => READ,
        Fault::Overlap { .. } => OVERLAP,
        Fault::Backwards | Fault::Session { .. } | Fault::RealTime { .. } => SKEW,
        Fault::Tie { .. } => TIE,
    }
}

fn anomalies(run: &Decoded, order: Order, cases: &[Case]) -> Vec<Anomaly> {
    let mut found: BTreeMap<&'static str, (u64, Vec<Witness>)> = BTreeMap::new();
    for case in cases {
        let (count, witnesses) = found.entry(anomaly_name(case.fault)).or_default();
        *count += 1;
        if witnesses.len() < run.settings.witnesses_max {
            witnesses.push(Telling { run, order, rows: Vec::new() }.witness(*case));
        }
    }
    let anomaly = |(name, (count, witnesses)): (&'static str, _)| Anomaly { name: name.into(), count, witnesses };
    found.into_iter().map(anomaly).collect()
}

/// The state while a case becomes a witness.
struct Telling<'r> {
    run: &'r Decoded,
    order: Order,
    /// The transactions named so far, in this order.
    rows: Vec<Row>,
}

impl Telling<'_> {
    fn witness(mut self, case: Case) -> Witness {
        let own = self.name(case.row);
        let mut facts = Vec::new();
        if let Fault::Read { mop, .. } | Fault::Early { mop, .. } | Fault::Stale { mop, .. } = case.fault {
            let read = self.run.rows.mops(case.row)[mop.to_usize()];
            facts.push(("key".into(), explain::key(self.run, read.key)));
            facts.push(("mop".into(), explain::mop(self.run, read)));
        }
        let sentences = match case.fault {
            Fault::Read { mop, expected, source } => self.read(&own, case.row, mop, expected, source),
            Fault::Early { mop, source } => self.early(&own, case.row, mop, source),
            Fault::Stale { mop, source, newer } => self.stale(&own, case.row, mop, source, newer),
            Fault::Overlap { key, other } => {
                facts.push(("key".into(), explain::key(self.run, key)));
                let (other, commit, key) = (self.name(other), self.commit(other), explain::key(self.run, key));
                vec![
                    format!("{other} wrote key {key} and committed at {commit}."),
                    format!(
                        "However, {own} started at {}, before that, and wrote key {key} too: they overlap!",
                        self.start(case.row)
                    ),
                ]
            }
            Fault::Backwards => {
                let (start, commit) = (self.start(case.row), self.commit(case.row));
                vec![format!("{own} committed at {commit}, before it started, at {start}: the clock went backwards!")]
            }
            Fault::Session { before } => {
                let process = self.run.rows.client(case.row).map_or_else(String::new, |client| client.to_string());
                let because = |before: &str| format!("process {process} executed {before} before {own}");
                self.skew(&own, case.row, before, because)
            }
            Fault::RealTime { before } => {
                let (ended, begun) = (self.run.rows.index(before), self.run.rows.begin(case.row));
                let because = |before: &str| {
                    format!("{before} completed at index {ended}, before {own} was invoked at index {begun}")
                };
                self.skew(&own, case.row, before, because)
            }
            Fault::Tie { key, other } => {
                facts.push(("key".into(), explain::key(self.run, key)));
                let (other, key) = (self.name(other), explain::key(self.run, key));
                vec![format!(
                    "{own} and {other} both committed at {}, so timestamps do not say which of them came first to key {key}.",
                    self.commit(case.row)
                )]
            }
        };
        let ops: Vec<WitnessOp> =
            self.rows.iter().enumerate().map(|(at, row)| witness::op(self.run, name(at), *row)).collect();
        let mut explanation = Explanation::of(&ops);
        for sentence in sentences {
            explanation.then(sentence);
        }
        Witness::new(ops, explanation.to_string()).with_facts(facts)
    }

    fn name(&mut self, row: Row) -> String {
        let at = self.rows.iter().position(|named| *named == row).unwrap_or_else(|| {
            self.rows.push(row);
            self.rows.len() - 1
        });
        name(at)
    }

    fn start(&self, row: Row) -> String {
        let stamps = self.run.rows.stamps(row);
        stamps.start.or(stamps.commit).map_or_else(String::new, |stamp| stamp.to_string())
    }

    fn commit(&self, row: Row) -> String {
        let stamps = self.run.rows.stamps(row);
        stamps.commit.or(stamps.start).map_or_else(String::new, |stamp| stamp.to_string())
    }

    /// A clause with the time at which a transaction reads.
    fn when(&self, row: Row) -> String {
        match self.order {
            Order::Snapshots => format!("started at {}", self.start(row)),
            Order::Commits => format!("committed at {}", self.commit(row)),
        }
    }

    fn wrote(&mut self, row: Row, mop: u32, reader: Row) -> String {
        let key = self.run.rows.mops(reader)[mop.to_usize()].key;
        let (name, commit) = (self.name(row), self.commit(row));
        let (key, written) = (explain::key(self.run, key), explain::written(self.run, row, key));
        format!("{name} wrote {written} to key {key} and committed at {commit}")
    }

    fn shown(&self, row: Row, mop: u32) -> Datum {
        explain::mop(self.run, self.run.rows.mops(row)[mop.to_usize()])
    }

    fn early(&mut self, own: &str, row: Row, mop: u32, source: Row) -> Vec<String> {
        let (when, shown) = (self.when(row), self.shown(row, mop));
        vec![
            format!("{}.", self.wrote(source, mop, row)),
            format!("However, {own} {when}, before that, and read {shown}: it saw what was not committed yet!"),
        ]
    }

    fn stale(&mut self, own: &str, row: Row, mop: u32, source: Row, newer: Row) -> Vec<String> {
        let (when, shown) = (self.when(row), self.shown(row, mop));
        let mut sentences = Vec::new();
        if source != Row::NONE {
            sentences.push(format!("{}.", self.wrote(source, mop, row)));
        }
        sentences.push(format!(
            "{}{}.",
            self.wrote(newer, mop, row),
            if source == Row::NONE { "" } else { ", after that" }
        ));
        sentences.push(format!("However, {own} {when}, after that, and still read {shown}: it missed a write!"));
        sentences
    }

    /// The sentences on any other read that does not return the state according to timestamps.
    fn read(&mut self, own: &str, row: Row, mop: u32, expected: Row, source: Row) -> Vec<String> {
        let (when, shown) = (self.when(row), self.shown(row, mop));
        let key = explain::key(self.run, self.run.rows.mops(row)[mop.to_usize()].key);
        let last = if expected == Row::NONE {
            format!("no transaction that wrote key {key} had committed by then.")
        } else {
            format!("the last transaction that had written key {key} by then was: {}.", self.wrote(expected, mop, row))
        };
        let seen = if source == Row::NONE || source == row {
            String::new()
        } else {
            format!(", and {}", self.wrote(source, mop, row))
        };
        vec![
            format!("{own} {when}, and {last}"),
            format!("However, {own} read {shown}{seen}: timestamps do not explain that!"),
        ]
    }

    /// The sentences on a transaction that is, by the clock, earlier than one that preceded it.
    fn skew(&mut self, own: &str, row: Row, before: Row, because: impl Fn(&str) -> String) -> Vec<String> {
        let (name, over) = (self.name(before), self.commit(before));
        let when = self.when(row);
        let reason = because(&name);
        vec![
            format!("{name} comes before {own}, because {reason}."),
            format!("However, {own} {when}, and {name} committed only at {over}: the clock is skewed!"),
        ]
    }
}
