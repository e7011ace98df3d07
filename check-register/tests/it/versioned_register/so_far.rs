//! Violations so far: an anomaly that is certain is known at the op that proves it, and remains whatever follows.

use super::oracle::{in_order, is_linearizable};
use super::properties::{damage, harm, run, steps};
use super::world::{Fate, Operation, ops};
use check_register::versioned_register::VersionedRegister;
use history_core::{Budget, Checker, Datum, HistoryBuilder, NewOp, Op, OpKind, Options, Process, Report, Run, Verdict};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::num::NonZeroU32;

fn each(ops: &[NewOp<'static>], mut look: impl FnMut(&Op<'_>)) {
    let mut builder = HistoryBuilder::new();
    for op in ops {
        builder.push_op(op).unwrap();
    }
    builder.build().ops().for_each(|op| look(&op));
}

fn start(checker: &VersionedRegister) -> Box<dyn Run> {
    checker.start(&Options::new()).unwrap()
}

fn judge(checker: &VersionedRegister, ops: &[NewOp<'static>]) -> Report {
    let mut run = start(checker);
    each(ops, |op| _ = run.observe(op).unwrap());
    run.finish(&Budget::default()).unwrap()
}

/// The number of ops after which it is certain that the history is invalid. An anomaly that is certain must remain so
/// after each further op, and at the end.
fn certain(checker: &VersionedRegister, ops: &[NewOp<'static>]) -> Option<usize> {
    let mut run = start(checker);
    assert!(!run.is_violated() && run.violation().is_none(), "nothing has happened");
    let mut known: Option<(usize, Report)> = None;
    let mut at = 0;
    each(ops, |op| {
        at += 1;
        _ = run.observe(op).unwrap();
        let report = run.violation();
        assert_eq!(report.is_some(), run.is_violated());
        match (&known, report) {
            (None, Some(report)) => known = Some((at, report)),
            (Some(_), None) => panic!("the violation is retracted at op {at} of {ops:#?}"),
            (Some((_, before)), Some(now)) => holds(before, &now),
            (None, None) => {}
        }
    });
    let last = run.finish(&Budget::default()).unwrap();
    let (at, report) = known?;
    holds(&report, &last);
    Some(at)
}

fn holds(before: &Report, after: &Report) {
    assert_eq!((before.verdict, after.verdict), (Verdict::Invalid, Verdict::Invalid), "{before:#?}\n{after:#?}");
    assert!(!before.anomalies.is_empty(), "{before:#?}");
    let count = |report: &Report, name: &str| report.anomaly(name).map_or(0, |anomaly| anomaly.count);
    // A version that was not proposed may be proposed later.
    let reads = |report: &Report| count(report, "garbage-read") + count(report, "future-read");
    assert!(reads(before) <= reads(after), "{before:#?}\n{after:#?}");
    for anomaly in before.anomalies.iter().filter(|anomaly| anomaly.name != "garbage-read") {
        assert!(anomaly.count <= count(after, &anomaly.name), "{before:#?}\n{after:#?}");
    }
}

fn checker(initial: bool, forget: u32) -> VersionedRegister {
    VersionedRegister {
        initial_write_id: initial.then(|| Datum::from(0)),
        initial_value: initial.then(|| Datum::from(0)),
        forget: NonZeroU32::new(forget),
        ..VersionedRegister::default()
    }
}

/// The ops in the order in which they were recorded.
fn recorded(operations: &[Operation], timed: bool) -> Vec<NewOp<'static>> {
    let mut ops = ops(operations);
    ops.sort_by_key(|(at, _)| *at);
    ops.into_iter().map(|(at, op)| if timed { op.time_ns(at) } else { op }).collect()
}

/// The operations as they are after the first `len` of their ops.
fn beginning(operations: &[Operation], len: usize) -> Vec<Operation> {
    let mut moments: Vec<i64> = operations.iter().map(|operation| operation.invoked).collect();
    moments.extend(
        operations.iter().filter(|operation| operation.fate != Fate::Open).map(|operation| operation.completed),
    );
    moments.sort_unstable();
    let Some(now) = len.checked_sub(1).map(|last| moments[last]) else { return Vec::new() };
    let begun = operations.iter().filter(|operation| operation.invoked <= now);
    let so_far = |operation: &Operation| {
        let fate = if operation.completed <= now { operation.fate } else { Fate::Open };
        Operation { fate, ..*operation }
    };
    begun.map(so_far).collect()
}

/// The same ops by other clients, so that they can follow any prefix.
fn by_others(ops: &[NewOp<'static>]) -> Vec<NewOp<'static>> {
    let other = |op: &NewOp<'static>| match op.process {
        Process::Client(process) => NewOp { process: Process::Client(process + 100_000), ..op.clone() },
        _ => op.clone(),
    };
    ops.iter().map(other).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_violation_is_certain_if_the_prefix_proves_it(
        steps in steps(80),
        lies in prop::collection::vec(damage(), 1..10),
        others in super::properties::steps(20),
        cut in any::<prop::sample::Index>(),
        initial in any::<bool>(),
        forget in 0..3_u32,
        timed in any::<bool>(),
    ) {
        let mut operations = run(&steps);
        harm(&mut operations, &lies);
        let ops = recorded(&operations, timed);
        let checker = VersionedRegister { in_order: timed, ..checker(initial, forget) };
        let known = certain(&checker, &ops);
        for len in 0..=ops.len() {
            let (is_known, verdict) = (known.is_some_and(|at| at <= len), judge(&checker, &ops[..len]).verdict);
            prop_assert_eq!(is_known, verdict == Verdict::Invalid, "after {} of {:#?}", len, ops);
            if forget == 0 {
                let is_valid = is_linearizable(&beginning(&operations, len), initial.then_some(0), in_order);
                prop_assert_eq!(is_known, !is_valid, "after {} of {:#?}", len, ops);
            }
        }
        // The same prefix, and other ops at the end that may contradict it: their writes propose ids that others have.
        let mut mixed = ops[..cut.index(ops.len() + 1)].to_vec();
        mixed.extend(by_others(&recorded(&run(&others), timed)));
        certain(&checker, &mixed);
        // While later ops may have earlier times, nothing is certain.
        if timed {
            prop_assert_eq!(certain(&VersionedRegister { in_order: false, ..checker }, &ops), None);
        }
    }
}

#[test]
fn some_random_histories_are_violated() {
    // Without violations, the law above would hold trivially.
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut violated = 0;
    for _ in 0..100 {
        let lies = prop::collection::vec(damage(), 1..10);
        let (steps, lies) = (steps(80), lies).new_tree(&mut runner).unwrap().current();
        let mut operations = run(&steps);
        harm(&mut operations, &lies);
        violated += u32::from(certain(&checker(true, 0), &recorded(&operations, false)).is_some());
    }
    assert!((20..=80).contains(&violated), "{violated}");
}

fn write(kind: OpKind, process: i64, id: i64, prev: i64) -> NewOp<'static> {
    NewOp::new(kind, process).f("write").value(id).with("write-id", id).with("prev-write-id", prev)
}

fn read(process: i64, id: i64) -> [NewOp<'static>; 2] {
    let ok = NewOp::new(OpKind::Ok, process).f("read").value(id).with("write-id", id);
    [NewOp::new(OpKind::Invoke, process).f("read"), ok]
}

/// Two writes that replace version 0.
fn lost_update() -> Vec<NewOp<'static>> {
    let both = |id: i64| [write(OpKind::Invoke, id, id, 0), write(OpKind::Ok, id, id, 0)];
    [both(1), both(2)].concat()
}

