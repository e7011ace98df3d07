//! Where in a history operations may be on cycles of dependencies and real time: intervals of time, such that each
//! cycle lies within one of them.
//!
//! The dependencies come in windows, by the index at which both of their operations are known to run. At the end of
//! each window its strongly connected components are found. What lies in one of more than one operation may be on a
//! cycle, with all that was invoked in between: an operation whose dependencies all agree with real time is not named
//! here, and may be on such a cycle, too.
//!
//! A component may go on in later windows. Nothing that is invoked later comes before an operation, unless there is a
//! path to that from one that is in flight. So of a window only what such ones lead to is kept, and of time. Two kinds
//! of operations are not kept for long, so that little is:
//!
//! - One that is in flight for more than a window, or for ever, stands for all that it leads to, by the first of these
//!   to complete. It may lead to everything that is invoked after that.
//! - A dependency on one that is not kept any more leads back in time. It may lead to everything from the first
//!   invocation on that was looked at since.
//!
//! Both make intervals longer than they need to be, but are rare. O(dependencies * log of those of a window).

use history_core::hash::HashMap;
use history_core::share::{Dependency, Span};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Dfs;
use std::ops::RangeInclusive;

/// The search for cycles on its way through a history.
#[derive(Debug, Default)]
pub(crate) struct Tangles {
    /// Dependencies that more cycles may lead through.
    kept: Vec<Dependency>,
    /// The operations of these, in order.
    known: Vec<Span>,
    /// Of operations in flight that others need not be kept for, by their invocations: their own completion, and the
    /// first one of all that they lead to.
    running: HashMap<u64, (u64, u64)>,
    /// The ends of windows, and the first invocation that was looked at in each.
    windows: Vec<(u64, u64)>,
    found: Vec<RangeInclusive<u64>>,
}

impl Tangles {
    /// Takes the dependencies that are known before the index `end`, or all others if there is none.
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

    /// The end of the window before.
    fn begin(&self) -> u64 {
        self.windows.last().map_or(0, |(end, _)| *end)
    }

    fn operation(&self, span: Span) -> Operation {
        let until = self.running.get(&span.invoked).map(|(_, first)| *first);
        let is_back = span.completed < self.begin() && self.known.binary_search(&span).is_err();
        let low =
            if is_back || until.is_some() { span.invoked.min(self.first_since(span.invoked)) } else { span.invoked };
        Operation { span, low, until: if is_back { low } else { until.unwrap_or(span.completed) } }
    }

    /// The first invocation that was looked at in windows that end after an index.
    fn first_since(&self, index: u64) -> u64 {
        let from = self.windows.partition_point(|(end, _)| *end <= index);
        self.windows[from..].iter().map(|(_, first)| *first).min().unwrap_or(u64::MAX)
    }

    /// Forgets what no later cycle leads through.
    fn forget(&mut self, window: &Window, end: u64) {
        let begin = self.begin();
        let is_in_flight = |span: Span| span.completed >= end;
        let is_old = |span: Span| is_in_flight(span) && (span.completed == u64::MAX || span.invoked < begin);
        self.running.retain(|_, (completed, _)| *completed >= end);
        for (span, first) in window.first_completions(is_old) {
            let (_, least) = self.running.entry(span.invoked).or_insert((span.completed, first));
            *least = first.min(*least);
        }
        let is_reached = window.reached(|span| is_in_flight(span) && !is_old(span));
        self.kept.retain(|Dependency { from, to }| is_reached[window.at(*from)] || is_old(*from) && is_in_flight(*to));
    }

    /// Whether something may be on a cycle.
    pub(crate) fn is_any_found(&self) -> bool {
        !self.found.is_empty()
    }

    /// The intervals, as indices of invocations, in order; none touches another one.
    pub(crate) fn end(mut self) -> Vec<RangeInclusive<u64>> {
        self.found.sort_unstable_by_key(|tangle| (*tangle.start(), *tangle.end()));
        self.found.dedup_by(|next, before| {
            let is_apart = next.start() > before.end();
            if !is_apart {
                *before = *before.start()..=*before.end().max(next.end());
            }
            !is_apart
        });
        self.found
    }
}

#[derive(Debug)]
struct Operation {
    span: Span,
    /// It may lead to everything that is invoked after this: its completion, or an earlier one.
    until: u64,
    /// The first invocation of what may be on a cycle with it, as far as that is not in the window.
    low: u64,
}

