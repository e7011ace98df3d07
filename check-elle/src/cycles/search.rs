//! The search of one strongly connected component for a cycle of each type.
//!
//! Let d be the relations that a family permits in addition to rw: ww and wr, and for a suffixed type also its own
//! relation (process or realtime). With realtime edges there may be process edges: the types with these are searched
//! for first, and the types with realtime include them. In each search the types that imply the one searched for are
//! absent from the component; otherwise it would have been skipped. From that:
//!
//! - **G0, G1c** ([`Search::through`], on ww; on ww and wr). Any edge between two nodes of one strongly connected
//!   component of the d edges lies on a cycle, and any cycle stays within one. For G0 every such cycle is one. For G1c
//!   the cycle goes through a wr edge. For G0-process and -realtime it goes through an edge of that relation. For
//!   G1c-process and -realtime too; and were it without wr, it would be a suffixed G0, which implies the type and so is
//!   absent.
//! - **G-single** ([`Search::single`]). One rw edge from a to b, and a path of d edges back from b to a: all rw edges
//!   are tried, so one is found if it exists. With a suffix, a path without the suffix's relation would make a plain
//!   G-single, which is absent.
//! - **G-nonadjacent** ([`Search::nonadjacent`]). A cycle without adjacent rw edges is a cycle of the graph
//!   [`Nonadjacent`], so an rw edge of it lies within one of that graph's components. Conversely such an edge lies on a
//!   closed walk without adjacent rw edges. With exactly one rw edge it would contain a G-single, which is absent; so
//!   it has two or more. A *shortest* such walk that passes a transaction twice falls apart there into two closed
//!   walks, one of which has no rw edge at all (a walk with one holds a G-single, and one with more is a shorter walk
//!   of the kind or has two adjacent where the parts were joined). So only in a component with a G0 or G1c can there be
//!   walks without there being cycles; there all simple paths are tried, up to a limit. Either way the models that
//!   forbid G-nonadjacent forbid G1 too.
//! - **G2** ([`Search::through`] with rw). An rw edge within a component of the d and rw edges lies on a cycle. One rw
//!   edge would make it a G-single, several without adjacent ones a G-nonadjacent: both are absent. If the limit above
//!   prevented a G-nonadjacent from being found, this finds one or the other, and the cycle is reported with its actual
//!   type.
//!
//! Existence is always decided. The length of the cycle depends on [`EFFORT_EDGES`]: within it, the cycle is a shortest
//! of its kind. So it is if a few edges close all cycles of a component, however large that is: see
//! [`Search::shortest_of_all`].

use super::{Cycle, order_relation, order_relations};
use crate::cycle_spec::{CycleSpec, Family};
use crate::graph::back_edges::{Edge, back_edges};
use crate::graph::path::{Effort, Outcome, Walker};
use crate::graph::reach::{self, Pair};
use crate::graph::scc::{Components, components};
use crate::graph::views::{Counted, Digraph, Masked, Nonadjacent, Towards};
use crate::graph::{Graph, Mask, Relation};
use history_core::cast::Cast as _;
use std::iter;

/// The maximum number of edges examined in search of a shorter cycle of one type, once one is known to exist.
const EFFORT_EDGES: u64 = 20_000_000;

/// The maximum number of steps in search of a cycle that passes no transaction twice, if short walks all do.
const SIMPLE_STEPS_MAX: u64 = 1_000_000;

pub(super) struct Search<'g> {
    graph: &'g Graph,
    walker: Walker,
}

impl<'g> Search<'g> {
    pub(super) fn new(graph: &'g Graph) -> Search<'g> {
        // The walks of `nonadjacent` have two nodes for each of the graph's.
        Search { graph, walker: Walker::new(2 * graph.nodes()) }
    }

    /// A cycle of this type, given that the component has none that implies it.
    pub(super) fn find(&mut self, spec: CycleSpec) -> Option<Cycle> {
        let own = order_relation(spec.suffix);
        let mask = |relations: &[Relation]| Mask::of(&[relations, order_relations(spec.suffix)].concat());
        use Relation::{Rw, Wr, Ww};
        match spec.family {
            Family::G0 => self.through(mask(&[Ww]), own.unwrap_or(Ww)),
            Family::G1c => self.through(mask(&[Ww, Wr]), own.unwrap_or(Wr)),
            Family::GSingle => self.single(mask(&[Ww, Wr])),
            Family::GNonadjacent => self.nonadjacent(mask(&[Ww, Wr])),
            Family::G2 => self.through(mask(&[Ww, Wr, Rw]), Rw),
        }
    }

    /// All edges of a relation, in the order of their source nodes.
    fn edges(&self, relation: Relation) -> impl Iterator<Item = Edge> + use<'g> {
        let graph = self.graph;
        (0..graph.nodes()).flat_map(move |from| {
            let edges = graph.edges_of(from).map(move |number| (number, graph.edge(number)));
            edges.filter(move |(_, (_, own))| *own == relation).map(move |(number, (to, _))| Edge { from, number, to })
        })
    }

