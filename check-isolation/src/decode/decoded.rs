//! The data of a history after all ops were decoded.

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
    /// Whether no value is written to a key twice, so that violations of timestamps are certain immediately.
    pub(crate) distinct_values: bool,
}

/// The number of ops of each kind.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) ok: u64,
    pub(crate) fail: u64,
    pub(crate) info: u64,
}

impl Decoded {
    /// Returns true if an op that could not be decoded may also have written a version.
    pub(crate) fn is_unclear(&self, version: VersionId) -> bool {
        self.is_partial && self.unclear.binary_search(&version).is_ok()
    }

    /// Returns true if an op that could not be decoded may have written any value to a key.
    pub(crate) fn may_be_written(&self, key: KeyId) -> bool {
        self.writes_unknown || self.is_partial && self.unclear_keys.binary_search(&key).is_ok()
    }

    /// Why a row violates the assumption of distinct values, if so: it wrote a value to a key that another transaction,
    /// which may have happened, had written to it.
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

    /// The version that a read returns; for a list, the last element. `None` for the first state, or if it is unknown.
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
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub(crate) struct Decoded {
    pub(crate) settings: Settings,
    /// The code of the initial value of registers.
    pub(crate) initial: i64,
    pub(crate) interner: Interner,
    pub(crate) versions: Versions,
    pub(crate) rows: Rows,
    /// The results of the rows, as long as they are regular.
    pub(crate) seen: Seen,
    /// For each key of lists, the longest read.
    pub(crate) trunks: Vec<Vec<VersionId>>,
    /// Reads that are not prefixes of the longest read.
    pub(crate) contradictions: Vec<Contradiction>,
    pub(crate) holds: Option<Holds>,
    /// Whether ops are missing, since they could not be decoded.
    pub(crate) is_partial: bool,
    /// Whether later ops may write values that were read so far.
    pub(crate) is_beginning: bool,
    /// Whether the missing ops may have written anything: a value without a writer, or the initial value of a register.
    pub(crate) writes_unknown: bool,
    /// Whether the missing ops may have emptied a list.
    pub(crate) resets_unknown: bool,
    /// Whether some invocation has no process.
    pub(crate) has_nameless: bool,
    /// The writes of the missing ops, as far as these could be decoded; sorted.
    pub(crate) unclear: Vec<VersionId>,
    /// The keys of the micro-ops of the missing ops; sorted.
    pub(crate) unclear_keys: Vec<KeyId>,
    /// The index of the first op that may have happened and has micro-ops neither in its invocation nor in its
    /// completion: it may have written any value that no other op wrote.
    pub(crate) unsaid: Option<u64>,
    /// Ops whose read results are missing.
    pub(crate) unread: UnreadResults,
    pub(crate) counts: Counts,
    /// Whether the first `ok` transaction has timestamps.
    pub(crate) has_timestamps: bool,
}
