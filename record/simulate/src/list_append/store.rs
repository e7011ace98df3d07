//! The store under the list-append workload: what a transaction does at each of its steps.

use super::ListAppend;
use super::lists::Lists;
use super::mops::{Action, Asked, Mops, Seen};
use super::plan::Planner;
use crate::op::{Kind, Payload};
use crate::system::{Intent, Progress, Slot, System};

/// A transaction in flight.
#[derive(Default)]
struct Txn {
    asked: Vec<Asked>,
}

/// A store of lists, and the transactions it is asked for.
pub(crate) struct ListStore {
    lists: Lists,
    planner: Planner,
    txns: Vec<Txn>,
}

impl ListStore {
    pub(crate) fn new(parameters: &ListAppend) -> ListStore {
        let mut lists = Lists::default();
        let planner = Planner::new(parameters, &mut lists);
        ListStore { lists, planner, txns: Vec::new() }
    }

    /// Does all of a transaction at one instant.
    fn execute(&mut self, slot: Slot) {
        self.lists.commit += 1;
        for asked in &mut self.txns[slot as usize].asked {
            match &mut asked.action {
                Action::Append(value) => self.lists.append(asked.list, *value),
                Action::Read(seen) => *seen = Seen::Prefix(self.lists.len(asked.list)),
            }
        }
    }
}

impl System for ListStore {
    fn f(&self) -> &'static str {
        "txn"
    }

    fn plan(&mut self, slot: Slot, _client: u32) {
        if self.txns.len() == slot as usize {
            self.txns.push(Txn::default());
        }
        self.planner.plan(&mut self.lists, &mut self.txns[slot as usize].asked);
    }

    fn step(&mut self, slot: Slot, intent: Intent) -> Progress {
        if intent == Intent::Commit {
            self.execute(slot);
        }
        Progress::Answer { ok: intent == Intent::Commit, more: false }
    }

    fn payload(&self, slot: Slot, kind: Kind) -> Payload<'_> {
        Payload::Lists(Mops { asked: &self.txns[slot as usize].asked, lists: &self.lists, shown: kind == Kind::Ok })
    }

    fn release(&mut self, slot: Slot) {
        for asked in self.txns[slot as usize].asked.drain(..) {
            self.lists.let_go(asked.list);
        }
    }
}