    /// A shortest cycle of edges in `mask`, at least one of which is of the relation `required`.
    fn through(&mut self, mask: Mask, required: Relation) -> Option<Cycle> {
        let masked = Masked { graph: self.graph, mask };
        let found = components(&masked);
        let candidates: Vec<Edge> = self.edges(required).filter(|edge| found.same(edge.from, edge.to)).collect();
        let counted = Counted { graph: self.graph, mask, relation: required, once: false };
        self.shortest(&masked, &found, &candidates, counted)
    }

    /// A shortest cycle of one rw edge and otherwise edges in `mask`.
    fn single(&mut self, mask: Mask) -> Option<Cycle> {
        let masked = Masked { graph: self.graph, mask };
        let found = components(&masked);
        // Component numbers descend along edges, so a node with a smaller number never leads back.
        let possible = |edge: &Edge| found.of[edge.to.to_usize()] >= found.of[edge.from.to_usize()];
        let mut candidates: Vec<Edge> = self.edges(Relation::Rw).filter(possible).collect();
        // The fewer components are between the ends, the sooner the search from one to the other ends.
        let gap = |edge: &Edge| found.of[edge.to.to_usize()] - found.of[edge.from.to_usize()];
        candidates.sort_by_key(gap);
        // For most it is obvious that there is no way back: some step must lead to their source.
        let stepped = reach::stepped_to(self.graph, &masked, candidates.iter().map(|edge| edge.to));
        candidates.retain(|edge| stepped[edge.from.to_usize()]);
        let pairs: Vec<Pair> = candidates.iter().map(|edge| Pair { from: edge.to, to: edge.from }).collect();
        let closed = reach::reachable(&masked, &found, &pairs);
        // A candidate that is known to close a cycle is first; if there is none, no cycle exists. Unexamined ones may
        // be shorter.
        let known = closed.iter().position(|closed| *closed == Some(true))?;
        let may_close = candidates.iter().zip(&closed).filter(|(_, closed)| **closed != Some(false));
        let candidates: Vec<Edge> = iter::once(candidates[known]).chain(may_close.map(|(edge, _)| *edge)).collect();
        let with_rw = mask.with(Relation::Rw);
        let counted = Counted { graph: self.graph, mask: with_rw, relation: Relation::Rw, once: true };
        self.shortest(&masked, &found, &candidates, counted)
    }

    /// The shortest of the cycles that lead through one of the candidates and then back along `edges`. The first
    /// candidate has a way back. The cycles are those of `counted`.
    fn shortest(
        &mut self,
        edges: &impl Digraph,
        found: &Components,
        candidates: &[Edge],
        counted: Counted<'_>,
    ) -> Option<Cycle> {
        let mut effort = Effort(EFFORT_EDGES);
        let mut best: Option<Cycle> = None;
        for (at, candidate) in candidates.iter().enumerate() {
            if at == 1
                && let Some(shortest) = best.as_ref().and_then(|best| self.shortest_of_all(best, counted))
            {
                return Some(shortest);
            }
            let steps_max = match &best {
                None => u32::MAX,
                // No cycle is shorter than two steps.
                Some(best) if best.len() <= 2 => break,
                Some(best) => best.len().to_u32() - 2,
            };
            // The first search is not limited, so that there is a result.
            let mut unlimited = Effort(u64::MAX);
            let effort = if best.is_none() { &mut unlimited } else { &mut effort };
            let towards = Towards { graph: edges, of: &found.of, target: candidate.from };
            match self.walker.shortest(self.graph, &towards, (candidate.to, candidate.from), steps_max, effort) {
                Outcome::Path(path) => best = Some(self.close(candidate, path)),
                Outcome::Nothing => {}
                Outcome::Spent => break,
            }
        }
        best
    }

