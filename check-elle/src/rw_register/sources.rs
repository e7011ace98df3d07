//! Where the order of versions comes from: each source as the edges that it gives.
//!
//! Where a source orders transactions, the last version of a key that the earlier one had to do with comes before the first
//! one of the later. For transactions in one line (a process, a given order) each is compared with the next that touched the
//! key. In real time each is compared with all that began later; of these edges, which may be as many as there are pairs, a
//! **reduction** is kept in which every other one is a path: see [`Inference::linearizable`].

use super::mop::Mop;
use super::touches::Touches;
use super::versions::Versions;
use crate::ids::{KeyId, TxnId, VersionId};
use crate::txn::Txns;
use rustc_hash::FxHashMap;

/// The sources in use, beside the one that always is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    pub(crate) transaction_order: Option<Vec<u64>>,
    pub(crate) wfr_keys: bool,
    pub(crate) sequential_keys: bool,
    pub(crate) linearizable_keys: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Nil comes before every other version.
    InitialState,
    TransactionOrder,
    WfrKeys,
    SequentialKeys,
    LinearizableKeys,
}

impl Source {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Source::InitialState => "initial-state",
            Source::TransactionOrder => "transaction-order",
            Source::WfrKeys => "wfr-keys",
            Source::SequentialKeys => "sequential-keys",
            Source::LinearizableKeys => "linearizable-keys",
        }
    }
}

/// One version of a key, and another that comes after it.
pub(crate) type Edge = (VersionId, VersionId);

/// What the order of versions is inferred from.
#[derive(Clone, Copy)]
pub(crate) struct Inference<'a> {
    pub(crate) versions: &'a Versions,
    pub(crate) txns: &'a Txns<Mop>,
    pub(crate) touches: &'a Touches,
}

/// Stands for no moment.
const NEVER: u32 = u32::MAX;

/// When each version is known to have been there, in numbers of transactions that had completed `ok`.
#[derive(Debug)]
pub(crate) struct Spans {
    /// The first completion of a transaction whose last version it was: how many completed before that. Or `NEVER`.
    pub(crate) since: Vec<u32>,
    /// The last invocation of a transaction whose first version it was: how many had completed then. 0 if none is known.
    pub(crate) until: Vec<u32>,
}

impl Inference<'_> {
    /// Writes follow reads, within transactions.
    pub(crate) fn wfr(self) -> Vec<Edge> {
        let both = self.touches.all().iter().filter_map(|touch| touch.read().zip(touch.write()));
        both.filter(|(read, write)| read != write && !self.versions.is_initial(*read)).collect()
    }

    /// Versions follow the order of each process.
    pub(crate) fn sequential(self) -> Vec<Edge> {
        let mut edges = Vec::new();
        let mut last: FxHashMap<(i64, KeyId), VersionId> = FxHashMap::default();
        for touch in self.touches.all().iter().filter(|touch| self.txns.is_ok(touch.txn)) {
            let Some(process) = self.txns.process(touch.txn) else { continue };
            if let Some(before) = last.insert((process, touch.key), touch.last())
                && before != touch.first()
            {
                edges.push((before, touch.first()));
            }
        }
        edges
    }

    /// Versions follow an order of transactions.
    pub(crate) fn in_order(self, order: &[TxnId]) -> Vec<Edge> {
        let mut edges = Vec::new();
        let mut last = vec![VersionId::NONE; self.versions.key.len()];
        for touch in order.iter().flat_map(|txn| self.touches.of(*txn)) {
            let before = std::mem::replace(&mut last[touch.key.at()], touch.last());
            if before != VersionId::NONE && before != touch.first() {
                edges.push((before, touch.first()));
            }
        }
        edges
    }

    /// When versions were there.
    pub(crate) fn spans(self) -> Spans {
        let count = self.versions.version.len();
        let mut spans = Spans { since: vec![NEVER; count], until: vec![0; count] };
        let mut oks = 0;
        let mut touches = self.touches.all().iter().peekable();
        for txn in self.txns.ids() {
            let is_ok = self.txns.is_ok(txn);
            while let Some(touch) = touches.next_if(|touch| touch.txn == txn) {
                let until = &mut spans.until[touch.first().at()];
                *until = (*until).max(self.txns.oks_before(txn).unwrap_or(0));
                if is_ok {
                    let since = &mut spans.since[touch.last().at()];
                    *since = (*since).min(oks);
                }
            }
            oks += u32::from(is_ok);
        }
        spans
    }

    /// Versions follow real time: v comes before w if some transaction whose last version is v completed before one whose
    /// first version is w was invoked.
    ///
    /// Where no version comes before itself, every other such edge is a path of these. Of the versions that come after
    /// v let u be the one that is there first ([`Spans::since`]). All of them that are read after that come after u as
    /// well, so from v there are only edges to u, and to those that are not. At any one time there are no more of these
    /// than transactions in flight.
    ///
    /// Only versions that `counts` come after others. O(n log n + edges).
    pub(crate) fn linearizable(self, spans: &Spans, counts: impl Fn(VersionId) -> bool) -> Vec<Edge> {
        let mut edges = Vec::new();
        // The versions of a key, and those of them that count, by `until`.
        let (mut all, mut later) = (Vec::new(), Vec::new());
        let mut first_two = Vec::new();
        for key in (0..self.versions.key.len()).map(KeyId::new) {
            self.versions_of(key, &mut all);
            later.clear();
            later.extend(all.iter().copied().filter(|version| spans.until[version.at()] > 0 && counts(*version)));
            later.sort_unstable_by_key(|version| (spans.until[version.at()], *version));
            find_first_two(&later, spans, &mut first_two);
            for version in &all {
                successors(*version, &later, &first_two, spans, &mut edges);
            }
        }
        edges
    }
}

