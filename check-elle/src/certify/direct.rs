//! The anomalies that are no cycles, each by its definition.

use super::cycle::claim_append;
use super::log::{Mop, Txn, mop};
use super::order::version_order;
use super::{Claim, Uncertified, claim};
use history_core::{Datum, OpKind};

/// An ok op read an element that a failed op appended.
pub(super) fn g1a(claims: &Claim<'_>) -> Result<(), Uncertified> {
    let [reader, writer] = claims.txns()?;
    let (key, element) = (claims.fact("key")?, claims.fact("element")?);
    let read = read_of(claims, reader)?;
    claim_ok(reader)?;
    claim(writer.kind == OpKind::Fail, || format!("op {} did not fail", writer.index))?;
    claim_append(writer, key, element)?;
    claim(read.list.contains(element), || format!("the read does not show {element}"))
}

/// An ok op read a list as another transaction left it only for a while.
pub(super) fn g1b(claims: &Claim<'_>) -> Result<(), Uncertified> {
    let [reader, writer] = claims.txns()?;
    let (key, element) = (claims.fact("key")?, claims.fact("element")?);
    let read = read_of(claims, reader)?;
    claim_ok(reader)?;
    claim(reader.index != writer.index, || "a transaction may read what it has written so far".into())?;
    claim(read.list.last() == Some(element), || format!("the read does not end in {element}"))?;
    claim_append(writer, key, element)?;
    let last = writer.appends().filter(|(k, _)| *k == key).last();
    let overwritten = last.is_some_and(|(_, last)| last != element);
    claim(overwritten, || format!("op {} did not overwrite {element} of key {key} later", writer.index))
}

/// A read disagrees with what its transaction read or appended before.
pub(super) fn internal(claims: &Claim<'_>) -> Result<(), Uncertified> {
    let [txn] = claims.txns()?;
    let (key, expected) = (claims.fact("key")?, claims.list("expected")?);
    let read = read_of(claims, txn)?;
    claim_ok(txn)?;
    let unknown = Datum::Symbol("...".into());
    let agrees = match expected.split_first() {
        Some((first, known)) if *first == unknown => read.list.ends_with(known),
        _ => read.list == expected,
    };
    claim(!agrees, || "the read is as expected".into())?;
    let justified = read.places.iter().any(|at| expectation(&txn.mops[..*at], key).as_deref() == Some(expected));
    claim(justified, || format!("what came before does not make one expect {}", Datum::Vector(expected.to_vec())))
}

/// What a read of `key` must give after these micro-ops, if anything is known of it: a list, or `...` and its end.
fn expectation(before: &[Mop], key: &Datum) -> Option<Vec<Datum>> {
    let mut expected: Option<Vec<Datum>> = None;
    for mop in before {
        match mop {
            Mop::Read { key: k, list: Some(list) } if k == key => expected = Some(list.clone()),
            Mop::Append { key: k, element } if k == key => {
                expected.get_or_insert_with(|| vec![Datum::Symbol("...".into())]).push(element.clone());
            }
            _ => {}
        }
    }
    expected
}

/// A transaction read an element that it appended only later.
pub(super) fn future_read(claims: &Claim<'_>) -> Result<(), Uncertified> {
    let [txn] = claims.txns()?;
    let (key, element) = (claims.fact("key")?, claims.fact("element")?);
    let read = read_of(claims, txn)?;
    claim_ok(txn)?;
    claim(read.list.contains(element), || format!("the read does not show {element}"))?;
    let is_it = |mop: &Mop| matches!(mop, Mop::Append { key: k, element: e } if k == key && e == element);
    let later = read.places.iter().any(|at| txn.mops[*at..].iter().any(is_it));
    claim(later, || format!("op {} did not append {element} to key {key} after the read", txn.index))
}

/// In the version order an ok append follows one that failed, with no other ok one in between.
pub(super) fn dirty_update(claims: &Claim<'_>) -> Result<(), Uncertified> {
    let [failed, ok] = claims.txns()?;
    let (key, values) = (claims.fact("key")?, claims.list("values")?);
    claim(failed.kind == OpKind::Fail, || format!("op {} did not fail", failed.index))?;
    claim_ok(ok)?;
    let [first, between @ .., last] = values else {
        return Err(Uncertified::new("a dirty update takes two elements at least"));
    };
    claim_append(failed, key, first)?;
    claim_append(ok, key, last)?;
    let order = version_order(claims.log, key);
    claim(order.windows(values.len()).any(|run| run == values), || {
        format!(
            "the version order of key {key}, {}, does not have these elements in a row",
            Datum::Vector(order.clone())
        )
    })?;
    for element in between {
        let writer = claims.log.writer(key, element)?;
        let skipped = writer.is_none_or(|writer| !writer.is_ok());
        claim(skipped, || format!("the append of {element} in between was ok"))?;
    }
    Ok(())
}

