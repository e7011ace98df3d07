//! The store: processes each transaction in the way that its bug requires.
//!
//! For each key it stores the list of values written to it. If keys contain registers, reads return only the last item
//! of the list. So every bug is implemented once.

mod at_once;
mod by_key;
mod plan;
mod plant;
mod sites;
mod stepwise;

use super::bug::Bug;
use super::parameters::Transactions;
use super::workload::{Holds, Workload};
use crate::ids::{index, small};
use crate::lists::mops::{Action, Asked, Mops, Seen};
use crate::lists::registers::RegisterMops;
use crate::lists::{Commit, ListId, Lists};
use crate::op::{Kind, Payload};
use crate::rng::{Chance, Purpose, Rng};
use crate::simulation::system::{Intent, Progress, System};
use crate::slot::Slot;
use plan::Planner;
use plant::Plant;
use sites::Sites;

/// A transaction in flight.
#[derive(Default)]
struct Txn {
    asked: Vec<Asked>,
    /// The results of reads of lists that may change.
    copies: Vec<i64>,
    client: u32,
    /// The bug that applies to it.
    bug: Bug,
    /// The number of steps that advanced it.
    steps: usize,
    /// The number of steps in which it waited for locks.
    waits: u32,
    /// The commit whose state it reads, if it reads an earlier one.
    snapshot: Commit,
}

impl Txn {
    /// Returns true if it appends nothing.
    fn is_read_only(&self) -> bool {
        !self.asked.iter().any(|asked| asked.is_append())
    }

    /// The number of its first `until` micro-operations that append to a list.
    fn appends_to(&self, list: ListId, until: usize) -> u32 {
        small(self.asked[..until].iter().filter(|asked| asked.list == list && asked.is_append()).count())
    }
}

/// A store of lists, with the transactions in flight.
pub(crate) struct Store {
    lists: Lists,
    txns: Vec<Txn>,
    bug: Bug,
    rng: Rng,
    /// By client: the last commit that it can have observed.
    seen: Vec<Commit>,
    sites: Sites,
    plant: Option<Plant>,
    holds: Holds,
    planner: Planner,
    bug_rate: Chance,
}

/// The result of a step if the store refuses the transaction.
const REFUSED: Progress = Progress::Answer { ok: false, more: false };
/// The result of a step if the transaction is done.
const DONE: Progress = Progress::Answer { ok: true, more: false };

impl Store {
    pub(crate) fn new<W: Workload>(parameters: &Transactions<W>) -> Store {
        let mut lists = Lists::default();
        let planner = Planner::new(parameters, &mut lists);
        let plant = parameters.bug.is_planted().then(|| Plant::new(parameters.txns, &mut lists));
        Store {
            lists,
            planner,
            plant,
            holds: W::HOLDS,
            txns: Vec::new(),
            bug: parameters.bug,
            bug_rate: Chance::new(parameters.bug_rate.unwrap_or(parameters.bug.default_rate())),
            rng: Rng::new(parameters.seed, Purpose::Bug),
            seen: vec![0; index(parameters.clients)],
            sites: Sites::default(),
        }
    }

    /// The result of a read of the current list. It is copied if items may be removed or reordered before the client
    /// gets the answer.
    fn see(&mut self, slot: Slot, list: ListId) -> Seen {
        if self.lists.locked_to(list, slot) || self.bug == Bug::ReorderedAppend {
            let copies = &mut self.txns[index(slot)].copies;
            let from = small(copies.len());
            let items = &self.lists.get(list).items[..];
            // A read of a register returns only the last item.
            let shown = if self.holds == Holds::Registers { items.len().saturating_sub(1) } else { 0 };
            copies.extend_from_slice(&items[shown..]);
            return Seen::Copy { from, to: small(copies.len()) };
        }
        Seen::Prefix(self.lists.len(list))
    }

