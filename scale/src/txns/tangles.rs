//! Finds the parts of a history where operations may be on cycles of dependencies and real time: intervals of time, so
//! that each cycle is within one of them.
//!
//! The dependencies come in windows, by the index at which both of their operations are known to run. At the end of
//! each window its strongly connected components are computed. The operations of a component with more than one
//! operation may be on a cycle, together with everything invoked in between: an operation whose dependencies all agree
//! with real time has none here, and may be on such a cycle, too.
//!
//! A component may continue in later windows. An operation that is invoked later can precede an earlier one only if
//! there is a path to the earlier one from an operation in flight. So of a window only the operations to which those in
//! flight lead are kept. Two kinds of operations are not kept for long, to limit memory:
//!
//! - An operation in flight for more than a window represents everything that it leads to, by the first of these to
//!   complete. It may lead to everything that is invoked after that.
//! - A dependency on an operation that is no longer kept leads back in time. It may lead to everything from the first
//!   invocation of the windows since then.
//!
//! Both make intervals longer than necessary, but are rare. O(dependencies * log of those of a window).

use history_core::hash::{HashMap, HashSet};
use history_core::share::{Dependency, Span};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Dfs;
use std::ops::RangeInclusive;

/// The maximum number of operations of a knot: larger ones are not examined one by one.
const KNOT_MAX: usize = 1 << 14;

/// Operations that all lead to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Knot {
    /// The operations that dependencies name, in the order of their invocations.
    named: Vec<Span>,
    /// The first completion of these, and the last invocation: real time leads to operations that run in between, and
    /// on from them.
    between: (u64, u64),
}

impl Knot {
    /// Returns `None` if there are too many operations.
    fn new(operations: &[&Operation]) -> Option<Knot> {
        if operations.len() > KNOT_MAX {
            return None;
        }
        let mut named: Vec<Span> = operations.iter().map(|one| one.span).collect();
        named.sort_unstable();
        let first = named.iter().map(|span| span.completed).min()?;
        let between = (first, named.last()?.invoked);
        Some(Knot { named, between })
    }

    /// Returns true if the knot contains an operation.
    pub(crate) fn has(&self, span: Span) -> bool {
        let (first, last) = self.between;
        first < span.invoked && span.completed < last || self.named.binary_search(&span).is_ok()
    }

    /// The operations that dependencies name, in the order of their invocations.
    pub(crate) fn named(&self) -> &[Span] {
        &self.named
    }

    /// From the first invocation to the last known completion; or to the last invocation, if that is later.
    pub(crate) fn range(&self) -> RangeInclusive<u64> {
        let completed = self.named.iter().map(|span| span.completed).filter(|completed| *completed != u64::MAX);
        self.named[0].invoked..=completed.max().unwrap_or(0).max(self.between.1)
    }
}

/// A component that was found in one window.
#[derive(Debug)]
struct Found {
    range: RangeInclusive<u64>,
    /// The knot; `None` if it is too large, or torn.
    knot: Option<Knot>,
    /// Whether all of its operations were kept.
    is_whole: bool,
}

/// The state of the search for cycles.
#[derive(Debug, Default)]
pub(crate) struct Tangles {
    /// Dependencies that may be on further cycles.
    kept: Vec<Dependency>,
    /// The operations of these, in order.
    known: Vec<Span>,
    /// Operations that have been in flight for long, by their invocations: their own completion, and the first
    /// completion of all operations to which they lead.
    running: HashMap<u64, (u64, u64)>,
    /// The ends of windows, and the first invocation in each.
    windows: Vec<(u64, u64)>,
    /// The invocations of operations whose dependencies were dropped, although others may still lead to them.
    torn: HashSet<u64>,
    found: Vec<Found>,
}

impl Tangles {
    /// Processes the dependencies that are known before the index `end`, or all others if there is none.
    pub(crate) fn take(&mut self, dependencies: impl IntoIterator<Item = Dependency>, end: Option<u64>) {
        self.kept.extend(dependencies);
        let mut spans: Vec<Span> = self.kept.iter().flat_map(|dependency| [dependency.from, dependency.to]).collect();
        spans.sort_unstable();
        spans.dedup();
        let window = Window::new(spans.iter().map(|span| self.operation(*span)).collect(), &self.kept);
        self.found.extend(window.tangles());
        let Some(end) = end else { return };
        self.forget(&window, end);
        let first = spans.first().map_or(u64::MAX, |span| span.invoked);
        self.windows.push((end, first));
        self.known = self.kept.iter().flat_map(|dependency| [dependency.from, dependency.to]).collect();
        self.known.sort_unstable();
        self.known.dedup();
    }

