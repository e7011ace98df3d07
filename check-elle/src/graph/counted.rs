//! A graph in which paths remember whether they took an edge of one relation: two nodes for each, one before and one after.

use super::scc::Digraph;
use super::{Graph, Mask, Relation};

/// By those edges whose relation is in `mask`. Node `2n` stands for node n before an edge of this `relation`, `2n + 1`
/// for it after one.
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
