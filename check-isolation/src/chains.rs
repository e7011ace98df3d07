//! Chains: a partition of the transactions into paths of the graph, and the writers of each key along them.
//!
//! What reaches a transaction is, of each chain, a beginning of it; so one number a chain says all of it. Where sessions are in
//! order they are the chains. Elsewhere chains are paths of reads, each transaction behind one that it read from, where that is the
//! last one of its chain so far.

use crate::base::Frame;
use crate::ids::{KeyId, TxnId};
use crate::transactions::Transactions;
use history_core::cast::Cast as _;

/// Which chain each transaction is in, and where.
#[derive(Debug)]
pub(crate) struct Chains {
    /// The chain of each transaction.
    pub(crate) of: Vec<u32>,
    /// Its position there.
    pub(crate) at: Vec<u32>,
    /// How many chains there are.
    pub(crate) count: usize,
}

impl Chains {
    /// Chains along the arcs of base and reads, of which `order` is a topological order.
    pub(crate) fn new(txns: &Transactions, frame: &Frame, order: &[u32]) -> Chains {
        let n = txns.len();
        let mut chains = Chains { of: vec![u32::MAX; n], at: vec![0; n], count: 0 };
        let mut before = vec![TxnId::NONE; n];
        for txn in txns.ids() {
            if frame.next[txn.at()] != TxnId::NONE {
                before[frame.next[txn.at()].at()] = txn;
            }
        }
        // The last transaction of each chain.
        let mut last: Vec<u32> = Vec::new();
        for node in order.iter().filter(|node| node.to_usize() < n) {
            let txn = TxnId::from(*node);
            let is_last =
                |other: TxnId, chains: &Chains, last: &[u32]| last[chains.of[other.at()].to_usize()] == other.number();
            // Only what is in no order of sessions may be appended to by others.
            let is_free = |other: TxnId| before[other.at()] == TxnId::NONE && frame.next[other.at()] == TxnId::NONE;
            let behind = match before[txn.at()] {
                TxnId::NONE if is_free(txn) => {
                    let mut writers =
                        txns.reads(txn).iter().map(|read| read.writer).filter(|writer| *writer != TxnId::NONE);
                    writers.find(|writer| is_free(*writer) && is_last(*writer, &chains, &last))
                }
                TxnId::NONE => None,
                other => Some(other),
            };
            if let Some(other) = behind {
                let chain = chains.of[other.at()];
                (chains.of[txn.at()], chains.at[txn.at()]) = (chain, chains.at[other.at()] + 1);
                last[chain.to_usize()] = *node;
            } else {
                chains.of[txn.at()] = chains.count.to_u32();
                chains.count += 1;
                last.push(*node);
            }
        }
        chains
    }
}

/// The writers of a key in one chain, in its order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) chain: u32,
    from: u32,
    to: u32,
}

/// The writers of each key by chain.
#[derive(Debug, Default)]
pub(crate) struct Writers {
    /// Where the groups of each key end. Nondecreasing; the last is `groups.len()`.
    groups_end: Vec<u32>,
    /// Of each key in the order of chains.
    groups: Vec<Group>,
    txns: Vec<TxnId>,
    /// Their positions in their chains.
    at: Vec<u32>,
}

impl Writers {
    pub(crate) fn new(txns: &Transactions, chains: &Chains) -> Writers {
        let mut along: Vec<TxnId> = txns.ids().collect();
        along.sort_unstable_by_key(|txn| (chains.of[txn.at()], chains.at[txn.at()]));
        let by_key = crate::csr::Csr::new(txns.keys(), |emit| {
            for txn in &along {
                txns.writes(*txn).iter().for_each(|key| emit(key.at(), txn.number()));
            }
        });
        let mut writers = Writers::default();
        for key in 0..txns.keys() {
            let first = writers.groups.len();
            for writer in by_key.row(key) {
                let (txn, here) = (TxnId::from(*writer), writers.txns.len().to_u32());
                let chain = chains.of[txn.at()];
                match writers.groups[first..].last_mut() {
                    Some(group) if group.chain == chain => group.to += 1,
                    _ => writers.groups.push(Group { chain, from: here, to: here + 1 }),
                }
                writers.txns.push(txn);
                writers.at.push(chains.at[txn.at()]);
            }
            writers.groups_end.push(writers.groups.len().to_u32());
        }
        writers
    }

    /// The groups of a key, in the order of chains.
    #[inline]
    pub(crate) fn groups(&self, key: KeyId) -> &[Group] {
        let at = key.at();
        let from = if at == 0 { 0 } else { self.groups_end[at - 1].to_usize() };
        &self.groups[from..self.groups_end[at].to_usize()]
    }

    /// The writers of a group, in order.
    #[inline]
    pub(crate) fn of(&self, group: Group) -> &[TxnId] {
        &self.txns[group.from.to_usize()..group.to.to_usize()]
    }

    /// The last writer of a group among the first `count` transactions of its chain.
    #[inline]
    pub(crate) fn last_within(&self, group: Group, count: u32) -> Option<TxnId> {
        let at = &self.at[group.from.to_usize()..group.to.to_usize()];
        // Nearly always either none or all.
        if at[0] >= count {
            return None;
        }
        let within = if at[at.len() - 1] < count { at.len() } else { at.partition_point(|at| *at < count) };
        Some(self.txns[group.from.to_usize() + within - 1])
    }
}
