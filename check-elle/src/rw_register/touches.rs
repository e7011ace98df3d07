//! The accesses of transactions to keys, by transaction, by key and by version.

use super::versions::Versions;
use super::within::Touch;
use crate::ids::{KeyId, TxnId, VersionId};
use history_core::cast::Cast as _;

/// All touches, in the order of their transactions, with indices.
#[derive(Debug, Default)]
pub(crate) struct Touches {
    all: Vec<Touch>,
    /// The external readers of each version.
    readers: Groups,
    /// Positions in `all`, by key.
    of_key: Groups,
}

/// Numbers in groups, each group in ascending order.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// Nondecreasing; its last entry is `members.len()`.
    start: Vec<u32>,
    members: Vec<u32>,
}

impl Groups {
    /// A counting sort. O(groups + members).
    pub(super) fn new(groups: usize, members: impl Iterator<Item = (usize, u32)> + Clone) -> Groups {
        let mut start = vec![0u32; groups + 1];
        for (group, _) in members.clone() {
            start[group] += 1;
        }
        let mut total = 0;
        for count in &mut start {
            total += std::mem::replace(count, total);
        }
        let mut sorted = vec![0; total.to_usize()];
        let mut next = start.clone();
        for (group, member) in members {
            sorted[next[group].to_usize()] = member;
            next[group] += 1;
        }
        Groups { start, members: sorted }
    }

    #[inline]
    pub(super) fn of(&self, group: usize) -> &[u32] {
        &self.members[self.start[group].to_usize()..self.start[group + 1].to_usize()]
    }
}

impl Touches {
    /// O(touches + versions).
    pub(crate) fn new(all: Vec<Touch>, versions: &Versions) -> Touches {
        debug_assert!(all.is_sorted_by_key(|touch| touch.txn));
        let reads = all.iter().filter_map(|touch| Some((touch.read()?.at(), touch.txn.at().to_u32())));
        let readers = Groups::new(versions.version.len(), reads);
        let keys = all.iter().enumerate().map(|(at, touch)| (touch.key.at(), at.to_u32()));
        let of_key = Groups::new(versions.key.len(), keys);
        Touches { all, readers, of_key }
    }

    /// All touches, in the order of their transactions.
    pub(crate) fn all(&self) -> &[Touch] {
        &self.all
    }

    /// The touches of one transaction. O(log n).
    pub(crate) fn of(&self, txn: TxnId) -> &[Touch] {
        let start = self.all.partition_point(|touch| touch.txn < txn);
        let len = self.all[start..].partition_point(|touch| touch.txn == txn);
        &self.all[start..start + len]
    }

    /// The touches of one key, in the order of their transactions.
    pub(crate) fn of_key(&self, key: KeyId) -> impl Iterator<Item = Touch> + Clone {
        self.of_key.of(key.at()).iter().map(|at| self.all[at.to_usize()])
    }

    /// The transactions whose external read this version is.
    #[inline]
    pub(crate) fn readers(&self, version: VersionId) -> impl ExactSizeIterator<Item = TxnId> + Clone {
        self.readers.of(version.at()).iter().map(|txn| TxnId::new(txn.to_usize()))
    }

    /// A transaction's touch of a key.
    pub(crate) fn find(&self, txn: TxnId, key: KeyId) -> Option<Touch> {
        self.of(txn).iter().find(|touch| touch.key == key).copied()
    }
}
