//! The order of appends to a key, as far as reads prove it.

use super::lists_read;
use crate::log::{Log, Txn};
use crate::{Uncertified, claim};
use history_core::Datum;

/// A key's elements in version order: those of the longest list read (the first one of that length), each at its first
/// position. If nothing was read, the only append.
pub(super) fn version_order(log: &Log, key: &Datum) -> Vec<Datum> {
    let mut longest: &[Datum] = &[];
    for list in log.txns.iter().flat_map(|txn| lists_read(txn, key)) {
        if list.len() > longest.len() {
            longest = list;
        }
    }
    let mut order = once_each(longest);
    let mut appends = log.txns.iter().flat_map(Txn::writes).filter(|(k, _)| *k == key);
    if let (true, Some((_, element)), None) = (order.is_empty(), appends.next(), appends.next()) {
        order.push(element.clone());
    }
    order
}

/// The prefix of the version order that holds whichever reads are right, of elements that may have been appended: the
/// whole order, unless two reads disagree. Every other element comes after it.
pub(super) fn agreed_order(log: &Log, key: &Datum) -> Vec<Datum> {
    let reads: Vec<&[Datum]> = log.txns.iter().flat_map(|txn| lists_read(txn, key)).collect();
    let agrees = |list: &[Datum]| reads.iter().all(|read| read.starts_with(list) || list.starts_with(read));
    let longest = reads.iter().copied().filter(|list| !list.is_empty()).max_by_key(|list| list.len());
    let mut order = match longest {
        Some(list) => {
            let agreed = (0..=list.len()).rev().find(|len| agrees(&list[..*len])).unwrap_or(0);
            once_each(&list[..agreed])
        }
        None => version_order(log, key),
    };
    order.retain(|element| is_written(log, key, element));
    order
}

fn once_each(list: &[Datum]) -> Vec<Datum> {
    let mut order: Vec<Datum> = Vec::new();
    for element in list {
        if !order.contains(element) {
            order.push(element.clone());
        }
    }
    order
}

/// Returns true if a transaction that may have happened appended the element.
pub(super) fn is_written(log: &Log, key: &Datum, element: &Datum) -> bool {
    log.possible().any(|(_, txn)| txn.wrote(key, element))
}

/// Verifies that `next` was appended directly after `element`, or, if that is `None`, to the empty list. An append
/// without an agreed position came after the last element that has one.
pub(super) fn claim_follows(log: &Log, key: &Datum, element: Option<&Datum>, next: &Datum) -> Result<(), Uncertified> {
    let order = agreed_order(log, key);
    let after = match element {
        None => 0,
        Some(element) => {
            1 + order.iter().position(|e| e == element).ok_or_else(|| {
                Uncertified::new(format!(
                    "{element} is not in the version order of key {key}, {}",
                    Datum::Vector(order.clone())
                ))
            })?
        }
    };
    let is_next = match order.get(after) {
        Some(successor) => successor == next,
        None => !order.contains(next),
    };
    claim(is_next, || {
        let element = element.map_or("the empty list".to_owned(), Datum::to_string);
        let order = Datum::Vector(order);
        format!("{next} is not the direct successor of {element} in the version order of key {key}, {order}")
    })
}

/// The element directly before another; `None` if that one is the first.
pub(super) fn previous(log: &Log, key: &Datum, element: &Datum) -> Option<Datum> {
    let order = agreed_order(log, key);
    match order.iter().position(|e| e == element) {
        Some(at) => order[..at].last().cloned(),
        None => order.last().cloned(),
    }
}
