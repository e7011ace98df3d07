//! Witnesses: the first, the last and the worst anomaly of a kind, each with its ops and an explanation.

use history_core::explain::{self, Explanation};
use history_core::{Anomaly, Client, Datum, Op, OpKind, Participants, Process, Report, Witness, WitnessOp};
use std::borrow::Cow;

/// The value for an absent time or process.
const NONE: i64 = i64::MIN;

/// The stored data of an op for a possible witness: 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpRef {
    pub(crate) index: u64,
    time_ns: i64,
    process: i64,
}

impl OpRef {
    /// The reference to no op.
    pub(crate) const NONE: OpRef = OpRef { index: u64::MAX, time_ns: NONE, process: NONE };

    pub(crate) fn of(op: &Op<'_>) -> OpRef {
        let process = match op.process {
            Process::Client(process) => process,
            Process::Other(_) | Process::Unknown => NONE,
        };
        OpRef { index: op.index, time_ns: op.time.unwrap_or(NONE), process }
    }

    pub(crate) fn time_ns(self) -> Option<i64> {
        (self.time_ns != NONE).then_some(self.time_ns)
    }

    /// The same op, with its time, if it has one, raised to at least this time.
    pub(crate) fn not_before(self, time_ns: i64) -> OpRef {
        if self.time_ns == NONE { self } else { OpRef { time_ns: self.time_ns.max(time_ns), ..self } }
    }

    /// The op as part of a witness.
    pub(crate) fn named(self, name: &str, kind: OpKind, value: Datum) -> WitnessOp {
        WitnessOp {
            name: name.into(),
            index: self.index,
            process: (self.process != NONE).then_some(Client::Number(self.process)),
            kind,
            time_ns: self.time_ns(),
            value,
        }
    }
}

/// All anomalies of one kind, of which three are kept: the first, the last and the worst; the first one of equally bad
/// ones.
#[derive(Clone, Debug)]
pub(crate) struct Extremes<B, T> {
    pub(crate) count: u64,
    /// The number of anomalies pushed, and the position of the worst, counted from 1.
    pushed: u64,
    worst_at: u64,
    first: Option<T>,
    last: Option<T>,
    worst: Option<(B, T)>,
}

impl<B, T> Default for Extremes<B, T> {
    fn default() -> Extremes<B, T> {
        Extremes { count: 0, pushed: 0, first: None, last: None, worst: None, worst_at: 0 }
    }
}

impl<B: Ord, T: Clone + PartialEq> Extremes<B, T> {
    /// Adds the next anomaly.
    pub(crate) fn push(&mut self, badness: B, what: T) {
        if self.worst.as_ref().is_none_or(|(worst, _)| badness > *worst) {
            self.worst = Some((badness, what.clone()));
            self.worst_at = self.pushed + 1;
        }
        self.push_equal(what);
    }

    /// Adds the next anomaly, with a number of occurrences, which may be 0. More occurrences are worse.
    pub(crate) fn push_times(&mut self, times: B, what: T)
    where
        B: Copy + Into<u64>,
    {
        let count: u64 = times.into();
        if count > 0 {
            self.push(times, what);
            self.count += count - 1;
        }
    }

    /// Adds the next anomaly, of a kind in which all are equally bad.
    pub(crate) fn push_equal(&mut self, what: T) {
        self.count += 1;
        self.pushed += 1;
        if self.first.is_none() {
            self.first = Some(what.clone());
        }
        self.last = Some(what);
    }

    /// The anomaly, unless there is none. The facts of each witness start with its roles: first, worst or last.
    pub(crate) fn anomaly(&self, name: &'static str, mut explain: impl FnMut(&T) -> Witness) -> Option<Anomaly> {
        let (first, last) = (self.first.as_ref()?, self.last.as_ref()?);
        let worst = self.worst.as_ref().map(|(_, worst)| (self.worst_at, worst, "worst"));
        let mut shown: Vec<(u64, &T, Vec<Datum>)> = Vec::new();
        let all = [Some((1, first, "first")), worst, Some((self.pushed, last, "last"))];
        for (at, what, role) in all.into_iter().flatten() {
            // A NaN does not equal itself, so positions are compared as well.
            match shown.iter_mut().find(|(seen_at, seen, _)| *seen_at == at || *seen == what) {
                Some((.., roles)) => roles.push(Datum::keyword(role)),
                None => shown.push((at, what, vec![Datum::keyword(role)])),
            }
        }
        let witnesses = shown.into_iter().map(|(_, what, roles)| {
            let mut witness = explain(what);
            witness.facts.insert(0, ("shown-as".into(), Datum::Vector(roles)));
            witness
        });
        Some(Anomaly { name: name.into(), count: self.count, witnesses: witnesses.collect() })
    }
}

/// A witness: the ops by their names, and the conclusions, one sentence per line.
pub(crate) fn witness(ops: Vec<WitnessOp>, facts: Vec<(&'static str, Datum)>, sentences: &[String]) -> Witness {
    let mut explanation = Explanation::of(&ops);
    for sentence in sentences {
        explanation.then(format_args!("{sentence}."));
    }
    let facts = facts.into_iter().map(|(name, datum)| (Cow::Borrowed(name), datum)).collect();
    Witness::new(ops, explanation.to_string()).with_facts(facts)
}

/// Replaces the numbers that represent clients in a report's witnesses by their names. Workloads store only the
/// numbers; a witness has them only in its ops, with which its explanation begins.
pub(crate) fn name_clients(report: &mut Report, participants: &Participants) {
    for anomaly in &mut report.anomalies {
        for witness in &mut anomaly.witnesses {
            let before = explain::introduction(&witness.ops).len();
            for op in &mut witness.ops {
                if let Some(Client::Number(number)) = op.process {
                    op.process = Some(participants.client(number));
                }
            }
            witness.explanation.replace_range(..before, &explain::introduction(&witness.ops));
        }
        let new = explain::artifact(anomaly);
        report
            .artifacts
            .iter_mut()
            .filter(|old| old.path == new.path)
            .for_each(|old| old.content.clone_from(&new.content));
    }
}

/// Adds anomalies to a report, by name, and their explanations as files.
pub(crate) fn add_anomalies(report: &mut Report, anomalies: impl IntoIterator<Item = Option<Anomaly>>) {
    report.anomalies.extend(anomalies.into_iter().flatten());
    report.anomalies.sort_by(|a, b| a.name.cmp(&b.name));
    report.artifacts.extend(report.anomalies.iter().map(explain::artifact));
}

/// A number of things: `1 read`, `2 reads`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
