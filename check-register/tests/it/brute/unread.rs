//! Histories with an op that cannot be read: false exactly if what came before it is not linearizable, else unknown.

use super::oracle::linearizable;
use super::recorded::{Unread, events, record};
use super::{ENGINES, world};
use check_register::models::{CasRegister, Counter, CounterOp, PlainRegister, RegisterOp, Set, SetOp, Spec};
use check_register::{Linearizable, Operation, Settings};
use history_core::Verdict;

/// The operations as they are before an event: what was called, and has returned if that came before.
fn before<O: Clone>(operations: &[Operation<O>], event: usize) -> Vec<Operation<O>> {
    let events = events(operations);
    let Some((now, ..)) = events.get(event) else { return operations.to_vec() };
    let so_far =
        |operation: &Operation<O>| Operation { ret: operation.ret.filter(|ret| ret < now), ..operation.clone() };
    operations.iter().filter(|operation| operation.call < *now).map(so_far).collect()
}

fn hold_model<S: Spec + Clone + Default + 'static>(ops: &[S::Op]) {
    let model = S::default();
    let (mut invalid, mut unknown) = (0, 0);
    let mut round = 0;
    world::random(5, ops, (400, 5), |operations| {
        round += 1;
        for event in 0..=2 * operations.len() {
            for unread in [Unread::Invocation(event), Unread::Completion(event)] {
                let Some(history) = record(&model, operations, unread) else { continue };
                let is_linearizable = linearizable(&model, &before(operations, event));
                let engine = ENGINES[round % ENGINES.len()];
                let settings = Settings { engine, ..Settings::default() };
                let report = Linearizable { settings, ..Linearizable::<S>::default() }.check(&history).unwrap();
                let told = || format!("{unread:?} of {operations:#?}: {report:#?}");
                let (verdict, start) = if is_linearizable {
                    unknown += 1;
                    (Verdict::Unknown, "No verdict, because of the op at index ")
                } else {
                    invalid += 1;
                    (Verdict::Invalid, "The verdict covers only the ops before the op at index ")
                };
                assert_eq!(report.verdict, verdict, "{}", told());
                assert!(report.notes[0].starts_with(start), "{}", told());
                assert!(report.notes[0].contains(&format!("at index {event}: ")), "{}", told());
                assert_eq!(report.anomalies.len(), usize::from(!is_linearizable), "{}", told());
            }
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
