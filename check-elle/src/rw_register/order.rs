//! The order of each key's versions: from the sources, one after another, as far as they do not contradict each other.
//!
//! A source contradicts the earlier ones, or itself, if its edges would close a cycle with theirs. It is then omitted,
//! and reported as an anomaly.
//!
//! A version that its own transaction overwrote matters only to those that read it. So no source is checked against the
//! order in which one transaction wrote a key twice. Nothing orders the earlier write unless another transaction read
//! it, which is a G1b, or the transaction itself read it before writing it, which is a future read. Read committed
//! forbids both. Read uncommitted forbids neither, and permits reads to return such versions in any order.

use super::sources::timing::Timing;
use super::sources::{Edge, Inference, Source, Sources};
use super::versions::Versions;
use crate::graph::scc::components;
use crate::graph::views::Digraph;
use crate::ids::{KeyId, TxnId, VersionId};
use history_core::cast::Cast as _;
use history_core::hash::HashMap;
use history_core::parallel;

#[derive(Debug, Default)]
pub(crate) struct Order {
    after: Successors,
    /// The sources of `after`, in the order in which they were added.
    pub(crate) in_use: Vec<Source>,
    pub(crate) cyclic: Vec<CyclicVersions>,
    /// The given order of transactions.
    pub(crate) transactions: Vec<TxnId>,
    /// The number of given indices that name no transaction, or one that was already named.
    pub(crate) names_nothing: usize,
}

/// Versions of a key that form a cycle.
#[derive(Debug)]
pub(crate) struct CyclicVersions {
    pub(crate) key: KeyId,
    /// In ascending order.
    pub(crate) scc: Vec<VersionId>,
    /// The sources of its edges; the one that was omitted because of it is last.
    pub(crate) sources: Vec<Source>,
    /// The edges between them that show the cycle.
    pub(crate) edges: Vec<Edge>,
}

/// The direct successors of each version.
#[derive(Debug, Default)]
struct Successors {
    /// Nondecreasing; its last entry is `to.len()`.
    start: Vec<u32>,
    /// In ascending order for each version, each once.
    to: Vec<VersionId>,
}

impl Successors {
    /// O(versions + edges), and a sort of each version's.
    fn new(versions: usize, edges: &[&[Edge]]) -> Successors {
        let all = || edges.iter().flat_map(|edges| edges.iter());
        let mut start = vec![0u32; versions + 1];
        for (from, _) in all() {
            start[from.at()] += 1;
        }
        let mut total = 0;
        for count in &mut start {
            total += std::mem::replace(count, total);
        }
        let mut to = vec![VersionId::NONE; total.to_usize()];
        let mut next = start.clone();
        for (from, after) in all() {
            to[next[from.at()].to_usize()] = *after;
            next[from.at()] += 1;
        }
        for group in start.windows(2) {
            to[group[0].to_usize()..group[1].to_usize()].sort_unstable();
        }
        Successors { start, to }
    }

    fn of(&self, version: VersionId) -> &[VersionId] {
        &self.to[self.start[version.at()].to_usize()..self.start[version.at() + 1].to_usize()]
    }
}

impl Digraph for Successors {
    fn nodes(&self) -> u32 {
        (self.start.len() - 1).to_u32()
    }

    fn edges_of(&self, node: u32) -> std::ops::Range<u32> {
        self.start[node.to_usize()]..self.start[node.to_usize() + 1]
    }

    fn follow(&self, _: u32, edge: u32) -> Option<u32> {
        Some(self.to[edge.to_usize()].at().to_u32())
    }
}

impl Order {
    /// O(versions + edges) for each source.
    pub(crate) fn infer(from: Inference<'_>, sources: &Sources) -> Order {
        let mut order = Order { in_use: vec![Source::InitialState], ..Order::default() };
        let mut edges = Edges::default();
        if let Some(indices) = &sources.transaction_order {
            order.find_transactions(from, indices);
            let timing = from.by_order(&order.transactions);
            order.take_timed(from, Source::TransactionOrder, &timing, &mut edges);
        }
        if sources.wfr_keys {
            order.take_wfr(from, &mut edges);
        }
        if sources.sequential_keys {
            order.take_timed(from, Source::SequentialKeys, &from.by_process(), &mut edges);
        }
        if sources.linearizable_keys {
            order.take_timed(from, Source::LinearizableKeys, &from.by_clock(), &mut edges);
        }
        order.after = Successors::new(from.versions.version.len(), &[&edges.installed]);
        order
    }

    /// The direct successors of a version other than the initial one, possibly with duplicates.
    #[inline]
    pub(crate) fn after(&self, version: VersionId) -> &[VersionId] {
        self.after.of(version)
    }

    /// Returns true if it is only known that every version follows the initial one.
    pub(crate) fn is_trivial(&self) -> bool {
        self.after.to.is_empty()
    }