/// The operations of the dependencies at hand.
struct Window {
    /// In the order of their invocations.
    operations: Vec<Operation>,
    /// The operations, and then, for each, a moment before its invocation, which leads to it and to the next moment. So
    /// real time takes one edge for each operation, to the first moment after it.
    graph: DiGraph<(), ()>,
    /// Its components; each comes after those that it leads to.
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
            .expect("one of the dependencies at hand")
    }

    fn operations_of<'a>(&'a self, nodes: &'a [NodeIndex]) -> impl Iterator<Item = &'a Operation> {
        nodes.iter().filter_map(|node| self.operations.get(node.index()))
    }

    /// From the first invocation to the last one of each component of several nodes.
    fn tangles(&self) -> impl Iterator<Item = RangeInclusive<u64>> {
        self.components.iter().filter(|nodes| nodes.len() > 1).filter_map(|nodes| {
            let first = self.operations_of(nodes).map(|operation| operation.low).min()?;
            let last = self.operations_of(nodes).map(|operation| operation.span.invoked).max()?;
            Some(first..=last)
        })
    }

    /// Of operations that `are` such: the first completion of all that they lead to.
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

    /// Which operations those that `are` such lead to, with themselves.
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

    /// Numbers that look random and are the same each time.
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
            // Mostly near to where it was, so that not all are concurrent.
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

    /// The first and the last invocation of each operation's component, if that has another one; worked out naively.
    fn components(spans: &[Span], dependencies: &[Dependency]) -> Vec<RangeInclusive<u64>> {
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
        let of = |a: usize| {
            let invoked = || (0..n).filter(|b| before[a][*b] && before[*b][a]).map(|b| spans[b].invoked);
            Some(invoked().min()?..=invoked().max()?)
        };
        (0..n).filter_map(of).collect()
    }

    /// The windows end at these indices, and with the history.
    fn tangles(dependencies: &[Dependency], ends: &[u64]) -> Vec<RangeInclusive<u64>> {
        let (mut tangles, mut rest) = (Tangles::default(), dependencies);
        for end in ends.iter().map(|end| Some(*end)).chain([None]) {
            let len = rest.partition_point(|dependency| end.is_none_or(|end| dependency.known() < end));
            tangles.take(rest[..len].iter().copied(), end);
            rest = &rest[len..];
        }
        tangles.end()
    }

    /// As the naive answer, in whatever windows the dependencies come.
    #[test]
    fn every_cycle_is_in_an_interval() {
        let mut dice = Dice(7);
        let (mut cyclic, mut acyclic, mut exact) = (0, 0, 0);
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
                // There is no other one, and in one window none is longer than it must be.
                for tangle in &found {
                    let is_of = |component: &RangeInclusive<u64>| tangle.contains(component.start());
                    assert!(expected.iter().any(is_of), "{tangle:?} {spans:?} {dependencies:?} {ends:?}");
                }
                exact += u32::from(found == whole);
            }
            let ends: Vec<_> = expected.iter().flat_map(|component| [*component.start(), *component.end()]).collect();
            assert!(whole.iter().all(|tangle| ends.contains(tangle.start()) && ends.contains(tangle.end())));
            cyclic += u32::from(!expected.is_empty());
            acyclic += u32::from(expected.is_empty());
        }
        assert!(cyclic > 3000 && acyclic > 3000 && exact > 50_000, "{cyclic} {acyclic} {exact}");
    }

    /// What is in flight at the end of a window, here the last one but one, leads by real time to one that is in flight
    /// for ever, and so to one that was invoked before.
    #[test]
    fn what_is_in_flight_for_ever_is_kept_while_others_lead_to_it() {
        let span = |invoked, completed| Span { invoked, completed };
        let (first, back, forever) = (span(0, 5), span(1, 2), span(3, u64::MAX));
        let (long, last) = (span(4, 7), span(8, 9));
        let pairs = [(forever, first), (long, back), (last, long)];
        let dependencies = pairs.map(|(from, to)| Dependency { from, to });
        assert_eq!(tangles(&dependencies, &[]), [0..=8]);
        assert_eq!(tangles(&dependencies, &[7]), [0..=8]);
    }

    /// Of a history without an end only what is in flight is kept, whatever some operation waits for.
    #[test]
    fn keeps_what_is_in_flight() {
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
