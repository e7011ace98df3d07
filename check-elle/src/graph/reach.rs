//! Reachability of many pairs at once: a bit a pair, carried along the edges in topological order.
//!
//! Searching from each start on its own would look at every edge once a pair. Here it is once for [`WIDTH`] pairs, and
//! pairs are sorted, so that those of one round lie close together and only the components between them are visited.
//! Exact; O(pairs / WIDTH * edges) at the worst, O(components) memory.

use super::scc::{Components, Digraph};

/// Pairs in one round.
const WIDTH: usize = 256;

type Bits = [u64; WIDTH / 64];

/// Where a pair's path may begin, and where it must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// For each pair whether a path leads from its first node to its second. A node reaches itself.
pub(crate) fn reachable(graph: &impl Digraph, components: &Components, pairs: &[Pair]) -> Vec<bool> {
    let of = |node: u32| components.of[node as usize];
    let mut found = vec![false; pairs.len()];
    // Nodes in topological order: descending numbers of components.
    let mut nodes: Vec<u32> = (0..graph.nodes()).collect();
    nodes.sort_by_key(|node| std::cmp::Reverse(of(*node)));
    let mut order: Vec<usize> = (0..pairs.len()).filter(|i| of(pairs[*i].from) >= of(pairs[*i].to)).collect();
    order.sort_by_key(|i| std::cmp::Reverse((of(pairs[*i].from), of(pairs[*i].to))));
    let mut bits: Vec<Bits> = vec![Bits::default(); components.of.iter().max().map_or(0, |max| *max as usize + 1)];
    for round in order.chunks(WIDTH) {
        let first = round.iter().map(|i| of(pairs[*i].from)).max().unwrap_or_default();
        let last = round.iter().map(|i| of(pairs[*i].to)).min().unwrap_or_default();
        bits[last as usize..=first as usize].fill(Bits::default());
        for (bit, i) in round.iter().enumerate() {
            bits[of(pairs[*i].from) as usize][bit / 64] |= 1 << (bit % 64);
        }
        let from = nodes.partition_point(|node| of(*node) > first);
        let to = nodes.partition_point(|node| of(*node) >= last);
        for node in &nodes[from..to] {
            let carried = bits[of(*node) as usize];
            if carried == Bits::default() {
                continue;
            }
            for edge in graph.edges_of(*node) {
                let Some(next) = graph.follow(*node, edge) else { continue };
                if of(next) >= last {
                    for (into, word) in bits[of(next) as usize].iter_mut().zip(carried) {
                        *into |= word;
                    }
                }
            }
        }
        for (bit, i) in round.iter().enumerate() {
            found[*i] = bits[of(pairs[*i].to) as usize][bit / 64] >> (bit % 64) & 1 == 1;
        }
    }
    found
}
