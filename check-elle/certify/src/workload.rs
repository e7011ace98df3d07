//! The definition of a workload for the certifier: its micro-ops, and what they show about versions.

use super::log::{Log, Mop, Txn};
use super::{Claim, Uncertified, claim};
use history_core::{Datum, OpKind};

/// A version of a key.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Version {
    /// The value that was written last; `None` for the initial version.
    pub(super) value: Option<Datum>,
    /// The index of the op that wrote it, if the value alone is ambiguous.
    pub(super) writer: Option<u64>,
}

impl Version {
    /// A version that is identified by its value.
    pub(super) fn of_value(value: Option<&Datum>) -> Version {
        Version { value: value.cloned(), writer: None }
    }

    /// Returns true if this is its value; nil is the value of the initial version.
    pub(super) fn has_value(&self, value: &Datum) -> bool {
        self.value.as_ref().unwrap_or(&Datum::Nil) == value
    }
}

/// Two versions of a key, the second of which came directly after the first.
pub(super) struct Succession {
    pub(super) key: Datum,
    pub(super) version: Version,
    pub(super) next: Version,
}

/// A workload's micro-ops and versions.
pub(super) trait Workload {
    /// One micro-op of a transaction of this kind; for kind `Invoke`, values of reads are only expectations.
    fn mop(&self, item: &Datum, kind: OpKind) -> Result<Mop, Uncertified>;

    /// The value that was written last, according to a read.
    fn last_written<'a>(&self, seen: &'a Datum) -> Option<&'a Datum>;

    /// Returns true if a read shows the effect of a write of `value`.
    fn shows(&self, seen: &Datum, value: &Datum) -> bool;

    /// The final writes of a transaction that may have happened: keys and versions.
    fn written<'a>(&self, log: &Log, txn: &'a Txn) -> Vec<(&'a Datum, Version)>;

    /// Its reads, from others or from itself: keys and versions.
    fn read<'a>(&self, log: &Log, txn: &'a Txn) -> Vec<(&'a Datum, Version)>;

    /// All pairs of directly successive versions.
    fn successions(&self, log: &Log) -> Vec<Succession>;

    /// Checks that `next` came directly after a version of a key.
    fn claim_follows(&self, log: &Log, key: &Datum, version: &Version, next: &Version) -> Result<(), Uncertified>;

    /// The verb for a write, as in `op 3 did not append`.
    fn write_verb(&self) -> &'static str;

    /// Why a transaction did not read a version, as a sentence.
    fn misread(&self, index: u64, key: &Datum, value: &Datum) -> String;
}

/// The version that a transaction left to others, if it has this value.
pub(super) fn claim_written(claims: &Claim<'_>, txn: &Txn, key: &Datum, value: &Datum) -> Result<Version, Uncertified> {
    let written = find(claims.workload.written(claims.log, txn), key, value);
    written.ok_or_else(|| Uncertified::new(did_not_write(claims.workload, txn, key, value)))
}

/// The version that a transaction read, if it has this value.
pub(super) fn claim_read(claims: &Claim<'_>, txn: &Txn, key: &Datum, value: &Datum) -> Result<Version, Uncertified> {
    let read = find(claims.workload.read(claims.log, txn), key, value);
    read.ok_or_else(|| Uncertified::new(claims.workload.misread(txn.index, key, value)))
}

fn find(versions: Vec<(&Datum, Version)>, key: &Datum, value: &Datum) -> Option<Version> {
    versions.into_iter().find(|(k, version)| *k == key && version.has_value(value)).map(|(_, version)| version)
}

/// Checks that a transaction, failed or not, has a micro-op that writes a value.
pub(super) fn claim_write(workload: &dyn Workload, txn: &Txn, key: &Datum, value: &Datum) -> Result<(), Uncertified> {
    claim(txn.wrote(key, value), || did_not_write(workload, txn, key, value))
}

fn did_not_write(workload: &dyn Workload, txn: &Txn, key: &Datum, value: &Datum) -> String {
    format!("op {} did not {} {value} to key {key}", txn.index, workload.write_verb())
}
