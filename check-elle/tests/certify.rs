//! Certifying: true witnesses pass, and no change to one goes unnoticed.

mod oracle;

use check_elle::certify;
use history_core::{Datum, History, OpKind, Report, Step, Witness, WitnessOp};
use oracle::against::checker;
use oracle::cases::{CASES, Case, edn};

/// A case's history, and what the checker says of it.
fn checked(case: &Case) -> (History, Report) {
    let history = History::parse(&edn(case.history)).expect(case.name);
    let report = checker(&history, &case.question());
    (history, report)
}

/// All witnesses that the checker gives for the cases: case, history, anomaly and witness.
fn each_witness(mut see: impl FnMut(&Case, &History, &str, &Witness)) {
    let mut seen = 0;
    for case in CASES {
        let (history, report) = checked(case);
        for anomaly in &report.anomalies {
            for witness in &anomaly.witnesses {
                see(case, &history, &anomaly.name, witness);
                seen += 1;
            }
        }
    }
    assert!(seen >= 50, "the cases have many witnesses, not {seen}");
}

#[test]
fn what_is_true_is_certified() {
    each_witness(|case, history, anomaly, witness| {
        assert_eq!(certify::list_append(history, anomaly, witness), Ok(()), "{}: {anomaly}", case.name);
    });
}

#[test]
fn each_type_is_certified_in_some_case() {
    let mut certified = std::collections::BTreeSet::new();
    each_witness(|_, _, anomaly, _| {
        certified.insert(anomaly.to_owned());
    });
    for cycle in ["G0", "G1c", "G-single-item", "G-nonadjacent-item", "G2-item"] {
        for suffix in ["", "-process", "-realtime"] {
            assert!(certified.remove(&format!("{cycle}{suffix}")), "{cycle}{suffix} is in no case");
        }
    }
    let direct = [
        "G1a",
        "G1b",
        "dirty-update",
        "duplicate-elements",
        "future-read",
        "incompatible-order",
        "internal",
        "lost-update",
    ];
    assert_eq!(certified.into_iter().collect::<Vec<_>>(), direct);
}

#[test]
fn no_change_goes_unnoticed() {
    let mut changes = 0;
    each_witness(|case, history, anomaly, witness| {
        for (change, changed) in changed(witness) {
            let result = certify::list_append(history, anomaly, &changed);
            assert!(result.is_err(), "{}: {anomaly} is certified {change}: {changed:#?}", case.name);
            changes += 1;
        }
    });
    assert!(changes > 1000, "{changes} changes are few");
}

#[test]
fn no_witness_proves_two_types() {
    let mut types: Vec<String> = Vec::new();
    each_witness(|_, _, anomaly, _| types.push(anomaly.to_owned()));
    types.sort();
    types.dedup();
    each_witness(|case, history, anomaly, witness| {
        for other in types.iter().filter(|other| *other != anomaly) {
            // What a failed transaction wrote and then overwrote is both, and the two have the same facts.
            if case.name != "G1a and G1b" {
                assert!(
                    certify::list_append(history, other, witness).is_err(),
                    "{}: {anomaly} passes for {other}",
                    case.name
                );
            }
        }
    });
}

