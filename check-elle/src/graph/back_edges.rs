//! Back edges of a depth-first search: every cycle contains at least one of them.
//!
//! Of the nodes of a cycle, let v be the one that the search reaches first. From v it reaches all others before it
//! leaves v, so it examines the cycle's edge into v while v is still open: a back edge. (Tarjan, "Depth-first search
//! and linear graph algorithms", SIAM J. Comput. 1972.) The number of back edges depends on where the search begins. If
//! a single edge closes all cycles and the search begins after it, it is the only one.

use super::views::Digraph;
use history_core::cast::Cast as _;

/// An edge with its source and target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) from: u32,
    pub(crate) number: u32,
    pub(crate) to: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Not,
    Open,
    Left,
}

/// The back edges of a search that begins at `root` and continues at the first unreached node; `None` if there are more
/// than `max`. O(nodes + edges).
pub(crate) fn back_edges(graph: &impl Digraph, root: u32, max: usize) -> Option<Vec<Edge>> {
    let mut seen = vec![Seen::Not; graph.nodes().to_usize()];
    let mut found = Vec::new();
    let mut path: Vec<(u32, std::ops::Range<u32>)> = Vec::new();
    for start in std::iter::once(root).chain(0..graph.nodes()) {
        if seen[start.to_usize()] != Seen::Not {
            continue;
        }
        seen[start.to_usize()] = Seen::Open;
        path.push((start, graph.edges_of(start)));
        while let Some((from, edges)) = path.last_mut() {
            let from = *from;
            let Some(number) = edges.next() else {
                seen[from.to_usize()] = Seen::Left;
                path.pop();
                continue;
            };
            let Some(to) = graph.follow(from, number) else { continue };
            match seen[to.to_usize()] {
                Seen::Not => {
                    seen[to.to_usize()] = Seen::Open;
                    path.push((to, graph.edges_of(to)));
                }
                Seen::Open if found.len() == max => return None,
                Seen::Open => found.push(Edge { from, number, to }),
                Seen::Left => {}
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::scc::components;
    use crate::graph::views::Masked;
    use crate::graph::{Graph, Mask, Relation};

    fn graph(nodes: u32, edges: &[(u32, u32)]) -> Graph {
        let mut graph = Graph::new(nodes.to_usize());
        for node in 0..nodes {
            edges.iter().filter(|edge| edge.0 == node).for_each(|edge| graph.push_edge(edge.1, Relation::Ww));
            graph.end_node();
        }
        graph
    }

    fn find(graph: &Graph, root: u32) -> Vec<(u32, u32)> {
        let masked = Masked { graph, mask: Mask::ALL };
        back_edges(&masked, root, usize::MAX).unwrap().iter().map(|edge| (edge.from, edge.to)).collect()
    }

    #[test]
    fn a_cycle_of_a_million_nodes_has_one() {
        let n = 1_000_000;
        let mut graph = Graph::new(n);
        for node in 0..n {
            graph.push_edge(((node + 1) % n).to_u32(), Relation::Ww);
            graph.end_node();
        }
        assert_eq!(find(&graph, 7), [(6, 7)]);
    }

    #[test]
    fn no_more_than_wanted() {
        let graph = graph(3, &[(0, 1), (1, 0), (1, 2), (2, 1)]);
        let masked = Masked { graph: &graph, mask: Mask::ALL };
        assert_eq!(back_edges(&masked, 0, 2).map(|found| found.len()), Some(2));
        assert_eq!(back_edges(&masked, 0, 1), None);
    }

    /// Without the back edges there is no cycle left, in every graph of four nodes.
    #[test]
    fn every_cycle_holds_one() {
        let all: Vec<(u32, u32)> = (0..4).flat_map(|a| (0..4).map(move |b| (a, b))).filter(|(a, b)| a != b).collect();
        for chosen in 0..1_u32 << all.len() {
            let edges: Vec<(u32, u32)> =
                all.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1).map(|(_, edge)| *edge).collect();
            for root in [0, 3] {
                let back = find(&graph(4, &edges), root);
                let rest: Vec<(u32, u32)> = edges.iter().copied().filter(|edge| !back.contains(edge)).collect();
                let rest = graph(4, &rest);
                assert!(components(&Masked { graph: &rest, mask: Mask::ALL }).large.is_empty(), "{edges:?} {back:?}");
                let cyclic = !components(&Masked { graph: &graph(4, &edges), mask: Mask::ALL }).large.is_empty();
                assert_eq!(cyclic, !back.is_empty(), "{edges:?}");
            }
        }
    }
}
