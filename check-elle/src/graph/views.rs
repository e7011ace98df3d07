//! Views of a graph for searches: some of its edges, or two nodes for each, if a path has to store a fact.

use super::{Graph, Mask, Relation};
use history_core::cast::Cast as _;

/// What is searched: nodes `0..nodes()`, and each one's edges by number.
pub(crate) trait Digraph {
    fn nodes(&self) -> u32;
    fn edges_of(&self, node: u32) -> std::ops::Range<u32>;
    /// Where an edge of `node` leads; `None` if it is not to be followed.
    fn follow(&self, node: u32, edge: u32) -> Option<u32>;
}

/// A graph by those of its edges whose relation is in a mask.
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

/// A graph by paths on which no rw edge follows another. Node `2v` is `v` reached by any other edge, `2v + 1` is `v`
/// reached by an rw edge. A cycle here is a closed walk there on which, all the way around, no two rw edges are
/// adjacent.
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
            // A gate passes on how it was reached.
            Relation::Through => Some(2 * to + node % 2),
            _ => self.mask.has(relation).then_some(2 * to),
        }
    }
}

/// A graph by paths that record whether they took an edge of one relation, among those edges whose relation is in
/// `mask`. Node `2n` represents node n before an edge of this `relation`, `2n + 1` after one.
#[derive(Clone, Copy)]
pub(crate) struct Counted<'g> {
    pub(crate) graph: &'g Graph,
    pub(crate) mask: Mask,
    pub(crate) relation: Relation,
    /// Whether a second such edge is not to be followed.
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

/// A graph without the nodes from which a target cannot be reached, because their components come after the target's.
pub(crate) struct Towards<'g, D> {
    pub(crate) graph: &'g D,
    /// Numbers of components, as [`super::scc::components`] gives them for this graph.
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
