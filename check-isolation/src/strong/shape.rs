//! The nodes of a level's graph: a transaction is one node, or two nodes, its start and its commit.
//!
//! With two nodes, base and reads lead from a commit to a start, an overwritten read from the reader's start to the
//! other's commit, and the order of two writers from commit to start (snapshot isolation: they may not overlap) or from
//! commit to commit (prefix). Cerone and Gotsman (JACM 2018); Viper (`EuroSys` 2023) calls this a polygraph.

use crate::evidence::{Moment, Order};
use crate::ids::TxnId;
use crate::level::Axiom;
use history_core::cast::Cast as _;

/// How transactions become nodes at a level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) axiom: Axiom,
    /// The number of nodes per transaction: 1, or 2 if start and commit are separate.
    pub(super) width: u32,
}

impl Shape {
    pub(super) fn new(axiom: Axiom) -> Shape {
        let width = if matches!(axiom, Axiom::Prefix | Axiom::Snapshot) { 2 } else { 1 };
        Shape { axiom, width }
    }

    /// The node at which reads happen.
    #[inline]
    pub(super) fn start(self, txn: TxnId) -> u32 {
        txn.number() * self.width
    }

    /// The node at which writes happen.
    #[inline]
    pub(super) fn commit(self, txn: TxnId) -> u32 {
        txn.number() * self.width + self.width - 1
    }

    /// The node of the later one of two writers that the earlier one's commit reaches.
    #[inline]
    pub(super) fn overwrites_at(self, txn: TxnId) -> u32 {
        if self.axiom == Axiom::Prefix { self.commit(txn) } else { self.start(txn) }
    }

    /// The transaction of a node, which must be a transaction's.
    #[inline]
    pub(super) fn txn(self, node: u32) -> TxnId {
        TxnId::from(node / self.width)
    }

    /// Returns true if reads happen at a node.
    #[inline]
    pub(super) fn is_start(self, node: u32) -> bool {
        node.is_multiple_of(self.width)
    }

    /// Returns true if writes happen at a node.
    #[inline]
    pub(super) fn is_commit(self, node: u32) -> bool {
        node % self.width == self.width - 1
    }

    /// Returns true if an overwritten read is an arc. At parallel snapshot isolation it is a prohibition instead: the
    /// overwriter must not reach the reader, but need not come after it.
    #[inline]
    pub(super) fn has_rw_arcs(self) -> bool {
        self.axiom != Axiom::ParallelSnapshot
    }

    /// Converts nodes of transactions to an order.
    pub(super) fn order(self, nodes: impl Iterator<Item = u32>) -> Order {
        let moment = |node: u32| {
            let txn = self.txn(node);
            if self.is_commit(node) { Moment::Commit(txn) } else { Moment::Begin(txn) }
        };
        Order { moments: nodes.map(moment).collect() }
    }

    /// The number of nodes of `txns` transactions.
    pub(super) fn nodes(self, txns: usize) -> usize {
        txns * self.width.to_usize()
    }
}
