//! Histories with an op that cannot be decoded: invalid exactly if the ops before it are not linearizable, otherwise
//! unknown. If the op failed, or is a read, the verdict is that of the history without it.

use super::oracle::linearizable;
use super::recorded::{Unread, each_unread, events, record, transactions};
use super::{ENGINES, world};
use check_register::models::{
    CasRegister, Counter, CounterOp, MultiRegister, PlainRegister, RegisterOp, Set, SetOp, Spec,
};
use check_register::{Linearizable, Operation, Settings};
use history_core::{OpKind, Verdict};

/// The operations as they are before an event: those that were called, with the returns before the event.
fn before<O: Clone>(operations: &[Operation<O>], event: usize) -> Vec<Operation<O>> {
    let events = events(operations);
    let Some((now, ..)) = events.get(event) else { return operations.to_vec() };
    let so_far =
        |operation: &Operation<O>| Operation { ret: operation.ret.filter(|ret| ret < now), ..operation.clone() };
    operations.iter().filter(|operation| operation.call < *now).map(so_far).collect()
}

/// The operations except for the one that returns at an event.
fn without<O: Clone>(operations: &[Operation<O>], event: usize) -> Vec<Operation<O>> {
    let (_, unread, _) = events(operations)[event];
    operations.iter().enumerate().filter(|(at, _)| *at != unread).map(|(_, operation)| operation.clone()).collect()
}

fn hold_model<S: Spec + Clone + Default + 'static>(ops: &[S::Op]) {
    let model = S::default();
    let (mut invalid, mut unknown) = (0, 0);
    let mut round = 0;
    world::random(5, ops, (400, 5), |operations| {
        round += 1;
        for unread in each_unread::<S>(events(operations).len()) {
            let Some(history) = record(&model, operations, unread) else { continue };
            let engine = ENGINES[round % ENGINES.len()];
            let settings = Settings { engine, ..Settings::default() };
            let report = Linearizable { settings, ..Linearizable::<S>::default() }.check(&history).unwrap();
            let context = || format!("{unread:?} of {operations:#?}: {report:#?}");
            let (judged, index) = match unread {
                Unread::Ended(.., OpKind::Fail) => (operations.to_vec(), None),
                Unread::Hidden(_) if linearizable(&model, operations) => (operations.to_vec(), None),
                Unread::Result(event) => (without(operations, event), Some(event)),
                Unread::Invocation(event)
                | Unread::Completion(event)
                | Unread::Hidden(event)
                | Unread::Ended(event, ..) => (before(operations, event), Some(event)),
            };
            let is_linearizable = linearizable(&model, &judged);
            assert_eq!(report.verdict == Verdict::Invalid, !is_linearizable, "{}", context());
            assert_eq!(report.anomalies.len(), usize::from(!is_linearizable), "{}", context());
            let Some(index) = index else {
                let is_blamed = report.notes.iter().any(|note| note.contains("No verdict, because of the op at"));
                assert!(!is_blamed, "{}", context());
                continue;
            };
            let start = match (is_linearizable, unread) {
                (true, _) => "No verdict, because of the op at index ",
                (false, Unread::Result(_)) => "The verdict ignores the op at index ",
                (false, _) => "The verdict covers only the ops before the op at index ",
            };
            unknown += usize::from(report.verdict == Verdict::Unknown);
            invalid += usize::from(report.verdict == Verdict::Invalid);
            assert_ne!(report.verdict, Verdict::Valid, "{}", context());
            let note = format!("{start}{index}: ");
            assert!(report.notes.iter().any(|known| known.starts_with(&note)), "{}", context());
        }
    });
    assert!(invalid > 100 && unknown > 100, "{}: {invalid} invalid, {unknown} unknown", S::NAME);
}

#[test]
fn registers() {
    use RegisterOp::{Cas, Read, Write};
    hold_model::<PlainRegister>(&[Write(1), Write(2), Read(1), Read(2)]);
    hold_model::<CasRegister>(&[Write(1), Read(1), Read(2), Cas(1, 2), Cas(2, 1)]);
}

#[test]
fn counters() {
    hold_model::<Counter>(&[CounterOp::Add(1), CounterOp::Add(-2), CounterOp::Read(1), CounterOp::Read(-1)]);
}

#[test]
fn sets() {
    hold_model::<Set>(&[SetOp::Add(1), SetOp::Add(2), SetOp::Read([1].into()), SetOp::Read([1, 2].into())]);
}

#[test]
fn multi_registers() {
    hold_model::<MultiRegister>(&transactions());
}