    /// The end of the previous window.
    fn begin(&self) -> u64 {
        self.windows.last().map_or(0, |(end, _)| *end)
    }

    fn operation(&mut self, span: Span) -> Operation {
        let until = self.running.get(&span.invoked).map(|(_, first)| *first);
        let is_back = span.completed < self.begin() && self.known.binary_search(&span).is_err();
        if is_back {
            self.torn.insert(span.invoked);
        }
        let low =
            if is_back || until.is_some() { span.invoked.min(self.first_since(span.invoked)) } else { span.invoked };
        let is_torn = !self.torn.is_empty() && self.torn.contains(&span.invoked);
        Operation { span, low, until: if is_back { low } else { until.unwrap_or(span.completed) }, is_torn }
    }

    /// The first invocation in the windows that end after an index.
    fn first_since(&self, index: u64) -> u64 {
        let from = self.windows.partition_point(|(end, _)| *end <= index);
        self.windows[from..].iter().map(|(_, first)| *first).min().unwrap_or(u64::MAX)
    }

    /// Drops dependencies that no later cycle can contain.
    fn forget(&mut self, window: &Window, end: u64) {
        let begin = self.begin();
        let is_in_flight = |span: Span| span.completed >= end;
        let is_old = |span: Span| is_in_flight(span) && span.invoked < begin;
        let torn = &mut self.torn;
        self.running.retain(|invoked, (completed, _)| *completed >= end || !torn.insert(*invoked));
        for (span, first) in window.first_completions(is_old) {
            let (_, least) = self.running.entry(span.invoked).or_insert((span.completed, first));
            *least = first.min(*least);
        }
        let is_reached = window.reached(|span| is_in_flight(span) && !is_old(span));
        self.kept.retain(|Dependency { from, to }| is_reached[window.at(*from)] || is_old(*from) && is_in_flight(*to));
    }

    /// Returns true if any operation may be on a cycle.
    pub(crate) fn is_any_found(&self) -> bool {
        !self.found.is_empty()
    }

    /// The components, in the order of their first invocations; `None` if one of them is too large, or continues for
    /// too long.
    pub(crate) fn knots(&self) -> Option<Vec<Knot>> {
        // A component that continues in a later window is found there again, with all its operations.
        let (mut knots, mut knot_of): (Vec<Knot>, HashMap<u64, usize>) = (Vec::new(), HashMap::default());
        for found in self.found.iter().rev().filter(|found| found.is_whole) {
            let knot = found.knot.as_ref()?;
            let known = knot.named.iter().filter(|span| knot_of.contains_key(&span.invoked)).count();
            if known == 0 {
                knot_of.extend(knot.named.iter().map(|span| (span.invoked, knots.len())));
                knots.push(knot.clone());
            } else if known < knot.named.len() {
                return None;
            }
        }
        // The remaining operations of an incomplete component may be those in flight of a complete one.
        for found in self.found.iter().filter(|found| !found.is_whole) {
            let mut of = found.knot.as_ref()?.named.iter().map(|span| knot_of.get(&span.invoked));
            let first = of.next()??;
            if !of.all(|knot| knot == Some(first)) {
                return None;
            }
        }
        knots.sort_unstable_by_key(|knot| knot.named[0]);
        Some(knots)
    }

    /// The intervals, as indices of invocations, in order and disjoint.
    pub(crate) fn end(self) -> Vec<RangeInclusive<u64>> {
        let mut found: Vec<RangeInclusive<u64>> = self.found.into_iter().map(|found| found.range).collect();
        found.sort_unstable_by_key(|tangle| (*tangle.start(), *tangle.end()));
        found.dedup_by(|next, before| {
            let is_apart = next.start() > before.end();
            if !is_apart {
                *before = *before.start()..=*before.end().max(next.end());
            }
            !is_apart
        });
        found
    }
}

