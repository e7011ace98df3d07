//! The transactions that happened, as `check-isolation` takes them.

use crate::ids::{KeyId, TxnId};
use crate::txn::Txns;
use check_isolation::{KnownOrder, NewTxn, Read, Transactions};
use history_core::IntMap;
use history_core::cast::Cast as _;

/// An external read: a key and who wrote what was read; `None` for what was there first.
pub(crate) type External = (KeyId, Option<TxnId>);

/// The transactions of a history that happened.
#[derive(Debug, Default)]
pub(crate) struct Happened {
    pub(crate) txns: Transactions,
    /// The transaction of each row, in ascending order.
    pub(crate) rows: Vec<TxnId>,
    /// Whether a transaction's read after its own write shows something else.
    pub(crate) contradicts_itself: bool,
    /// The same with fewer pairs of reads of which one is before the other, if the order of some is not known; the
    /// others have such reads in both orders.
    pub(crate) lenient: Option<Transactions>,
    /// Whether some reads are of predicates, and missed what a transaction did.
    pub(crate) has_predicates: bool,
}

impl Happened {
    /// Rows for these transactions, of which `look` gives the external reads and the keys written: `None` if one saw
    /// what nobody left behind. Such histories have anomalies that rule out every level without this.
    pub(crate) fn new<M: Copy>(
        txns: &Txns<M>,
        happened: impl Fn(TxnId) -> bool,
        mut look: impl FnMut(TxnId, &mut Vec<External>, &mut Vec<check_isolation::KeyId>) -> Option<()>,
    ) -> Option<Happened> {
        let rows: Vec<TxnId> = txns.ids().filter(|txn| happened(*txn)).collect();
        let mut all = Happened { rows, ..Happened::default() };
        let (mut sessions, mut next_session): (IntMap<u32>, u32) = (IntMap::default(), 0);
        let (mut external, mut reads, mut writes): (Vec<External>, Vec<Read>, _) = (Vec::new(), Vec::new(), Vec::new());
        for txn in &all.rows {
            external.clear();
            reads.clear();
            writes.clear();
            look(*txn, &mut external, &mut writes)?;
            for (key, writer) in &external {
                reads.push(read(&all.rows, *key, *writer)?);
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

    /// A read of what one of these wrote; `None` if it is none of them.
    pub(crate) fn read(&self, key: KeyId, writer: Option<TxnId>) -> Option<Read> {
        read(&self.rows, key, writer)
    }

    /// Notes that one transaction wrote a key before another did; of those that did not happen nothing.
    pub(crate) fn push_order(&mut self, key: KeyId, before: TxnId, after: TxnId) {
        if let (Some(before), Some(after)) = (row_of(&self.rows, before), row_of(&self.rows, after)) {
            self.txns.push_order(KnownOrder { key: key_of(key), before, after });
        }
    }
}

fn read(rows: &[TxnId], key: KeyId, writer: Option<TxnId>) -> Option<Read> {
    let writer = match writer {
        Some(writer) => row_of(rows, writer)?,
        None => check_isolation::TxnId::NONE,
    };
    Some(Read { key: key_of(key), writer })
}

/// The row of a transaction, if it happened.
fn row_of(rows: &[TxnId], txn: TxnId) -> Option<check_isolation::TxnId> {
    // Mostly all of them happened.
    if rows.get(txn.at()) == Some(&txn) {
        return Some(check_isolation::TxnId::new(txn.at()));
    }
    rows.binary_search(&txn).ok().map(check_isolation::TxnId::new)
}

/// A key as `check-isolation` counts it: as here.
pub(crate) fn key_of(key: KeyId) -> check_isolation::KeyId {
    check_isolation::KeyId::from(key.at().to_u32())
}
