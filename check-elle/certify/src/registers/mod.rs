//! rw-register: a version is a value, and the order of versions is as reliable as its sources.

mod direct;
mod sources;

use super::log::{Log, Mop, Txn, parts};
use super::workload::{Succession, Version, Workload};
use super::{Uncertified, claim};
pub(super) use direct::{cyclic_versions, internal};
use history_core::{Datum, OpKind, Witness};
pub use sources::Sources;

/// The workload rw-register, with the requested sources.
pub(super) struct Registers<'a> {
    pub(super) sources: &'a Sources,
}

impl Workload for Registers<'_> {
    /// Only reads of ok transactions have results. A read of the initial version is converted to one of nil.
    fn mop(&self, item: &Datum, kind: OpKind) -> Result<Mop, Uncertified> {
        let bad = || Uncertified::new(format!("{item} is not a micro-op of rw-register"));
        let (f, key, value) = parts(item).ok_or_else(bad)?;
        let (key, value) = (key.clone(), value.clone());
        match (f, &value) {
            ("w", Datum::Nil) => Err(bad()),
            ("w", _) => Ok(Mop::Write { key, value }),
            ("r", _) => Ok(Mop::Read { key, seen: (kind == OpKind::Ok).then(|| self.read_as(value)) }),
            _ => Err(bad()),
        }
    }

    fn last_written<'a>(&self, seen: &'a Datum) -> Option<&'a Datum> {
        Some(seen).filter(|seen| **seen != Datum::Nil)
    }

    fn shows(&self, seen: &Datum, value: &Datum) -> bool {
        seen == value
    }

    /// For each key, the last version that the transaction wrote.
    fn written<'a>(&self, _: &Log, txn: &'a Txn) -> Vec<(&'a Datum, Version)> {
        let keys = txn.mops.iter().filter(|mop| mop.is_write()).map(Mop::key);
        keys.filter_map(|key| Some((key, external_write(txn, key)?))).collect()
    }

    /// For each key that it read before writing it, the first version that it read.
    fn read<'a>(&self, log: &Log, txn: &'a Txn) -> Vec<(&'a Datum, Version)> {
        let keys = txn.mops.iter().filter(|mop| !mop.is_write()).map(Mop::key);
        keys.filter_map(|key| Some((key, external_read(log, txn, key)?))).collect()
    }

    fn successions(&self, log: &Log) -> Vec<Succession> {
        let used = sources::in_use(log, self.sources);
        let of_key = |key: Datum| {
            let edges = used.edges(log, &key);
            edges.into_iter().map(move |(version, next)| Succession { key: key.clone(), version, next })
        };
        sources::keys(log).into_iter().flat_map(of_key).collect()
    }

    fn claim_follows(&self, log: &Log, key: &Datum, version: &Version, next: &Version) -> Result<(), Uncertified> {
        let used = sources::in_use(log, self.sources);
        claim(used.edges(log, key).contains(&(version.clone(), next.clone())), || {
            let value = |version: &Version| version.value.clone().unwrap_or(Datum::Nil);
            let (version, next, names) = (value(version), value(next), used.names().join(", "));
            format!("none of {names} orders {next} after {version} in key {key}")
        })
    }

    fn write_verb(&self) -> &'static str {
        "write"
    }

    fn misread(&self, index: u64, key: &Datum, value: &Datum) -> String {
        format!("op {index} did not first read {value} of key {key}")
    }
}

impl Registers<'_> {
    /// The value in the certifier: nil for the initial one. Nil itself then becomes a value that is never written.
    pub(super) fn read_as(&self, value: Datum) -> Datum {
        match value {
            value if value == self.sources.initial => Datum::Nil,
            Datum::Nil => Datum::Symbol("nil".into()),
            other => other,
        }
    }

    /// The witness, with its versions converted to these values.
    pub(super) fn translated(&self, witness: &Witness) -> Witness {
        let mut witness = witness.clone();
        let translate = |value: &mut Datum| *value = self.read_as(std::mem::replace(value, Datum::Nil));
        for step in &mut witness.steps {
            step.value.iter_mut().for_each(translate);
        }
        for (name, fact) in &mut witness.facts {
            match (name.as_ref(), fact) {
                ("element" | "value" | "expected", fact) => translate(fact),
                ("scc", Datum::Vector(values)) => values.iter_mut().for_each(translate),
                _ => {}
            }
        }
        witness
    }
}

/// The order of writers by the sources in use: the key, and the indices of both.
pub(super) fn writer_orders(log: &Log, sources: &Sources) -> Vec<(Datum, u64, u64)> {
    let used = sources::in_use(log, sources);
    let of_key = |key: Datum| {
        let writers = used.edges(log, &key).into_iter().filter_map(|(version, next)| version.writer.zip(next.writer));
        writers.map(move |(before, after)| (key.clone(), before, after)).collect::<Vec<_>>()
    };
    sources::keys(log).into_iter().flat_map(of_key).collect()
}

/// The value that a transaction read of a key, if its first micro-op on the key is a read and the transaction is ok.
fn external_read(log: &Log, txn: &Txn, key: &Datum) -> Option<Version> {
    match txn.mops.iter().find(|mop| mop.is_of(key))? {
        Mop::Read { seen: Some(Datum::Nil), .. } if txn.is_ok() => Some(Version { value: None, writer: None }),
        Mop::Read { seen: Some(value), .. } if txn.is_ok() => {
            let writer = log.txns.iter().find(|txn| txn.wrote(key, value));
            Some(Version { value: Some(value.clone()), writer: writer.map(|txn| txn.index) })
        }
        _ => None,
    }
}

/// The last version that a transaction wrote to a key, if it may have happened.
fn external_write(txn: &Txn, key: &Datum) -> Option<Version> {
    let (_, value) = txn.writes().filter(|(k, _)| *k == key).last()?;
    txn.is_possible().then(|| Version { value: Some(value.clone()), writer: Some(txn.index) })
}

/// Fails if a value was written to one key twice and read, because the source of the read is ambiguous. Writes of the
/// same value that was never read are separate versions.
pub(super) fn refuse_ambiguous_reads(log: &Log, sources: &Sources) -> Result<(), Uncertified> {
    let writes: Vec<(&Datum, &Datum)> = log.txns.iter().flat_map(Txn::writes).collect();
    for mop in log.txns.iter().filter(|txn| txn.is_ok()).flat_map(|txn| &txn.mops) {
        let Mop::Read { key, seen: Some(value) } = mop else { continue };
        let is_initial = *value == Datum::Nil;
        let value = if is_initial { &sources.initial } else { value };
        let times = usize::from(is_initial) + writes.iter().filter(|write| **write == (key, value)).count();
        claim(times <= 1, || format!("{value} was written to key {key} {times} times"))?;
    }
    Ok(())
}