fn timed(ops: &[NewOp<'static>]) -> Vec<NewOp<'static>> {
    ops.iter().zip(10..).map(|(op, at)| op.clone().time_ns(at)).collect()
}

#[test]
fn a_violation_is_known_at_the_op_that_proves_it() {
    let mut ops = lost_update();
    assert_eq!(certain(&checker(false, 0), &ops), Some(4));
    for (strange, reason) in [
        (NewOp::new(OpKind::Invoke, 7).f("increment"), "has the :f increment; expected read or write"),
        (NewOp { process: Process::Unknown, ..write(OpKind::Ok, 0, 3, 2) }, "the op has no invocation"),
        (NewOp::new(OpKind::Invoke, 7).f("write").value(1), "the write has no :write-id"),
    ] {
        ops.push(strange.clone());
        assert_eq!(certain(&checker(false, 0), &ops), Some(4));
        let report = judge(&checker(false, 0), &ops);
        let start = "The verdict covers only the ops before the op at index 4: ";
        assert!(report.notes[0].starts_with(start) && report.notes[0].contains(reason), "{:?}", report.notes);
        assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["lost-update"]);
        ops.pop();
        // If nothing was found by then, there is no verdict.
        let report = judge(&checker(false, 0), &[&ops[..3], &[strange.clone(), ops[3].clone()]].concat());
        assert!(report.verdict != Verdict::Invalid || strange.process == Process::Unknown, "{report:?}");
    }
}

#[test]
fn violations_are_uncertain_while_all_ops_have_times() {
    let ops = timed(&lost_update());
    assert_eq!(certain(&checker(false, 0), &ops), None);
    assert_eq!(certain(&VersionedRegister { in_order: true, ..checker(false, 0) }, &ops), Some(4));
    // From here on the order is that of the file.
    let open = NewOp::new(OpKind::Invoke, 7).f("read");
    assert_eq!(certain(&checker(false, 0), &[&ops[..], &[open]].concat()), Some(5));
    // An op with an earlier time proposes a version for the second time: it is unknown which of the two was replaced.
    let earlier = write(OpKind::Invoke, 7, 1, 9).time_ns(1);
    let ops = [&ops[..], &[earlier]].concat();
    assert_eq!(judge(&checker(false, 0), &ops).verdict, Verdict::Unknown);
    let in_file_order = VersionedRegister { in_order: true, ..checker(false, 0) };
    assert_eq!(judge(&in_file_order, &ops).verdict, Verdict::Invalid);
}

#[test]
fn an_op_that_cannot_be_decoded_hides_no_violation_of_a_timed_history() {
    let strange = NewOp::new(OpKind::Invoke, 7).f("increment").time_ns(90);
    let found = [timed(&lost_update()), vec![strange]].concat();
    let judge = |ops: &[NewOp<'static>]| judge(&checker(false, 0), ops);
    let report = judge(&found);
    assert_eq!(report.verdict, Verdict::Invalid);
    assert!(report.notes[0].starts_with("The verdict covers only the ops before the op at index 4: "), "{report:?}");
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["lost-update"]);
    // Ops with later times do not change the verdict, but an op with an earlier time may.
    let followed = |op: NewOp<'static>| judge(&[&found[..], &[op]].concat());
    let invoke = || write(OpKind::Invoke, 8, 1, 9);
    assert_eq!(followed(invoke().time_ns(91)).verdict, Verdict::Invalid);
    assert_eq!(followed(invoke()).verdict, Verdict::Invalid);
    let report = followed(invoke().time_ns(5));
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].starts_with("No verdict, because of the op at index 4: "), "{report:?}");
    // The op itself may have an earlier time, or may have begun at any time.
    let strange = NewOp::new(OpKind::Invoke, 7).f("increment").time_ns(5);
    assert_eq!(judge(&[timed(&lost_update()), vec![strange]].concat()).verdict, Verdict::Unknown);
    let nameless = NewOp { process: Process::Unknown, ..NewOp::new(OpKind::Ok, 7).f("increment").time_ns(90) };
    assert_eq!(judge(&[timed(&lost_update()), vec![nameless]].concat()).verdict, Verdict::Unknown);
}

