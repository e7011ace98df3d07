//! Cycles among dependencies that were inferred elsewhere: for checkers of other workloads that are transactional as
//! well.

mod schedule;

use crate::cycle_spec::Suffix;
use crate::cycles;
use crate::graph::{Graph, Relation};
use history_core::cast::Cast as _;
use history_core::{Budget, Spent};

/// Why one transaction precedes another, by their writes and reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Dependency {
    /// It wrote the version that the other's version replaced.
    Ww,
    /// It wrote the value that the other read.
    Wr,
    /// It read the value that the other replaced.
    Rw,
}

/// A transaction, as far as real time is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Txn {
    /// Whether it completed `ok`: only then other transactions can follow it in real time.
    pub is_ok: bool,
    /// The number of transactions that had completed `ok` when it was invoked, if known.
    pub oks_before: Option<u32>,
}

/// A cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cycle {
    /// Its type: `"G1c-realtime"`.
    pub anomaly: &'static str,
    /// Each transaction once, with the relation to the next one (`"ww"`, `"wr"`, `"rw"`, `"realtime"`); that of the
    /// last one leads to the first.
    pub steps: Vec<(u32, &'static str)>,
}

/// The result of [`find_cycles`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cycles {
    /// One for each type in each strongly connected component, unless a worse one there implies it.
    pub found: Vec<Cycle>,
    /// Why some component was not searched to the end, if so.
    pub spent: Option<Spent>,
}

/// Which transactions depend on which. A call may repeat an earlier one.
pub trait Dependencies {
    /// Calls `call` for each transaction on which one depends, with the dependency.
    fn each_of(&self, txn: u32, call: &mut dyn FnMut(u32, Dependency));

    /// Calls `call` for each dependency (from, to). Timely ones may be omitted: those from a transaction that is `ok`
    /// and completed before the other one was invoked. Most are timely, as a rule, and the more of them are omitted,
    /// the less work there is.
    fn each_untimely(&self, call: &mut dyn FnMut(u32, u32));
}

/// The number of a transaction that is not in the part.
const OUTSIDE: u32 = u32::MAX;

/// Finds cycles of dependencies and real time.
///
/// `txns` are in the order of their completions. Real time needs no edges: a transaction precedes those that were
/// invoked after it had completed `ok`.
///
/// Every existing type of cycle is found, as in [`crate::cycle_spec::CYCLES`], worst first: see the documentation of
/// the search. If there is none, this takes O(transactions + untimely dependencies + dependencies of those that these
/// lead from), and builds no graph. A cycle contains a dependency on a later completion, and lies between the ends of
/// such; so only that part of the history becomes a graph.
pub fn find_cycles(txns: &[Txn], dependencies: &dyn Dependencies, budget: &Budget) -> Cycles {
    if schedule::exists(txns, dependencies) {
        return Cycles::default();
    }
    let Some(part) = Part::between_back_edges(txns, dependencies) else { return Cycles::default() };
    let graph = part.graph(txns, dependencies);
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
    /// The position of each transaction in `nodes`, or [`OUTSIDE`].
    place: Vec<u32>,
}

