//! The outcome of each element, with explanations of those with an anomaly.

use super::{Read, SetFullRun};
use crate::elements::ElemId;
use crate::intervals::{FILE_RUNS_MAX, NOTE_RUNS_MAX, interval_set};
use crate::quantiles::quantiles;
use crate::witness::{self, Extremes, OpRef, counted};
use history_core::cast::Cast as _;
use history_core::{Artifact, Datum, NextStep, OpKind, Report, Verdict, Witness, WitnessOp};
use std::fmt::Write as _;

/// Nanoseconds in a millisecond.
const MS_NS: i64 = 1_000_000;

/// A read that contains some elements more than once.
#[derive(Clone, Debug, PartialEq)]
struct Duplicate {
    read: OpRef,
    /// These elements, with the number of their occurrences.
    elements: Vec<(ElemId, u64)>,
}

/// All such reads.
#[derive(Clone, Debug, Default)]
pub(super) struct Duplicates {
    reads: Extremes<usize, Duplicate>,
}

impl Duplicates {
    /// Adds a read; `twice` has each element once for each repeated occurrence.
    pub(super) fn push(&mut self, read: OpRef, mut twice: Vec<ElemId>) {
        twice.sort_unstable();
        let elements: Vec<(ElemId, u64)> =
            twice.chunk_by(|a, b| a == b).map(|same| (same[0], 1 + same.len().to_u64())).collect();
        self.reads.push(elements.len(), Duplicate { read, elements });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.reads.count == 0
    }
}

/// The outcome of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fate {
    id: ElemId,
    outcome: Outcome,
    /// The time from when it was known until it was stable, or was last present. Absent if times are missing.
    latency_ms: Option<u64>,
    stale: bool,
    known: OpRef,
    present: Option<Read>,
    absent: Option<Read>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Stable,
    Lost,
    NeverRead,
}

/// The number and the ids of elements by outcome.
#[derive(Default)]
struct Fates {
    attempted: u64,
    stable: u64,
    lost: Vec<ElemId>,
    never_read: Vec<ElemId>,
    stale: Vec<ElemId>,
    stable_latencies_ms: Vec<u64>,
    lost_latencies_ms: Vec<u64>,
    all_lost: Extremes<u64, Fate>,
    all_stale: Extremes<u64, Fate>,
    /// The number of elements absent from a read that was invoked less than a millisecond after they were known.
    nearly_stale: u64,
    untimed: bool,
}

impl Fates {
    fn push(&mut self, fate: Fate) {
        self.attempted += 1;
        let latency = fate.latency_ms.unwrap_or(0);
        match fate.outcome {
            Outcome::Stable => {
                self.stable += 1;
                self.stable_latencies_ms.extend(fate.latency_ms);
                self.untimed |= fate.latency_ms.is_none();
            }
            Outcome::Lost => {
                self.lost.push(fate.id);
                self.lost_latencies_ms.extend(fate.latency_ms);
                self.all_lost.push(latency, fate);
                self.untimed |= fate.latency_ms.is_none();
            }
            Outcome::NeverRead => self.never_read.push(fate.id),
        }
        if fate.stale {
            self.stale.push(fate.id);
            self.all_stale.push(latency, fate);
        }
    }
}

/// Milliseconds, rounded down, from when an element was known until just after the read was invoked; 0 without a read.
pub(super) fn latency_ms(known: OpRef, invoked: Option<OpRef>) -> Option<u64> {
    let Some(invoked) = invoked else { return Some(0) };
    let ns = invoked.time_ns()?.saturating_add(1).saturating_sub(known.time_ns()?);
    Some((ns.max(0) / MS_NS).unsigned_abs())
}

impl SetFullRun {
    /// The fates of all elements whose add was invoked.
    fn fates(&self) -> Fates {
        let mut fates = Fates::default();
        for (id, present, absent) in self.tracks.iter() {
            let known = self.known.get(id.at()).copied().unwrap_or(OpRef::NONE);
            let read = |read: super::ReadId| self.reads[read.at()];
            let after_known =
                known != OpRef::NONE && absent.is_some_and(|absent| read(absent).invoked.index > known.index);
            let outcome = match (present, absent) {
                (Some(_), _) if present > absent => Outcome::Stable,
                _ if absent > present.max(self.unread) && after_known => Outcome::Lost,
                _ => Outcome::NeverRead,
            };
            // It is lost, unless a read that cannot be decoded shows it again: then it was stale.
            let is_open = absent > present && after_known && outcome == Outcome::NeverRead;
            let is_late = outcome == Outcome::Stable || is_open && self.options.linearizable;
            let (present, absent) = (present.map(read), absent.map(read));
            let latency_ms = match outcome {
                _ if is_late => latency_ms(known, absent.map(|read| read.invoked)),
                Outcome::Lost => latency_ms(known, present.map(|read| read.invoked)),
                Outcome::NeverRead | Outcome::Stable => None,
            };
            let stale = is_late && latency_ms.map_or(after_known, |latency| latency > 0);
            fates.nearly_stale += u64::from(outcome == Outcome::Stable && after_known && !stale);
            fates.push(Fate { id, outcome, latency_ms, stale, known, present, absent });
        }
        fates
    }

