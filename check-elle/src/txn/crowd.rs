//! Crowds: many transactions that all follow each of many others, without an edge for each pair.
//!
//! The members of a crowd are the leaves of a tree of gates. A transaction that precedes all of them leads into the few
//! gates that have exactly the right leaves below them: all but itself, and those that it precedes for a stronger
//! reason.

use crate::graph::{Graph, Relation};
use crate::ids::TxnId;
use history_core::cast::Cast as _;
use std::ops::Range;

/// Fewer edges than this from those before to those after are not worth gates.
const DIRECT_EDGES_MAX: usize = 64;

/// Whether a crowd of `after` transactions is worth gates, if `before` lead to it.
pub(crate) fn is_worth_gates(before: usize, after: usize) -> bool {
    after > 1 && before * after > DIRECT_EDGES_MAX.max(2 * (before + after))
}

/// How many gates a crowd of this size takes.
pub(crate) fn gates(after: usize) -> u32 {
    after.to_u32() - 1
}

/// The members, and the number of their first gate.
///
/// The tree of `n` leaves is laid out as a heap: leaf `i` is node `n + i`, and node `k` has the children `2k` and `2k +
/// 1`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crowd<'a> {
    /// In ascending order; one that has several reasons to be here is here once or more.
    members: &'a [TxnId],
    base: u32,
}

impl<'a> Crowd<'a> {
    pub(crate) fn new(members: &'a [TxnId], base: u32) -> Crowd<'a> {
        debug_assert!(members.is_sorted());
        Crowd { members, base }
    }

    /// Leads from the node being added to all members but those in `excluded`, which is in ascending order. Whether
    /// there are any.
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

    /// Leads to a range of the leaves by way of as few nodes as have just these leaves below them.
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

    /// The graph's node for a node of the tree: a transaction for a leaf, a gate for any other.
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

/// Those to which the node being added already leads by a stronger relation than `relation`, also `by_crowds`, and the
/// node itself, in ascending order.
pub(crate) fn excluded(graph: &Graph, txn: TxnId, relation: Relation, by_crowds: &[TxnId]) -> Vec<TxnId> {
    let open = graph.open_edges().filter(|(_, other)| *other < relation).map(|(to, _)| TxnId::new(to.to_usize()));
    let mut excluded: Vec<TxnId> = open.chain(by_crowds.iter().copied()).chain([txn]).collect();
    excluded.sort_unstable();
    excluded.dedup();
    excluded
}
