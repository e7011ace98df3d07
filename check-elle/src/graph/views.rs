//! Views of a graph for searches: some of its edges, or two nodes for each, if a path must record a fact.

use super::{Graph, Mask, Relation};
use history_core::cast::Cast as _;

/// A graph to search: nodes `0..nodes()`, and each node's edges by number.
pub(crate) trait Digraph {
    fn nodes(&self) -> u32;
    fn edges_of(&self, node: u32) -> std::ops::Range<u32>;
    /// The target of an edge of `node`; `None` if the edge is not to be followed.
    fn follow(&self, node: u32, edge: u32) -> Option<u32>;
}

/// A graph with only those edges whose relation is in a mask.
pub(crate) struct Masked<'g> {
    pub(crate) graph: &'g Graph,
    pub(crate) mask: Mask,
}

impl Digraph for Masked<'_> {
    fn nodes(&self) -> u32 {
        self.graph.nodes()
    }

    #[inline]
    fn edges_of(&self, node: u32) -> std::ops::Range<u32> {
        self.graph.edges_of(node)
    }

    #[inline]
    fn follow(&self, _: u32, edge: u32) -> Option<u32> {
        let (to, relation) = self.graph.edge(edge);
        self.mask.has(relation).then_some(to)
    }
}

/// A graph whose paths have no two successive rw edges. Node `2v` is `v` reached by any other edge, `2v + 1` is `v`
/// reached by an rw edge. A cycle in this view is a closed walk in the graph on which no two rw edges are adjacent,
/// including the last and the first.
pub(crate) struct Nonadjacent<'g> {
    pub(crate) graph: &'g Graph,
    /// The relations other than rw.
    pub(crate) mask: Mask,
}

impl Digraph for Nonadjacent<'_> {
    fn nodes(&self) -> u32 {
        2 * self.graph.nodes()
    }

    #[inline]
    fn edges_of(&self, node: u32) -> std::ops::Range<u32> {
        self.graph.edges_of(node / 2)
    }

    #[inline]
    fn follow(&self, node: u32, edge: u32) -> Option<u32> {
        let (to, relation) = self.graph.edge(edge);
        match relation {
            Relation::Rw => node.is_multiple_of(2).then_some(2 * to + 1),
            // Edges from gates keep the relation by which the gate was reached.
            Relation::Through => Some(2 * to + node % 2),
            _ => self.mask.has(relation).then_some(2 * to),
        }
    }
}

/// A graph whose paths record whether they took an edge of one relation, among edges whose relation is in `mask`. Node
/// `2n` represents node n before an edge of this `relation`, `2n + 1` after one.
#[derive(Clone, Copy)]
pub(crate) struct Counted<'g> {
    pub(crate) graph: &'g Graph,
    pub(crate) mask: Mask,
    pub(crate) relation: Relation,
    /// Whether a path may have only one such edge.
    pub(crate) once: bool,
}

impl Digraph for Counted<'_> {
    fn nodes(&self) -> u32 {
        2 * self.graph.nodes()
    }

    #[inline]
    fn edges_of(&self, node: u32) -> std::ops::Range<u32> {
        self.graph.edges_of(node / 2)
    }

    #[inline]
    fn follow(&self, node: u32, edge: u32) -> Option<u32> {
        let (to, relation) = self.graph.edge(edge);
        if !self.mask.has(relation) {
            return None;
        }
        let taken = node % 2 == 1;
        if relation != self.relation {
            return Some(2 * to + u32::from(taken));
        }
        (!(taken && self.once)).then_some(2 * to + 1)
    }
}

/// A graph without the nodes that cannot reach a target, because their components come after the target's.
pub(crate) struct Towards<'g, D> {
    pub(crate) graph: &'g D,
    /// The numbers of components, as [`super::scc::components`] returns them for this graph.
    pub(crate) of: &'g [u32],
    pub(crate) target: u32,
}

impl<D: Digraph> Digraph for Towards<'_, D> {
    fn nodes(&self) -> u32 {
        self.graph.nodes()
    }

    #[inline]
    fn edges_of(&self, node: u32) -> std::ops::Range<u32> {
        self.graph.edges_of(node)
    }

    #[inline]
    fn follow(&self, node: u32, edge: u32) -> Option<u32> {
        self.graph.follow(node, edge).filter(|to| self.of[to.to_usize()] >= self.of[self.target.to_usize()])
    }
}
