//! A planted cycle: the last transaction comes before one of the first, on a key that only these two name.
//!
//! All else that transactions depend on leads from the first to the last, so nearly all of them end up in one
//! component, which a single read closes. Without it the history is strict serializable.

use super::{Store, Txn};
use crate::ids::{index, small};
use crate::lists::mops::{Action, Asked, Seen};
use crate::lists::{ListId, Lists};
use crate::slot::Slot;
use crate::transactions::bug::Bug;

/// The key: unlike those of the workload, which count from 0, so that these are as they would be without.
const KEY: i64 = -1;
/// The one value that is written to the key.
const VALUE: i64 = 1;

/// The key, and how far the two transactions that name it are.
pub(super) struct Plant {
    list: ListId,
    /// Transactions that are still to be planned.
    left: u64,
    /// Whether there was a first one.
    begun: bool,
}

impl Plant {
    pub(super) fn new(txns: u64, lists: &mut Lists) -> Plant {
        Plant { list: lists.create_for(KEY), left: txns, begun: false }
    }

    /// Adds to the first transaction that writes, and to the last of all, what they do to the key: one reads it, the
    /// other writes it. The reader keeps its bug; nothing is wrong with any other. Whether this is one of the two.
    ///
    /// The first one must write because otherwise only a read that was overwritten could lead on from it.
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
    /// What the transaction with the planted bug reads: of the planted key the contrary of what is there.
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
