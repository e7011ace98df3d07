//! Two sites, each with half of the clients, that exchange their transactions late.
//!
//! A transaction reads and commits at its client's site, at one instant: it observes the commits of this site, and
//! those of the other site up to the last exchange. It fails if the other site has appended to one of its lists and the
//! appended items are not visible to it. This is parallel snapshot isolation: transactions of one site are ordered, but
//! clients of different sites may observe two transactions in different orders.

use super::{DONE, REFUSED, Store};
use crate::ids::{index, small};
use crate::lists::mops::{Action, Seen};
use crate::lists::{Commit, ListId};
use crate::simulation::system::{Intent, Progress};
use crate::slot::Slot;

/// One of this number of transactions brings its site up to date.
const LAG: u64 = 16;

/// The site of each commit, and the commits that each site has received from the other.
#[derive(Default)]
pub(super) struct Sites {
    /// By site: the last commit up to which it has received those of the other site.
    heard: [Commit; 2],
    /// Commits after the older of `heard`, with their sites; ascending.
    recent: Vec<(Commit, usize)>,
}

impl Sites {
    /// Records that this site has received all commits up to the last one.
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

    /// Performs a transaction to which the bug does not apply: both sites are up to date with it.
    pub(super) fn step_at_both_sites(&mut self, slot: Slot, intent: Intent) -> Progress {
        let progress = self.step_at_once(slot, intent);
        for site in [0, 1] {
            self.sites.hear(site, self.lists.commit());
        }
        progress
    }

    /// The length of a list that this site observes. A transaction appends only to lists that it observes completely,
    /// so these are all commits up to the first one that is not visible.
    fn seen_at(&self, site: usize, list: ListId) -> u32 {
        let heard = self.lists.len_at(list, self.sites.heard[site]);
        let later = self.lists.commits_from(list, heard);
        heard + small(later.iter().take_while(|commit| self.sites.sees(site, **commit)).count())
    }
}
