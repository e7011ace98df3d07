//! list-append: a version is a list, identified by its last element.

mod direct;
mod order;

use super::Uncertified;
use super::log::{Log, Mop, Txn, parts};
use super::workload::{Succession, Version, Workload};
pub(super) use direct::{cyclic_versions, dirty_update, duplicate_elements, incompatible_order, internal};
use history_core::{Datum, OpKind};

/// The workload list-append.
pub(super) struct Lists;

impl Workload for Lists {
    /// A read of nil is one of the empty list. Reads of a transaction that is not ok have no results.
    fn mop(&self, item: &Datum, kind: OpKind) -> Result<Mop, Uncertified> {
        let bad = || Uncertified::new(format!("{item} is not a micro-op of list-append"));
        let (f, key, value) = parts(item).ok_or_else(bad)?;
        let key = key.clone();
        match (f, value) {
            ("append", element) => Ok(Mop::Write { key, value: element.clone() }),
            ("r", Datum::Nil | Datum::Vector(_) | Datum::List(_)) if kind != OpKind::Ok => {
                Ok(Mop::Read { key, seen: None })
            }
            ("r", Datum::Vector(list) | Datum::List(list)) => {
                Ok(Mop::Read { key, seen: Some(Datum::Vector(list.clone())) })
            }
            ("r", Datum::Nil) => Ok(Mop::Read { key, seen: Some(Datum::Vector(Vec::new())) }),
            _ => Err(bad()),
        }
    }

    fn last_written<'a>(&self, seen: &'a Datum) -> Option<&'a Datum> {
        elements(seen).last()
    }

    fn shows(&self, seen: &Datum, value: &Datum) -> bool {
        elements(seen).contains(value)
    }

    /// All its appends: a list with later elements shows that each of these was there.
    fn written<'a>(&self, _: &Log, txn: &'a Txn) -> Vec<(&'a Datum, Version)> {
        let appends = txn.writes().filter(|_| txn.is_possible());
        appends.map(|(key, element)| (key, Version::of_value(Some(element)))).collect()
    }

    /// The version of a list is its last element that may have been appended: elements after it may not have been.
    fn read<'a>(&self, log: &Log, txn: &'a Txn) -> Vec<(&'a Datum, Version)> {
        let version = |mop: &'a Mop| match mop {
            Mop::Read { key, seen: Some(list) } => {
                let last = elements(list).iter().rfind(|element| order::is_written(log, key, element));
                Some((key, Version::of_value(last)))
            }
            _ => None,
        };
        txn.mops.iter().filter(|_| txn.is_possible()).filter_map(version).collect()
    }

    fn successions(&self, log: &Log) -> Vec<Succession> {
        let appends = log.possible().flat_map(|(_, txn)| txn.writes());
        let succession = |(key, next): (&Datum, &Datum)| Succession {
            key: key.clone(),
            version: Version::of_value(order::previous(log, key, next).as_ref()),
            next: Version::of_value(Some(next)),
        };
        appends.map(succession).collect()
    }

    fn claim_follows(&self, log: &Log, key: &Datum, version: &Version, next: &Version) -> Result<(), Uncertified> {
        order::claim_follows(log, key, version.value.as_ref(), next.value.as_ref().unwrap_or(&Datum::Nil))
    }

    fn write_verb(&self) -> &'static str {
        "append"
    }

    fn misread(&self, index: u64, key: &Datum, value: &Datum) -> String {
        match value {
            last if *last != Datum::Nil => format!("op {index} read no list of key {key} that ends in {last}"),
            _ => format!("op {index} did not read the empty list of key {key}"),
        }
    }
}

/// The elements of a list that was read.
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
