//! Shortest paths: breadth-first, with edges after gates at no cost, within a budget of examined edges.

use super::views::Digraph;
use super::{Graph, Relation};
use history_core::cast::Cast as _;
use std::collections::VecDeque;

/// The number of edges that searches for short paths may still examine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort(pub(crate) u64);

/// The result of a search.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The edges of a shortest path.
    Path(Vec<u32>),
    /// There is no path with so few steps.
    Nothing,
    /// The budget ran out first.
    Spent,
}

/// The memory of searches in one graph, reused by each.
#[derive(Debug)]
pub(crate) struct Walker {
    /// For each node, the last search that settled it.
    settled: Vec<u32>,
    /// For each node, the node and the edge from which that search reached it.
    came_by: Vec<(u32, u32)>,
    search: u32,
    queue: VecDeque<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    node: u32,
    steps: u32,
    from: u32,
    edge: u32,
}

const START: u32 = u32::MAX;

impl Walker {
    /// Creates the memory for graphs of `nodes` nodes.
    pub(crate) fn new(nodes: u32) -> Walker {
        Walker {
            settled: vec![0; nodes.to_usize()],
            came_by: vec![(START, START); nodes.to_usize()],
            search: 0,
            queue: VecDeque::new(),
        }
    }

    /// A path with the fewest steps, at most `steps_max`, between two different nodes. `graph` defines which edges cost
    /// nothing, `edges` where they lead. O(edges), and no more than `effort`.
    pub(crate) fn shortest(
        &mut self,
        graph: &Graph,
        edges: &impl Digraph,
        (from, to): (u32, u32),
        steps_max: u32,
        effort: &mut Effort,
    ) -> Outcome {
        debug_assert!(from != to);
        self.search += 1;
        self.queue.clear();
        self.queue.push_back(Entry { node: from, steps: 0, from: START, edge: START });
        while let Some(entry) = self.queue.pop_front() {
            let node = entry.node.to_usize();
            // A node is in the queue once for each edge to it; the first entry is the nearest.
            if self.settled[node] == self.search {
                continue;
            }
            self.settled[node] = self.search;
            self.came_by[node] = (entry.from, entry.edge);
            if entry.node == to {
                return Outcome::Path(self.trace(to));
            }
            let range = edges.edges_of(entry.node);
            let Some(left) = effort.0.checked_sub(1 + u64::from(range.end - range.start)) else {
                return Outcome::Spent;
            };
            effort.0 = left;
            for edge in range {
                let Some(next) = edges.follow(entry.node, edge) else { continue };
                if self.settled[next.to_usize()] == self.search {
                    continue;
                }
                let free = graph.edge(edge).1 == Relation::Through;
                let steps = entry.steps + u32::from(!free);
                let next = Entry { node: next, steps, from: entry.node, edge };
                if free {
                    self.queue.push_front(next);
                } else if steps <= steps_max {
                    self.queue.push_back(next);
                }
            }
        }
        Outcome::Nothing
    }

    fn trace(&self, mut node: u32) -> Vec<u32> {
        let mut edges = Vec::new();
        while self.came_by[node.to_usize()].0 != START {
            let (from, edge) = self.came_by[node.to_usize()];
            edges.push(edge);
            node = from;
        }
        edges.reverse();
        edges
    }
}
