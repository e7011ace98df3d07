//! rw-register: a version is a value, and which came after which is as good as the sources that say so.

mod direct;
mod sources;

use super::log::{Log, Mop, Txn, parts};
use super::workload::{Succession, Version, Workload};
use super::{Uncertified, claim};
pub(super) use direct::{cyclic_versions, garbage_read, internal};
use history_core::{Datum, OpKind};
pub use sources::Sources;

/// The workload rw-register, with the sources that were asked for.
pub(super) struct Registers<'a> {
    pub(super) sources: &'a Sources,
}

impl Workload for Registers<'_> {
    /// A read of nil is of the initial version if the transaction is ok, else it says nothing.
    fn mop(&self, item: &Datum, kind: OpKind) -> Result<Mop, Uncertified> {
        let bad = || Uncertified::new(format!("{item} is no micro-op of rw-register"));
        let (f, key, value) = parts(item).ok_or_else(bad)?;
        let (key, value) = (key.clone(), value.clone());
        match (f, &value) {
            ("w", Datum::Nil) => Err(bad()),
            ("w", _) => Ok(Mop::Write { key, value }),
            ("r", _) if kind == OpKind::Invoke => Ok(Mop::Read { key, seen: None }),
            ("r", Datum::Nil) => Ok(Mop::Read { key, seen: (kind == OpKind::Ok).then_some(value) }),
            ("r", _) => Ok(Mop::Read { key, seen: Some(value) }),
            _ => Err(bad()),
        }
    }

    fn version(&self, seen: &Datum) -> Version {
        Some(seen).filter(|seen| **seen != Datum::Nil).cloned()
    }

    fn shows(&self, seen: &Datum, value: &Datum) -> bool {
        seen == value
    }

    /// Of each key the last value that it wrote.
    fn written<'a>(&self, txn: &'a Txn) -> Vec<(&'a Datum, &'a Datum)> {
        let is_last = |(key, value): &(&Datum, &Datum)| external_write(txn, key) == Some(*value);
        txn.writes().filter(is_last).collect()
    }

    /// Of each key that it read before it wrote, the version that it read first.
    fn read<'a>(&self, txn: &'a Txn) -> Vec<(&'a Datum, Version)> {
        let version = |mop: &'a Mop| match mop {
            Mop::Read { key, .. } => external_read(txn, key).map(|seen| (key, self.version(seen))),
            Mop::Write { .. } => None,
        };
        txn.mops.iter().filter_map(version).collect()
    }

    fn successions(&self, log: &Log) -> Vec<Succession> {
        let used = sources::in_use(log, self.sources);
        let of_key = |key: Datum| {
            used.edges(log, &key).into_iter().map(move |(version, next)| {
                let version = self.version(&version);
                Succession { key: key.clone(), version, next }
            })
        };
        sources::keys(log).into_iter().flat_map(of_key).collect()
    }

    fn claim_follows(&self, log: &Log, key: &Datum, version: &Version, next: &Datum) -> Result<(), Uncertified> {
        let used = sources::in_use(log, self.sources);
        let edge = (version.clone().unwrap_or(Datum::Nil), next.clone());
        claim(used.edges(log, key).contains(&edge), || {
            let (version, names) = (&edge.0, used.names().join(", "));
            format!("none of {names} says that {next} came after {version} in key {key}")
        })
    }

    fn write_verb(&self) -> &'static str {
        "write"
    }

    fn misread(&self, index: u64, key: &Datum, version: &Version) -> String {
        let version = version.as_ref().unwrap_or(&Datum::Nil);
        format!("op {index} did not first read {version} of key {key}")
    }
}

/// What a transaction read of a key, if its first micro-op there is a read and it is ok.
fn external_read<'a>(txn: &'a Txn, key: &Datum) -> Option<&'a Datum> {
    match txn.mops.iter().find(|mop| mop.is_of(key))? {
        Mop::Read { seen: Some(seen), .. } if txn.is_ok() => Some(seen),
        _ => None,
    }
}

/// The last value that a transaction wrote to a key, if it may have happened.
fn external_write<'a>(txn: &'a Txn, key: &Datum) -> Option<&'a Datum> {
    let last = txn.writes().filter(|(k, _)| *k == key).last();
    last.map(|(_, value)| value).filter(|_| txn.is_possible())
}

/// Fails if a value was written twice to one key: then nobody can tell whose write a read shows.
pub(super) fn refuse_double_writes(log: &Log) -> Result<(), Uncertified> {
    let writes: Vec<(&Datum, &Datum)> = log.txns.iter().flat_map(Txn::writes).collect();
    let read = |(key, value): (&Datum, &Datum)| {
        let is_it = |mop: &Mop| matches!(mop, Mop::Read { key: k, seen: Some(v) } if k == key && v == value);
        log.possible().any(|(_, txn)| txn.mops.iter().any(is_it))
    };
    for (at, write) in writes.iter().enumerate() {
        let twice = writes[..at].contains(write) && read(*write);
        claim(!twice, || format!("{} was written to key {} twice", write.1, write.0))?;
    }
    Ok(())
}
