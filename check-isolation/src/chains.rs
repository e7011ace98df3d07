//! Chains: a partition of the transactions into paths of the graph, and the writers of each key along them.
//!
//! The transactions that reach a given one are, in each chain, a prefix of the chain, so one number per chain suffices.
//! If sessions are ordered, they are the chains. In real time a chain also continues with another session, so that
//! there are about as many chains as concurrent clients, however often clients continue under other numbers. Otherwise
//! chains are paths of reads: each transaction follows one that it read from, if that one is the last of its chain so
//! far.

use crate::base::Frame;
use crate::ids::{KeyId, TxnId};
use crate::transactions::Transactions;
use history_core::cast::Cast as _;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The chain of each transaction, and its position there.
#[derive(Debug)]
pub(crate) struct Chains {
    /// The chain of each transaction.
    pub(crate) of: Vec<u32>,
    /// The position of each transaction in its chain.
    pub(crate) at: Vec<u32>,
    /// The number of chains.
    pub(crate) count: usize,
}

impl Chains {
    /// Creates chains along the arcs of base and reads. `order` is a topological order of these.
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
        // In real time, the completed transactions, by the event after their completion.
        let mut over: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
        for node in order.iter().filter(|node| node.to_usize() < n) {
            let txn = TxnId::from(*node);
            let is_last = |other: TxnId| last[chains.of[other.at()].to_usize()] == other.number();
            let mut writers = txns
                .reads(txn)
                .iter()
                .map(|read| read.writer)
                .filter(|writer| *writer != TxnId::NONE && is_last(*writer));
            // Only transactions that are in no ordered session may be joined to other chains.
            let is_free = |other: TxnId| before[other.at()] == TxnId::NONE && frame.next[other.at()] == TxnId::NONE;
            let behind = if frame.events > 0 {
                // A transaction without an end can only be continued by its readers, so it comes first.
                let reads_unended = writers.find(|writer| frame.ends_at[writer.at()] == u32::MAX);
                let own = Some(before[txn.at()]).filter(|other| *other != TxnId::NONE && is_last(*other));
                let begins_at = frame.begins_at[txn.at()];
                let behind = reads_unended.or(own).or_else(|| first_over(&mut over, begins_at, is_last));
                if frame.ends_at[txn.at()] != u32::MAX {
                    over.push(Reverse((frame.ends_at[txn.at()], *node)));
                }
                behind
            } else {
                match before[txn.at()] {
                    TxnId::NONE if is_free(txn) => writers.find(|writer| is_free(*writer)),
                    TxnId::NONE => None,
                    other => Some(other),
                }
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

/// The transaction that completed first before an event, among those that are the last of their chains.
fn first_over(
    over: &mut BinaryHeap<Reverse<(u32, u32)>>,
    event: u32,
    is_last: impl Fn(TxnId) -> bool,
) -> Option<TxnId> {
    while let Some(Reverse((end, node))) = over.peek().copied() {
        let other = TxnId::from(node);
        if is_last(other) {
            return (event != u32::MAX && end <= event).then_some(other);
        }
        over.pop();
    }
    None
}

/// The writers of a key in one chain, in the order of the chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) chain: u32,
    from: u32,
    to: u32,
}

/// The writers of each key by chain.
#[derive(Debug, Default)]
pub(crate) struct Writers {
    /// The end of the groups of each key. Nondecreasing; the last entry is `groups.len()`.
    groups_end: Vec<u32>,
    /// For each key, in the order of chains.
    groups: Vec<Group>,
    txns: Vec<TxnId>,
    /// The positions of these transactions in their chains.
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
        // Nearly always either none or all are within.
        if at[0] >= count {
            return None;
        }
        let within = if at[at.len() - 1] < count { at.len() } else { at.partition_point(|at| *at < count) };
        Some(self.txns[group.from.to_usize() + within - 1])
    }
}
