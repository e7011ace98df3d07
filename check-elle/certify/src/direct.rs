//! Anomalies that are not cycles and that all workloads define in the same way, except for the meaning of a read.

use super::log::{Mop, Txn};
use super::workload::claim_write;
use super::{Claim, Uncertified, claim};
use history_core::{Datum, OpKind};

/// An ok op read a value that a failed op wrote.
pub(super) fn g1a(claims: &Claim<'_>) -> Result<(), Uncertified> {
    let [reader, writer] = claims.txns()?;
    let (key, value) = (claims.fact("key")?, claims.fact("element")?);
    let read = read_of(claims, reader)?;
    claim_ok(reader)?;
    claim(writer.kind == OpKind::Fail, || format!("op {} did not fail", writer.index))?;
    claim_write(claims.workload, writer, key, value)?;
    claim(claims.workload.shows(&read.seen, value), || format!("the read does not show {value}"))
}

/// An ok op read an intermediate version of another transaction.
pub(super) fn g1b(claims: &Claim<'_>) -> Result<(), Uncertified> {
    let [reader, writer] = claims.txns()?;
    let (key, value) = (claims.fact("key")?, claims.fact("element")?);
    let read = read_of(claims, reader)?;
    claim_ok(reader)?;
    claim(reader.index != writer.index, || "a transaction may read its own intermediate writes".into())?;
    let ends = claims.workload.last_written(&read.seen) == Some(value);
    claim(ends, || format!("the last element of the read is not {value}"))?;
    claim_write(claims.workload, writer, key, value)?;
    let last = writer.writes().filter(|(k, _)| *k == key).last();
    let overwritten = last.is_some_and(|(_, last)| last != value);
    claim(overwritten, || format!("op {} did not overwrite {value} of key {key} later", writer.index))
}

/// An ok op read a value that was never written.
pub(super) fn garbage_read(claims: &Claim<'_>) -> Result<(), Uncertified> {
    let [txn] = claims.txns()?;
    let (key, value) = (claims.fact("key")?, claims.fact("element")?);
    let read = read_of(claims, txn)?;
    claim_ok(txn)?;
    claim(claims.workload.shows(&read.seen, value), || format!("the read does not show {value}"))?;
    claim(*value != Datum::Nil, || "nil is the state before all writes".into())?;
    let writer = claims.log.txns.iter().find(|txn| txn.wrote(key, value));
    let verb = claims.workload.write_verb();
    claim(writer.is_none(), || format!("an op did {verb} {value} to key {key}"))
}

/// A transaction read a value before it wrote it.
pub(super) fn future_read(claims: &Claim<'_>) -> Result<(), Uncertified> {
    let [txn] = claims.txns()?;
    let (key, value) = (claims.fact("key")?, claims.fact("element")?);
    let read = read_of(claims, txn)?;
    claim_ok(txn)?;
    claim(claims.workload.shows(&read.seen, value), || format!("the read does not show {value}"))?;
    let is_it = |mop: &Mop| matches!(mop, Mop::Write { key: k, value: v } if k == key && v == value);
    let later = read.places.iter().any(|at| txn.mops[*at..].iter().any(is_it));
    let verb = claims.workload.write_verb();
    claim(later, || format!("op {} did not {verb} {value} to key {key} after the read", txn.index))
}

/// Several ok transactions read one version of a key and then wrote it.
pub(super) fn lost_update(claims: &Claim<'_>) -> Result<(), Uncertified> {
    let (key, value) = (claims.fact("key")?, claims.fact("value")?);
    claim(claims.txns.len() >= 2, || "a lost update needs at least two transactions".into())?;
    for (at, txn) in claims.txns.iter().enumerate() {
        let index = txn.index;
        claim_ok(txn)?;
        claim(claims.txns[..at].iter().all(|other| other.index != index), || format!("op {index} is named twice"))?;
        let first = txn.mops.iter().position(|mop| mop.is_of(key) && !mop.is_write());
        let first = first.ok_or_else(|| Uncertified::new(format!("op {index} did not read key {key}")))?;
        let same = matches!(&txn.mops[first], Mop::Read { seen: Some(seen), .. } if seen == value);
        claim(same, || format!("op {index} first read another version of key {key}"))?;
        let writes = txn.mops[first..].iter().any(|mop| mop.is_of(key) && mop.is_write());
        let verb = claims.workload.write_verb();
        claim(writes, || format!("op {index} did not {verb} to key {key} after its first read of it"))?;
    }
    Ok(())
}

/// A read that a fact states.
pub(super) struct Read {
    pub(super) seen: Datum,
    /// The positions of this micro-op in its transaction.
    pub(super) places: Vec<usize>,
}

/// The witness's micro-op, which must be one of the transaction's known reads of the witness's key.
pub(super) fn read_of(claims: &Claim<'_>, txn: &Txn) -> Result<Read, Uncertified> {
    let (key, stated) = (claims.fact("key")?, claims.fact("mop")?);
    let read = claims.workload.mop(stated, txn.kind)?;
    let places: Vec<usize> = (0..txn.mops.len()).filter(|at| txn.mops[*at] == read).collect();
    claim(txn.is_possible() && !places.is_empty(), || format!("{stated} is not known to be part of op {}", txn.index))?;
    match read {
        Mop::Read { key: k, seen: Some(seen) } if k == *key => Ok(Read { seen, places }),
        _ => Err(Uncertified::new(format!("{stated} is not a known read of key {key}"))),
    }
}

pub(super) fn claim_ok(txn: &Txn) -> Result<(), Uncertified> {
    claim(txn.is_ok(), || format!("op {} is not ok", txn.index))
}
