//! Transactions that are performed at one instant, which makes them strict serializable; and the faults that affect
//! some of them.

use super::{DONE, REFUSED, Store, Txn};
use crate::ids::{index, small, wide};
use crate::lists::mops::{Action, Asked, Seen};
use crate::lists::{Commit, ListId};
use crate::simulation::system::{Intent, Progress};
use crate::slot::Slot;
use crate::transactions::bug::Bug;

/// The maximum age of a stale read, in commits per client: several times the duration of a transaction, so that the
/// read misses some that had ended before it began.
const STALE_COMMITS_MAX: u64 = 4;

/// The maximum number of items that a read with its own past state lacks: enough so that, for any number of keys, the
/// missing items reach back over more transactions than there are between those that share a key.
const STALE_ITEMS_MAX: u32 = 8;

/// The number of steps until a retry performs everything again: longer than an answer takes, so that clients may
/// already depend on the first result.
const RETRY_STEPS: usize = 8;

impl Store {
    pub(super) fn step_at_once(&mut self, slot: Slot, intent: Intent) -> Progress {
        let txn = &self.txns[index(slot)];
        let bug = txn.bug;
        if txn.steps > 0 {
            return self.step_after(slot, bug);
        }
        if intent == Intent::Abort {
            return REFUSED;
        }
        // Other transactions may still remove the items that they appended.
        if txn.asked.iter().any(|asked| asked.is_append() && self.lists.locked_to(asked.list, slot)) {
            return Progress::Again;
        }
        let read_only = txn.is_read_only();
        self.txns[index(slot)].steps = 1;
        if bug == Bug::AbortedRead && !read_only {
            for asked in self.txns[index(slot)].asked.iter().filter(|asked| asked.is_append()) {
                assert!(self.lists.lock(asked.list, slot));
            }
            self.append_all(slot);
            return Progress::Again;
        }
        self.execute(slot, bug, read_only);
        match bug {
            Bug::FalseFail if !read_only => REFUSED,
            Bug::DuplicateWrite if !read_only => Progress::Answer { ok: true, more: true },
            _ => DONE,
        }
    }

    /// Performs the later effects of some bugs.
    fn step_after(&mut self, slot: Slot, bug: Bug) -> Progress {
        match bug {
            Bug::DuplicateWrite if self.txns[index(slot)].steps < RETRY_STEPS => {
                self.txns[index(slot)].steps += 1;
                Progress::Again
            }
            Bug::DuplicateWrite => {
                self.append_all(slot);
                Progress::End
            }
            Bug::AbortedRead => {
                self.take_back(slot, self.txns[index(slot)].asked.len());
                self.unlock_all(slot);
                REFUSED
            }
            _ => unreachable!("{bug} has no later effects"),
        }
    }

    /// Performs all micro-operations, one after another, at this instant.
    fn execute(&mut self, slot: Slot, bug: Bug, read_only: bool) {
        let past = self.past(slot, bug, read_only);
        let now = self.lists.next_commit();
        for i in 0..self.txns[index(slot)].asked.len() {
            let Asked { list, action } = self.txns[index(slot)].asked[i];
            match action {
                Action::Append(value) => self.append_or_not(slot, bug, i, list, value),
                Action::Read(_) => {
                    let seen = match (past, bug) {
                        (Some(past), _) => Seen::Prefix(self.lists.len_at(list, past)),
                        (None, Bug::FutureRead) if appends_later(&self.txns[index(slot)], i) => {
                            // The next item of the list will be its own, at the same instant.
                            Seen::Prefix(self.lists.len(list) + 1)
                        }
                        (None, Bug::StaleKeys) => self.see_of_its_own(slot, i, list),
                        (None, Bug::PlantedG1c | Bug::PlantedGSingle) => self.see_planted(slot, list),
                        _ => self.see(slot, list),
                    };
                    self.txns[index(slot)].asked[i].action = Action::Read(seen);
                }
            }
        }
        let seen = &mut self.seen[index(self.txns[index(slot)].client)];
        *seen = past.unwrap_or(now).max(*seen);
    }

    /// The commit whose state a transaction reads, if it is not the latest one.
    pub(super) fn past(&mut self, slot: Slot, bug: Bug, read_only: bool) -> Option<Commit> {
        let seen = self.seen[index(self.txns[index(slot)].client)];
        match bug {
            Bug::StaleRead | Bug::SnapshotIsolation if read_only => Some(self.stale_commit()),
            Bug::SessionStale | Bug::SessionSnapshotIsolation if read_only => Some(self.stale_commit().max(seen)),
            // The state before the transaction's own commit.
            Bug::Internal => Some(self.lists.commit()),
            _ => None,
        }
    }

    /// The result of the i-th micro-operation if each list has its own past state: what the transaction read of the
    /// same list before or, if it also appends to the list, the current items, so that it does not contradict itself.
    fn see_of_its_own(&mut self, slot: Slot, i: usize, list: ListId) -> Seen {
        let txn = &self.txns[index(slot)];
        if txn.appends_to(list, txn.asked.len()) > 0 {
            return self.see(slot, list);
        }
        if let Some(earlier) = txn.asked[..i].iter().find(|asked| asked.list == list)
            && let Action::Read(seen) = earlier.action
        {
            return seen;
        }
        let len = self.lists.len(list);
        let len = len - small(self.rng.below(u64::from(len.min(STALE_ITEMS_MAX)) + 1));
        // Either all items of a commit are read or none.
        let whole = |before: u32| self.lists.len_at(list, self.lists.commits_from(list, before)[0]);
        Seen::Prefix(len.checked_sub(1).map_or(0, whole))
    }

    /// A commit that may have ended longer ago than a transaction takes.
    fn stale_commit(&mut self) -> Commit {
        let clients = wide(self.seen.len());
        self.lists.commit().saturating_sub(self.rng.between(1, STALE_COMMITS_MAX * clients))
    }

    fn append_or_not(&mut self, slot: Slot, bug: Bug, i: usize, list: ListId, value: i64) {
        let last = i + 1 == self.txns[index(slot)].asked.len();
        if bug == Bug::DroppedWrite && last {
            // No read of its own can follow, so only other transactions can observe this.
            return;
        }
        self.lists.append(list, value);
        if bug == Bug::ReorderedAppend {
            self.lists.swap_last(list);
        }
    }
}

/// Returns true if a transaction appends to the list of its i-th micro-operation after this one.
fn appends_later(txn: &Txn, i: usize) -> bool {
    let list = txn.asked[i].list;
    txn.asked[i + 1..].iter().any(|asked| asked.list == list && asked.is_append())
}