    /// Performs all appends of a transaction as one commit.
    fn append_all(&mut self, slot: Slot) {
        self.lists.next_commit();
        for asked in &self.txns[index(slot)].asked {
            if let Action::Append(value) = asked.action {
                self.lists.append(asked.list, value);
            }
        }
    }

    /// Removes the items that the first `until` micro-operations appended. The lists must be locked.
    fn take_back(&mut self, slot: Slot, until: usize) {
        for asked in &self.txns[index(slot)].asked[..until] {
            if asked.is_append() {
                assert!(self.lists.holds(asked.list, slot));
                self.lists.take_back(asked.list);
            }
        }
    }

    fn unlock_all(&mut self, slot: Slot) {
        for asked in &self.txns[index(slot)].asked {
            self.lists.unlock(asked.list, slot);
        }
    }
}

impl System for Store {
    fn f(&self, _: Slot) -> &'static str {
        "txn"
    }

    fn plan(&mut self, slot: Slot, client: u32) -> bool {
        if self.txns.len() == index(slot) {
            self.txns.push(Txn::default());
        }
        let txn = &mut self.txns[index(slot)];
        txn.client = client;
        txn.bug = if self.rng.happens(self.bug_rate) { self.bug } else { Bug::None };
        self.planner.plan(&mut self.lists, &mut txn.asked);
        self.plant.as_mut().is_some_and(|plant| plant.plan(txn, &mut self.lists))
    }

    fn step(&mut self, slot: Slot, intent: Intent) -> Progress {
        match self.txns[index(slot)].bug {
            Bug::StrongSnapshotIsolation | Bug::SessionSnapshotIsolation | Bug::SnapshotIsolation => {
                self.step_snapshot(slot, intent)
            }
            Bug::LostUpdate | Bug::CursorStability | Bug::ReadCommitted | Bug::ReadUncommitted => {
                self.step_locking(slot, intent)
            }
            Bug::LongFork => self.step_at_site(slot, intent),
            Bug::DirtyWrite => self.step_by_key(slot, intent),
            Bug::None if self.bug == Bug::LongFork => self.step_at_both_sites(slot, intent),
            _ => self.step_at_once(slot, intent),
        }
    }

    fn payload(&self, slot: Slot, kind: Kind) -> Payload<'_> {
        let txn = &self.txns[index(slot)];
        let mops = Mops { asked: &txn.asked, lists: &self.lists, copies: &txn.copies, shown: kind == Kind::Ok };
        match self.holds {
            Holds::Lists => Payload::Lists(mops),
            Holds::Registers => Payload::Registers(RegisterMops(mops)),
        }
    }

    fn release(&mut self, slot: Slot) {
        let txn = &mut self.txns[index(slot)];
        for asked in txn.asked.drain(..) {
            self.lists.let_go(asked.list);
        }
        txn.copies.clear();
        (txn.steps, txn.waits, txn.snapshot) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ListAppend;
    use crate::op::SimOp;
    use crate::simulation::clients::{Clients, Observer};
    use std::io;

    struct Nobody;
    impl Observer for Nobody {
        fn op(&mut self, _: &SimOp<'_>) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn memory_depends_on_clients_and_live_keys_only() {
        for bug in Bug::ALL {
            let parameters = ListAppend {
                txns: 20_000,
                bug,
                info_rate: 0.05,
                lost_rate: 0.05,
                writes_per_key_min: 1,
                writes_per_key_max: 8,
                ..ListAppend::default()
            };
            let mut store = Store::new(&parameters);
            Clients::new(parameters.load()).run(&mut store, &mut Nobody).unwrap();
            assert!(
                store.lists.room() < 150,
                "{bug}: {} lists for 32 live keys and some 5,000 in all",
                store.lists.room()
            );
            assert!(store.txns.len() < 60, "{bug}: {} transactions in flight for 20 clients", store.txns.len());
            assert!(store.txns.iter().all(|txn| txn.asked.is_empty()), "{bug}: no transaction is in flight at the end");
            assert!(store.sites.remembered() < 2000, "{bug}: {} commits", store.sites.remembered());
        }
    }
}
