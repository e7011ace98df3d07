//! What the certifier has to know of a workload: its micro-ops, and what they say of versions.

use super::log::{Log, Mop, Txn};
use super::{Uncertified, claim};
use history_core::{Datum, OpKind};

/// A version of a key by the value that was written last; `None` is what was there before all writes.
pub(super) type Version = Option<Datum>;

/// Two versions of a key, the second of which came directly after the first.
pub(super) struct Succession {
    pub(super) key: Datum,
    pub(super) version: Version,
    pub(super) next: Datum,
}

/// A workload's micro-ops and versions.
pub(super) trait Workload {
    /// One micro-op of a transaction of this kind; of kind `Invoke`, what it says of reads is a wish.
    fn mop(&self, item: &Datum, kind: OpKind) -> Result<Mop, Uncertified>;

    /// The version that a read shows.
    fn version(&self, seen: &Datum) -> Version;

    /// Whether a read shows what a write of `value` did.
    fn shows(&self, seen: &Datum, value: &Datum) -> bool;

    /// What a transaction that may have happened wrote for others to see: keys and values.
    fn written<'a>(&self, txn: &'a Txn) -> Vec<(&'a Datum, &'a Datum)>;

    /// What it read of others, or of itself: keys and versions.
    fn read<'a>(&self, txn: &'a Txn) -> Vec<(&'a Datum, Version)>;

    /// All versions that came directly after others.
    fn successions(&self, log: &Log) -> Vec<Succession>;

    /// Checks that `next` came directly after a version of a key.
    fn claim_follows(&self, log: &Log, key: &Datum, version: &Version, next: &Datum) -> Result<(), Uncertified>;

    /// What a transaction did not do, as in `op 3 did not append`.
    fn write_verb(&self) -> &'static str;

    /// Why a transaction's reads of a key are not of a version.
    fn misread(&self, index: u64, key: &Datum, version: &Version) -> String;
}

/// Checks that a transaction wrote a value for others to see.
pub(super) fn claim_written(workload: &dyn Workload, txn: &Txn, key: &Datum, value: &Datum) -> Result<(), Uncertified> {
    claim(workload.written(txn).contains(&(key, value)), || did_not_write(workload, txn, key, value))
}

/// Checks that a transaction, failed or not, has a micro-op that writes a value.
pub(super) fn claim_write(workload: &dyn Workload, txn: &Txn, key: &Datum, value: &Datum) -> Result<(), Uncertified> {
    claim(txn.wrote(key, value), || did_not_write(workload, txn, key, value))
}

fn did_not_write(workload: &dyn Workload, txn: &Txn, key: &Datum, value: &Datum) -> String {
    format!("op {} did not {} {value} to key {key}", txn.index, workload.write_verb())
}

/// Checks that a transaction read a version.
pub(super) fn claim_read(
    workload: &dyn Workload,
    txn: &Txn,
    key: &Datum,
    version: &Version,
) -> Result<(), Uncertified> {
    let is_it = |(k, v): &(&Datum, Version)| *k == key && v == version;
    claim(workload.read(txn).iter().any(is_it), || workload.misread(txn.index, key, version))
}
