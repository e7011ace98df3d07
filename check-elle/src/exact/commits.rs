//! The dependencies of one order of commits that explains all transactions that may have happened, at strict
//! serializability.
//!
//! In such an order a read returns the value of the last writer of its key before it. So it also orders each key's
//! versions. Any other order of the transactions that keeps its dependencies explains the same reads. The combined
//! order of several shares does.

use super::{Exact, decide, unseen};
use crate::ids::TxnId;
use crate::txn::analysis::Analysis;
use check_isolation::TxnId as Row;
use check_isolation::{Axiom, Base, Level, Moment, Outcome, Transactions};
use history_core::Budget;

/// Calls `add` for each pair of transactions of which one directly precedes the other on some key, possibly several
/// times. `None` if no order was found, or if `add` returns `None`.
pub(crate) fn dependencies<A: Analysis>(
    analysis: &A,
    exact: Exact,
    budget: &Budget,
    mut add: impl FnMut(TxnId, TxnId) -> Option<()>,
) -> Option<()> {
    let happened = analysis.may_have_happened()?;
    if happened.contradicts_itself {
        return None;
    }
    let txns = &happened.txns;
    let is_certain = |row: Row| analysis.txns().is_ok(happened.rows[row.at()]);
    let order = unseen::early(txns, is_certain, strict_order(txns, analysis.txns().all_mops().len(), exact, budget)?);
    replay(txns, &order, |before, after| add(happened.rows[before.at()], happened.rows[after.at()]))
}

/// Returns `Some` if an order of commits in real time was found.
pub(crate) fn is_strict(txns: &Transactions, exact: Exact, budget: &Budget) -> Option<()> {
    strict_order(txns, 0, exact, budget).map(|_| ())
}

fn strict_order(txns: &Transactions, mops: usize, exact: Exact, budget: &Budget) -> Option<Vec<Row>> {
    let level = Level::of(Axiom::Serializable, Base::RealTime).expect("a level of the table");
    let budget = decide::limited(budget, exact, mops);
    let Outcome::Holds(order) = check_isolation::decide(txns, level, &budget) else { return None };
    let committed = |moment: &Moment| if let Moment::Commit(txn) = *moment { Some(txn) } else { None };
    Some(order.moments.iter().filter_map(committed).collect())
}

/// Returns true if a serial order that extends a base is found without a search.
pub(crate) fn has_serial_order(txns: &Transactions, base: Base, exact: Exact, mops: usize, budget: &Budget) -> bool {
    check_isolation::serial_order(txns, base, &decide::limited(budget, exact, mops)).is_some()
}

/// Executes an order like a store. Returns `None` if it does not explain some read.
fn replay(txns: &Transactions, order: &[Row], mut add: impl FnMut(Row, Row) -> Option<()>) -> Option<()> {
    const FIRST: Row = Row::NONE;
    let mut last = vec![FIRST; txns.keys()];
    // For each key, the transactions that read the current version.
    let mut readers: Vec<Vec<Row>> = vec![Vec::new(); txns.keys()];
    for txn in order.iter().copied() {
        for read in txns.reads(txn) {
            if last[read.key.at()] != read.writer {
                return None;
            }
            if read.writer != FIRST {
                add(read.writer, txn)?;
            }
            readers[read.key.at()].push(txn);
        }
        for key in txns.writes(txn) {
            let before = std::mem::replace(&mut last[key.at()], txn);
            for reader in readers[key.at()].drain(..).filter(|reader| *reader != txn) {
                add(reader, txn)?;
            }
            if before != FIRST && before != txn {
                add(before, txn)?;
            }
        }
    }
    (order.len() == txns.len()).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use check_isolation::{KeyId, NewTxn, Read};

    #[test]
    fn an_order_has_the_dependencies_of_its_reads_and_writes() {
        let mut txns = Transactions::default();
        let mut push = |reads: &[(usize, Row)], writes: &[usize]| {
            let reads: Vec<Read> =
                reads.iter().map(|(key, writer)| Read { key: KeyId::new(*key), writer: *writer }).collect();
            let writes: Vec<KeyId> = writes.iter().map(|key| KeyId::new(*key)).collect();
            txns.push(&NewTxn { reads: &reads, writes: &writes, ..NewTxn::default() })
        };
        let first = push(&[], &[0, 1]);
        let reader = push(&[(0, first)], &[]);
        let updates = push(&[(0, first)], &[0, 0]);
        let blind = push(&[(2, Row::NONE)], &[1, 2]);
        let pairs = |order: &[Row]| {
            let mut found = Vec::new();
            replay(&txns, order, |before, after| {
                found.push((before, after));
                Some(())
            })?;
            found.sort_unstable();
            found.dedup();
            Some(found)
        };
        let expected = [(first, reader), (first, updates), (first, blind), (reader, updates)];
        assert_eq!(pairs(&[first, reader, updates, blind]).unwrap(), expected);
        let other = [(first, reader), (first, updates), (reader, updates), (blind, first)];
        assert_eq!(pairs(&[blind, first, reader, updates]).unwrap(), other);
        assert_eq!(pairs(&[first, updates, reader, blind]), None, "the reader observed a replaced version");
        assert_eq!(pairs(&[first, reader, updates]), None, "one transaction is missing");
        assert_eq!(pairs(&[first, reader, updates, blind, blind]), None);
    }
}
