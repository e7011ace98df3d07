//! Compares a checker with the oracle: the verdict, the types, the models, and every witness.

use super::world::World;
use super::{Judgement, Question, Workload, judge_world, lattice, names::Names};
use check_elle::Exact;
use check_elle::anomaly::{AnomalySet, AnomalyType};
use check_elle::list_append::ListAppend;
use check_elle::model::Model;
use check_elle::rw_register::RwRegister;
use elle_certify::{self as certify, Sources, Uncertified};
use history_core::{Checker as _, History, Report, Verdict, Witness};
use std::borrow::Cow;

/// The checker under test, by cycles only: the oracle's verdicts follow from cycles.
pub(crate) fn checker(history: &History, question: &Question<'_>) -> Report {
    check(history, question, Exact::No)
}

/// The checker under test.
pub(crate) fn check(history: &History, question: &Question<'_>, exact: Exact) -> Report {
    let model = |name: &&str| name.parse::<Model>().expect("the oracle's names are known");
    let mut anomalies = AnomalySet::EMPTY;
    for name in question.anomalies {
        anomalies.insert(name.parse::<AnomalyType>().expect("the oracle's names are known"));
    }
    let consistency_models = question.models.iter().map(model).collect();
    let report = match question.workload {
        Workload::ListAppend => {
            let options = ListAppend { consistency_models, anomalies, exact, ..ListAppend::default() };
            ListAppend { garbage_reads_allowed: question.allow_garbage, ..options }.check(history)
        }
        Workload::RwRegister(sources) => {
            let options = RwRegister { consistency_models, anomalies, exact, ..RwRegister::default() };
            let options = RwRegister {
                garbage_reads_allowed: question.allow_garbage,
                wfr_keys: sources.wfr_keys,
                sequential_keys: sources.sequential_keys,
                linearizable_keys: sources.linearizable_keys,
                transaction_order: sources.transaction_order.map(<[u64]>::to_vec),
                ..options
            };
            options.check(history)
        }
    };
    report.expect("histories of tests are small")
}

/// Judges a history both by the oracle and by a checker.
///
/// # Errors
///
/// The difference between the two, or why a witness proves nothing.
pub(crate) fn compare(
    text: &str,
    question: &Question<'_>,
    checker: impl Fn(&History, &Question<'_>) -> Report,
) -> Result<Report, String> {
    let history = History::parse(text).map_err(|error| format!("{error}\n{text}"))?;
    let report = checker(&history, question);
    agree(&history, question, &report).map_err(|why| {
        let Question { models, anomalies, workload, .. } = question;
        format!("{why}\nmodels {models:?}, anomalies {anomalies:?}, {workload:?}, of the history\n{text}")
    })?;
    Ok(report)
}

/// Checks that a report agrees with the oracle.
///
/// # Errors
///
/// The difference between the two, or why a witness proves nothing.
pub(crate) fn agree(history: &History, question: &Question<'_>, report: &Report) -> Result<(), String> {
    agree_in(World::of(history, &question.workload).ok().as_ref(), history, question, report)
}

/// The same for a history that is already converted; `None` if it has no verdict.
pub(crate) fn agree_in(
    world: Option<&World>,
    history: &History,
    question: &Question<'_>,
    report: &Report,
) -> Result<(), String> {
    match world {
        Some(world) => agree_on(&judge_world(world, question), report)?,
        None => same("verdict of a malformed history", &Verdict::Unknown, &report.verdict)?,
    }
    for anomaly in &report.anomalies {
        let has_witness = anomaly.name == "empty-transaction-graph" || !anomaly.witnesses.is_empty();
        same(&format!("{}: has a witness", anomaly.name), &true, &has_witness)?;
        for witness in &anomaly.witnesses {
            let proof = certified(history, question, &anomaly.name, witness);
            proof.map_err(|error| format!("{} is not certified: {error}\n{witness:#?}", anomaly.name))?;
        }
    }
    Ok(())
}

/// Checks that a witness proves its anomaly.
///
/// # Errors
///
/// Why the witness proves nothing.
pub(crate) fn certified(
    history: &History,
    question: &Question<'_>,
    anomaly: &str,
    witness: &Witness,
) -> Result<(), Uncertified> {
    match question.workload {
        Workload::ListAppend => certify::list_append(history, anomaly, witness),
        Workload::RwRegister(sources) => {
            let sources = Sources {
                wfr_keys: sources.wfr_keys,
                sequential_keys: sources.sequential_keys,
                linearizable_keys: sources.linearizable_keys,
                transaction_order: sources.transaction_order.map(<[u64]>::to_vec),
                ..Sources::default()
            };
            certify::rw_register(history, &sources, anomaly, witness)
        }
    }
}

fn agree_on(judgement: &Judgement, report: &Report) -> Result<(), String> {
    let may_be = |name: &&str| judgement.anomaly_types.contains(name) || !judgement.may_be.contains(name);
    let types: Names = report.anomaly_types().filter(may_be).map(lattice::name).collect();
    same("anomaly types", &judgement.anomaly_types, &types)?;
    same("verdict", &judgement.verdict, &report.verdict)?;
    same_names("models ruled out", &judgement.not, &report.not)?;
    same_names("models ruled out with them", &judgement.also_not, &report.also_not)?;
    same_names("models of which nothing is said", &judgement.not_checked, &report.not_checked)?;
    let mut sorted = report.not_checked.clone();
    sorted.sort_unstable();
    same("their order", &sorted, &report.not_checked)
}

/// [`same`] for names; fast if the list is sorted, as most lists are.
fn same_names(what: &str, expected: &Names, found: &[Cow<'_, str>]) -> Result<(), String> {
    if expected.iter().copied().eq(found.iter().map(|name| &**name)) {
        return Ok(());
    }
    same(what, expected, &found.iter().map(|found| lattice::name(found)).collect())
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, oracle: &T, checker: &T) -> Result<(), String> {
    if oracle == checker { Ok(()) } else { Err(format!("{what}: the oracle says {oracle:?}, the checker {checker:?}")) }
}
