//! Builds the graph of transactions: adds the data relations of a workload, transaction by transaction, and the
//! relations that follow from processes, time and crowds.

pub(crate) use super::crowd::is_worth_gates;
use super::crowd::{self, Crowd};
use super::time::TimeEdges;
use super::{TxnGraph, Txns};
use crate::cycle_spec::Suffix;
use crate::graph::{Graph, Relation};
use crate::ids::TxnId;
use history_core::cast::Cast as _;

/// The number of a crowd in a builder.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct CrowdId(u32);

/// Receives each transaction in order: its edges, then its end.
pub(crate) struct Builder {
    graph: Graph,
    time: TimeEdges,
    /// Whether some two transactions are related.
    is_related: bool,
    /// The members of each crowd, and its first gate.
    crowds: Vec<(Vec<TxnId>, u32)>,
    /// The first gate of the next crowd.
    gates: u32,
}

impl Builder {
    pub(crate) fn new<M: Copy>(txns: &Txns<M>, order: Suffix) -> Builder {
        let time = TimeEdges::new(txns, order);
        let gates = time.end();
        Builder { graph: Graph::new(txns.len()), time, is_related: false, crowds: Vec::new(), gates }
    }

    /// Adds a crowd with these members, in ascending order.
    pub(crate) fn add_crowd(&mut self, members: Vec<TxnId>) -> CrowdId {
        let id = CrowdId(self.crowds.len().to_u32());
        let first_gate = self.gates;
        self.gates += crowd::gates(members.len());
        self.crowds.push((members, first_gate));
        id
    }

    /// Adds an edge from the current transaction to another.
    #[inline]
    pub(crate) fn relate(&mut self, to: TxnId, relation: Relation) {
        self.is_related = true;
        self.graph.push_edge(to.at().to_u32(), relation);
    }

    /// Adds edges from the current transaction, which is `txn`, to all members of crowds, except those to which it
    /// already leads by a stronger relation. So its direct edges must have been added, and stronger relations must be
    /// first in `crowds`.
    pub(crate) fn enter(&mut self, txn: TxnId, crowds: &[(Relation, CrowdId)]) {
        // Members of the crowds with stronger relations.
        let mut stronger: Vec<TxnId> = Vec::new();
        for alike in crowds.chunk_by(|one, next| one.0 == next.0) {
            let relation = alike[0].0;
            let excluded = crowd::excluded(&self.graph, txn, relation, &stronger);
            let direct = self.graph.open_edges().any(|(_, other)| other > relation);
            for (_, CrowdId(at)) in alike {
                let (members, first_gate) = &self.crowds[at.to_usize()];
                self.is_related |= Crowd::new(members, *first_gate).enter(&mut self.graph, relation, &excluded);
                if direct || relation < Relation::Rw {
                    stronger.extend(members);
                }
            }
            if direct {
                stronger.sort_unstable();
                let met = |to: u32| stronger.binary_search(&TxnId::new(to.to_usize())).is_ok();
                self.graph.retain_open_edges(|to, other| other <= relation || !met(to));
            }
        }
    }

    /// Ends a transaction. If it is `ok`, adds its edges to later ones.
    #[inline]
    pub(crate) fn end_txn(&mut self, txn: TxnId, is_ok: bool) {
        if is_ok {
            self.is_related |= self.time.push(&mut self.graph, txn);
        }
        self.graph.end_node();
    }

    /// Adds the gates, and returns the graph.
    pub(crate) fn finish(mut self) -> TxnGraph {
        self.is_related |= self.time.push_gates(&mut self.graph);
        for (members, first_gate) in &self.crowds {
            Crowd::new(members, *first_gate).push_gates(&mut self.graph);
        }
        TxnGraph { graph: self.graph, is_empty: !self.is_related, predicates: Vec::new() }
    }
}
