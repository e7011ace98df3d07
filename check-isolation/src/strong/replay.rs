//! Replay: a topological order of the graph is executed like a store; the reads that it does not explain are open
//! choices.
//!
//! A read of x by r from t1 that comes after another writer t2, which comes after t1, is explained by putting r before
//! t2 or t2 before t1. At snapshot isolation, of two writers of one key that overlap, one is put before the other. The
//! alternative that moves fewer nodes is tried first. A replay without an open choice is an order that explains the
//! history.

use super::parallel;
use super::state::State;
use crate::evidence::{Before, Order};
use crate::ids::TxnId;
use crate::level::Axiom;
use history_core::cast::Cast as _;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The result of a replay.
pub(super) enum Replayed {
    /// The order explains the history.
    Explains(Order),
    /// Orders to try, in this sequence. The first is open.
    Open(Vec<Before>),
}

impl State<'_> {
    /// Replays a topological order of all nodes: ties are broken by rows, which are in the order of completion.
    pub(super) fn replay(&mut self) -> Replayed {
        let order = self.sorted();
        self.steps += (order.len() + self.arcs.len()).to_u64();
        if self.shape.axiom == Axiom::ParallelSnapshot {
            let open = parallel::replay(self, &order);
            return if open.is_empty() {
                Replayed::Explains(self.shape.order(order.into_iter()))
            } else {
                Replayed::Open(open)
            };
        }
        let mut place = vec![0_u32; self.nodes];
        order.iter().enumerate().for_each(|(at, node)| place[node.to_usize()] = at.to_u32());
        let mut last = vec![TxnId::NONE; self.txns.keys()];
        let mut open = Vec::new();
        for node in &order {
            let txn = self.shape.txn(*node);
            if self.shape.is_start(*node) {
                self.replay_reads(txn, &last, &place, &mut open);
            }
            if self.shape.is_commit(*node) {
                for key in self.txns.writes(txn) {
                    let other = std::mem::replace(&mut last[key.at()], txn);
                    let overlaps = self.shape.axiom == Axiom::Snapshot
                        && other != TxnId::NONE
                        && place[self.shape.commit(other).to_usize()] > place[self.shape.start(txn).to_usize()];
                    if overlaps {
                        open.push(Before { key: *key, first: other, second: txn });
                    }
                }
            }
        }
        if open.is_empty() { Replayed::Explains(self.shape.order(order.into_iter())) } else { Replayed::Open(open) }
    }

    fn replay_reads(&self, txn: TxnId, last: &[TxnId], place: &[u32], open: &mut Vec<Before>) {
        for read in self.txns.reads(txn) {
            let other = last[read.key.at()];
            if other == read.writer {
                continue;
            }
            let at = |node: u32| place[node.to_usize()];
            let (start, overwritten) = (at(self.shape.start(txn)), at(self.shape.commit(other)));
            let written = if read.writer == TxnId::NONE { 0 } else { at(self.shape.commit(read.writer)) };
            // Either the reader before the other writer, or the other writer before the one that was read.
            let is_reader_nearer = start - overwritten <= overwritten - written;
            let (first, second) = if is_reader_nearer { (read.writer, other) } else { (other, read.writer) };
            open.push(Before { key: read.key, first, second });
        }
    }

    /// The nodes of transactions in a topological order; of the possible next ones, the one with the least row comes
    /// first.
    fn sorted(&self) -> Vec<u32> {
        let own = self.shape.nodes(self.txns.len()).to_u32();
        let mut waits = vec![0_u32; self.nodes];
        self.arcs.iter().for_each(|arc| waits[arc.to.to_usize()] += 1);
        let mut heap: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
        // Nodes that are not transactions are passed at once.
        let mut passing: Vec<u32> = Vec::new();
        let mut order = Vec::with_capacity(own.to_usize());
        for node in (0..self.nodes.to_u32()).filter(|node| waits[node.to_usize()] == 0) {
            if node < own { heap.push(Reverse(node)) } else { passing.push(node) }
        }
        loop {
            let node = match passing.pop() {
                Some(node) => node,
                None => match heap.pop() {
                    Some(Reverse(node)) => {
                        order.push(node);
                        node
                    }
                    None => return order,
                },
            };
            for next in self.successors(node) {
                waits[next.to_usize()] -= 1;
                if waits[next.to_usize()] == 0 {
                    if next < own { heap.push(Reverse(next)) } else { passing.push(next) }
                }
            }
        }
    }
}
