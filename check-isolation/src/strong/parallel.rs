//! Replay at parallel snapshot isolation: the writers of each key observe each other in one order, and no transaction
//! observes a writer after the one from which it read.
//!
//! Then all transactions that reach one over the arcs and over those orders are visible to it; its clocks are
//! recomputed along the order. If a transaction is visible that must not be, there is a choice: the order of that
//! writer and the one that was read or, if that is settled, the order of two writers on the path by which it is
//! visible.

use super::state::{NONE, State};
use crate::evidence::Before;
use crate::ids::{KeyId, TxnId};
use history_core::cast::Cast as _;

/// The state of a replay.
struct Replay<'r, 't> {
    state: &'r State<'t>,
    /// The place of each transaction in the order.
    place: Vec<u32>,
    /// For each transaction and chain, the number of the chain's transactions that are visible to it, including itself.
    clocks: Vec<u32>,
    /// For each transaction, the previous writers of its keys.
    behind: Vec<Vec<(KeyId, TxnId)>>,
    open: Vec<Before>,
}

/// The choices that an order of all transactions leaves open; none if the order explains the history.
pub(super) fn replay(state: &mut State<'_>, order: &[u32]) -> Vec<Before> {
    let (n, k) = (state.txns.len(), state.chains.count);
    state.steps += (n * k).to_u64();
    let mut replay =
        Replay { state, place: vec![0; n], clocks: vec![0; n * k], behind: vec![Vec::new(); n], open: Vec::new() };
    order.iter().enumerate().for_each(|(at, node)| replay.place[node.to_usize()] = at.to_u32());
    let mut last = vec![TxnId::NONE; state.txns.keys()];
    for node in order {
        let txn = TxnId::from(*node);
        replay.clocks[txn.at() * k + state.chains.of[txn.at()].to_usize()] = state.chains.at[txn.at()] + 1;
        for key in state.txns.writes(txn) {
            let other = std::mem::replace(&mut last[key.at()], txn);
            if other != TxnId::NONE {
                replay.behind[txn.at()].push((*key, other));
                replay.join(other, txn);
            }
        }
        let mut arc = state.into[node.to_usize()];
        while arc != NONE {
            let there = state.arcs[arc.to_usize()];
            replay.join(TxnId::from(there.from), txn);
            arc = there.next_in;
        }
        replay.look(txn);
    }
    replay.open
}

impl Replay<'_, '_> {
    fn join(&mut self, from: TxnId, to: TxnId) {
        let k = self.state.chains.count;
        for chain in 0..k {
            let own = self.clocks[from.at() * k + chain];
            let next = &mut self.clocks[to.at() * k + chain];
            *next = (*next).max(own);
        }
    }

    fn is_visible(&self, from: TxnId, to: TxnId) -> bool {
        let chains = &self.state.chains;
        self.clocks[to.at() * chains.count + chains.of[from.at()].to_usize()] > chains.at[from.at()]
    }

    fn look(&mut self, txn: TxnId) {
        let state = self.state;
        for read in state.txns.reads(txn) {
            for group in state.writers.groups(read.key) {
                let own = group.chain == state.chains.of[txn.at()];
                let clock = self.clocks[txn.at() * state.chains.count + group.chain.to_usize()];
                let count = if own { state.chains.at[txn.at()] } else { clock };
                let Some(other) = state.writers.last_within(*group, count) else { continue };
                let is_explained = read.writer != TxnId::NONE && self.place[other.at()] <= self.place[read.writer.at()];
                if is_explained {
                    continue;
                }
                let order = Before { key: read.key, first: other, second: read.writer };
                if read.writer != TxnId::NONE && !state.is_settled(order) {
                    self.open.push(order);
                } else {
                    let choice = self.choice_between(other, txn);
                    self.open.extend(choice);
                }
            }
        }
    }

    /// The reverse of an open order of two writers on a path by which one transaction is visible to another.
    fn choice_between(&self, from: TxnId, to: TxnId) -> Option<Before> {
        let mut at = to;
        while at != from {
            let arcs = std::iter::successors(Some(self.state.into[at.at()]), |arc| {
                self.state.arcs.get(arc.to_usize()).map(|arc| arc.next_in)
            });
            let known = arcs.filter_map(|arc| self.state.arcs.get(arc.to_usize())).map(|arc| TxnId::from(arc.from));
            // An arc that requires no choice does not end the search along the path.
            let next = known.into_iter().find(|other| self.is_visible(from, *other));
            if let Some(next) = next {
                at = next;
                continue;
            }
            let (key, other) = self.behind[at.at()].iter().find(|(_, other)| self.is_visible(from, *other))?;
            let order = Before { key: *key, first: at, second: *other };
            if !self.state.is_settled(order) {
                return Some(order);
            }
            at = *other;
        }
        None
    }
}
