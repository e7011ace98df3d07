//! Two sites, each with half of the clients, that exchange their transactions late.
//!
//! A transaction reads and commits at its client's site, at one instant: it sees what committed there, and what
//! committed at the other site up to the last time that the two spoke. It fails if the other site has appended to a
//! list of its own that it cannot see. This is parallel snapshot isolation: transactions of one site are ordered, but
//! clients of different sites may see two transactions in different orders.

use super::{DONE, REFUSED, Store};
use crate::ids::{index, small};
use crate::lists::mops::{Action, Seen};
use crate::lists::{Commit, ListId};
use crate::simulation::system::{Intent, Progress};
use crate::slot::Slot;

/// One transaction in so many brings its site up to date.
const LAG: u64 = 16;

/// Which site committed what, and what each knows of the other.
#[derive(Default)]
pub(super) struct Sites {
    /// For each site, up to which commit it has heard of those of the other.
    heard: [Commit; 2],
    /// Commits after the older of `heard`, with their sites; ascending.
    recent: Vec<(Commit, usize)>,
}

impl Sites {
    /// This site hears of all commits up to the last.
    fn hear(&mut self, site: usize, commit: Commit) {
        self.heard[site] = commit;
        let old = self.heard[0].min(self.heard[1]);
        self.recent.retain(|(commit, _)| *commit > old);
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.recent.len()
    }

    fn sees(&self, site: usize, commit: Commit) -> bool {
        let ours = |commit| self.recent.binary_search(&(commit, site)).is_ok();
        commit <= self.heard[site] || ours(commit)
    }
}

impl Store {
    pub(super) fn step_at_site(&mut self, slot: Slot, intent: Intent) -> Progress {
        let site = index(self.txns[index(slot)].client % 2);
        if self.rng.below(LAG) == 0 {
            self.sites.hear(site, self.lists.commit());
        }
        let count = self.txns[index(slot)].asked.len();
        let hidden = |i: &usize| {
            let asked = self.txns[index(slot)].asked[*i];
            asked.is_append() && self.seen_at(site, asked.list) < self.lists.len(asked.list)
        };
        if intent == Intent::Abort || (0..count).any(|i| hidden(&i)) {
            return REFUSED;
        }
        for i in 0..count {
            let asked = self.txns[index(slot)].asked[i];
            if let Action::Read(_) = asked.action {
                let len = self.seen_at(site, asked.list) + self.txns[index(slot)].appends_to(asked.list, i);
                self.txns[index(slot)].asked[i].action = Action::Read(Seen::Prefix(len));
            }
        }
        self.append_all(slot);
        self.sites.recent.push((self.lists.commit(), site));
        DONE
    }

    /// A transaction that the bug does not apply to: both sites are brought up to date with it.
    pub(super) fn step_at_both_sites(&mut self, slot: Slot, intent: Intent) -> Progress {
        let progress = self.step_at_once(slot, intent);
        for site in [0, 1] {
            self.sites.hear(site, self.lists.commit());
        }
        progress
    }

    /// How much of a list this site sees. Whoever appends sees all that is there, so this is all of its commits up to
    /// the first hidden one.
    fn seen_at(&self, site: usize, list: ListId) -> u32 {
        let heard = self.lists.len_at(list, self.sites.heard[site]);
        let later = self.lists.commits_from(list, heard);
        heard + small(later.iter().take_while(|commit| self.sites.sees(site, **commit)).count())
    }
}
