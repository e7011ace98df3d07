//! Crowds: sets of transactions that all follow each of many others, without an edge for each pair.
//!
//! The members of a crowd are the leaves of a tree of gates. A transaction that precedes them leads into the few gates
//! whose leaves are exactly the members that it precedes for this reason: all but itself, and those that it precedes
//! for a stronger reason.

use crate::graph::{Graph, Relation};
use crate::ids::TxnId;
use history_core::cast::Cast as _;
use std::ops::Range;

/// The maximum number of edges from those before to those after for which gates do not pay off.
const DIRECT_EDGES_MAX: usize = 64;

/// Returns true if gates save edges for a crowd of `after` transactions to which `before` transactions lead.
pub(crate) fn is_worth_gates(before: usize, after: usize) -> bool {
    after > 1 && before * after > DIRECT_EDGES_MAX.max(2 * (before + after))
}

/// The number of gates of a crowd of this size.
pub(crate) fn gates(after: usize) -> u32 {
    after.to_u32() - 1
}

/// The members of a crowd, and the number of its first gate.
///
/// The tree of `n` leaves has the layout of a heap: leaf `i` is node `n + i`, and node `k` has the children `2k` and
/// `2k + 1`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crowd<'a> {
    /// In ascending order, possibly with duplicates.
    members: &'a [TxnId],
    base: u32,
}

impl<'a> Crowd<'a> {
    pub(crate) fn new(members: &'a [TxnId], base: u32) -> Crowd<'a> {
        debug_assert!(members.is_sorted());
        Crowd { members, base }
    }

    /// Adds edges from the node being added to all members except those in `excluded`, which is in ascending order.
    /// Returns true if there are any.
    pub(crate) fn enter(self, graph: &mut Graph, relation: Relation, excluded: &[TxnId]) -> bool {
        let mut entered = false;
        let mut from = 0;
        for other in excluded {
            let own = self.members.partition_point(|member| member < other);
            let end = self.members.partition_point(|member| member <= other);
            if own < end {
                entered |= self.cover(graph, relation, from..own);
                from = end;
            }
        }
        entered | self.cover(graph, relation, from..self.members.len())
    }

    /// Adds edges to a range of the leaves, by way of the fewest nodes that have exactly these leaves below them.
    fn cover(self, graph: &mut Graph, relation: Relation, range: Range<usize>) -> bool {
        let n = self.members.len();
        let (mut left, mut right) = (range.start + n, range.end + n);
        while left < right {
            if left % 2 == 1 {
                graph.push_edge(self.node(left), relation);
                left += 1;
            }
            if right % 2 == 1 {
                right -= 1;
                graph.push_edge(self.node(right), relation);
            }
            left /= 2;
            right /= 2;
        }
        !range.is_empty()
    }

    /// The graph's node for a node of the tree: a transaction for a leaf, a gate otherwise.
    fn node(self, node: usize) -> u32 {
        match node.checked_sub(self.members.len()) {
            Some(leaf) => self.members[leaf].at().to_u32(),
            None => self.base + node.to_u32() - 1,
        }
    }

    /// Adds the gates, which are the next nodes.
    pub(crate) fn push_gates(self, graph: &mut Graph) {
        for node in 1..self.members.len() {
            for child in [2 * node, 2 * node + 1] {
                graph.push_edge(self.node(child), Relation::Through);
            }
            graph.end_node();
        }
    }
}

/// The transactions to which the node being added already leads by a stronger relation than `relation`, including those
/// in `by_crowds`, and the node itself, in ascending order.
pub(crate) fn excluded(graph: &Graph, txn: TxnId, relation: Relation, by_crowds: &[TxnId]) -> Vec<TxnId> {
    let open = graph.open_edges().filter(|(_, other)| *other < relation).map(|(to, _)| TxnId::new(to.to_usize()));
    let mut excluded: Vec<TxnId> = open.chain(by_crowds.iter().copied()).chain([txn]).collect();
    excluded.sort_unstable();
    excluded.dedup();
    excluded
}
