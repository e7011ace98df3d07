//! Verifies cycles: each step by the definition of its edge, and all steps together by the definition of the type.

use super::log::Txn;
use super::workload::{claim_read, claim_written};
use super::{Claim, Uncertified, claim};
use history_core::{Datum, Step};

/// Checks that the witness is a cycle of this type.
pub(super) fn certify(claims: &Claim<'_>, anomaly: &str) -> Result<(), Uncertified> {
    let witness = claims.witness;
    let (base, suffix) = split(anomaly);
    if !TYPES.contains(&base) {
        return Err(Uncertified::new(format!("{anomaly} is unknown here: its witnesses cannot be verified")));
    }
    let n = claims.txns.len();
    claim(n >= 2, || format!("a cycle has at least two transactions, found {n}"))?;
    claim(witness.steps.len() == n, || {
        format!("expected {n} steps for {n} transactions, found {}", witness.steps.len())
    })?;
    for (at, txn) in claims.txns.iter().enumerate() {
        let index = txn.index;
        claim(txn.is_possible(), || format!("op {index} failed, and failed ops cannot be in a cycle"))?;
        claim(claims.txns[..at].iter().all(|other| other.index != index), || {
            format!("the cycle contains op {index} twice")
        })?;
    }
    for (at, step) in witness.steps.iter().enumerate() {
        claim(step.from == at && step.to == (at + 1) % n, || "it does not begin where the step before it ends".into())
            .and_then(|()| certify_step(claims, step))
            .map_err(|error| Uncertified { step: Some(at), ..error })?;
    }
    let relations: Vec<&str> = witness.steps.iter().map(|step| step.relation.as_ref()).collect();
    certify_type(&relations, base, suffix)
}

const TYPES: [&str; 5] = ["G0", "G1c", "G-single-item", "G-nonadjacent-item", "G2-item"];

/// A type and its suffix: `("G0", "-process")`.
fn split(anomaly: &str) -> (&str, &str) {
    for suffix in ["-process", "-realtime"] {
        if let Some(base) = anomaly.strip_suffix(suffix) {
            return (base, suffix);
        }
    }
    (anomaly, "")
}

/// Checks that a cycle of these relations has this name.
pub(super) fn certify_name(relations: &[&str], anomaly: &str) -> Result<(), Uncertified> {
    let (base, suffix) = split(anomaly);
    certify_type(relations, base, suffix)
}

fn certify_type(relations: &[&str], base: &str, suffix: &str) -> Result<(), Uncertified> {
    let count = |name: &str| relations.iter().filter(|relation| **relation == name).count();
    let adjacent = |i: usize| relations[i] == "rw" && relations[(i + 1) % relations.len()] == "rw";
    let any_adjacent = (0..relations.len()).any(adjacent);
    let (wr, rw) = (count("wr"), count("rw"));
    let is_of_base = match base {
        "G0" => wr == 0 && rw == 0,
        "G1c" => wr >= 1 && rw == 0,
        "G-single-item" => rw == 1,
        "G-nonadjacent-item" => rw >= 2 && !any_adjacent,
        "G2-item" => rw >= 2 && any_adjacent,
        _ => false,
    };
    let (process, realtime) = (count("process"), count("realtime"));
    let is_of_suffix = match suffix {
        "" => process == 0 && realtime == 0,
        "-process" => process >= 1 && realtime == 0,
        _ => realtime >= 1,
    };
    claim(is_of_base && is_of_suffix, || format!("a cycle of {} is not {base}{suffix}", relations.join(", ")))
}

fn certify_step(claims: &Claim<'_>, step: &Step) -> Result<(), Uncertified> {
    let (from, to) = (claims.txns[step.from], claims.txns[step.to]);
    match step.relation.as_ref() {
        "ww" => certify_ww(claims, step, from, to),
        "wr" => certify_wr(claims, step, from, to),
        "rw" => certify_rw(claims, step, from, to),
        "process" => {
            claim(from.is_ok(), || {
                format!("op {} may not have happened, so nothing is known to come after it", from.index)
            })?;
            let same = from.process.is_some() && from.process == to.process;
            claim(same, || format!("ops {} and {} are of different processes", from.index, to.index))?;
            claim(from.is_before_in_process(to), || format!("op {} is not before op {}", from.index, to.index))
        }
        "realtime" => {
            claim(from.is_ok(), || format!("op {} is not known to have completed", from.index))?;
            claim(from.is_before_in_realtime(to), || {
                format!("op {} had not completed when op {} was invoked", from.index, to.index)
            })
        }
        other => Err(Uncertified::new(format!("unknown relation {other}"))),
    }
}

fn certify_ww(claims: &Claim<'_>, step: &Step, from: &Txn, to: &Txn) -> Result<(), Uncertified> {
    let (key, value, next) = (key(step)?, stated(step.value.as_ref())?, stated(step.next_value.as_ref())?);
    let version = claim_written(claims, from, key, value)?;
    let next = claim_written(claims, to, key, next)?;
    claims.workload.claim_follows(claims.log, key, &version, &next)
}

fn certify_wr(claims: &Claim<'_>, step: &Step, from: &Txn, to: &Txn) -> Result<(), Uncertified> {
    let (key, value) = (key(step)?, stated(step.value.as_ref())?);
    let same = step.next_value.as_ref().is_none_or(|next| next == value);
    claim(same, || "the version written and the version read differ".into())?;
    let written = claim_written(claims, from, key, value)?;
    let read = claim_read(claims, to, key, value)?;
    claim(written == read, || format!("other ops also wrote {value} to key {key}"))
}

fn certify_rw(claims: &Claim<'_>, step: &Step, from: &Txn, to: &Txn) -> Result<(), Uncertified> {
    let (key, next) = (key(step)?, stated(step.next_value.as_ref())?);
    // Nil is the initial version.
    let version = claim_read(claims, from, key, step.value.as_ref().unwrap_or(&Datum::Nil))?;
    let next = claim_written(claims, to, key, next)?;
    claims.workload.claim_follows(claims.log, key, &version, &next)
}

fn key(step: &Step) -> Result<&Datum, Uncertified> {
    step.key.as_ref().ok_or_else(|| Uncertified::new("it states no key"))
}

fn stated(value: Option<&Datum>) -> Result<&Datum, Uncertified> {
    value.ok_or_else(|| Uncertified::new("it does not state its versions"))
}
