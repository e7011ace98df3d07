//! A first guess: versions in the order in which their writers completed, unless something says otherwise; no search, no clocks, linear.
//!
//! Two writers of a key that ran at different times are in that order in nearly every store, and of two that ran at once reads mostly
//! show it: a read behind both returns the later one. So the guess begins with what causal consistency forces. Overwritten reads of
//! writers that ran at different times are then added, as these decide most of what reads leave open. The order that comes out gives
//! each key its versions, and a serial order of the transactions with just these versions explains the history.

use crate::base::Frame;
use crate::csr::Csr;
use crate::evidence::{Moment, Order};
use crate::ids::{KeyId, TxnId};
use crate::level::Base;
use crate::transactions::Transactions;
use crate::weak::{self, Backwards};
use history_core::Budget;
use history_core::cast::Cast as _;

/// An arc from one transaction to another.
type Arc = (TxnId, TxnId);

/// A serial order that explains the history and extends the base, if the guess is right. It explains every level of that base.
pub(super) fn serial_order(txns: &Transactions, base: Base, budget: &Budget) -> Option<Order> {
    let frame = Frame::new(txns, base);
    let backwards = Backwards::new(txns, &frame);
    let mut arcs = weak::causal_orders(&backwards, &frame, budget)?;
    let along = |arcs: &[Arc]| backwards.order(&by_end(txns, arcs));
    let versions = Versions::along(txns, &along(&arcs)?);
    versions.each_overwritten(|reader, writer, next| {
        if is_apart(txns, writer, next) {
            arcs.push((reader, next));
        }
    });
    let versions = Versions::along(txns, &along(&arcs)?);
    arcs.clear();
    versions.each_overwritten(|reader, _, next| arcs.push((reader, next)));
    versions.each_replaced(|writer, next| arcs.push((writer, next)));
    // Each read is behind the version that it returned and before the next one.
    let order = along(&arcs)?;
    let commits = order.iter().filter(|node| node.to_usize() < txns.len());
    Some(Order { moments: commits.map(|node| Moment::Commit((*node).into())).collect() })
}

/// Arcs by where they lead to.
fn by_end(txns: &Transactions, arcs: &[Arc]) -> Csr {
    Csr::new(txns.len(), |emit| arcs.iter().for_each(|(from, to)| emit(to.at(), from.number())))
}

/// Whether one was over before the other began. The first state was.
fn is_apart(txns: &Transactions, writer: TxnId, next: TxnId) -> bool {
    writer == TxnId::NONE || txns.end(writer) < txns.begin(next)
}

/// The writers of each key in one order.
struct Versions<'t> {
    txns: &'t Transactions,
    /// For each write of all, who wrote the key next; `TxnId::NONE` if nobody did.
    next: Vec<TxnId>,
    /// For each key, who wrote it first.
    first: Vec<TxnId>,
}

impl<'t> Versions<'t> {
    /// As an order of all nodes has them.
    fn along(txns: &'t Transactions, order: &[u32]) -> Versions<'t> {
        let mut versions =
            Versions { txns, next: vec![TxnId::NONE; txns.write_count()], first: vec![TxnId::NONE; txns.keys()] };
        // For each key the last write of all that was passed.
        let mut last = vec![u32::MAX; txns.keys()];
        for txn in order.iter().filter(|node| node.to_usize() < txns.len()).map(|node| TxnId::from(*node)) {
            for (write, key) in txns.writes_range(txn).zip(txns.writes(txn)) {
                match std::mem::replace(&mut last[key.at()], write.to_u32()) {
                    u32::MAX => versions.first[key.at()] = txn,
                    before => versions.next[before.to_usize()] = txn,
                }
            }
        }
        versions
    }

    /// Who wrote a key after another one; of the first state, who wrote it first.
    fn after(&self, key: KeyId, writer: TxnId) -> TxnId {
        if writer == TxnId::NONE {
            return self.first[key.at()];
        }
        let own = self.txns.writes(writer).binary_search(&key);
        own.map_or(TxnId::NONE, |at| self.next[self.txns.writes_range(writer).start + at])
    }

    /// Calls with each reader of a version that another one replaced, the version's writer, and that other one.
    fn each_overwritten(&self, mut each: impl FnMut(TxnId, TxnId, TxnId)) {
        for reader in self.txns.ids() {
            for read in self.txns.reads(reader) {
                let next = self.after(read.key, read.writer);
                if next != TxnId::NONE && next != reader {
                    each(reader, read.writer, next);
                }
            }
        }
    }

    /// Calls with each writer of a key and the next one.
    fn each_replaced(&self, mut each: impl FnMut(TxnId, TxnId)) {
        for writer in self.txns.ids() {
            for next in &self.next[self.txns.writes_range(writer)] {
                if *next != TxnId::NONE {
                    each(writer, *next);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transactions::{NewTxn, Read};

    const FIRST: TxnId = TxnId::NONE;

    /// Adds a transaction of these moments that reads and writes these keys.
    fn push(txns: &mut Transactions, (begin, end): (u64, u64), reads: &[(usize, TxnId)], writes: &[usize]) -> TxnId {
        let reads: Vec<Read> =
            reads.iter().map(|(key, writer)| Read { key: KeyId::new(*key), writer: *writer }).collect();
        let writes: Vec<KeyId> = writes.iter().map(|key| KeyId::new(*key)).collect();
        txns.push(&NewTxn { begin: Some(begin), end: Some(end), reads: &reads, writes: &writes, ..NewTxn::default() })
    }

    fn guessed(txns: &Transactions) -> Option<Vec<Moment>> {
        serial_order(txns, Base::RealTime, &Budget::default()).map(|order| order.moments)
    }

    #[test]
    fn an_overwritten_read_decides_between_two_writers_at_once() {
        let mut txns = Transactions::default();
        let one = push(&mut txns, (0, 4), &[], &[0, 1]);
        // It misses the first one's write of key 1, so it was first, although it completed later.
        let other = push(&mut txns, (1, 5), &[(1, FIRST)], &[0]);
        assert_eq!(guessed(&txns).unwrap(), [Moment::Commit(other), Moment::Commit(one)]);
        // Then the last version of key 0 is that of the one that completed first.
        let reader = push(&mut txns, (6, 7), &[(0, one)], &[]);
        assert_eq!(guessed(&txns).unwrap(), [other, one, reader].map(Moment::Commit));
        // Who reads the other one's contradicts that.
        push(&mut txns, (8, 9), &[(0, other)], &[]);
        assert_eq!(guessed(&txns), None);
    }

    #[test]
    fn write_skew_has_no_serial_order() {
        let mut txns = Transactions::default();
        push(&mut txns, (0, 4), &[(0, FIRST)], &[1]);
        push(&mut txns, (1, 5), &[(1, FIRST)], &[0]);
        assert_eq!(guessed(&txns), None);
    }

    #[test]
    fn one_that_replaces_what_it_read_is_next_to_it() {
        let mut txns = Transactions::default();
        let first = push(&mut txns, (0, 1), &[(0, FIRST)], &[0]);
        let second = push(&mut txns, (2, 3), &[(0, first)], &[0]);
        assert_eq!(guessed(&txns).unwrap(), [first, second].map(Moment::Commit));
        push(&mut txns, (2, 4), &[(0, first)], &[0]);
        assert_eq!(guessed(&txns), None, "an update is lost");
    }
}
