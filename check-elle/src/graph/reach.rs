//! Reachability of many pairs at once: one bit per pair, propagated along the edges in topological order.
//!
//! A search from each start would examine every edge once per pair. Here it is once per [`WIDTH`] pairs. The pairs are
//! sorted, so that those of one round are close together and only the components between them are visited. Exact;
//! O(pairs / WIDTH * edges) in the worst case, O(components) memory.

use super::scc::Components;
use super::views::Digraph;
use super::{Graph, Relation};
use history_core::cast::Cast as _;

/// The number of pairs in one round.
const WIDTH: usize = 256;

type Bits = [u64; WIDTH / 64];

/// The start and the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// For each pair, whether a path leads from its first node to its second (a node reaches itself). Stops after the first
/// round in which one does: later pairs are `None`.
pub(crate) fn reachable(graph: &impl Digraph, components: &Components, pairs: &[Pair]) -> Vec<Option<bool>> {
    let of = |node: u32| components.of[node.to_usize()];
    let mut found = vec![None; pairs.len()];
    // Nodes in topological order: descending numbers of components.
    let mut nodes: Vec<u32> = (0..graph.nodes()).collect();
    nodes.sort_by_key(|node| std::cmp::Reverse(of(*node)));
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.retain(|i| {
        let possible = of(pairs[*i].from) >= of(pairs[*i].to);
        found[*i] = (!possible).then_some(false);
        possible
    });
    order.sort_by_key(|i| std::cmp::Reverse((of(pairs[*i].from), of(pairs[*i].to))));
    let mut bits: Vec<Bits> = vec![Bits::default(); components.of.iter().max().map_or(0, |max| max.to_usize() + 1)];
    for round in order.chunks(WIDTH) {
        let first = round.iter().map(|i| of(pairs[*i].from)).max().unwrap_or_default();
        let last = round.iter().map(|i| of(pairs[*i].to)).min().unwrap_or_default();
        bits[last.to_usize()..=first.to_usize()].fill(Bits::default());
        for (bit, i) in round.iter().enumerate() {
            bits[of(pairs[*i].from).to_usize()][bit / 64] |= 1 << (bit % 64);
        }
        let from = nodes.partition_point(|node| of(*node) > first);
        let to = nodes.partition_point(|node| of(*node) >= last);
        for node in &nodes[from..to] {
            let carried = bits[of(*node).to_usize()];
            if carried == Bits::default() {
                continue;
            }
            for edge in graph.edges_of(*node) {
                let Some(next) = graph.follow(*node, edge) else { continue };
                if of(next) >= last {
                    for (into, word) in bits[of(next).to_usize()].iter_mut().zip(carried) {
                        *into |= word;
                    }
                }
            }
        }
        let mut hit = false;
        for (bit, i) in round.iter().enumerate() {
            let reached = bits[of(pairs[*i].to).to_usize()][bit / 64] >> (bit % 64) & 1 == 1;
            found[*i] = Some(reached);
            hit |= reached;
        }
        if hit {
            break;
        }
    }
    found
}

/// The nodes to which a path of at least one step leads from some of `starts`: edges after gates are not steps.
/// O(nodes + edges).
pub(crate) fn stepped_to(graph: &Graph, edges: &impl Digraph, starts: impl Iterator<Item = u32>) -> Vec<bool> {
    // For each node, whether it was reached without a step, and with one.
    let mut seen = vec![[false; 2]; graph.nodes().to_usize()];
    let mut waiting: Vec<(u32, bool)> = starts.map(|node| (node, false)).collect();
    while let Some((node, stepped)) = waiting.pop() {
        if std::mem::replace(&mut seen[node.to_usize()][usize::from(stepped)], true) {
            continue;
        }
        for edge in edges.edges_of(node) {
            if let Some(next) = edges.follow(node, edge) {
                waiting.push((next, stepped || graph.edge(edge).1 != Relation::Through));
            }
        }
    }
    seen.into_iter().map(|[_, stepped]| stepped).collect()
}
