//! Whether the versions of a key are in one order: only then does the absence of cycles prove anything.

use super::analysis::Registers;
use super::mop::{Mop, What};
use super::versions::Flags;
use super::within::Touch;
use crate::ids::{KeyId, TxnId, VersionId};
use crate::txn::analysis::Analysis as _;
use history_core::Datum;
use history_core::cast::Cast as _;

/// The mark of a version from which no path was followed yet.
const NEW: u32 = u32::MAX;

impl Registers {
    /// A key with two versions whose order is unknown, if there is one. Versions that were never read, and whose
    /// transactions may not have happened, do not count. At most O(versions + edges).
    ///
    /// In a share, all possible transactions count: another share may show that they happened.
    pub(super) fn unordered_key(&self) -> Option<Datum> {
        Counted { of: self, all: self.is_share() }.unordered_key().map(|key| self.key(key))
    }

    /// Returns true if it depends on other shares whether all keys are ordered.
    pub(super) fn order_depends_on_others(&self) -> bool {
        let is_ordered = |all: bool| Counted { of: self, all }.unordered_key().is_none();
        self.is_share() && is_ordered(false) && !is_ordered(true)
    }
}

/// The versions of a history that count for the order.
struct Counted<'a> {
    of: &'a Registers,
    /// Whether all possible transactions count.
    all: bool,
}

impl Counted<'_> {
    fn unordered_key(&self) -> Option<KeyId> {
        let mut longest = vec![NEW; self.of.versions.version.len()];
        (0..self.of.versions.key.len()).map(KeyId::new).find(|key| !self.is_ordered(*key, &mut longest))
    }

    /// Returns true if one path leads through all versions of a key that count.
    fn is_ordered(&self, key: KeyId, longest: &mut [u32]) -> bool {
        let versions = || self.of.touches.of_key(key).filter_map(Touch::write);
        let count = versions().filter(|version| self.counts(*version)).count().to_u32();
        count < 2 || versions().any(|version| self.longest_from(version, longest) == count)
    }

    fn counts(&self, version: VersionId) -> bool {
        let happened = self.of.versions.installer(version).is_some_and(|writer| self.happened(writer));
        happened || self.of.touches.readers(version).len() > 0
    }

    /// Returns true if a transaction counts or is known to have happened: it is `ok`, or some write of it was read.
    fn happened(&self, txn: TxnId) -> bool {
        let is_seen = |mop: &Mop| match mop.what() {
            What::Write(version) => self.of.versions.version[version.at()].flags.has(Flags::SEEN),
            What::Read(_) | What::Unseen => false,
        };
        self.all || self.of.txns.is_ok(txn) || self.of.txns.mops(txn).iter().any(is_seen)
    }

    /// The maximum number of versions that count on a path from this one. The order has no cycles.
    fn longest_from(&self, start: VersionId, longest: &mut [u32]) -> u32 {
        let mut path = vec![start];
        while let Some(&version) = path.last() {
            let after = self.of.order.after(version);
            let waiting = path.len();
            if longest[version.at()] == NEW {
                path.extend(after.iter().filter(|next| longest[next.at()] == NEW));
            }
            if path.len() > waiting {
                continue;
            }
            path.pop();
            if longest[version.at()] == NEW {
                let most = after.iter().map(|next| longest[next.at()]).max().unwrap_or(0);
                longest[version.at()] = most + u32::from(self.counts(version));
            }
        }
        longest[start.at()]
    }
}
