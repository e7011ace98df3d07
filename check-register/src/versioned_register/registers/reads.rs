//! Reads: compares the version that a read returned with the versions that it could have returned.

use super::Registers;
use crate::versioned_register::findings::Kind;
use crate::versioned_register::ops::{Read, ReadOp, Seen};
use crate::versioned_register::register::Doubt;
use crate::versioned_register::versions::{At, KeyId, NO_READ, State, VersionId, flag};
use history_core::HistoryError;

impl Registers {
    /// The place of a version that was known before `invoked`, for a read of `id`: a version newer than the one read,
    /// if such a version was known.
    ///
    /// Visits the newer versions, up to the first one that was known. If the read is not stale, these were added while
    /// it was in flight.
    pub(crate) fn known_before(&mut self, key: KeyId, read: &Read, invoked: At, index: u64) -> u32 {
        let register = self.register(key);
        let (mut at, mut is_whole) = (register.oldest, register.oldest_place == 0);
        if let Some(version) = self.versions.find(key, read.id) {
            let row = &self.versions[version];
            // The successors of an old version may have been discarded.
            is_whole |= row.state != State::Old || row.place + 1 == register.oldest_place;
            at = if row.state == State::Accepted { row.next } else { at };
        }
        while at != VersionId::NONE {
            let row = &self.versions[at];
            if row.has(flag::OBSERVED) && self.order.is_before(row.first, invoked) {
                return row.place;
            }
            at = row.next;
        }
        if !is_whole {
            self.register_mut(key).doubt.get_or_insert(Doubt::Forgotten { id: read.id, index });
        }
        0
    }

    /// Processes a read.
    pub(crate) fn read(&mut self, key: KeyId, read: &Read, seen: Seen) -> Result<(), HistoryError> {
        let register = self.register(key);
        if register.stopped {
            return Ok(());
        }
        let op = ReadOp { seen, invoked: read.invoked, id: read.id, value: read.value };
        let version = match self.versions.find(key, read.id) {
            Some(version) => version,
            None if register.oldest_place == 0 => self.insert(key, read.id)?,
            // If the version was ever in the chain, a newer one was known when the read began.
            None if read.head_at >= register.oldest_place => {
                self.report(key, Kind::UnknownVersion, |explainer| explainer.unknown_read(&op));
                return Ok(());
            }
            None => {
                let doubt = Doubt::Forgotten { id: read.id, index: seen.at.index };
                self.register_mut(key).doubt.get_or_insert(doubt);
                return Ok(());
            }
        };
        self.compare(version, &op);
        self.observe(version, seen)?;
        let row = &mut self.versions[version];
        if let Some(invoked) = read.invoked {
            if row.last_read_index == NO_READ || row.last_read.index < invoked.index {
                (row.last_read, row.last_read_index, row.reader) = (invoked, seen.at.index, seen.client);
            }
            if let Some(by_time) = &mut self.by_time {
                by_time.read(version, invoked, seen);
            }
        }
        if matches!(row.state, State::Accepted | State::Old) && row.place < read.head_at {
            self.report(key, Kind::StaleRead, |explainer| explainer.stale_read(version, &op));
        }
        Ok(())
    }

    /// Compares the value that a read returned with the value of the version.
    fn compare(&mut self, version: VersionId, op: &ReadOp) {
        let row = &mut self.versions[version];
        let key = row.key;
        if !row.has(flag::VALUED) {
            row.value = op.value;
            row.flags |= flag::VALUED;
            self.compare_initial(key, version);
        } else if row.value != op.value {
            let row = &self.versions[version];
            // The value of a version that was not written comes from a read or from an option.
            let before = (!row.has(flag::PROPOSED)).then(|| ReadOp::first_of(row, row.value));
            self.report(key, Kind::WrongValue, |explainer| explainer.wrong_value(version, before.as_ref(), op));
        }
    }

    /// Compares the value of the initial version with the one that the user gave.
    pub(crate) fn compare_initial(&mut self, key: KeyId, version: VersionId) {
        let row = &self.versions[version];
        if self.register(key).inferred == version
            && row.has(flag::VALUED)
            && self.settings.initial_value.is_some_and(|value| value != row.value)
        {
            self.report(key, Kind::WrongInitialValue, |explainer| explainer.wrong_initial_value(version));
        }
    }
}
