//! Finds the shapes of all elementary cycles of a small component, by sets of transactions (Held and Karp, 1962).
//!
//! A path is stored only as its first node, the set of visited nodes, its last node, and the shape of its edges so far.
//! So every elementary cycle is counted, with every choice among parallel edges, and none is listed.

use super::graph::{Graph, Relation};
use std::collections::BTreeSet;

/// The relevant properties of the edges of a path or a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Shape {
    /// The number of rw edges; 2 represents two or more.
    pub(crate) rws: u8,
    /// Whether two rw edges are adjacent.
    pub(crate) adjacent: bool,
    pub(crate) wr: bool,
    /// Whether there is a process or realtime edge.
    pub(crate) ordered: bool,
    first_is_rw: bool,
    last_is_rw: bool,
}

/// Components with more transactions than this are too large for this method: 2^n sets.
pub(crate) const COMPONENT_MAX: usize = 14;

impl Shape {
    /// Returns the shape of a cycle of these edges, in this order.
    pub(crate) fn of_cycle(relations: &[Relation]) -> Shape {
        let (first, rest) = relations.split_first().expect("a cycle has edges");
        rest.iter().fold(Shape::edge(*first), |shape, relation| shape.then(*relation)).closed()
    }

    /// Returns the shape of a path of one edge.
    fn edge(relation: Relation) -> Shape {
        let is_rw = relation == Relation::Rw;
        Shape {
            rws: u8::from(is_rw),
            adjacent: false,
            wr: relation == Relation::Wr,
            ordered: relation == Relation::Order,
            first_is_rw: is_rw,
            last_is_rw: is_rw,
        }
    }

    /// Appends an edge to the path.
    fn then(self, relation: Relation) -> Shape {
        let is_rw = relation == Relation::Rw;
        Shape {
            rws: (self.rws + u8::from(is_rw)).min(2),
            adjacent: self.adjacent || self.last_is_rw && is_rw,
            wr: self.wr || relation == Relation::Wr,
            ordered: self.ordered || relation == Relation::Order,
            first_is_rw: self.first_is_rw,
            last_is_rw: is_rw,
        }
    }

    /// Closes a path of two or more edges to a cycle: its last edge precedes its first.
    fn closed(self) -> Shape {
        Shape {
            adjacent: self.adjacent || self.last_is_rw && self.first_is_rw,
            first_is_rw: false,
            last_is_rw: false,
            ..self
        }
    }

    /// Returns the type of a cycle of this shape, without its suffix.
    pub(crate) fn cycle_type(self) -> &'static str {
        match (self.rws, self.adjacent, self.wr) {
            (0, _, false) => "G0",
            (0, _, true) => "G1c",
            (1, ..) => "G-single-item",
            (_, false, _) => "G-nonadjacent-item",
            (_, true, _) => "G2-item",
        }
    }
}

/// Returns the shapes of all elementary cycles within a component.
pub(crate) fn shapes(graph: &Graph, component: &[usize]) -> BTreeSet<Shape> {
    assert!(component.len() <= COMPONENT_MAX);
    let mut cycles = BTreeSet::new();
    // Cycles whose first member in the component's order is `start`.
    for start in 0..component.len() {
        let members = &component[start..];
        let edges = |from: usize, to: usize| graph.edges[members[from]][members[to]].iter().copied();
        let n = members.len();
        let mut paths: Vec<Vec<BTreeSet<Shape>>> = vec![vec![BTreeSet::new(); n]; 1 << n];
        for to in 1..n {
            paths[1 | 1 << to][to] = edges(0, to).map(Shape::edge).collect();
        }
        for visited in 0..1_usize << n {
            for end in 1..n {
                for shape in std::mem::take(&mut paths[visited][end]) {
                    cycles.extend(edges(end, 0).map(|relation| shape.then(relation).closed()));
                    for to in (1..n).filter(|to| visited & 1 << to == 0) {
                        paths[visited | 1 << to][to].extend(edges(end, to).map(|relation| shape.then(relation)));
                    }
                }
            }
        }
    }
    cycles
}
