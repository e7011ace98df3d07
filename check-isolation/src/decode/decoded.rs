//! The data of a history once all ops were decoded.

use super::rows::Rows;
use super::seen::Seen;
use super::versions::{VersionId, Versions};
use super::{Contradiction, Holds, Mop, Row, What};
use crate::ids::KeyId;
use crate::level::Level;
use history_core::cast::Cast as _;
use history_core::{Datum, Interner, OpKind, UnreadResults};

/// The options of a check.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The levels to decide; all, if none were named.
    pub(crate) levels: Vec<Level>,
    pub(crate) initial: Datum,
    pub(crate) witnesses_max: usize,
    /// Whether to print the order that explains a level that holds.
    pub(crate) explain_valid: bool,
    /// Whether to check against the timestamps of the store.
    pub(crate) timestamps: bool,
    /// Whether no value is written to a key twice, so that violations of timestamps are certain at once.
    pub(crate) distinct_values: bool,
}

/// How many ops of each kind there were.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) ok: u64,
    pub(crate) fail: u64,
    pub(crate) info: u64,
}

impl Decoded {
    /// Whether an op that could not be decoded may have written a version, too.
    pub(crate) fn is_unclear(&self, version: VersionId) -> bool {
        self.is_partial && self.unclear.binary_search(&version).is_ok()
    }

    /// Whether an op that could not be decoded may have written something to a key that is not known.
    pub(crate) fn may_be_written(&self, key: KeyId) -> bool {
        self.writes_unknown || self.is_partial && self.unclear_keys.binary_search(&key).is_ok()
    }

    /// A value that a transaction wrote to a key, as another one that may have happened had: what nobody may do if
    /// values are distinct.
    pub(super) fn twice(&self, row: Row) -> Option<String> {
        let rows = &self.rows;
        for mop in rows.mops(row).iter().filter(|_| rows.kind(row) != OpKind::Fail) {
            let What::Write(version) = mop.what() else { continue };
            let version = self.versions.get(version);
            let (writer, again) = (version.writer, version.again);
            let other = [writer, again].into_iter().find(|other| *other != Row::NONE && *other != row);
            if let Some(other) = other.filter(|other| rows.kind(*other) != OpKind::Fail) {
                return Some(format!(
                    "the op writes a value to a key as the one at index {} had: values are said to be distinct",
                    rows.index(other)
                ));
            }
        }
        None
    }

    /// What a read shows: of a list, the last element. None if that is the first state, or not known.
    pub(crate) fn version_read(&self, read: Mop) -> Option<VersionId> {
        match read.what() {
            What::Read(length) if self.holds == Some(Holds::Lists) => {
                let last = length.to_usize().checked_sub(1)?;
                self.trunks[read.key.at()].get(last).copied()
            }
            What::Read(number) => Some(number.into()),
            _ => None,
        }
    }
}

/// A history as columns.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Decoded {
    pub(crate) settings: Settings,
    /// The code of the initial value of registers.
    pub(crate) initial: i64,
    pub(crate) interner: Interner,
    pub(crate) versions: Versions,
    pub(crate) rows: Rows,
    /// What these show, as far as that is plain.
    pub(crate) seen: Seen,
    /// For each key of lists, the longest read.
    pub(crate) trunks: Vec<Vec<VersionId>>,
    /// Reads that contradict these.
    pub(crate) contradictions: Vec<Contradiction>,
    pub(crate) holds: Option<Holds>,
    /// Whether ops are missing, since they could not be decoded.
    pub(crate) is_partial: bool,
    /// Whether ops that follow may write what was read so far.
    pub(crate) is_beginning: bool,
    /// Whether these may have written anything: a value that nobody wrote, or what a register held at first.
    pub(crate) writes_unknown: bool,
    /// Whether they may have made a list empty again.
    pub(crate) resets_unknown: bool,
    /// Whether some invocation has no process.
    pub(crate) has_nameless: bool,
    /// What these wrote, as far as that could be decoded: in order.
    pub(crate) unclear: Vec<VersionId>,
    /// The keys of their micro-ops: in order.
    pub(crate) unclear_keys: Vec<KeyId>,
    /// The index of the first op that may have happened and says at neither end what it does: it may have written
    /// anything that no other op wrote.
    pub(crate) unsaid: Option<u64>,
    /// Those that do not say what they read.
    pub(crate) unread: UnreadResults,
    pub(crate) counts: Counts,
    /// Whether the first `ok` transaction has timestamps.
    pub(crate) has_timestamps: bool,
}
