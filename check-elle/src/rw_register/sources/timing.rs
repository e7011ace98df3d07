//! Versions in time: how a source that orders transactions orders versions.
//!
//! A version v precedes w if some transaction whose last version is v is before one whose first version is w. This is
//! so if and only if the first of the former is before the last of the latter, so two numbers per version, [`Spans`],
//! suffice. In real time the numbers are completions. In a **row**, which contains the accesses of a process (or of a
//! given order) to one key, they are positions.
//!
//! The number of such pairs may be the square of the number of versions. A reduction is kept in which every other pair
//! is connected by a path: see [`Timing::reduced`].

use super::{Edge, Inference};
use crate::ids::{KeyId, VersionId};
use crate::rw_register::touches::Groups;
use crate::rw_register::within::Touch;
use history_core::cast::Cast as _;
use std::ops::ControlFlow;

/// An unknown time.
const NEVER: u32 = u32::MAX;

/// The times at which each version is known to have existed.
#[derive(Debug)]
pub(crate) struct Spans {
    /// The first time at which a transaction whose last version it was is over, or `NEVER`.
    pub(crate) since: Vec<u32>,
    /// The last time at which a transaction whose first version it was began, such that transactions over by then have
    /// smaller numbers. 0 if none is known.
    pub(crate) until: Vec<u32>,
}

impl Spans {
    /// The spans of versions that never existed.
    pub(crate) fn new(versions: usize) -> Spans {
        Spans { since: vec![NEVER; versions], until: vec![0; versions] }
    }

    /// Returns true if the first version precedes the second.
    fn is_before(&self, version: VersionId, later: VersionId) -> bool {
        self.since[version.at()] < self.until[later.at()]
    }
}

/// Touches in rows: each row has one key, and its transactions are sequential.
#[derive(Debug)]
pub(crate) struct Rows {
    touches: Vec<Touch>,
    of_row: Groups,
    count: usize,
}

impl Rows {
    /// Groups touches, each with the number of its row, in the order of transactions.
    pub(crate) fn new(rows: usize, placed: Vec<(usize, Touch)>) -> Rows {
        let of_row = Groups::new(rows, placed.iter().enumerate().map(|(at, (row, _))| (*row, at.to_u32())));
        Rows { touches: placed.into_iter().map(|(_, touch)| touch).collect(), of_row, count: rows }
    }
}

/// An order of transactions, as far as it concerns versions.
#[derive(Debug)]
pub(crate) enum Timing {
    Rows(Rows),
    /// Real time.
    Clock(Spans),
}

impl Timing {
    /// Calls `see` for each part: the versions of a row, or of a key, without duplicates and in ascending order, and
    /// their times. Ends when `see` breaks.
    fn each_part(&self, from: Inference<'_>, mut see: impl FnMut(&mut Vec<VersionId>, &Spans) -> ControlFlow<()>) {
        let mut versions = Vec::new();
        match self {
            Timing::Clock(spans) => {
                for key in (0..from.versions.key.len()).map(KeyId::new) {
                    versions_of(from.touches.of_key(key), &mut versions);
                    if see(&mut versions, spans).is_break() {
                        return;
                    }
                }
            }
            Timing::Rows(rows) => {
                let mut spans = Spans::new(from.versions.version.len());
                for row in (0..rows.count).map(|row| rows.of_row.of(row)).filter(|row| row.len() > 1) {
                    let touches = row.iter().map(|at| rows.touches[at.to_usize()]);
                    for (at, touch) in (0..).zip(touches.clone()) {
                        let (since, until) =
                            (&mut spans.since[touch.last().at()], &mut spans.until[touch.first().at()]);
                        *since = at.min(*since);
                        *until = at;
                    }
                    versions_of(touches, &mut versions);
                    if see(&mut versions, &spans).is_break() {
                        return;
                    }
                    for version in &versions {
                        (spans.since[version.at()], spans.until[version.at()]) = (NEVER, 0);
                    }
                }
            }
        }
    }

