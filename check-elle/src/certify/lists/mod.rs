//! list-append: a version is a list, and named by its last element.

mod direct;
mod order;

use super::Uncertified;
use super::log::{Log, Mop, Txn, parts};
use super::workload::{Succession, Version, Workload};
pub(super) use direct::{dirty_update, duplicate_elements, future_read, incompatible_order, internal};
use history_core::{Datum, OpKind};

/// The workload list-append.
pub(super) struct Lists;

impl Workload for Lists {
    /// Reads of nil are of the empty list if the transaction is ok, else they say nothing.
    fn mop(&self, item: &Datum, kind: OpKind) -> Result<Mop, Uncertified> {
        let bad = || Uncertified::new(format!("{item} is no micro-op of list-append"));
        let (f, key, value) = parts(item).ok_or_else(bad)?;
        let key = key.clone();
        match (f, value) {
            ("append", element) => Ok(Mop::Write { key, value: element.clone() }),
            ("r", Datum::Nil | Datum::Vector(_) | Datum::List(_)) if kind == OpKind::Invoke => {
                Ok(Mop::Read { key, seen: None })
            }
            ("r", Datum::Vector(list) | Datum::List(list)) => {
                Ok(Mop::Read { key, seen: Some(Datum::Vector(list.clone())) })
            }
            ("r", Datum::Nil) => Ok(Mop::Read { key, seen: (kind == OpKind::Ok).then(|| Datum::Vector(Vec::new())) }),
            _ => Err(bad()),
        }
    }

    fn version(&self, seen: &Datum) -> Version {
        elements(seen).last().cloned()
    }

    fn shows(&self, seen: &Datum, value: &Datum) -> bool {
        elements(seen).contains(value)
    }

    /// All that it appended: what is behind an element shows that it was there.
    fn written<'a>(&self, txn: &'a Txn) -> Vec<(&'a Datum, &'a Datum)> {
        if txn.is_possible() { txn.writes().collect() } else { Vec::new() }
    }

    fn read<'a>(&self, txn: &'a Txn) -> Vec<(&'a Datum, Version)> {
        let version = |mop: &'a Mop| match mop {
            Mop::Read { key, seen: Some(list) } => Some((key, self.version(list))),
            _ => None,
        };
        if txn.is_possible() { txn.mops.iter().filter_map(version).collect() } else { Vec::new() }
    }

    fn successions(&self, log: &Log) -> Vec<Succession> {
        let appends = log.possible().flat_map(|(_, txn)| txn.writes());
        let succession = |(key, next): (&Datum, &Datum)| Succession {
            key: key.clone(),
            version: order::previous(log, key, next),
            next: next.clone(),
        };
        appends.map(succession).collect()
    }

    fn claim_follows(&self, log: &Log, key: &Datum, version: &Version, next: &Datum) -> Result<(), Uncertified> {
        order::claim_follows(log, key, version.as_ref(), next)
    }

    fn write_verb(&self) -> &'static str {
        "append"
    }

    fn misread(&self, index: u64, key: &Datum, version: &Version) -> String {
        match version {
            Some(last) => format!("op {index} read no list of key {key} that ends in {last}"),
            None => format!("op {index} did not read the empty list of key {key}"),
        }
    }
}

/// What is in a list that was read.
fn elements(seen: &Datum) -> &[Datum] {
    if let Datum::Vector(elements) = seen { elements } else { &[] }
}

/// The lists that a transaction is known to have read of a key; none if it failed.
fn lists_read<'a>(txn: &'a Txn, key: &'a Datum) -> impl Iterator<Item = &'a [Datum]> {
    let possible = txn.is_possible();
    txn.mops.iter().filter_map(move |mop| match mop {
        Mop::Read { key: k, seen: Some(list) } if possible && k == key => Some(elements(list)),
        _ => None,
    })
}
