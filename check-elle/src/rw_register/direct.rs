//! Anomalies on one key or in one transaction, without cycles.
//!
//! G1a and G1b: Adya, "Weak Consistency", section 3.1. Lost updates and internal consistency: Kingsbury and Alvaro,
//! "Elle" (VLDB 2020), sections 4 and 6.

use super::mop::{Mop, What};
use super::versions::{Flags, Versions};
use crate::anomaly::{AnomalySet, AnomalyType};
use crate::ids::{TxnId, VersionId};
use crate::txn::{Txns, updates as lost_updates};
use history_core::cast::Cast as _;

/// The results, each list in the order of the history.
#[derive(Debug, Default)]
pub(crate) struct Direct {
    /// Reads of a value that a failed transaction wrote: reader and position of the micro-op.
    pub(crate) g1a: Vec<(TxnId, u32)>,
    /// Reads of a value that its own writer overwrote: reader and position of the micro-op.
    pub(crate) g1b: Vec<(TxnId, u32)>,
    /// Reads of a value that was never written: reader and position of the micro-op.
    pub(crate) garbage: Vec<(TxnId, u32)>,
    /// Writes of a value that the writer had read before: writer and position of the write.
    pub(crate) future_reads: Vec<(TxnId, u32)>,
    /// A transaction, the position of the read that contradicts it, and the version that it should have read.
    pub(crate) internal: Vec<(TxnId, u32, VersionId)>,
    /// A version, and the transactions that read it and then wrote its key.
    pub(crate) lost_updates: Vec<(VersionId, Vec<TxnId>)>,
}

/// The results of examining transactions one by one.
pub(crate) struct Found {
    pub(crate) internal: Vec<(TxnId, u32, VersionId)>,
    pub(crate) updates: Vec<(VersionId, TxnId)>,
    pub(crate) future_reads: Vec<(TxnId, u32)>,
}

/// Finds all of these anomalies. O(micro-ops), and a sort of the transactions that wrote keys that they had read.
pub(crate) fn find(versions: &Versions, txns: &Txns<Mop>, found: Found) -> Direct {
    let Found { mut internal, updates, future_reads } = found;
    // Keep only the first of each transaction: later ones may be its consequence.
    internal.dedup_by_key(|(txn, _, _)| *txn);
    let mut direct = Direct { internal, future_reads, lost_updates: lost_updates::lost(updates), ..Direct::default() };
    for txn in txns.ids().filter(|txn| txns.is_ok(*txn)) {
        for (at, mop) in txns.mops(txn).iter().enumerate() {
            let What::Read(id) = mop.what() else { continue };
            let version = versions.version[id.at()];
            let case = (txn, at.to_u32());
            if version.flags.has(Flags::FAILED) {
                direct.g1a.push(case);
            }
            if version.flags.has(Flags::INTERMEDIATE) && version.writer != txn {
                direct.g1b.push(case);
            }
            if version.writer == TxnId::NONE && !versions.is_initial(id) {
                direct.garbage.push(case);
            }
        }
    }
    direct
}

impl Direct {
    /// The types of the anomalies found.
    pub(crate) fn types(&self) -> AnomalySet {
        [
            (AnomalyType::G1A, !self.g1a.is_empty()),
            (AnomalyType::G1B, !self.g1b.is_empty()),
            (AnomalyType::FUTURE_READ, !self.future_reads.is_empty()),
            (AnomalyType::GARBAGE_READ, !self.garbage.is_empty()),
            (AnomalyType::INTERNAL, !self.internal.is_empty()),
            (AnomalyType::LOST_UPDATE, !self.lost_updates.is_empty()),
        ]
        .into_iter()
        .filter_map(|(anomaly, found)| found.then_some(anomaly))
        .collect()
    }
}
