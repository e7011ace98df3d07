//! What was appended to a key after what, as far as the longest read of it proves.

use super::lists_read;
use crate::certify::log::{Log, Txn};
use crate::certify::{Uncertified, claim};
use history_core::Datum;

/// A key's elements in version order: those of the longest list read, the first of that length; each where it stands
/// first. The sole append, if nothing was read.
pub(super) fn version_order(log: &Log, key: &Datum) -> Vec<Datum> {
    let mut longest: &[Datum] = &[];
    for list in log.txns.iter().flat_map(|txn| lists_read(txn, key)) {
        if list.len() > longest.len() {
            longest = list;
        }
    }
    let mut order: Vec<Datum> = Vec::new();
    for element in longest {
        if !order.contains(element) {
            order.push(element.clone());
        }
    }
    let mut appends = log.txns.iter().flat_map(Txn::writes).filter(|(k, _)| *k == key);
    if let (true, Some((_, element)), None) = (order.is_empty(), appends.next(), appends.next()) {
        order.push(element.clone());
    }
    order
}

/// Checks that `next` was appended directly after `element`, or, where that is `None`, to the empty list. An append
/// that no read shows came after the last element that one does.
pub(super) fn claim_follows(log: &Log, key: &Datum, element: Option<&Datum>, next: &Datum) -> Result<(), Uncertified> {
    let order = version_order(log, key);
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

/// The element directly before another; `None` if that is the first.
pub(super) fn previous(log: &Log, key: &Datum, element: &Datum) -> Option<Datum> {
    let order = version_order(log, key);
    match order.iter().position(|e| e == element) {
        Some(at) => order[..at].last().cloned(),
        None => order.last().cloned(),
    }
}
