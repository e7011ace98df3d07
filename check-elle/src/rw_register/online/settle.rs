//! Orders versions that no source orders, for a verdict that needs an order: at the end, and, in a judge that chooses
//! ([`crate::txn::online::witness`]), before they are discarded.
//!
//! All readers and writers of the first version then lead to the writer of the second. As long as this closes no cycle,
//! the history satisfies an order of transactions with this order of versions: see [the parent](super). If both orders
//! of two versions close a cycle, they are left unordered, because the order of other versions may be the cause.

use super::choice::Choice;
use super::forget::PAIRS_MAX;
use super::judge::RegisterJudge;
use crate::txn::online::judge::{Stop, Violation};
use crate::txn::online::time::{End, Gate, NEVER, NONE};

/// The number of gates within which a version counts as recent. After half of them, no event is expected to order it.
const LATE: Gate = 4_000;

/// The result of ordering two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placed {
    Yes,
    /// Both orders are possible.
    Not,
    /// No order is possible.
    Never,
}

impl RegisterJudge {
    /// Orders the versions of each key, if nothing is violated and real-time gates are numbers: first those for which
    /// only one order is possible, then the others, by the time of their writes.
    pub(super) fn put_all_in_order(&mut self) {
        if !self.graph.has_floors || self.graph.leaves_out || self.findings.goes_on {
            return;
        }
        let mut pairs = self.open_pairs();
        pairs.sort_by_cached_key(|(a, b)| [*a, *b].map(|version| self.middle(self.end(version))).into_iter().max());
        for is_choice in [false, false, true] {
            pairs.retain(|(a, b)| self.put_in_order(*a, *b, is_choice) != Placed::Yes);
        }
    }

    /// Orders recent versions that existed before all transactions in flight, if only one order is possible, or in any
    /// order if they have existed for long. Records a key if two of its versions have no possible order.
    pub(super) fn settle_late(&mut self) {
        let horizon = self.graph.horizon();
        let late = horizon.saturating_sub(LATE)..=horizon;
        let mut pairs = Vec::new();
        let mut versions = Vec::new();
        for key in self.registers.all_keys() {
            let all = &self.registers.key(key).versions;
            versions.clear();
            versions
                .extend(all.iter().copied().filter(|version| late.contains(&self.registers.version(*version).since)));
            if versions.len() <= PAIRS_MAX {
                pairs.extend(self.open_pairs_of(&versions));
            }
        }
        for (a, b) in pairs {
            let since = [a, b].map(|version| self.registers.version(version).since);
            let is_quiet = since.iter().all(|since| horizon - since > LATE / 2);
            if self.put_in_order(a, b, is_quiet) == Placed::Never {
                self.unordered.get_or_insert(self.registers.key(self.registers.version(a).key).code);
            }
        }
    }

    /// Pairs of versions of each key in no known order, where the order matters.
    fn open_pairs(&self) -> Vec<(u32, u32)> {
        let keys = self.registers.all_keys().map(|key| &self.registers.key(key).versions[..]);
        keys.filter(|versions| versions.len() <= PAIRS_MAX).flat_map(|versions| self.open_pairs_of(versions)).collect()
    }

    /// The same for versions of one key.
    pub(super) fn open_pairs_of(&self, versions: &[u32]) -> impl Iterator<Item = (u32, u32)> {
        let pairs = move |at: usize| versions[at + 1..].iter().map(move |other| (versions[at], *other));
        let pairs = (0..versions.len()).flat_map(pairs);
        pairs.filter(|(a, b)| !self.are_ordered(*a, *b) && !self.are_free(*a, *b))
    }

    /// Puts two versions in an order that closes no cycle, if only one does, or if a `choice` may be made.
    fn put_in_order(&mut self, a: u32, b: u32, is_choice: bool) -> Placed {
        let (version, later) = match (self.may_precede(a, b), self.may_precede(b, a)) {
            (true, false) => (a, b),
            (false, true) => (b, a),
            (true, true) if is_choice && self.is_first(a, b) => (a, b),
            (true, true) if is_choice => (b, a),
            (true, true) => return Placed::Not,
            (false, false) => return Placed::Never,
        };
        let placed = self.precede(version, later);
        let is_cycle = matches!(placed, Err(Stop::Violated(Violation { direct: None, .. })));
        debug_assert!(!is_cycle, "cycles were searched for before");
        // Versions without a writer may be between them.
        if placed.is_ok() && !self.graph.leaves_out { Placed::Yes } else { Placed::Never }
    }

