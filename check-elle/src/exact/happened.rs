//! The transactions that happened, in the form of `check-isolation`.

use crate::ids::{KeyId, TxnId};
use crate::txn::Txns;
use check_isolation::{KnownOrder, NewTxn, Read, Transactions, TxnId as Row};
use history_core::IntMap;
use history_core::cast::Cast as _;

/// An external read: a key and the writer of the value that was read; `None` for the initial value.
pub(crate) type External = (KeyId, Option<TxnId>);

/// The transactions of a history that happened.
#[derive(Debug, Default)]
pub(crate) struct Happened {
    pub(crate) txns: Transactions,
    /// The transaction of each row, in ascending order.
    pub(crate) rows: Vec<TxnId>,
    /// The row of each transaction; `NONE` for those that did not happen.
    row_of: Vec<Row>,
    /// Whether a read of a transaction contradicts an earlier write of it.
    pub(crate) contradicts_itself: bool,
    /// The same transactions with the reads of other transactions' writes in such contradictions, if these are known.
    pub(crate) all_reads: Option<Transactions>,
    /// The same transactions with fewer ordered pairs of reads, if the order of some is not known; the other rows have
    /// such reads in both orders.
    pub(crate) lenient: Option<Transactions>,
    /// Whether some predicate reads missed a write of a transaction.
    pub(crate) has_predicates: bool,
}

impl Happened {
    /// Creates rows for these transactions. `look` returns the external reads and the written keys of each. `None` if
    /// one read a value that no transaction left behind. Such histories have anomalies that rule out every level
    /// anyway.
    pub(crate) fn new<M: Copy>(
        txns: &Txns<M>,
        happened: impl Fn(TxnId) -> bool,
        mut look: impl FnMut(TxnId, &mut Vec<External>, &mut Vec<check_isolation::KeyId>) -> Option<()>,
    ) -> Option<Happened> {
        let rows: Vec<TxnId> = txns.ids().filter(|txn| happened(*txn)).collect();
        let mut row_of = vec![Row::NONE; txns.len()];
        rows.iter().enumerate().for_each(|(row, txn)| row_of[txn.at()] = Row::new(row));
        let mut all = Happened { rows, row_of, ..Happened::default() };
        let (mut sessions, mut next_session): (IntMap<u32>, u32) = (IntMap::default(), 0);
        let (mut external, mut reads, mut writes): (Vec<External>, Vec<Read>, _) = (Vec::new(), Vec::new(), Vec::new());
        for txn in &all.rows {
            external.clear();
            reads.clear();
            writes.clear();
            look(*txn, &mut external, &mut writes)?;
            for (key, writer) in &external {
                reads.push(all.read(*key, *writer)?);
            }
            let session = txns.process(*txn).map(|process| {
                sessions.get(process).copied().unwrap_or_else(|| {
                    sessions.insert(process, next_session);
                    next_session += 1;
                    next_session - 1
                })
            });
            let end = txns.is_ok(*txn).then(|| txns.index(*txn));
            all.txns.push(&NewTxn { session, begin: txns.invoked(*txn), end, reads: &reads, writes: &writes });
        }
        Some(all)
    }

    /// A read of a write of one of these transactions; `None` if the writer is not among them.
    pub(crate) fn read(&self, key: KeyId, writer: Option<TxnId>) -> Option<Read> {
        let writer = match writer {
            Some(writer) => self.row_of(writer)?,
            None => Row::NONE,
        };
        Some(Read { key: key_of(key), writer })
    }

    /// Records that one transaction wrote a key before another did, if both happened.
    pub(crate) fn push_order(&mut self, key: KeyId, before: TxnId, after: TxnId) {
        if let (Some(before), Some(after)) = (self.row_of(before), self.row_of(after)) {
            self.txns.push_order(KnownOrder { key: key_of(key), before, after });
        }
    }

    /// The row of a transaction, if there is one and it happened.
    #[inline]
    fn row_of(&self, txn: TxnId) -> Option<Row> {
        self.row_of.get(txn.at()).copied().filter(|row| *row != Row::NONE)
    }
}

/// The same key in `check-isolation`.
pub(crate) fn key_of(key: KeyId) -> check_isolation::KeyId {
    check_isolation::KeyId::from(key.at().to_u32())
}
