//! The readers of each write: the last reader in each chain, because earlier ones in the chain precede it in any order.

use crate::chains::Chains;
use crate::csr::Csr;
use crate::ids::{KeyId, TxnId};
use crate::transactions::Transactions;
use history_core::cast::Cast as _;

/// The readers of each write and of each key's first state.
#[derive(Debug)]
pub(super) struct Readers {
    /// The position of each transaction's first write among all writes.
    writes_from: Vec<u32>,
    /// For each write, the last reader in each chain.
    last: Csr,
    /// For each write, the transactions that read it and wrote the key.
    updaters: Csr,
    /// For each key, the readers of its first state.
    pub(super) of_first: Csr,
}

impl Readers {
    pub(super) fn new(txns: &Transactions, chains: &Chains) -> Readers {
        let mut writes_from = Vec::with_capacity(txns.len());
        let mut from = 0;
        for txn in txns.ids() {
            writes_from.push(from);
            from += txns.writes(txn).len().to_u32();
        }
        let row = |writer: TxnId, key: KeyId| {
            let at = txns.writes(writer).binary_search(&key).ok()?;
            Some(writes_from[writer.at()].to_usize() + at)
        };
        let mut along: Vec<TxnId> = txns.ids().collect();
        // The last of each chain comes first.
        along.sort_unstable_by_key(|txn| (chains.of[txn.at()], std::cmp::Reverse(chains.at[txn.at()])));
        let writes = txns.write_count();
        let last = Csr::new(writes, |emit| {
            // For each write, the chain whose last reader is known.
            let mut known = vec![u32::MAX; writes];
            for txn in &along {
                for read in txns.reads(*txn).iter().filter(|read| read.writer != TxnId::NONE) {
                    let Some(row) = row(read.writer, read.key) else { continue };
                    let chain = chains.of[txn.at()];
                    if std::mem::replace(&mut known[row], chain) != chain {
                        emit(row, txn.number());
                    }
                }
            }
        });
        let updaters = Csr::new(writes, |emit| {
            for txn in txns.ids() {
                for read in txns.reads(txn).iter().filter(|read| read.writer != TxnId::NONE) {
                    if txns.is_writer(txn, read.key)
                        && let Some(row) = row(read.writer, read.key)
                    {
                        emit(row, txn.number());
                    }
                }
            }
        });
        let of_first = Csr::new(txns.keys(), |emit| {
            for txn in txns.ids() {
                let firsts = txns.reads(txn).iter().filter(|read| read.writer == TxnId::NONE);
                firsts.for_each(|read| emit(read.key.at(), txn.number()));
            }
        });
        Readers { writes_from, last, updaters, of_first }
    }

    fn row(&self, txns: &Transactions, writer: TxnId, key: KeyId) -> usize {
        let at = txns.writes(writer).binary_search(&key).expect("a writer of the key");
        self.writes_from[writer.at()].to_usize() + at
    }

    /// The last reader of a write in each chain.
    #[inline]
    pub(super) fn last(&self, txns: &Transactions, writer: TxnId, key: KeyId) -> &[u32] {
        self.last.row(self.row(txns, writer, key))
    }

    /// The transactions that read a write and wrote the key.
    #[inline]
    pub(super) fn updaters(&self, txns: &Transactions, writer: TxnId, key: KeyId) -> &[u32] {
        self.updaters.row(self.row(txns, writer, key))
    }
}
