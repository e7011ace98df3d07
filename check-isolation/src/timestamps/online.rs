//! Checks timestamps while the history is still being written: transactions arrive in any order of their timestamps,
//! however late.
//!
//! Aion (Li et al., ICDE 2025) waits some time for late transactions before it reports. Here nothing is timed: if no
//! value is written to a key twice, every violation is certain whatever follows. The versions of each key are stored by
//! commit. A read of one is refuted by another version that was committed between it and the read, whichever of the
//! three arrived last. A read of a value that is not written yet waits. Each transaction takes O(log n) for each of its
//! operations, and memory grows with the history.

use super::clock::{Order, Point, Points, points};
use super::{Case, Fault, order_of};
use crate::decode::{Decoded, Row, VersionId, What};
use crate::ids::KeyId;
use crate::level::{Axiom, Base, Level};
use history_core::cast::Cast as _;
use history_core::{IntMap, OpKind};
use std::collections::BTreeMap;

/// The facts about a version so far.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Its writer, once it has committed.
    writer: Option<(Row, Points)>,
    /// Its first and last readers by timestamps.
    earliest: Option<(Point, Row)>,
    latest: Option<(Point, Row)>,
}

impl Seen {
    fn read(&mut self, read: (Point, Row)) {
        self.earliest = Some(self.earliest.map_or(read, |earliest| earliest.min(read)));
        self.latest = Some(self.latest.map_or(read, |latest| latest.max(read)));
    }
}

/// The state of the check of one level.
#[derive(Clone, Debug)]
struct Watched {
    order: Order,
    axiom: Axiom,
    base: Base,
    versions: Vec<Seen>,
    /// For each key, its versions by commit.
    keys: Vec<BTreeMap<Point, VersionId>>,
    /// For each key, the last reader of its first state.
    first: Vec<Option<(Point, Row)>>,
    /// The last transaction of each process.
    sessions: IntMap<(Row, Points)>,
    /// Completions that each ended at a later point than all before: their indices and their points increase.
    over: Vec<(u64, Row, Points)>,
}

/// The checks of all expected levels.
#[derive(Clone, Debug)]
pub(crate) struct Online {
    watched: Vec<Watched>,
    /// The first violation.
    pub(crate) violated: Option<(Level, Order, Case)>,
    levels: Vec<Level>,
}

impl Online {
    /// Starts the checks of these levels, except those without a definition by timestamps.
    pub(crate) fn new(levels: &[Level]) -> Online {
        let strict = ["strict-serializable".parse().expect("a level")];
        let mut online = Online { watched: Vec::new(), violated: None, levels: Vec::new() };
        for level in if levels.is_empty() { &strict[..] } else { levels } {
            let Some((axiom, base)) = level.decided_by() else { continue };
            if let Some(order) = order_of(axiom) {
                online.levels.push(*level);
                online.watched.push(Watched {
                    order,
                    axiom,
                    base,
                    versions: Vec::new(),
                    keys: Vec::new(),
                    first: Vec::new(),
                    sessions: IntMap::default(),
                    over: Vec::new(),
                });
            }
        }
        online
    }

    /// Processes a row that was just added.
    pub(crate) fn push(&mut self, run: &Decoded, row: Row) {
        let is_ok = run.rows.kind(row) == OpKind::Ok;
        if self.violated.is_some()
            || !is_ok && run.rows.stamps(row).commit.is_none()
            || run.rows.kind(row) == OpKind::Fail
        {
            return;
        }
        for (watched, level) in self.watched.iter_mut().zip(&self.levels) {
            if let Some(fault) = watched.push(run, row, is_ok) {
                self.violated = Some((*level, watched.order, fault));
                return;
            }
        }
    }
}

impl Watched {
    fn push(&mut self, run: &Decoded, row: Row, is_ok: bool) -> Option<Case> {
        self.versions.resize(run.versions.len(), Seen::default());
        self.keys.resize_with(run.versions.key_codes.len(), BTreeMap::new);
        self.first.resize(run.versions.key_codes.len(), None);
        let mops = run.rows.mops(row);
        let is_writer = mops.iter().any(|mop| mop.is_write());
        let stamps = run.rows.stamps(row);
        // Without timestamps it shows nothing; missing timestamps are reported at the end.
        let points = points(self.order, stamps, is_writer)?;
        let case = |fault: Fault| Some(Case { fault, row });
        if stamps.start.is_some_and(|start| stamps.commit.is_some_and(|commit| commit < start)) {
            return case(Fault::Backwards);
        }
        if let Some(found) = self.look_at_clock(run, row, points, is_ok) {
            return case(found);
        }
        for (at, mop) in mops.iter().enumerate().filter(|_| is_ok) {
            let is_own = || mops[..at].iter().any(|other| other.is_write() && other.key == mop.key);
            let version = match mop.what() {
                What::First if !is_own() => None,
                What::Read(_) if !is_own() => run.version_read(*mop),
                _ => continue,
            };
            if let Some(found) = self.read(row, at, mop.key, version, points.reads) {
                return case(found);
            }
        }
        for (at, mop) in mops.iter().enumerate() {
            let is_last = !mops[at + 1..].iter().any(|other| other.is_write() && other.key == mop.key);
            if let What::Write(version) = mop.what()
                && is_last
                && let Some(found) = self.write(run, (row, points), mop.key, version)
            {
                return Some(found);
            }
        }
        None
    }