#[derive(Debug)]
struct Operation {
    span: Span,
    /// It may lead to everything that is invoked after this index: its completion, or an earlier one.
    until: u64,
    /// The first invocation that may be on a cycle with it, including those not in the window.
    low: u64,
    /// Whether it has dependencies that are not in the window.
    is_torn: bool,
}

/// The operations of the current dependencies.
struct Window {
    /// The operations in the order of their invocations.
    operations: Vec<Operation>,
    /// The nodes are the operations, and then, for each, a moment before its invocation, which leads to it and to the
    /// next moment. So real time takes one edge for each operation, to the first moment after it.
    graph: DiGraph<(), ()>,
    /// Its components; each comes after those to which it leads.
    components: Vec<Vec<NodeIndex>>,
}

impl Window {
    fn new(operations: Vec<Operation>, dependencies: &[Dependency]) -> Window {
        let len = operations.len();
        let mut window = Window { operations, graph: DiGraph::default(), components: Vec::new() };
        let mut graph = DiGraph::with_capacity(2 * len, 3 * len + dependencies.len());
        (0..2 * len).for_each(|_| _ = graph.add_node(()));
        let node = NodeIndex::new;
        for at in 0..len {
            graph.add_edge(node(len + at), node(at), ());
            if at + 1 < len {
                graph.add_edge(node(len + at), node(len + at + 1), ());
            }
            let after = window.after(window.operations[at].until);
            if after < len {
                graph.add_edge(node(at), node(len + after), ());
            }
        }
        for Dependency { from, to } in dependencies {
            graph.add_edge(node(window.at(*from)), node(window.at(*to)), ());
        }
        window.components = kosaraju_scc(&graph);
        window.graph = graph;
        window
    }

    /// The first operation that is invoked after an index.
    fn after(&self, index: u64) -> usize {
        self.operations.partition_point(|operation| operation.span.invoked <= index)
    }

    fn at(&self, span: Span) -> usize {
        self.operations
            .binary_search_by_key(&span, |operation| operation.span)
            .expect("one of the current dependencies")
    }

    fn operations_of<'a>(&'a self, nodes: &'a [NodeIndex]) -> impl Iterator<Item = &'a Operation> {
        nodes.iter().filter_map(|node| self.operations.get(node.index()))
    }

    /// The range from the first invocation to the last one of each component with several nodes, and its operations.
    fn tangles(&self) -> impl Iterator<Item = Found> {
        self.components.iter().filter(|nodes| nodes.len() > 1).filter_map(|nodes| {
            let operations: Vec<&Operation> = self.operations_of(nodes).collect();
            let first = operations.iter().map(|operation| operation.low).min()?;
            let last = operations.iter().map(|operation| operation.span.invoked).max()?;
            let is_plain = |one: &&Operation| one.low == one.span.invoked && one.until == one.span.completed;
            let is_whole = operations.iter().all(is_plain);
            let knot = Knot::new(&operations).filter(|_| !operations.iter().any(|operation| operation.is_torn));
            Some(Found { range: first..=last, knot, is_whole })
        })
    }

    /// For each operation that `are` selects, the first completion of all operations to which it leads.
    fn first_completions(&self, are: impl Fn(Span) -> bool) -> Vec<(Span, u64)> {
        let mut first = vec![u64::MAX; self.graph.node_count()];
        let mut found = Vec::new();
        for nodes in &self.components {
            let own = self.operations_of(nodes).map(|operation| operation.until);
            let below = nodes.iter().flat_map(|node| self.graph.neighbors(*node)).map(|node| first[node.index()]);
            let least = own.chain(below).min().unwrap_or(u64::MAX);
            for node in nodes {
                first[node.index()] = least;
            }
            found
                .extend(self.operations_of(nodes).filter(|operation| are(operation.span)).map(|one| (one.span, least)));
        }
        found
    }

