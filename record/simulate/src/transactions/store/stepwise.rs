//! Transactions that are performed step by step, with other transactions in between, and with too little isolation.
//!
//! - Snapshot isolation: reads return the state at the first step. At the last step, the transaction fails if one of
//!   its lists has grown since (first committer wins). If the level is not strong, transactions that only read may get
//!   an older snapshot.
//! - Read committed: reads return the committed state. An append locks its list until the end, so that no other
//!   transaction's appends come between those of one transaction.
//! - Cursor stability: as read committed, and a read of a list that the transaction appends to also locks it.
//! - Lost update: as read committed, but lists to which the transaction has not appended yet are read as at its first
//!   step, as some databases do under the name of repeatable read.
//! - Read uncommitted: the same locks, but appends are visible at once, and are removed if the transaction fails.
//!
//! Two transactions may wait for each other's locks; a transaction that waits too long fails.

use super::{DONE, REFUSED, Store};
use crate::ids::index;
use crate::lists::ListId;
use crate::lists::mops::{Action, Asked, Seen};
use crate::simulation::system::{Intent, Progress};
use crate::slot::Slot;
use crate::transactions::bug::Bug;

/// The maximum number of steps in which a transaction waits for locks before it fails.
const WAITS_MAX: u32 = 16;

impl Store {
    pub(super) fn step_snapshot(&mut self, slot: Slot, intent: Intent) -> Progress {
        let txn = &self.txns[index(slot)];
        let (client, read_only) = (index(txn.client), txn.is_read_only());
        if txn.steps == 0 {
            let past = self.past(slot, txn.bug, read_only);
            self.txns[index(slot)].snapshot = past.unwrap_or(self.lists.commit());
        }
        let txn = &mut self.txns[index(slot)];
        let (at, snapshot) = (txn.steps, txn.snapshot);
        txn.steps += 1;
        let Some(Asked { list, action }) = txn.asked.get(at).copied() else {
            let outrun = |asked: &Asked| {
                asked.is_append()
                    && !self.lists.commits_from(asked.list, self.lists.len_at(asked.list, snapshot)).is_empty()
            };
            if intent == Intent::Abort || txn.asked.iter().any(outrun) {
                return REFUSED;
            }
            self.append_all(slot);
            let known = if read_only { snapshot } else { self.lists.commit() };
            self.seen[client] = self.seen[client].max(known);
            return DONE;
        };
        if let Action::Read(_) = action {
            // If the transaction commits, the items after the snapshot are its own.
            let len = self.lists.len_at(list, snapshot) + txn.appends_to(list, at);
            txn.asked[at].action = Action::Read(Seen::Prefix(len));
        }
        Progress::Again
    }

    pub(super) fn step_locking(&mut self, slot: Slot, intent: Intent) -> Progress {
        let txn = &mut self.txns[index(slot)];
        let at = txn.steps;
        if at == 0 {
            txn.snapshot = self.lists.commit();
        }
        let Some(Asked { list, action }) = txn.asked.get(at).copied() else {
            return self.end_locking(slot, intent);
        };
        let txn = &mut self.txns[index(slot)];
        let stays = txn.bug == Bug::CursorStability && txn.appends_to(list, txn.asked.len()) > 0;
        if (stays || matches!(action, Action::Append(_))) && !self.lists.lock(list, slot) {
            txn.waits += 1;
            return if txn.waits > WAITS_MAX { self.end_locking(slot, Intent::Abort) } else { Progress::Again };
        }
        match action {
            Action::Append(value) => {
                if txn.bug == Bug::ReadUncommitted {
                    self.lists.next_commit();
                    self.lists.append(list, value);
                }
            }
            Action::Read(_) => {
                let seen = self.see_unisolated(slot, list, at);
                self.txns[index(slot)].asked[at].action = Action::Read(seen);
            }
        }
        self.txns[index(slot)].steps += 1;
        Progress::Again
    }

    /// The result of the micro-operation at `at`, a read of a list.
    fn see_unisolated(&mut self, slot: Slot, list: ListId, at: usize) -> Seen {
        let txn = &self.txns[index(slot)];
        let own = txn.appends_to(list, at);
        match txn.bug {
            Bug::ReadUncommitted => self.see(slot, list),
            Bug::LostUpdate if own == 0 => Seen::Prefix(self.lists.len_at(list, txn.snapshot)),
            // If the transaction appended to the list it owns the lock, and the next items will be its own.
            _ => Seen::Prefix(self.lists.len(list) + own),
        }
    }

    fn end_locking(&mut self, slot: Slot, intent: Intent) -> Progress {
        let txn = &self.txns[index(slot)];
        match (intent, txn.bug) {
            (Intent::Commit, Bug::ReadUncommitted) => {}
            (Intent::Commit, _) => self.append_all(slot),
            (Intent::Abort, Bug::ReadUncommitted) => self.take_back(slot, txn.steps),
            (Intent::Abort, _) => {}
        }
        self.unlock_all(slot);
        if intent == Intent::Commit { DONE } else { REFUSED }
    }
}
