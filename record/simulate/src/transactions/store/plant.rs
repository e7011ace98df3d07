//! A planted cycle: the last transaction precedes one of the first, through a key that only these two use.
//!
//! All other dependencies lead from earlier to later transactions. So a single read puts nearly all transactions into
//! one strongly connected component. Without it the history is strict serializable.

use super::{Store, Txn};
use crate::ids::{index, small};
use crate::lists::mops::{Action, Asked, Seen};
use crate::lists::{ListId, Lists};
use crate::slot::Slot;
use crate::transactions::bug::Bug;

/// The key. Those of the workload count from 0, so it does not change them.
const KEY: i64 = -1;
/// The only value that is written to the key.
const VALUE: i64 = 1;

/// The key, and the progress towards the two transactions that use it.
pub(super) struct Plant {
    list: ListId,
    /// The number of transactions that are still to be planned.
    left: u64,
    /// Whether the first of the two was planned.
    begun: bool,
}

impl Plant {
    pub(super) fn new(txns: u64, lists: &mut Lists) -> Plant {
        Plant { list: lists.create_for(KEY), left: txns, begun: false }
    }

    /// Adds the micro-operation on the key to the first transaction that writes, and to the last transaction: one reads
    /// the key, the other writes it. The reader keeps its bug; all other transactions are correct. Returns true if this
    /// is one of the two.
    ///
    /// The first one must write: otherwise only an overwritten read could lead from it to later transactions.
    pub(super) fn plan(&mut self, txn: &mut Txn, lists: &mut Lists) -> bool {
        let bug = std::mem::take(&mut txn.bug);
        self.left -= 1;
        let first = !self.begun && self.left > 0 && !txn.is_read_only();
        let last = self.begun && self.left == 0;
        self.begun |= first;
        if !first && !last {
            return false;
        }
        let reads = first == (bug == Bug::PlantedG1c);
        let action = if reads { Action::Read(Seen::Prefix(0)) } else { Action::Append(VALUE) };
        lists.hold(self.list);
        txn.asked.push(Asked { list: self.list, action });
        if reads {
            txn.bug = bug;
        }
        true
    }
}

impl Store {
    /// The result of a read by the transaction with the planted bug: for the planted key, the opposite of the current
    /// state.
    pub(super) fn see_planted(&mut self, slot: Slot, list: ListId) -> Seen {
        if self.plant.as_ref().is_none_or(|plant| plant.list != list) {
            return self.see(slot, list);
        }
        if self.txns[index(slot)].bug == Bug::PlantedGSingle {
            return Seen::Prefix(0);
        }
        let copies = &mut self.txns[index(slot)].copies;
        let from = small(copies.len());
        copies.push(VALUE);
        Seen::Copy { from, to: from + 1 }
    }
}
