//! Refutes a part of the history: a contradiction mostly concerns few transactions, so the transactions before the end
//! of a first guess are decided separately.
//!
//! If the transactions of a part read only from each other, then an order that explains the history explains the part,
//! so a derivation that no order explains the part is one for the history.

use crate::evidence::{Outcome, Refutation};
use crate::ids::TxnId;
use crate::level::{Axiom, Base};
use crate::transactions::{KnownOrder, NewTxn, Read, Transactions};
use history_core::Budget;

/// The refutation of these transactions, which read from no others, if one is found.
pub(super) fn refute(
    txns: &Transactions,
    mut part: Vec<TxnId>,
    axiom: Axiom,
    base: Base,
    budget: &Budget,
) -> Option<Refutation> {
    part.sort_unstable();
    match super::decide(&only(txns, &part), axiom, base, budget) {
        Outcome::Violated(refutation) => {
            Some(refutation.about(|txn| if txn == TxnId::NONE { txn } else { part[txn.at()] }))
        }
        Outcome::Holds(_) | Outcome::Unknown(_) => None,
    }
}

/// Only these transactions, in ascending order.
fn only(txns: &Transactions, part: &[TxnId]) -> Transactions {
    let row_of = |txn: &TxnId| part.binary_search(txn).ok().map(TxnId::new);
    let mut own = Transactions::default();
    let mut reads = Vec::new();
    for txn in part.iter().copied() {
        reads.clear();
        for read in txns.reads(txn) {
            let writer = row_of(&read.writer);
            debug_assert!(writer.is_some() || read.writer == TxnId::NONE, "{txn:?} reads from outside of the part");
            reads.push(Read { writer: writer.unwrap_or(TxnId::NONE), ..*read });
        }
        own.push(&NewTxn {
            session: txns.session(txn),
            begin: Some(txns.begin(txn)),
            end: Some(txns.end(txn)).filter(|end| *end != u64::MAX),
            reads: &reads,
            writes: txns.writes(txn),
        });
    }
    for order in txns.orders() {
        if let (Some(before), Some(after)) = (row_of(&order.before), row_of(&order.after)) {
            own.push_order(KnownOrder { before, after, ..*order });
        }
    }
    own
}
