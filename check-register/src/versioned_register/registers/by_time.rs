//! The first completion and the last read of each version, by time. The rows of versions contain them only in the order
//! of the file.

use crate::versioned_register::ops::Seen;
use crate::versioned_register::versions::{At, NO_READ, NO_TIME, VersionId, Versions, flag};

/// First completions and last reads by time, one row per version.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByTime {
    first: Vec<Option<Seen>>,
    /// The invocation and the completion.
    last_read: Vec<Option<(At, Seen)>>,
}

impl ByTime {
    /// Copies the data that was recorded while the file was in the order of the times.
    pub(crate) fn new(versions: &Versions) -> ByTime {
        let mut by_time = ByTime::default();
        for version in versions.ids() {
            by_time.reset(version, versions);
        }
        by_time
    }

    pub(crate) fn reset(&mut self, version: VersionId, versions: &Versions) {
        self.first.resize(versions.rows().max(self.first.len()), None);
        self.last_read.resize(self.first.len(), None);
        let row = &versions[version];
        let seen = Seen { at: row.first, client: row.observer, is_read: row.has(flag::READ_FIRST) };
        self.first[version.at()] = row.has(flag::OBSERVED).then_some(seen);
        self.last_read[version.at()] = last_read(versions, version);
    }

    /// The first completion and the last read of a version. A first version that only a prev-id names has neither, and
    /// perhaps no row.
    pub(crate) fn get(&self, version: VersionId) -> (Option<Seen>, Option<(At, Seen)>) {
        let at = version.at();
        (self.first.get(at).copied().flatten(), self.last_read.get(at).copied().flatten())
    }

    pub(crate) fn observe(&mut self, version: VersionId, seen: Seen) {
        let first = &mut self.first[version.at()];
        if first.is_none_or(|first| seen.at.time_ns < first.at.time_ns) {
            *first = Some(seen);
        }
    }

    pub(crate) fn read(&mut self, version: VersionId, invoked: At, seen: Seen) {
        let last = &mut self.last_read[version.at()];
        if last.is_none_or(|(last, _)| invoked.time_ns >= last.time_ns) {
            *last = Some((invoked, seen));
        }
    }
}

/// The last read of a version, from its row: the invocation and the completion.
pub(crate) fn last_read(versions: &Versions, version: VersionId) -> Option<(At, Seen)> {
    let row = &versions[version];
    // The time of the completion is not stored, because it is not needed.
    let at = At { index: row.last_read_index, time_ns: NO_TIME };
    let seen = Seen { at, client: row.reader, is_read: true };
    (row.last_read_index != NO_READ).then_some((row.last_read, seen))
}