    /// Some of the edges. All others are paths of these if no version of a part precedes itself.
    ///
    /// Of the versions that follow v, let u be the one that exists first ([`Spans::since`]). All versions that are read
    /// after that follow u as well, so v needs edges only to u and to those that do not follow u. At any time there are
    /// no more of these than transactions in flight.
    ///
    /// If some versions precede themselves, they also do so by these edges alone: let w follow v, and both be in one
    /// cycle. If the edge from v to w is omitted, u precedes w, and is in the cycle as well. So each version in the
    /// cycle has an edge to another.
    ///
    /// Only versions that `counts` accepts follow others. O(n log n + edges).
    pub(crate) fn reduced(&self, from: Inference<'_>, counts: impl Fn(VersionId) -> bool) -> Vec<Edge> {
        let mut edges = Vec::new();
        // The versions that count, by `until`.
        let mut later = Vec::new();
        let mut first_two = Vec::new();
        self.each_part(from, |all, spans| {
            later.clear();
            later.extend(all.iter().copied().filter(|version| spans.until[version.at()] > 0 && counts(*version)));
            later.sort_unstable_by_key(|version| (spans.until[version.at()], *version));
            find_first_two(&later, spans, &mut first_two);
            for version in all {
                successors(*version, &later, &first_two, spans, &mut edges);
            }
            ControlFlow::Continue(())
        });
        edges
    }

    /// The same relation, exact even if versions precede each other, to find out which do: each version has an edge to
    /// a gate, and each gate has edges to the next one and to a version. The numbers of gates follow those of the
    /// versions. Returns the edges and the number of gates. O(n log n).
    ///
    /// By way of gates a version may lead to itself. This adds gates to its component, but no version: every node that
    /// leads to one of these gates leads to the version as well.
    pub(crate) fn by_gates(&self, from: Inference<'_>) -> (Vec<Edge>, usize) {
        let mut edges = Vec::new();
        let base = from.versions.version.len();
        let mut gates = 0;
        self.each_part(from, |all, spans| {
            let mut sorted = all.clone();
            sorted.sort_unstable_by_key(|version| (spans.until[version.at()], *version));
            let gate = |at: usize| VersionId::new(base + gates + at);
            for (at, version) in sorted.iter().enumerate() {
                edges.push((gate(at), *version));
                if at + 1 < sorted.len() {
                    edges.push((gate(at), gate(at + 1)));
                }
                let later = sorted.partition_point(|other| spans.until[other.at()] <= spans.since[version.at()]);
                if later < sorted.len() {
                    edges.push((*version, gate(later)));
                }
            }
            gates += sorted.len();
            ControlFlow::Continue(())
        });
        (edges, gates)
    }

    /// Returns true if any two versions are ordered. O(n log n).
    pub(crate) fn orders_any(&self, from: Inference<'_>) -> bool {
        let mut any = false;
        self.each_part(from, |all, spans| {
            all.sort_unstable_by_key(|version| (spans.since[version.at()], *version));
            // The version that exists first, or for this one itself the second.
            any = all.iter().any(|version| {
                let first = all.iter().take(2).find(|other| *other != version);
                first.is_some_and(|first| spans.is_before(*first, *version))
            });
            if any { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        any
    }
}

/// The first and last versions of these touches, without duplicates, in ascending order.
fn versions_of(touches: impl Iterator<Item = Touch>, versions: &mut Vec<VersionId>) {
    versions.clear();
    versions.extend(touches.flat_map(|touch| [touch.first(), touch.last()]));
    versions.sort_unstable();
    versions.dedup();
}

/// For each position in `later`, the versions from there on that exist first and second.
fn find_first_two(later: &[VersionId], spans: &Spans, first_two: &mut Vec<[VersionId; 2]>) {
    let since = |version: VersionId| if version == VersionId::NONE { NEVER } else { spans.since[version.at()] };
    first_two.clear();
    first_two.resize(later.len() + 1, [VersionId::NONE; 2]);
    for at in (0..later.len()).rev() {
        let [first, second] = first_two[at + 1];
        first_two[at] = if first == VersionId::NONE || since(later[at]) < since(first) {
            [later[at], first]
        } else if second == VersionId::NONE || since(later[at]) < since(second) {
            [first, later[at]]
        } else {
            [first, second]
        };
    }
}

/// The edges of one version.
fn successors(
    version: VersionId,
    later: &[VersionId],
    first_two: &[[VersionId; 2]],
    spans: &Spans,
    edges: &mut Vec<Edge>,
) {
    let since = spans.since[version.at()];
    let until = |version: VersionId| spans.until[version.at()];
    let from = later.partition_point(|other| until(*other) <= since);
    let [first, second] = first_two[from];
    let first = if first == version { second } else { first };
    if first == VersionId::NONE {
        return;
    }
    let covered_after = spans.since[first.at()];
    let uncovered = later[from..].iter().take_while(|other| until(**other) <= covered_after);
    edges.extend(uncovered.filter(|other| **other != version).map(|other| (version, *other)));
    if until(first) > covered_after {
        edges.push((version, first));
    }
}
