//! The requirements of monotonic atomic view and read atomic: orders of writers that follow from one transaction's
//! reads.
//!
//! Time is O(n^1.5) in all reads and writes: for each writer that a transaction read from, the smaller of two sets of
//! keys is traversed, those that the writer wrote and those that the transaction read. Møldrup and Pavlogiannis (PLDI
//! 2025).

use super::Forced;
use crate::base::Frame;
use crate::ids::{KeyId, TxnId};
use crate::transactions::{Transactions, bit};
use history_core::cast::Cast as _;
use history_core::parallel;

/// The reads of one key by one transaction.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// The transaction.
    of: TxnId,
    key: KeyId,
    first: (TxnId, u32),
    /// A read from another writer, if there is one; else its position is `u32::MAX`.
    other: (TxnId, u32),
}

/// For each key, the reads of it by the current transaction, from different writers.
struct Stamps {
    /// For a transaction with few keys, those that it has read so far. They are searched linearly, without distant
    /// memory.
    few: Vec<Seen>,
    /// For a transaction with many keys, all keys; empty until there is such a transaction.
    many: Vec<Seen>,
    /// The keys of the current transaction, if there are many.
    keys: Vec<KeyId>,
    is_many: bool,
    /// The bits of these keys, and those that two keys share or whose key was read from two writers.
    key_bits: u64,
    shared_bits: u64,
}

/// The number of transactions, or sessions, that one thread examines at a time.
const BLOCK_TXNS: usize = 1 << 13;
const BLOCK_SESSIONS: usize = 4;

/// The maximum number of reads that count as few.
const FEW: usize = 16;
/// The number of keys that can be traversed in the time of one search.
const LOOKS_PER_SEARCH: usize = 8;

const NO_READ: (TxnId, u32) = (TxnId::NONE, u32::MAX);

impl Stamps {
    fn new() -> Stamps {
        let (few, many, keys) = (Vec::with_capacity(FEW), Vec::new(), Vec::new());
        Stamps { few, many, keys, is_many: false, key_bits: 0, shared_bits: 0 }
    }

    /// Starts with another transaction.
    fn begin(&mut self, txns: &Transactions, txn: TxnId) {
        self.is_many = txns.reads_range(txn).len() > FEW;
        if self.is_many && self.many.is_empty() {
            let nothing = Seen { of: TxnId::NONE, key: KeyId::NONE, first: NO_READ, other: NO_READ };
            self.many.resize(txns.keys(), nothing);
        }
        self.few.clear();
        self.keys.clear();
        (self.key_bits, self.shared_bits) = (0, 0);
    }

    /// Inserts a read before the other reads of its key.
    fn insert(&mut self, txn: TxnId, key: KeyId, read: (TxnId, u32)) {
        let new = Seen { of: txn, key, first: read, other: NO_READ };
        let bit = bit(key);
        let seen = if self.is_many {
            Some(&mut self.many[key.at()])
        } else if self.key_bits & bit != 0 {
            self.few.iter_mut().find(|seen| seen.key == key)
        } else {
            None
        };
        match seen {
            Some(seen) if seen.of == txn => {
                if seen.first.0 == read.0 {
                    seen.first = read;
                } else {
                    (seen.other, seen.first) = (seen.first, read);
                    self.shared_bits |= bit;
                }
                return;
            }
            Some(seen) => {
                *seen = new;
                self.keys.push(key);
            }
            None => self.few.push(new),
        }
        self.shared_bits |= self.key_bits & bit;
        self.key_bits |= bit;
    }

    /// Calls `each` for each read of the transaction from another writer, of a key that `writer` wrote. Keys with
    /// `known_bits` are known to have none.
    fn missed(
        &self,
        txns: &Transactions,
        (txn, writer): (TxnId, TxnId),
        known_bits: u64,
        mut each: impl FnMut((TxnId, u32)),
    ) {
        // Most writers wrote none of the keys, and their writes are in distant memory.
        if txns.write_bits(writer) & self.key_bits & !known_bits == 0 {
            return;
        }
        let mut look = |seen: &Seen| {
            let others = [seen.first, seen.other].into_iter();
            others.filter(|read| read.1 != u32::MAX && read.0 != writer).for_each(&mut each);
        };
        if !self.is_many {
            self.few.iter().filter(|seen| txns.is_writer(writer, seen.key)).for_each(look);
        } else if self.keys.len() * LOOKS_PER_SEARCH < txns.writes(writer).len() {
            self.keys.iter().filter(|key| txns.is_writer(writer, **key)).for_each(|key| look(&self.many[key.at()]));
        } else {
            let seen = txns.writes(writer).iter().map(|key| &self.many[key.at()]);
            seen.filter(|seen| seen.of == txn).for_each(look);
        }
    }
}

