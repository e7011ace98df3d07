//! Graphs of transactions: flat adjacency, each edge with the relation it represents.
//!
//! Relations that would need an edge between every two of many transactions go through **gates**: nodes that represent
//! no transaction, joined by edges that represent no relation of their own ([`Relation::Through`]). A step of a path is
//! an edge that leaves a transaction, with the `Through` edges after it.

pub(crate) mod back_edges;
pub(crate) mod chains;
pub(crate) mod path;
pub(crate) mod reach;
pub(crate) mod scc;
pub(crate) mod views;

use crate::cycle_spec::Relations;
use history_core::cast::Cast as _;

/// The reason why one transaction precedes another. Data relations come first, strongest first: if two transactions are
/// related in several ways, on several keys, the strongest names the step between them, as in Elle. (Any cycle with a
/// weaker relation in its place is a cycle of a worse type as well.)
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub(crate) enum Relation {
    /// The first wrote the version that the second's version replaced.
    Ww = 1,
    /// The first wrote the value that the second read.
    Wr = 2,
    /// The first read the value that the second replaced.
    Rw = 4,
    /// The first preceded the second in one process.
    Process = 8,
    /// The first completed before the second was invoked.
    Realtime = 16,
    /// An edge from a gate: the relation is that of the edge that led to the first gate.
    Through = 32,
}

impl Relation {
    /// Returns true if the relation follows from writes and reads of the transactions.
    pub(crate) fn is_data(self) -> bool {
        matches!(self, Relation::Ww | Relation::Wr | Relation::Rw)
    }

    /// The bit that represents the relation in sets.
    pub(crate) const fn bit(self) -> u8 {
        self as u8
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Relation::Ww => "ww",
            Relation::Wr => "wr",
            Relation::Rw => "rw",
            Relation::Process => "process",
            Relation::Realtime => "realtime",
            Relation::Through => "through",
        }
    }
}

/// A set of relations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mask(u8);

impl Mask {
    /// All relations.
    pub(crate) const ALL: Mask = Mask(u8::MAX);

    /// These relations, and `Through`, without which no path leaves a gate.
    pub(crate) fn of(relations: &[Relation]) -> Mask {
        Mask(relations.iter().fold(Relation::Through.bit(), |mask, relation| mask | relation.bit()))
    }

    /// Adds a relation.
    pub(crate) fn with(self, relation: Relation) -> Mask {
        Mask(self.0 | relation.bit())
    }

    #[inline]
    pub(crate) fn has(self, relation: Relation) -> bool {
        self.0 & relation.bit() != 0
    }
}

impl From<Relations> for Mask {
    /// The bits are the same.
    fn from(relations: Relations) -> Mask {
        Mask(Relation::Through.bit() | relations.bits())
    }
}

/// A directed graph whose first nodes are transactions and whose others are gates.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// The number of nodes that are transactions.
    pub(crate) txns: u32,
    /// The start of each node's edges. Nondecreasing; its last entry is `to.len()`.
    start: Vec<u32>,
    to: Vec<u32>,
    relation: Vec<Relation>,
}

impl Graph {
    /// A graph to which nodes are added in the order of their numbers: first `txns` transactions, then gates.
    pub(crate) fn new(txns: usize) -> Graph {
        Graph { txns: txns.to_u32(), start: vec![0], ..Graph::default() }
    }

    /// Adds an edge from the node being added. Its target may be a later node, but not the node itself.
    #[inline]
    pub(crate) fn push_edge(&mut self, to: u32, relation: Relation) {
        debug_assert!(to.to_usize() + 1 != self.start.len(), "an edge from a node to itself");
        self.to.push(to);
        self.relation.push(relation);
    }

    /// The edges so far of the node being added.
    pub(crate) fn open_edges(&self) -> impl Iterator<Item = (u32, Relation)> + '_ {
        let start = self.start[self.start.len() - 1];
        (start..self.to.len().to_u32()).map(|edge| self.edge(edge))
    }

    /// Removes the edges of the node being added that `keep` rejects.
    pub(crate) fn retain_open_edges(&mut self, keep: impl Fn(u32, Relation) -> bool) {
        let start = self.start[self.start.len() - 1].to_usize();
        let mut end = start;
        for edge in start..self.to.len() {
            let (to, relation) = self.edge(edge.to_u32());
            if keep(to, relation) {
                (self.to[end], self.relation[end]) = (to, relation);
                end += 1;
            }
        }
        self.to.truncate(end);
        self.relation.truncate(end);
    }

    /// Ends the node being added.
    #[inline]
    pub(crate) fn end_node(&mut self) {
        debug_assert!(u32::try_from(self.to.len()).is_ok());
        self.start.push(self.to.len().to_u32());
    }

    pub(crate) fn nodes(&self) -> u32 {
        (self.start.len() - 1).to_u32()
    }

    pub(crate) fn edges(&self) -> usize {
        self.to.len()
    }

    #[inline]
    pub(crate) fn is_gate(&self, node: u32) -> bool {
        node >= self.txns
    }

    /// The numbers of a node's edges.
    #[inline]
    pub(crate) fn edges_of(&self, node: u32) -> std::ops::Range<u32> {
        self.start[node.to_usize()]..self.start[node.to_usize() + 1]
    }

    /// The target of an edge, and its relation.
    #[inline]
    pub(crate) fn edge(&self, edge: u32) -> (u32, Relation) {
        (self.to[edge.to_usize()], self.relation[edge.to_usize()])
    }

    /// A node's edges.
    #[inline]
    pub(crate) fn out(&self, node: u32) -> impl Iterator<Item = (u32, Relation)> + '_ {
        self.edges_of(node).map(|edge| self.edge(edge))
    }

    /// The transactions to which a step from one leads, directly or through gates, with the relation of each; sorted,
    /// without duplicates. O(edges that can be reached without a second step).
    pub(crate) fn steps_of(&self, txn: u32) -> Vec<(u32, Relation)> {
        let mut steps = Vec::new();
        // The gates visited, for each relation that leads into them.
        let mut passed: Vec<(u32, Relation)> = Vec::new();
        let mut waiting: Vec<(u32, Relation)> = self.out(txn).collect();
        while let Some((to, relation)) = waiting.pop() {
            if !self.is_gate(to) {
                steps.push((to, relation));
            } else if let Err(at) = passed.binary_search(&(to, relation)) {
                passed.insert(at, (to, relation));
                waiting.extend(self.out(to).map(|(next, _)| (next, relation)));
            }
        }
        steps.retain(|(to, _)| *to != txn);
        steps.sort_unstable();
        steps.dedup();
        steps
    }

    /// The subgraph of `nodes`, which are ascending. Its nodes are numbered by their positions there. If two
    /// transactions have several data relations, the strongest is kept: see [`Relation`].
    pub(crate) fn induced(&self, nodes: &[u32]) -> Graph {
        let txns = nodes.partition_point(|node| !self.is_gate(*node));
        let mut part = Graph::new(txns);
        let mut out: Vec<(u32, Relation)> = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            let inside = |(to, relation)| Some((nodes.binary_search(&to).ok()?.to_u32(), relation));
            out.clear();
            out.extend(self.out(*node).filter_map(inside).filter(|(to, _)| to.to_usize() != at));
            out.sort_unstable();
            out.dedup_by(|next, kept| next.0 == kept.0 && (next.1 == kept.1 || next.1.is_data() && kept.1.is_data()));
            for (to, relation) in &out {
                part.push_edge(*to, *relation);
            }
            part.end_node();
        }
        part
    }
}
