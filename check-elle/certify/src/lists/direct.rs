//! Verifies the anomalies of lists that are not cycles, each by its definition.

use super::order::{agreed_order, version_order};
use super::{elements, lists_read};
use crate::direct::{claim_ok, read_of};
use crate::log::{Mop, Txn};
use crate::workload::claim_write;
use crate::{Claim, Uncertified, claim};
use history_core::cast::Cast as _;
use history_core::{Datum, OpKind};

/// A read contradicts an earlier read or append of its transaction.
pub(crate) fn internal(claims: &Claim<'_>) -> Result<(), Uncertified> {
    let [txn] = claims.txns()?;
    let (key, expected) = (claims.fact("key")?, claims.list("expected")?);
    let read = read_of(claims, txn)?;
    claim_ok(txn)?;
    let unknown = Datum::Symbol("...".into());
    let agrees = match expected.split_first() {
        Some((first, known)) if *first == unknown => elements(&read.seen).ends_with(known),
        _ => elements(&read.seen) == expected,
    };
    claim(!agrees, || "the read is as expected".into())?;
    let justified = read.places.iter().any(|at| expectation(&txn.mops[..*at], key).as_deref() == Some(expected));
    claim(justified, || format!("the micro-ops before the read do not imply {}", Datum::Vector(expected.to_vec())))
}

/// The result that a read of `key` must have after these micro-ops, if known: a list, or `...` and its end.
fn expectation(before: &[Mop], key: &Datum) -> Option<Vec<Datum>> {
    let mut expected: Option<Vec<Datum>> = None;
    for mop in before {
        match mop {
            Mop::Read { key: k, seen: Some(list) } if k == key => expected = Some(elements(list).to_vec()),
            Mop::Write { key: k, value } if k == key => {
                expected.get_or_insert_with(|| vec![Datum::Symbol("...".into())]).push(value.clone());
            }
            _ => {}
        }
    }
    expected
}

/// In the version order, an ok append follows a failed one, with no other ok append between them.
pub(crate) fn dirty_update(claims: &Claim<'_>) -> Result<(), Uncertified> {
    let [failed, ok] = claims.txns()?;
    let (key, values) = (claims.fact("key")?, claims.list("values")?);
    claim(failed.kind == OpKind::Fail, || format!("op {} did not fail", failed.index))?;
    claim_ok(ok)?;
    let [first, between @ .., last] = values else {
        return Err(Uncertified::new("a dirty update needs at least two elements"));
    };
    claim_write(claims.workload, failed, key, first)?;
    claim_write(claims.workload, ok, key, last)?;
    let order = version_order(claims.log, key);
    claim(order.windows(values.len()).any(|run| run == values), || {
        format!("these elements are not adjacent in the version order of key {key}, {}", Datum::Vector(order.clone()))
    })?;
    for element in between {
        let writer = claims.log.writer(key, element)?;
        let skipped = writer.is_none_or(|writer| !writer.is_ok());
        claim(skipped, || format!("the append of {element} between them was ok"))?;
    }
    Ok(())
}

/// A read contains elements more than once.
pub(crate) fn duplicate_elements(claims: &Claim<'_>) -> Result<(), Uncertified> {
    let [txn] = claims.txns()?;
    let read = read_of(claims, txn)?;
    let Datum::Map(stated) = claims.fact("duplicates")? else {
        return Err(Uncertified::new("expected a map of element to count as duplicates"));
    };
    claim(!stated.is_empty(), || "no duplicates are stated".into())?;
    let list = elements(&read.seen);
    for (element, count) in stated {
        let times = list.iter().filter(|e| *e == element).count();
        let right = times >= 2 && *count == Datum::from(times.to_u64());
        claim(right, || format!("the read shows {element} {times} times, not {count}"))?;
    }
    let is_stated = |element: &Datum| stated.iter().any(|(e, _)| e == element);
    let twice = |element: &Datum| list.iter().filter(|e| *e == element).count() >= 2;
    claim(list.iter().all(|element| !twice(element) || is_stated(element)), || "duplicates are missing".into())
}

/// Neither of two reads of a key is a prefix of the other.
pub(crate) fn incompatible_order(claims: &Claim<'_>) -> Result<(), Uncertified> {
    let readers: [&Txn; 2] = claims.txns()?;
    let key = claims.fact("key")?;
    let [Datum::Vector(a), Datum::Vector(b)] = claims.list("values")? else {
        return Err(Uncertified::new("expected two lists as values"));
    };
    for (reader, list) in readers.into_iter().zip([a, b]) {
        claim(lists_read(reader, key).any(|read| read == list), || {
            format!("op {} did not read {} of key {key}", reader.index, Datum::Vector(list.clone()))
        })?;
    }
    claim(!a.starts_with(b) && !b.starts_with(a), || "one of the lists is a prefix of the other".into())
}

/// The order that all reads show reverses two appends of a transaction to one key, and a read shows the later append.
pub(crate) fn cyclic_versions(claims: &Claim<'_>) -> Result<(), Uncertified> {
    let (writer, reader): (&Txn, &Txn) = match claims.txns[..] {
        [both] => (both, both),
        _ => claims.txns::<2>().map(|[writer, reader]| (writer, reader))?,
    };
    claim(claims.txns.len() == 1 || writer.index != reader.index, || format!("op {} is named twice", writer.index))?;
    let (key, values) = (claims.fact("key")?, claims.list("values")?);
    let [earlier, later] = values else { return Err(Uncertified::new("expected two elements as values")) };
    claim(writer.is_possible(), || format!("op {} failed", writer.index))?;
    for element in values {
        claim_write(claims.workload, writer, key, element)?;
    }
    let place = |element: &Datum| writer.writes().position(|write| write == (key, element));
    claim(place(earlier) < place(later), || format!("op {} appended {later} before {earlier}", writer.index))?;
    let read = read_of(claims, reader)?;
    claim_ok(reader)?;
    claim(elements(&read.seen).contains(later), || format!("the read does not show {later}"))?;
    let order = agreed_order(claims.log, key);
    let at = |element: &Datum| order.iter().position(|e| e == element);
    // An element that is not in the order comes after all elements in it.
    let reversed = at(later).is_some_and(|later| at(earlier).is_none_or(|earlier| later < earlier));
    claim(reversed, || {
        let order = Datum::Vector(order.clone());
        format!("{later} does not come before {earlier} in the version order of key {key}, {order}")
    })
}
