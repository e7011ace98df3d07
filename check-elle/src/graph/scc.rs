//! Strongly connected components: Pearce's one-pass form of Tarjan's algorithm, on explicit stacks.
//!
//! D. J. Pearce, "A space-efficient algorithm for finding strongly connected components" (Information Processing
//! Letters 116, 2016), algorithm `PEA_FIND_SCC2`, without recursion. O(nodes + edges), one number per node in addition
//! to the stacks.

use super::views::Digraph;
use history_core::cast::Cast as _;

/// The component of each node.
#[derive(Debug)]
pub(crate) struct Components {
    /// For each node, the number of its component. An edge between components leads to a smaller number, so descending
    /// numbers are a topological order.
    pub(crate) of: Vec<u32>,
    /// Components of more than one node, each in ascending order, ordered by their first nodes.
    pub(crate) large: Vec<Vec<u32>>,
}

impl Components {
    pub(crate) fn same(&self, a: u32, b: u32) -> bool {
        self.of[a.to_usize()] == self.of[b.to_usize()]
    }
}

/// Finds all components.
pub(crate) fn components(graph: &impl Digraph) -> Components {
    let nodes = graph.nodes();
    let mut search = Search {
        graph,
        rank: vec![0; nodes.to_usize()],
        index: 1,
        components: 0,
        path: Vec::new(),
        waiting: Vec::new(),
        large: Vec::new(),
    };
    for node in 0..nodes {
        if search.rank[node.to_usize()] == 0 {
            search.run(node);
        }
    }
    let Search { mut rank, mut large, components, .. } = search;
    // Component numbers were assigned downwards from the maximum, so that they differ from the indices of the search.
    for number in &mut rank {
        *number = u32::MAX - *number;
    }
    debug_assert!(rank.iter().all(|number| *number < components));
    large.sort_unstable_by_key(|component| component[0]);
    Components { of: rank, large }
}

struct Search<'g, G> {
    graph: &'g G,
    /// 0: not visited. Below `index`: the least index on the path that it is known to reach. Above: its component is
    /// complete.
    rank: Vec<u32>,
    index: u32,
    components: u32,
    /// The path being searched: each node, its next edge, and whether it may be the first of its component.
    path: Vec<(u32, u32, bool)>,
    /// Nodes that are complete, but whose component is not.
    waiting: Vec<u32>,
    large: Vec<Vec<u32>>,
}

impl<G: Digraph> Search<'_, G> {
    fn enter(&mut self, node: u32) {
        self.rank[node.to_usize()] = self.index;
        self.index += 1;
        self.path.push((node, self.graph.edges_of(node).start, true));
    }

    fn run(&mut self, root: u32) {
        self.enter(root);
        'path: while let Some(&mut (node, ref mut edge, ref mut first)) = self.path.last_mut() {
            let end = self.graph.edges_of(node).end;
            while *edge < end {
                let number = *edge;
                let Some(to) = self.graph.follow(node, number) else {
                    *edge += 1;
                    continue;
                };
                let rank = self.rank[to.to_usize()];
                if rank == 0 {
                    // The edge is examined again when `to` is complete, for the nodes that `to` then reaches.
                    self.enter(to);
                    continue 'path;
                }
                *edge += 1;
                if rank < self.rank[node.to_usize()] {
                    self.rank[node.to_usize()] = rank;
                    *first = false;
                }
            }
            let first = *first;
            self.path.pop();
            self.leave(node, first);
        }
    }

    fn leave(&mut self, node: u32, first: bool) {
        if !first {
            self.waiting.push(node);
            return;
        }
        let number = u32::MAX - self.components;
        self.components += 1;
        let rank = self.rank[node.to_usize()];
        self.index -= 1;
        let from =
            self.waiting.len() - self.waiting.iter().rev().take_while(|w| self.rank[w.to_usize()] >= rank).count();
        if from < self.waiting.len() {
            let mut component = self.waiting.split_off(from);
            self.index -= component.len().to_u32();
            for member in &component {
                self.rank[member.to_usize()] = number;
            }
            component.push(node);
            component.sort_unstable();
            self.large.push(component);
        }
        self.rank[node.to_usize()] = number;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Graph, Mask};
    use super::*;
    use crate::graph::Relation;
    use crate::graph::views::Masked;

    fn graph(nodes: u32, edges: &[(u32, u32)]) -> Graph {
        let mut graph = Graph::new(nodes.to_usize());
        for node in 0..nodes {
            for (_, to) in edges.iter().filter(|(from, _)| *from == node) {
                graph.push_edge(*to, Relation::Ww);
            }
            graph.end_node();
        }
        graph
    }

    fn find(graph: &Graph) -> Components {
        components(&Masked { graph, mask: Mask::of(&[Relation::Ww]) })
    }

    #[test]
    fn a_path_of_a_million_nodes_has_no_large_component() {
        let mut path = Graph::new(1_000_000);
        for node in 0..1_000_000 {
            if node + 1 < 1_000_000 {
                path.push_edge(node + 1, Relation::Ww);
            }
            path.end_node();
        }
        let found = find(&path);
        assert!(found.large.is_empty());
        assert!(found.of.is_sorted_by(|a, b| a > b), "descending numbers are a topological order");
    }

    #[test]
    fn a_cycle_of_a_million_nodes_is_one_component() {
        let mut cycle = Graph::new(1_000_000);
        for node in 0..1_000_000 {
            cycle.push_edge((node + 1) % 1_000_000, Relation::Ww);
            cycle.end_node();
        }
        let found = find(&cycle);
        assert_eq!(found.large.len(), 1);
        assert_eq!(found.large[0].len(), 1_000_000);
    }

    /// Compares with naively computed reachability: two nodes are in one component if each reaches the other.
    #[test]
    fn agrees_with_reachability_on_every_graph_of_four_nodes() {
        let pairs: Vec<(u32, u32)> = (0..4).flat_map(|a| (0..4).map(move |b| (a, b))).filter(|(a, b)| a != b).collect();
        for bits in 0u32..1 << pairs.len() {
            let edges: Vec<(u32, u32)> =
                pairs.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1).map(|(_, pair)| *pair).collect();
            let mut reach = [[false; 4]; 4];
            for (node, row) in reach.iter_mut().enumerate() {
                row[node] = true;
            }
            for _ in 0..4 {
                for (a, b) in &edges {
                    let onward = reach[b.to_usize()];
                    for (c, known) in reach[a.to_usize()].iter_mut().enumerate() {
                        *known |= onward[c];
                    }
                }
            }
            let found = find(&graph(4, &edges));
            for a in 0..4u32 {
                for b in 0..4u32 {
                    let (x, y) = (a.to_usize(), b.to_usize());
                    assert_eq!(found.same(a, b), reach[x][y] && reach[y][x], "{edges:?} {a} {b}");
                    if reach[x][y] && !reach[y][x] {
                        assert!(found.of[x] > found.of[y], "{edges:?} {a} {b}");
                    }
                }
            }
            for component in &found.large {
                assert!(component.len() > 1 && component.is_sorted());
            }
        }
    }
}
