//! What is discarded if versions follow real time: see the proofs in [the parent](super).

use super::choice::Choice;
use super::judge::RegisterJudge;
use super::registers::{Version, VersionKind};
use crate::txn::online::named;
use crate::txn::online::time::{Gate, NONE, Txn};
use history_core::cast::Cast as _;

/// The maximum number of versions of a key whose pairs are all examined.
pub(super) const PAIRS_MAX: usize = 200;

/// The maximum number of unordered versions in a row, for keys with more versions than that: a larger group counts as
/// unordered.
const FREE_MAX: usize = 1_000;

impl RegisterJudge {
    /// Removes the dead versions of a key.
    pub(super) fn drop_dead(&mut self, key: u32) {
        if !self.assumed.linearizable_keys || self.registers.key(key).versions.len() < 2 {
            return;
        }
        let horizon = self.graph.horizon();
        let dead = self.dead(key, horizon);
        let mut by_number = dead.clone();
        by_number.sort_unstable();
        for version in &dead {
            // If some order is already lost, no more reads can help.
            if self.unordered.is_none() && !self.may_drop(*version, key, &by_number) {
                continue;
            }
            let Version { code, kind, is_repetition, .. } = *self.registers.version(*version);
            self.remove(*version);
            if kind != VersionKind::Initial && !is_repetition {
                self.registers.keep_value(key, code, |key| &mut key.dead);
            }
        }
    }

    /// Returns true if a dead version may be removed, as far as its order matters; `dead` are all of its key. A judge
    /// that chooses puts the version in order with them.
    fn may_drop(&mut self, version: u32, key: u32, dead: &[u32]) -> bool {
        let versions = &self.registers.key(key).versions;
        let open = versions.iter().copied().filter(|other| !self.are_ordered(version, *other));
        let (open, live): (Vec<u32>, Vec<u32>) = open.partition(|other| dead.binary_search(other).is_ok());
        let open: Vec<u32> = open.into_iter().filter(|other| !self.are_free(version, *other)).collect();
        match self.choice {
            Choice::Made(_) => self.choose(version, &open),
            // A later read may show the order.
            _ if !live.is_empty() || open.is_empty() => {}
            Choice::Later(_) => {
                self.choice = Choice::Later(true);
                return false;
            }
            Choice::None => _ = self.unordered.get_or_insert(self.registers.key(key).code),
        }
        live.is_empty()
    }

    /// The dead versions of a key, in an order that agrees with the known one.
    fn dead(&self, key: u32, horizon: Gate) -> Vec<u32> {
        let versions = &self.registers.key(key).versions;
        let mut dead: Vec<u32> = versions.iter().copied().filter(|version| self.is_dead(*version, horizon)).collect();
        dead.sort_unstable_by_key(|version| self.order.place(*version));
        dead
    }

    /// Returns true if any further read of the version would be a violation.
    fn is_dead(&self, version: u32, horizon: Gate) -> bool {
        let at = self.registers.version(version);
        let is_there = |version: &Version| version.since <= horizon;
        let is_over = at.writer == NONE || !self.graph.at(at.writer).is_open;
        // A read of a value that is not written yet counts at the end.
        let is_written = at.kind != VersionKind::Unwritten || self.assumed.rules.garbage_allowed;
        let is_replaced = |next: &u32| {
            let next = self.registers.version(*next);
            next.is_installed() && is_there(next)
        };
        is_written && is_there(at) && is_over && at.next.iter().any(is_replaced)
            || at.kind == VersionKind::Initial && at.next.iter().any(is_replaced)
    }

    /// Returns true if two versions of a key are in a known order, or one of them has no place in the order.
    pub(super) fn are_ordered(&self, version: u32, other: u32) -> bool {
        let (at, beside) = (self.registers.version(version), self.registers.version(other));
        let is_alone = version == other || !at.counts() || !beside.counts();
        is_alone || at.next.contains(&other) || at.before.contains(&other)
    }

    /// Returns true if the order of two versions does not matter, because neither was read: see [the parent](super).
    pub(super) fn are_free(&self, version: u32, other: u32) -> bool {
        self.graph.may_order_freely()
            && !self.registers.version(version).is_shown
            && !self.registers.version(other).is_shown
    }

