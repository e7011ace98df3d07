//! The walk: follows the replaced versions, from a version that was just shown, back to the chain.

use super::Registers;
use crate::engine::ids;
use crate::versioned_register::findings::Kind;
use crate::versioned_register::ops::Seen;
use crate::versioned_register::packed::Packed;
use crate::versioned_register::versions::{KeyId, State, VersionId, flag};
use history_core::HistoryError;

/// The end of a walk along the replaced versions.
#[derive(Clone, Copy)]
enum End {
    Chain(VersionId),
    /// A version that no write has proposed so far, and its row if there is one.
    Root(Packed, Option<VersionId>),
    Cycle(VersionId),
    Condemned,
}

impl Registers {
    /// Records that a completion shows this version.
    #[inline]
    pub(crate) fn observe(&mut self, version: VersionId, seen: Seen) -> Result<(), HistoryError> {
        let row = &mut self.versions[version];
        if !row.has(flag::OBSERVED) {
            row.flags |= flag::OBSERVED | if seen.is_read { flag::READ_FIRST } else { 0 };
            (row.first, row.observer) = (seen.at, seen.client);
        }
        let state = row.state;
        if let Some(by_time) = &mut self.by_time {
            by_time.observe(version, seen);
        }
        if state == State::Idle { self.walk(version, seen) } else { Ok(()) }
    }

    /// Follows the replaced versions back to the chain and, if they lead to its head, adds them to it. Every version is
    /// visited once, and then accepted or condemned.
    pub(crate) fn walk(&mut self, tip: VersionId, seen: Seen) -> Result<(), HistoryError> {
        let key = self.versions[tip].key;
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        let end = self.find_end(tip, &mut path);
        let head = self.register(key).head;
        let fits = match end {
            End::Chain(version) => version == head,
            End::Root(id, row) if head == VersionId::NONE => {
                let root = match row {
                    Some(row) => row,
                    None => self.insert(key, id)?,
                };
                self.begin(key, root);
                let register = self.register_mut(key);
                (register.inferred, register.inferred_id) = (root, Some(id));
                self.compare_initial(key, root);
                true
            }
            _ => false,
        };
        for version in path.iter().rev() {
            if self.versions[*version].has(flag::FAILED) {
                self.report(key, Kind::FailedWriteObserved, |explainer| {
                    explainer.failed_write_observed(*version, Some((tip, seen)))
                });
            }
        }
        if fits {
            self.accept(key, &path);
        } else {
            self.refuse(key, &path, end, seen);
            for version in &path {
                self.versions[*version].state = State::Condemned;
            }
        }
        self.path = path;
        Ok(())
    }

    fn find_end(&mut self, tip: VersionId, path: &mut Vec<VersionId>) -> End {
        let mut at = tip;
        loop {
            let row = &mut self.versions[at];
            match row.state {
                State::Accepted | State::Old => return End::Chain(at),
                State::Condemned => return End::Condemned,
                State::OnPath => return End::Cycle(at),
                State::Idle if !row.has(flag::PROPOSED) => return End::Root(row.id, Some(at)),
                State::Idle => {
                    row.state = State::OnPath;
                    path.push(at);
                    let (key, prev) = (row.key, row.prev);
                    match self.versions.find(key, prev) {
                        Some(prev) => at = prev,
                        None => return End::Root(prev, None),
                    }
                }
            }
        }
    }

    fn accept(&mut self, key: KeyId, path: &[VersionId]) {
        let register = &mut self.all[ids::index(key.0)];
        for version in path.iter().rev() {
            self.versions[register.head].next = *version;
            register.head = *version;
            register.head_place += 1;
            let row = &mut self.versions[*version];
            (row.state, row.place) = (State::Accepted, register.head_place);
        }
        let Some(window) = self.settings.window else { return };
        if self.keeps_all {
            return;
        }
        while register.head_place - register.oldest_place >= window {
            let oldest = register.oldest;
            let row = &mut self.versions[oldest];
            register.oldest = row.next;
            register.oldest_place += 1;
            self.has_forgotten = true;
            if row.has(flag::OPEN) {
                row.state = State::Old;
                row.next = VersionId::NONE;
            } else {
                self.versions.remove(oldest);
            }
        }
    }

    /// Reports an observed version that does not lead to the head.
    fn refuse(&mut self, key: KeyId, path: &[VersionId], end: End, seen: Seen) {
        match (end, path) {
            (End::Chain(fork), [tip, ..]) => {
                self.report(key, Kind::LostUpdate, |explainer| explainer.lost_update(fork, path, *tip, seen));
            }
            (End::Root(_, Some(version)), []) => {
                self.versions[version].state = State::Condemned;
                // Whether a later write proposes the version is known only at the end.
                self.garbage.push(version);
            }
            (End::Root(id, _), [.., first]) => {
                self.report(key, Kind::UnknownVersion, |explainer| explainer.unknown_version(id, *first, path, seen));
            }
            (End::Cycle(version), _) => {
                self.report(key, Kind::CyclicVersions, |explainer| explainer.cyclic_versions(version, path, seen));
            }
            (End::Condemned | End::Chain(_) | End::Root(..), _) => {}
        }
    }
}
