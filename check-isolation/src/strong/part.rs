//! A contradiction is mostly between few transactions: where a first guess ends, the transactions before are decided
//! separately.
//!
//! If whoever is in a part reads only from what is in it, then an order that explains the history explains the part, so
//! that a derivation that nothing explains the part is one for the history.

use crate::evidence::{Outcome, Refutation};
use crate::ids::TxnId;
use crate::level::{Axiom, Base};
use crate::transactions::{KnownOrder, NewTxn, Read, Transactions};
use history_core::Budget;

/// Why nothing explains these transactions, who read from no others, if that is found.
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

/// The rows of these transactions, in ascending order.
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