    fn look_at_clock(&mut self, run: &Decoded, row: Row, points: Points, is_ok: bool) -> Option<Fault> {
        let process = run.rows.process(row).filter(|_| self.base != Base::None);
        if let Some(process) = process {
            if let Some((before, earlier)) = self.sessions.get(process)
                && !super::skew::is_after(self.order, *earlier, points)
            {
                return Some(Fault::Session { before: *before });
            }
            self.sessions.insert(process, (row, points));
        }
        if self.base == Base::RealTime {
            let begin = run.rows.begin(row);
            let count = self.over.partition_point(|(end, ..)| *end < begin);
            if let Some((_, before, earlier)) = self.over[..count].last()
                && !super::skew::is_after(self.order, *earlier, points)
            {
                return Some(Fault::RealTime { before: *before });
            }
            if is_ok && self.over.last().is_none_or(|(_, _, latest)| points.writes > latest.writes) {
                self.over.push((run.rows.index(row), row, points));
            }
        }
        None
    }

    fn read(&mut self, row: Row, at: usize, key: KeyId, version: Option<VersionId>, reads: Point) -> Option<Fault> {
        let mop = at.to_u32();
        let versions = &self.keys[key.at()];
        let Some(version) = version else {
            let first = &mut self.first[key.at()];
            *first = Some(first.map_or((reads, row), |latest| latest.max((reads, row))));
            let newer = versions.range(..reads).next().map(|(_, version)| self.writer(*version));
            return newer.map(|newer| Fault::Stale { mop, source: Row::NONE, newer });
        };
        self.versions[version.at()].read((reads, row));
        let (source, commit) = self.versions[version.at()].writer.map(|(row, points)| (row, points.writes))?;
        if commit >= reads {
            return Some(Fault::Early { mop, source });
        }
        let next = versions.range((std::ops::Bound::Excluded(commit), std::ops::Bound::Excluded(reads))).next();
        next.map(|(_, newer)| Fault::Stale { mop, source, newer: self.writer(*newer) })
    }

    fn writer(&self, version: VersionId) -> Row {
        self.versions[version.at()].writer.map_or(Row::NONE, |(row, _)| row)
    }

    fn write(&mut self, run: &Decoded, (row, points): (Row, Points), key: KeyId, version: VersionId) -> Option<Case> {
        let commit = points.writes;
        let seen = &mut self.versions[version.at()];
        seen.writer = Some((row, points));
        let seen = *seen;
        let of = |reader: Row, fault: &dyn Fn(u32) -> Fault| {
            let mops = run.rows.mops(reader);
            let mop = mops.iter().position(|mop| mop.key == key && !mop.is_write()).unwrap_or_default();
            Some(Case { fault: fault(mop.to_u32()), row: reader })
        };
        if let Some((_, reader)) = seen.earliest.filter(|(reads, _)| *reads <= commit) {
            return of(reader, &|mop| Fault::Early { mop, source: row });
        }
        if let Some(other) = self.keys[key.at()].insert(commit, version) {
            return Some(Case { fault: Fault::Tie { key, other: self.writer(other) }, row });
        }
        let before = self.keys[key.at()].range(..commit).next_back().map(|(_, version)| *version);
        let behind = (std::ops::Bound::Excluded(commit), std::ops::Bound::Unbounded);
        let after = self.keys[key.at()].range(behind).next().map(|(commit, version)| (*commit, *version));
        let latest = before.map_or(self.first[key.at()], |before| self.versions[before.at()].latest);
        if let Some((_, reader)) = latest.filter(|(reads, _)| *reads > commit) {
            let source = before.map_or(Row::NONE, |before| self.writer(before));
            return of(reader, &|mop| Fault::Stale { mop, source, newer: row });
        }
        if let (Some((_, reader)), Some((_, next))) =
            (seen.latest, after.filter(|(next, _)| seen.latest.is_some_and(|(reads, _)| reads > *next)))
        {
            return of(reader, &|mop| Fault::Stale { mop, source: row, newer: self.writer(next) });
        }
        if self.axiom == Axiom::Snapshot {
            let earlier = before.and_then(|before| self.versions[before.at()].writer);
            let later = after.and_then(|(_, after)| self.versions[after.at()].writer);
            let pairs = [earlier.map(|earlier| (earlier, (row, points))), later.map(|later| ((row, points), later))];
            for ((other, first), (row, second)) in pairs.into_iter().flatten() {
                if first.writes > second.reads && !second.is_instant {
                    return Some(Case { fault: Fault::Overlap { key, other }, row });
                }
            }
        }
        None
    }
}