/// Everything that can be changed about a witness one thing at a time, so that it proves nothing.
fn changed(witness: &Witness) -> Vec<(String, Witness)> {
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
        change(format!("with another process of op {at}"), &|w| w.ops[at].process = Some(17));
        change(format!("with op {at} of another kind"), &|w| {
            w.ops[at].kind = other_kind(w.ops[at].kind);
        });
        change(format!("with another value of op {at}"), &|w| w.ops[at].value = Datum::Vector(vec![mop("append", 5)]));
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

/// A cycle through the ops at these positions of a history without invocations.
fn cycle(history: &History, ops: &[usize], steps: &[(&str, &str, Datum, i64)]) -> Witness {
    let ops = ops.iter().map(|at| witness_op(history, *at)).collect::<Vec<_>>();
    let step = |(from, (relation, key, value, next)): (usize, &(&str, &str, Datum, i64))| Step {
        from,
        to: (from + 1) % ops.len(),
        relation: (*relation).to_owned().into(),
        key: Some(Datum::keyword(*key)),
        value: Some(value.clone()),
        next_value: Some(Datum::from(*next)),
        because: String::new(),
    };
    let steps = steps.iter().enumerate().map(step).collect();
    Witness { ops: ops.clone(), steps, ..Witness::default() }
}

fn witness_op(history: &History, at: usize) -> WitnessOp {
    let op = history.op(at);
    let process = if let history_core::Process::Client(process) = op.process { Some(process) } else { None };
    let value = history.value(at).to_datum();
    WitnessOp { name: format!("T{at}"), index: op.index, process, kind: op.kind, time_ns: op.time, value }
}

#[test]
fn reasons_name_what_fails() {
    let history = History::parse(&edn(
        "0 ok ax1 ay1\n1 ok ax2 ay2\n2 ok rx[1 2 3] ry[2 1]\n3 ok ax3\n4 fail ax4\n5 info rx? rx[1 2]\n6 ok rx[] rz[]\n7 ok az5\n8 ok az6",
    ))
    .unwrap();
    let one = || Datum::from(1);
    let reason = |ops: &[usize], steps: &[(&str, &str, Datum, i64)]| {
        certify::list_append(&history, "G0", &cycle(&history, ops, steps)).map_err(|error| error.to_string())
    };
    assert_eq!(reason(&[0, 1], &[("ww", "x", one(), 2), ("ww", "y", 2.into(), 1)]), Ok(()));
    let errors = [
        (
            reason(&[0, 3], &[("ww", "x", one(), 3), ("ww", "y", 2.into(), 1)]),
            "step 0: 3 is not the direct successor of 1 in the version order of key :x, [1 2 3]",
        ),
        (
            reason(&[0, 1], &[("ww", "x", one(), 3), ("ww", "y", 2.into(), 1)]),
            "step 0: op 1 did not append 3 to key :x",
        ),
        (
            reason(&[0, 4], &[("ww", "x", one(), 4), ("ww", "x", 4.into(), 1)]),
            "op 4 failed and has no place in a cycle",
        ),
        (reason(&[0, 0], &[("ww", "x", one(), 2), ("ww", "y", 2.into(), 1)]), "the cycle meets op 0 twice"),
        (reason(&[0], &[("ww", "x", one(), 2)]), "a cycle has two transactions or more, not 1"),
        (
            reason(&[5, 3], &[("rw", "x", 2.into(), 3), ("wr", "x", 3.into(), 3)]),
            "step 1: op 5 read no list of key :x that ends in 3",
        ),
        (
            reason(&[5, 0], &[("rw", "x", Datum::Nil, 1), ("ww", "x", one(), 2)]),
            "step 0: op 5 did not read the empty list of key :x",
        ),
        (
            reason(&[6, 7], &[("rw", "z", Datum::Nil, 5), ("ww", "z", 5.into(), 6)]),
            "step 1: op 6 did not append 6 to key :z",
        ),
        (
            reason(&[7, 8], &[("ww", "z", 5.into(), 6), ("ww", "z", 6.into(), 5)]),
            "step 0: 5 is not in the version order of key :z, []",
        ),
        (
            reason(&[0, 1], &[("process", "x", one(), 2), ("ww", "y", 2.into(), 1)]),
            "step 0: ops 0 and 1 are not of one process",
        ),
        (
            reason(&[0, 1], &[("realtime", "x", one(), 2), ("ww", "y", 2.into(), 1)]),
            "step 0: op 0 had not completed when op 1 was invoked",
        ),
    ];
    for (got, expected) in errors {
        assert_eq!(got, Err(expected.to_owned()));
    }
}

#[test]
fn anti_dependencies_lead_to_all_that_nobody_read() {
    let history = History::parse(&edn("0 ok rx[] ry[]\n1 ok ax1 rz[]\n2 ok ax2 ay3\n3 ok az4")).unwrap();
    for (to, element) in [(1, 1), (2, 2)] {
        let witness = cycle(&history, &[0, to], &[("rw", "x", Datum::Nil, element), ("rw", "x", Datum::Nil, element)]);
        let error = certify::list_append(&history, "G2-item", &witness).unwrap_err();
        // The first step holds.
        assert_eq!(error.step, Some(1), "{error}");
    }
}

#[test]
fn components_are_those_of_the_model() {
    let component = |txns: &[i64], size: i64| Witness {
        facts: vec![
            ("scc-size".into(), Datum::from(size)),
            ("scc".into(), Datum::Vector(txns.iter().map(|txn| Datum::from(*txn)).collect())),
        ],
        ..Witness::default()
    };
    let on = |text: &str, model: &str, txns: &[i64], size: i64| {
        let history = History::parse(&edn(text)).unwrap();
        certify::list_append(&history, &format!("{model}-cycle-exists"), &component(txns, size))
            .map_err(|error| error.reason)
    };
    let g0 = "0 ok ax1 ay1\n1 ok ax2 ay2\n2 ok rx[1 2] ry[2 1]";
    let skew = "0 ok rx[] ay1\n1 ok ry[] ax1";
    let single = "0 ok rx[] ry[1]\n1 ok ax1 ay1";
    let session = "0 ok rx[1]\n0 ok ax1";
    let stale = "0 invoke ax1\n0 ok ax1\n1 invoke rx?\n1 ok rx[]";
    for (text, model, txns) in [
        (g0, "PL-1", [0, 1]),
        (g0, "PL-3", [1, 0]),
        (skew, "PL-3", [0, 1]),
        (skew, "PL-2.99", [0, 1]),
        (single, "PL-SI", [0, 1]),
        (session, "strong-session-PL-2", [0, 1]),
        (session, "strong-session-snapshot-isolation", [0, 1]),
        (stale, "PL-SS", [1, 3]),
        (stale, "strong-snapshot-isolation", [1, 3]),
    ] {
        assert_eq!(on(text, model, &txns, 2), Ok(()), "{model} of {text}");
        assert_eq!(on(text, model, &txns[..1], 2), Ok(()), "{model} of {text}, cut");
        assert_eq!(on(text, model, &txns, 3), Err("the component has 2 transactions".into()));
    }
    for (text, model, txns) in [
        (g0, "PL-1", [0, 2]),
        (skew, "PL-SI", [0, 1]),
        (single, "PL-2", [0, 1]),
        (session, "PL-3", [0, 1]),
        (session, "strong-session-PL-1", [0, 1]),
        (session, "PL-SS", [0, 1]),
        (stale, "strong-PL-2", [1, 3]),
        (stale, "strong-session-serializable", [1, 3]),
    ] {
        let reason = on(text, model, &txns, 2).unwrap_err();
        assert!(reason.contains("is on no such cycle"), "{model} of {text}: {reason}");
    }
    assert_eq!(on(g0, "PL-0", &[0, 1], 2), Err("no cycles rule out a model named PL-0".into()));
}