    /// The shortest of the cycles of `counted`, one of which is known; `None` if the search would take too long.
    ///
    /// Every cycle contains a back edge of any depth-first search, so it suffices to find the shortest closed walk
    /// through each back edge. (The shortest of all visits no node twice: otherwise it could be divided there, and the
    /// part with the counted edge would be shorter.) If a few reads close a large component, a search that begins after
    /// them has few back edges.
    fn shortest_of_all(&mut self, known: &Cycle, counted: Counted<'_>) -> Option<Cycle> {
        let masked = Masked { graph: self.graph, mask: counted.mask };
        // A walk may visit each edge twice.
        let most = EFFORT_EDGES / (2 * self.graph.edges().to_u64() + 1);
        let back = back_edges(&masked, known.farthest_back(), usize::try_from(most).ok()?)?;
        let mut best = known.clone();
        for edge in back {
            let relation = self.graph.edge(edge.number).1;
            let is_counted = relation == counted.relation;
            // It must be shorter than the best: an edge after a gate is not a step.
            let Some(steps_max) = best.len().checked_sub(if relation == Relation::Through { 1 } else { 2 }) else {
                break;
            };
            let ends = (2 * edge.to + u32::from(is_counted), 2 * edge.from + 1);
            let mut unlimited = Effort(u64::MAX);
            let walk = self.walker.shortest(self.graph, &counted, ends, steps_max.to_u32(), &mut unlimited);
            if let Outcome::Path(path) = walk {
                best = self.close(&edge, path).simplified(counted.relation);
            }
        }
        Some(best)
    }

    fn close(&self, first: &Edge, path: Vec<u32>) -> Cycle {
        Cycle::from_edges(self.graph, first.from, std::iter::once(first.number).chain(path))
    }

    /// A short cycle of rw edges and edges in `mask`, in which no two rw edges are adjacent.
    fn nonadjacent(&mut self, mask: Mask) -> Option<Cycle> {
        let doubled = Nonadjacent { graph: self.graph, mask };
        let found = components(&doubled);
        let candidates: Vec<Edge> =
            self.edges(Relation::Rw).filter(|edge| found.same(2 * edge.from, 2 * edge.to + 1)).collect();
        let mut effort = Effort(EFFORT_EDGES);
        let mut best: Option<Cycle> = None;
        for (i, candidate) in candidates.iter().enumerate() {
            let steps_max = best.as_ref().map_or(u32::MAX, |best| best.len().to_u32() - 2);
            let ends = (2 * candidate.to + 1, 2 * candidate.from);
            let towards = Towards { graph: &doubled, of: &found.of, target: ends.1 };
            let mut unlimited = Effort(u64::MAX);
            let effort = if i == 0 { &mut unlimited } else { &mut effort };
            match self.walker.shortest(self.graph, &towards, ends, steps_max, effort) {
                Outcome::Path(path) => {
                    let walk = self.close(candidate, path);
                    if walk.is_simple() {
                        best = Some(walk);
                    }
                }
                Outcome::Nothing => {}
                Outcome::Spent => break,
            }
        }
        best.or_else(|| self.simple(&doubled, &found, &candidates))
    }

    /// A cycle through one of the candidates and back along `doubled` in which no transaction occurs twice. Tries all
    /// paths, up to a limit.
    fn simple(&self, doubled: &Nonadjacent<'_>, found: &Components, candidates: &[Edge]) -> Option<Cycle> {
        let mut steps = 0;
        let mut on_path = vec![false; self.graph.nodes().to_usize()];
        for candidate in candidates {
            let target = 2 * candidate.from;
            let mut path: Vec<(u32, std::ops::Range<u32>)> = Vec::new();
            let mut taken: Vec<u32> = Vec::new();
            on_path[candidate.to.to_usize()] = true;
            path.push((2 * candidate.to + 1, doubled.edges_of(2 * candidate.to + 1)));
            while let Some((node, edges)) = path.last_mut() {
                let node = *node;
                let Some(edge) = edges.next() else {
                    on_path[node.to_usize() / 2] = false;
                    path.pop();
                    taken.pop();
                    continue;
                };
                steps += 1;
                if steps > SIMPLE_STEPS_MAX {
                    return None;
                }
                let Some(next) = doubled.follow(node, edge) else { continue };
                if next == target {
                    taken.push(edge);
                    return Some(self.close(candidate, taken));
                }
                if on_path[next.to_usize() / 2] || next / 2 == candidate.from || !found.same(next, target) {
                    continue;
                }
                on_path[next.to_usize() / 2] = true;
                path.push((next, doubled.edges_of(next)));
                taken.push(edge);
            }
        }
        None
    }
}
