//! Cycles among dependencies that were inferred elsewhere: for checkers of other workloads that are transactional as well.

use crate::cycle_spec::Suffix;
use crate::cycles;
use crate::graph::{Graph, Relation};
use history_core::cast::Cast as _;
use history_core::{Budget, Spent};

/// Why one transaction comes before another, by what they wrote and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Dependency {
    /// It wrote the version that the other's version replaced.
    Ww,
    /// It wrote what the other read.
    Wr,
    /// It read what the other replaced.
    Rw,
}

/// A transaction, as far as real time is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Txn {
    /// Whether it completed `ok`: only then anything comes after it in real time.
    pub is_ok: bool,
    /// How many transactions had completed `ok` when it was invoked, if it is known when that was.
    pub oks_before: Option<u32>,
}

/// A cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cycle {
    /// Its type: `"G1c-realtime"`.
    pub anomaly: &'static str,
    /// Each transaction once, with the relation to the next one (`"ww"`, `"wr"`, `"rw"`, `"realtime"`); that of the last one leads to
    /// the first.
    pub steps: Vec<(u32, &'static str)>,
}

/// What [`find_cycles`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cycles {
    /// One for each type in each strongly connected component, unless a worse one there implies it.
    pub found: Vec<Cycle>,
    /// Why some component was not searched to the end, if so.
    pub spent: Option<Spent>,
}

/// Calls what it is given for each dependency: from, to, which.
pub type EachEdge<'a> = dyn Fn(&mut dyn FnMut(u32, u32, Dependency)) + 'a;

/// Stands for a transaction that is on no cycle.
const OUTSIDE: u32 = u32::MAX;

/// Finds cycles of dependencies and real time.
///
/// `txns` stand in the order in which they completed; `each_edge` calls what it is given for each dependency (from, to, which), in any
/// order and twice in all. Real time needs no edges: a transaction precedes those that were invoked after it had completed `ok`.
///
/// Every type of cycle that there is is found, as [`crate::cycle_spec::CYCLES`] has them, worst first: see the documentation of the search.
/// O(transactions + edges) where all edges lead to later completions. Of the others a cycle holds at least one, and lies between the
/// ends of such edges, so only that part of the history becomes a graph.
pub fn find_cycles(txns: &[Txn], each_edge: &EachEdge<'_>, budget: &Budget) -> Cycles {
    let Some(part) = Part::between_back_edges(txns, each_edge) else { return Cycles::default() };
    let graph = part.graph(txns, each_edge);
    let found = cycles::find(&graph, Suffix::Realtime, false, budget);
    let outer = |(node, relation): &(u32, Relation)| (part.nodes[node.to_usize()], relation.name());
    let named = |(anomaly, cycle): &(crate::anomaly::AnomalyType, cycles::Cycle)| Cycle {
        anomaly: anomaly.name(),
        steps: cycle.0.iter().map(outer).collect(),
    };
    Cycles { found: found.cycles.iter().map(named).collect(), spent: found.spent }
}

/// The transactions that may be on a cycle.
struct Part {
    /// Ascending.
    nodes: Vec<u32>,
    /// The place of each transaction in `nodes`, or [`OUTSIDE`].
    place: Vec<u32>,
}

impl Part {
    /// Those between the ends of edges that lead back, if there are any. Real time leads to later completions only.
    fn between_back_edges(txns: &[Txn], each_edge: &EachEdge<'_>) -> Option<Part> {
        // For each transaction the last one that leads back to it; itself, if none does.
        let mut last: Vec<u32> = (0..txns.len().to_u32()).collect();
        let mut any = false;
        each_edge(&mut |from, to, _| {
            any |= from > to;
            last[to.to_usize()] = last[to.to_usize()].max(from);
        });
        if !any {
            return None;
        }
        let mut part = Part { nodes: Vec::new(), place: last };
        let mut end = None;
        for at in 0..txns.len().to_u32() {
            let reaches = part.place[at.to_usize()];
            end = end.max((reaches > at).then_some(reaches));
            part.place[at.to_usize()] = OUTSIDE;
            if end.is_some_and(|end| at <= end) {
                part.place[at.to_usize()] = part.nodes.len().to_u32();
                part.nodes.push(at);
            }
        }
        Some(part)
    }

