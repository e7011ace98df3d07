//! Histories with an op that cannot be decoded: the online result is that of the batch search.

use super::recorded::{Unread, each_unread, events, record, transactions};
use super::world;
use check_online::{OnlineLinearizable, OnlineModel};
use check_register::Linearizable;
use check_register::models::{CasRegister, Counter, CounterOp, MultiRegister, RegisterOp, Spec};
use history_core::{Budget, Checker, Options, Verdict};

fn hold<S: Spec + OnlineModel<State: 'static> + Clone + Default + 'static>(ops: &[S::Op]) {
    let model = S::default();
    let (mut invalid, mut unknown) = (0, 0);
    world::random(5, ops, (300, 5), |operations| {
        for unread in each_unread::<S>(events(operations).len()) {
            let Some(history) = record(&model, operations, unread) else { continue };
            let batch = Linearizable::<S>::default().check(&history).unwrap();
            let mut run = OnlineLinearizable::<S>::default().start(&Options::new()).unwrap();
            // A caller that ignores the `Break` gets the same result.
            let mut broke = false;
            for op in history.ops() {
                broke |= run.observe(&op).unwrap().is_break();
            }
            // Another operation in flight may still fail, and an omitted read does not end the check.
            let may_go_on = !matches!(unread, Unread::Completion(_));
            assert!(broke || may_go_on, "{operations:#?}");
            assert_eq!(run.is_violated(), batch.verdict == Verdict::Invalid, "{unread:?} of {operations:#?}");
            assert_eq!(run.violation().is_some(), run.is_violated());
            let online = run.finish(&Budget::default()).unwrap();
            assert_eq!(online.verdict, batch.verdict, "{unread:?} of {operations:#?}: {online:#?}, {batch:#?}");
            if batch.verdict == Verdict::Invalid {
                invalid += 1;
            } else {
                assert_eq!(online.notes, batch.notes);
                unknown += usize::from(batch.verdict == Verdict::Unknown);
            }
        }
    });
    assert!(invalid > 100 && unknown > 100, "{}: {invalid} invalid, {unknown} unknown", S::NAME);
}

#[test]
fn registers_and_counters() {
    use RegisterOp::{Cas, Read, Write};
    hold::<CasRegister>(&[Write(1), Read(1), Read(2), Cas(1, 2), Cas(2, 1)]);
    hold::<Counter>(&[CounterOp::Add(1), CounterOp::Add(-2), CounterOp::Read(1), CounterOp::Read(-1)]);
}

#[test]
fn multi_registers() {
    hold::<MultiRegister>(&transactions());
}