    /// The operations to which those that `are` selects lead, including these.
    fn reached(&self, are: impl Fn(Span) -> bool) -> Vec<bool> {
        let mut search = Dfs::empty(&self.graph);
        let mut is_reached = vec![false; self.operations.len()];
        for at in (0..self.operations.len()).filter(|at| are(self.operations[*at].span)) {
            search.move_to(NodeIndex::new(at));
            while let Some(node) = search.next(&self.graph) {
                if let Some(is_reached) = is_reached.get_mut(node.index()) {
                    *is_reached = true;
                }
            }
        }
        is_reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::cast::Cast as _;

    /// Pseudorandom numbers that are the same each time.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 33) % end.to_u64()).to_usize()
        }
    }

    /// Operations at random times, some without an end, and dependencies between some of them.
    fn random(dice: &mut Dice) -> (Vec<Span>, Vec<Dependency>) {
        let count = 2 + dice.below(11);
        let mut events: Vec<usize> = (0..2 * count).map(|event| event / 2).collect();
        for at in 0..events.len() {
            // Most dependencies are between operations close in time, so that not all operations are concurrent.
            let far = if dice.below(8) == 0 { 12 } else { 4 };
            let other = (at + dice.below(far)).min(events.len() - 1);
            events.swap(at, other);
        }
        let at =
            |op: usize| events.iter().enumerate().filter(move |(_, other)| **other == op).map(|(at, _)| at.to_u64());
        let spans: Vec<Span> = (0..count)
            .map(|op| {
                let ends = at(op).collect::<Vec<_>>();
                let completed = if dice.below(5) == 0 { u64::MAX } else { ends[1] };
                Span { invoked: ends[0], completed }
            })
            .collect();
        let goes_back = dice.below(3) == 0;
        let mut dependencies = Vec::new();
        for _ in 0..dice.below(2 * count) {
            let (from, to) = (spans[dice.below(count)], spans[dice.below(count)]);
            let is_back = goes_back || to.completed > from.invoked;
            if from != to && from.completed > to.invoked && is_back {
                dependencies.push(Dependency { from, to });
            }
        }
        dependencies.sort_unstable_by_key(Dependency::known);
        (spans, dependencies)
    }

    /// The relation between all operations, computed naively.
    fn before(spans: &[Span], dependencies: &[Dependency]) -> Vec<Vec<bool>> {
        let n = spans.len();
        let mut before = vec![vec![false; n]; n];
        for (a, one) in spans.iter().enumerate() {
            for (b, other) in spans.iter().enumerate() {
                before[a][b] =
                    one.completed < other.invoked || dependencies.contains(&Dependency { from: *one, to: *other });
            }
        }
        for via in 0..n {
            for a in 0..n {
                for b in 0..n {
                    before[a][b] |= before[a][via] && before[via][b];
                }
            }
        }
        before
    }

    /// The first and the last invocation of each operation's component, if that has another operation.
    fn components(spans: &[Span], dependencies: &[Dependency]) -> Vec<RangeInclusive<u64>> {
        let (before, n) = (before(spans, dependencies), spans.len());
        let of = |a: usize| {
            let invoked = || (0..n).filter(|b| before[a][*b] && before[*b][a]).map(|b| spans[b].invoked);
            Some(invoked().min()?..=invoked().max()?)
        };
        (0..n).filter_map(of).collect()
    }

    /// The tangles, if windows end at these indices, and with the history.
    fn tangles(dependencies: &[Dependency], ends: &[u64]) -> Vec<RangeInclusive<u64>> {
        found(dependencies, ends).end()
    }

    fn found(dependencies: &[Dependency], ends: &[u64]) -> Tangles {
        let (mut tangles, mut rest) = (Tangles::default(), dependencies);
        for end in ends.iter().map(|end| Some(*end)).chain([None]) {
            let len = rest.partition_point(|dependency| end.is_none_or(|end| dependency.known() < end));
            tangles.take(rest[..len].iter().copied(), end);
            rest = &rest[len..];
        }
        tangles
    }

    /// The result agrees with the naive one, for any windows of the dependencies.
    #[test]
    fn every_cycle_is_in_an_interval() {
        let mut dice = Dice(7);
        let (mut cyclic, mut acyclic, mut exact, mut knots) = (0, 0, 0, 0);
        for _ in 0..20_000 {
            let (spans, dependencies) = random(&mut dice);
            let expected = components(&spans, &dependencies);
            let mut ends: Vec<u64> = (0..dice.below(5)).map(|_| dice.below(2 * spans.len()).to_u64()).collect();
            ends.sort_unstable();
            let all: Vec<u64> = (0..2 * spans.len().to_u64()).collect();
            let whole = tangles(&dependencies, &[]);
            for ends in [&[][..], &ends, &all] {
                let found = tangles(&dependencies, ends);
                for component in &expected {
                    let holds = |tangle: &RangeInclusive<u64>| {
                        tangle.contains(component.start()) && tangle.contains(component.end())
                    };
                    assert!(found.iter().any(holds), "{component:?} {found:?} {spans:?} {dependencies:?} {ends:?}");
                }
                // There are no others, and with a single window none is longer than necessary.
                for tangle in &found {
                    let is_of = |component: &RangeInclusive<u64>| tangle.contains(component.start());
                    assert!(expected.iter().any(is_of), "{tangle:?} {spans:?} {dependencies:?} {ends:?}");
                }
                exact += u32::from(found == whole);
            }
            assert_knots(&spans, &dependencies, &[&[], &ends, &all], &mut knots);
            let ends: Vec<_> = expected.iter().flat_map(|component| [*component.start(), *component.end()]).collect();
            assert!(whole.iter().all(|tangle| ends.contains(tangle.start()) && ends.contains(tangle.end())));
            cyclic += u32::from(!expected.is_empty());
            acyclic += u32::from(expected.is_empty());
        }
        assert!(cyclic > 3000 && acyclic > 3000 && exact > 50_000, "{cyclic} {acyclic} {exact}");
        assert!(knots > 14_000, "{knots}");
    }

    /// Each knot has the operations of one component, and there is one for each component; or the knots are unknown.
    /// With a single window they are known.
    fn assert_knots(spans: &[Span], dependencies: &[Dependency], windows: &[&[u64]], known_count: &mut u32) {
        let before = before(spans, dependencies);
        let other = |a: usize, b: usize| before[a][b] && before[b][a];
        let mut expected: Vec<Vec<Span>> = Vec::new();
        for a in (0..spans.len()).filter(|a| other(*a, *a)) {
            let of: Vec<usize> = (0..spans.len()).filter(|b| other(a, *b)).collect();
            if of[0] == a {
                expected.push(of.into_iter().map(|b| spans[b]).collect());
            }
        }
        for of in &mut expected {
            of.sort_unstable();
        }
        expected.sort_unstable();
        for ends in windows {
            let Some(knots) = found(dependencies, ends).knots() else {
                assert!(!ends.is_empty(), "{spans:?} {dependencies:?}");
                continue;
            };
            let of = |knot: &Knot| {
                let mut of: Vec<Span> = spans.iter().copied().filter(|span| knot.has(*span)).collect();
                of.sort_unstable();
                of
            };
            let knots: Vec<Vec<Span>> = knots.iter().map(of).collect();
            assert_eq!(knots, expected, "{spans:?} {dependencies:?} {ends:?}");
            *known_count += u32::from(!expected.is_empty());
        }
    }

    /// By real time, an operation in flight at the end of the last window but one leads to one that is in flight
    /// forever, and so to one that was invoked before.
    #[test]
    fn an_operation_in_flight_forever_is_kept_while_others_lead_to_it() {
        let span = |invoked, completed| Span { invoked, completed };
        let (first, back, forever) = (span(0, 5), span(1, 2), span(3, u64::MAX));
        let (long, last) = (span(4, 7), span(8, 9));
        let pairs = [(forever, first), (long, back), (last, long)];
        let dependencies = pairs.map(|(from, to)| Dependency { from, to });
        assert_eq!(tangles(&dependencies, &[]), [0..=8]);
        assert_eq!(tangles(&dependencies, &[7]), [0..=8]);
    }

    /// For a history without an end, only operations in flight are kept, even if some operation never ends.
    #[test]
    fn only_operations_in_flight_are_kept() {
        let mut tangles = Tangles::default();
        for at in 0..10_000 {
            let span = |at: u64| Span { invoked: 2 * at, completed: 2 * at + 7 };
            let long = |invoked: u64| Span { invoked, completed: if invoked == 1 { u64::MAX } else { 30_001 } };
            let of_long = [1, 3].map(|invoked| Dependency { from: long(invoked), to: span(at) });
            let next = Dependency { from: span(at), to: span(at + 1) };
            tangles.take([of_long[0], of_long[1], next].into_iter().filter(|_| at > 1), Some(2 * at + 3));
            assert!(tangles.kept.len() + tangles.running.len() < 30, "{tangles:?}");
        }
        assert_eq!(tangles.end(), []);
    }
}
