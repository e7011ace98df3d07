//! Compares registers of distinct writes with all orders of the few operations that matter. The number of operations in
//! flight is so great that only the algorithm for distinct writes decides.

use super::oracle::linearizable;
use super::world;
use check_register::models::{PlainRegister, RegisterOp};
use check_register::{Operation, Outcome, check};
use history_core::{Budget, Interner, Verdict};

/// More writes in flight than the searches accept; their values are never read.
const CROWD: i64 = 1_100;

/// The operations, and many writes that are in flight all the time.
fn crowded(few: &[Operation<RegisterOp>]) -> Vec<Operation<RegisterOp>> {
    let write = |value| Operation::new(100 + value, RegisterOp::Write(100 + value), 0, 1_000);
    few.iter().copied().chain((0..CROWD).map(write)).collect()
}

#[test]
fn reads_of_nil_before_any_write() {
    let nil = |call, ret| Operation::new(0, RegisterOp::Read(Interner::NIL), call, ret);
    let write = Operation::new(1, RegisterOp::Write(1), 3, 4);
    let model = PlainRegister::default();
    let answer = check(&model, &crowded(&[nil(1, 2), write]), &Budget::default());
    assert_eq!(answer.verdict(), Verdict::Valid);
    let answer = check(&model, &crowded(&[write, nil(5, 6)]), &Budget::default());
    let Outcome::Refused(refusal) = &answer.parts[0].outcome else { panic!("{answer:?}") };
    assert_eq!(refusal.op, 1);
}

/// The operation at whose return there is no linearization for the first time, found by trying all orders.
fn first_refused(operations: &[Operation<RegisterOp>]) -> Option<usize> {
    let mut returns: Vec<(u64, usize)> =
        operations.iter().enumerate().filter_map(|(at, operation)| Some((operation.ret?, at))).collect();
    returns.sort_unstable();
    let is_refused = |until: u64| {
        let cut = |operation: &Operation<RegisterOp>| Operation {
            ret: operation.ret.filter(|ret| *ret <= until),
            ..*operation
        };
        let known: Vec<_> = operations.iter().filter(|operation| operation.call <= until).map(cut).collect();
        !linearizable(&PlainRegister::default(), &known)
    };
    returns.into_iter().find(|(until, _)| is_refused(*until)).map(|(_, at)| at)
}

#[test]
fn many_unobserved_writes_do_not_change_the_verdict() {
    use RegisterOp::{Read, Write};
    let ops = [Write(1), Write(2), Write(3), Read(1), Read(1), Read(2), Read(2), Read(Interner::NIL)];
    let (mut valid, mut invalid) = (0, 0);
    world::random(6, &ops, (3_000, 6), |few| {
        let twice = |at: usize| matches!(few[at].op, Write(_)) && few[..at].iter().any(|other| other.op == few[at].op);
        if (0..few.len()).any(twice) {
            return;
        }
        let answer = check(&PlainRegister::default(), &crowded(few), &Budget::default());
        let refused = match &answer.parts[0].outcome {
            Outcome::Linearizable(_) => None,
            Outcome::Refused(refusal) => Some((refusal.op, refusal.is_first)),
            Outcome::Unknown(_) => panic!("{few:?}"),
        };
        assert_eq!(refused, first_refused(few).map(|op| (op, true)), "{few:?}");
        *if refused.is_some() { &mut invalid } else { &mut valid } += 1;
    });
    assert!(valid > 100 && invalid > 100, "{valid} valid, {invalid} invalid: too few histories");
}