impl Inference<'_> {
    /// The same relation, exact also where versions come before each other, for finding out where they do: from each version
    /// an edge to a gate, and from each gate to the next one and to a version. Gates are numbered on from the versions; how
    /// many there are comes second. O(n log n).
    ///
    /// By way of gates a version may lead to itself. That adds gates to its component, and no version: whoever leads to one of
    /// these gates leads to the version as well.
    pub(crate) fn linearizable_by_gates(self, spans: &Spans) -> (Vec<Edge>, usize) {
        let mut edges = Vec::new();
        let base = self.versions.version.len();
        let mut gates = 0;
        let mut all = Vec::new();
        for key in (0..self.versions.key.len()).map(KeyId::new) {
            self.versions_of(key, &mut all);
            all.sort_unstable_by_key(|version| (spans.until[version.at()], *version));
            let gate = |at: usize| VersionId::new(base + gates + at);
            for (at, version) in all.iter().enumerate() {
                edges.push((gate(at), *version));
                if at + 1 < all.len() {
                    edges.push((gate(at), gate(at + 1)));
                }
                let later = all.partition_point(|other| spans.until[other.at()] <= spans.since[version.at()]);
                if later < all.len() {
                    edges.push((*version, gate(later)));
                }
            }
            gates += all.len();
        }
        (edges, gates)
    }

    /// Whether real time orders any two versions. O(n log n).
    pub(crate) fn orders_in_time(self, spans: &Spans) -> bool {
        let mut all = Vec::new();
        (0..self.versions.key.len()).map(KeyId::new).any(|key| {
            self.versions_of(key, &mut all);
            all.sort_unstable_by_key(|version| (spans.since[version.at()], *version));
            // The first that is there, and the next for itself.
            all.iter().any(|version| {
                let first = all.iter().take(2).find(|other| *other != version);
                first.is_some_and(|first| spans.since[first.at()] < spans.until[version.at()])
            })
        })
    }

    /// The versions of a key that somebody had first or last, each once, in ascending order.
    fn versions_of(self, key: KeyId, versions: &mut Vec<VersionId>) {
        versions.clear();
        versions.extend(self.touches.of_key(key).flat_map(|touch| [touch.first(), touch.last()]));
        versions.sort_unstable();
        versions.dedup();
    }
}

/// For each place in `later`, which of the versions from there on are there first and second.
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