    /// The elements that some read had to show and lacked, whether they turn out to be stale or lost.
    fn late(&self) -> Extremes<u64, Fate> {
        let mut late = Extremes::default();
        for (id, present, absent) in self.tracks.iter() {
            let known = self.known.get(id.at()).copied().unwrap_or(OpRef::NONE);
            let (present, absent) =
                (present.map(|read| self.reads[read.at()]), absent.map(|read| self.reads[read.at()]));
            let latency_ms = latency_ms(known, absent.map(|read| read.invoked));
            let is_after = known != OpRef::NONE && absent.is_some_and(|read| read.invoked.index > known.index);
            if is_after && latency_ms != Some(0) {
                let fate = Fate { id, outcome: Outcome::Stable, latency_ms, stale: true, known, present, absent };
                late.push(latency_ms.unwrap_or(0), fate);
            }
        }
        late
    }

    pub(super) fn conclude(mut self, whole: bool) -> Report {
        let mut report = Report::new("set-full", Verdict::Unknown);
        let duplicated = self.duplicates.reads.anomaly("duplicated", |read| self.explain_duplicate(read));
        if !whole {
            // Whatever follows, an element occurred twice in one read, or was missing where it had to be.
            let late = self.late.as_ref().is_some_and(super::Late::is_certain).then(|| {
                self.tracks.finish();
                self.late().anomaly("stale", |fate| self.explain_stale(fate))
            });
            witness::add_anomalies(&mut report, [duplicated, late.flatten()]);
            report.verdict = if report.anomalies.is_empty() { Verdict::Unknown } else { Verdict::Invalid };
            return report;
        }
        self.tracks.finish();
        let fates = self.fates();
        let lost = fates.all_lost.anomaly("lost", |fate| self.explain_lost(fate));
        let stale = fates.all_stale.anomaly("stale", |fate| self.explain_stale(fate));
        let stale = stale.filter(|_| self.options.linearizable);
        witness::add_anomalies(&mut report, [duplicated, lost, stale]);
        report.verdict = match report.anomalies.is_empty() {
            // A stale element is stable.
            false => Verdict::Invalid,
            true if fates.stable == 0 => Verdict::Unknown,
            true => Verdict::Valid,
        };
        self.notes(&fates, &mut report);
        self.counts(fates, &mut report);
        report
    }

    fn notes(&self, fates: &Fates, report: &mut Report) {
        let set = |ids: &[ElemId]| interval_set(&self.elements, ids.iter().copied(), NOTE_RUNS_MAX);
        let notes = &mut report.notes;
        if report.verdict == Verdict::Unknown && self.tracks.completed() > 0 {
            notes.push("No element stays in the reads, so nothing shows that adds take effect.".into());
            report.next.push(NextStep::new("Record an ok :read of all elements after the last ok :add."));
        }
        if !fates.lost.is_empty() {
            notes.push(format!("{} lost: {}.", fates.lost.len(), set(&fates.lost)));
        }
        if !fates.stale.is_empty() && self.options.linearizable {
            notes.push(format!("{} stale: {}.", fates.stale.len(), set(&fates.stale)));
        }
        if fates.nearly_stale > 0 && self.options.linearizable {
            notes.push(format!(
                "Reads lacked {} known before they were invoked, but by less than 1 ms: that does not count as stale. Times are in nanoseconds unless --time-unit says otherwise.",
                counted(fates.nearly_stale, "element")
            ));
        }
        if fates.untimed {
            notes.push("Some ops have no :time, so the latencies of some elements are unknown.".into());
        }
        // An add without a value may have been of any of these elements.
        if let Some((id, read)) = self.tracks.first_unexpected.filter(|_| !self.has_unrecorded) {
            notes.push(format!(
                "Reads show {} before any op tried to add it, the first at index {}: {}. set-full does not check \
                 this. linearizable-set does; set reports only elements that no op ever tried to add.",
                counted(self.tracks.unexpected, "element"),
                self.reads[read.at()].completed.index,
                self.elements.datum(id)
            ));
        }
    }

