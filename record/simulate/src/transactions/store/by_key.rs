//! Transactions that are performed key by key: all micro-operations on one key happen at one instant, with other
//! transactions between the keys.

use super::{DONE, REFUSED, Store};
use crate::ids::index;
use crate::lists::mops::{Action, Asked};
use crate::simulation::system::{Intent, Progress};
use crate::slot::Slot;

impl Store {
    pub(super) fn step_by_key(&mut self, slot: Slot, intent: Intent) -> Progress {
        if intent == Intent::Abort {
            return REFUSED;
        }
        // `steps` is the position of the first micro-operation on a list that is not finished.
        let at = self.txns[index(slot)].steps;
        let count = self.txns[index(slot)].asked.len();
        let list = self.txns[index(slot)].asked[at].list;
        self.lists.next_commit();
        for i in at..count {
            match self.txns[index(slot)].asked[i] {
                Asked { list: other, .. } if other != list => {}
                Asked { action: Action::Append(value), .. } => self.lists.append(list, value),
                Asked { action: Action::Read(_), .. } => {
                    let seen = self.see(slot, list);
                    self.txns[index(slot)].asked[i].action = Action::Read(seen);
                }
            }
        }
        let asked = &self.txns[index(slot)].asked;
        let is_new = |i: &usize| !asked[..*i].iter().any(|earlier| earlier.list == asked[*i].list);
        match (at + 1..count).find(is_new) {
            Some(next) => {
                self.txns[index(slot)].steps = next;
                Progress::Again
            }
            None => DONE,
        }
    }
}
