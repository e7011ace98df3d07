//! The last writers of each key, while transactions are walked in topological order.
//!
//! A read misses a writer of its key if that is visible to it, and was not to the transaction that it read from. There
//! may be as many writers as chains, or more; but chains learn of each other, and what all of them know by now is
//! before all that is to come. So each write notes behind how many writers of its key it certainly is, and a read looks
//! only at those from there on.

use crate::chains::Chains;
use crate::ids::{KeyId, TxnId};
use crate::transactions::{Read, Transactions};
use history_core::cast::Cast as _;

/// Of each of so many chains, how many transactions reach a node, or are it.
pub(super) type Clock<const CHAINS: usize> = [u32; CHAINS];

/// With more chains than this, what all of them know is little, and takes much memory.
const CHAINS_MAX: usize = 256;
/// Writers that a read looks at, at the most.
const LOOKS_MAX: usize = 32;
/// Transactions of each chain, on average, after which it is computed anew what all chains know.
const REFRESH_TXNS: usize = 2;

/// A writer of a key.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    txn: u32,
    chain: u32,
    /// Its position in its chain.
    at: u32,
    /// So many writers of the key are before it, among them all that all chains knew.
    behind: u32,
}

/// The writers of a key.
#[derive(Clone, Copy, Debug, Default)]
struct Key {
    /// Where their entries begin.
    from: u32,
    /// How many there are by now.
    count: u32,
    /// How many of these are before all that is to come.
    known: u32,
}

/// The writers of all keys that were passed by now.
#[derive(Debug)]
pub(super) struct Recent<const CHAINS: usize> {
    /// The first of the chains that clocks are of.
    from: usize,
    keys: Vec<Key>,
    entries: Vec<Entry>,
    /// The clock of the last transaction of each chain, if there are few.
    last: Vec<Clock<CHAINS>>,
    /// How many transactions of each chain are to come.
    to_come: Vec<u32>,
    /// What all chains know that go on.
    known: Clock<CHAINS>,
    until_refresh: usize,
}

impl<const CHAINS: usize> Recent<CHAINS> {
    /// One that has no answer.
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

    /// Begins with the first transaction, for the chains from here on.
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

    /// How many writers of a key are before all that is to come.
    fn advance(&mut self, key: KeyId) -> u32 {
        let key = &mut self.keys[key.at()];
        let entries = &self.entries[key.from.to_usize()..(key.from + key.count).to_usize()];
        for entry in &entries[key.known.to_usize()..] {
            match self.known.get(entry.chain.to_usize().wrapping_sub(self.from)) {
                Some(count) if *count <= entry.at => break,
                // Other chains are looked at another time.
                _ => key.known += 1,
            }
        }
        key.known
    }

    /// Emits, for each chain, the last writer of the key that `clock` has, unless the one that was read from has it:
    /// `saw` is that one's clock. False, and nothing is emitted, if that takes too many looks.
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
                // It saw itself.
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