/// Several ok transactions read one version of a key and then appended to it.
pub(super) fn lost_update(claims: &Claim<'_>) -> Result<(), Uncertified> {
    let (key, value) = (claims.fact("key")?, claims.list("value")?);
    claim(claims.txns.len() >= 2, || "it takes two transactions to lose an update".into())?;
    for (at, txn) in claims.txns.iter().enumerate() {
        let index = txn.index;
        claim_ok(txn)?;
        claim(claims.txns[..at].iter().all(|other| other.index != index), || format!("op {index} is named twice"))?;
        let is_read = |mop: &Mop| matches!(mop, Mop::Read { key: k, .. } if k == key);
        let first = txn.mops.iter().position(is_read);
        let first = first.ok_or_else(|| Uncertified::new(format!("op {index} did not read key {key}")))?;
        let same = matches!(&txn.mops[first], Mop::Read { list: Some(list), .. } if list == value);
        claim(same, || format!("op {index} first read another version of key {key}"))?;
        let appends = txn.mops[first..].iter().any(|mop| matches!(mop, Mop::Append { key: k, .. } if k == key));
        claim(appends, || format!("op {index} did not append to key {key} after its first read of it"))?;
    }
    Ok(())
}

/// A read shows elements more than once.
pub(super) fn duplicate_elements(claims: &Claim<'_>) -> Result<(), Uncertified> {
    let [txn] = claims.txns()?;
    let read = read_of(claims, txn)?;
    let Datum::Map(stated) = claims.fact("duplicates")? else {
        return Err(Uncertified::new("the duplicates are no map of elements to numbers"));
    };
    claim(!stated.is_empty(), || "no duplicates are named".into())?;
    for (element, count) in stated {
        let times = read.list.iter().filter(|e| *e == element).count();
        let right = times >= 2 && *count == Datum::from(times as u64);
        claim(right, || format!("the read shows {element} {times} times, not {count}"))?;
    }
    let is_stated = |element: &Datum| stated.iter().any(|(e, _)| e == element);
    let twice = |element: &Datum| read.list.iter().filter(|e| *e == element).count() >= 2;
    claim(read.list.iter().all(|element| !twice(element) || is_stated(element)), || "duplicates are left out".into())
}

/// Of two reads of a key neither is a prefix of the other.
pub(super) fn incompatible_order(claims: &Claim<'_>) -> Result<(), Uncertified> {
    let readers: [&Txn; 2] = claims.txns()?;
    let key = claims.fact("key")?;
    let [Datum::Vector(a), Datum::Vector(b)] = claims.list("values")? else {
        return Err(Uncertified::new("the values are not two lists"));
    };
    for (reader, list) in readers.into_iter().zip([a, b]) {
        claim(reader.reads(key).any(|read| read == list), || {
            format!("op {} did not read {} of key {key}", reader.index, Datum::Vector(list.clone()))
        })?;
    }
    claim(!a.starts_with(b) && !b.starts_with(a), || "one of the lists is a prefix of the other".into())
}

/// A read, as a fact states it.
struct Read {
    list: Vec<Datum>,
    /// Where it stands in its transaction.
    places: Vec<usize>,
}

/// The witness's micro-op, which must be one of the transaction's known reads of the witness's key.
fn read_of(claims: &Claim<'_>, txn: &Txn) -> Result<Read, Uncertified> {
    let (key, stated) = (claims.fact("key")?, claims.fact("mop")?);
    let read = mop(stated, txn.kind)?;
    let places: Vec<usize> = (0..txn.mops.len()).filter(|at| txn.mops[*at] == read).collect();
    claim(txn.is_possible() && !places.is_empty(), || format!("{stated} is not known to be part of op {}", txn.index))?;
    match read {
        Mop::Read { key: k, list: Some(list) } if k == *key => Ok(Read { list, places }),
        _ => Err(Uncertified::new(format!("{stated} is no known read of key {key}"))),
    }
}

fn claim_ok(txn: &Txn) -> Result<(), Uncertified> {
    claim(txn.is_ok(), || format!("op {} is not ok", txn.index))
}
