//! False witnesses: every change of one thing in a true witness.

use super::Workload;
use super::against::{certified, checker};
use super::cases::{Case, edn};
use super::lattice;
use super::names::Names;
use history_core::{Datum, History, OpKind, Step, Witness, WitnessOp};

/// Calls `see` for each witness that the checker gives for the cases: case, history, anomaly and witness.
fn each_witness(cases: &[Case], mut see: impl FnMut(&Case, &History, &str, &Witness)) {
    for case in cases {
        let history = History::parse(&edn(case.history)).expect(case.name);
        let report = checker(&history, &case.question());
        for anomaly in &report.anomalies {
            for witness in &anomaly.witnesses {
                see(case, &history, &anomaly.name, witness);
            }
        }
    }
}

/// Returns the anomalies that have witnesses.
pub(crate) fn types(cases: &[Case]) -> Names {
    let mut types = Names::new();
    each_witness(cases, |_, _, anomaly, _| {
        types.insert(lattice::name(anomaly));
    });
    types
}

/// Certifies all witnesses that the checker gives; returns their number.
pub(crate) fn certify_all(cases: &[Case]) -> usize {
    let mut seen = 0;
    each_witness(cases, |case, history, anomaly, witness| {
        assert_eq!(certified(history, &case.question(), anomaly, witness), Ok(()), "{}: {anomaly}", case.name);
        seen += 1;
    });
    seen
}

/// Asserts that no changed witness is certified; returns the number of changes.
pub(crate) fn refuse_changed(cases: &[Case]) -> usize {
    let mut changes = 0;
    each_witness(cases, |case, history, anomaly, witness| {
        let write = if matches!(case.workload, Workload::ListAppend) { "append" } else { "w" };
        let mut all = changed(witness, write);
        // The ops of this anomaly only illustrate it.
        all.retain(|(_, changed)| anomaly != "cyclic-versions" || changed.ops.len() >= witness.ops.len());
        for (change, changed) in all {
            let result = certified(history, &case.question(), anomaly, &changed);
            assert!(result.is_err(), "{}: {anomaly} is certified {change}: {changed:#?}", case.name);
            changes += 1;
        }
    });
    changes
}

/// Asserts that no witness is certified for another type, except in these cases.
pub(crate) fn refuse_other_types(cases: &[Case], exceptions: &[&str]) {
    let types = types(cases);
    each_witness(cases, |case, history, anomaly, witness| {
        for other in types.iter().filter(|other| **other != anomaly && !exceptions.contains(&case.name)) {
            let result = certified(history, &case.question(), other, witness);
            assert!(result.is_err(), "{}: {anomaly} passes for {other}", case.name);
        }
    });
}

/// Returns all changes of one thing in a witness after which it proves nothing.
fn changed(witness: &Witness, write: &str) -> Vec<(String, Witness)> {
    let mut all: Vec<(String, Witness)> = Vec::new();
    let mut change = |what: String, how: &dyn Fn(&mut Witness)| {
        let mut changed = witness.clone();
        how(&mut changed);
        if changed != *witness {
            all.push((what, changed));
        }
    };
    for at in 0..witness.ops.len() {
        change(format!("without op {at}"), &|w| drop(w.ops.remove(at)));
        change(format!("with op {at} twice"), &|w| w.ops.insert(at, w.ops[at].clone()));
        change(format!("with an op for op {at} that is not there"), &|w| w.ops[at].index = 1000);
        change(format!("with another process of op {at}"), &|w| w.ops[at].process = Some(17.into()));
        change(format!("with op {at} of another kind"), &|w| {
            w.ops[at].kind = other_kind(w.ops[at].kind);
        });
        change(format!("with another value of op {at}"), &|w| w.ops[at].value = Datum::Vector(vec![mop(write, 5)]));
    }
    for at in 0..witness.steps.len() {
        change(format!("without step {at}"), &|w| drop(w.steps.remove(at)));
        change(format!("with step {at} from elsewhere"), &|w| w.steps[at].from = w.steps.len());
        change(format!("with step {at} to itself"), &|w| w.steps[at].to = at);
        for relation in ["ww", "wr", "rw", "process", "realtime", "through"] {
            if witness.steps[at].relation != relation {
                change(format!("with step {at} by {relation}"), &|w| w.steps[at].relation = relation.into());
            }
        }
        if witness.steps[at].key.is_some() {
            change(format!("with another key in step {at}"), &|w| w.steps[at].key = Some(Datum::keyword("no")));
            change(format!("with no key in step {at}"), &|w| w.steps[at].key = None);
            change(format!("with another value in step {at}"), &|w| w.steps[at].value = Some(Datum::from(77)));
            change(format!("with another next value in step {at}"), &|w| {
                w.steps[at].next_value = Some(Datum::from(77));
            });
        }
    }
    for at in 0..witness.facts.len() {
        let name = &witness.facts[at].0;
        change(format!("without {name}"), &|w| drop(w.facts.remove(at)));
        for datum in [Datum::Nil, Datum::from(77), Datum::Vector(vec![]), Datum::Map(vec![]), mop("r", 77)] {
            change(format!("with {datum} for {name}"), &|w| w.facts[at].1 = datum.clone());
        }
        if let Datum::Vector(items) = &witness.facts[at].1 {
            change(format!("with one more in {name}"), &|w| {
                w.facts[at].1 = Datum::Vector([&items[..], &[77.into()]].concat());
            });
        }
    }
    all
}

fn other_kind(kind: OpKind) -> OpKind {
    if kind == OpKind::Ok { OpKind::Fail } else { OpKind::Ok }
}

fn mop(f: &str, value: i64) -> Datum {
    Datum::Vector(vec![Datum::keyword(f), Datum::keyword("x"), Datum::from(value)])
}

/// Makes a cycle through the ops at these positions of a history without invocations.
pub(crate) fn cycle(history: &History, ops: &[usize], steps: &[(&str, &str, Datum, i64)]) -> Witness {
    let ops = ops.iter().map(|at| witness_op(history, *at)).collect::<Vec<_>>();
    let step = |(from, (relation, key, value, next)): (usize, &(&str, &str, Datum, i64))| {
        let step = Step::new(from, (from + 1) % ops.len(), (*relation).to_owned(), "");
        step.with_versions(Some(Datum::keyword(*key)), Some(value.clone()), Some(Datum::from(*next)))
    };
    let steps = steps.iter().enumerate().map(step).collect();
    Witness::new(ops.clone(), "").with_steps(steps)
}

pub(crate) fn witness_op(history: &History, at: usize) -> WitnessOp {
    let op = history.op(at);
    let process = history_core::Client::of(&op);
    let value = history.value(at).to_datum();
    WitnessOp { name: format!("T{at}"), index: op.index, process, kind: op.kind, time_ns: op.time, value }
}

/// Makes the witness of a component of `size` transactions that lists these indices.
pub(crate) fn component(txns: &[i64], size: i64) -> Witness {
    let scc = txns.iter().map(|txn| Datum::from(*txn)).collect();
    let facts = vec![("scc-size".into(), Datum::from(size)), ("scc".into(), Datum::Vector(scc))];
    Witness::default().with_facts(facts)
}