    fn counts(&self, mut fates: Fates, report: &mut Report) {
        report.counts = vec![
            ("attempt-count".into(), fates.attempted),
            ("stable-count".into(), fates.stable),
            ("lost-count".into(), fates.lost.len().to_u64()),
            ("never-read-count".into(), fates.never_read.len().to_u64()),
            ("stale-count".into(), fates.stale.len().to_u64()),
            ("duplicated-read-count".into(), self.duplicates.reads.count),
            ("unexpected-count".into(), self.tracks.unexpected),
            ("read-count".into(), self.tracks.completed()),
        ];
        report.counts.extend(quantiles("stable-latency-ms", &mut fates.stable_latencies_ms));
        report.counts.extend(quantiles("lost-latency-ms", &mut fates.lost_latencies_ms));
        let set = |ids: &[ElemId]| Datum::Str(interval_set(&self.elements, ids.iter().copied(), FILE_RUNS_MAX));
        let sets = Datum::Map(vec![
            (Datum::keyword("lost"), set(&fates.lost)),
            (Datum::keyword("never-read"), set(&fates.never_read)),
            (Datum::keyword("stale"), set(&fates.stale)),
        ]);
        report.artifacts.push(Artifact { path: "set-full.edn".into(), content: format!("{sets}\n").into_bytes() });
    }
}

/// The explanations.
impl SetFullRun {
    /// A read as an op; its content was not kept.
    fn read_op(name: &str, read: Read) -> WitnessOp {
        read.completed.named(name, OpKind::Ok, Datum::Symbol("...".into()))
    }

    /// The op by which an element is known: its add, or the first read that showed it.
    fn known_op(&self, fate: &Fate, element: &Datum) -> (WitnessOp, String) {
        let by_read = self.reads.iter().any(|read| read.completed.index == fate.known.index);
        let value = if by_read { Datum::Symbol("...".into()) } else { element.clone() };
        let sentence = if by_read {
            format!("K1 is the first op to show {element}, so it is in the set")
        } else {
            format!("K1 acknowledged that {element} was added")
        };
        (fate.known.named("K1", OpKind::Ok, value), sentence)
    }

    fn facts(fate: &Fate, element: &Datum) -> Vec<(&'static str, Datum)> {
        let mut facts = vec![("element", element.clone())];
        facts.extend(fate.latency_ms.map(|latency| ("latency-ms", Datum::from(latency))));
        facts
    }

    fn explain_lost(&self, fate: &Fate) -> Witness {
        let element = self.elements.datum(fate.id);
        let (known, sentence) = self.known_op(fate, &element);
        let (mut ops, mut sentences) = (vec![known], vec![sentence]);
        if let Some(present) = fate.present.filter(|present| present.completed != fate.known) {
            ops.push(SetFullRun::read_op("P1", present));
            sentences.push(format!(
                "P1, invoked at index {}, is the last read to begin that shows {element}",
                present.invoked.index
            ));
        }
        if let Some(absent) = fate.absent {
            ops.push(SetFullRun::read_op("A1", absent));
            let since = if ops.len() > 2 { " and after P1 began" } else { "" };
            sentences.push(format!(
                "However, A1 was invoked at index {}, after K1{since}, and neither A1 nor any later read shows \
                 {element}: it is lost",
                absent.invoked.index
            ));
        }
        witness::witness(ops, SetFullRun::facts(fate, &element), &sentences)
    }

    fn explain_stale(&self, fate: &Fate) -> Witness {
        let element = self.elements.datum(fate.id);
        let (known, sentence) = self.known_op(fate, &element);
        let (mut ops, mut sentences) = (vec![known], vec![sentence]);
        if let Some(absent) = fate.absent {
            ops.push(SetFullRun::read_op("A1", absent));
            let later = fate.latency_ms.map(|latency| format!(", {latency} ms later")).unwrap_or_default();
            sentences.push(format!(
                "However, A1 was invoked at index {}{later}, and does not show {element}: it was stale",
                absent.invoked.index
            ));
        }
        witness::witness(ops, SetFullRun::facts(fate, &element), &sentences)
    }

    fn explain_duplicate(&self, duplicate: &Duplicate) -> Witness {
        /// The maximum number of listed elements.
        const LISTED_MAX: usize = 16;
        let elements = duplicate.elements.iter().take(LISTED_MAX);
        let each = elements.map(|(id, times)| format!("{} ({times} times)", self.elements.datum(*id)));
        let mut listed = each.collect::<Vec<_>>().join(", ");
        let more = duplicate.elements.len().saturating_sub(LISTED_MAX);
        if more > 0 {
            _ = write!(listed, ", and {more} more elements more than once");
        }
        let ids = duplicate.elements.iter().map(|(id, _)| *id);
        let facts = vec![("elements", Datum::Str(interval_set(&self.elements, ids, NOTE_RUNS_MAX)))];
        let op = duplicate.read.named("R1", OpKind::Ok, Datum::Symbol("...".into()));
        witness::witness(vec![op], facts, &[format!("R1 shows {listed}")])
    }
}
