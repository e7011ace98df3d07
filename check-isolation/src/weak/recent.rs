//! The last writers of each key, while transactions are processed in topological order.
//!
//! A read misses a writer of its key if the writer is visible to the read, but was not to the transaction that it read
//! from. There may be at least as many such writers as chains. But chains observe each other, and the transactions that
//! all chains have observed precede all later ones. So each write records how many writers of its key certainly precede
//! it, and a read examines only the later ones.

use crate::chains::Chains;
use crate::ids::{KeyId, TxnId};
use crate::transactions::{Read, Transactions};
use history_core::cast::Cast as _;

/// For each of `CHAINS` chains, the number of its transactions that reach a node, including the node.
pub(super) type Clock<const CHAINS: usize> = [u32; CHAINS];

/// The maximum number of chains. With more chains, the part that all of them have observed is small, and it takes much
/// memory.
const CHAINS_MAX: usize = 256;
/// The maximum number of writers that a read examines.
const LOOKS_MAX: usize = 32;
/// The average number of transactions per chain after which `known` is computed again.
const REFRESH_TXNS: usize = 2;

/// A writer of a key.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    txn: u32,
    chain: u32,
    /// The position in the chain.
    at: u32,
    /// The number of writers of the key before it, including all that all chains had observed.
    behind: u32,
}

/// The writers of a key.
#[derive(Clone, Copy, Debug, Default)]
struct Key {
    /// The start of their entries.
    from: u32,
    /// The number of entries so far.
    count: u32,
    /// The number of these that precede all later transactions.
    known: u32,
}

/// The writers of all keys processed so far.
#[derive(Debug)]
pub(super) struct Recent<const CHAINS: usize> {
    /// The first of the chains in the clocks.
    from: usize,
    keys: Vec<Key>,
    entries: Vec<Entry>,
    /// The clock of the last transaction of each chain, if there are few.
    last: Vec<Clock<CHAINS>>,
    /// The number of remaining transactions of each chain.
    to_come: Vec<u32>,
    /// The transactions that all unfinished chains have observed.
    known: Clock<CHAINS>,
    until_refresh: usize,
}

impl<const CHAINS: usize> Recent<CHAINS> {
    /// An instance that never has a result.
    pub(super) fn none() -> Recent<CHAINS> {
        let (keys, entries, last, to_come) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Recent { from: 0, keys, entries, last, to_come, known: [0; CHAINS], until_refresh: 0 }
    }

    pub(super) fn new(txns: &Transactions, chains: &Chains) -> Recent<CHAINS> {
        let mut recent = Recent::none();
        if chains.count > CHAINS_MAX {
            return recent;
        }
        recent.keys.resize(txns.keys(), Key::default());
        recent.entries.resize(txns.write_count(), Entry::default());
        for key in txns.ids().flat_map(|txn| txns.writes(txn)) {
            recent.keys[key.at()].count += 1;
        }
        let mut from = 0;
        for key in &mut recent.keys {
            key.from = from;
            from += key.count;
        }
        recent.to_come.resize(chains.count, 0);
        recent.last.resize(chains.count, [0; CHAINS]);
        recent
    }

    /// Restarts at the first transaction, for the chains from `from` on.
    pub(super) fn begin(&mut self, from: usize, chains: &Chains) {
        if self.last.is_empty() {
            return;
        }
        self.from = from;
        self.until_refresh = REFRESH_TXNS * self.last.len();
        self.known = [0; CHAINS];
        self.last.fill([0; CHAINS]);
        self.to_come.fill(0);
        for chain in &chains.of {
            self.to_come[chain.to_usize()] += 1;
        }
        for key in &mut self.keys {
            (key.count, key.known) = (0, 0);
        }
    }

    /// Adds a transaction with its clock.
    pub(super) fn push(&mut self, txns: &Transactions, chains: &Chains, txn: TxnId, clock: &Clock<CHAINS>) {
        if self.last.is_empty() {
            return;
        }
        let (chain, at) = (chains.of[txn.at()], chains.at[txn.at()]);
        for key in txns.writes(txn) {
            let behind = self.advance(*key);
            let key = &mut self.keys[key.at()];
            self.entries[(key.from + key.count).to_usize()] = Entry { txn: txn.number(), chain, at, behind };
            key.count += 1;
        }
        self.last[chain.to_usize()] = *clock;
        self.to_come[chain.to_usize()] -= 1;
        self.until_refresh -= 1;
        if self.until_refresh == 0 {
            self.refresh();
        }
    }

    fn refresh(&mut self) {
        self.until_refresh = REFRESH_TXNS * self.last.len();
        self.known = [u32::MAX; CHAINS];
        for (clock, _) in self.last.iter().zip(&self.to_come).filter(|(_, to_come)| **to_come > 0) {
            for (known, count) in self.known.iter_mut().zip(clock) {
                *known = (*known).min(*count);
            }
        }
    }

    /// The number of writers of a key that precede all later transactions.
    fn advance(&mut self, key: KeyId) -> u32 {
        let key = &mut self.keys[key.at()];
        let entries = &self.entries[key.from.to_usize()..(key.from + key.count).to_usize()];
        for entry in &entries[key.known.to_usize()..] {
            match self.known.get(entry.chain.to_usize().wrapping_sub(self.from)) {
                Some(count) if *count <= entry.at => break,
                // Other passes examine the other chains.
                _ => key.known += 1,
            }
        }
        key.known
    }

    /// Calls `each` for the last writer of the key in each chain that `clock` contains, unless the transaction that was
    /// read from observed it: `saw` is that one's clock. Returns false, without a call, if too many writers would be
    /// examined.
    pub(super) fn each_missed(
        &self,
        read: Read,
        clock: &Clock<CHAINS>,
        saw: impl Fn(usize) -> u32,
        each: &mut impl FnMut(TxnId),
    ) -> bool {
        let Some(key) = self.keys.get(read.key.at()) else { return false };
        let entries = &self.entries[key.from.to_usize()..(key.from + key.count).to_usize()];
        let mut missed = [TxnId::NONE; LOOKS_MAX];
        let (mut missed_count, mut chains_met) = (0, 0_u64);
        let (mut at, mut end, mut looks) = (entries.len(), 0, 0);
        while at > end {
            at -= 1;
            looks += 1;
            if looks > LOOKS_MAX {
                return false;
            }
            let entry = entries[at];
            if entry.txn == read.writer.number() {
                end = entry.behind.to_usize();
            }
            let chain = entry.chain.to_usize().wrapping_sub(self.from);
            let Some(count) = clock.get(chain) else { continue };
            if *count > entry.at && chains_met >> chain & 1 == 0 {
                chains_met |= 1 << chain;
                // The transaction that was read from observed itself.
                if entry.txn != read.writer.number() && saw(chain) <= entry.at {
                    missed[missed_count] = entry.txn.into();
                    missed_count += 1;
                }
            }
        }
        missed[..missed_count].iter().copied().for_each(each);
        true
    }
}