    /// The graph of the part. Real time is a chain of gates, one for each `ok` transaction: see `txn::time`.
    fn graph(&self, txns: &[Txn], each_edge: &EachEdge<'_>) -> Graph {
        let mut edges: Vec<(u32, u32, Relation)> = Vec::new();
        each_edge(&mut |from, to, dependency| {
            let (from, to) = (self.place[from.to_usize()], self.place[to.to_usize()]);
            if from != OUTSIDE && to != OUTSIDE && from != to {
                edges.push((from, to, relation(dependency)));
            }
        });
        edges.sort_unstable();
        edges.dedup();
        let gates = self.oks(txns);
        let waiting = self.invoked_after(txns, &gates);
        let base = self.nodes.len().to_u32();
        let mut graph = Graph::new(self.nodes.len());
        let (mut next_edge, mut oks) = (0, 0);
        for (at, node) in self.nodes.iter().enumerate() {
            while let Some((_, to, relation)) = edges.get(next_edge).filter(|edge| edge.0.to_usize() == at) {
                graph.push_edge(*to, *relation);
                next_edge += 1;
            }
            if txns[node.to_usize()].is_ok {
                graph.push_edge(base + oks, Relation::Realtime);
                oks += 1;
            }
            graph.end_node();
        }
        let mut next = 0;
        for gate in 0..gates.len() {
            if gate + 1 < gates.len() {
                graph.push_edge(base + gate.to_u32() + 1, Relation::Through);
            }
            while let Some((_, node)) = waiting.get(next).filter(|(after, _)| *after <= gate + 1) {
                graph.push_edge(*node, Relation::Through);
                next += 1;
            }
            graph.end_node();
        }
        graph
    }

    /// Of each `ok` transaction of the part, its number among all that are `ok`. Ascending.
    fn oks(&self, txns: &[Txn]) -> Vec<u32> {
        let mut rank = 0;
        let mut ranks = Vec::new();
        for (txn, place) in txns.iter().zip(&self.place) {
            if txn.is_ok && *place != OUTSIDE {
                ranks.push(rank);
            }
            rank += u32::from(txn.is_ok);
        }
        ranks
    }

    /// The transactions of the part that were invoked after some of its own had completed `ok`, with how many; ascending.
    fn invoked_after(&self, txns: &[Txn], gates: &[u32]) -> Vec<(usize, u32)> {
        let after = |(at, node): (usize, &u32)| {
            let oks = txns[node.to_usize()].oks_before?;
            let count = gates.partition_point(|rank| *rank < oks);
            (count > 0).then(|| (count, at.to_u32()))
        };
        let mut waiting: Vec<(usize, u32)> = self.nodes.iter().enumerate().filter_map(after).collect();
        waiting.sort_unstable();
        waiting
    }
}

fn relation(dependency: Dependency) -> Relation {
    match dependency {
        Dependency::Ww => Relation::Ww,
        Dependency::Wr => Relation::Wr,
        Dependency::Rw => Relation::Rw,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(txns: &[(bool, u32)], edges: &[(u32, u32, Dependency)]) -> Vec<Cycle> {
        let txns: Vec<Txn> = txns.iter().map(|(is_ok, oks)| Txn { is_ok: *is_ok, oks_before: Some(*oks) }).collect();
        let each =
            |emit: &mut dyn FnMut(u32, u32, Dependency)| edges.iter().for_each(|edge| emit(edge.0, edge.1, edge.2));
        find_cycles(&txns, &each, &Budget::default()).found
    }

    #[test]
    fn a_cycle_of_dependencies_is_found_between_its_ends() {
        let txns = [(true, 0), (true, 0), (true, 0), (true, 3)];
        let cycles = find(&txns, &[(1, 2, Dependency::Wr), (2, 1, Dependency::Wr), (0, 3, Dependency::Wr)]);
        assert_eq!(cycles, [Cycle { anomaly: "G1c", steps: vec![(1, "wr"), (2, "wr")] }]);
        assert_eq!(find(&txns, &[(0, 1, Dependency::Wr), (1, 2, Dependency::Ww)]), []);
    }

    #[test]
    fn real_time_closes_a_cycle_only_after_an_ok() {
        // The second was invoked when the first had completed, and was read by the first.
        let cycles = find(&[(true, 0), (true, 0), (true, 1)], &[(2, 0, Dependency::Wr)]);
        assert_eq!(cycles, [Cycle { anomaly: "G1c-realtime", steps: vec![(0, "realtime"), (2, "wr")] }]);
        assert_eq!(find(&[(false, 0), (true, 0), (true, 0)], &[(2, 0, Dependency::Wr)]), []);
        assert_eq!(find(&[(true, 0), (true, 0), (true, 0)], &[(2, 0, Dependency::Wr)]), []);
    }

    #[test]
    fn a_long_path_takes_no_stack() {
        let count = 200_000;
        let txns: Vec<(bool, u32)> = vec![(false, 0); count as usize];
        let mut edges: Vec<_> = (1..count).map(|at| (at - 1, at, Dependency::Wr)).collect();
        edges.push((count - 1, 0, Dependency::Ww));
        let cycles = find(&txns, &edges);
        assert_eq!((cycles.len(), cycles[0].steps.len()), (1, count as usize));
    }
}