#[test]
fn an_op_that_cannot_be_decoded_hides_no_violation_for_any_place_of_keys() {
    let pair = |op: NewOp<'static>| NewOp { value: Datum::Vector(vec![1.into(), op.value.clone()]), ..op };
    let mut ops: Vec<NewOp<'static>> = lost_update().into_iter().map(pair).collect();
    ops.push(NewOp::new(OpKind::Invoke, 7).f("increment"));
    let report = judge(&checker(false, 0), &ops);
    assert_eq!(report.verdict, Verdict::Invalid);
    assert!(report.notes[0].starts_with("The verdict covers only the ops before the op at index 4: "), "{report:?}");
    ops.remove(2);
    ops.remove(2);
    assert_eq!(judge(&checker(false, 0), &ops).verdict, Verdict::Unknown);
}

#[test]
fn a_wrong_value_is_wrong_in_any_order() {
    // The times of client 3 decrease, so the order is unknown. But version 1 had value 1, and was read as 5.
    let [invoke, ok] = read(3, 1);
    let wrong = NewOp { value: 5.into(), ..ok };
    let first = [write(OpKind::Invoke, 1, 1, 0).time_ns(10), write(OpKind::Ok, 1, 1, 0).time_ns(20)];
    let judge = |ok: NewOp<'static>| {
        judge(&checker(false, 0), &[&first[..], &[invoke.clone().time_ns(40), ok.time_ns(30)]].concat())
    };
    let report = judge(wrong);
    assert_eq!(report.verdict, Verdict::Invalid);
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["wrong-value"]);
    assert!(report.notes[0].contains("the times of a process decrease at index 3"), "{report:?}");
    let [_, right] = read(3, 1);
    assert_eq!(judge(right).verdict, Verdict::Unknown);
}

#[test]
fn an_unproposed_version_may_be_proposed_later() {
    let mut ops = [&lost_update()[..2], &read(3, 5)].concat();
    let mut run = start(&checker(false, 0));
    each(&ops, |op| _ = run.observe(op).unwrap());
    let report = run.violation().unwrap();
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["garbage-read"]);
    assert!(report.anomalies[0].witnesses[0].explanation.contains("had yet proposed 5"), "{report:?}");
    ops.push(write(OpKind::Invoke, 4, 5, 1));
    assert_eq!(certain(&checker(false, 0), &ops), Some(4));
    assert_eq!(judge(&checker(false, 0), &ops).anomaly_types().collect::<Vec<_>>(), ["future-read"]);
}