    fn find_transactions(&mut self, from: Inference<'_>, indices: &[u64]) {
        let mut by_index: HashMap<u64, TxnId> = HashMap::default();
        for txn in from.txns.ids() {
            by_index.insert(from.txns.index(txn), txn);
            if let Some(invoked) = from.txns.invoked(txn) {
                by_index.insert(invoked, txn);
            }
        }
        let mut named = vec![false; from.txns.len()];
        for index in indices {
            match by_index.get(index) {
                Some(txn) if !std::mem::replace(&mut named[txn.at()], true) => self.transactions.push(*txn),
                _ => self.names_nothing += 1,
            }
        }
    }

    fn take_wfr(&mut self, from: Inference<'_>, edges: &mut Edges) {
        let found = from.wfr();
        let exact = || (found.clone(), 0);
        if self.makes_sense(from, Source::WfrKeys, &edges.all, &Found { edges: &found, exact: &exact }) {
            edges.all.extend(&found);
            edges.installed.extend(found);
        }
    }

    /// Adds a source that orders transactions.
    fn take_timed(&mut self, from: Inference<'_>, source: Source, timing: &Timing, edges: &mut Edges) {
        let worth = from.txns.len() >= parallel::WORTH_OPS;
        let check = || {
            let found = timing.reduced(from, |_| true);
            let exact = || timing.by_gates(from);
            let makes_sense = self.makes_sense(from, source, &edges.all, &Found { edges: &found, exact: &exact });
            makes_sense.then_some(found)
        };
        let installed = || timing.reduced(from, |version| from.versions.installer(version).is_some());
        let (found, installed) = parallel::both(worth, check, installed);
        if let Some(found) = found {
            edges.all.extend(found);
            edges.installed.extend(installed);
        }
    }

    /// Returns true if a source's edges close no cycle with the earlier ones, and puts it in use; else records the
    /// cycles.
    fn makes_sense(&mut self, from: Inference<'_>, source: Source, before: &[Edge], found: &Found<'_>) -> bool {
        let count = from.versions.version.len();
        let initial = after_initial(from, found.edges);
        if components(&Successors::new(count, &[before, found.edges, &initial])).large.is_empty() {
            self.in_use.push(source);
            return true;
        }
        let (exact, gates) = (found.exact)();
        let initial = after_initial(from, &exact);
        let components = components(&Successors::new(count + gates, &[before, &exact, &initial]));
        let versions = components.large.into_iter().map(|mut scc| {
            scc.retain(|node| node.to_usize() < count);
            scc.into_iter().map(|node| VersionId::new(node.to_usize())).collect::<Vec<_>>()
        });
        let large: Vec<Vec<VersionId>> = versions.filter(|scc| scc.len() > 1).collect();
        let mut sources = self.in_use.clone();
        sources.push(source);
        let mut place: HashMap<u32, usize> = HashMap::default();
        let first = self.cyclic.len();
        for mut scc in large {
            scc.sort_unstable();
            place.insert(components.of[scc[0].at()], self.cyclic.len());
            let key = from.versions.version[scc[0].at()].key;
            self.cyclic.push(CyclicVersions { key, scc, sources: sources.clone(), edges: Vec::new() });
        }
        for (a, b) in [before, found.edges, &initial].iter().flat_map(|edges| edges.iter()) {
            let of = components.of[a.at()];
            if of == components.of[b.at()]
                && let Some(at) = place.get(&of)
            {
                self.cyclic[*at].edges.push((*a, *b));
            }
        }
        self.cyclic[first..].sort_by_key(|case| (case.key, case.scc[0]));
        false
    }
}

/// The edges of the sources in use.
#[derive(Default)]
struct Edges {
    /// Edges between all versions: these decide whether there is a cycle.
    all: Vec<Edge>,
    /// Edges to versions that a transaction left behind: only these relate transactions.
    installed: Vec<Edge>,
}

/// The edges of a source.
struct Found<'a> {
    /// Some of the edges. If there is no cycle, all others are paths of these; if there are cycles, so there are of
    /// these.
    edges: &'a [Edge],
    /// The same relation between versions and gates, exact in any case, and the number of gates.
    exact: &'a dyn Fn() -> (Vec<Edge>, usize),
}

/// The edges from the initial version of each key, if the source orders some version before it: otherwise such edges
/// close no cycle.
fn after_initial(from: Inference<'_>, found: &[Edge]) -> Vec<Edge> {
    let Versions { key, version, .. } = from.versions;
    let into = found.iter().filter(|(_, to)| to.at() < version.len() && from.versions.is_initial(*to));
    let mut keys: Vec<KeyId> = into.map(|(_, to)| version[to.at()].key).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut edges = Vec::new();
    for k in keys {
        let initial = key[k.at()].initial;
        let touched = from.touches.of_key(k).flat_map(|touch| [touch.read(), touch.write()]).flatten();
        let mut touched: Vec<VersionId> = touched.filter(|version| *version != initial).collect();
        touched.sort_unstable();
        touched.dedup();
        edges.extend(touched.into_iter().map(|version| (initial, version)));
    }
    edges
}