/// Monotonic atomic view: a writer is visible to the reads of a transaction after its read from that writer. Reads are
/// traversed backwards, so that later ones are known. Of the later reads of a key, the two nearest ones from different
/// writers force all orders that the others do.
pub(super) fn monotonic(txns: &Transactions) -> Vec<Forced> {
    each_block(txns, txns.len(), BLOCK_TXNS, Stamps::new, |stamps, at, forced| {
        let txn = TxnId::new(at);
        if txns.reads(txn).len() < 2 {
            return;
        }
        stamps.begin(txns, txn);
        for at in txns.reads_range(txn).rev() {
            let read = txns.all_reads()[at];
            if read.writer != TxnId::NONE {
                stamps.missed(txns, (txn, read.writer), 0, |(second, read_at)| {
                    forced.push(Forced { first: read.writer, second, read: read_at });
                });
            }
            stamps.insert(txn, read.key, (read.writer, at.to_u32()));
        }
    })
}

/// The results of `look` for each number below `count`, in this order, computed in blocks on several threads.
fn each_block<C>(
    txns: &Transactions,
    count: usize,
    block: usize,
    context: impl Fn() -> C + Sync,
    look: impl Fn(&mut C, usize, &mut Vec<Forced>) + Sync,
) -> Vec<Forced> {
    let worth = txns.len() >= parallel::WORTH_OPS;
    let found = parallel::map_with(worth, count.div_ceil(block), context, |context, at| {
        let mut forced = Vec::new();
        (at * block..count.min((at + 1) * block)).for_each(|at| look(context, at, &mut forced));
        forced
    });
    found.concat()
}

/// Read atomic: earlier transactions of the session and those read from are visible to all reads of the transaction.
pub(super) fn atomic(txns: &Transactions, frame: &Frame) -> Vec<Forced> {
    let mut forced = read_from(txns);
    forced.append(&mut own_session(txns, frame));
    forced
}

fn read_from(txns: &Transactions) -> Vec<Forced> {
    // For each writer, the transaction whose reads were last examined for it.
    let context = || (Stamps::new(), vec![TxnId::NONE; txns.len()]);
    each_block(txns, txns.len(), BLOCK_TXNS, context, |(stamps, looked_at), at, forced| {
        let txn = TxnId::new(at);
        if txns.reads(txn).len() < 2 {
            return;
        }
        stamps.begin(txns, txn);
        for at in txns.reads_range(txn) {
            let read = txns.all_reads()[at];
            stamps.insert(txn, read.key, (read.writer, at.to_u32()));
        }
        for read in txns.reads(txn).iter().filter(|read| read.writer != TxnId::NONE) {
            if std::mem::replace(&mut looked_at[read.writer.at()], txn) != txn {
                // If no other key has this key's bit, all reads of the key observed this writer.
                let known_bits = bit(read.key) & !stamps.shared_bits;
                stamps.missed(txns, (txn, read.writer), known_bits, |(second, read_at)| {
                    forced.push(Forced { first: read.writer, second, read: read_at });
                });
            }
        }
    })
}

/// The last writer of each key in the session is visible. Earlier ones precede it.
fn own_session(txns: &Transactions, frame: &Frame) -> Vec<Forced> {
    let mut is_first = vec![true; txns.len()];
    frame.next.iter().filter(|next| **next != TxnId::NONE).for_each(|next| is_first[next.at()] = false);
    let starts: Vec<TxnId> =
        txns.ids().filter(|txn| is_first[txn.at()] && frame.next[txn.at()] != TxnId::NONE).collect();
    // For each key, its last writer, and the first transaction of the session to which this applies.
    let context = || vec![(TxnId::NONE, TxnId::NONE); txns.keys()];
    each_block(txns, starts.len(), BLOCK_SESSIONS, context, |last, at, forced| {
        let start = starts[at];
        let mut txn = start;
        while txn != TxnId::NONE {
            for at in txns.reads_range(txn) {
                let read = txns.all_reads()[at];
                let (session, writer) = last[read.key.at()];
                if session == start && writer != read.writer {
                    forced.push(Forced { first: writer, second: read.writer, read: at.to_u32() });
                }
            }
            txns.writes(txn).iter().for_each(|key| last[key.at()] = (start, txn));
            txn = frame.next[txn.at()];
        }
    })
}
