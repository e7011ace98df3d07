//! Verifies the anomalies of registers that are not cycles of transactions, each by its definition.

use super::sources::{Edge, Source, Sources, edges, in_use, keys, reached};
use crate::direct::{claim_ok, read_of};
use crate::log::Mop;
use crate::workload::Version;
use crate::{Claim, Uncertified, claim};
use history_core::Datum;
use history_core::cast::Cast as _;

/// A read contradicts the last earlier read or write of the key in its transaction.
pub(crate) fn internal(claims: &Claim<'_>) -> Result<(), Uncertified> {
    let [txn] = claims.txns()?;
    let (key, expected) = (claims.fact("key")?, claims.fact("expected")?);
    let read = read_of(claims, txn)?;
    claim_ok(txn)?;
    claim(read.seen != *expected, || "the read is as expected".into())?;
    let before = |at: &usize| match txn.mops[..*at].iter().rfind(|mop| mop.is_of(key)) {
        Some(Mop::Read { seen, .. }) => seen.as_ref(),
        Some(Mop::Write { value, .. }) => Some(value),
        None => None,
    };
    let justified = read.places.iter().any(|at| before(at) == Some(expected));
    claim(justified, || format!("the micro-ops before the read do not imply {expected}"))
}

/// The named sources, of which the last was not used for this reason, order some versions of a key in a cycle.
pub(crate) fn cyclic_versions(claims: &Claim<'_>, asked: &Sources) -> Result<(), Uncertified> {
    let (key, scc, stated) = (claims.fact("key")?, claims.list("scc")?, claims.list("sources")?);
    claim(claims.witness.steps.is_empty(), || "this cycle is of versions, not of transactions".into())?;
    let used = in_use(claims.log, asked);
    let is_stated = |sources: &&Vec<Source<'_>>| {
        let names: Vec<&str> = stated.iter().filter_map(name).collect();
        names.len() == stated.len() && sources.iter().map(Source::name).eq(names)
    };
    let refused = used.refused.iter().find(is_stated);
    let refused = refused
        .ok_or_else(|| Uncertified::new(format!("the sources {} do not contradict one another", list(stated))))?;
    claim(keys(claims.log).contains(key), || format!("the history has no key {key}"))?;
    let edges = edges(claims.log, refused, key);
    let part = claims.fact("scc-size").ok();
    claim(components(&edges).any(|component| is_named(&component, scc, part)), || {
        format!("versions {} of key {key} are not a whole cycle of versions", list(scc))
    })?;
    // The ops are only illustrations.
    for (at, txn) in claims.txns.iter().enumerate() {
        let twice = claims.txns[..at].iter().any(|other| other.index == txn.index);
        claim(!twice, || format!("op {} is named twice", txn.index))?;
        claim(txn.mops.iter().any(|mop| mop.is_of(key)), || format!("op {} does not use key {key}", txn.index))?;
    }
    Ok(())
}

/// Returns true if these are the values of all versions of a component or, if its size is given, of some of them. Two
/// versions may have the same value.
fn is_named(component: &[Version], values: &[Datum], size: Option<&Datum>) -> bool {
    let mut left: Vec<&Version> = component.iter().collect();
    let all_there = values.iter().all(|value| {
        let at = left.iter().position(|version| version.has_value(value));
        at.map(|at| left.swap_remove(at)).is_some()
    });
    all_there
        && !values.is_empty()
        && size.map_or(left.is_empty(), |size| *size == Datum::from(component.len().to_u64()))
}

/// For each version that precedes itself, the versions that it precedes and that precede it.
fn components(edges: &[Edge]) -> impl Iterator<Item = Vec<Version>> {
    let around = |version: &Version| {
        let before = |other: &Version| reached(edges, other).contains(version);
        reached(edges, version).into_iter().filter(before).collect::<Vec<_>>()
    };
    edges.iter().map(move |(version, _)| around(version)).filter(|component| !component.is_empty())
}

fn name(source: &Datum) -> Option<&str> {
    match source {
        Datum::Keyword(name) | Datum::Str(name) | Datum::Symbol(name) => Some(name),
        _ => None,
    }
}

fn list(items: &[Datum]) -> Datum {
    Datum::Vector(items.to_vec())
}