impl Part {
    /// The transactions between the ends of edges that lead back, if there are any. Real time only leads to later
    /// completions.
    fn between_back_edges(txns: &[Txn], dependencies: &dyn Dependencies) -> Option<Part> {
        // For each transaction, the last one that leads back to it; itself if none does.
        let mut last: Vec<u32> = (0..txns.len().to_u32()).collect();
        let mut any = false;
        dependencies.each_untimely(&mut |from, to| {
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
    fn graph(&self, txns: &[Txn], dependencies: &dyn Dependencies) -> Graph {
        let mut edges: Vec<(u32, u32, Relation)> = Vec::new();
        for (to, node) in (0..).zip(&self.nodes) {
            dependencies.each_of(*node, &mut |from, dependency| {
                let from = self.place[from.to_usize()];
                if from != OUTSIDE && from != to {
                    edges.push((from, to, relation(dependency)));
                }
            });
        }
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

    /// For each `ok` transaction of the part, its number among all `ok` transactions. Ascending.
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

    /// The transactions of the part that were invoked after some others of the part had completed `ok`, with the number
    /// of these; in ascending order of this number.
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

    /// All dependencies of a test.
    struct Edges {
        by_end: Vec<Vec<(u32, Dependency)>>,
        untimely: Vec<(u32, u32)>,
    }

    impl Edges {
        /// Omits the dependencies that may be omitted, unless `all`.
        fn new(txns: &[Txn], edges: &[(u32, u32, Dependency)], all: bool) -> Edges {
            let mut by_end = vec![Vec::new(); txns.len()];
            for (from, to, dependency) in edges {
                by_end[to.to_usize()].push((*from, *dependency));
            }
            let is_untimely = |(from, to): &(u32, u32)| all || from > to || !txns[from.to_usize()].is_ok;
            let untimely = edges.iter().map(|(from, to, _)| (*from, *to)).filter(is_untimely).collect();
            Edges { by_end, untimely }
        }
    }

    impl Dependencies for Edges {
        fn each_of(&self, txn: u32, call: &mut dyn FnMut(u32, Dependency)) {
            self.by_end[txn.to_usize()].iter().for_each(|(from, dependency)| call(*from, *dependency));
        }

        fn each_untimely(&self, call: &mut dyn FnMut(u32, u32)) {
            self.untimely.iter().for_each(|(from, to)| call(*from, *to));
        }
    }

    fn find(txns: &[(bool, u32)], edges: &[(u32, u32, Dependency)]) -> Vec<Cycle> {
        let txns: Vec<Txn> = txns.iter().map(|(is_ok, oks)| Txn { is_ok: *is_ok, oks_before: Some(*oks) }).collect();
        let [few, all] = [false, true].map(|all| Edges::new(&txns, edges, all));
        let found = find_cycles(&txns, &few, &Budget::default()).found;
        assert_eq!(found, find_cycles(&txns, &all, &Budget::default()).found);
        assert_eq!(schedule::exists(&txns, &few), found.is_empty(), "{txns:?} {edges:?}");
        assert_eq!(found.is_empty(), !has_cycle(&txns, edges), "{txns:?} {edges:?}");
        found
    }

    /// Returns true if there is a cycle, by following all paths; also for long histories, which are not searched.
    fn has_cycle(txns: &[Txn], edges: &[(u32, u32, Dependency)]) -> bool {
        if txns.len() > 100 {
            return true;
        }
        let mut reaches = vec![vec![false; txns.len()]; txns.len()];
        let ok = txns.iter().enumerate().filter(|(_, txn)| txn.is_ok).map(|(at, _)| at);
        for (oks, at) in (0..).zip(ok) {
            for (to, other) in txns.iter().enumerate() {
                reaches[at][to] = other.oks_before.is_some_and(|before| oks < before);
            }
        }
        edges
            .iter()
            .filter(|edge| edge.0 != edge.1)
            .for_each(|edge| reaches[edge.0.to_usize()][edge.1.to_usize()] = true);
        for middle in 0..txns.len() {
            for from in 0..txns.len() {
                if reaches[from][middle] {
                    let further = reaches[middle].clone();
                    reaches[from].iter_mut().zip(further).for_each(|(one, more)| *one |= more);
                }
            }
        }
        (0..txns.len()).any(|at| reaches[at][at])
    }

    #[test]
    fn cycles_are_found_exactly_where_there_are_any() {
        let mut state = 1_u64;
        let mut below = move |end: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33).to_u32() % end
        };
        let mut cyclic = 0;
        for _ in 0..20_000 {
            let count = 2 + below(6);
            let mut oks = 0;
            let txns: Vec<(bool, u32)> = (0..count)
                .map(|_| {
                    let txn = (below(3) > 0, oks - below(oks + 1).min(below(3)));
                    oks += u32::from(txn.0);
                    txn
                })
                .collect();
            let kinds = [Dependency::Wr, Dependency::Wr, Dependency::Ww];
            let edge = |_| {
                let (from, to) = (below(count), below(count));
                // Most edges lead forward.
                let (from, to) = if below(4) > 0 { (from.min(to), from.max(to)) } else { (from, to) };
                (from, to, kinds[below(3).to_usize()])
            };
            let edges: Vec<(u32, u32, Dependency)> = (0..=count).map(edge).filter(|(from, to, _)| from != to).collect();
            cyclic += u32::from(!find(&txns, &edges).is_empty());
        }
        assert!((4_000..16_000).contains(&cyclic), "{cyclic}");
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
        // The third was invoked when the first had completed, and was read by the first.
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