    /// In a judge that chooses: a transaction that begins after another is known to be over follows all of that one's
    /// writes.
    pub(super) fn place_shown(&mut self, writer: u32) {
        if matches!(self.choice, Choice::Made(_)) {
            let gate = self.graph.at(writer).done;
            for version in self.graph.at(writer).writes.clone() {
                let version = self.registers.version_mut(version);
                version.since = gate.min(version.since);
            }
        }
    }

    /// Does the same for all transactions when the judge starts to choose, and adds the orders that follow.
    pub(super) fn place_all_shown(&mut self) {
        for txn in self.graph.all().collect::<Vec<_>>() {
            self.place_shown(txn);
        }
        for key in self.registers.all_keys().collect::<Vec<_>>() {
            let versions = self.registers.key(key).versions.clone();
            for version in &versions {
                let at = self.registers.version_mut(*version);
                if at.writer == NONE && at.is_installed() {
                    at.since = at.since.min(at.done);
                }
            }
            for (version, later) in
                versions.iter().flat_map(|version| versions.iter().map(move |later| (*version, *later)))
            {
                let is_first = self
                    .registers
                    .version(later)
                    .until
                    .is_some_and(|until| self.registers.version(version).since <= until);
                if is_first && self.precede(version, later).is_err() {
                    self.unordered.get_or_insert(self.registers.key(key).code);
                }
            }
        }
    }

    /// Puts a version in some order with each of these. Records the key if there is none.
    pub(super) fn choose(&mut self, version: u32, others: &[u32]) {
        for other in others {
            if self.put_in_order(version, *other, true) == Placed::Never {
                self.unordered.get_or_insert(self.registers.key(self.registers.version(version).key).code);
            }
        }
    }

    /// Puts the versions of a key in some order, if the judge chooses.
    pub(super) fn choose_all(&mut self, key: u32) {
        let versions = &self.registers.key(key).versions;
        if matches!(self.choice, Choice::Made(_)) && versions.len() <= PAIRS_MAX {
            for (version, other) in self.open_pairs_of(versions).collect::<Vec<_>>() {
                self.choose(version, &[other]);
            }
        }
    }

    /// Returns true if `version` is to be first. That is the one whose readers have the most time to read it before the
    /// other one is written; if this choice is reversed, the other one.
    fn is_first(&mut self, version: u32, other: u32) -> bool {
        let time = |version: u32, other: u32| {
            let last = self.registers.version(version).readers.iter().map(|reader| self.graph.end(*reader));
            let last = last.chain([self.end(version)]).map(|end| self.middle(end)).max().unwrap_or_default();
            i128::from(self.middle(self.end(other))) - i128::from(last)
        };
        let is_first = time(version, other) >= time(other, version);
        let Choice::Made(before) = &mut self.choice else { return is_first };
        let is_turned = self.turned.contains(before);
        *before += 1;
        is_first != is_turned
    }

    /// Twice the estimated gate of a transaction.
    fn middle(&self, end: End) -> u64 {
        end.floor.max(end.after).saturating_add(end.done.min(self.graph.next()))
    }

    /// Returns true if a version can precede another one.
    fn may_precede(&self, version: u32, later: u32) -> bool {
        let (at, own) = (self.registers.version(version), self.end(version));
        let readers = at.readers.iter().map(|reader| self.graph.end(*reader));
        let forgotten = End { txn: NONE, after: 0, done: NEVER, floor: at.floor, index: u64::MAX };
        let forgotten = Some(forgotten).filter(|end| end.floor > 0);
        let from: Vec<End> = readers.chain(forgotten).chain(at.is_installed().then_some(own)).collect();
        !self.graph.would_close(&from, self.end(later))
    }
}