    /// Returns true if a key's remaining versions are in one order, except for unread ones among each other.
    pub(super) fn is_ordered(&self, key: u32) -> bool {
        let counts = |version: &u32| self.registers.version(*version).counts();
        let mut versions: Vec<u32> = self.registers.key(key).versions.iter().copied().filter(counts).collect();
        if versions.len() <= PAIRS_MAX {
            return self.open_pairs_of(&versions).next().is_none();
        }
        versions.sort_unstable_by_key(|version| self.order.place(*version));
        let precede = |some: &[u32], later: u32| {
            some.iter().all(|version| self.registers.version(*version).next.contains(&later))
        };
        // Most follow each other; groups of unread ones are between them.
        let (mut before, mut rest) = (&[][..], &versions[..]);
        while !rest.is_empty() {
            let mut end = 1;
            while end < rest.len() && !precede(&rest[..end], rest[end]) {
                if end == FREE_MAX || !self.are_free(rest[0], rest[end]) {
                    return false;
                }
                end += 1;
            }
            let (free, later) = rest.split_at(end);
            if !free.iter().all(|version| precede(before, *version)) {
                return false;
            }
            (before, rest) = (free, later);
        }
        true
    }

    pub(super) fn forget_settled(&mut self) {
        for key in self.registers.all_keys().collect::<Vec<_>>() {
            self.drop_dead(key);
        }
        let mut live = self.live();
        live.sort_unstable_by(|a, b| b.cmp(a));
        let mut keep = vec![false; self.graph.txns.len()];
        self.graph.each_within(&live, &mut keep);
        for txn in &self.kept.given_up {
            keep[txn.to_usize()] = true;
        }
        for key in self.registers.all_keys().collect::<Vec<_>>() {
            for version in self.registers.key(key).versions.clone() {
                self.forget_who_had(version, &keep);
            }
        }
        let gone: Vec<u32> = self.graph.all().filter(|txn| !keep[txn.to_usize()]).collect();
        for txn in &gone {
            let Txn { done, floor, writes, .. } = self.graph.at(*txn);
            for version in writes {
                let version = self.registers.version_mut(*version);
                (version.done, version.writer, version.floor) = (*done, NONE, version.floor.max(*floor));
            }
        }
        self.graph.remove_all(&gone);
    }

    /// Discards readers of a version, but keeps their greatest floor.
    fn forget_who_had(&mut self, version: u32, keep: &[bool]) {
        let at = self.registers.version_mut(version);
        let (graph, floor) = (&self.graph, &mut at.floor);
        at.readers.retain(|txn| {
            if !keep[txn.to_usize()] {
                *floor = graph.at(*txn).floor.max(*floor);
            }
            keep[txn.to_usize()]
        });
    }

    /// The transactions to which a later event may add an edge, each with the gate to which it leads.
    fn live(&mut self) -> Vec<(Gate, u32)> {
        let mut live = self.graph.late();
        for key in self.registers.all_keys() {
            let versions = self.registers.key(key).versions.iter().map(|version| self.registers.version(*version));
            let written = versions.filter(|version| version.kind != VersionKind::Initial);
            if written.clone().count() > 1 {
                live.extend(written.map(|version| version.writer).filter(|writer| *writer != NONE));
            }
        }
        self.graph.gates(live)
    }

    /// Drops keys that were last named before the op `op`, until at most `values` values are left.
    pub(super) fn drop_idle_keys(&mut self, op: u64, values: usize) {
        let keys = self.registers.all_keys().map(|key| (key, self.registers.key(key).named));
        for key in named::idle(keys, op) {
            if self.registers.len() <= values {
                break;
            }
            let versions = self.registers.key(key).versions.clone();
            let is_in_use = |version: &u32| {
                let writer = self.registers.version(*version).writer;
                writer != NONE && self.graph.at(writer).is_open
            };
            if versions.iter().any(is_in_use) {
                continue;
            }
            self.choose_all(key);
            if !self.is_ordered(key) {
                self.unordered.get_or_insert(self.registers.key(key).code);
            }
            for version in versions {
                self.remove(version);
            }
            self.registers.drop_key(key);
        }
    }
}
